// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/diagnostics.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/remark.h"
#include "ingest/callsite.h"
#include "ingest/ranks.h"
#include "model/discover.h"
#include "model/turnstile.h"
#include "sites/family.h"
#include "target/look.h"
#include "target/proc.h"

/* A barrier that each thread has for itself is none: the object is most likely another. */
static void say_single_thread(const struct diagnostics *r)
{
	uint32_t i;

	for (i = 0; i < model_nbarriers(r->model); i++) {
		const struct model_barrier *b = model_barrier(r->model, i);

		if (b->proc != MODEL_NONE && family_has(b->family, FAMILY_RULES) &&
		    b->team_max == 1 && b->objects > 1) {
			remark_note(
				REMARK_WARN, "user_barrier", 0,
				"-b: where the barriers of user functions were told apart by an "
				"argument, no two threads met at one: give @N, the number of the "
				"argument that is the barrier, or @all if all callers meet");
			return;
		}
	}
}

/* What the user named and nobody met: silence would be taken for an answer. */
static void say_rules(const struct diagnostics *r)
{
	const struct rules *rules = r->options->rules;
	size_t i;
	int k;

	for (i = 0; rules && i < rules->n; i++) {
		const struct rule *rule = rules->all[i];

		for (k = 0; k < 1 + rule->pair && rule->at[k].found; k++)
			;
		if (k < 1 + rule->pair)
			remark_note(REMARK_WARN, "user_barrier", 0,
				    "-b %s: %s%s is in no file%s that was run", rule->text,
				    rule->pair ? k ? "the second of " : "the first of " : "",
				    rule->pair ? "its functions" : "such a function",
				    rule->file ? " of that name" : "");
		else if (!tracker_probed(r->tracker, (uint32_t)i + 1))
			continue; /* why not has been said */
		else if (!feed_crossings(ingest_feed(r->ingest), (uint32_t)i + 1))
			remark_note(REMARK_WARN, "user_barrier", 0,
				    "-b %s: found %u time%s, but nobody called it", rule->text,
				    rule->at[0].found, rule->at[0].found == 1 ? "" : "s");
	}
}

/* Regions that run the same function with the same data at one time, or more than four deep. */
static void say_teams(const struct diagnostics *r)
{
	struct sbt_counts counts;

	attach_counts(r->attach, &counts);
	if (counts.lost_team)
		remark_note(
			REMARK_WARN, "team", 0,
			"%llu times a thread came to a barrier of an OpenMP team that could not "
			"be told from "
			"another: not recorded",
			(unsigned long long)counts.lost_team);
}

/* Threads that still run: an event reports those that ended. */
struct alive {
	struct feed *feed;
	uint32_t tgid;
	uint64_t now_ns, tick_ns; /* since boot, and what start_ticks counts */
};

static void note_thread(void *ctx, int tid)
{
	const struct alive *a = ctx;
	struct look look;
	uint64_t start_ns;

	if (look_again((int)a->tgid, tid, &look) || look.state == 'Z' || look.state == 'X' ||
	    look.cpu_ns == UINT64_MAX || look.runq_ns == UINT64_MAX)
		return;
	start_ns = look.start_ticks * a->tick_ns;
	if (start_ns < a->now_ns)
		feed_alive(a->feed, a->tgid, (uint32_t)tid, a->now_ns - start_ns,
			   look.cpu_ns + look.runq_ns);
}

static void note_process(void *ctx, uint32_t tgid)
{
	struct alive *a = ctx;

	a->tgid = tgid;
	proc_each_thread((int)tgid, note_thread, a);
}

/* Nothing invisible is passed over in silence. Returns whether there was something to say. */
static bool hint_at_spinning(const struct diagnostics *r)
{
	struct alive alive = { .feed = ingest_feed(r->ingest) };
	long ticks = sysconf(_SC_CLK_TCK);
	uint32_t tgid = 0, n;
	struct timespec now;

	if (ticks > 0 && !clock_gettime(CLOCK_BOOTTIME, &now)) {
		alive.now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		alive.tick_ns = 1000000000u / (uint64_t)ticks;
		attach_each_process(r->attach, note_process, &alive);
	}
	n = feed_busy(alive.feed, &tgid);
	if (n < 2)
		return false;
	/* Where others do meet, this is something beside the point. */
	remark_note(
		model_totals(r->model)->crossings ? REMARK_HINT : REMARK_ERROR, "spinning_code",
		tgid,
		"%u threads of process %u were busy nearly all their lives and called no barrier "
		"that was traced. "
		"If they wait for one another by spinning in code of their own, that cannot be "
		"seen from outside: put the markers of sbt/sbt.h there, or name the function that "
		"waits with -b",
		n, tgid);
	return true;
}

