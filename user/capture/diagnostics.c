// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/diagnostics.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/remark.h"
#include "ingest/callsite.h"
#include "ingest/ranks.h"
#include "model/discover.h"
#include "model/turnstile.h"
#include "sites/family.h"
#include "target/look.h"
#include "target/proc.h"

/*
 * Warn if each thread crossed barrier objects of its own at a -b function: probably another
 * argument of the function is the barrier object.
 */
static void note_single_thread(const struct diagnostics *r)
{
	uint32_t i;

	for (i = 0; i < model_nbarriers(r->model); i++) {
		const struct model_barrier *b = model_barrier(r->model, i);

		if (b->proc != MODEL_NONE && family_has(b->family, FAMILY_RULES) &&
		    b->team_max == 1 && b->objects > 1) {
			remark_note(REMARK_WARN, "user_barrier", 0,
				    "-b: barriers of user functions are distinguished by an "
				    "argument, and no two threads crossed the same barrier: give "
				    "@N, the number of the argument that is the barrier, or @all "
				    "if all callers wait for each other");
			return;
		}
	}
}

/* Warn about -b rules that matched no function, or a function that was never called. */
static void note_rules(const struct diagnostics *r)
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
				    "-b %s: no file%s that was run has %s", rule->text,
				    rule->file ? " of that name" : "",
				    !rule->pair ? "such a function"
				    : k		? "the second of its functions"
						: "the first of its functions");
		else if (!tracker_probed(r->tracker, (uint32_t)i + 1))
			continue; /* the reason has been reported already */
		else if (!feed_crossings(ingest_feed(r->ingest), (uint32_t)i + 1))
			remark_note(REMARK_WARN, "user_barrier", 0,
				    "-b %s: found %u time%s, but it was never called", rule->text,
				    rule->at[0].found, rule->at[0].found == 1 ? "" : "s");
	}
}

/*
 * Warn about arrivals at OpenMP barriers of unknown teams. The team is unknown if several parallel
 * regions run one function with the same data at once, or if regions nest more than four deep.
 */
static void note_teams(const struct diagnostics *r)
{
	struct sbt_counts counts;

	attach_counts(r->attach, &counts);
	if (counts.lost_team)
		remark_note(REMARK_WARN, "team", 0,
			    "%llu arrivals at barriers of OpenMP teams that could not be "
			    "distinguished were not recorded",
			    (unsigned long long)counts.lost_team);
}

/*
 * Context for adding the times of threads that still run. The times of other threads are in their
 * exit events.
 */
