// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Barriers and similar objects of Python's library. They are written in Python: a condition keeps a
 * list of locks, one for each waiting thread. So a thread that waits is in a wait on a semaphore,
 * and the last arriver, which never waits, releases the locks. Both are recognised by the Python
 * functions that they execute, which are read from the memory of the interpreter. The last arriver
 * is seen when the kernel wakes a thread on its behalf: a program that releases a lock for which no
 * thread sleeps is not slowed down.
 */
#include "account.h"
#include "arrive.h"
#include "python.h"
#include "userregs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define FRAMES_MAX     24
/* Of the states of an interpreter's threads, at most LISTS * LIST_MAX are looked at. */
#define LIST_MAX       32
#define LISTS	       32
/* Condition.notify(): index of the local variable that holds the list of waiting threads */
#define NOTIFY_WAITERS 2
/* Only the first NAME_MAX - 1 characters of a name are compared. */
#define NAME_MAX       24
#define SUFFIX_MAX     32

/* The part that a function has in Python's library. The values are numbers of bits. */
enum code_part {
	CODE_USER, /* it is not in one of the files below */
	CODE_OTHER, /* it uses conditions in a way that is not reported */
	CODE_PASS, /* it is called by one of the others */
	CODE_START, /* it begins a thread */
	CODE_WAIT, /* threading: wait() of Condition, Event and Barrier */
	CODE_NOTIFY, /* threading.Condition.notify() */
	CODE_SHARED_WAIT, /* the same of multiprocessing */
	CODE_SHARED_NOTIFY,
	CODE_BARRIER,
	CODE_EVENT,
	CODE_QUEUE,
	CODE_FUTURES,
	CODE_POOL,
};
#define BIT(part) (1u << (part))

/* Files of the library. */
enum library_file {
	FILE_THREADING,
	FILE_QUEUE,
	FILE_FUTURES,
	FILE_FUTURES_THREAD,
	FILE_FUTURES_PROCESS,
	FILE_SYNCHRONIZE,
	FILE_POOL,
	FILES
};

struct suffix {
	char text[SUFFIX_MAX];
	__u32 len;
};

#define SUFFIX(literal)                                       \
	{                                                     \
		.text = (literal), .len = sizeof(literal) - 1 \
	}

static const struct suffix library_files[FILES] = {
	[FILE_THREADING] = SUFFIX("/threading.py"),
	[FILE_QUEUE] = SUFFIX("/queue.py"),
	[FILE_FUTURES] = SUFFIX("/concurrent/futures/_base.py"),
	[FILE_FUTURES_THREAD] = SUFFIX("/concurrent/futures/thread.py"),
	[FILE_FUTURES_PROCESS] = SUFFIX("/concurrent/futures/process.py"),
	[FILE_SYNCHRONIZE] = SUFFIX("/multiprocessing/synchronize.py"),
	[FILE_POOL] = SUFFIX("/multiprocessing/pool.py"),
};

struct library_function {
	union {
		char name[NAME_MAX];
		__u64 words[NAME_MAX / 8];
	};
	__u16 file, part;
};

/* All other functions of these files are CODE_OTHER. */
static const struct library_function library_functions[] = {
	{ { "wait" }, FILE_THREADING, CODE_WAIT },
	{ { "wait_for" }, FILE_THREADING, CODE_PASS },
	{ { "notify" }, FILE_THREADING, CODE_NOTIFY },
	{ { "notify_all" }, FILE_THREADING, CODE_PASS },
	{ { "_wait" }, FILE_THREADING, CODE_BARRIER },
	{ { "_release" }, FILE_THREADING, CODE_BARRIER },
	{ { "set" }, FILE_THREADING, CODE_EVENT },
	{ { "run" }, FILE_THREADING, CODE_START },
	{ { "_bootstrap_inner" }, FILE_THREADING, CODE_START },
	{ { "_bootstrap" }, FILE_THREADING, CODE_START },
	{ { "join" }, FILE_QUEUE, CODE_QUEUE },
	{ { "task_done" }, FILE_QUEUE, CODE_QUEUE },
	{ { "wait" }, FILE_FUTURES, CODE_FUTURES },
	{ { "add_result" }, FILE_FUTURES, CODE_FUTURES },
	{ { "add_exception" }, FILE_FUTURES, CODE_FUTURES },
	{ { "add_cancelled" }, FILE_FUTURES, CODE_FUTURES },
	/* _decrement_pending_calls, cut */
	{ { "_decrement_pending_call" }, FILE_FUTURES, CODE_PASS },
	{ { "set_result" }, FILE_FUTURES, CODE_PASS },
	{ { "set_exception" }, FILE_FUTURES, CODE_PASS },
	{ { "run" }, FILE_FUTURES_THREAD, CODE_PASS },
	{ { "_worker" }, FILE_FUTURES_THREAD, CODE_PASS },
	{ { "run" }, FILE_FUTURES_PROCESS, CODE_PASS },
	{ { "process_result_item" }, FILE_FUTURES_PROCESS, CODE_PASS },
	{ { "wait" }, FILE_SYNCHRONIZE, CODE_SHARED_WAIT },
	{ { "wait_for" }, FILE_SYNCHRONIZE, CODE_PASS },
	{ { "notify" }, FILE_SYNCHRONIZE, CODE_SHARED_NOTIFY },
	{ { "notify_all" }, FILE_SYNCHRONIZE, CODE_PASS },
	{ { "wait" }, FILE_POOL, CODE_POOL },
	{ { "get" }, FILE_POOL, CODE_PASS },
	{ { "map" }, FILE_POOL, CODE_POOL },
	{ { "starmap" }, FILE_POOL, CODE_POOL },
	{ { "_set" }, FILE_POOL, CODE_POOL },
	{ { "_handle_results" }, FILE_POOL, CODE_PASS },
};

