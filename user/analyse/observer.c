// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/observer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "analyse/conceptual.h"
#include "analyse/openmp.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/remark.h"
#include "sbt/record.h"
#include "sites/family.h"
#include "target/proc.h"

/* bits of model_barrier.flags */
#define WATCH_WATCHED	 0x1u
#define WATCH_NAMED	 0x2u
#define WATCH_LOOP	 0x4u /* summed up at the end, not reported for each episode */
#define WATCH_OTHER	 0x8u /* not among the barriers of observer_show_only() */
/* the bits from here on: index of the --name option plus one, or 0 if none matched */
#define WATCH_NAME_SHIFT 8

#define LABEL_BYTES 192

/* The name of a barrier, created when first needed. */
struct named {
	bool made;
	struct report_barrier barrier;
	void *arena;
	uint64_t warned; /* number of episodes with a barrier time of options.warn_ns or more */
};

struct observer {
	const struct options *options;
	const struct report_env *env;
	struct observer_output output;
	struct observer_rows rows;
	struct model *model;
	struct openmp *openmp;
	struct conceptual *conceptual;
	const char **phase_names;
	struct report_namer *namer;
	struct named *named; /* indexed by barrier */
	uint32_t nnamed;
	bool *matched_watch; /* indexed by -w option: a barrier matched it */
	bool *matched_name; /* indexed by --name option: a barrier matched it */
	/* one bit for each --phase: a barrier matched its begin (its end) */
	uint32_t matched_begin, matched_end;
	struct observed_member *members;
	/* counters of each member, then the sums over all members */
	struct report_counter *counters;
	uint32_t cap_members;
	size_t cap_counters;
	observer_folded folded; /* called for each process that is folded; may be NULL */
	void *folded_ctx;
	/*
	 * Labels by call site, created when first needed. A hash, because recordings may use any
	 * numbers for call sites.
	 */
	struct hash labels;
};

static int name_phases(struct observer *w)
{
	const struct options *o = w->options;
	size_t i;

	w->phase_names = calloc(o->nphases + 1, sizeof(*w->phase_names));
	if (!w->phase_names)
		return -ENOMEM;
	for (i = 0; i < o->nphases; i++)
		w->phase_names[i] = o->phases[i].name;
	w->conceptual = conceptual_new(w->phase_names, (uint32_t)o->nphases);
	if (!w->conceptual)
		return -ENOMEM;
	for (i = 0; i < o->nphases; i++)
		if (!*o->phases[i].begin)
			conceptual_from_start(w->conceptual, (uint32_t)i);
	return 0;
}

