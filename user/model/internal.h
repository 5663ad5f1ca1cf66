/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of this room only. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include "base/hash.h"
#include "base/number.h"
#include "model/model.h"
#include "sbt/record.h"

/*
 * An open episode that is this far (ns) behind the watermark no longer delays later episodes. If
 * its count is not known, MODEL_DECIDE_NS is added to this time.
 */
#define MODEL_HOLD_NS	200000000ULL
/* An undecided episode that is this far (ns) behind the watermark is decided with what is known. */
#define MODEL_DECIDE_NS 1000000000ULL
/*
 * No chunk is decided within this time (ns) after a barrier has become cyclic, because threads that
 * have never left it are not known yet.
 */
#define MODEL_WARM_NS	100000000ULL
/*
 * Clocks of two CPUs may differ by this much (ns). A departure that precedes the last arrival by
 * more than this belongs to another episode.
 */
#define MODEL_SKEW_NS	1000ULL

/* maximum number of objects; if there are more, the least recently used is forgotten */
#define MODEL_OBJECTS_MAX 65536
/* maximum number of rows of all processes; further call sites of a process share one row */
#define MODEL_ROWS_MAX	  16384
/* with this number of threads or more, threads that have ended are folded together; see fold.c */
#define MODEL_THREADS_MAX 65536
/* maximum number of finished episodes that wait for earlier episodes in one queue */
#define MODEL_HEAP_MAX	  65536
/* maximum number of barriers at which the phases that end at one barrier may begin */
#define MODEL_PHASES_MAX  256
/* maximum number of call sites that are distinguished in one mixed barrier */
#define MODEL_SITES_MAX	  256

#define MODEL_TEAMS_MAX 16384 /* maximum number of teams; if there are more, all are forgotten */

#define OBJECT_OPEN_MAX 8
#define OBJECT_CLOSED	4
#define THREAD_GAPS	4
#define THREAD_CACHE	4
#define THREAD_PARKED	16
#define THREAD_TEAMS	8 /* maximum number of teams that a thread remembers */

/* An array with elements that never move. */
struct table {
	void **chunks;
	uint32_t n;
	uint32_t nchunks, cap;
	uint32_t elem;
};

/* number of elements in a chunk; a multiple of TABLE_ALIGN, to align all chunks */
#define TABLE_CHUNK 64
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
	bool lost; /* records were lost; if not set, the time is before tracing */
};

struct team;

/* What a thread remembers of the last episode of all members of a team. */
struct thread_team {
	struct team *team;
	uint64_t outside_ns; /* the thread's time outside barriers up to that episode */
};

/*
 * A thread. The members that every crossing uses are together, in as few cache lines as possible.
 * With thousands of threads no line is in the cache, and fetching a line takes longer than all work
 * on its contents.
 */
