// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "ingest/start_adjust.h"
#include "ingest/spin_suspects.h"
#include "ingest/callsite.h"
#include "ingest/cutoffs.h"
#include "ingest/feed_parts.h"
#include "model/waits.h"
#include "sites/family.h"
#include "target/look.h"

/*
 * Size of the caches, a power of two. Few call sites are in use at one time, and a cache miss costs
 * only a look-up.
 */
#define CACHE_SLOTS 1024u

/* no record of a thread arrives more than this time after the thread's end */
#define FORGET_NS    3000000000ULL
#define FORGET_LEAST 1024

struct shared_slot {
	uint64_t object;
	uint64_t generation;
	uint32_t tgid, inc;
	uint64_t key;
	bool known;
	bool unknown; /* it is unknown whether other processes share the memory at this address */
};

/*
 * A correction of the kernel side's count of a thread's crossings, because discovery adds and drops
 * crossings.
 */
struct renumbered {
	uint32_t shift; /* added to the kernel's numbers of the thread's crossings; wraps around */
	uint64_t ended_ns; /* time when the thread ended; 0 if it is alive */
	bool reaches_back; /* the next record's parts begin before the thread's last departure */
};

struct feed {
	struct attach *attach;
	struct address_spaces *spaces;
	struct feed_processes processes;
	struct model *model;
	uint64_t noted; /* number of reported changes of shared memory */
	uint64_t fault_outside_ns; /* see attach_fault_outside_ns() */
	uint32_t self; /* tid of the tracer's thread that reads the records */
	struct callsites *callsites;
	struct waits *waits;
	struct hash renumbered; /* (inc, tid) -> struct renumbered */
	/* number of entries in `renumbered` after the last run of forget_renumbered() */
	size_t nrenumbered;
	struct spin_suspects spin_suspects;
	struct hash current; /* tgid -> incarnation */
	struct hash labels; /* sbt_crossing.label -> site */
	struct start_adjust start_adjust;
	struct cutoffs cutoffs;
	struct feed_site sites[CACHE_SLOTS];
	struct shared_slot shared[CACHE_SLOTS];
	uint64_t crossings[RULES_MAX + 1];
};

int feed_new(const struct feed_options *options, struct feed **out)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (f)
		f->waits = waits_new();
	if (!f || !f->waits || callsites_new(options->attach, options->spaces, &f->callsites)) {
		feed_free(f);
		return -ENOMEM;
	}
	f->attach = options->attach;
	f->spaces = options->spaces;
	f->processes = options->processes;
	f->model = options->model;
	f->self = (uint32_t)getpid();
	f->fault_outside_ns = attach_fault_outside_ns(options->attach);
	callsites_set_frames(f->callsites, options->frames);
	*out = f;
	return 0;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	hash_free(&f->current);
	spin_suspects_free(&f->spin_suspects);
	hash_free(&f->labels);
	start_adjust_free(&f->start_adjust);
	cutoffs_free(&f->cutoffs);
	hash_free_ptrs(&f->renumbered);
	waits_free(f->waits);
	callsites_free(f->callsites);
	free(f);
}

struct callsites *feed_callsites(const struct feed *f)
{
	return f->callsites;
}

bool feed_incarnation(const struct feed *f, uint32_t tgid, uint32_t *inc)
{
	uint64_t value;

	if (!hash_get(&f->current, tgid, &value))
		return false;
	*inc = (uint32_t)value;
	return true;
}

int feed_held(struct feed *f, const struct sbt_event *e, uint64_t resumed_ns)
{
	return start_adjust_held(&f->start_adjust, f->model, e, resumed_ns);
}

/*
 * Fill in the parts of @c's phase, without the time for which sbt-trace stopped the process. @inc:
 * the incarnation, which @c lacks if the thread has not crossed. @ends: the phase ends with @c.
 * Return false if there are no parts.
 */
static bool parts_of(struct feed *f, const struct sbt_crossing *c, uint32_t inc, bool ends,
		     struct model_detail *d)
{
	bool apart = feed_parts(c, f->fault_outside_ns, f->self, d);

	start_adjust_take_off(&f->start_adjust, inc, c->tid, apart ? d : NULL);
	if (ends)
		start_adjust_forget(&f->start_adjust, inc, c->tid);
	return apart;
}

/* Remove the thread from the waiting threads. Return the address of its wait, or 0. */
static uint64_t was_waiting(struct feed *f, uint32_t tid)
{
	struct hash *waiting = f->processes.waiting;
	uint64_t address;

	if (!hash_count(waiting) || !hash_get(waiting, tid, &address))
		return 0;
	hash_del(waiting, tid);
	return address;
}

