/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of this room share. Nobody else includes it. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include "base/hash.h"
#include "base/number.h"
#include "model/model.h"
#include "sbt/record.h"

/* After this long behind the watermark an open episode no longer holds back the others. */
#define MODEL_HOLD_NS	200000000ULL
/* After this long an undecided episode is decided with what is there. */
#define MODEL_DECIDE_NS 1000000000ULL
/*
 * So long a barrier that has become cyclic is only watched: threads that have not left it once are not
 * known yet.
 */
#define MODEL_WARM_NS	100000000ULL
/* Clocks of two CPUs may disagree by so much; a departure before the last arrival by more is another episode's. */
#define MODEL_SKEW_NS	1000ULL

#define MODEL_OBJECTS_MAX 65536 /* idle ones beyond are forgotten */
#define MODEL_ROWS_MAX	  16384 /* call sites beyond share one row a process */
#define MODEL_THREADS_MAX 65536 /* ended ones beyond are folded together */
#define MODEL_HEAP_MAX	  65536 /* finished episodes held for their order, a queue */
#define MODEL_PHASES_MAX  256 /* different beginnings of the phases that end at one barrier */
#define MODEL_SITES_MAX	  256 /* call sites of one mixed barrier; the rest is not told apart */

#define MODEL_TEAMS_MAX 16384 /* sets of threads that met; when there are more, all are forgotten */

#define OBJECT_OPEN_MAX 8
#define OBJECT_CLOSED	4
#define THREAD_GAPS	4
#define THREAD_CACHE	4
#define THREAD_PARKED	16
#define THREAD_TEAMS	8 /* that a thread remembers */

/* An array whose elements never move. */
struct table {
	void **chunks;
	uint32_t n;
	uint32_t nchunks;
	uint32_t elem;
};

#define TABLE_CHUNK 64 /* a multiple of TABLE_ALIGN, so that any size of element makes one */
#define TABLE_ALIGN 64

static inline void *table_at(const struct table *t, uint32_t i)
{
	return (char *)t->chunks[i / TABLE_CHUNK] + (size_t)(i % TABLE_CHUNK) * t->elem;
}

