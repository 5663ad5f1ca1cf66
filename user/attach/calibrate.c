// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS  9
#define CALLS 200

/*
 * The object's address comes in the first argument and is not touched. The first instruction is what
 * matters: push is emulated by the kernel, mov is not. The one whose is also calls what is in its second argument, if anything
 * is.
 */
#if defined(__x86_64__)
__asm__(".text\n"
	".balign 16\n"
	".globl calibrate_emulated\n"
	".type calibrate_emulated, @function\n"
	"calibrate_emulated:\n"
	"	push %rbp\n"
	"	test %rsi, %rsi\n"
	"	jz 1f\n"
	"	call *%rsi\n"
	"1:	pop %rbp\n"
	".globl calibrate_emulated_exit\n"
	"calibrate_emulated_exit:\n"
	"	ret\n"
	".balign 16\n"
	".globl calibrate_stepped\n"
	".type calibrate_stepped, @function\n"
	"calibrate_stepped:\n"
	"	mov %rdi, %rax\n"
	".globl calibrate_stepped_exit\n"
	"calibrate_stepped_exit:\n"
	"	ret\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".balign 16\n"
	".globl calibrate_emulated\n"
	".type calibrate_emulated, @function\n"
	"calibrate_emulated:\n"
	"	nop\n"
	"	cbz x1, 1f\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	blr x1\n"
	"	ldp x29, x30, [sp], #16\n"
	"1:\n"
	".globl calibrate_emulated_exit\n"
	"calibrate_emulated_exit:\n"
	"	ret\n"
	".globl calibrate_stepped\n"
	".type calibrate_stepped, @function\n"
	"calibrate_stepped:\n"
	"	mov x1, x0\n"
	".globl calibrate_stepped_exit\n"
	"calibrate_stepped_exit:\n"
	"	ret\n");
#endif

extern void calibrate_emulated(void *object, void (*inner)(void *object));
extern void calibrate_stepped(void *object, void (*inner)(void *object));
extern const char calibrate_emulated_exit[], calibrate_stepped_exit[];

struct find {
	uintptr_t vaddr;
	uint64_t offset;
	bool found;
};

/* The executable comes first: its own segments turn our addresses into file offsets. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *data)
{
	struct find *find = data;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && find->vaddr >= start &&
		    find->vaddr < start + p->p_filesz) {
			find->offset = find->vaddr - start + p->p_offset;
			find->found = true;
		}
	}
	return 1;
}

int calibrate_place(bool stepped, struct attach_place *place, uint64_t exits[1])
{
	void (*function)(void *, void (*)(void *)) =
		stepped ? calibrate_stepped : calibrate_emulated;
	const char *exit = stepped ? calibrate_stepped_exit : calibrate_emulated_exit;
	struct find find = { .vaddr = (uintptr_t)function };

	dl_iterate_phdr(find_offset, &find);
	if (!find.found)
		return -ENOENT;
	place->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (place->fd < 0)
		return -errno;
	place->spec = (struct sbt_spec){
		.family = SBT_FAMILY_PTHREAD,
		.role = SBT_ROLE_BARRIER,
		.words_offset = 8,
		.object.how = SBT_ARG_FIRST,
	};
	place->entry = find.offset;
	exits[0] = find.offset + ((uintptr_t)exit - (uintptr_t)function);
	place->exits = exits;
	place->nexits = 1;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(values[0]), compare);
	return values[n / 2];
}

void calibrate_call(void)
{
	void (*volatile call)(void *, void (*)(void *)) = calibrate_emulated;
	uint64_t object[4] = { 0, 1 };

	call(object, NULL);
}

double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx)
{
	void (*volatile call)(void *, void (*)(void *)) =
		stepped ? calibrate_stepped : calibrate_emulated;
	uint64_t object[4] = { 0, 1 }, begin;
	double run[RUNS];
	int i, j;

	for (i = 0; i < RUNS; i++) {
		begin = now_ns();
		for (j = 0; j < CALLS; j++)
			call(object, NULL);
		run[i] = (double)(now_ns() - begin) / CALLS;
		drain(ctx);
	}
	return median(run, RUNS);
}

/* --- two that meet --------------------------------------------------------------------------------- */

#define PAIR_WORK_NS 10000
#define PAIR_BATCHES 9 /* of either kind, in turns */
#define PAIR_BEYOND \
	2 /* of nine in order, the median lies between the second from below and from above with 96 % */