#define FUNCTIONS (sizeof(library_functions) / sizeof(library_functions[0]))

/* --- functions -------------------------------------------------------------------------------- */

struct text {
	__u64 chars; /* address of the first character */
	__u32 n; /* number of characters; 0: the text cannot be read */
	__u32 width;
};

static __always_inline void text_at(const struct sbt_python_layout *l, __u64 at, struct text *text)
{
	__u32 state = 0;
	__u64 n = python_word(at + SBT_PYTHON_SIZE);

	bpf_probe_read_user(&state, sizeof(state), (void *)(at + SBT_PYTHON_TEXT_STATE));
	text->width = state >> 2 & 7;
	text->n = !(state >> 5 & 1) || n > 4096 ? 0 : (__u32)n;
	text->chars = at + (state >> 6 & 1 ? l->ascii : l->text);
}

/*
 * The functions without `static` are global so that the verifier checks each of them once, and not
 * for each path to it. Such functions cannot have pointers to maps as arguments.
 */
/* Return the file of the library with this name, or FILES. */
__noinline __u32 python_library_file(__u64 chars, __u32 n)
{
	union {
		char text[SUFFIX_MAX];
		__u64 words[SUFFIX_MAX / 8];
	} end;
	const __u64 *suffix;
	__u32 i, len;

	for (i = 0; i < FILES; i++) {
		len = library_files[i].len & (SUFFIX_MAX - 1);
		if (n < len)
			continue;
		__builtin_memset(&end, 0, sizeof(end));
		bpf_probe_read_user(end.text, len, (void *)(chars + n - len));
		suffix = (const __u64 *)library_files[i].text;
		if (end.words[0] == suffix[0] && end.words[1] == suffix[1] &&
		    end.words[2] == suffix[2] && end.words[3] == suffix[3])
			return i;
	}
	return FILES;
}

/* Return the part of the function with this name in @file. */
__noinline __u32 python_library_part(__u32 file, __u64 chars, __u32 n)
{
	struct library_function f = {};
	__u32 i;

	/* A longer name is compared by its beginning, which is unique. */
	if (n > NAME_MAX - 1)
		n = NAME_MAX - 1;
	bpf_probe_read_user(f.name, n, (void *)chars);
	for (i = 0; i < FUNCTIONS; i++) {
		const struct library_function *row = &library_functions[i];

		if (row->file == file && row->words[0] == f.words[0] &&
		    row->words[1] == f.words[1] && row->words[2] == f.words[2])
			return row->part;
	}
	return CODE_OTHER;
}

/* Return the part of a function, by the texts in t->python. */
static __noinline __u32 classify(const struct sbt_python *py, const struct sbt_python_view *view)
{
	struct text text;
	__u32 file;

	if (!py || !view)
		return CODE_USER;
	text_at(&py->layout, view->file, &text);
	/* The names of the library's files are ASCII, but its directory may not be. */
	if (text.width != 1)
		return CODE_USER;
	file = python_library_file(text.chars, text.n);
	if (file == FILES)
		return CODE_USER;
	text_at(&py->layout, view->name, &text);
	return text.width == 1 ? python_library_part(file, text.chars, text.n) : CODE_OTHER;
}

static __always_inline void code_key(const struct sbt_thread *t, struct sbt_python_code *key)
{
	key->code = t->python.code;
	key->name = t->python.name;
	key->file = t->python.file;
	key->tgid = t->tgid;
}

__noinline __u32 python_part(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	struct sbt_python_part *known, fresh = { .wait_at = ~0u };
	struct sbt_python_code key = {};

	if (!py || !t)
		return CODE_OTHER;
	code_key(t, &key);
	known = bpf_map_lookup_elem(&python_codes, &key);
	if (known)
		return known->part;
	fresh.part = classify(py, &t->python);
	bpf_map_update_elem(&python_codes, &key, &fresh, BPF_ANY);
	return fresh.part;
}

