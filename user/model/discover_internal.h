/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Shared by the files of discover: objects and their rounds (discover_object.c), the rule
 * (discover_rule.c), second wakings (discover_echo.c), known barriers (discover_known.c), and
 * unseen waits (discover_count.c).
 */
#ifndef MODEL_DISCOVER_INTERNAL_H
#define MODEL_DISCOVER_INTERNAL_H

#include "base/hash.h"
#include "model/discover.h"

#define TEAM_LEAST	  3
/* number of times that an object may break the rule before it is found not to be a barrier */
#define BREAKS_MAX	  16
#define ALONE_BREAKS_MAX  64 /* the same limit for a condition variable that was never broadcast */
#define PLACES_MAX	  4 /* maximum number of pairs of call sites (wait, wake) of one barrier */
#define OBJECTS_MAX	  16384
#define HELD_MAX	  16384 /* maximum number of pending records of one object */
#define KEPT_MAX	  64 /* maximum number of remembered objects of ended processes */
#define ALONE_MAX	  8
#define UNEVEN_LEAST	  8 /* an object is reported if discover_object.uneven is this or more */
/*
 * Longest time (ns) from the end of a wait to a waking in the same function, if the thread only
 * takes the mutex between them.
 */
#define DISCOVER_SOON_NS  100000ULL
/*
 * Longest time (ns) from the end of a wait to the next wait of the same call. The thread only finds
 * that it was woken for nothing. It has the mutex, so it waits for no other thread. But its probes
 * take some 10 us, and more where return probes are single-stepped.
 */
#define DISCOVER_AGAIN_NS 150000ULL

/*
 * The futex values that waits have expected. any: there are some; differ: they are not all equal;
 * one: the last of them.
 */
struct values {
	bool any, differ;
	uint32_t one;
};

/* A pending record. It is not yet known whether the record belongs to an episode. */
struct held {
	uint64_t cookie, arrive_ns, depart_ns;
	uint32_t wake_site; /* call site of the waking that ended the record's round */
	bool wake, merged;
};

/* The last woken wait of a thread on a condition variable. */
struct departure {
	uint64_t depart_ns;
	uint32_t wait_site, wake_site;
	bool woke; /* the thread has woken other threads since */
	uint64_t object; /* id of the object; 0: unknown */
	uint32_t held; /* discover_record.held */
};

/* Wakings from one call site; see discover_echo.c. */
struct echo {
	/* number of wakings by threads that have not woken other threads since their last wait */
	uint32_t seen;
	/*
	 * Number of wakings by threads that have already woken other threads since their last wait.
	 * On a busy machine these are late second wakings.
	 */
	uint32_t seen_woke;
	/*
	 * Number of wakings among `seen` directly after the thread left another wait of the same
	 * function.
	 */
	uint32_t soon;
	/* number of wakings among `seen` so long after the wait that the thread did other work */
	uint32_t away;
	/*
	 * Number of waits that these wakings ended, by threads that had left another wait of the
	 * same function before.
	 */
	uint32_t waits;
	/* number of waits among `waits` that began directly after that other wait */
	uint32_t waits_soon;
	uint32_t after; /* site of the waking that ended that other wait */
	bool compact; /* the function is as small as a barrier's */
};

/*
 * A wait that no waking ended, or a futex call that did not wait. Whether it belongs to a round is
 * decided later.
 */
struct pending {
	uint32_t tid, value;
	bool again;
	bool echo; /* ended by the second waking of an episode */
	/* counted in tally.unwoken; no longer if it turns out to be part of a longer wait */
	bool unwoken;
	uint64_t cookie;
	uint64_t arrive_ns, depart_ns;
};

/* Numbers of seen and unseen waits on a condition variable; see discover_count.c. */
struct tally {
	uint32_t least, most; /* smallest and largest value of the object's own count */
	uint64_t counted; /* number of waits with such a value */
	uint64_t unread; /* number of waits without such a value */
	uint64_t unwoken; /* number of waits that no waking ended */
	uint64_t since; /* number of records since the object was found to be a barrier */
	bool older, blind; /* the object's records had DISCOVER_OLDER, DISCOVER_BLIND */
	bool begun, settled;
	struct discover_unseen reported; /* the object's part of discover.unseen */
};

/*
 * A process at an object that it shares with other processes. Its probes on waits and on wakings
 * are attached one after the other, so the first wait and the first waking are noted separately.
 */
struct visitor {
	uint64_t process; /* tgid << 32 | inc */
	bool waited, woke; /* whether a wait, and whether a waking, of the process has been seen */
};

