/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Named barriers and phases for programs that sbt-trace may trace. C99 or C++11, POSIX threads.
 * This header is all that a program needs, besides POSIX threads. The interface is that of the SBT
 * library (E. Novillo, 2002, appendix B and section 4.2); sbt-trace does the measuring:
 *
 *	#define SBT_BARRIER  my_barrier		// the barrier that the macros use
 *	#define SBT_THREADID my_id		// number of the calling thread: variable or call
 *	#include <pthread.h>
 *	#include "sbt/sbt.h"
 *
 *	sbt_barrier_t *SBT_BARRIER;
 *
 *	SBT_BARRIER = sbt_init(4, argc, argv);	// for 4 threads; NULL with errno: no barrier
 *	BARRIER;				// wait; reported by file and line
 *	N_BARRIER("End initialization");	// wait; reported by name
 *	L_BARRIER;				// wait in a loop: summed up, reported at the end
 *	NL_BARRIER("End iteration");		// the same with a name
 *	sbt_finalize();				// at the end, when no thread waits at a barrier
 *
 * Programs with other barriers, and programs with one thread, can use the markers alone:
 *
 *	SBT_THREAD(id);				// from here on the calling thread is number id
 *	SBT_PHASE("read");			// here the calling thread's phase "read" ends
 *	SBT_PHASE_BEGIN("solve");		// ... and here a phase with its own name begins,
 *	SBT_PHASE_END("solve");			// with any barriers and phases inside
 *
 *	SBT_READ(owner, bytes);			// the calling thread reads this many bytes of the
 *	SBT_WRITE(owner, bytes);		// data of thread number owner, or writes them:
 *						// see sbt-trace predict
 *
 * With -DSBT_OFF only a call of pthread_barrier_wait() is left. Parts of a program compiled with
 * and without it can be mixed.
 *
 * Tracers see notes in the format of SystemTap (section .note.stapsdt), provider "sbt", so perf,
 * bpftrace, gdb and other tools can use them, too. A marker is one nop while no tool uses it; the
 * program never checks for a tracer. A value that is not in a register yet (the address of the
 * string in SBT_PHASE) is loaded into one first. There are markers on x86-64 and arm64 only.
 *
 *	marker		arguments
 *	enter		object, thread, file, line, name, loop, count
 *	leave		object
 *	phase		name, file, line, kind (enum sbt_phase_kind)
 *	thread		thread
 *	access		owner, bytes, kind (enum sbt_access_kind)
 *	init		argc, argv, object, count
 *	finalize	(none)
 *
 *	object	8	address of the sbt_barrier_t, and of the pthread_barrier_t at its start
 *	thread	-4	SBT_THREADID of the calling thread
 *	file	8	address of a string: __FILE__, as the compiler was given it
 *	line	-4	__LINE__
 *	name	8	address of a string, or 0: without a name. The string may change.
 *	loop	-4	not 0: a loop barrier
 *	count	-4	number of threads that wait at the barrier
 *	owner	-4	number of the thread that owns the data
 *	bytes	-4	number of bytes
 *	argc	-4	as given to sbt_init()
 *	argv	8	address of argc pointers to strings, not yet sorted by sbt_init()
 *
 * The number after the name is the size in bytes, negative if signed, as notes state it. Operands
 * are registers and constants. The exception is count in enter, which is in memory, at a constant
 * offset from the register of object. After enter, the next marker that a thread hits is leave,
 * unless the thread never returns. pthread_barrier_wait() on the same object is between the two. A
 * literal that was never read may not be in memory yet. A probe that must not sleep cannot read
 * such a literal. Its tool has to read the string from the file instead.
 */
#ifndef SBT_SBT_H
#define SBT_SBT_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#ifndef PTHREAD_BARRIER_SERIAL_THREAD
#error "sbt.h needs POSIX barriers: -std=gnu11 or such, or -D_POSIX_C_SOURCE=200112L"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum sbt_phase_kind { SBT_PHASE_KIND_POINT = 0, SBT_PHASE_KIND_BEGIN = 1, SBT_PHASE_KIND_END = 2 };

enum sbt_access_kind { SBT_ACCESS_READ = 1, SBT_ACCESS_WRITE = 2 };

/* --- what is marked, and how ------------------------------------------------------------------ */

#if !defined(SBT_OFF) && defined(__ELF__) && defined(__LP64__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#define SBT_PRIV_MARKS 1
#else
#define SBT_PRIV_MARKS 0
#endif

/*
 * With __inline__, compilers take a note for a single instruction. Otherwise the many lines of a
 * note would count as code when compilers decide what to inline.
 */
#if (defined(__clang__) && __clang_major__ >= 11) || (!defined(__clang__) && __GNUC__ >= 9)
#define SBT_PRIV_ASM __asm__ __volatile__ __inline__
#else
#define SBT_PRIV_ASM __asm__ __volatile__
#endif