/*
 * Return whether the wait at @at of multiprocessing's Condition.wait() is the wait for other
 * threads. It comes first in this function; later the function may wait for a lock.
 */
static __noinline int waits_for_others(struct sbt_thread *t, __u32 at)
{
	struct sbt_python_code key = {};
	struct sbt_python_part *known;

	if (!t)
		return 0;
	code_key(t, &key);
	known = bpf_map_lookup_elem(&python_codes, &key);
	if (!known || at > known->wait_at)
		return 0;
	known->wait_at = at;
	return 1;
}

/* --- threads ---------------------------------------------------------------------------------- */

static __always_inline __u64 own_pthread(void)
{
#if defined(__TARGET_ARCH_arm64)
	return 0;
#else
	return thread_pointer((void *)bpf_get_current_task());
#endif
}

/* Return whether this is the interpreter's state of the current thread. */
static __always_inline bool is_own(const struct sbt_python_layout *l, __u64 state, __u64 pthread,
				   __u32 tid)
{
	if (pthread)
		return python_word(state + l->state_pthread) == pthread;
	return l->state_native && python_word(state + l->state_native) == tid;
}

static __always_inline __u64 gil_of(const struct sbt_python *py)
{
	const struct sbt_python_layout *l = &py->layout;

	return l->gil_of ? python_word(python_word(py->runtime + l->head) + l->gil_of)
			 : py->runtime + l->gil;
}

/*
 * A thread that notifies holds the GIL, and a thread that waits has just released it, so the GIL's
 * last holder is nearly always the thread itself.
 */
__noinline int python_own_state(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	const struct sbt_python_layout *l;
	__u64 pthread = own_pthread(), state;

	if (!py || !t)
		return 0;
	l = &py->layout;
	if (t->python.state && is_own(l, t->python.state, pthread, t->tid))
		return 1;
	state = python_word(gil_of(py) + l->holder);
	if (!state || !is_own(l, state, pthread, t->tid))
		return 0;
	t->python.state = state;
	return 1;
}

/*
 * Look for the state of the current thread in the list that begins at @state. Return the state at
 * which the search goes on, or 0 if the list has ended or the state has been found. This is a
 * function because the verifier follows each round of a loop.
 */
__noinline __u64 python_search_states(__u32 index, __u64 state)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 pthread = own_pthread();
	__u32 i;

	if (!py || !t)
		return 0;
	for (i = 0; i < LIST_MAX && state; i++) {
		if (is_own(&py->layout, state, pthread, t->tid)) {
			t->python.state = state;
			return 0;
		}
		state = python_word(state + py->layout.state_next);
	}
	return state;
}

/*
 * Find the interpreter's state of the current thread. If it is not the GIL's last holder, search
 * the first states of the main interpreter, which are those of the newest threads.
 */