struct object {
	struct discover_object pub;
	uint64_t id;
	uint32_t slot; /* index in discover.objects */
	uint32_t breaks, empty, over, wrong;
	uint32_t streak; /* number of consecutive rounds that kept the rule */
	bool rotated; /* the rounds of the streak did not all have the same waker */
	bool one_function; /* waits and wakings are in one function of the source */
	/* some waits and wakings are in different functions of the source and the machine code */
	bool elsewhere;
	uint32_t waker; /* waker of the streak's last round */
	struct values values, now_values; /* values of the streak, and of the current round */
	/*
	 * The current round is the last waking with the waits that it ended. open: there is such a
	 * round, and more of its waits may follow. bad: the round breaks the rule.
	 */
	bool open, bad;
	uint32_t now_waker, now_site, now_wakes;
	uint64_t wake_ns, wake_before_ns;
	uint32_t nnow, cap_now;
	uint32_t *now; /* thread ids of the waiters */
	uint32_t nset, cap_set;
	uint32_t *set; /* the streak's members, sorted */
	uint32_t nplaces;
	struct {
		uint32_t wait, wake;
		/* in one function, and all functions that were inlined there are known */
		bool exact;
		bool apart; /* in one function of the machine code only; see discover_same_code() */
	} places[PLACES_MAX]; /* pairs of call sites of the streak */
	bool places_full;
	uint32_t nheld, cap_held;
	/*
	 * indices in `held`: the first record of the streak, and the first record of the current
	 * round
	 */
	uint32_t held_streak, held_now;
	uint32_t older; /* number of pending rounds before the streak */
	struct held *held;
	uint32_t npending, cap_pending;
	struct pending *pending;
	/* Rounds with waits and waking in different functions. */
	struct {
		/*
		 * sums over the members of the current round, and of the streak; their order does
		 * not matter
		 */
		uint64_t now, set;
		uint32_t nnow, nset;
		uint32_t waker, last_waker;
		uint32_t streak;
		bool rotated, apart;
	} split;
	uint32_t alone[ALONE_MAX]; /* the ids of the pub.alone threads */
	struct {
		/* times when the first and the last wait of the group ended */
		uint64_t first_ns, last_ns;
		uint32_t n;
	} batch; /* the last group of waits that ended together */
	struct tally tally;
	/* Known barriers on condition variables; see discover_known.c. */
	bool reported; /* records of the current round are taken as they arrive */
	/* more threads crossed the barrier than was known when their round was reported */
	bool reported_less;
	uint32_t nshort; /* number of consecutive rounds that lacked the same members */
	uint32_t short_n; /* number of threads in the short rounds */
	uint64_t short_sum; /* the threads of the short rounds, as a sum */
	/* Second wakings of an episode ("echoes"): discover_echo.c. */
	uint64_t echo_ns; /* time of the last echo */
	uint32_t echoes; /* number of echoes in a row */
	uint32_t nechoed; /* number of waits and wakings that were dropped as echoes */
	uint32_t echo_waits; /* number of waits among `nechoed` that an echo ended */
	uint64_t echo_wait_ns; /* total time of these waits */
	bool now_soon; /* the waking that ends the current round may be an echo */
	/* number of threads in the current round that began to wait directly after another wait */
	uint32_t now_after;
	uint32_t nprocesses, cap_processes;
	uint32_t anew; /* how often the object's classification was restarted */
	struct visitor *processes; /* processes that were seen at a shared object */
};

struct discover {
	struct discover_ops ops;
	struct hash by_key; /* -> struct object */
	struct hash by_id;
	struct hash known; /* pairs of call sites of known barriers */
	struct hash functions; /* functions in which barriers wait and wake */
	struct hash departures; /* tid -> struct departure */
	struct hash echoes; /* wake site -> struct echo */
	struct hash ends; /* wake sites of complete episodes of known barriers */
	struct hash wakings; /* wake site -> number of wakings */
	struct object **objects;
	uint32_t n, cap;
	uint64_t next_id;
	uint32_t nkept;
	struct discover_object kept[KEPT_MAX];
	struct discover_unseen unseen;
	struct hash unseen_of; /* process -> its part of `unseen`: waits and uncounted barriers */
};

/* discover_object.c */
void discover_values_add(struct values *v, uint32_t value);
void discover_values_join(struct values *v, const struct values *more);
void discover_drop_from(struct discover *d, struct object *o, uint32_t from);
void discover_drop_pending(struct discover *d, struct object *o);
void discover_drop_before(struct discover *d, struct object *o, uint32_t to);
void discover_streak_restart(struct discover *d, struct object *o);
void discover_streak_end(struct discover *d, struct object *o);
bool discover_worth_telling(const struct discover_object *o);
void discover_object_forget(struct discover *d, struct object *o);
struct object *discover_object_get(struct discover *d, const struct discover_record *r);
void discover_classify(struct discover *d, struct object *o, enum discover_verdict verdict);
void discover_broken(struct discover *d, struct object *o);
int discover_hold(struct object *o, const struct discover_record *r, uint64_t arrive_ns,
		  uint64_t depart_ns, bool merged);

/* discover_count.c */
void discover_tally(struct discover *d, struct object *o, const struct discover_record *r);
void discover_settle(struct discover *d, struct object *o);
/* Remove the object's unseen waits from the count, because the object is not a barrier. */
void discover_unsettle(struct discover *d, struct object *o);