#define CANDIDATES_SHOWN 5
#define BATCHES_LEAST	 2 /* groups of waits that ended together */
#define BATCHES_PAIR	 8 /* the same of two threads, as two that take from a queue may do by chance */
#define UNEVEN_LEAST	 8 /* rounds of other members than before */

struct candidates {
	const struct diagnostics *remarks;
	uint32_t n;
};

static const char *probe_site_of(const struct diagnostics *r, uint32_t site, char text[256])
{
	const struct site_name *name = address_spaces_site(r->spaces, site);
	const struct site_frame *f = name && name->nframes ? &name->frames[0] : NULL;

	if (f && f->function && f->file)
		snprintf(text, 256, "%.100s (%.100s:%u)", f->function, f->file, f->line);
	else if (f && f->function)
		snprintf(text, 256, "%.200s", f->function);
	else
		snprintf(text, 256, "%.200s+0x%llx", name && name->module ? name->module : "?",
			 name ? (unsigned long long)name->offset : 0ULL);
	return text;
}

struct same_place {
	uint32_t site, n;
};

static void count_probe_site(void *ctx, const struct discover_object *o)
{
	struct same_place *same = ctx;

	same->n += o->wait_site == same->site;
}

#define ADVICE_LEN 320

/* The command that traces @name as a barrier. @several: all threads do not meet at one object, but at those that an argument names. */
static const char *advice_named(const char *name, bool several, char text[ADVICE_LEN])
{
	if (name)
		snprintf(text, ADVICE_LEN,
			 "if %.100s is a barrier's function, trace it with -b %.100s%s", name, name,
			 several ? "" : "@all");
	else
		snprintf(text, ADVICE_LEN,
			 "-b cannot name it, for it is no function of its own in the program, or "
			 "its end is not known: if it is a barrier, put the markers of sbt/sbt.h "
			 "there");
	return text;
}

/* The function at @site, if -b can name it as a barrier's. What a thread begins with is none. */
static const char *nameable(const struct diagnostics *r, uint32_t site)
{
	const char *name = address_spaces_rule_name(r->spaces, site);

	if (name && (!strcmp(name, "main") ||
		     callsites_first(feed_callsites(ingest_feed(r->ingest)), site)))
		return NULL;
	return name;
}

/* The command that traces what is at @site as a barrier, or what to do where there is no function to name. */
static const char *advice_at(const struct diagnostics *r, uint32_t site, char text[ADVICE_LEN])
{
	struct same_place same = { .site = site };

	discover_each(ingest_discover(r->ingest), count_probe_site, &same);
	return advice_named(nameable(r, site), same.n > 1, text);
}

/*
 * The same of an object. Functions that only wait, or wake, on a futex for those who call them are usual: what -b made of one
 * would be meetings of those that wait alone.
 */
static const char *advice_of(const struct diagnostics *r, const struct discover_object *o,
			     char text[ADVICE_LEN])
{
	bool exact;

	if (!o->futex || (o->wait_site != o->wake_site &&
			  address_spaces_function(r->spaces, o->wait_site, &exact) ==
				  address_spaces_function(r->spaces, o->wake_site, &exact)))
		return advice_at(r, o->wait_site, text);
	snprintf(text, ADVICE_LEN,
		 "if it is a barrier, name the function that holds both its wait and its waking "
		 "with -b");
	return text;
}

/* Waits in one function, and the waking in another: what to do about it. */
static const char *advice_split(const struct diagnostics *r, const struct discover_object *o,
				char text[ADVICE_LEN])
{
	const char *arrive = nameable(r, o->wake_site), *leave = nameable(r, o->wait_site);

	if (arrive && leave && strcmp(arrive, leave) != 0)
		snprintf(text, ADVICE_LEN,
			 "if that is a barrier, trace it with -b %.100s..%.100s@all", arrive,
			 leave);
	else if (arrive && leave)
		snprintf(text, ADVICE_LEN, "if that is a barrier, trace it with -b %.100s@all",
			 arrive);
	else
		snprintf(text, ADVICE_LEN,
			 "if that is a barrier, put the markers of sbt/sbt.h there, or name a "
			 "function that holds nothing but the barrier with -b");
	return text;
}