#define PAIR_BLOCKS 4 /* in a batch: each is timed, and the shortest counts */
#define PAIR_ROUNDS 6 /* in a block */

struct calibrate_pair {
	uint64_t object[4]; /* first: what the probe sees is this */
	pthread_t thread;
	uint32_t tid; /* of the thread */
	int events
		[2]; /* eventfds, by turns: who came first sleeps there, and the other may be first to the next */
	uint32_t come;
};

/* A barrier of two. What it sleeps by is not what barriers are looked for at. */
static void pair_meet(void *ctx)
{
	struct calibrate_pair *p = ctx;
	uint32_t come = __atomic_fetch_add(&p->come, 1, __ATOMIC_ACQ_REL);
	int event = p->events[come >> 1 & 1];
	uint64_t one = 1;
	ssize_t n;

	n = come & 1 ? write(event, &one, sizeof(one)) : read(event, &one, sizeof(one));
	(void)n;
}

static void pair_round(struct calibrate_pair *p, bool probed)
{
	void (*volatile call)(void *, void (*)(void *)) = calibrate_emulated;
	uint64_t begin = now_ns();

	while (now_ns() - begin < PAIR_WORK_NS)
		;
	if (probed)
		call(p, pair_meet);
	else
		pair_meet(p);
}

/* ns a round in the shortest of its blocks: others had somebody else on their CPU. The first round is none of them. */
static double pair_batch(struct calibrate_pair *p, bool probed)
{
	uint64_t begin, ns, least = UINT64_MAX;
	int i, j;

	pair_round(p, probed);
	for (i = 0; i < PAIR_BLOCKS; i++) {
		begin = now_ns();
		for (j = 0; j < PAIR_ROUNDS; j++)
			pair_round(p, probed);
		ns = now_ns() - begin;
		if (ns < least)
			least = ns;
	}
	return (double)least / PAIR_ROUNDS;
}

static void *pair_other(void *ctx)
{
	struct calibrate_pair *p = ctx;
	int i;

	__atomic_store_n(&p->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pair_meet(p);
	for (i = 0; i < PAIR_BATCHES; i++) {
		pair_meet(p);
		pair_batch(p, false);
		pair_batch(p, true);
	}
	pair_meet(p);
	return NULL;
}

static void pair_close(struct calibrate_pair *p)
{
	int i;

	for (i = 0; i < 2; i++)
		if (p->events[i] >= 0)
			close(p->events[i]);
	free(p);
}

int calibrate_pair_new(struct calibrate_pair **out)
{
	struct calibrate_pair *p = calloc(1, sizeof(*p));
	int err;

	*out = p;
	if (!p)
		return -ENOMEM;
	/* What a probe takes for the object's count, at offset 8. */
	p->object[1] = 2;
	p->events[0] = eventfd(0, EFD_CLOEXEC);
	p->events[1] = eventfd(0, EFD_CLOEXEC);
	err = p->events[0] < 0 || p->events[1] < 0
		      ? EMFILE
		      : pthread_create(&p->thread, NULL, pair_other, p);
	if (!err) {
		pair_meet(p);
		return 0;
	}
	pair_close(p);
	*out = NULL;
	return -err;
}

void calibrate_pair_free(struct calibrate_pair *p, void (*forget)(void *ctx, uint32_t tid),
			 void *ctx)
{
	pthread_join(p->thread, NULL);
	forget(ctx, p->tid);
	pair_close(p);
}

double calibrate_pair_run(struct calibrate_pair *p, void (*forget)(void *ctx, uint32_t tid),
			  void *ctx, double *spread)
{
	double bare, middle, longer[PAIR_BATCHES];
	int i;

	for (i = 0; i < PAIR_BATCHES; i++) {
		/* The other one has left what it met here last: nothing is at its slot any more. */
		pair_meet(p);
		forget(ctx, p->tid);
		forget(ctx, (uint32_t)syscall(SYS_gettid));
		bare = pair_batch(p, false);
		longer[i] = pair_batch(p, true) - bare;
	}
	pair_meet(p);
	middle = median(longer, PAIR_BATCHES);
	*spread = (longer[PAIR_BATCHES - PAIR_BEYOND] - longer[PAIR_BEYOND - 1]) / 2;
	return middle;
}