struct thread {
	/* Members that every crossing uses. */
	uint64_t known_ns; /* the thread's time is accounted for up to this time */
	uint64_t last_arrive_ns;
	uint64_t seen_ns; /* last departure of depth 0; all earlier records have been fed */
	uint64_t outside_joined; /* the part of outside_ns that has been added to `ideal` */
	/* end of the longest path to this thread so far, as an absolute time; at first its start */
	uint64_t ideal;
	uint32_t index;
	uint32_t next_seq;
	uint32_t ngaps; /* number of all gaps; only the last few are kept */
	uint8_t nparked;
	bool begun; /* a record of the thread has been seen */
	bool crossed; /* a record of depth 0 has been seen */
	/*
	 * the thread was outside barriers from known_ns on, so its time until the next arrival is
	 * known
	 */
	bool known_sure;
	bool release_sure; /* pub.release_ns is certain */
	/* pub.place is the number of the thread within its process, and not among all processes */
	bool placed;
	/*
	 * the thread has been at a barrier since known_ns: its last record had MODEL_CROSSING_STAYS
	 */
	bool stays;
	bool has_gap; /* a record was missing; gap_seq is the first record after the last gap */
	bool tail_done; /* the tail is in the sums */
	bool folded; /* an empty entry that may be reused */
	/* Also used by every crossing: where the thread's entries in rows and objects are. */
	struct {
		uint32_t row;
		uint32_t pos;
	} rows[THREAD_CACHE] __attribute__((aligned(TABLE_ALIGN)));
	struct {
		/*
		 * lower half of the object's serial number. It may be that of another object, so
		 * the entry is checked before use.
		 */
		uint32_t object;
		uint32_t slot;
	} slots[THREAD_CACHE];
	/*
	 * Every crossing uses the first two lines of `pub`, and every complete episode also uses
	 * the last line. Most of the lines between them are used only if it is known how the
	 * thread's time was spent.
	 */
	struct model_thread pub;
	/* Members that every episode uses. */
	uint64_t mix __attribute__((aligned(TABLE_ALIGN))); /* hash of the thread's index and tid */
	uint32_t teams_epoch; /* model.teams_epoch to which the thread's teams belong */
	uint32_t gap_seq;
	/* the teams that the thread crossed with, the most recent first */
	struct thread_team teams[THREAD_TEAMS];
	/* Members that are used rarely, down to the end. */
	uint32_t next; /* next thread of the same process, or MODEL_NONE */
	bool busy; /* scratch of thread_fold() */
	bool summed; /* the thread's crossings were added as sums */
	uint64_t pending_object;
	uint64_t team_start_ns; /* as in struct model_member, for the current phase */
	/* how long (ns) the thread has waited for other threads to end, since its last crossing */
	uint64_t joined_ns;
	uint64_t joined_after_ns; /* with sums: time when the thread left its last barrier */
	/*
	 * address at which the thread waited when tracing began; 0 if it did not wait;
	 * MODEL_UNKNOWN if not known
	 */
	uint64_t inside;
	struct gap gaps[THREAD_GAPS];
	/* records that arrived before a record with a smaller seq; the thread owns their details */
	struct model_crossing *parked;
	uint64_t tail_ns; /* end of the tail; 0 if there is no tail */
	/* owned by the thread; NULL if the thread was always on a CPU */
	const struct model_detail *tail;
	struct list tail_link; /* in model.tails while `tail` is not NULL */
};

/* Bytes that every crossing uses: two cache lines, and two lines of pub. */
#define THREAD_HOT (offsetof(struct thread, pub) + 2 * TABLE_ALIGN)

_Static_assert(offsetof(struct thread, pub) % TABLE_ALIGN == 0, "its first line begins one");
_Static_assert(offsetof(struct model_thread, depart_ns) == TABLE_ALIGN, "its first line is full");

struct proc {
	struct model_proc pub;
	uint32_t index;
	/* index of the first thread in the list of the process's threads, or MODEL_NONE */
	uint32_t threads;
	uint64_t next_number;
	uint32_t next_ordinal;
	uint32_t rows; /* index of the process's barrier that was added last, or MODEL_NONE */
	uint32_t cap_parts; /* capacity of pub.parts */
	/* serial number, plus 1, of the last episode that was counted for pub.episodes_joined */
	uint64_t joined_number;
	/* earliest start, latest end and longest path of the folded threads */
	uint64_t folded_start, folded_end, folded_ideal;
	uint64_t program; /* the same number for the same program; 0 if unknown */
	bool folding; /* scratch of programs_fold() */
};

/*
 * A finished episode with its sort key. The key is copied here because episodes are far from each
 * other in memory.
 */
struct queued {
	uint64_t release_ns; /* arrive_max of the episode */
	struct episode *episode;
};

/*
 * Finished episodes of one process, or of several processes that share a barrier, ordered by
 * release.
 */
struct queue {
	struct queued *heap; /* binary heap, the earliest first */
	uint32_t n, cap;
	uint32_t nopen;
	uint32_t into; /* index of the queue that this queue was merged into, or MODEL_NONE */
	bool joined; /* merged into another queue, or another queue was merged into this queue */
	struct list open; /* list of struct open */
	struct list waiting; /* linked while the heap is not empty */
};

/*
 * An open episode, or crossings in cyclic use that may still become an episode. Both delay later
 * episodes.
 */
struct open {
	struct list link;
	uint64_t bound; /* the episode cannot have been released earlier */
	/* the number of members is not known, so the end of the episode is recognised only later */
	bool uncounted;
};

/* Upper limit of the size of a barrier object, which contains the word at which threads wait. */
#define OBJECT_BYTES 64