__noinline int python_find_state(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 state;
	__u32 i;

	if (!py || !t)
		return 0;
	if (python_own_state(index))
		return 1;
	t->python.state = 0;
	state = python_word(python_word(py->runtime + py->layout.head) + py->layout.threads);
	for (i = 0; i < LISTS && state; i++)
		state = python_search_states(index, state);
	return t->python.state != 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Return whether the object's type has this name of @len bytes, with its final 0; at most 8. */
static __always_inline bool has_type(__u64 object, const char name[8], __u32 len)
{
	__u64 at = python_word(python_word(object + SBT_PYTHON_TYPE) + SBT_PYTHON_TYPE_NAME);
	__u64 text = 0;

	bpf_probe_read_user(&text, len, (void *)at);
	return text == *(const __u64 *)name;
}

static __always_inline bool is_code(__u64 object)
{
	return has_type(object, "code\0\0\0", 5);
}

/* --- call sites ------------------------------------------------------------------------------- */

/* Copy the characters of a text, or the last ones if @size is too small for all. */
static __always_inline void copy_text(const struct sbt_python_layout *l, __u64 at,
				      struct sbt_python_text *out, __u8 *chars, __u32 size)
{
	struct text text;
	__u32 skip = 0;

	text_at(l, at, &text);
	out->n = 0;
	out->width = text.width;
	if (text.width != 1 && text.width != 2 && text.width != 4)
		return;
	if (text.n * text.width > size) {
		skip = text.n - size / text.width;
		text.n = size / text.width;
	}
	size = text.n * text.width;
	barrier_var(size);
	if (size > SBT_PYTHON_FILE_LEN)
		return;
	if (!bpf_probe_read_user(chars, size, (void *)(text.chars + skip * text.width)))
		out->n = size / out->width;
}

/* What is sent: a call in a function, or the function as a whole (`label`, `at`, `what`: 0). */
struct sent {
	__u32 type; /* enum sbt_record_type */
	__u32 tgid, tid, inc;
	__u64 t_ns;
	__u64 code, file;
	__u32 label;
	__u32 at;
	__u32 what; /* enum sbt_python_what */
	__u32 pad;
};

/*
 * Send a function, or a call in it, to user space. Return 0, or -1 if there was no room. The line
 * table is sent too, because the process may have ended when user space wants to know the line.
 */
static __noinline int site_send(const struct sbt_python *py, const struct sent *sent)
{
	struct sbt_python_site *s;
	__u64 table, name = 0;
	__u32 size;

	if (!py || !sent)
		return -1;
	count(events, bpf_get_smp_processor_id());
	s = bpf_ringbuf_reserve(&events, sizeof(*s), 0);
	if (!s) {
		count(lost_event, bpf_get_smp_processor_id());
		return -1;
	}
	__builtin_memset(&s->event, 0, sizeof(s->event));
	s->event.t_ns = sent->t_ns;
	s->event.type = sent->type;
	event_task(&s->event, sent->tgid, sent->tid, sent->inc);
	s->code = sent->code;
	s->label = sent->label;
	s->at = sent->at;
	s->minor = py->layout.minor;
	s->what = sent->what;
	s->pad = 0;
	s->pad2 = 0;
	s->first_line = 0;
	bpf_probe_read_user(&s->first_line, sizeof(s->first_line),
			    (void *)(s->code + py->layout.first_line));
	name = python_word(sent->code + py->layout.name);
	copy_text(&py->layout, sent->file, &s->file, s->file_chars, sizeof(s->file_chars));
	copy_text(&py->layout, name, &s->name, s->name_chars, sizeof(s->name_chars));
	table = python_word(sent->code + py->layout.lines);
	s->lines_at = table + SBT_PYTHON_BYTES;
	s->lines_size = python_word(table + SBT_PYTHON_SIZE);
	size = s->lines_size < SBT_PYTHON_LINES_LEN ? (__u32)s->lines_size : SBT_PYTHON_LINES_LEN;
	s->lines_len = 0;
	/* The verifier must see the limit in the register that the call uses. */
	barrier_var(size);
	if (size <= SBT_PYTHON_LINES_LEN &&
	    !bpf_probe_read_user(s->lines, size, (void *)s->lines_at))
		s->lines_len = size;
	/* These events are large, and rare: one for each function or call. */
	bpf_ringbuf_submit(s, wake_if_full(&events));
	return 0;
}

/* Return whether at least half of the event ring is free. */
static __always_inline bool events_have_room(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) * 2 <
	       bpf_ringbuf_query(&events, BPF_RB_RING_SIZE);
}

#define IDENTITY_BYTES 32

/*
 * Return a number in which a function differs from others that were at its address. A program that
 * makes functions and drops them may reuse all addresses, so texts count, too: all of co_name by
 * its hash, and the beginning of the name with its classes.
 */
static __noinline __u32 function_number(const struct sbt_python *py, __u64 code, __u64 file,
					__u64 name)
{
	__u64 words[IDENTITY_BYTES / 8] = {}, full, lines, h = 0;
	__u32 first_line = 0, size, i;

	if (!py)
		return 0;
	bpf_probe_read_user(&first_line, sizeof(first_line),
			    (void *)(code + py->layout.first_line));
	full = python_word(code + py->layout.name);
	lines = python_word(code + py->layout.lines);
	h = hash_add(hash_add(h, code), file);
	h = hash_add(hash_add(h, python_word(name + SBT_PYTHON_TEXT_HASH)), first_line);
	h = hash_add(hash_add(h, lines), python_word(lines + SBT_PYTHON_SIZE));
	if (full != name) {
		/* Linux 5.10 refuses text_at() here. Of names that are not ASCII, less counts. */
		size = python_word(full + SBT_PYTHON_SIZE);
		h = hash_add(hash_add(h, full), size);
		if (size > IDENTITY_BYTES)
			size = IDENTITY_BYTES;
		/* The verifier must see the limit in the register that the call uses. */
		barrier_var(size);
		if (size <= IDENTITY_BYTES)
			bpf_probe_read_user(words, size, (void *)(full + py->layout.ascii));
		for (i = 0; i < IDENTITY_BYTES / 8; i++)
			h = hash_add(h, words[i]);
	}
	return (__u32)(h >> 32) | 1;
}

__noinline int python_function(__u32 index, __u64 code, __u64 t_ns)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	struct sent sent = { .type = SBT_REC_PYTHON_CODE };
	struct sbt_python_function key = {};
	__u32 known = 1;
	__u64 name;

	if (!py || !t)
		return 0;
	sent.file = python_word(code + py->layout.file);
	/* co_name follows co_filename in all versions. */
	name = python_word(code + py->layout.file + 8);
	if (!sent.file || !name)
		return 0;
	key.code = code;
	key.number = function_number(py, code, sent.file, name);
	key.tgid = t->tgid;
	key.inc = py->inc;
	if (bpf_map_lookup_elem(&python_sent, &key) || !events_have_room() || !is_code(code))
		return (int)key.number;
	sent.tgid = t->tgid;
	sent.tid = t->tid;
	sent.inc = py->inc;
	sent.t_ns = t_ns;
	sent.code = code;
	sent.label = key.number;
	if (!site_send(py, &sent))
		bpf_map_update_elem(&python_sent, &key, &known, BPF_ANY);
	return (int)key.number;
}