int observer_new(const struct options *options, const struct report_env *env,
		 const struct observer_output *output, struct observer **out)
{
	struct observer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct observer){
		.options = options,
		.env = env,
		.output = *output,
		.matched_watch = calloc(options->nwatch + 1, sizeof(*w->matched_watch)),
		.matched_name = calloc(options->nnames + 1, sizeof(*w->matched_name)),
		.openmp = openmp_new(),
		.namer = report_namer_new(),
	};
	if (!w->matched_watch || !w->matched_name || !w->openmp || !w->namer || name_phases(w)) {
		observer_free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void observer_free(struct observer *w)
{
	uint32_t i;

	if (!w)
		return;
	for (i = 0; i < w->nnamed; i++)
		report_arena_free(w->named[i].arena);
	report_namer_free(w->namer);
	openmp_free(w->openmp);
	conceptual_free(w->conceptual);
	free(w->phase_names);
	free(w->named);
	free(w->members);
	free(w->counters);
	hash_free_ptrs(&w->labels);
	free(w->matched_watch);
	free(w->matched_name);
	free(w);
}

struct openmp *observer_openmp(const struct observer *w)
{
	return w->openmp;
}

struct conceptual *observer_conceptual(const struct observer *w)
{
	return w->conceptual;
}

void observer_name_threads(struct observer *w, struct model *model)
{
	w->model = model;
}

void observer_show_only(struct observer *w, const struct observer_rows *rows)
{
	w->rows = *rows;
}

/* --- selection of barriers ------------------------------------------------------------------- */

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/*
 * Return true if the frame matches FILE:LINE, or LINE alone. FILE is the frame's complete path, or
 * the part of that path after one of its slashes.
 */
static bool matches_line(const struct site_frame *f, const char *spec)
{
	const char *colon = strrchr(spec, ':');
	size_t len, have;

	if (is_number(spec))
		return f->line && f->line == strtoul(spec, NULL, 10);
	if (!colon || !is_number(colon + 1) || !f->file || !f->line ||
	    f->line != strtoul(colon + 1, NULL, 10))
		return false;
	len = (size_t)(colon - spec);
	have = strlen(f->file);
	if (!len || have < len || strncmp(f->file + have - len, spec, len) != 0)
		return false;
	return have == len || f->file[have - len - 1] == '/';
}

static bool matches_site(const struct site_name *name, const char *spec)
{
	uint32_t i;

	for (i = 0; name && i < name->nframes; i++) {
		const struct site_frame *f = &name->frames[i];

		if ((f->function && !strcmp(f->function, spec)) || matches_line(f, spec))
			return true;
	}
	return false;
}

static struct named *get_named(struct observer *w, const struct model *model, uint32_t index)
{
	struct named *n;

	if (grow_zeroed(w->named, w->nnamed, index + 1))
		return NULL;
	n = &w->named[index];
	if (!n->made) {
		if (report_namer_name(w->namer, model, w->env, index, &n->barrier, &n->arena))
			return NULL;
		n->made = true;
	}
	return n;
}

/*
 * Return true if the barrier matches @spec, in the form that -w takes. @id is the barrier's id,
 * "#1a2b...". A @spec of "#" and the first digits of the id matches, too.
 */
static bool matches(const struct observer *w, const struct model_barrier *b, const char *id,
		    const char *name, const char *spec)
{
	uint32_t i;

	if (name && !strcmp(name, spec))
		return true;
	if (spec[0] == '#')
		return spec[1] && !strncmp(id, spec, strlen(spec));
	for (i = 0; i < b->nsites; i++) {
		if (matches_site(w->env->site(w->env->ctx, b->sites[i]), spec))
			return true;
	}
	return false;
}

bool observer_is(const struct observer *w, const struct model_barrier *b, const char *id,
		 const char *spec)
{
	return matches(w, b, id, observer_barrier_name(w, b), spec);
}

const char *observer_barrier_name(const struct observer *w, const struct model_barrier *b)
{
	const struct site_name *site = NULL;
	uint32_t i = b->flags >> WATCH_NAME_SHIFT;

	if (i)
		return w->options->names[i - 1].name;
	if (b->nsites)
		site = w->env->site(w->env->ctx, b->sites[0]);
	return site ? site->label : NULL;
}

/*
 * Return true if the program declares that only the sum over all episodes of the barrier is of
 * interest.
 */
static bool in_loop(const struct observer *w, const struct model_barrier *b)
{
	const struct site_name *site = family_has(b->family, FAMILY_MARKERS) && b->nsites
					       ? w->env->site(w->env->ctx, b->sites[0])
					       : NULL;

	return site && site->loop;
}

static void bound_phases(struct observer *w, uint32_t index, const struct model_barrier *b,
			 const char *id, const char *name)
{
	const struct options *o = w->options;
	uint32_t begins = 0, ends = 0;
	size_t i;

	for (i = 0; i < o->nphases; i++) {
		if (*o->phases[i].begin && matches(w, b, id, name, o->phases[i].begin))
			begins |= 1u << i;
		if (matches(w, b, id, name, o->phases[i].end))
			ends |= 1u << i;
	}
	w->matched_begin |= begins;
	w->matched_end |= ends;
	/* Ignore -ENOMEM: if memory has run out, later allocations fail as well. */
	if (o->nphases)
		conceptual_barrier(w->conceptual, index, begins, ends);
}

void observer_barrier(void *ctx, const struct model *model, uint32_t index, struct model_barrier *b)
{
	struct observer *w = ctx;
	const struct options *o = w->options;
	const char *name;
	struct named *n;
	size_t i;

	if (in_loop(w, b))
		b->flags |= WATCH_LOOP;
	if (o->watch_all)
		b->flags |= WATCH_WATCHED;
	if (family_has(b->family, FAMILY_MARKERS) && observer_barrier_name(w, b))
		b->flags |= WATCH_NAMED;
	/* Looking up names takes time, so do it only if an option needs a name. */
	if (!o->nwatch && !o->nnames && !o->nphases && !w->rows.nsites)
		return;
	n = get_named(w, model, index);
	if (!n)
		return;
	for (i = 0; i < o->nnames; i++) {
		if (!matches(w, b, n->barrier.id, NULL, o->names[i].barrier))
			continue;
		/* If several --name options match the barrier, the first counts. */
		if (!(b->flags >> WATCH_NAME_SHIFT))
			b->flags |= WATCH_NAMED | (uint32_t)(i + 1) << WATCH_NAME_SHIFT;
		w->matched_name[i] = true;
	}
	name = observer_barrier_name(w, b);
	for (i = 0; i < o->nwatch; i++) {
		if (!matches(w, b, n->barrier.id, name, o->watch[i]))
			continue;
		b->flags |= WATCH_WATCHED;
		w->matched_watch[i] = true;
	}
	bound_phases(w, index, b, n->barrier.id, name);
	for (i = 0; i < w->rows.nsites; i++)
		if (matches(w, b, n->barrier.id, name, w->rows.sites[i]))
			break;
	if (w->rows.nsites && i == w->rows.nsites)
		b->flags |= WATCH_OTHER;
	/*
	 * n->barrier was filled before the --name option was known. Drop it, so that the next use
	 * fills it anew.
	 */
	report_arena_free(n->arena);
	memset(n, 0, sizeof(*n));
}

int observer_mark(void *ctx, const struct model *model, uint32_t thread,
		  const struct model_mark *mark)
{
	const struct observer *w = ctx;
	const struct site_name *name = w->env->site(w->env->ctx, mark->site);

	/* Use "?" if the text of the name could not be read. */
	return conceptual_mark(w->conceptual, model, thread,
			       name && name->label ? name->label : "?", mark);
}

int observer_sample(void *ctx, const struct model *model, uint32_t thread,
		    const struct model_sample *sample)
{
	const struct observer *w = ctx;

	return w->env->causes ? causes_sample(w->env->causes, model, thread, sample) : 0;
}

int observer_activity(void *ctx, const struct model *model, uint32_t thread,
		      const struct model_activity *activity)
{
	const struct observer *w = ctx;

	return w->env->causes ? causes_activity(w->env->causes, model, thread, activity) : 0;
}

void observer_on_folded(struct observer *w, observer_folded folded, void *ctx)
{
	w->folded = folded;
	w->folded_ctx = ctx;
}

bool observer_may_fold(void *ctx, const struct model *model, uint32_t proc)
{
	const struct observer *w = ctx;

	(void)model;
	/* Phases need the figures of single threads, which folding replaces by sums. */
	return !w->options->nphases && !conceptual_marks(w->conceptual, proc);
}

void observer_barrier_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into)
{
	struct observer *w = ctx;

	(void)model;
	if (from < w->nnamed) {
		report_arena_free(w->named[from].arena);
		memset(&w->named[from], 0, sizeof(w->named[from]));
	}
	report_namer_forget(w->namer);
	/* Ignore -ENOMEM: the causes of the program then lack the lateness of this barrier. */
	if (w->env->causes)
		causes_fold_barrier(w->env->causes, from, into);
}