static bool is_late(const struct feed *f, uint32_t tgid, uint64_t start_ns)
{
	return f->processes.is_late(f->processes.ctx, tgid, start_ns);
}

static uint32_t slot_of(uint32_t tgid, uint64_t address)
{
	return (uint32_t)(hash_mix(address ^ (uint64_t)tgid << 40) >> 40) & (CACHE_SLOTS - 1);
}

const struct feed_site *feed_site(struct feed *f, const struct sbt_crossing *c)
{
	uint64_t generation = *f->processes.generation;
	struct feed_site *slot = &f->sites[slot_of(c->tgid, c->ip)];
	struct address_space *space;
	struct address_space_code code;

	if (slot->space && slot->ip == c->ip && slot->tgid == c->tgid && slot->inc == c->inc &&
	    slot->generation == generation)
		return slot;
	space = address_space_get(f->spaces, c->tgid, c->inc);
	*slot = (struct feed_site){ .ip = c->ip,
				    .generation = generation,
				    .tgid = c->tgid,
				    .inc = c->inc,
				    .space = space };
	if (!space)
		return NULL;
	slot->site = callsites_function(f->callsites, space, c->ip);
	slot->runtime = address_space_code(f->spaces, space, c->ip, &code) && code.module &&
			code.module->runtime;
	return slot;
}

static const struct shared_slot *shared_slot(struct feed *f, const struct sbt_crossing *c,
					     struct address_space *space)
{
	uint64_t generation = *f->processes.generation + f->noted;
	struct shared_slot *slot = &f->shared[slot_of(c->tgid, c->object)];

	if (slot->object != c->object || slot->tgid != c->tgid || slot->inc != c->inc ||
	    slot->generation != generation) {
		*slot = (struct shared_slot){ .object = c->object,
					      .generation = generation,
					      .tgid = c->tgid,
					      .inc = c->inc };
		slot->key = address_space_shared_key(f->spaces, space, c->object, &slot->known);
		slot->unknown =
			!slot->key && address_space_shared_unknown(f->spaces, space, c->object);
	}
	return slot;
}

uint64_t feed_shared(struct feed *f, const struct sbt_crossing *c, struct address_space *space)
{
	return shared_slot(f, c, space)->key;
}

bool feed_shared_unknown(struct feed *f, const struct sbt_crossing *c, struct address_space *space)
{
	return shared_slot(f, c, space)->unknown;
}

static struct renumbered *renumbered_of(const struct feed *f, const struct sbt_crossing *c)
{
	return hash_count(&f->renumbered)
		       ? hash_get_ptr(&f->renumbered, (uint64_t)c->inc << 32 | c->tid)
		       : NULL;
}

/* Return NULL when out of memory. */
static struct renumbered *renumber(struct feed *f, const struct sbt_crossing *c)
{
	struct renumbered *r = renumbered_of(f, c);

	return r ? r : hash_new_ptr(&f->renumbered, (uint64_t)c->inc << 32 | c->tid, sizeof(*r));
}

_Static_assert(SBT_WAKERS <= MODEL_WAKERS, "room for all");

static void add_wakers(const struct feed *f, struct model_activity *activity)
{
	struct sbt_wakers all;

	if (attach_wakers(f->attach, activity->tid, &all) || all.tgid != activity->tgid)
		return;
	array_for_each (w, all.wakers, SBT_WAKERS)
		if (w->tid)
			activity->wakers[activity->nwakers++] = (struct model_waker){
				.tid = w->tid, .waits = w->waits, .ns = w->ns, .stack = w->stack
			};
	activity->woken_more = all.more;
}

static int feed_activity(struct feed *f, const struct sbt_crossing_full *tail)
{
	struct model_detail detail;
	struct model_activity activity = {
		.tgid = tail->crossing.tgid,
		.inc = tail->crossing.inc,
		.tid = tail->crossing.tid,
		.end_ns = tail->crossing.arrive_ns,
	};

	if (!activity.inc && !feed_incarnation(f, activity.tgid, &activity.inc))
		return 0;
	if (parts_of(f, &tail->crossing, activity.inc, true, &detail))
		activity.detail = &detail;
	add_wakers(f, &activity);
	return model_add_activity(f->model, &activity);
}