struct list {
	struct list *prev, *next;
};

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_del(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

static inline void list_add_tail(struct list *head, struct list *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct object;
struct episode;
struct detail;

/* A span of time in which records of a thread are missing. */
struct gap {
	uint64_t from;
	uint64_t to;
	bool lost; /* else: from before tracing */
};

struct team;

/* A thread's last meeting with all of a team: its time outside barriers up to then. */
struct thread_team {
	struct team *team;
	uint64_t outside_ns;
};

/*
 * What every crossing looks at lies together, line by line of the cache: with thousands of threads nothing is in it, and each
 * line costs more than all that is done with what it holds.
 */
struct thread {
	/* every crossing */
	uint64_t known_ns; /* up to when its time is accounted for */
	uint64_t last_arrive_ns;
	uint64_t seen_ns; /* last departure of depth 0: all its earlier records have come */
	uint64_t outside_joined; /* outside_ns as far as it is in the ideal clock */
	uint64_t ideal; /* absolute: its start, then the longest path so far */
	uint32_t index;
	uint32_t next_seq;
	uint32_t ngaps; /* ever; the last few are kept */
	uint8_t nparked;
	bool begun; /* a record has been seen */
	bool crossed; /* one of depth 0 */
	bool known_sure; /* from known_ns on it was outside: the next interval is known */
	bool release_sure;
	bool placed; /* pub.place is one in its process */
	bool stays; /* at a barrier since known_ns: MODEL_CROSSING_STAYS was its last record */
	bool has_gap; /* some record was missing: gap_seq is the first after the last of them */
	bool tail_done; /* its tail is in the sums */
	bool folded; /* an empty place, to be used again */
	/* likewise: where it is known */
	struct {
		uint32_t row;
		uint32_t pos;
	} rows[THREAD_CACHE] __attribute__((aligned(TABLE_ALIGN)));
	struct {
		uint32_t object; /* serial, its lower half: what is found there is looked at */
		uint32_t slot;
	} slots[THREAD_CACHE];
	/* every crossing, then every episode; what follows in it costs nothing where it is not known */
	struct model_thread pub;
	/* every episode */
	uint64_t mix __attribute__((aligned(TABLE_ALIGN))); /* of its place and number */
	uint32_t teams_epoch; /* its teams are of: struct model */
	uint32_t gap_seq;
	struct thread_team teams[THREAD_TEAMS]; /* the last first */
	/* seldom */
	uint32_t next; /* of the same process; MODEL_NONE */
	bool busy; /* scratch of thread_fold() */
	bool summed; /* what it did came as sums */
	uint64_t pending_object;
	uint64_t team_start_ns; /* of the phase that it is in: see struct model_member */
	uint64_t joined_ns; /* since its last crossing: how long it waited for threads to end */
	uint64_t joined_after_ns; /* where crossings come as sums: when it left that one */
	uint64_t inside; /* where it waited when tracing began; 0 nowhere; MODEL_UNKNOWN */
	struct gap gaps[THREAD_GAPS];
	struct model_crossing
		*parked; /* came before a record with a smaller seq; details are owned */
	uint64_t tail_ns; /* up to when its tail is known; 0 it is not */
	const struct model_detail *tail; /* owned; NULL: all on a CPU */
	struct list tail_link; /* while there is one */
};

/* Up to here for every crossing: two lines, and two of pub. */
#define THREAD_HOT (offsetof(struct thread, pub) + 2 * TABLE_ALIGN)

_Static_assert(offsetof(struct thread, pub) % TABLE_ALIGN == 0, "its first line begins one");
_Static_assert(offsetof(struct model_thread, depart_ns) == TABLE_ALIGN, "its first line is full");

struct proc {
	struct model_proc pub;
	uint32_t index;
	uint32_t threads; /* list */
	uint64_t next_number;
	uint32_t next_ordinal;
	uint32_t rows; /* the last of its barriers; MODEL_NONE */
	uint64_t met_number; /* the last episode counted in its met, plus 1 */
	uint64_t folded_start, folded_end, folded_ideal; /* of the threads that were folded */
	uint64_t program; /* the same number for the same program; 0: not known */
	bool folding; /* scratch of programs_fold() */
};

/* A finished episode, with what it is ordered by: episodes are far from one another in memory. */
struct queued {
	uint64_t release_ns; /* its arrive_max */
	struct episode *episode;
};

/* Finished episodes of one process, or of several that share a barrier, in the order of releases. */
struct queue {
	struct queued *heap; /* the earliest first; binary */
	uint32_t n, cap;
	uint32_t nopen;
	uint32_t into; /* the queue that this one was joined to, by index; MODEL_NONE: none */
	bool joined; /* to another one, or another one to it */
	struct list open; /* struct open */
	struct list waiting; /* while the heap is not empty */
};

/* Whatever may still become an episode: holds back later ones. */
struct open {
	struct list link;
	uint64_t bound; /* it cannot have been released earlier */
	bool uncounted; /* nobody says how many meet: it may be over, and that be known only later */
};

/* A barrier object is not larger than this: a thread waits at a word in it. */
#define OBJECT_BYTES 64

struct member {
	struct model_member pub; /* its detail is owned by the one place that the member is in */
	struct thread *thread;
	uint64_t outside_ns; /* its thread's time outside barriers, up to this arrival */
	uint32_t seq;
	uint32_t gaps; /* its thread's so far */
	uint32_t round; /* of the crossing */
	bool ordinal; /* of the crossing */
	uint16_t rest, place; /* of the crossing */
	uint8_t depth;
	uint8_t probe_group;
	bool late; /* came after its place was given up */
	bool was_inside; /* when tracing began: not of the object's first episode again */
	bool uncertain; /* a record of this thread is missing between its last certain place and here */
};

struct episode {
	struct open open;
	struct object *object;
	uint64_t serial;
	uint64_t key; /* of its members, once it is complete: team.c */
	uint32_t proc;
	uint32_t count;
	uint32_t round; /* 0: no member has one */
	bool ordinal; /* some member has one */
	uint64_t probe_groups; /* of its members */
	uint32_t n, cap;
	uint32_t nuncertain;
	uint32_t nabandoned;
	bool nested;
	bool cyclic; /* cut from more threads than the count */
	bool first; /* of its object */
	uint32_t made; /* its object's, then */
	bool detailed; /* some member has a detail */
	bool waits_unseen; /* its members waited for others who came without a trace */
	uint64_t arrive_min;
	uint64_t arrive_max;
	uint64_t depart_min; /* MODEL_UNKNOWN: nobody has left */
	uint64_t depart_max; /* of those that left */
	enum model_state state;
	uint32_t why;
	struct member *members;
	struct episode *free_next;
};

/* What is remembered of an episode that was closed. */
struct closed {
	uint64_t arrive_max;
	uint64_t depart_min;
	uint32_t count;
	uint32_t round;
	bool ordinal;
	bool sure; /* complete: whoever fits too is one too many */
	bool full;
};

/* A thread known on an object. */
struct slot {
	uint32_t thread;
	uint32_t clear_seq; /* its records up to here are in their right places */
	bool clear;
	bool uncertain; /* its place on the object was not certain, with */
	uint32_t uncertain_seq;
	uint64_t arrive_ns; /* last; kept in cyclic mode only */
	uint64_t crossing; /* the object's crossings then */
	uint64_t next_for; /* serial of the episode in limbo, */
	uint64_t next_arrive_ns; /* and the thread's first arrival after it */
	uint32_t next_gaps;
};

struct passed {
	uint64_t arrive_ns, depart_ns;
};

struct cyclic {
	struct open open;
	struct member *room; /* owned */
	uint32_t cap; /* of room */
	uint32_t n;
	struct member *buf; /* n, by arrival: in the room, behind those that have left */
	uint32_t nprev;
	uint32_t cap_prev;
	struct passed *prev; /* the last that were put into chunks, by arrival */
	uint64_t warm_ns; /* no chunk is decided before the watermark is here */
	bool blind; /* some were put into episodes before: prev does not know them */
	bool swap; /* the first of the next chunk could have been in the last one */
	uint32_t unsure; /* why the last chunk was not certain: the next may be shifted */
	bool left; /* once, when the watermark was left_ns */
	uint64_t left_ns;
};

struct object {
	struct list lru;
	struct list busy; /* something is open on it */
	struct object *hash_next;
	uint64_t key;
	uint64_t serial;
	uint64_t addr;
	uint64_t shared;
	uint32_t proc;
	uint32_t count; /* last known */
	uint32_t
		nwere_inside; /* threads that waited here when tracing began, and have crossed since */
	uint32_t made; /* how often it had another count than before */
	uint64_t made_ns; /* the arrival that showed it, the last time */
	uint64_t arrived_ns; /* the newest arrival with that count */
	uint8_t family;
	bool seen_episode;
	uint32_t nuncertain; /* slots that are */
	bool is_cyclic;
	bool partial; /* MODEL_CROSSING_PARTIAL */
	uint32_t unfinished; /* episodes that point here */
	uint64_t depart_max; /* of all episodes closed so far */
	uint64_t team; /* key of who met last, for certain */
	uint64_t full_arrive_ns; /* last arrival of the newest full episode; 0 none */
	uint32_t nopen;
	uint32_t nclosed;
	uint32_t nslots, cap_slots;
	uint64_t purged; /* its crossings when slots were last purged */
	uint32_t nfiled; /* the first of them, which are in: */
	struct hash by_thread; /* thread -> slot; where there are many */
	uint32_t row, row_site; /* the row of the last episode and its one site */
	bool row_nested;
	uint64_t crossings;
	struct slot *slots;
	uint32_t nmet, cap_met;
	struct model_met *met; /* those in its newest complete episode */
	uint64_t met_ns; /* when they were released */
	const struct episode *first; /* its first episode, while that is undecided */
	struct episode *pending; /* full, to be judged when the next one is full */
	struct episode *open[OBJECT_OPEN_MAX]; /* oldest first */
	struct closed closed[OBJECT_CLOSED];
	struct cyclic cyclic;
};

struct row {
	struct model_barrier pub;
	uint32_t index;
	uint32_t hash_next; /* MODEL_NONE */
	uint32_t joins; /* scratch of programs_fold(): the row that it is added to */
	uint32_t *sites;
	uint32_t cap_threads, cap_phases;
	uint32_t last_phase;
	struct hash by_thread;
};

struct order {
	uint64_t key;
	uint32_t index;
};

struct model {
	struct model_ops ops;
	struct model_totals totals;
	uint64_t start_ns;
	uint64_t watermark;
	struct table procs, threads, rows;
	struct hash proc_by_id; /* (tgid, inc) */
	struct hash thread_by_id; /* (inc, tid), last one */
	uint32_t *recent; /* the same, by the last bits of tid: thread.c */
	uint32_t nrecent; /* 0 or a power of two */
	struct hash object_by_id;
	struct hash row_by_id;
	struct hash team_by_key; /* struct team */
	uint32_t teams_epoch; /* how often they were forgotten, and once more */
	struct list objects; /* least recently used first */
	struct list busy;
	struct list waiting; /* queues with something in them */
	int64_t credit; /* what looking at all that is open may still cost: model.c */
	uint64_t next_serial;
	uint64_t next_episode;
	struct queue **queues; /* by the index of the process that began it */
	uint32_t *parked; /* threads that have some */
	uint32_t *free_threads;
	uint32_t *free_procs, *free_rows; /* empty places */
	uint32_t *exited; /* processes that may be folded into their programs; see program.c */
	struct hash programs; /* the process that the others are folded into */
	uint64_t fold_ns; /* when to look at them again */
	uint32_t keep; /* so many stay as they are */
	bool folds;
	struct episode *free;
	struct detail *free_details;
	struct list tails; /* threads with a detail of theirs */
	/* scratch, kept between episodes */
	struct order *order;
	struct member *sorted;
	struct model_member *out;
	struct model_detail *whole; /* of members without: all 0 but oncpu_ns, inside_oncpu_ns */
	uint64_t *prefix;
	uint32_t *sites;
	uint32_t cap_order, cap_sorted, cap_out, cap_prefix, cap_sites, cap_whole;
	uint32_t cap_queues;
	uint32_t nobjects;
	uint32_t nparked, cap_parked;
	uint32_t nfree_threads, cap_free_threads;
	uint32_t nfree_procs, cap_free_procs, nfree_rows, cap_free_rows;
	uint32_t nexited, cap_exited;
	uint32_t nfree, nfree_details;
	uint32_t nended; /* threads, since the last folding */
	bool gaps; /* some thread has missing records */
	uint32_t npending; /* threads that were in a barrier at the end */
	bool finished;
	bool summed; /* by model_add_summed() */
	void (*tap)(void *ctx, const struct model_input *input);
	void *tap_ctx;
};

static inline struct proc *proc_at(const struct model *m, uint32_t i)
{
	return table_at(&m->procs, i);
}

static inline struct thread *thread_at(const struct model *m, uint32_t i)
{
	return table_at(&m->threads, i);
}

static inline struct row *row_at(const struct model *m, uint32_t i)
{
	return table_at(&m->rows, i);
}

/*
 * Is it of what was at this address before, with another count? Nobody of the barrier that is there now comes to it. Of one
 * whose count is not known yet nothing says so.
 */
static inline bool episode_is_former(const struct episode *e)
{
	return e->count && e->made != e->object->made;
}

/* Is @a after @b, as numbers that wrap? */
static inline bool seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* Is anything known of where its time went? */
static inline bool member_accounted(const struct member *mem)
{
	return mem->pub.detail || mem->pub.flags & MODEL_CROSSING_ACCOUNTED;
}

static inline bool member_stays(const struct member *mem)
{
	return mem->pub.flags & MODEL_CROSSING_STAYS;
}

/* Its time inside the barrier; MODEL_UNKNOWN if it never left. */
static inline uint64_t member_inside(const struct member *mem)
{
	return mem->pub.depart_ns == MODEL_UNKNOWN ? MODEL_UNKNOWN
						   : number_less(mem->pub.depart_ns, mem->pub.arrive_ns);
}

/* Grows *array to at least @want elements of @size bytes. Returns 0 or -ENOMEM. */
int model_grow(void **array, uint32_t *cap, uint32_t want, size_t size);
int table_add(struct table *t);
void table_free(struct table *t);

/* thread.c: threads and processes, and what each crossing adds to its thread */
int proc_get(struct model *m, uint32_t tgid, uint32_t inc, struct proc **out);
struct proc *proc_find(const struct model *m, uint32_t tgid, uint32_t inc);
struct thread *thread_find(const struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid);
int thread_new(struct model *m, struct proc *p, uint32_t tid, uint64_t start_ns, bool seen,
	       struct thread **out);
int thread_for_crossing(struct model *m, const struct model_crossing *c, struct thread **out);
void thread_gap(struct model *m, struct thread *t, const struct model_crossing *c, bool lost);
void thread_account(struct model *m, struct thread *t, const struct model_crossing *c, bool late,
		    struct member *mem);
int thread_resume(struct model *m, struct thread *t, const struct model_crossing *c, bool late);
bool thread_gap_covers(const struct thread *t, uint64_t from, uint64_t to);
uint64_t thread_until(const struct thread *t, uint64_t end_ns);
void thread_at_end(const struct thread *t, uint64_t end_ns, struct model_thread *out,
		   uint64_t *ideal);

/* detail.c: where the time of a crossing or a tail went */
int detail_copy(struct model *m, const struct model_detail *from, const struct model_detail **out);
void detail_release(struct model *m, const struct model_detail *detail);
void details_free(struct model *m);
void detail_settle(const struct model_detail *detail, uint64_t work_ns, uint64_t inside_ns);
void sums_shorten(struct model_sums *s, uint64_t ns);
void tail_add(const struct thread *t, uint64_t until, struct model_sums *sums);
void tail_drop(struct model *m, struct thread *t);
void tails_settle(struct model *m);

void proc_init(const struct model *m, struct proc *p, uint32_t index);
void proc_forget_number(struct model *m, const struct proc *p);

/* fold.c: too many threads */
int thread_fold(struct model *m);
void thread_mark_busy(struct model *m);
/* Adds those that have exited to the sums of the process, and puts them in front of *list. */
void thread_fold_process(struct model *m, struct proc *p, uint32_t *list);
/* The places of all in the list are used again. */
int thread_empty_places(struct model *m, uint32_t list);

/* program.c: too many processes that have exited */
int program_exited(struct model *m, struct proc *p);
int programs_fold(struct model *m);

/* object.c: to which meeting a crossing belongs */
int object_add(struct model *m, const struct model_crossing *c, struct member *mem);
int object_advance(struct model *m, struct object *o);
int object_finish(struct model *m, struct object *o);
/* The full episode in limbo gets its verdict; @final: nothing more comes. Returns 0, or -ENOMEM: it is still there. */
int object_classify(struct model *m, struct object *o, bool final);
void object_free(struct model *m, struct object *o);
/* Before that: it is found no more. */
int object_unlink(struct model *m, struct object *o);
int object_place(struct model *m, struct object *o, const struct member *mem, uint32_t count);

/* slot.c: the threads known on an object */
int slot_get(struct model *m, struct object *o, struct thread *t, struct slot **out, bool *fresh);
struct slot *slot_find(struct object *o, struct thread *t);
void slots_purge(struct model *m, struct object *o, uint64_t idle_before);
void slots_reset(struct object *o);
void slot_note_next(struct slot *s, const struct episode *pending, const struct member *mem);
bool slot_uncertain(const struct slot *s, const struct thread *t);
void slot_mark_uncertain(struct object *o, struct thread *t, uint32_t seq);
void slot_clear(struct object *o, struct thread *t, uint32_t seq);
bool slots_settled(const struct model *m, const struct object *o, uint64_t until);
uint32_t slots_missing_why(const struct model *m, const struct object *o, const struct episode *e);

/* cyclic.c: more threads than the count */
int cyclic_enter(struct model *m, struct object *o);
int cyclic_add(struct model *m, struct object *o, const struct member *mem);
int cyclic_decide(struct model *m, struct object *o, bool final);
int cyclic_leave(struct model *m, struct object *o, bool final);

/* episode.c: one meeting, from its first member to the queue */
int episode_new(struct model *m, struct object *o, uint32_t count, struct episode **out);
void episode_free(struct model *m, struct episode *e);
int episode_add(struct model *m, struct episode *e, const struct member *mem);
int episode_sort(struct model *m, struct episode *e);
int episode_certain(struct model *m, struct object *o, struct episode *e, bool final,
		    bool *certain);
int episode_close(struct model *m, struct episode *e, enum model_state state, uint32_t why);
/* Had what its members came to been shed by then (model_detached())? Who comes then comes to something else. */
bool episode_detached_before(const struct model *m, const struct episode *e, uint64_t t_ns);
bool episode_others_were_inside(const struct object *o, const struct episode *e);
/* Was it, before they left? Who came to it later was not seen. */
bool episode_was_cut(const struct model *m, const struct episode *e);

/* team.c: where all members of a meeting last met */
struct team *team_before(const struct model *m, struct episode *e, uint64_t *release_ns,
			 uint32_t *row, bool *sure);
uint64_t team_work(const struct model *m, const struct member *mem, const struct team *team);
int team_met(struct model *m, const struct episode *e, struct team *before, uint32_t row,
	     bool sure);
void teams_forget(struct model *m);

/* queue.c: the order of releases */
struct queue *queue_of(struct model *m, uint32_t proc);
int queue_push(struct model *m, struct queue *q, struct episode *e);
int queue_flush(struct model *m, struct queue *q, bool all);
int queue_join(struct model *m, uint32_t proc_a, uint32_t proc_b);
void queue_open(struct queue *q, struct open *o, uint64_t bound);
void queue_unopen(struct queue *q, struct open *o);

/* finish.c: what an episode adds to threads, processes and barriers */
int episode_emit(struct model *m, struct episode *e);

/* What tells one row from another, beside its sites; and what a new one begins with. */
struct row_id {
	uint32_t proc;
	uint8_t family;
	uint8_t kind;
	bool nested;
	uint64_t object;
};

/* barrier.c: the rows of the report */
int barrier_row_at(struct model *m, const struct row_id *id, uint32_t site, uint32_t *row);
int barrier_row(struct model *m, struct episode *e, uint32_t *row);
struct model_barrier_thread *barrier_thread_known(const struct row *r, const struct thread *t);
int barrier_thread(struct row *r, struct thread *t, struct model_barrier_thread **out);
int barrier_phase(struct row *r, uint32_t from, struct model_phase **out);
int barrier_fold(struct row *r, const struct model *m);
/* The row with these sites. @make: a new one if there is none; else the one of @id that has no place. */
int barrier_row_of(struct model *m, const struct row_id *id, const uint32_t *sites, uint32_t n,
		   bool make, uint32_t *row);
/* Of rows whose threads have been folded. */
int barrier_join_threads(struct row *to, const struct row *from);
/* Its place is used again. */
int barrier_empty(struct model *m, struct row *r);
void barrier_free(struct row *r);

/* summed.c: before the tails */
int summed_finish(struct model *m);
/* Time outside barriers of a thread whose crossings came as sums. */
uint64_t summed_outside(const struct thread *t);

/* What model_take() hands on, each as the function of that name in model.h says. */
int take_crossing(struct model *m, const struct model_crossing *crossing);
int take_advance(struct model *m, uint64_t t_ns);
int take_finish(struct model *m, uint64_t end_ns);
int take_tail(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
	      const struct model_detail *detail);
int take_process(struct model *m, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		 uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm);
int take_found(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t inside);
int take_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns);
int take_name(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, const char *comm);
int take_end_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		    const char *comm);
int take_end_process(struct model *m, uint32_t tgid, uint32_t inc, uint64_t t_ns);
int take_program(struct model *m, uint32_t tgid, uint32_t inc, uint64_t program);
int take_detached(struct model *m, const struct model_input *in);
int take_detached_part(struct model *m, const struct model_input *in);
int take_joined(struct model *m, const struct model_input *in);
int take_pending(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t object,
		 uint64_t arrive_ns);

#endif /* MODEL_INTERNAL_H */