void observer_process_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into)
{
	struct observer *w = ctx;

	openmp_fold_process(w->openmp, from);
	if (w->env->causes)
		causes_fold_process(w->env->causes, from, into);
	if (w->folded)
		w->folded(w->folded_ctx, model_proc(model, from), model_proc(model, into));
}

void observer_unmet(const struct observer *w)
{
	uint64_t refused = conceptual_refused(w->conceptual);
	size_t i;

	if (refused)
		remark_note(REMARK_WARN, "unmet", 0,
			    "%llu marks of phases are ignored: a process has more than %d marked "
			    "phases",
			    (unsigned long long)refused, USER_PHASES_MAX);

	for (i = 0; i < w->options->nwatch; i++) {
		if (!w->matched_watch[i])
			remark_note(REMARK_WARN, "unmet", 0, "-w: barrier \"%s\" was never crossed",
				    w->options->watch[i]);
	}
	for (i = 0; i < w->options->nnames; i++) {
		if (!w->matched_name[i])
			remark_note(REMARK_WARN, "unmet", 0,
				    "--name: barrier \"%s\" was never crossed, so none was named "
				    "\"%s\"",
				    w->options->names[i].barrier, w->options->names[i].name);
	}
	for (i = 0; i < w->options->nphases; i++) {
		const struct options_phase *p = &w->options->phases[i];

		if (*p->begin && !(w->matched_begin >> i & 1))
			remark_note(REMARK_WARN, "unmet", 0,
				    "barrier \"%s\" was never crossed: phase \"%s\" never began",
				    p->begin, p->name);
		if (!(w->matched_end >> i & 1))
			remark_note(REMARK_WARN, "unmet", 0,
				    "barrier \"%s\" was never crossed: phase \"%s\" never ended",
				    p->end, p->name);
	}
}