int feed_tail(struct feed *f, const struct sbt_crossing_full *tail)
{
	const struct renumbered *r = renumbered_of(f, &tail->crossing);
	struct model_detail detail;
	bool apart;

	if (r && r->reaches_back)
		return 0;
	if (!tail->crossing.seq)
		return feed_activity(f, tail);
	apart = parts_of(f, &tail->crossing, tail->crossing.inc, true, &detail);
	return model_add_tail(f->model, tail->crossing.tgid, tail->crossing.inc, tail->crossing.tid,
			      tail->crossing.arrive_ns, apart ? &detail : NULL);
}

/*
 * Return whether the threads of each episode are a team of their own, whatever threads took part in
 * earlier episodes. This is so in OpenMP.
 */
static bool of_team(const struct sbt_crossing *c)
{
	return family_has(c->family, FAMILY_OPENMP);
}

static int feed_resume(struct feed *f, const struct sbt_crossing *c)
{
	struct model_crossing m = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.seq = c->seq,
		.begun_ns = c->begun_ns && c->begun_ns < c->depart_ns ? c->begun_ns : c->depart_ns,
		.depart_ns = c->depart_ns,
		.flags = MODEL_CROSSING_RESUMES |
			 (c->flags & SBT_CROSSING_ACCOUNTED ? MODEL_CROSSING_ACCOUNTED : 0),
	};
	const struct renumbered *r = renumbered_of(f, c);
	struct model_detail detail;

	if (r)
		m.seq += r->shift;
	if (parts_of(f, c, c->inc, true, &detail))
		m.detail = &detail;
	return model_add_crossing(f->model, &m);
}

/*
 * Feed a wait that is a separate call after the arrival. For some C++ barriers the probes see only
 * this wait.
 */
static int feed_wait(struct feed *f, const struct sbt_crossing *c, struct model_crossing *m)
{
	struct waits_seen wait = {
		.latch = c->passed & SBT_RESULT_LATCH,
		.over = c->passed & SBT_RESULT_OVER,
		.value = c->passed & SBT_RESULT_VALUE,
		.words = m->count,
	};

	return family_has(c->family, FAMILY_CXX) && c->passed & SBT_RESULT_PASSED
		       ? waits_add(f->waits, &wait, m)
		       : 0;
}

static struct model_crossing crossing_of(const struct sbt_crossing *c)
{
	return (struct model_crossing){
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.seq = c->seq,
		.object = c->object,
		.arrive_ns = c->arrive_ns,
		.depart_ns = c->depart_ns && !(c->flags & SBT_CROSSING_ABANDONED) ? c->depart_ns
										  : MODEL_UNKNOWN,
		.arrive_cpu = c->arrive_cpu,
		.depart_cpu = c->depart_cpu,
		.family = c->family,
		.kind = c->kind,
		/*
		 * Do not use thread numbers for OpenMP: libgomp does not report them, and in nested
		 * teams several threads have the same number.
		 */
		.place = of_team(c) ? 0 : c->index,
		.flags = (c->flags & SBT_CROSSING_ABANDONED ? MODEL_CROSSING_ABANDONED : 0) |
			 (c->flags & SBT_CROSSING_INFERRED ? MODEL_CROSSING_INFERRED : 0) |
			 (c->flags & SBT_CROSSING_UNTIMED ? MODEL_CROSSING_UNTIMED : 0) |
			 (c->flags & SBT_CROSSING_NO_DEPART ? MODEL_CROSSING_STAYS : 0) |
			 (of_team(c) ? MODEL_CROSSING_TEAM : 0) |
			 (c->flags & SBT_CROSSING_ACCOUNTED ? MODEL_CROSSING_ACCOUNTED : 0),
		.depth = c->depth,
		.round = c->flags & SBT_CROSSING_ROUND ? c->round : 0,
	};
}

uint32_t feed_label_site(const struct feed *f, uint32_t label)
{
	uint64_t site;

	return label && hash_get(&f->labels, label, &site) ? (uint32_t)site
							   : ADDRESS_SPACE_SITE_NONE;
}

/* Return the label of the crossing's call site, or 0. */
static uint32_t label_of(const struct sbt_crossing *c)
{
	if (c->type == SBT_REC_CANDIDATE && !family_has(c->family, FAMILY_INTERPRETED))
		return 0;
	return c->flags & (SBT_CROSSING_MAKES | SBT_CROSSING_ROUND) ? 0 : c->label;
}

static uint32_t site_of(struct feed *f, const struct sbt_crossing *c, const struct feed_site *slot,
			const struct feed_found *found)
{
	uint32_t labelled = feed_label_site(f, label_of(c));

	if (labelled != ADDRESS_SPACE_SITE_NONE)
		return labelled;
	if (found && found->site_known)
		return found->site;
	return found ? callsites_found(f->callsites, slot->space, c) : slot->site;
}