/* Set the label of the call site in t->python. Return 1, or 0 if there was no room. */
__noinline int python_site_label(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	struct sent sent = { .type = SBT_REC_PYTHON };
	struct sbt_label_key key = {};
	__u32 reported = 1, i;
	__u64 h = 0;

	if (!py || !t)
		return 0;
	key.file = t->python.code;
	key.name = function_number(py, t->python.code, t->python.file, t->python.name);
	key.tgid = t->tgid;
	key.inc = py->inc;
	key.line = t->python.at;
	key.loop = t->python.what;
	for (i = 0; i < offsetof(struct sbt_label_key, text) / sizeof(__u64); i++)
		h = hash_add(h, ((const __u64 *)&key)[i]);
	t->python.label = (__u32)(h >> 32) | 1;
	if (bpf_map_lookup_elem(&labels, &key))
		return 1;
	sent.tgid = t->tgid;
	sent.tid = t->tid;
	/* The thread knows its process's incarnation only after its first crossing. */
	sent.inc = py->inc;
	sent.t_ns = bpf_ktime_get_ns();
	sent.code = t->python.code;
	sent.file = t->python.file;
	sent.label = t->python.label;
	sent.at = t->python.at;
	sent.what = t->python.what;
	if (site_send(py, &sent))
		return 0;
	bpf_map_update_elem(&labels, &key, &reported, BPF_ANY);
	return 1;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Return what the functions in @seen (bits of enum code_part) wait at together. */
static __always_inline __u32 what_of(__u32 seen)
{
	if (seen & BIT(CODE_OTHER))
		return SBT_PYTHON_NOTHING;
	if (seen & BIT(CODE_BARRIER))
		return SBT_PYTHON_BARRIER;
	if (seen & BIT(CODE_POOL))
		return SBT_PYTHON_POOL;
	if (seen & BIT(CODE_FUTURES))
		return SBT_PYTHON_FUTURES;
	if (seen & BIT(CODE_QUEUE))
		return SBT_PYTHON_QUEUE;
	/* The library's own threads wait at events as timers. */
	if (!(seen & BIT(CODE_USER)))
		return SBT_PYTHON_NOTHING;
	if (seen & BIT(CODE_EVENT))
		return SBT_PYTHON_EVENT;
	/* notify() wakes one thread, and notify_all(), which calls it, all of them. */
	if (seen & BIT(CODE_WAIT) || (seen & BIT(CODE_NOTIFY) && seen & BIT(CODE_PASS)))
		return SBT_PYTHON_CONDITION;
	return SBT_PYTHON_NOTHING;
}

#define HELD_FRAMES 3
#define HELD_WORDS  8

/*
 * Set `held` to a hash of the local variables of the function that waits at a condition, and of its
 * callers (see sbt_crossing.held). @frame: that of the function.
 */
__noinline int python_note_held(__u32 index, __u64 frame)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 words[HELD_WORDS], h = 1;
	int i, k;

	if (!py || !t)
		return 0;
	for (i = 0; i < HELD_FRAMES && frame; i++) {
		if (bpf_probe_read_user(words, sizeof(words), (void *)(frame + py->layout.locals)))
			break;
		for (k = 0; k < HELD_WORDS; k++)
			h = hash_add(h, words[k]);
		frame = python_word(frame + py->layout.back);
	}
	t->python.held = (__u32)(h >> 32) | 1;
	return 0;
}

/* Read the texts of the frame's code object. Return its part. */
static __always_inline __u32 frame_part(const struct sbt_python *py, struct sbt_thread *t,
					__u32 index, __u64 frame)
{
	t->python.code = python_word(frame + py->layout.code);
	t->python.file = python_word(t->python.code + py->layout.file);
	/* co_name follows co_filename in all versions. */
	t->python.name = python_word(t->python.code + py->layout.file + 8);
	return t->python.file && t->python.name ? python_part(index) : CODE_OTHER;
}

static __always_inline __u32 frame_at(const struct sbt_python *py, const struct sbt_thread *t,
				      __u64 frame)
{
	return python_frame_at(py, t->python.code, frame);
}

/* --- attributes ------------------------------------------------------------------------------- */

#define TYPE_BASICSIZE 32 /* type: size of an object */
#define DICT_VALUES    40 /* dict: its values, if it shares its keys with other objects */
#define INT_SIZE       16 /* int: the number of digits, in a form that depends on the version */
#define INT_DIGITS     24