/* Where the waking is, in the words that are true of two places in one function of the source, or of the machine's code. */
static const char *woken_from(const struct diagnostics *r, const struct discover_object *o)
{
	bool exact;
	uint64_t wait = address_spaces_function(r->spaces, o->wait_site, &exact);

	if (wait && wait == address_spaces_function(r->spaces, o->wake_site, &exact))
		return "in rounds among other uses of it, and woken at";
	wait = address_spaces_outer_function(r->spaces, o->wait_site);
	if (wait && wait == address_spaces_outer_function(r->spaces, o->wake_site))
		return "and woken at another place of one function, at";
	return "and woken from another function, at";
}

static void tell_split(const struct diagnostics *r, const struct discover_object *o)
{
	char wait[256], wake[256], text[ADVICE_LEN];

	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: the same %u threads met %u times in a row or more on a condition "
		    "variable, waiting at %s %s %s: %s",
		    o->tgid, o->members, o->split, probe_site_of(r, o->wait_site, wait),
		    woken_from(r, o), probe_site_of(r, o->wake_site, wake),
		    advice_split(r, o, text));
}

/* A virtual machine's own monitors are no barriers of the program. */
static bool is_of_machine(const struct diagnostics *r, const struct discover_object *o)
{
	const struct site_name *name = address_spaces_site(r->spaces, o->wait_site);

	return name && name->module && strstr(name->module, "/libjvm.so");
}

/* Only where nothing else was found: a pool whose threads are started by one does the same. */
static void tell_led(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	char wait[256], wake[256], text[ADVICE_LEN];

	if (o->futex || o->split || o->rounds || o->verdict == DISCOVER_BARRIER ||
	    o->led < BATCHES_LEAST || is_of_machine(c->remarks, o) || c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: the same %u threads waited at %s %u times in a row or more, on a "
		    "condition variable, and one other always woke them from another function, at "
		    "%s: a candidate only, for one thread that starts others does the same; %s",
		    o->tgid, o->members - 1, probe_site_of(c->remarks, o->wait_site, wait), o->led,
		    probe_site_of(c->remarks, o->wake_site, wake),
		    advice_split(c->remarks, o, text));
}

/* Only where nothing else was found, and the waits came in groups: at a lock or a queue they come one by one. */
static void tell_alone(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	char text[256], advice[ADVICE_LEN];

	if (o->futex || o->split || o->led || o->alone < 2 ||
	    o->batches < (o->alone < 3 ? BATCHES_PAIR : BATCHES_LEAST) ||
	    o->batches <= 2 * o->loose || is_of_machine(c->remarks, o) ||
	    c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: %u threads or more waited at %s, and left together %u times, on a "
		    "condition variable that no thread broadcasts: a candidate only; %s",
		    o->tgid, o->alone, probe_site_of(c->remarks, o->wait_site, text), o->batches,
		    advice_at(c->remarks, o->wait_site, advice));
}

struct sems {
	struct candidates *c;
	const struct turnstile *one; /* of which the others are compared with */
	bool several; /* other threads may meet by the same call */
	/* Semaphores that the same call waits on, for other calls: of the same function, of others, of others and no candidates. */
	bool around, elsewhere, lock;
	bool helper; /* waited for by the same inlined line from another place */
	const char *names[CANDIDATES_SHOWN]; /* of functions that have been named */
	uint32_t n;
};

static void compare_calls(struct sems *s, const struct turnstile *o)
{
	struct address_spaces *spaces = s->c->remarks->spaces;
	bool exact;

	if (o->above == ADDRESS_SPACE_SITE_NONE || s->one->above == ADDRESS_SPACE_SITE_NONE ||
	    address_spaces_function(spaces, o->above, &exact) !=
		    address_spaces_function(spaces, s->one->above, &exact)) {
		s->elsewhere = true;
		s->lock |= !turnstile_is(o);
	} else {
		s->around = true;
	}
}