/* Return the libc variant of the file with the probe that the crossing hit. */
static enum family_libc libc_of_probe(const struct feed *f, const struct sbt_crossing *c)
{
	return attach_less_one(f->attach, c->spec) ? FAMILY_LIBC_MUSL : FAMILY_LIBC_GLIBC;
}

/*
 * Return the libc variant of a pthread barrier. If the process ended before its mappings were read,
 * only the probe that was hit shows the variant. Then it is also unknown which memory the process
 * shared, so its episodes may not count as complete.
 */
static enum family_libc libc_of(const struct feed *f, const struct sbt_crossing *c,
				const struct address_space *space)
{
	if (space->libc != FAMILY_LIBC_UNKNOWN || space->read)
		return space->libc;
	return libc_of_probe(f, c);
}

/*
 * Fill in the number of threads that the barrier waits for, and the memory through which other
 * processes share it.
 */
static void fill_team(struct feed *f, const struct sbt_crossing *c, const struct feed_site *slot,
		      struct model_crossing *m)
{
	const struct shared_slot *shared;
	struct family_team team = { 0 };

	if (!(c->flags & SBT_CROSSING_NO_WORDS))
		team = family_read_words(c->family, libc_of(f, c, slot->space), c->raw_word);
	if (team.known)
		m->count = team.count;
	if (family_has(c->family, FAMILY_INTERPRETED))
		m->shared = feed_shared(f, c, slot->space);
	if (!team.sharing_known || !team.process_shared)
		return;
	shared = shared_slot(f, c, slot->space);
	m->shared = shared->key;
	/* The process ended, or replaced its program, before its mappings could be read. */
	if (!shared->known)
		m->flags |= MODEL_CROSSING_UNMET;
}

int feed_barrier(struct feed *f, struct sbt_crossing *c, uint64_t first_word,
		 struct departures_barrier *out)
{
	const struct sbt_spec *spec = attach_spec(f->attach, c->spec);
	struct address_space *space = address_space_get(f->spaces, c->tgid, c->inc);
	struct family_team team = { 0 };
	enum family_libc libc;

	if (!space)
		return -ENOMEM;
	*out = (struct departures_barrier){ .waiting = UINT32_MAX };
	if (!spec)
		return 0;
	c->family = spec->family;
	c->kind = spec->kind;
	/*
	 * After fork, a child has no page of a shared mapping until it touches the page. By now it
	 * has.
	 */
	if (c->flags & SBT_CROSSING_NO_WORDS && spec->words_offset != SBT_WORDS_NONE &&
	    !look_read((int)c->tgid, c->object + spec->words_offset, &c->raw_word,
		       sizeof(c->raw_word)))
		c->flags &= (uint16_t)~SBT_CROSSING_NO_WORDS;
	/* The process may have executed another program before its mappings were read. */
	libc = space->libc != FAMILY_LIBC_UNKNOWN ? space->libc : libc_of_probe(f, c);
	if (!(c->flags & SBT_CROSSING_NO_WORDS))
		team = family_read_words(c->family, libc, c->raw_word);
	if (!team.known)
		return 0;
	out->count = team.count;
	out->may_be_shared = !team.sharing_known || team.process_shared;
	if (team.sharing_known && team.process_shared)
		out->shared = feed_shared(f, c, space);
	out->waiting = family_waiting(libc, first_word, c->raw_word);
	return 0;
}

static void fill_member(struct feed *f, const struct sbt_crossing *c, const struct feed_site *slot,
			const struct discover_member *member, struct model_crossing *m)
{
	m->shared = feed_shared(f, c, slot->space);
	m->arrive_ns = member->arrive_ns;
	m->depart_ns = member->depart_ns;
	m->count = member->team;
}

/*
 * Fill in the crossing's number among the crossings of its thread. Fill in the parts of its phase
 * if they belong to this phase alone.
 */
static int fill_order(struct feed *f, const struct sbt_crossing *c,
		      const struct discover_member *member, struct model_crossing *m,
		      struct model_detail *detail)
{
	struct renumbered *r = renumbered_of(f, c);

	if (c->type == SBT_REC_CANDIDATE) {
		r = renumber(f, c);
		if (!r)
			return -ENOMEM;
		r->shift++;
		r->reaches_back = true;
		start_adjust_forget(&f->start_adjust, c->inc, c->tid);
	} else if ((r && r->reaches_back) || (member && member->merged)) {
		m->flags &= ~MODEL_CROSSING_ACCOUNTED;
		if (r)
			r->reaches_back = false;
		start_adjust_forget(&f->start_adjust, c->inc, c->tid);
	} else if (parts_of(f, c, c->inc, true, detail)) {
		m->detail = detail;
	}
	if (r)
		m->seq += r->shift;
	return 0;
}