struct alive {
	struct feed *feed;
	uint32_t tgid;
	/* now_ns: time since boot; tick_ns: length of one tick of start_ticks */
	uint64_t now_ns, tick_ns;
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

/* Report threads that probably wait by spinning. Return whether there are any. */
static bool note_spinning(const struct diagnostics *r)
{
	struct alive alive = { .feed = ingest_feed(r->ingest) };
	long ticks = sysconf(_SC_CLK_TCK);
	uint32_t tgid = 0, n;

	if (ticks > 0) {
		alive.now_ns = clock_ns(CLOCK_BOOTTIME);
		alive.tick_ns = 1000000000u / (uint64_t)ticks;
		attach_each_process(r->attach, note_process, &alive);
	}
	n = feed_busy(alive.feed, &tgid);
	if (n < 2)
		return false;
	/* Threads of Go and Java that compute have no code that could be named or marked. */
	if (tracker_has_runtime(r->tracker, tgid))
		return true;
	/* If the run has crossings, this is only a hint. */
	remark_note(model_totals(r->model)->crossings ? REMARK_HINT : REMARK_ERROR, "spinning_code",
		    tgid,
		    "%u threads of process %u were busy nearly all the time and called no barrier "
		    "that was traced. If they wait for one another by spinning in their own code, "
		    "sbt-trace cannot see these waits: put the markers of sbt/sbt.h there, or name "
		    "the function that waits with -b",
		    n, tgid);
	return true;
}

#define CANDIDATES_SHOWN 5
#define BATCHES_LEAST	 2 /* minimum number of groups of waits that ended together */
/*
 * used instead of BATCHES_LEAST if only two threads wait, because two users of a queue may leave it
 * together by chance
 */
#define BATCHES_PAIR	 8
/* minimum number of rounds with other threads than the previous round */
#define UNEVEN_LEAST	 8

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

/*
 * Describe how to trace the function @name as a barrier with -b. If @several, threads wait at
 * several objects in this function, so one of its arguments must identify the object. Otherwise all
 * calls of the function cross the same barrier (`NAME@all`).
 */
static const char *advice_named(const char *name, bool several, char text[ADVICE_LEN])
{
	if (name)
		snprintf(text, ADVICE_LEN,
			 "if %.100s is the function of a barrier, trace it with -b %.100s%s", name,
			 name, several ? "" : "@all");
	else
		snprintf(text, ADVICE_LEN,
			 "-b cannot name this code: it is no separate function, or its end is "
			 "unknown. If it is a barrier, put the markers of sbt/sbt.h there");
	return text;
}

/* Return the function at @site if -b can name it. A thread's start function is no barrier. */
static const char *nameable(const struct diagnostics *r, uint32_t site)
{
	const char *name = address_spaces_rule_name(r->spaces, site);

	if (name && (!strcmp(name, "main") ||
		     callsites_first(feed_callsites(ingest_feed(r->ingest)), site)))
		return NULL;
	return name;
}

/* Describe how to trace the function at @site as a barrier, or what to do if -b cannot name it. */
static const char *advice_at(const struct diagnostics *r, uint32_t site, char text[ADVICE_LEN])
{
	struct same_place same = { .site = site };

	discover_each(ingest_discover(r->ingest), count_probe_site, &same);
	return advice_named(nameable(r, site), same.n > 1, text);
}

/*
 * Describe how to trace @o. Many programs have a function that only waits on a futex, or only wakes
 * threads, for its callers. With -b on such a function, each thread would seem to cross a barrier
 * alone.
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
		 "if it is a barrier, name the function that contains both its wait and its "
		 "wake-up with -b");
	return text;
}

/* Describe how to trace @o, at which threads wait in one function and are woken in another. */
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
			 "function that contains only the barrier with -b");
	return text;
}

/*
 * Describe where the wake-up is: in the same machine-code function as the wait, in the same source
 * function, or in another function.
 */
static const char *woken_from(const struct diagnostics *r, const struct discover_object *o)
{
	bool exact;
	uint64_t wait = address_spaces_function(r->spaces, o->wait_site, &exact);

	if (wait && wait == address_spaces_function(r->spaces, o->wake_site, &exact))
		return "in episodes among other uses of it, and woken at";
	wait = address_spaces_outer_function(r->spaces, o->wait_site);
	if (wait && wait == address_spaces_outer_function(r->spaces, o->wake_site))
		return "and woken elsewhere in the same function, at";
	return "and woken from another function, at";
}

static void note_split(const struct diagnostics *r, const struct discover_object *o)
{
	char wait[256], wake[256], text[ADVICE_LEN];

	remark_note(
		REMARK_HINT, "candidate", o->tgid,
		"process %u: the same %u threads crossed a condition variable together at least %u "
		"times in a row, waiting at %s %s %s: %s",
		o->tgid, o->members, o->split, probe_site_of(r, o->wait_site, wait),
		woken_from(r, o), probe_site_of(r, o->wake_site, wake), advice_split(r, o, text));
}

/*
 * Return whether the object is probably one of a runtime (Go, Java), which may look like a barrier
 * although -b and the markers of sbt/sbt.h cannot help. Go itself uses futexes only; its condition
 * variables are those of C code in the program.
 */
