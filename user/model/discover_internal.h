/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Shared by the files of discover: objects and their rounds (discover_object.c), the rule
 * (discover_rule.c), second wakings (discover_echo.c), known barriers (discover_known.c), and what
 * was not seen (discover_count.c).
 */
#ifndef MODEL_DISCOVER_INTERNAL_H
#define MODEL_DISCOVER_INTERNAL_H

#include "base/hash.h"
#include "model/discover.h"

#define TEAM_LEAST	 3
#define BREAKS_MAX	 16 /* times that an object may break the rule before it is no barrier */
#define ALONE_BREAKS_MAX 64 /* the same for a condition variable that was never broadcast */
#define PLACES_MAX	 4 /* pairs of call sites (wait, wake) of one barrier */
#define OBJECTS_MAX	 16384
#define HELD_MAX	 16384 /* pending records of one object */
#define KEPT_MAX	 64 /* objects that are remembered of processes that have ended */
#define ALONE_MAX	 8
#define UNEVEN_LEAST	 8 /* uneven rounds before an object is reported */
/*
 * Longest time (ns) between a wait and a waking in one function if the thread only takes the mutex
 * in between.
 */
#define DISCOVER_SOON_NS 100000ULL

/* The futex values that waits have expected. */
struct values {
	bool any, differ;
	uint32_t one;
};

/* A pending record: it is not known yet whether it belongs to an episode. */
struct held {
	uint64_t cookie, arrive_ns, depart_ns;
	uint32_t wake_site; /* of its round */
	bool wake, merged;
};

/* The last woken wait of a thread on a condition variable. */
struct departure {
	uint64_t depart_ns;
	uint32_t wait_site, wake_site;
	bool woke; /* the thread has woken others since */
};

/* Wakings from one call site: discover_echo.c. */
struct echo {
	uint32_t seen; /* by threads that have not woken others since they last waited */
	/*
	 * By other threads, and not soon. On a busy machine these are second wakings that are late.
	 */
	uint32_t seen_woke;
	/* Of `seen`: right after the thread left another wait of the same function. */
	uint32_t soon;
	uint32_t away; /* of `seen`: so long after it that the thread did something else */
	/* Waits that these wakings ended, of threads that had left such another wait before. */
	uint32_t waits;
	uint32_t waits_soon; /* of `waits`: began right after that other wait */
	uint32_t after; /* the wake site of that other wait */
	bool compact; /* the function is as small as a barrier's */
};

/* A wait that no waking ended, or a futex call that did not wait: decided later. */
struct pending {
	uint32_t tid, value;
	bool again;
	bool echo; /* ended by the second waking of an episode */
	bool unwoken; /* counted in tally.unwoken, until it turns out to be a part of a wait */
	uint64_t cookie;
	uint64_t arrive_ns, depart_ns;
};

/* The waits on a condition variable, seen and not seen: discover_count.c. */
struct tally {
	uint32_t least, most; /* smallest and largest value of its own count */
	uint64_t counted; /* waits with such a value */
	uint64_t unread; /* waits without */
	uint64_t unwoken; /* waits that no waking ended */
	uint64_t since; /* records since it was found to be a barrier */
	bool older, blind; /* DISCOVER_OLDER, DISCOVER_BLIND */
	bool begun, settled;
	struct discover_unseen reported; /* its part of discover.unseen */
};

/*
 * A process at an object that it shares with others. Its probes on waits and on wakings are
 * attached one after the other.
 */
struct visitor {
	uint64_t process; /* tgid << 32 | inc */
	bool waited, woke; /* a wait, a waking of it has been seen */
};

struct object {
	struct discover_object pub;
	uint64_t id;
	uint32_t slot; /* in discover.objects */
	uint32_t breaks, empty, over, wrong;
	uint32_t streak; /* rounds in a row that kept the rule */
	bool rotated; /* the streak's rounds did not all have the same waker */
	bool one_function; /* waits and wakings are in one function of the source */
	bool elsewhere; /* they are not even in one function of the machine code */
	uint32_t waker; /* of the streak's last round */
	struct values values, now_values; /* of the streak; of the current round */
	/* The current round: the last waking has begun to end it. */
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
		bool exact; /* in one function, and all that was inlined there is known */
		bool apart; /* only in one function of the machine code: discover_same_code() */
	} places[PLACES_MAX]; /* of the streak */
	bool places_full;
	uint32_t nheld, cap_held;
	/* index in `held` where the streak, the current round begins */
	uint32_t held_streak, held_now;
	uint32_t older; /* pending rounds from before the streak */
	struct held *held;
	uint32_t npending, cap_pending;
	struct pending *pending;
	/* Rounds with waits and waking in different functions. */
	struct {
		uint64_t now, set; /* the members, as a sum that does not depend on their order */
		uint32_t nnow, nset;
		uint32_t waker, last_waker;
		uint32_t streak;
		bool rotated, apart;
	} split;
	uint32_t alone[ALONE_MAX]; /* pub.alone thread ids */
	struct {
		uint64_t first_ns, last_ns; /* when its first and its last wait ended */
		uint32_t n;
	} batch; /* the last group of waits that ended together */
	struct tally tally;
	/* Known barriers on condition variables: discover_known.c. */
	bool reported; /* records of the current round are taken as they arrive */
	bool reported_less; /* more threads turned out to meet than were reported last */
	uint32_t nshort; /* rounds in a row that lacked the same members */
	uint32_t short_n; /* number of threads in these rounds */
	uint64_t short_sum; /* these threads, as a sum */
	/* Second wakings of an episode ("echoes"): discover_echo.c. */
	uint64_t echo_ns; /* time of the last one */
	uint32_t echoes; /* in a row */
	uint32_t nechoed; /* waits and wakings that were dropped as such */
	uint32_t echo_waits; /* of these: waits that an echo ended */
	uint64_t echo_wait_ns; /* and their total time */
	bool now_soon; /* the current round may be ended by an echo */
	uint32_t now_after; /* threads of the current round that came right from another wait */
	uint32_t nprocesses, cap_processes;
	uint32_t anew; /* how often its classification was restarted */
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
int discover_grow(void **array, uint32_t *cap, uint32_t want, size_t size);
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
/* Take back what was counted: the object is no barrier after all. */
void discover_unsettle(struct discover *d, struct object *o);