struct member {
	struct model_member pub; /* the struct that contains the member owns the detail */
	struct thread *thread;
	/* time (ns) outside barriers that ended with this arrival; 0 if not known */
	uint64_t outside_ns;
	/* departure, or with MODEL_CROSSING_UNTIMED an upper bound of it; MODEL_UNKNOWN: none */
	uint64_t left_ns;
	uint32_t seq;
	uint32_t gaps; /* number of the thread's gaps so far */
	uint32_t round; /* round of the crossing; 0 if not known */
	bool ordinal; /* `round` is an ordinal; see struct model_crossing */
	uint16_t rest, place; /* model_crossing.rest and .place */
	uint8_t depth;
	uint8_t probe_group;
	bool late; /* fed after later records of the same thread */
	/*
	 * the thread was inside the object's first episode when tracing began, so this crossing
	 * belongs to a later episode
	 */
	bool was_inside;
	/*
	 * a record of this thread is missing since its last crossing that is certainly in the right
	 * episode
	 */
	bool uncertain;
};

struct episode {
	struct open open;
	struct object *object;
	uint64_t serial;
	uint64_t key; /* key of the set of members, from team_before() */
	uint32_t proc;
	uint32_t count;
	uint32_t round; /* 0: no member has a round */
	bool ordinal; /* a member has an ordinal */
	uint64_t probe_groups; /* probe groups of its members */
	uint32_t n, cap;
	uint32_t nuncertain;
	uint32_t nabandoned;
	bool nested;
	bool cyclic; /* a chunk of cyclic use: more threads use the object than its count */
	bool first; /* the first episode of its object */
	uint32_t made; /* value of object.made when the episode began */
	bool detailed; /* a member has a detail */
	bool waits_unseen; /* members waited for threads that arrived without leaving a record */
	uint64_t arrive_min;
	uint64_t arrive_max;
	uint64_t depart_min; /* MODEL_UNKNOWN if no member has left */
	uint64_t depart_max; /* last departure among the members that left */
	enum model_state state;
	uint32_t why;
	struct member *members;
	struct episode *free_next;
};

/* A summary of a closed episode. */
struct closed {
	uint64_t arrive_max;
	uint64_t depart_min;
	uint32_t count;
	uint32_t round;
	bool ordinal;
	/* the episode is complete, so another thread that seems to fit is one too many */
	bool sure;
	bool full;
};

/* A thread that uses an object. */
struct slot {
	uint32_t thread;
	/* the thread's records up to this number are certainly in the right episodes */
	uint32_t clear_seq;
	bool clear;
	/* record uncertain_seq of the thread may be in the wrong episode */
	bool uncertain;
	uint32_t uncertain_seq;
	uint64_t arrive_ns; /* last arrival; kept only in cyclic use */
	uint64_t crossing; /* value of object.crossings at that time */
	uint64_t next_for; /* serial number of the pending episode */
	uint64_t next_arrive_ns; /* the thread's first arrival after that episode */
	uint32_t next_gaps;
};

struct passed {
	uint64_t arrive_ns, depart_ns;
};

struct cyclic {
	struct open open;
	struct member *room; /* owned by this struct */
	uint32_t cap; /* capacity of room */
	uint32_t n;
	struct member *buf; /* n members by arrival, in room, behind the members that have left */
	uint32_t nprev;
	uint32_t cap_prev;
	struct passed *prev; /* the last members of former chunks, ordered by arrival */
	uint64_t warm_ns; /* no chunk is decided before the watermark reaches this time */
	/* episodes were closed before cyclic use began; prev does not contain their members */
	bool blind;
	bool swap; /* the first member of the next chunk could belong to the last chunk */
	/*
	 * MODEL_WHY_*: why the last chunk was not certain, so that the next chunk may be shifted,
	 * too
	 */
	uint32_t unsure;
	bool left; /* cyclic use ended once, when the watermark was left_ns */
	uint64_t left_ns;
};