static bool is_of_runtime(const struct diagnostics *r, const struct discover_object *o)
{
	return tracker_runs_java(r->tracker, o->tgid) ||
	       (o->futex && tracker_has_runtime(r->tracker, o->tgid));
}

/*
 * Report an object at which one thread always wakes the others from another function. A thread that
 * starts a pool of threads looks the same, so call this only if no crossing was seen.
 */
static void note_led(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	char wait[256], wake[256], text[ADVICE_LEN];

	if (o->futex || o->split || o->rounds || o->verdict == DISCOVER_BARRIER ||
	    o->led < BATCHES_LEAST || is_of_runtime(c->remarks, o) || c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: the same %u threads waited at %s at least %u times in a row, on a "
		    "condition variable, and one thread always woke them from another function, at "
		    "%s. This is a candidate only: a thread that starts others looks the same; %s",
		    o->tgid, o->members - 1, probe_site_of(c->remarks, o->wait_site, wait), o->led,
		    probe_site_of(c->remarks, o->wake_site, wake),
		    advice_split(c->remarks, o, text));
}

/*
 * Report an object that threads leave in groups without a broadcast. At a lock or a queue they
 * leave one by one. Call this only if no crossing was seen.
 */
static void note_alone(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	char text[256], advice[ADVICE_LEN];

	if (o->futex || o->split || o->led || o->alone < 2 ||
	    o->batches < (o->alone < 3 ? BATCHES_PAIR : BATCHES_LEAST) ||
	    o->batches <= 2 * o->loose || is_of_runtime(c->remarks, o) ||
	    c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: %u or more threads waited at %s, and left together %u times, on a "
		    "condition variable that no thread broadcasts. This is a candidate only; %s",
		    o->tgid, o->alone, probe_site_of(c->remarks, o->wait_site, text), o->batches,
		    advice_at(c->remarks, o->wait_site, advice));
}

struct sems {
	struct candidates *c;
	/* the semaphore with which the other semaphores are compared */
	const struct turnstile *one;
	bool several; /* other threads may wait for each other at the same call site */
	/*
	 * The same call site waits on other semaphores: for callers in the same function (around),
	 * or for callers in another function (elsewhere).
	 */
	bool around, elsewhere;
	/*
	 * a caller in another function waits at this call site on a semaphore that is no turnstile
	 */
	bool lock;
	bool helper; /* the same source line is inlined at another call site */
	const char *names[CANDIDATES_SHOWN]; /* functions that have been reported */
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

/*
 * Return whether @name was reported before, and remember it. All turnstiles of one barrier are one
 * candidate.
 */
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

static void note_sem(void *ctx, const struct turnstile *o)
{
	struct sems *s = ctx;
	const struct diagnostics *r = s->c->remarks;
	struct sems compared = { .c = s->c, .one = o };
	char text[256], advice[ADVICE_LEN];
	uint32_t site = o->site;
	const char *name;
	bool above;

	if (!turnstile_is(o) || tracker_runs_java(r->tracker, o->tgid))
		return;
	turnstiles_each(ingest_turnstiles(r->ingest), compare_sem, &compared);
	/*
	 * A function that waits on semaphores for any caller, such as an interpreter's lock, is no
	 * barrier.
	 */
	if (compared.lock)
		return;
	/*
	 * If one function calls the waiting function at several call sites, name the calling
	 * function.
	 */
	above = compared.around && !compared.elsewhere &&
		!callsites_first(feed_callsites(ingest_feed(r->ingest)), o->above);
	if (above)
		site = o->above;
	name = compared.helper && !above ? address_spaces_rule_name_around(r->spaces, site)
					 : address_spaces_rule_name(r->spaces, site);
	/*
	 * Name no function if it is the start function of a thread, which is no barrier. Do the
	 * same if several functions call the waiting function: each of them may be only a part of a
	 * barrier.
	 */
	if (compared.elsewhere || callsites_first(feed_callsites(ingest_feed(r->ingest)), site))
		name = NULL;
	probe_site_of(r, site, text);
	if (is_named(s, name ? name : address_spaces_keep(r->spaces, text)) ||
	    s->c->n++ >= CANDIDATES_SHOWN)
		return;
	remark_note(
		REMARK_HINT, "candidate", o->tgid,
		"process %u: %u threads waited at %s, and left together at least %u times, on a "
		"semaphore. This is a candidate only: a thread that starts others looks the "
		"same; %s",
		o->tgid, o->threads, text, o->batches,
		advice_named(name, compared.several, advice));
}

/*
 * Report a barrier that wakes its threads twice in each episode. The episode ends at the first
 * wake-up.
 */
static void note_echo(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256];