static void compare_sem(void *ctx, const struct turnstile *o)
{
	struct sems *s = ctx;
	struct address_spaces *spaces = s->c->remarks->spaces;

	if (o->tgid != s->one->tgid || o->inc != s->one->inc)
		return;
	if (o->site == s->one->site && o->above != s->one->above)
		compare_calls(s, o);
	s->several |= o->site == s->one->site && turnstile_is(o) && !turnstile_shares(o, s->one);
	s->helper |= o->site != s->one->site && address_spaces_line(spaces, o->site, true) &&
		     address_spaces_line(spaces, o->site, true) ==
			     address_spaces_line(spaces, s->one->site, true);
}

/* Turnstiles of one barrier are one candidate. */
static bool is_named(struct sems *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->names[i], name))
			return true;
	if (s->n < CANDIDATES_SHOWN)
		s->names[s->n++] = name;
	return false;
}

static void tell_sem(void *ctx, const struct turnstile *o)
{
	struct sems *s = ctx;
	const struct diagnostics *r = s->c->remarks;
	struct sems compared = { .c = s->c, .one = o };
	char text[256], advice[ADVICE_LEN];
	uint32_t site = o->site;
	const char *name;
	bool above;

	if (!turnstile_is(o))
		return;
	turnstiles_each(ingest_turnstiles(r->ingest), compare_sem, &compared);
	/* What waits for whoever calls it, as an interpreter's locks, is no barrier. */
	if (compared.lock)
		return;
	/* A function that waits for another one, at several of its places. */
	above = compared.around && !compared.elsewhere &&
		!callsites_first(feed_callsites(ingest_feed(r->ingest)), o->above);
	if (above)
		site = o->above;
	name = compared.helper && !above ? address_spaces_rule_name_around(r->spaces, site)
					 : address_spaces_rule_name(r->spaces, site);
	/* What a thread begins with is no barrier; and who calls it from several functions may do so for parts of one. */
	if (compared.elsewhere || callsites_first(feed_callsites(ingest_feed(r->ingest)), site))
		name = NULL;
	probe_site_of(r, site, text);
	if (is_named(s, name ? name : address_spaces_keep(r->spaces, text)) ||
	    s->c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: %u threads waited at %s, and left together %u times or more, on a "
		    "semaphore: a candidate only, for one thread that starts others does the same; "
		    "%s",
		    o->tgid, o->threads, text, o->batches,
		    advice_named(name, compared.several, advice));
}

/* A barrier whose threads are woken twice in each meeting: the report has the first. */
static void tell_echo(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256];

	remark_note(
		REMARK_HINT, "candidate", o->tgid,
		"process %u: in each meeting at %s the threads are woken twice, the second time "
		"when all have left: the report counts that as one meeting, which ends at the "
		"first",
		o->tgid, probe_site_of(r, o->wait_site, text));
}

/* What was taken for the second half of a meeting lasts: threads may do something else before it. */
static void tell_echo_long(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256];

	remark_note(
		REMARK_HINT, "candidate", o->tgid,
		"process %u: what threads wait for at %s looks like the second phase of a meeting "
		"that ended a moment before, but they wait %.1f ms for it on average: if that is a "
		"barrier of its own, these waits are in no figure here; put the markers of "
		"sbt/sbt.h there",
		o->tgid, probe_site_of(r, o->wait_site, text), (double)o->echo_ns / 1e6);
}

/* Return whether the object is one of those that a sentence of its own describes. */
static bool tell_other(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256], advice[ADVICE_LEN];

	if (o->verdict == DISCOVER_BARRIER)
		return false;
	probe_site_of(r, o->wait_site, text);
	if (o->one_waker && o->members >= 3)
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %u threads met %llu times at %s, on a condition variable, "
			    "and the same thread always woke the others: a candidate only, for one "
			    "thread that starts the others does the same; %s",
			    o->tgid, o->members, (unsigned long long)o->rounds, text,
			    advice_at(r, o->wait_site, advice));
	else if (o->uneven >= UNEVEN_LEAST && o->most >= 3)
		remark_note(
			REMARK_HINT, "candidate", o->tgid,
			"process %u: up to %u threads waited for each other at %s, on a condition "
			"variable, but not the same ones each time, as where threads spin before "
			"they wait: a candidate only; %s",
			o->tgid, o->most, text, advice_at(r, o->wait_site, advice));
	else
		return false;
	return true;
}

