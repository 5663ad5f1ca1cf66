/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of discover share: objects with their rounds (discover_object.c), the rule (discover_rule.c), and what was not seen (discover_count.c). */
#ifndef MODEL_DISCOVER_INTERNAL_H
#define MODEL_DISCOVER_INTERNAL_H

#include "base/hash.h"
#include "model/discover.h"

#define TEAM_LEAST	 3
#define BREAKS_MAX	 16 /* of the rule, until the object is nothing */
#define ALONE_BREAKS_MAX 64 /* the same of a condition variable that nobody ever broadcast */
#define PLACES_MAX	 4 /* pairs of calls that one barrier is made of */
#define OBJECTS_MAX	 16384
#define HELD_MAX	 16384 /* records of one object */
#define KEPT_MAX	 64 /* of those of processes that have ended */
#define ALONE_MAX	 8
#define UNEVEN_LEAST	 8 /* rounds, to be told of */
/* Between two calls of one function that wait and wake: a thread does nothing but take the mutex again. */
#define DISCOVER_SOON_NS 100000ULL

/* Which values waits have expected. */
struct values {
	bool any, differ;
	uint32_t one;
};

struct held {
	uint64_t cookie, arrive_ns, depart_ns;
	uint32_t wake_site; /* of its round */
	bool wake, merged;
};

/* A woken wait on a condition variable, the last of its thread. */
struct departure {
	uint64_t depart_ns;
	uint32_t wait_site, wake_site;
	bool woke; /* the thread has woken others since */
};

/* Wakings from one call: discover_echo.c. */
struct echo {
	/* By threads that have not woken others since they last waited; others, and not soon: on a busy machine these are late. */
	uint32_t seen, seen_woke;
	uint32_t
		soon; /* of the former: made right after the thread left another wait of the same function */
	uint32_t away; /* of the former: made so long after it that the thread did something else */
	/* The waits that these wakings ended, of threads that had left such a wait before; and how many began right after it. */
	uint32_t waits, waits_soon;
	uint32_t after; /* the wake site of that other wait */
	bool compact; /* the function is as small as a barrier's */
};

/* A wait that no waking ended, or that was none: what of it is known later. */
struct pending {
	uint32_t tid, value;
	bool again;
	bool echo; /* ended by a second waking of a meeting */
	bool unwoken; /* counted as such, until it turns out to be a part of a wait */
	uint64_t cookie;
	uint64_t arrive_ns, depart_ns;
};

/* The waits on a condition variable, seen and not: discover_count.c. */
struct tally {
	uint32_t least, most; /* of its own count */
	uint64_t counted; /* waits with such a one */
	uint64_t unread; /* and without */
	uint64_t unwoken; /* that nobody's waking ended */
	uint64_t since; /* records since it was found to be a barrier */
	bool older, blind; /* DISCOVER_OLDER, DISCOVER_BLIND */
	bool begun, settled;
	struct discover_unseen reported; /* what was said of it */
};

/* A process at an object that it shares with others: its probes on waits and on wakings come one after the other. */
struct visitor {
	uint64_t process; /* tgid << 32 | inc */
	bool waited, woke; /* seen to */
};

struct object {
	struct discover_object pub;
	uint64_t id;
	uint32_t slot; /* in discover.objects */
	uint32_t breaks, empty, over, wrong;
	uint32_t streak; /* rounds in a row that kept the rule */
	bool rotated; /* in the streak: not always the same waker */
	bool one_function;
	bool elsewhere; /* not even the machine's code is one */
	uint32_t waker; /* of the streak's last round */
	struct values values, now_values; /* of the streak, of the round under way */
	/* The round that the last waking ended. */
	bool open, bad;
	uint32_t now_waker, now_site, now_wakes;
	uint64_t wake_ns, wake_before_ns;
	uint32_t nnow, cap_now;
	uint32_t *now; /* who waited */
	uint32_t nset, cap_set;
	uint32_t *set; /* the streak's members, sorted */
	uint32_t nplaces;
	struct {
		uint32_t wait, wake;
		bool exact; /* in one function, and nothing was inlined there that is not known */
		bool apart; /* in one of the machine's code alone: discover_same_code() */
	} places[PLACES_MAX]; /* of the streak */
	bool places_full;
	uint32_t nheld, cap_held;
	uint32_t held_streak, held_now; /* from there on: of the streak, of the round under way */
	uint32_t older; /* rounds held from before the streak */
	struct held *held;
	uint32_t npending, cap_pending;
	struct pending *pending;
	/* Rounds whose waits and waking are in different functions. */
	struct {
		uint64_t now, set; /* who was in it: a sum, in whatever order they come */
		uint32_t nnow, nset;
		uint32_t waker, last_waker;
		uint32_t streak;
		bool rotated, apart;
	} split;
	uint32_t alone[ALONE_MAX]; /* pub.alone of them */
	struct {
		uint64_t first_ns, last_ns; /* when the first and the last wait of it ended */
		uint32_t n;
	} batch; /* of waits that ended together, the last */
	struct tally tally;
	/* Known barriers on condition variables: discover_known.c. */
	bool reported; /* the round under way is taken as it comes */
	bool reported_less; /* more turned out to meet than was said last */
	uint32_t nshort,
		short_n; /* rounds in a row that lacked the same members, and how many had come */
	uint64_t short_sum; /* which */
	/* Second wakings of a meeting: discover_echo.c. */
	uint64_t echo_ns; /* the last */
	uint32_t echoes; /* in a row */
	uint32_t nechoed; /* waits and wakings that were dropped as such */
	uint32_t echo_waits; /* of these the waits that one ended, and how long they took */
	uint64_t echo_wait_ns;
	bool now_soon; /* the round under way may be one's */
	uint32_t now_after; /* its threads that came to it right from another wait */
	uint32_t nprocesses, cap_processes;
	uint32_t anew; /* how often its judgement was begun anew */
	struct visitor *processes; /* that have been seen at a shared object */
};