	remark_note(REMARK_HINT, "candidate", o->tgid,
		    "process %u: in each episode at %s the threads are woken twice, the second "
		    "time when all have left. The report counts one episode, which ends at the "
		    "first wake-up",
		    o->tgid, probe_site_of(r, o->wait_site, text));
}

/*
 * Report a wait that looks like the second phase of an episode, but lasts long. Threads may do
 * other work before this wait.
 */
static void note_echo_long(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256];

	remark_note(
		REMARK_HINT, "candidate", o->tgid,
		"process %u: the wait at %s looks like the second phase of an episode that has "
		"just ended, but it lasts %.1f ms on average. If it is a barrier of its own, no "
		"figure here contains these waits: put the markers of sbt/sbt.h there",
		o->tgid, probe_site_of(r, o->wait_site, text), (double)o->echo_ns / 1e6);
}

/*
 * Report a candidate of a kind that needs its own message. Return whether @o is such a candidate.
 */
static bool note_other(const struct diagnostics *r, const struct discover_object *o)
{
	char text[256], advice[ADVICE_LEN];

	if (o->verdict == DISCOVER_BARRIER)
		return false;
	probe_site_of(r, o->wait_site, text);
	if (o->one_waker && o->members >= 3)
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %u threads crossed a condition variable together %llu "
			    "times, at %s, and the same thread always woke the other threads. This "
			    "is a candidate only: a thread that starts the others looks the same; "
			    "%s",
			    o->tgid, o->members, (unsigned long long)o->rounds, text,
			    advice_at(r, o->wait_site, advice));
	else if (o->uneven >= UNEVEN_LEAST && o->most >= 3)
		remark_note(
			REMARK_HINT, "candidate", o->tgid,
			"process %u: up to %u threads waited for each other at %s, on a condition "
			"variable, but not the same threads each time, as if threads spin before "
			"they wait. This is a candidate only; %s",
			o->tgid, o->most, text, advice_at(r, o->wait_site, advice));
	else
		return false;
	return true;
}

static void note_candidate(void *ctx, const struct discover_object *o)
{
	struct candidates *c = ctx;
	const char *what = o->futex ? "a futex" : "a condition variable";
	char text[256], advice[ADVICE_LEN];

	if (is_of_runtime(c->remarks, o))
		return;
	if (o->split && o->verdict != DISCOVER_BARRIER) {
		if (c->n++ < CANDIDATES_SHOWN)
			note_split(c->remarks, o);
		return;
	}
	if (o->echo && !o->unreported && (o->echo_ns || o->verdict == DISCOVER_BARRIER)) {
		if (c->n++ < CANDIDATES_SHOWN)
			(o->echo_ns ? note_echo_long : note_echo)(c->remarks, o);
		return;
	}
	if (c->n < CANDIDATES_SHOWN && note_other(c->remarks, o)) {
		c->n++;
		return;
	}
	if ((o->verdict == DISCOVER_OPEN && o->rounds < 3) || (!o->rounds && !o->unreported) ||
	    (o->verdict == DISCOVER_OTHER && !o->unreported))
		return;
	if (c->n++ >= CANDIDATES_SHOWN)
		return;
	probe_site_of(c->remarks, o->wait_site, text);
	if (o->verdict == DISCOVER_BARRIER)
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %llu episodes at %s ended before it was known to be a "
			    "barrier, and are not in the report",
			    o->tgid, (unsigned long long)o->unreported, text);
	else if (o->members < 3)
		remark_note(
			REMARK_HINT, "candidate", o->tgid,
			"process %u: %u threads crossed %s together %llu times, at %s. This is a "
			"candidate only: two threads that hand something over look the same; %s",
			o->tgid, o->members, what, (unsigned long long)o->rounds, text,
			advice_of(c->remarks, o, advice));
	else
		remark_note(REMARK_HINT, "candidate", o->tgid,
			    "process %u: %u threads crossed %s together %llu times, at %s. This is "
			    "a candidate only: not every episode looked like a barrier; %s",
			    o->tgid, o->members, what, (unsigned long long)o->rounds, text,
			    advice_of(c->remarks, o, advice));
}