/* discover_echo.c */
/*
 * Note that a thread leaves a wait on @o that a waking from @wake_site ended (UINT32_MAX if not
 * known). Return whether the thread had begun this wait directly after another.
 */
bool discover_departed(struct discover *d, const struct object *o, const struct discover_record *r,
		       uint32_t wake_site);
/*
 * Return whether the thread had been woken from its last wait for nothing: it waits again on @o in
 * the same call. Call this before discover_departed().
 */
bool discover_again(const struct discover *d, const struct object *o,
		    const struct discover_record *r);
/* Note a waking. Return whether its thread left a wait in the same function directly before it. */
bool discover_echo_note(struct discover *d, const struct discover_record *r);
/* Return whether wakings from @site are the second wakings of episodes. */
bool discover_echo_is(const struct discover *d, uint32_t site);
/*
 * Return whether no complete episode of the barrier has ended with a waking from @site. If so, even
 * the first waking that looks like an echo is taken for one. There may have been earlier echoes
 * that left no record, because no thread waited for them.
 */
bool discover_echo_first(const struct discover *d, const struct object *o, uint32_t site);
/*
 * The current round of a known barrier was ended by a waking from a site that has ended no episode
 * so far. Return whether most threads of the round began to wait directly after they left an
 * episode.
 */
bool discover_echo_late(const struct discover *d, const struct object *o);
/* Note that a complete episode of a known barrier ended with a waking from @site. */
void discover_echo_not(struct discover *d, uint32_t site);
/*
 * Return true if it is still undecided whether wakings from @site, which looked like echoes, end
 * the episodes of a second barrier.
 */
bool discover_echo_open(const struct discover *d, uint32_t site);
/*
 * If wakings from @site turned out to end episodes, count the records of the object that were
 * dropped as echoes.
 */
void discover_echo_over(struct discover *d, struct object *o, uint32_t site);
/*
 * Call this after the object's last echo. Count the records that were dropped as echoes if threads
 * waited for the echoes longer than they take to leave an episode.
 */
void discover_echo_end(struct discover *d, struct object *o);
/* Return whether wakings of the streak may be echoes, but are still undecided. */
bool discover_echo_maybe(const struct discover *d, const struct object *o);
/* At the end of a round, drop the pending records of rare wakings that were always echoes. */
void discover_echo_settle(struct discover *d, struct object *o);
/* Drop the pending rounds that a waking from @site ended. */
void discover_echo_purge(struct discover *d, struct object *o, uint32_t site);
void discover_echo_free(struct discover *d);

/* discover_known.c: only condition variables. */
void discover_known_wake(struct discover *d, struct object *o, const struct discover_record *r);
/*
 * Add the wait @r, which the last waking ended. @merged: the wait consists of several recorded
 * waits.
 */
void discover_known_wait(struct discover *d, struct object *o, const struct discover_record *r,
			 uint64_t arrive_ns, bool merged);
/* End the current round, because it is over or because its time limit has passed. */
void discover_known_end(struct discover *d, struct object *o);
void discover_known_function(struct discover *d, uint32_t site);

/* discover.c */
int discover_round_join(struct object *o, uint32_t tid, uint32_t value);
void discover_round_begin(struct object *o, const struct discover_record *r);

/* discover_rule.c */
bool discover_same_function(const struct discover *d, uint32_t wait, uint32_t wake, bool *exact);
/*
 * Return whether both calls are in one function of the machine code. If several functions with a
 * barrier were inlined into one function, compilers merge their equal ends. The debug information
 * attributes the merged code to any of these functions, or to none.
 */
bool discover_same_code(const struct discover *d, uint32_t wait, uint32_t wake);
bool discover_note_places(const struct discover *d, struct object *o, uint32_t wait, uint32_t wake);
void discover_take(struct discover *d, const struct object *o, uint64_t cookie, uint64_t arrive_ns,
		   uint64_t depart_ns, bool merged);
bool discover_has_waited(const struct object *o, uint32_t tid);
/* Return whether all threads of the current round are members of the streak. */
bool discover_all_known(const struct object *o);
/* Make the threads of the current round the streak's members. */
void discover_set_members(struct object *o);
void discover_try_early(struct discover *d, struct object *o);
/*
 * Classify the object now if it has the call sites of a known barrier, even if it is unknown
 * whether its rounds had all members.
 */
void discover_decide(struct discover *d, struct object *o);
/* Note the barrier @o at its call sites, unless one with at least as many members is noted. */
void discover_note_largest(struct discover *d, const struct object *o);
void discover_round_end(struct discover *d, struct object *o);
void discover_split_round(struct object *o, uint32_t waker);
void discover_note_split(struct object *o, const struct discover_record *r);

/* Take all pending records. @team is the number of threads that cross, or 0 if not known. */
void discover_take_held(struct discover *d, struct object *o, uint32_t team);

#endif /* MODEL_DISCOVER_INTERNAL_H */