/*
 * Return where the values of an object's attributes are, in the order in which its class first set
 * them; 0: elsewhere, because the object has other attributes than the rest of its class.
 */
static __always_inline __u64 attributes(const struct sbt_python *py, __u64 object)
{
	__u64 at;

	switch (py->layout.minor) {
	case 9:
	case 10:
		return python_word(python_word(object + 16) + DICT_VALUES);
	case 11:
		return python_word(object - 32);
	case 12:
		at = python_word(object - 24);
		return at & 1 ? at - 1 : 0;
	default:
		at = object + python_word(python_word(object + SBT_PYTHON_TYPE) + TYPE_BASICSIZE);
		/* The values are valid if the fourth byte is 1. */
		return python_word(at) >> 24 & 1 ? at + 8 : 0;
	}
}

/* Return the value of an int of one digit, or 0. */
static __always_inline __u32 small_int(const struct sbt_python *py, __u64 object)
{
	__u64 size = python_word(object + INT_SIZE);
	__u32 digit = 0;

	if (!has_type(object, "int\0\0\0\0", 4) || size != (py->layout.minor >= 12 ? 1 << 3 : 1))
		return 0;
	bpf_probe_read_user(&digit, sizeof(digit), (void *)(object + INT_DIGITS));
	return digit;
}

/*
 * Read the number of threads of a barrier, its attribute _parties. threading.Barrier sets its
 * condition first and the number fourth, multiprocessing.Barrier the number first and the condition
 * fourth. If the condition is at neither place, a derived class has other attributes, and the
 * number stays unknown.
 */
__noinline int python_parties(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 at;

	if (!py || !t || !t->python.barrier)
		return 0;
	at = attributes(py, t->python.barrier);
	if (!at)
		return 0;
	if (python_word(at) == t->python.object) {
		t->python.parties = small_int(py, python_word(at + 24));
		/* The attribute _state, which follows: 0 filling, 1 draining. */
		t->python.releasing = small_int(py, python_word(at + 32)) == 1;
	} else if (python_word(at + 24) == t->python.object) {
		t->python.parties = small_int(py, python_word(at));
	}
	return 0;
}

/* --- the calling functions -------------------------------------------------------------------- */

/*
 * Begin with the innermost function. Return its part; CODE_OTHER: it is none in which threads wait
 * or notify.
 */
__noinline __u32 python_look_first(__u32 index, __u64 frame)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u32 part;

	if (!py || !t)
		return CODE_OTHER;
	part = frame_part(py, t, index, frame);
	if (part < CODE_WAIT || part > CODE_SHARED_NOTIFY ||
	    (part == CODE_SHARED_WAIT && !waits_for_others(t, frame_at(py, t, frame))))
		return CODE_OTHER;
	t->python.wakes = part == CODE_NOTIFY || part == CODE_SHARED_NOTIFY;
	t->python.shared = part >= CODE_SHARED_WAIT;
	t->python.object = python_word(frame + py->layout.locals);
	t->python.waiters = 0;
	if (part == CODE_NOTIFY)
		t->python.waiters = (__u32)python_word(
			python_word(frame + py->layout.locals + 8 * NOTIFY_WAITERS) +
			SBT_PYTHON_SIZE);
	t->python.at = frame_at(py, t, frame);
	t->python.barrier = 0;
	return t->python.object ? part : CODE_OTHER;
}

/*
 * Go on with a calling function. Return its part. If a thread of the library itself notifies, the
 * last function before those that begin a thread is the call site.
 */
__noinline __u32 python_look_further(__u32 index, __u64 frame)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 code, name, file;
	__u32 part;

	if (!py || !t)
		return CODE_OTHER;
	code = t->python.code;
	name = t->python.name;
	file = t->python.file;
	part = frame_part(py, t, index, frame);
	if (part == CODE_START) {
		t->python.code = code;
		t->python.name = name;
		t->python.file = file;
	} else {
		t->python.at = frame_at(py, t, frame);
	}
	/* The caller of Condition.wait() is Event.wait(), or Barrier.wait() with other callees. */
	if (part == CODE_WAIT) {
		t->python.barrier = python_word(frame + py->layout.locals);
		part = CODE_EVENT;
	}
	return part;
}

enum look { LOOK_ON, LOOK_DONE, LOOK_NOTHING };

/* Look at one frame. Return enum look. */
__noinline int python_look_frame(__u32 index, __u64 frame)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u32 part;

	if (!py || !t)
		return LOOK_NOTHING;
	if (python_is_c_frame(py, frame))
		return LOOK_ON;
	part = t->python.seen ? python_look_further(index, frame) : python_look_first(index, frame);
	t->python.seen |= BIT(part & 31);
	if (part == CODE_OTHER)
		return LOOK_NOTHING;
	return part == CODE_USER || part == CODE_START ? LOOK_DONE : LOOK_ON;
}