static void tell_candidate(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	const char *what = o->futex ? "a futex" : "a condition variable";
	char text[256], advice[ADVICE_LEN];

	if (is_of_machine(c->remarks, o))
		return;
	if (o->split && o->verdict != DISCOVER_BARRIER) {
		if (c->n++ < CANDIDATES_SHOWN)
			tell_split(c->remarks, o);
		return;
	}
	if (o->echo && !o->untold && (o->echo_ns || o->verdict == DISCOVER_BARRIER)) {
		if (c->n++ < CANDIDATES_SHOWN)
			(o->echo_ns ? tell_echo_long : tell_echo)(c->remarks, o);
		return;
	}
	if (c->n < CANDIDATES_SHOWN && tell_other(c->remarks, o)) {
		c->n++;
		return;
	}
	if ((o->verdict == DISCOVER_OPEN && o->rounds < 3) || (!o->rounds && !o->untold) ||
	    (o->verdict == DISCOVER_OTHER && !o->untold))
		return;
	if (c->n++ >= CANDIDATES_SHOWN)
		return;
	probe_site_of(c->remarks, o->wait_site, text);
	if (o->verdict == DISCOVER_BARRIER)
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %llu meetings at %s came before it was known to be a "
			    "barrier, and are not "
			    "in the report",
			    o->tgid, (unsigned long long)o->untold, text);
	else if (o->members < 3)
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %u threads met %llu times at %s, on %s: a candidate only, "
			    "for two that hand something over do the same; %s",
			    o->tgid, o->members, (unsigned long long)o->rounds, text, what,
			    advice_of(c->remarks, o, advice));
	else
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %u threads met %llu times at %s, on %s: a candidate only, "
			    "for not all was as at a barrier; %s",
			    o->tgid, o->members, (unsigned long long)o->rounds, text, what,
			    advice_of(c->remarks, o, advice));
}

static void tell_candidates(const struct diagnostics *r)
{
	struct candidates c = { .remarks = r };
	struct sems sems = { .c = &c };

	if (!ingest_discover(r->ingest))
		return;
	discover_each(ingest_discover(r->ingest), tell_candidate, &c);
	if (!model_totals(r->model)->crossings) {
		discover_each(ingest_discover(r->ingest), tell_led, &c);
		discover_each(ingest_discover(r->ingest), tell_alone, &c);
		turnstiles_each(ingest_turnstiles(r->ingest), tell_sem, &sems);
	}
	if (c.n > CANDIDATES_SHOWN)
		remark_note(REMARK_HINT, "candidate", 0,
			    "and %u more objects at which threads may have met",
			    c.n - CANDIDATES_SHOWN);
}

static void say_ranks(const struct diagnostics *r)
{
	struct ranks_sums sums;

	ranks_sums(tracker_ranks(r->tracker), &sums);
	if (sums.no_job)
		remark_note(
			REMARK_WARN, "ranks", 0,
			"%llu crossings of MPI by processes in no job that is known (not started "
			"by mpirun): who else met there is not known, their episodes are "
			"incomplete",
			(unsigned long long)sums.no_job);
	if (sums.unseen)
		remark_note(
			REMARK_WARN, "ranks_gone", 0,
			"%llu crossings of MPI by processes that had ended before it was known "
			"which ranks they were: who else met there is not known, their episodes "
			"are incomplete",
			(unsigned long long)sums.unseen);
	if (sums.unknown)
		remark_note(
			REMARK_WARN, "ranks", 0,
			"%llu crossings of MPI on communicators that nobody saw being made: who "
			"else "
			"met there is not known, their episodes are incomplete",
			(unsigned long long)sums.unknown);
	if (sums.elsewhere)
		remark_note(
			REMARK_WARN, "ranks", 0,
			"%u ranks of MPI are on other machines and not seen: the last to come is "
			"the "
			"last of those here, and waits are too short where one of those came later",
			sums.elsewhere);
}