static void note_candidates(const struct diagnostics *r)
{
	struct candidates c = { .remarks = r };
	struct sems sems = { .c = &c };

	if (!ingest_discover(r->ingest))
		return;
	discover_each(ingest_discover(r->ingest), note_candidate, &c);
	if (!model_totals(r->model)->crossings) {
		discover_each(ingest_discover(r->ingest), note_led, &c);
		discover_each(ingest_discover(r->ingest), note_alone, &c);
		turnstiles_each(ingest_turnstiles(r->ingest), note_sem, &sems);
	}
	if (c.n > CANDIDATES_SHOWN)
		remark_note(REMARK_HINT, "candidate", 0,
			    "and %u more objects at which threads may have waited for each other",
			    c.n - CANDIDATES_SHOWN);
}

static void note_ranks(const struct diagnostics *r)
{
	struct ranks_sums sums;

	ranks_sums(tracker_ranks(r->tracker), &sums);
	if (sums.no_job)
		remark_note(
			REMARK_WARN, "ranks", 0,
			"%llu MPI crossings by processes of an unknown job (not started by "
			"mpirun): their episodes are incomplete, as the other ranks are unknown",
			(unsigned long long)sums.no_job);
	if (sums.unseen)
		remark_note(REMARK_WARN, "ranks_gone", 0,
			    "%llu MPI crossings by processes that ended before their ranks were "
			    "known: their episodes are incomplete, as the other ranks are unknown",
			    (unsigned long long)sums.unseen);
	if (sums.unknown)
		remark_note(REMARK_WARN, "ranks", 0,
			    "%llu MPI crossings on communicators that were created untraced: "
			    "their episodes are incomplete, as the other ranks are unknown",
			    (unsigned long long)sums.unknown);
	if (sums.elsewhere)
		remark_note(
			REMARK_WARN, "ranks", 0,
			"%u MPI ranks are on other machines and not traced: the last arriver is "
			"the last on this machine, and waits are too short if a rank elsewhere "
			"arrived later",
			sums.elsewhere);
}