struct discover {
	struct discover_ops ops;
	struct hash by_key; /* -> struct object */
	struct hash by_id;
	struct hash known; /* pairs of calls that are a barrier's */
	struct hash functions; /* functions that barriers wait and wake in */
	struct hash departures; /* tid -> struct departure */
	struct hash echoes; /* wake site -> struct echo */
	struct hash ends; /* wake sites of whole meetings of known barriers */
	struct hash wakings; /* wake site -> how many there were */
	struct object **objects;
	uint32_t n, cap;
	uint64_t next_id;
	uint32_t nkept;
	struct discover_object kept[KEPT_MAX];
	struct discover_unseen unseen;
	struct hash
		unseen_of; /* process -> its part of `unseen`: waits, and barriers that are not counted */
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
/* It is no barrier after all. */
void discover_unsettle(struct discover *d, struct object *o);

/* discover_echo.c */
/* A thread leaves a wait that was ended from @wake_site; UINT32_MAX: not known. Did it come to it right from another? */
bool discover_departed(struct discover *d, const struct discover_record *r, uint32_t wake_site);
/* Note a waking. Return whether it came right after its thread left a wait in the same function. */
bool discover_echo_note(struct discover *d, const struct discover_record *r);
/* Are wakings from @site the second of each meeting? */
bool discover_echo_is(const struct discover *d, uint32_t site);
/*
 * Has no whole meeting of the barrier ended by a waking from @site? What looks like an echo there is one, then: those before it,
 * for which nobody waited, left no record.
 */
bool discover_echo_first(const struct discover *d, const struct object *o, uint32_t site);
/* A round of a known barrier, ended from where no meeting has: did most of its threads come right from a meeting's wait? */
bool discover_echo_late(const struct discover *d, const struct object *o);
/* A whole meeting of a known barrier ended there. */
void discover_echo_not(struct discover *d, uint32_t site);
/* Is it not decided yet whether wakings from @site, which looked like echoes, end the meetings of a second barrier? */
bool discover_echo_open(const struct discover *d, uint32_t site);
/* Counts what was dropped at the object, once it is known that they do. */
void discover_echo_over(struct discover *d, struct object *o, uint32_t site);
/* Nothing more is dropped at the object as an echo: counts it, where threads waited for it longer than a meeting takes to leave. */
void discover_echo_end(struct discover *d, struct object *o);
/* May wakings of the streak be such, which is not decided yet? */
bool discover_echo_maybe(const struct discover *d, const struct object *o);
/* Wakings that have always been such, and hardly ever come: what is held of them is dropped. When a round is over. */
void discover_echo_settle(struct discover *d, struct object *o);
/* Drop the rounds that are held and were ended from @site. */
void discover_echo_purge(struct discover *d, struct object *o, uint32_t site);
void discover_echo_free(struct discover *d);

/* discover_known.c: condition variables alone. */
void discover_known_wake(struct discover *d, struct object *o, const struct discover_record *r);
/* A wait that the waking at @wake_ns ended. */
void discover_known_wait(struct discover *d, struct object *o, const struct discover_record *r,
			 uint64_t arrive_ns, bool merged);
/* The round under way is over, or can be waited for no longer. */
void discover_known_end(struct discover *d, struct object *o);
void discover_known_function(struct discover *d, uint32_t site);

/* discover.c */
int discover_round_join(struct object *o, uint32_t tid, uint32_t value);
void discover_round_begin(struct object *o, const struct discover_record *r);

/* discover_rule.c */
bool discover_same_function(const struct discover *d, uint32_t wait, uint32_t wake, bool *exact);
/*
 * Are both in one function of the machine's code? Where several functions with a barrier were inlined into it, compilers make
 * one of their equal ends, and the debugging information says of which function that one is: of any of them, or of none.
 */
bool discover_same_code(const struct discover *d, uint32_t wait, uint32_t wake);
bool discover_note_places(const struct discover *d, struct object *o, uint32_t wait, uint32_t wake);
void discover_take(struct discover *d, const struct object *o, uint64_t cookie, uint64_t arrive_ns,
		   uint64_t depart_ns, bool merged);
bool discover_has_waited(const struct object *o, uint32_t tid);
/* Is everybody in the round under way one of those who met before? */
bool discover_all_known(const struct object *o);
/* Those in the round under way are who meets from now on. */
void discover_set_members(struct object *o);
void discover_try_early(struct discover *d, struct object *o);
void discover_round_end(struct discover *d, struct object *o);
void discover_split_round(struct object *o, uint32_t waker);
void discover_note_split(struct object *o, const struct discover_record *r);

/* Hand over all that is held; @team: how many meet, 0 not known. */
void discover_take_held(struct discover *d, struct object *o, uint32_t team);

#endif /* MODEL_DISCOVER_INTERNAL_H */