/*
 * SBT_PRIV_INT precedes the number of an int among the operands of the asm statement; addresses
 * have "8@%". SBT_PRIV_FIELD is an int in memory. Its address is the sum of operand 0, an address,
 * and operand 6, a number of bytes. The expression is written by hand, because compilers might use
 * a symbol, and write the expression differently with -masm=intel.
 */
#ifdef __aarch64__
#define SBT_PRIV_INT   "-4@%w"
#define SBT_PRIV_FIELD "-4@[%0, %c6]"
#else
#define SBT_PRIV_INT   "-4@%"
#define SBT_PRIV_FIELD "-4@%c6(%0)"
#endif

/*
 * A nop and its note. The note has three words of header, the owner's name, the address of the nop,
 * the address of .stapsdt.base when the note was made (prelink moves the code together with that
 * section, but does not change notes), no semaphore, then three strings. "?" keeps the note in the
 * group of the function that it describes, so that the linker drops both together.
 */
#define SBT_PRIV_MARK(marker, args)                                             \
	"1: nop\n"                                                              \
	".pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
	".balign 4\n"                                                           \
	".4byte 3f-2f, 5f-4f, 3\n"                                              \
	"2: .asciz \"stapsdt\"\n"                                               \
	"3: .balign 4\n"                                                        \
	"4: .8byte 1b, _.stapsdt.base, 0\n"                                     \
	".asciz \"sbt\"\n"                                                      \
	".asciz \"" marker "\"\n"                                               \
	".asciz \"" args "\"\n"                                                 \
	"5: .balign 4\n"                                                        \
	".popsection\n"                                                         \
	".ifndef _.stapsdt.base\n"                                              \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n"                                                \
	".hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                            \
	".size _.stapsdt.base, 1\n"                                             \
	".popsection\n"                                                         \
	".endif\n"

#if SBT_PRIV_MARKS
#define SBT_PRIV_ENTER(b, thd_id, file, line, name, loop)                                  \
	SBT_PRIV_ASM(SBT_PRIV_MARK("enter", "8@%0 " SBT_PRIV_INT "1 8@%2 " SBT_PRIV_INT    \
					    "3 8@%4 " SBT_PRIV_INT "5 " SBT_PRIV_FIELD)    \
		     :                                                                     \
		     : "r"(b), "nr"(thd_id), "r"(file), "nr"(line), "r"(name), "nr"(loop), \
		       "n"(offsetof(sbt_barrier_t, thread_count)))
#define SBT_PRIV_LEAVE(b) SBT_PRIV_ASM(SBT_PRIV_MARK("leave", "8@%0") : : "r"(b))
/* "memory": the compiler moves no memory access across the marker. */
#define SBT_PRIV_PHASE(name, kind)                                                           \
	SBT_PRIV_ASM(SBT_PRIV_MARK("phase", "8@%0 8@%1 " SBT_PRIV_INT "2 " SBT_PRIV_INT "3") \
		     :                                                                       \
		     : "r"((const char *)(name)), "r"((const char *)__FILE__),               \
		       "nr"((int)__LINE__), "nr"((int)(kind))                                \
		     : "memory")
#define SBT_PRIV_THREAD(id) \
	SBT_PRIV_ASM(SBT_PRIV_MARK("thread", SBT_PRIV_INT "0") : : "nr"((int)(id)))
#define SBT_PRIV_ACCESS(owner, bytes, kind)                                                        \
	SBT_PRIV_ASM(SBT_PRIV_MARK("access", SBT_PRIV_INT "0 " SBT_PRIV_INT "1 " SBT_PRIV_INT "2") \
		     :                                                                             \
		     : "nr"((int)(owner)), "nr"((int)(bytes)), "nr"((int)(kind))                   \
		     : "memory")
#define SBT_PRIV_INIT(argc, argv, b, count)                                              \
	SBT_PRIV_ASM(SBT_PRIV_MARK("init", SBT_PRIV_INT "0 8@%1 8@%2 " SBT_PRIV_INT "3") \
		     :                                                                   \
		     : "nr"(argc), "r"(argv), "r"(b), "nr"(count)                        \
		     : "memory")
#define SBT_PRIV_FINALIZE() SBT_PRIV_ASM(SBT_PRIV_MARK("finalize", "") : : : "memory")
#else
#define SBT_PRIV_ENTER(b, thd_id, file, line, name, loop) \
	((void)(thd_id), (void)(file), (void)(line), (void)(name), (void)(loop))