/* Warn about call sites with fewer callers than --frames asks for. */
static void note_chains(const struct diagnostics *r)
{
	const char *why;
	uint64_t chains;

	chains = feed_short_chains(ingest_feed(r->ingest), &why);
	if (chains)
		remark_note(REMARK_WARN, "frames", 0,
			    "--frames %u: some call chains are shorter: there, the call site is "
			    "the furthest known caller%s%s",
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

/*
 * Report processes that COMMAND left running, such as a daemon: they are not traced to their end.
 */
static void note_left(const struct diagnostics *r)
{
	struct diagnostics_left left = r->left;

	if (left.n == 1)
		remark_note(REMARK_WARN, "still_running", left.pid,
			    "COMMAND has ended, and tracing with it, but a process that it started "
			    "still runs: sbt-trace -p %u traces it",
			    left.pid);
	else if (left.n)
		remark_note(REMARK_WARN, "still_running", 0,
			    "COMMAND has ended, and tracing with it, but %u processes that it "
			    "started still run: sbt-trace -p traces them (one is %u)",
			    left.n, left.pid);
}

/* Report the barriers that --aggregate does not sum. */
static void note_left_out(const struct diagnostics *r)
{
	char names[FAMILY_NAMES];

	if (r->options->aggregate &&
	    *family_list(modules_left_out(r->modules), names, sizeof(names)))
		remark_note(REMARK_WARN, "left_out", 0,
			    "--aggregate sums only pthread barriers, which contain their size: "
			    "barriers of %s are not in this report",
			    names);
}

#define UNREAD_SHOWN 16

static void note_unread_file(void *ctx, struct module *m)
{
	uint32_t *n = ctx;

	if (!m->in_target || (!module_is_unread(m) && !m->given_up) || (*n)++ >= UNREAD_SHOWN)
		return;
	if (m->given_up)
		remark_note(REMARK_WARN, "unread", 0,
			    "%s: not examined completely, for %s: callers and parallel regions in "
			    "it may be missing",
			    m->path, module_why(m->given_up));
	else
		remark_note(REMARK_WARN, "unread", 0,
			    "%s: not examined, for %s: barriers in it are not seen", m->path,
			    module_why(m->error));
}

/* Report files that could not be read. */
static void note_unread(const struct diagnostics *r)
{
	uint32_t n = 0;

	modules_each(r->modules, note_unread_file, &n);
	if (n > UNREAD_SHOWN)
		remark_note(REMARK_WARN, "unread", 0,
			    "and %u more files that were not examined, or not completely",
			    n - UNREAD_SHOWN);
}

/* Report where to look if no thread crossed a barrier. */
static void note_elsewhere(const struct diagnostics *r)
{
	const struct options *o = r->options;

	/* tracker_report_runtimes() has reported all that is known. */
	if (tracker_only_runtimes(r->tracker))
		return;
	tracker_explain(r->tracker, o->aggregate);
	if (o->mode == OPTIONS_PIDS)
		remark_note(REMARK_ERROR, "elsewhere", (uint32_t)o->pids[0],
			    "threads that were already waiting when tracing began cross no "
			    "barrier: sbt-trace hang -p %d shows where each thread is",
			    o->pids[0]);
	if (o->aggregate)
		remark_note(REMARK_ERROR, "elsewhere", 0,
			    "without --aggregate all kinds of barriers are traced");
	else if (o->discover && !o->discover_futex)
		remark_note(REMARK_ERROR, "elsewhere", 0,
			    "the option --discover also finds barriers that wait on a futex only");
}

/* Report that discovery was off, unless --no-discover was given and crossings were seen. */
static void note_not_looked_for(const struct diagnostics *r)
{
	const struct options *o = r->options;
	bool asked = o->discover_given && !o->discover;

	if (o->discover || (asked && model_totals(r->model)->crossings))
		return;
	remark_note(REMARK_HINT, "not_looked_for", 0,
		    "unnamed barriers (on condition variables or futexes) and fork-join rounds "
		    "were not looked for; %s",
		    o->mode == OPTIONS_SYSTEM && o->aggregate
			    ? "without --aggregate, and with --discover, they are"
		    : o->mode == OPTIONS_SYSTEM ? "with --discover they are"
		    : o->aggregate		? "without --aggregate they are"
						: "without --no-discover they are");
}

/* Time in ns that tracing adds to a fork and to an exec, as measured by tests/bench. */
#define MADE_NS	    100000u
#define EXECUTED_NS 300000u
/*
 * There is no remark if fewer than MADE_LEAST processes were created, or if tracing added less than
 * 1/MADE_PART of the run's time.
 */
#define MADE_LEAST  100
#define MADE_PART   100

static void note_made(const struct diagnostics *r)
{
	uint64_t made, executed, ns;

	tracker_made(r->tracker, &made, &executed);
	ns = made * MADE_NS + executed * EXECUTED_NS;
	if (made < MADE_LEAST || ns < r->elapsed_ns / MADE_PART)
		return;
	remark_note(REMARK_HINT, "processes_made", 0,
		    "traced processes created %llu processes, which executed %llu programs. "
		    "Tracing adds about 0.1 ms to the creation of a process and 0.3 ms to the "
		    "execution of a program, and more on a busy machine. Cost estimates do not "
		    "contain this time; --no-children avoids most of it",
		    (unsigned long long)made, (unsigned long long)executed);
}

void diagnostics_find(const struct diagnostics *r)
{
	tracker_report_runtimes(r->tracker);
	note_made(r);
	note_left_out(r);
	note_unread(r);
	note_left(r);
	note_ranks(r);
	note_rules(r);
	note_single_thread(r);
	note_chains(r);
	note_teams(r);
	if (r->cut)
		return;
	/* Before the general reasons, because this one applies to the program. */
	tracker_report_teams(r->tracker);
	if (!model_totals(r->model)->crossings)
		note_elsewhere(r);
	note_not_looked_for(r);
	/*
	 * note_spinning() misses spinning threads that also sleep or wait for a CPU, so give the
	 * advice even if it found none.
	 */
	if (!note_spinning(r) && !model_totals(r->model)->crossings &&
	    !tracker_only_runtimes(r->tracker))
		remark_note(
			REMARK_ERROR, "elsewhere", 0,
			"sbt-trace cannot see threads that wait by spinning in their own code: if "
			"they do, put the markers of sbt/sbt.h there, or name the function that "
			"waits with -b");
	tracker_report_inlined(r->tracker);
	tracker_report_ranks(r->tracker, r->model);
	note_candidates(r);
}

#define UNNAMED_SHOWN 16

static void note_unnamed(void *ctx, const char *path, enum symbol_unnamed why)
{
	uint32_t *n = ctx;

	if ((*n)++ >= UNNAMED_SHOWN)
		return;
	switch (why) {
	case SYMBOL_UNNAMED_LINES:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: line numbers are not known: reading its debug information takes "
			    "more than %d s of CPU time or %d MiB, or it is damaged. Call sites in "
			    "it are shown by module and offset, and by the symbol table",
			    path, SYMBOL_FILE_S, SYMBOL_MIB);
		return;
	case SYMBOL_UNNAMED_SILENT:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: not all names are known: the process that reads them did not "
			    "answer. Call sites in it are shown by module and offset",
			    path);
		return;
	case SYMBOL_UNNAMED_OWNER:
		remark_note(REMARK_WARN, "unnamed", 0,
			    "%s: not all names are known: reading all files of its owner takes too "
			    "much CPU time. Call sites in it are shown by module and offset",
			    path);
		return;
	default:
		remark_note(
			REMARK_WARN, "unnamed", 0,
			"%s: not all names are known: reading it takes more than %d s of CPU "
			"time or %d MiB, or it is damaged. Call sites in it are shown by module "
			"and offset",
			path, SYMBOL_FILE_S, SYMBOL_MIB);
	}
}

void diagnostics_unnamed(const struct address_spaces *spaces)
{
	uint32_t n = 0, more;

	if (!address_spaces_symbols(spaces))
		return;
	more = symbol_unnamed(address_spaces_symbols(spaces), note_unnamed, &n);
	more += n > UNNAMED_SHOWN ? n - UNNAMED_SHOWN : 0;
	if (symbol_server_fetch_failed(address_spaces_symbols(spaces)))
		remark_note(REMARK_WARN, "unnamed", 0,
			    "--debuginfod: the servers did not answer within a minute and were not "
			    "asked again: names come from local files only");
	if (more)
		remark_note(REMARK_WARN, "unnamed", 0, "and %u more files with unknown names",
			    more);
}