/* Return whether the function in t->python has so little code that it may be a barrier's. */
static __always_inline bool is_compact(const struct sbt_python *py, const struct sbt_thread *t)
{
	__u64 table = python_word(t->python.code + py->layout.lines);

	return python_word(table + SBT_PYTHON_SIZE) <= SBT_PYTHON_COMPACT(py->layout.minor);
}

/*
 * Set the labels of a call that waits or notifies at a condition. The function around it, which has
 * this frame, may be a barrier: then the call site is in its caller.
 */
__noinline int python_condition_site(__u32 index, __u64 frame)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;

	if (!py || !t || !python_site_label(index))
		return 0;
	t->python.within = t->python.label;
	if (!is_compact(py, t))
		return 1;
	frame = python_word(frame + py->layout.back);
	if (!frame || python_is_c_frame(py, frame) || frame_part(py, t, index, frame) != CODE_USER)
		return 1;
	t->python.at = frame_at(py, t, frame);
	return python_site_label(index);
}

__noinline int python_look(__u32 index, __u32 tid)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py;
	int i, look = LOOK_ON;
	__u64 frame, last = 0;

	if (!t || t->tid != tid)
		return 0;
	py = python_of(t);
	if (!py || !python_find_state(index))
		return 0;
	t->python.seen = 0;
	frame = python_first_frame(py, t->python.state);
	for (i = 0; i < FRAMES_MAX && frame && look == LOOK_ON; i++) {
		last = frame;
		look = python_look_frame(index, frame);
		frame = python_word(frame + py->layout.back);
	}
	if (look == LOOK_NOTHING)
		return 0;
	t->python.what = what_of(t->python.seen);
	t->python.parties = t->python.releasing = 0;
	if (t->python.what == SBT_PYTHON_BARRIER)
		python_parties(index);
	if (t->python.what == SBT_PYTHON_CONDITION) {
		python_note_held(index, last);
		return python_condition_site(index, last);
	}
	return t->python.what != SBT_PYTHON_NOTHING ? python_site_label(index) : 0;
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Above the innermost Python function there are at most two frames that execute no Python code. */
#define PLACE_FRAMES 3

/*
 * Set the code object and the label of the function that a thread with this state executes. The
 * thread may be running: if its frames change at this moment, what is read may be no function, and
 * the place stays unknown.
 */
static __noinline int place_of(struct sbt_thread *t, const struct sbt_python *py, __u32 index,
			       __u64 state)
{
	__u64 frame, code;
	__u8 what;
	int i;

	if (!t || !py)
		return 0;
	frame = python_first_frame(py, state);
	for (i = 0; i < PLACE_FRAMES && frame && python_is_c_frame(py, frame); i++)
		frame = python_word(frame + py->layout.back);
	if (!frame || python_is_c_frame(py, frame))
		return 0;
	code = python_word(frame + py->layout.code);
	if (!is_code(code))
		return 0;
	t->python.file = python_word(code + py->layout.file);
	t->python.name = python_word(code + py->layout.file + 8);
	t->python.code = code;
	t->python.at = python_frame_at(py, code, frame);
	/* The thread that wakes this one looks at what it waits at. */
	what = t->python.what;
	t->python.what = SBT_PYTHON_NOTHING;
	if (!python_site_label(index))
		t->python.label = 0;
	t->python.what = what;
	return 0;
}

__noinline int python_gil_wait(__u32 index, __u64 futex)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;
	__u64 gil, state, pthread;

	if (!py || !t)
		return 0;
	gil = gil_of(py);
	if (!gil || futex < gil + SBT_PYTHON_GIL_WAITS || futex >= gil + SBT_PYTHON_GIL_END)
		return 0;
	t->python.code = gil;
	t->python.label = t->python.holder = 0;
	state = python_word(gil + py->layout.holder);
	/* A thread that has given the GIL away waits until another thread has taken it. */
	if (!state || is_own(&py->layout, state, own_pthread(), t->tid))
		return 1;
	t->python.native = py->layout.state_native != 0;
	if (t->python.native) {
		t->python.holder = (__u32)python_word(state + py->layout.state_native);
	} else {
		pthread = python_word(state + py->layout.state_pthread);
		t->python.holder = (__u32)python_word(pthread + SBT_PYTHON_PTHREAD_TID);
	}
	place_of(t, py, index, state);
	return 1;
}

__noinline int python_wait_place(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	const struct sbt_python *py = t ? python_of(t) : NULL;

	if (!py || !t || !python_own_state(index))
		return 0;
	t->python.label = 0;
	place_of(t, py, index, t->python.state);
	return t->python.label != 0;
}

/* --- threads that wake other threads ---------------------------------------------------------- */