/*
 * Feed no crossing, but note the communicators that the call made, because other processes may use
 * them.
 */
static int feed_detached(struct feed *f, const struct sbt_crossing *c, struct model_crossing *m)
{
	int err = ranks_crossing(f->processes.ranks, c, m);

	return err ? err : feed_none(f, c);
}

int feed_crossing(struct feed *f, const struct sbt_crossing *c, const struct feed_found *found)
{
	const struct discover_member *member = found ? found->member : NULL;
	const struct feed_site *slot = feed_site(f, c);
	uint8_t probe_group = attach_probe_group(f->attach, c->family, c->spec);
	struct model_crossing m = crossing_of(c);
	struct model_detail detail;
	int err;

	if (cutoffs_is_detached(&f->cutoffs, c, probe_group))
		return feed_detached(f, c, &m);
	if (!slot)
		return -ENOMEM;
	m.probe_group = probe_group;
	if (c->flags & SBT_CROSSING_ABANDONED && cutoffs_of_part(&f->cutoffs, c, probe_group))
		m.flags = (m.flags & ~MODEL_CROSSING_ABANDONED) | MODEL_CROSSING_STAYS;
	if (c->handler_ns && c->type == SBT_REC_CROSSING) {
		slot->space->handler_ns += c->handler_ns;
		slot->space->spent++;
	}
	if (family_has(c->family, FAMILY_RULES))
		f->crossings[attach_rule(f->attach, c->spec)]++;
	m.site = site_of(f, c, slot, found);
	if (member)
		fill_member(f, c, slot, member, &m);
	else
		fill_team(f, c, slot, &m);
	err = fill_order(f, c, member, &m, &detail);
	if (!err)
		err = ranks_crossing(f->processes.ranks, c, &m);
	/*
	 * The kernel side does not record all calls after a cutoff, so an ordinal could be wrong.
	 * Feed none.
	 */
	if (family_has(c->family, FAMILY_RANKS) && cutoffs_any(&f->cutoffs, c))
		m.round = 0;
	if (!err)
		err = feed_wait(f, c, &m);
	if (!err && m.seq == 1)
		err = model_add_found(f->model, c->tgid, c->inc, c->tid, was_waiting(f, c->tid));
	return err ? err : model_add_crossing(f->model, &m);
}

/* Forget threads that ended so long ago that none of their records can follow. */
static void forget_renumbered(struct feed *f, uint64_t now_ns)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	struct renumbered *r;
	size_t pos = 0;

	while ((e = hash_next(&f->renumbered, &pos, &zero))) {
		r = (void *)(uintptr_t)e->value;
		if (!r->ended_ns || r->ended_ns + FORGET_NS > now_ns)
			continue;
		hash_del(&f->renumbered, e->key);
		free(r);
		/* Deletion may have moved a later entry to this index. */
		pos--;
	}
	f->nrenumbered = hash_count(&f->renumbered);
}

static void end_renumbered(struct feed *f, const struct sbt_event *e)
{
	struct renumbered *r = hash_get_ptr(&f->renumbered, (uint64_t)e->inc << 32 | e->tid);

	if (!r)
		return;
	r->ended_ns = e->t_ns;
	if (hash_count(&f->renumbered) > 2 * f->nrenumbered + FORGET_LEAST)
		forget_renumbered(f, e->t_ns);
}

/* End the program of a process that exited or executed another program. */
static int end_process(struct feed *f, uint32_t tgid, uint32_t inc, uint64_t t_ns)
{
	struct address_space *space = address_space_find(f->spaces, tgid, inc);
	int err = 0;

	if (space) {
		space->gone = true;
		err = model_add_program(f->model, tgid, inc,
					address_space_program_key(f->spaces, space));
	}
	return err ? err : model_end_process(f->model, tgid, inc, t_ns);
}

/* Copy to the child the facts that were noted about its parent before the fork. */
static void feed_fork(struct feed *f, const struct sbt_event *e)
{
	const struct address_space *parent =
		address_space_find(f->spaces, e->parent_tgid, e->parent_inc);
	struct address_space *child = parent ? address_space_get(f->spaces, e->tgid, e->inc) : NULL;

	if (child)
		address_space_inherit_notes(child, parent);
}