/* Where callers could not be told to the end. */
static void say_chains(const struct diagnostics *r)
{
	const char *why;
	uint64_t chains;

	chains = feed_short_chains(ingest_feed(r->ingest), &why);
	if (chains)
		remark_note(
			REMARK_WARN, "frames", 0,
			"--frames %u: not everywhere could so many callers be told; the furthest "
			"that is known is the site there%s%s",
			r->options->frames, *why ? ": " : "", why);
}

struct left_count {
	uint32_t command;
	struct diagnostics_left left;
};

static void count_left(void *ctx, uint32_t tgid)
{
	struct left_count *c = ctx;

	if (tgid == c->command || !proc_alive((int)tgid))
		return;
	c->left.n++;
	c->left.pid = tgid;
}

struct diagnostics_left diagnostics_left(const struct attach *attach, uint32_t command)
{
	struct left_count c = { .command = command };

	attach_each_process(attach, count_left, &c);
	return c.left;
}

/* A command that leaves a process behind (a daemon, a job in the background) is not followed to its end. */
static void say_left(const struct diagnostics *r)
{
	struct diagnostics_left left = r->left;

	if (left.n == 1)
		remark_note(REMARK_WARN, "still_running", left.pid,
			    "COMMAND has ended, and tracing with it, but a process that it started "
			    "still runs: sbt-trace -p %u would go on with that",
			    left.pid);
	else if (left.n)
		remark_note(REMARK_WARN, "still_running", 0,
			    "COMMAND has ended, and tracing with it, but %u processes that it "
			    "started still run: sbt-trace -p would go on with them (one is %u)",
			    left.n, left.pid);
}

/* --aggregate: what is there, and of which there are no sums. */
static void say_left_out(const struct diagnostics *r)
{
	char names[FAMILY_NAMES];

	if (r->options->aggregate &&
	    *family_list(modules_left_out(r->modules), names, sizeof(names)))
		remark_note(REMARK_WARN, "left_out", 0,
			    "--aggregate sums pthread barriers only, whose size is in the barrier: "
			    "those of %s are not in this report",
			    names);
}

#define UNREAD_SHOWN 16

static void say_unread_file(void *ctx, struct module *m)
{
	uint32_t *n = ctx;

	if (!m->in_target || (!module_is_unread(m) && !m->given_up) || (*n)++ >= UNREAD_SHOWN)
		return;
	if (m->given_up)
		remark_note(REMARK_WARN, "unread", 0,
			    "%s: not all that was asked about it is known, for %s: callers and "
			    "parallel regions in it may be missing",
			    m->path, module_why(m->given_up));
	else
		remark_note(REMARK_WARN, "unread", 0,
			    "%s: not examined, for %s: barriers in it are not seen", m->path,
			    module_why(m->error));
}

/* Files that the reader has been given up for. */
static void say_unread(const struct diagnostics *r)
{
	uint32_t n = 0;

	modules_each(r->modules, say_unread_file, &n);
	if (n > UNREAD_SHOWN)
		remark_note(REMARK_WARN, "unread", 0,
			    "and %u more files that were not examined, or not wholly",
			    n - UNREAD_SHOWN);
}

/* Where to look when no thread crossed anything. */
static void say_elsewhere(const struct diagnostics *r)
{
	const struct options *o = r->options;

	tracker_explain(r->tracker, o->aggregate);
	if (o->mode == OPTIONS_PIDS)
		remark_note(REMARK_ERROR, "elsewhere", (uint32_t)o->pids[0],
			    "who waited already when tracing began crosses nothing: sbt-trace hang "
			    "-p %d tells where each thread is",
			    o->pids[0]);
	if (o->aggregate)
		remark_note(REMARK_ERROR, "elsewhere", 0,
			    "without --aggregate all kinds of barriers are traced");
	else if (o->discover && !o->discover_futex)
		remark_note(REMARK_ERROR, "elsewhere", 0,
			    "barriers that nobody named are looked for on condition variables "
			    "and futexes with --discover (without it on condition variables only)");
}

/* Silence would be taken for an answer: nobody asked for less, but for --no-discover. */
static void say_not_looked_for(const struct diagnostics *r)
{
	const struct options *o = r->options;
	bool asked = o->discover_given && !o->discover;

	if (o->discover || (asked && model_totals(r->model)->crossings))
		return;
	remark_note(
		REMARK_HINT, "not_looked_for", 0,
		"not looked for: barriers that nobody named, on condition variables or futexes, "
		"and rounds of threads that are made and joined; %s",
		o->mode == OPTIONS_SYSTEM && o->aggregate
			? "without --aggregate, and with --discover, they are"
		: o->mode == OPTIONS_SYSTEM ? "with --discover they are"
		: o->aggregate		    ? "without --aggregate they are"
					    : "without --no-discover they are");
}