static __noinline int note_woken(struct sbt_thread *t, __u64 object)
{
	struct sbt_object key = { .address = object };
	__u64 now;

	if (!t)
		return 0;
	key.tgid = t->tgid;
	key.inc = t->inc;
	now = t->python.woke_ns;
	bpf_map_update_elem(&python_woken, &key, &now, BPF_ANY);
	return 0;
}

/* Note the arrival and departure of the current thread, which wakes the threads of an episode. */
static __always_inline void wakes_at(struct sbt_thread *t, __u32 index, __u64 object)
{
	t->entry = t->sp = 0;
	t->object = object;
	t->ip = 0;
	t->words_object = 0;
	t->words = t->python.parties;
	t->family = SBT_FAMILY_PYTHON;
	if (t->python.what == SBT_PYTHON_CONDITION) {
		t->words = t->python.within;
		t->family = SBT_FAMILY_PYTHON_COND;
	}
	t->kind = SBT_KIND_EXPLICIT;
	t->spec = 0;
	t->index = t->own_index;
	t->label = t->python.label;
	t->how = t->marked = t->team = 0;
	t->flags = SBT_CROSSING_NO_IP;
	t->arrive_cpu = bpf_get_smp_processor_id();
	t->arrive_ns = crossing_arrive(index, t->tid);
	t->python.woke_object = object;
	t->python.woke_ns = t->arrive_ns;
	note_woken(t, object);
	crossing_write(index, t->tid, t->arrive_ns, t->arrive_ns);
}

/* Return the address of the futex word that the current system call names; 0: unknown. */
static __noinline __u64 futex_word(void)
{
	struct pt_regs___kernel *regs = own_regs();
	struct user_call call = {};

	if (regs)
		user_call(regs, &call);
	return call.arg[0];
}

/* Return when the thread began to wait at an object of Python; 0: it does not. */
static __always_inline __u64 waits_since(const struct sbt_thread *t)
{
	if (t->arrive_ns)
		return is_python_family(t->family) ? t->arrive_ns : 0;
	return t->waiting.family == SBT_FAMILY_PYTHON_COND ? t->waiting.since_ns : 0;
}

/* The current thread, in slot @index, wakes the threads that wait at @object. */
static __always_inline void wakes(struct sbt_thread *t, __u32 index, __u64 object)
{
	if (t->python.what == SBT_PYTHON_CONDITION && python_condition_wake(index))
		note_woken(t, object);
	else
		wakes_at(t, index, object);
}

/*
 * Return whether the call that wakes the thread has already woken another one: the list of waiting
 * threads has become shorter. Then this thread has not left a wait since. It was delayed before it
 * could sleep.
 */
static __always_inline bool is_same_call(const struct sbt_thread *t, const struct sbt_thread *woken)
{
	return t->python.waiters && t->python.waiters < t->python.woke_waiters &&
	       woken->python.left_ns < t->python.woke_ns;
}

/* A call that woke another thread at @woke_ns wakes this one, which arrived before. */
static __always_inline void woken_too(struct sbt_thread *woken, __u64 woke_ns)
{
	woken->python.notified = 1;
	if (woken->arrive_ns > woke_ns)
		woken->arrive_ns = woke_ns - 1;
	else if (!woken->arrive_ns && woken->waiting.since_ns > woke_ns)
		woken->waiting.since_ns = woke_ns - 1;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(python_waking, struct task_struct *task)
{
	__u64 object, since;
	struct sbt_thread *woken, *t;
	__u32 index = 0;

	/* If config.account is set, every traced thread is counted in `marks`. */
	if ((config.account && !marks[task->pid & (SBT_MARKS - 1)]) || !armed || ended)
		return 0;
	woken = thread_find(task->pid, &index);
	since = woken ? waits_since(woken) : 0;
	if (!since)
		return 0;
	t = thread_here(&index);
	if (!t || t == woken || t->arrive_ns || t->detached & PYTHON_GROUPS)
		return 0;
	if (!python_look(index, t->tid) || !t->python.wakes ||
	    t->python.what != woken->python.what || t->python.shared != woken->python.shared)
		return 0;
	object = t->python.shared ? futex_word() : t->python.object;
	/* A condition that is not shared is the same for both threads. */
	if (!object || (!t->python.shared && object != woken->python.object))
		return 0;
	/* Each thread that the wake-up ends is woken; one crossing stands for all of them. */
	if (t->python.woke_object == object &&
	    (t->python.woke_ns > since || is_same_call(t, woken))) {
		woken_too(woken, t->python.woke_ns);
		t->python.woke_waiters = t->python.waiters;
		return 0;
	}
	/*
	 * An event for which a single thread waits is a flag, and no barrier. When the first thread
	 * is woken, the list still has all of them.
	 */
	if (t->python.what == SBT_PYTHON_EVENT && t->python.waiters < 2)
		return 0;
	woken->python.notified = 1;
	t->python.woke_waiters = t->python.waiters;
	wakes(t, index, object);
	return 0;
}