static int feed_memory(struct feed *f, const struct sbt_event *e)
{
	struct address_space *space = address_space_get(f->spaces, e->tgid, e->inc);
	struct address_space_memory memory = { .start = e->range_start,
					       .end = e->range_end,
					       .offset = e->file_offset,
					       .ino = e->inode,
					       .dev = e->device,
					       .unknown = e->flags & SBT_EVENT_UNSEEN };
	int n = space ? address_space_note_memory(f->spaces, space, &memory) : -ENOMEM;

	f->noted += n != 0;
	return n < 0 ? n : 0;
}

static int feed_label(struct feed *f, const struct sbt_label *label)
{
	struct address_space *space =
		address_space_get(f->spaces, label->event.tgid, label->event.inc);
	uint32_t site =
		space ? address_space_label_site(f->spaces, space, label) : ADDRESS_SPACE_SITE_NONE;

	if (site == ADDRESS_SPACE_SITE_NONE)
		return -ENOMEM;
	return hash_put(&f->labels, label->label, site);
}

static int feed_python_site(struct feed *f, const struct sbt_python_site *python)
{
	struct address_space *space =
		address_space_get(f->spaces, python->event.tgid, python->event.inc);
	uint32_t site = space ? address_space_python_site(f->spaces, space, python)
			      : ADDRESS_SPACE_SITE_NONE;

	if (site == ADDRESS_SPACE_SITE_NONE)
		return -ENOMEM;
	return hash_put(&f->labels, python->label, site);
}

/*
 * Feed a new thread. A thread that was found at its first crossing began earlier than the crossing
 * (start_ns). A thread that began before tracing is added from the start of tracing, because with
 * --aggregate no further record may follow until its end.
 */
static int feed_thread(struct feed *f, const struct sbt_event *e)
{
	uint64_t start = e->start_ns ? e->start_ns : e->t_ns;

	return start > model_start(f->model)
		       ? model_add_thread(f->model, e->tgid, e->inc, e->tid, start)
		       : model_add_found(f->model, e->tgid, e->inc, e->tid, 0);
}

/*
 * Feed the first crossing of a process. If the process began while it was traced, its first phase
 * begins at its start. If the process may have crossed barriers unseen before, its first phase
 * begins at the time of @e, because the missing waits would otherwise count as work.
 */
static int feed_seen(struct feed *f, const struct sbt_event *e)
{
	bool late = e->refused || is_late(f, e->tgid, e->start_ns);
	bool start_adjust = e->start_ns > model_start(f->model);
	uint64_t old, start = late ? e->t_ns : start_adjust ? e->start_ns : 0;
	int err = late ? ranks_missed(f->processes.ranks, e->tgid, e->inc) : 0;

	if (err)
		return err;
	/*
	 * The model already has the name of the process. Do not replace it by e->comm, because the
	 * first thread may have renamed itself meanwhile.
	 */
	if (hash_get(&f->current, e->tgid, &old) && old == e->inc)
		return late ? model_add_process(f->model, e->tgid, e->inc, 0, 0, start, false, NULL)
			    : 0;
	if (start_adjust && !late)
		err = ranks_began(f->processes.ranks, e->tgid, e->inc);
	if (!err)
		err = model_add_process(f->model, e->tgid, e->inc, 0, 0, start,
					start_adjust && !late, e->comm);
	return err ? err : hash_put(&f->current, e->tgid, e->inc);
}