/* discover_echo.c */
/*
 * Note that a thread leaves a wait that was ended from @wake_site (UINT32_MAX: not known). Return
 * whether it had come to it right from another wait.
 */
bool discover_departed(struct discover *d, const struct discover_record *r, uint32_t wake_site);
/* Note a waking. Return whether it came right after its thread left a wait in the same function. */
bool discover_echo_note(struct discover *d, const struct discover_record *r);
/* Return whether wakings from @site are the second ones of each episode. */
bool discover_echo_is(const struct discover *d, uint32_t site);
/*
 * Return whether no complete episode of the barrier has ended with a waking from @site. Then a
 * waking that looks like an echo is one: earlier ones, for which no thread waited, left no record.
 */
bool discover_echo_first(const struct discover *d, const struct object *o, uint32_t site);
/*
 * For a round of a known barrier, ended from a site where no episode has ended: return whether most
 * of its threads came right from an episode's wait.
 */
bool discover_echo_late(const struct discover *d, const struct object *o);
/* Note that a complete episode of a known barrier ended with a waking from @site. */
void discover_echo_not(struct discover *d, uint32_t site);
/*
 * Return whether it is still open if wakings from @site, which looked like echoes, end the episodes
 * of a second barrier.
 */
bool discover_echo_open(const struct discover *d, uint32_t site);
/* Count what was dropped at the object, once it is known that they do. */
void discover_echo_over(struct discover *d, struct object *o, uint32_t site);
/*
 * Stop dropping records of the object as echoes. Count the dropped ones if threads waited for them
 * longer than it takes to leave an episode.
 */
void discover_echo_end(struct discover *d, struct object *o);
/* Return whether wakings of the streak may be echoes, which is not decided yet. */
bool discover_echo_maybe(const struct discover *d, const struct object *o);
/* At the end of a round: drop pending records of wakings that were always echoes and are rare. */
void discover_echo_settle(struct discover *d, struct object *o);
/* Drop the rounds that are held and were ended from @site. */
void discover_echo_purge(struct discover *d, struct object *o, uint32_t site);
void discover_echo_free(struct discover *d);

/* discover_known.c: condition variables alone. */
void discover_known_wake(struct discover *d, struct object *o, const struct discover_record *r);
/* Add a wait (@r) that the last wake-up ended. @merged: it consists of several waits. */
void discover_known_wait(struct discover *d, struct object *o, const struct discover_record *r,
			 uint64_t arrive_ns, bool merged);
/* End the current round: it is over, or there is no more time to wait for it. */
void discover_known_end(struct discover *d, struct object *o);
void discover_known_function(struct discover *d, uint32_t site);

/* discover.c */
int discover_round_join(struct object *o, uint32_t tid, uint32_t value);
void discover_round_begin(struct object *o, const struct discover_record *r);

/* discover_rule.c */
bool discover_same_function(const struct discover *d, uint32_t wait, uint32_t wake, bool *exact);
/*
 * Return whether both are in one function of the machine code. If several functions with a barrier
 * were inlined into it, compilers merge their equal ends, and the debug information attributes the
 * merged code to any of them, or to none.
 */
bool discover_same_code(const struct discover *d, uint32_t wait, uint32_t wake);
bool discover_note_places(const struct discover *d, struct object *o, uint32_t wait, uint32_t wake);
void discover_take(struct discover *d, const struct object *o, uint64_t cookie, uint64_t arrive_ns,
		   uint64_t depart_ns, bool merged);
bool discover_has_waited(const struct object *o, uint32_t tid);
/* Return whether all threads of the current round have met before. */
bool discover_all_known(const struct object *o);
/* Make the threads of the current round the streak's members. */
void discover_set_members(struct object *o);
void discover_try_early(struct discover *d, struct object *o);
void discover_round_end(struct discover *d, struct object *o);
void discover_split_round(struct object *o, uint32_t waker);
void discover_note_split(struct object *o, const struct discover_record *r);

/* Take all pending records. @team: how many threads meet; 0: not known. */
void discover_take_held(struct discover *d, struct object *o, uint32_t team);

#endif /* MODEL_DISCOVER_INTERNAL_H */