struct object {
	struct list lru;
	/* in model.busy while the object has an unfinished episode or members in cyclic.buf */
	struct list busy;
	struct object *hash_next;
	uint64_t key;
	uint64_t serial;
	uint64_t addr;
	uint64_t shared;
	uint32_t proc;
	uint32_t count; /* the last known count */
	/*
	 * number of threads that waited at this object when tracing began, and have crossed it
	 * again since
	 */
	uint32_t nwere_inside;
	uint32_t made; /* how often the count of the object changed */
	uint64_t made_ns; /* time of the arrival that showed the last change */
	uint64_t arrived_ns; /* time of the newest arrival with the current count */
	uint8_t family;
	bool seen_episode;
	uint32_t nuncertain; /* number of uncertain slots */
	bool is_cyclic;
	bool partial; /* a crossing had MODEL_CROSSING_PARTIAL */
	uint32_t unfinished; /* number of episodes of this object that are not freed yet */
	uint64_t depart_max; /* last departure of all episodes closed so far */
	uint64_t team; /* key of the team of the newest complete episode; see team.c */
	uint64_t full_arrive_ns; /* last arrival of the newest full episode; 0 if none */
	uint32_t nopen;
	uint32_t nclosed;
	uint32_t nslots, cap_slots;
	uint64_t purged; /* value of `crossings` when slots were last purged */
	uint32_t nfiled; /* number of slots in by_thread, which are the first slots of the array */
	struct hash by_thread; /* thread -> slot, if there are many slots */
	uint32_t row, row_site; /* row of the last episode, and its single call site */
	bool row_nested;
	uint64_t crossings;
	struct slot *slots;
	uint32_t nlast_members, cap_last_members;
	/* members of the object's newest complete episode */
	struct model_team_member *last_members;
	uint64_t last_release_ns; /* release of that episode */
	const struct episode *first; /* the object's first episode until it is closed */
	/* a full episode that is not decided yet; it is decided when the next episode is full */
	struct episode *pending;
	struct episode *open[OBJECT_OPEN_MAX]; /* oldest first */
	struct closed closed[OBJECT_CLOSED];
	struct cyclic cyclic;
};