/* --- output of episodes ---------------------------------------------------------------------- */

#define COPY_PART(member, ...) parts->member = d->member;

/* Set how the member spent its time. If the time was not accounted for, all parts are unknown. */
static void fill_parts(struct report_parts *parts, const struct model_member *m)
{
	const struct model_detail *d = m->detail;
	uint64_t sum;
	int i;

	memset(parts, 0xff, sizeof(*parts));
	if (!d)
		return;
	parts->spin_ns = d->inside_oncpu_ns;
	parts->late_ns = d->inside_runq_ns;
	if (m->work_ns == MODEL_UNKNOWN)
		return;
	SBT_PARTS_ALL(COPY_PART, )
	sum = d->oncpu_ns + d->runq_ns;
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		parts->blocked_ns[i] = d->blocked_ns[i];
		sum += d->blocked_ns[i];
	}
	parts->unattributed_ns = number_less(m->work_ns, sum);
}

static struct report_counter counted(const struct model_detail *d, uint32_t i, const char *name)
{
	bool some = d && d->oncpu_ns != MODEL_UNKNOWN && i < d->ncounters;

	return report_counter(name, some ? d->counters[i] : 0, some ? d->inside_counters[i] : 0,
			      some && !(d->unknown >> i & 1), d && (d->scaled >> i & 1));
}

/* Set the counters of a member and add them to @sum. */
static void fill_counters(const struct report_env *env, const struct model_detail *d,
			  struct report_counter *out, struct report_counter *sum)
{
	uint32_t i;

	for (i = 0; i < env->ncounters; i++) {
		out[i] = counted(d, i, env->counters[i]);
		report_counter_add(&sum[i], &out[i]);
	}
}

/*
 * Return the counters of member @i, or the sums over all members if @i is the number of members.
 * Return NULL if there are no counters.
 */
static struct report_counter *member_counters(const struct observer *w, uint32_t i)
{
	return w->env->ncounters ? w->counters + (size_t)i * w->env->ncounters : NULL;
}

static bool wanted_thread(const struct observer *w, uint32_t tid)
{
	size_t i;

	for (i = 0; i < w->rows.nthreads; i++)
		if (w->rows.threads[i] == tid)
			return true;
	return !w->rows.nthreads;
}

/* Return true if at least one row of the episode is shown. */
static bool wanted(const struct observer *w, uint32_t flags, const struct model_episode *e)
{
	if (flags & WATCH_OTHER)
		return false;
	array_for_each (m, e->members, e->n)
		if (wanted_thread(w, m->tid))
			return true;
	return false;
}

/*
 * Remove the rows of threads that are not shown. The sums already include them. Return the number
 * of remaining rows.
 */
static uint32_t keep_members(struct observer *w, uint32_t n)
{
	uint32_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (wanted_thread(w, w->members[i].tid))
			w->members[kept++] = w->members[i];
	return kept;
}

/* Return the label of a call site, or NULL when out of memory. */
static const char *site_label(struct observer *w, uint32_t site)
{
	char *label = hash_get_ptr(&w->labels, site), s[LABEL_BYTES];

	if (label)
		return label;
	if (!w->env->site(w->env->ctx, site))
		return "?";
	if (report_site_label(w->env, site, s, sizeof(s)))
		return NULL;
	label = strdup(s);
	if (label && hash_put_ptr(&w->labels, site, label)) {
		free(label);
		return NULL;
	}
	return label;
}

