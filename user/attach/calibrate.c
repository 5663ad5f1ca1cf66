// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/calibrate.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNS  9
#define CALLS 200

/*
 * Two functions that look like barriers to a probe. Their first argument is the object's address,
 * which they do not access. They differ in the first instruction, which is probed: the kernel
 * emulates push and nop, but must single-step mov.
 */
#if defined(__x86_64__)
__asm__(".text\n"
	".balign 16\n"
	".globl calibrate_emulated\n"
	".type calibrate_emulated, @function\n"
	"calibrate_emulated:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
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

extern void calibrate_emulated(void *object);
extern void calibrate_stepped(void *object);
extern const char calibrate_emulated_exit[], calibrate_stepped_exit[];

struct find {
	uintptr_t vaddr;
	uint64_t offset;
	bool found;
};

/*
 * Convert the address of our function to a file offset, by the segments of the executable. Then
 * stop, because the executable is the first object that dl_iterate_phdr() visits.
 */
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

int calibrate_probe_site(bool stepped, struct attach_probe_site *probe_site, uint64_t exits[1])
{
	void (*function)(void *) = stepped ? calibrate_stepped : calibrate_emulated;
	const char *exit = stepped ? calibrate_stepped_exit : calibrate_emulated_exit;
	struct find find = { .vaddr = (uintptr_t)function };

	dl_iterate_phdr(find_offset, &find);
	if (!find.found)
		return -ENOENT;
	probe_site->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (probe_site->fd < 0)
		return -errno;
	probe_site->spec = (struct sbt_spec){
		/* Measure the probe of a pthread barrier. */
		.family = SBT_FAMILY_PTHREAD,
		.role = SBT_ROLE_BARRIER,
		.words_offset = 8,
		.object.how = SBT_ARG_FIRST,
	};
	probe_site->entry = find.offset;
	exits[0] = find.offset + ((uintptr_t)exit - (uintptr_t)function);
	probe_site->exits = exits;
	probe_site->nexits = 1;
	return 0;
}

/* Return the lower quartile, because other load on the machine lengthens some runs. */
static double quartile(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(values[0]), number_compare_double);
	return values[n / 4];
}

static void (*stand_in(bool stepped))(void *object)
{
	return stepped ? calibrate_stepped : calibrate_emulated;
}

void calibrate_call_at(bool stepped, void *object)
{
	void (*volatile call)(void *) = stand_in(stepped);

	call(object);
}

void calibrate_call(bool stepped)
{
	uint64_t object[4] = { 0, 1 };

	calibrate_call_at(stepped, object);
}

double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx)
{
	void (*volatile call)(void *) = stand_in(stepped);
	uint64_t object[4] = { 0, 1 }, begin;
	double run[RUNS];
	int i, j;

	for (i = 0; i < RUNS; i++) {
		begin = now_ns();
		for (j = 0; j < CALLS; j++)
			call(object);
		run[i] = (double)(now_ns() - begin) / CALLS;
		drain(ctx);
	}
	return quartile(run, RUNS);
}

double calibrate_handler(bool stepped, void (*drain)(void *ctx), void *ctx, uint32_t *last_ns)
{
	void (*volatile call)(void *) = stand_in(stepped);
	uint64_t object[4] = { 0, 1 }, sum, n;
	double run[RUNS] = { 0 };
	int i, j, runs = 0;
	uint32_t handler_ns;

	for (i = 0; i < RUNS; i++) {
		sum = n = 0;
		for (j = 0; j < CALLS; j++) {
			call(object);
			handler_ns = __atomic_exchange_n(last_ns, 0, __ATOMIC_RELAXED);
			sum += handler_ns;
			n += handler_ns > 0;
		}
		if (n)
			run[runs++] = (double)sum / (double)n;
		drain(ctx);
	}
	return runs ? quartile(run, runs) : NAN;
}