#define SBT_PRIV_LEAVE(b)		    ((void)0)
#define SBT_PRIV_PHASE(name, kind)	    ((void)(name))
#define SBT_PRIV_THREAD(id)		    ((void)(id))
#define SBT_PRIV_ACCESS(owner, bytes, kind) ((void)(owner), (void)(bytes))
#define SBT_PRIV_INIT(argc, argv, b, count) ((void)0)
#define SBT_PRIV_FINALIZE()		    ((void)0)
#endif

/* One copy of a function, at one address, for all callers and arguments. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define SBT_PRIV_ONE_COPY __attribute__((noipa, unused))
#else
#define SBT_PRIV_ONE_COPY __attribute__((noinline, unused))
#endif

/* --- phases (section 6.2) --------------------------------------------------------------------- */

/* From here on the calling thread has number @id (counted from 0), even if no barrier states it. */
#define SBT_THREAD(id) SBT_PRIV_THREAD(id)

/* Here the calling thread's phase @name ends, and its next phase begins. */
#define SBT_PHASE(name)	      SBT_PRIV_PHASE(name, SBT_PHASE_KIND_POINT)
/*
 * Here a conceptual phase of the calling thread begins. If several threads begin it together, that
 * counts as one occurrence of the phase, even if barriers lie inside it. Phases with different
 * names may nest and overlap.
 */
#define SBT_PHASE_BEGIN(name) SBT_PRIV_PHASE(name, SBT_PHASE_KIND_BEGIN)
/* The conceptual phase @name ends here. Names are compared as text, not by address. */
#define SBT_PHASE_END(name)   SBT_PRIV_PHASE(name, SBT_PHASE_KIND_END)

/* --- ownership of data (for predictions) ------------------------------------------------------ */

/*
 * Here the calling thread reads (writes) @bytes that belong to thread number @owner. Threads are
 * numbered by SBT_THREAD or by the barriers. Without shared memory the calling thread would have to
 * request the bytes from that thread (send the bytes to it). Each use of the macro is one message
 * on the predicted machine, whether it stands for an element, a row or a whole boundary.
 */
#define SBT_READ(owner, bytes)	SBT_PRIV_ACCESS(owner, bytes, SBT_ACCESS_READ)
#define SBT_WRITE(owner, bytes) SBT_PRIV_ACCESS(owner, bytes, SBT_ACCESS_WRITE)

/* --- barriers --------------------------------------------------------------------------------- */

/* The layout is the same with and without SBT_OFF, in C and in C++. */
typedef struct sbt_barrier_s {
	pthread_barrier_t barrier; /* first, so that both structs have the same address */
	int thread_count; /* number of threads that wait at it */
	struct sbt_barrier_s *next; /* list of the barriers that sbt_finalize() will release */
} sbt_barrier_t;

struct sbt_priv_env {
	pthread_mutex_t lock;
	sbt_barrier_t *barriers;
};

/* One for all files of a program or library that include this header. */
__attribute__((weak, visibility("hidden"))) struct sbt_priv_env sbt_priv_env = {
	PTHREAD_MUTEX_INITIALIZER, NULL
};

/*
 * Create a barrier for @count threads. Return NULL and set errno if @count is below 1 or there is
 * no memory.
 */
static inline sbt_barrier_t *sbt_barrier_create(int count)
{
	sbt_barrier_t *b;
	int err;

	if (count < 1) {
		errno = EINVAL;
		return NULL;
	}
	b = (sbt_barrier_t *)malloc(sizeof(*b));
	if (!b)
		return NULL;
	err = pthread_barrier_init(&b->barrier, NULL, (unsigned int)count);
	if (err) {
		free(b);
		errno = err;
		return NULL;
	}
	b->thread_count = count;
	pthread_mutex_lock(&sbt_priv_env.lock);
	b->next = sbt_priv_env.barriers;
	sbt_priv_env.barriers = b;
	pthread_mutex_unlock(&sbt_priv_env.lock);
	return b;
}

/*
 * Release a barrier. pthread_barrier_destroy() waits until all threads have left the barrier, and
 * after that, they do not touch b. So the last arriver may release the barrier at once. If the C
 * library reports that the barrier is still in use, it is kept.
 */
static inline void sbt_priv_release(sbt_barrier_t *b)
{
	if (!pthread_barrier_destroy(&b->barrier))
		free(b);
}

/*
 * Release a barrier before the end of the program. sbt_finalize() releases the remaining barriers.
 * No thread may wait at it.
 */
static inline void sbt_barrier_destroy(sbt_barrier_t *b)
{
	sbt_barrier_t **at;

	pthread_mutex_lock(&sbt_priv_env.lock);
	for (at = &sbt_priv_env.barriers; *at && *at != b; at = &(*at)->next)
		;
	if (*at)
		*at = b->next;
	else
		b = NULL;
	pthread_mutex_unlock(&sbt_priv_env.lock);
	if (b)
		sbt_priv_release(b);
}