/* As measured by tests/bench: by how much longer a fork takes, and an exec. */
#define MADE_NS	    100000u
#define EXECUTED_NS 300000u
/* Below these it is not worth a remark: processes, and the part of the run that they took longer. */
#define MADE_LEAST  100
#define MADE_PART   100

static void say_made(const struct diagnostics *r)
{
	uint64_t made, executed, ns;

	tracker_made(r->tracker, &made, &executed);
	ns = made * MADE_NS + executed * EXECUTED_NS;
	if (made < MADE_LEAST || ns < r->elapsed_ns / MADE_PART)
		return;
	remark_note(
		REMARK_HINT, "processes_made", 0,
		"traced processes made %llu others, and these executed %llu programs: no "
		"estimate of what tracing costs contains that a process takes about 0.1 ms longer "
		"to make, and a program 0.3 ms longer to execute, or more on a busy machine; "
		"--no-children avoids most of it",
		(unsigned long long)made, (unsigned long long)executed);
}

void diagnostics_find(const struct diagnostics *r)
{
	say_made(r);
	say_left_out(r);
	say_unread(r);
	say_left(r);
	say_ranks(r);
	say_rules(r);
	say_single_thread(r);
	say_chains(r);
	say_teams(r);
	if (r->cut)
		return;
	if (!model_totals(r->model)->crossings)
		say_elsewhere(r);
	say_not_looked_for(r);
	/* Who sleeps or waits for a CPU as well looks like anybody else. */
	if (!hint_at_spinning(r) && !model_totals(r->model)->crossings)
		remark_note(
			REMARK_ERROR, "elsewhere", 0,
			"threads that wait by spinning in code of their own cannot be seen from "
			"outside: if they do, put the markers of sbt/sbt.h there, or name the "
			"function that waits with -b");
	tracker_tell_inlined(r->tracker);
	tracker_tell_ranks(r->tracker, r->model);
	tell_candidates(r);
}

#define UNNAMED_SHOWN 16

struct unnamed {
	uint32_t n;
};

static void tell_unnamed(void *ctx, const char *path, enum symbol_unnamed why)
{
	struct unnamed *u = ctx;

	if (u->n++ >= UNNAMED_SHOWN)
		return;
	switch (why) {
	case SYMBOL_UNNAMED_LINES:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: lines are not known, for its debug information takes more than "
			    "%d s of CPU time or %d MiB to read, or is damaged: places in it are "
			    "shown by module and offset, and by the symbol table",
			    path, SYMBOL_FILE_S, SYMBOL_MIB);
		return;
	case SYMBOL_UNNAMED_SILENT:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: not all names are known, for the process that reads them did not "
			    "answer: places in it are shown by module and offset",
			    path);
		return;
	case SYMBOL_UNNAMED_OWNER:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: not all names are known, for to read all the files of its owner "
			    "takes too much CPU time: places in it are shown by module and offset",
			    path);
		return;
	default:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: not all names are known, for to read it takes more than %d s of "
			    "CPU time or %d MiB, or it is damaged: places in it are shown by "
			    "module and offset",
			    path, SYMBOL_FILE_S, SYMBOL_MIB);
	}
}

void diagnostics_unnamed(const struct address_spaces *spaces)
{
	struct unnamed u = { 0 };
	uint32_t more;

	if (!address_spaces_symbols(spaces))
		return;
	more = symbol_unnamed(address_spaces_symbols(spaces), tell_unnamed, &u);
	more += u.n > UNNAMED_SHOWN ? u.n - UNNAMED_SHOWN : 0;
	if (symbol_server_fetch_failed(address_spaces_symbols(spaces)))
		remark_note(REMARK_WARN, "unnamed", 0,
			    "--debuginfod: the servers did not answer in a minute, and no more was "
			    "asked of them: names are those of the files that are here");
	if (more)
		remark_note(REMARK_WARN, "unnamed", 0,
			    "and %u more files of which not all names are known", more);
}