struct row {
	struct model_barrier pub;
	uint32_t index;
	uint32_t hash_next; /* next row with the same hash, or MODEL_NONE */
	/* scratch of programs_fold(): index of the row to which this row is added */
	uint32_t joins;
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
	struct hash thread_by_id; /* (inc, tid) -> the last such thread */
	/* a cache of thread_by_id, indexed by the last bits of tid; see thread.c */
	uint32_t *recent;
	uint32_t nrecent; /* 0 or a power of two */
	struct hash object_by_id;
	struct hash row_by_id;
	struct hash team_by_key; /* struct team */
	uint32_t teams_epoch; /* number of times that all teams were forgotten, plus 1 */
	struct list objects; /* ordered from least to most recently used */
	struct list busy;
	struct list waiting; /* queues that are not empty */
	int64_t credit; /* credit for checks in take_advance(); see ADVANCE_CREDIT */
	uint64_t next_serial;
	uint64_t next_episode;
	struct queue **queues; /* indexed by the process that began the queue */
	uint32_t *parked; /* threads with parked crossings */
	uint32_t *free_threads;
	uint32_t *free_procs, *free_rows; /* empty entries */
	uint32_t *exited; /* processes that may be folded into their programs; see program.c */
	struct hash programs; /* program -> the process into which other processes are folded */
	uint64_t fold_ns; /* time of the next folding */
	uint32_t keep; /* maximum number of exited processes that are not folded */
	bool folds;
	struct episode *free;
	struct detail *free_details;
	struct list tails; /* threads with a detail of their tail */
	/* Scratch, kept between episodes. */
	struct order *order;
	struct member *sorted;
	struct model_member *out;
	/* for members without detail: all fields are 0 except oncpu_ns and inside_oncpu_ns */
	struct model_detail *whole;
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
	uint32_t nended; /* number of threads that exited since the last folding */
	bool gaps; /* a thread has missing records */
	uint32_t npending; /* number of threads that were inside a barrier at the end */
	bool finished;
	bool summed; /* model_add_summed() was called */
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
 * Return whether the episode belongs to a former barrier at this address, which had another count.
 * No thread of the present barrier joins such an episode. An episode with an unknown count belongs
 * to the present barrier.
 */
static inline bool episode_is_former(const struct episode *e)
{
	return e->count && e->made != e->object->made;
}

/* Return whether @a is after @b. The numbers wrap around. */
static inline bool seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* Return whether it is known how the member's time was spent. */
static inline bool member_accounted(const struct member *mem)
{
	return mem->pub.detail || mem->pub.flags & MODEL_CROSSING_ACCOUNTED;
}

static inline bool member_stays(const struct member *mem)
{
	return mem->pub.flags & MODEL_CROSSING_STAYS;
}

/* Return whether the member never returned from its arrival. */
static inline bool member_abandoned(const struct member *mem)
{
	return mem->left_ns == MODEL_UNKNOWN && !member_stays(mem);
}

/* Return the member's time inside the barrier, or MODEL_UNKNOWN if its departure is not known. */
static inline uint64_t member_inside(const struct member *mem)
{
	return mem->pub.depart_ns == MODEL_UNKNOWN
		       ? MODEL_UNKNOWN
		       : number_less(mem->pub.depart_ns, mem->pub.arrive_ns);
}

int table_add(struct table *t);
void table_free(struct table *t);

/* thread.c: threads and processes, and the figures that each crossing adds to its thread */
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
/*
 * Add the threads that have exited to the sums of the process, and insert them at the front of
 * *list.
 */
void thread_fold_process(struct model *m, struct proc *p, uint32_t *list);
/* Mark the entries of all threads in the list as empty, so that they are reused. */
int thread_empty_places(struct model *m, uint32_t list);

/* program.c: too many processes that have exited */
int program_exited(struct model *m, struct proc *p);
int programs_fold(struct model *m);

/* object.c: the episode to which a crossing belongs */
int object_add(struct model *m, const struct model_crossing *c, struct member *mem);
int object_advance(struct model *m, struct object *o);
int object_finish(struct model *m, struct object *o);
/*
 * Decide the pending full episode. @final: no more records follow. Return 0, or -ENOMEM; the
 * episode is then still pending.
 */
int object_classify(struct model *m, struct object *o, bool final);
void object_free(struct model *m, struct object *o);
/* Remove the object from the index, before it is freed. */
int object_unlink(struct model *m, struct object *o);
int object_place(struct model *m, struct object *o, const struct member *mem, uint32_t count);

/* slot.c: the threads that use an object */
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

/* episode.c: one episode, from its first member to the queue */
int episode_new(struct model *m, struct object *o, uint32_t count, struct episode **out);
void episode_free(struct model *m, struct episode *e);
int episode_add(struct model *m, struct episode *e, const struct member *mem);
int episode_sort(struct model *m, struct episode *e);
int episode_certain(struct model *m, struct object *o, struct episode *e, bool final,
		    bool *certain);
int episode_close(struct model *m, struct episode *e, enum model_state state, uint32_t why);
/*
 * Return whether a probe group of the episode's members was detached before @t_ns
 * (model_detached()). Later arrivals belong to other episodes.
 */
bool episode_detached_before(const struct model *m, const struct episode *e, uint64_t t_ns);
bool episode_others_were_inside(const struct object *o, const struct episode *e);
/*
 * Return whether a probe group of the episode's members was detached before the first member left.
 * Arrivals after the detach were not seen.
 */
bool episode_was_cut(const struct model *m, const struct episode *e);

/* team.c: the last episode of all members of a team */
struct team *team_before(const struct model *m, struct episode *e, uint64_t *release_ns,
			 uint32_t *row, bool *sure);
uint64_t team_work(const struct model *m, const struct member *mem, const struct team *team);
int team_crossed(struct model *m, const struct episode *e, struct team *before, uint32_t row,
		 bool sure);
void teams_forget(struct model *m);

/* queue.c: the order of releases */
struct queue *queue_of(struct model *m, uint32_t proc);
int queue_push(struct model *m, struct queue *q, struct episode *e);
int queue_flush(struct model *m, struct queue *q, bool all);
int queue_join(struct model *m, uint32_t proc_a, uint32_t proc_b);
void queue_open(struct queue *q, struct open *o, uint64_t bound);
void queue_unopen(struct queue *q, struct open *o);

/* finish.c: the figures that an episode adds to threads, processes and barriers */
int episode_emit(struct model *m, struct episode *e);

/* The key of a row without its call sites, and the first values of a new row. */
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
/*
 * Find the row with these call sites. If there is none, add one if @make is set. If @make is not
 * set, find or add the row of @id without call sites.
 */
int barrier_row_of(struct model *m, const struct row_id *id, const uint32_t *sites, uint32_t n,
		   bool make, uint32_t *row);
/* Add the entries of @from to @to, after their threads have been folded. */
int barrier_join_threads(struct row *to, const struct row *from);
/* Free the row's entry for reuse. */
int barrier_empty(struct model *m, struct row *r);
void barrier_free(struct row *r);

/* summed.c: sums from the kernel side, added before the tails */
int summed_finish(struct model *m);
/* For a thread with crossings that were added as sums, return the time outside barriers. */
uint64_t summed_outside(const struct thread *t);

/* The functions that model_take() calls: one for each function of model.h that adds input. */
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