static int feed_event(struct feed *f, const struct sbt_event *e)
{
	uint64_t old;
	int err = 0;

	switch (e->type) {
	case SBT_REC_SEEN:
		return feed_seen(f, e);
	case SBT_REC_SHARED:
		return feed_memory(f, e);
	case SBT_REC_FORK:
		feed_fork(f, e);
		err = model_add_process(f->model, e->tgid, e->inc, e->parent_tgid, e->parent_inc,
					e->t_ns, true, e->comm);
		if (!err)
			err = model_add_thread(f->model, e->tgid, e->inc, e->tid, e->t_ns);
		return err ? err : hash_put(&f->current, e->tgid, e->inc);
	case SBT_REC_THREAD:
		/* forget the noted wait of an earlier thread with this tid */
		hash_del(f->processes.waiting, e->tid);
		return feed_thread(f, e);
	case SBT_REC_EXEC:
		if (hash_get(&f->current, e->tgid, &old) && old != e->inc)
			err = end_process(f, e->tgid, (uint32_t)old, e->t_ns);
		if (!err)
			err = model_add_process(f->model, e->tgid, e->inc, 0, 0, e->t_ns, true,
						e->comm);
		if (!err)
			err = model_add_thread(f->model, e->tgid, e->inc, e->tgid, e->t_ns);
		if (!err)
			err = ranks_began(f->processes.ranks, e->tgid, e->inc);
		if (!err)
			err = start_adjust_fed(&f->start_adjust, f->model, e);
		return err ? err : hash_put(&f->current, e->tgid, e->inc);
	case SBT_REC_JOINED:
		return model_add_joined(f->model, e->tgid, e->inc, e->tid, e->t_ns - e->since_ns,
					e->t_ns, e->departed_ns);
	case SBT_REC_LABEL:
		return feed_label(f, (const struct sbt_label *)e);
	case SBT_REC_PYTHON:
		return feed_python_site(f, (const struct sbt_python_site *)e);
	case SBT_REC_EXIT:
		if (!e->crossings && e->t_ns > e->start_ns)
			spin_suspects_note(&f->spin_suspects, e->tgid, e->tid,
					   e->t_ns - e->start_ns, e->busy_ns);
		/* The tail of a thread without crossings may follow, and needs the adjustment. */
		if (e->crossings)
			start_adjust_forget(&f->start_adjust, e->inc, e->tid);
		end_renumbered(f, e);
		err = model_end_thread(f->model, e->tgid, e->inc, e->tid, e->t_ns, e->comm);
		if (!err && (e->flags & SBT_EVENT_LEADER)) {
			hash_del(&f->current, e->tgid);
			err = end_process(f, e->tgid, e->inc, e->t_ns);
		}
		return err;
	default:
		return 0;
	}
}

static int feed_mark(struct feed *f, const struct sbt_crossing *c)
{
	struct model_detail detail;
	struct model_mark mark = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.seq = c->seq,
		.begins = c->mark == SBT_MARK_BEGIN,
		.t_ns = c->depart_ns,
	};
	uint64_t site;
	int err = 0;

	if (!hash_get(&f->labels, c->label, &site) || (!mark.begins && c->mark != SBT_MARK_END))
		return 0;
	mark.site = (uint32_t)site;
	if (parts_of(f, c, c->inc, false, &detail))
		mark.detail = &detail;
	if (model_find_thread(f->model, c->tgid, c->inc, c->tid) == MODEL_NONE)
		err = model_add_found(f->model, c->tgid, c->inc, c->tid, 0);
	return err ? err : model_add_mark(f->model, &mark);
}

static int feed_sample(struct feed *f, const struct sbt_crossing *c)
{
	struct model_sample sample = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.t_ns = c->arrive_ns,
		.stack = c->sample,
	};

	return model_add_sample(f->model, &sample);
}

/* Feed an access to another thread's data. Only recordings store accesses. */
static int feed_message(struct feed *f, const struct sbt_crossing *c)
{
	struct model_detail detail;
	struct model_message m = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.t_ns = c->depart_ns,
		.oncpu_ns = MODEL_UNKNOWN,
		.owner = c->owner < UINT32_MAX ? (uint32_t)c->owner : UINT32_MAX,
		.bytes = c->bytes < UINT32_MAX ? (uint32_t)c->bytes : UINT32_MAX,
		.write = c->mark == SBT_MARK_WRITE,
	};

	if (parts_of(f, c, c->inc, false, &detail))
		m.oncpu_ns = detail.oncpu_ns;
	return model_add_message(f->model, &m);
}

/* --- processes that are no longer traced ------------------------------------------------------ */

int feed_cut(struct feed *f, uint32_t tgid, uint32_t inc, uint64_t probe_groups, uint64_t t_ns)
{
	return cutoffs_add(&f->cutoffs, tgid, inc, probe_groups, t_ns);
}

bool feed_is_detached(const struct feed *f, const struct sbt_crossing *c)
{
	return cutoffs_is_detached(&f->cutoffs, c,
				   attach_probe_group(f->attach, c->family, c->spec));
}

bool feed_is_cut(struct feed *f, const struct sbt_crossing *c, int *err)
{
	enum cutoff_fate fate = cutoffs_fate(&f->cutoffs, c);

	*err = fate == CUTOFF_INSIDE ? model_add_pending(f->model, c->tgid, c->inc, c->tid,
							 c->object, c->arrive_ns)
				     : 0;
	return fate != CUTOFF_FED;
}

int feed_record(struct feed *f, const struct stream_record *record)
{
	if (record->event)
		return feed_event(f, record->event);
	if (record->crossing->type == SBT_REC_TAIL)
		return feed_tail(f, (const void *)record->crossing);
	if (record->crossing->type == SBT_REC_RESUME)
		return feed_resume(f, record->crossing);
	if (record->crossing->type == SBT_REC_MARK && !record->crossing->label &&
	    (record->crossing->mark == SBT_MARK_READ || record->crossing->mark == SBT_MARK_WRITE))
		return feed_message(f, record->crossing);
	if (record->crossing->type == SBT_REC_SAMPLE)
		return feed_sample(f, record->crossing);
	if (record->crossing->type == SBT_REC_MARK)
		return feed_mark(f, record->crossing);
	return feed_crossing(f, record->crossing, NULL);
}