/*
 * Wait until b->thread_count threads have arrived. @thd_id: the calling thread's number, from 0.
 * @name may be NULL. @loop: not 0 for a loop barrier. Tracers read the strings, perhaps later, so
 * they should be literals. A string that changes is read at once where possible.
 */
SBT_PRIV_ONE_COPY static void sbt_barrier(sbt_barrier_t *b, int thd_id, const char *file, int line,
					  const char *name, int loop)
{
	SBT_PRIV_ENTER(b, thd_id, file, line, name, loop);
	pthread_barrier_wait(&b->barrier);
	SBT_PRIV_LEAVE(b);
}

/* These are macros so that each use has its own line number. */
#define BARRIER		 sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, __LINE__, NULL, 0)
#define N_BARRIER(name)	 sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, __LINE__, (name), 0)
#define L_BARRIER	 sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, __LINE__, NULL, 1)
#define NL_BARRIER(name) sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, __LINE__, (name), 1)

/* --- begin and end ---------------------------------------------------------------------------- */

/*
 * Return whether @arg names an option of the SBT library (appendix A) or of libperfex. The next
 * argument is then its value.
 */
static inline int sbt_is_option(const char *arg)
{
	static const char *const names[] = {
		"SBT_WATCH",	   "SBT_WATCH_ALL", "SBT_WARN_TIME", "SBT_WARNINGS",
		"SBT_PHASE_TIMES", "SBT_NO_DEBUG",  "SBT_OPTIONS",   "SBT_EVENTS",
		"SBT_VERBOSE",	   "T5_EVENT0",	    "T5_EVENT1",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i]))
			return 1;
	return 0;
}

/*
 * Move the options of SBT and their values behind the program's own arguments. The order within
 * each of the two groups stays the same. Return the number of the program's own arguments, argv[0]
 * included: argc without the options. An option without a value is the program's own.
 */
static inline int sbt_args(int argc, char **argv)
{
	int own = argc > 0, i = own;
	char *arg;

	while (i < argc) {
		if (i + 1 < argc && sbt_is_option(argv[i])) {
			i += 2;
			continue;
		}
		arg = argv[i];
		memmove(&argv[own + 1], &argv[own], (size_t)(i - own) * sizeof(*argv));
		argv[own++] = arg;
		i++;
	}
	return own;
}

/*
 * Create the barrier for @count threads; call it before they begin. Options for sbt-trace on the
 * command line are moved behind the program's own arguments. A program that counts its arguments
 * sets argc = sbt_args(argc, argv) after this. argc may be 0. On failure, return NULL and set
 * errno, like sbt_barrier_create().
 */
static inline sbt_barrier_t *sbt_init(int count, int argc, char **argv)
{
	sbt_barrier_t *b = sbt_barrier_create(count);

	SBT_PRIV_INIT(argc, argv, b, count);
	sbt_args(argc, argv);
	return b;
}

/*
 * Release every barrier. No thread may be waiting at a barrier. Tracers see the marker "finalize".
 */
static inline void sbt_finalize(void)
{
	sbt_barrier_t *b, *next;

	SBT_PRIV_FINALIZE();
	pthread_mutex_lock(&sbt_priv_env.lock);
	b = sbt_priv_env.barriers;
	sbt_priv_env.barriers = NULL;
	pthread_mutex_unlock(&sbt_priv_env.lock);
	for (; b; b = next) {
		next = b->next;
		sbt_priv_release(b);
	}
}

/* --- times ------------------------------------------------------------------------------------ */

static inline int sbt_msec(struct timeval t1, struct timeval t2)
{
	return (int)(((long long)(t2.tv_sec - t1.tv_sec) * 1000000 + (t2.tv_usec - t1.tv_usec)) /
		     1000);
}

static inline double sbt_sec(struct timeval t1, struct timeval t2)
{
	return (double)(t2.tv_sec - t1.tv_sec) + (double)(t2.tv_usec - t1.tv_usec) / 1e6;
}

static inline void sbt_time(struct timeval t)
{
	time_t sec = t.tv_sec;
	struct tm tm;

	if (localtime_r(&sec, &tm))
		printf("%02d:%02d:%02d.%03d\n", tm.tm_hour, tm.tm_min, tm.tm_sec,
		       (int)(t.tv_usec / 1000));
}

/* The time from t1 to t2 (struct timeval): in whole milliseconds (int), or in seconds (double). */
#define SBT_MSEC(t1, t2) sbt_msec((t1), (t2))
#define SBT_SEC(t1, t2)	 sbt_sec((t1), (t2))
/* Print the local time t and a line break to stdout: 11:09:44.469 */
#define SBT_TIME(t)	 sbt_time(t)

#ifdef __cplusplus
}
#endif

#endif /* SBT_SBT_H */