static int fill_members(struct observer *w, const struct model *model,
			const struct model_episode *e)
{
	bool mixed = model_barrier(model, e->barrier)->nsites > 1;
	struct report_counter *sum;
	uint32_t i;

	if (grow(w->members, w->cap_members, e->n) ||
	    grow(w->counters, w->cap_counters, ((size_t)e->n + 1) * w->env->ncounters))
		return -ENOMEM;
	sum = member_counters(w, e->n);
	if (sum)
		memset(sum, 0, w->env->ncounters * sizeof(*sum));
	for (i = 0; i < e->n; i++) {
		const struct model_member *from = &e->members[i];
		const struct model_thread *thread = model_thread(model, from->thread);
		struct observed_member *m = &w->members[i];
		char comm[16];

		if (w->model && !*thread->comm && !thread->exited) {
			const struct model_proc *p = model_proc(model, thread->proc);

			if (!proc_comm((int)p->tgid, (int)thread->tid, comm))
				model_name_thread(w->model, p->tgid, p->inc, thread->tid, comm);
		}
		*m = (struct observed_member){
			.tid = from->tid,
			.index = thread->place != MODEL_NONE ? thread->place : thread->ordinal,
			.comm = *thread->comm ? thread->comm : NULL,
			.site = mixed ? site_label(w, from->site) : NULL,
			.order = i,
			.arrive_ns = from->arrive_ns,
			.inter_ns = i ? from->arrive_ns - e->members[i - 1].arrive_ns : 0,
			.wait_ns = from->wait_ns,
			.depart_ns = from->depart_ns,
			.work_ns = from->work_ns,
			.cpu = from->arrive_cpu,
			.ncounters = w->env->ncounters,
			.counters = member_counters(w, i),
		};
		fill_parts(&m->parts, from);
		fill_counters(w->env, from->detail, member_counters(w, i), sum);
	}
	return 0;
}

static bool has_tasks(const struct observer *w, const struct model *model,
		      const struct model_episode *e)
{
	return w->env->tasks && openmp_is_barrier(model_barrier(model, e->barrier)) &&
	       w->env->tasks(w->env->ctx, model_proc(model, e->proc));
}

static void show(struct observer *w, struct named *n, const struct observed_episode *e,
		 uint32_t flags, bool reported, bool late)
{
	const struct observer_output *out = &w->output;

	if (reported && (flags & WATCH_WATCHED)) {
		if (out->watched)
			out->watched(out->ctx, e);
	} else if (reported && out->named) {
		out->named(out->ctx, e);
	}
	if (late && n->warned++ % w->options->warn_every == 0 && out->warning)
		out->warning(out->ctx, e, w->options->warn_ns);
	if (w->options->phase_times && out->phase_time)
		out->phase_time(out->ctx, e);
}

/* Return how the departures of the episode's threads were found. */
static const char *departures_of(const struct model_episode *e)
{
	array_for_each (m, e->members, e->n)
		if (m->flags & MODEL_CROSSING_INFERRED)
			return "inferred";
	return "seen";
}

void observer_episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct observer *w = ctx;
	const struct options *o = w->options;
	uint32_t flags = model_barrier(model, e->barrier)->flags;
	bool late = o->warnings && e->barrier_ns >= o->warn_ns && e->state != MODEL_INCOMPLETE;
	bool reported = flags & (WATCH_WATCHED | WATCH_NAMED) && !(flags & WATCH_LOOP);
	bool shown = (reported || late || o->phase_times) && wanted(w, flags, e);
	struct report_cause cause = { 0 };
	struct blame *const *blames = NULL;
	struct observed_episode out;
	uint32_t nblames = 0;
	struct named *n;

	if (conceptual_episode(w->conceptual, model, e))
		return;
	blames = conceptual_blames(w->conceptual, &nblames);
	/* Causes need every episode. */
	if (w->env->causes &&
	    causes_episode(w->env->causes, model, e, blames, nblames, shown ? &cause : NULL))
		return;
	if (openmp_episode(w->openmp, model, e) || !shown)
		return;
	/* If other threads run tasks, the lateness of a thread has no known cause. */
	if (has_tasks(w, model, e))
		cause = (struct report_cause){ .share = NAN };
	n = get_named(w, model, e->barrier);
	if (!n || fill_members(w, model, e))
		return;
	out = (struct observed_episode){
		.barrier = &n->barrier,
		.pid = model_proc(model, e->proc)->tgid,
		.seq = e->seq,
		.number = e->number,
		.release_ns = e->release_ns,
		.phase_ns = e->phase_ns,
		.barrier_ns = e->barrier_ns,
		.participants = e->n,
		.state = e->state,
		.why = e->why,
		.nested = e->nested,
		.departures = departures_of(e),
		.nmembers = keep_members(w, e->n),
		.members = w->members,
		.cause = cause,
		.ncounters = w->env->ncounters,
		.counters = member_counters(w, e->n),
	};
	show(w, n, &out, flags, reported, late);
}