int feed_none(struct feed *f, const struct sbt_crossing *c)
{
	struct renumbered *r;

	if (c->type == SBT_REC_CANDIDATE)
		return 0;
	r = renumber(f, c);
	if (!r)
		return -ENOMEM;
	r->shift--;
	r->reaches_back = true;
	return 0;
}

/*
 * Feed the end of a worker thread as its arrival at the end of the fork-join round. There is no
 * departure, because the thread has ended.
 */
static int feed_worker(struct feed *f, const struct forkjoin_episode *round,
		       const struct forkjoin_member *mem, uint32_t site)
{
	const struct renumbered *r;
	struct sbt_crossing key = { .inc = round->inc, .tid = mem->tid };
	struct model_crossing m = {
		.tgid = round->tgid,
		.inc = round->inc,
		.tid = mem->tid,
		.seq = mem->seq + 1,
		.site = site,
		.count = round->n + 1,
		.object = round->tid,
		.arrive_ns = mem->arrive_ns,
		.depart_ns = MODEL_UNKNOWN,
		.arrive_cpu = (uint16_t)mem->cpu,
		.depart_cpu = (uint16_t)mem->cpu,
		/* Every episode that model/forkjoin found has this family. */
		.family = SBT_FAMILY_FORKJOIN,
		.kind = SBT_KIND_JOIN,
		.flags = MODEL_CROSSING_STAYS | MODEL_CROSSING_TEAM,
	};

	r = renumbered_of(f, &key);
	if (r)
		m.seq += r->shift;
	return model_add_crossing(f->model, &m);
}

/* Feed a wait for another thread's end that ends no fork-join episode. */
int feed_joined(struct feed *f, const struct sbt_crossing *c)
{
	int err = 0;

	if (c->depart_ns > c->arrive_ns && !(c->flags & SBT_CROSSING_ABANDONED))
		err = model_add_joined(f->model, c->tgid, c->inc, c->tid,
				       c->depart_ns - c->arrive_ns, c->depart_ns, 0);
	return err ? err : feed_none(f, c);
}

int feed_round(struct feed *f, const struct sbt_crossing *c, const struct forkjoin_episode *round)
{
	struct model_crossing m = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.count = round->n + 1,
		.object = c->tid,
		.arrive_ns = round->arrive_ns,
		.depart_ns = round->depart_ns,
		.arrive_cpu = c->arrive_cpu,
		.depart_cpu = c->depart_cpu,
		/* Every episode that model/forkjoin found has this family. */
		.family = SBT_FAMILY_FORKJOIN,
		.kind = SBT_KIND_JOIN,
		.flags = MODEL_CROSSING_TEAM | (round->joins_only ? MODEL_CROSSING_JOINS : 0),
	};
	const struct feed_site *slot = feed_site(f, c);
	struct renumbered *r = renumber(f, c);
	uint32_t i;
	int err = 0;

	if (!r || !slot)
		return -ENOMEM;
	m.site = callsites_join(f->callsites, slot->space, c);
	for (i = 0; i < round->n && !err; i++)
		err = feed_worker(f, round, &round->members[i], m.site);
	m.seq = c->seq + ++r->shift;
	r->reaches_back = true;
	if (!err && m.seq == 1)
		err = model_add_found(f->model, c->tgid, c->inc, c->tid, was_waiting(f, c->tid));
	return err ? err : model_add_crossing(f->model, &m);
}

void feed_alive(struct feed *f, uint32_t tgid, uint32_t tid, uint64_t life_ns, uint64_t busy_ns)
{
	spin_suspects_note(&f->spin_suspects, tgid, tid, life_ns, busy_ns);
}

uint32_t feed_busy(struct feed *f, uint32_t *tgid)
{
	return spin_suspects_most(&f->spin_suspects, f->model, tgid);
}

uint64_t feed_crossings(const struct feed *f, uint32_t rule)
{
	return rule <= RULES_MAX ? f->crossings[rule] : 0;
}

uint64_t feed_unsampled(const struct feed *f)
{
	return callsites_unsampled(f->callsites);
}

uint64_t feed_short_chains(const struct feed *f, const char **why)
{
	return callsites_short(f->callsites, why);
}
