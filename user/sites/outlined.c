// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/outlined.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "sites/family.h"
#include "elf/frames.h"

#define TARGETS_MAX 256
#define CODE_MAX    (256u << 20)
#define CHUNK	    (1u << 20)
#define CALL_LEN    5 /* size of a direct call instruction, in bytes: e8 rel32 */
/*
 * How many bytes before a call are searched for the start of the function that contains the call.
 * These bytes may be in the previous chunk.
 */
#define LOOK_BACK   65536

/* The functions of a file, by address. */
struct table {
	struct elf_symbol *functions;
	uint8_t *wanted;
	size_t n, cap;
};

static int table_add(void *ctx, uint64_t start, uint64_t len)
{
	struct table *t = ctx;

	if (grow(t->functions, t->cap, t->n + 1))
		return -ENOMEM;
	t->functions[t->n++] = (struct elf_symbol){ .vaddr = start, .size = len };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	return NUMBER_COMPARE(x->vaddr, y->vaddr);
}

static bool table_want(struct table *t, uint64_t vaddr)
{
	const struct elf_symbol key = { .vaddr = vaddr }, *found;

	found = bsearch(&key, t->functions, t->n, sizeof(key), compare);
	if (!found)
		return false;
	t->wanted[found - t->functions] = 1;
	return true;
}

/*
 * Addresses that show calls of certain functions of the runtime: the functions themselves, their
 * entries in the linkage table, and the words that hold their addresses.
 */
struct targets {
	uint64_t at[TARGETS_MAX];
	size_t n;
	/* one bit for the low twelve bits of each target, to reject most addresses quickly */
	uint8_t filter[512];
	/* True: targets are functions that create tasks; false: functions that begin regions. */
	bool tasks;
};

static void targets_add(struct targets *targets, uint64_t vaddr)
{
	if (targets->n == TARGETS_MAX)
		return;
	targets->filter[vaddr % 4096 / 8] |= (uint8_t)(1u << vaddr % 8);
	targets->at[targets->n++] = vaddr;
}

static bool targets_have(const struct targets *targets, uint64_t vaddr)
{
	size_t i;

	if (!(targets->filter[vaddr % 4096 / 8] & 1u << vaddr % 8))
		return false;
	for (i = 0; i < targets->n && targets->at[i] != vaddr; i++)
		;
	return i < targets->n;
}

static int32_t get_s32(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Return the function around @vaddr, or NULL. */
static const struct elf_symbol *table_around(const struct table *t, uint64_t vaddr)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->functions[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || vaddr - t->functions[low - 1].vaddr >= t->functions[low - 1].size)
		return NULL;
	return &t->functions[low - 1];
}

/*
 * Collect all function addresses that the function around @call computes: lea fn(%rip), %REG; mov
 * $fn, %REG. These instructions may be long before the call, so it is not determined which function
 * is actually passed.
 */
static void look_around(struct table *t, const uint8_t *code, size_t len, uint64_t vaddr,
			uint64_t call)
{
	const struct elf_symbol *f = table_around(t, call);
	uint64_t at, end;

	if (!f)
		return;
	end = f->vaddr + f->size < vaddr + len ? f->vaddr + f->size : vaddr + len;
	for (at = f->vaddr > vaddr ? f->vaddr : vaddr; at + 7 <= end; at++) {
		const uint8_t *p = code + (at - vaddr);

		if ((p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 0x05)
			table_want(t, at + 7 + (uint64_t)(int64_t)get_s32(p + 3));
		else if ((p[0] & 0xf8) == 0xb8)
			table_want(t, (uint32_t)get_s32(p + 1));
	}
}

/*
 * Find all instructions that end with the distance to a target in four bytes: direct calls and
 * jumps, and calls and jumps through a word in memory. Other bytes may match by chance, which only
 * costs a useless probe.
 */
static void scan_bytes(struct table *t, const uint8_t *code, size_t from, size_t len,
		       uint64_t vaddr, const struct targets *targets)
{
	size_t at;

	for (at = from; at + 4 <= len; at++)
		if (targets_have(targets, vaddr + at + 4 + (uint64_t)(int64_t)get_s32(code + at)))
			look_around(t, code, len, vaddr, vaddr + at);
}

/*
 * Scan a segment in chunks. They overlap, so that each call is in one chunk together with the code
 * before it.
 */
static void scan_range(struct table *t, const struct elf_file *elf, const struct elf_range *range,
		       const struct targets *targets)
{
	uint64_t pos, back, size = range->size < CODE_MAX ? range->size : CODE_MAX;
	const uint8_t *code;
	size_t len;

	for (pos = 0; pos < size; pos += len - CALL_LEN) {
		back = pos < LOOK_BACK ? pos : LOOK_BACK;
		len = CHUNK < size - pos + back ? CHUNK : (size_t)(size - pos + back);
		len = elf_bytes(elf, range->offset + pos - back, len, &code);
		if (len <= back + CALL_LEN)
			return;
		scan_bytes(t, code, back, len, range->vaddr + pos - back, targets);
		len -= back;
	}
}

static void scan_file(struct table *t, const struct elf_file *elf, const struct targets *targets)
{
	struct elf_range range;
	size_t i;

	for (i = 0; targets->n && elf_code(elf, i, &range); i++)
		scan_range(t, elf, &range, targets);
}

/* Return the target of the call that ends at @caller. */
static uint64_t call_target(const struct elf_file *elf, uint64_t caller)
{
	const uint8_t *code;
	uint64_t offset;

	if (caller < CALL_LEN || elf_vaddr_to_offset(elf, caller - CALL_LEN, &offset) ||
	    elf_bytes(elf, offset, CALL_LEN, &code) != CALL_LEN || code[0] != 0xe8)
		return 0;
	return caller + (uint64_t)(int64_t)get_s32(code + 1);
}

static void table_close(struct table *t)
{
	free(t->wanted);
	free(t->functions);
}

/* Open a table, which the caller closes even after an error. */
static int table_open(struct table *t, const struct elf_file *elf)
{
	int err = frames_each(elf, table_add, t);

	if (err)
		return err;
	if (!t->n)
		return -ENOENT;
	qsort(t->functions, t->n, sizeof(*t->functions), compare);
	t->wanted = calloc(t->n, 1);
	return t->wanted ? 0 : -ENOMEM;
}

static int take_wanted(const struct elf_file *elf, struct table *t, struct outlined *out)
{
	size_t i;

	out->functions = calloc(OUTLINED_MAX, sizeof(*out->functions));
	if (!out->functions)
		return -ENOMEM;
	for (i = 0; i < t->n && out->n < OUTLINED_MAX; i++) {
		struct elf_symbol *f = &t->functions[i];

		if (t->wanted[i] && !elf_vaddr_to_offset(elf, f->vaddr, &f->offset))
			out->functions[out->n++] = *f;
	}
	return 0;
}

int outlined_find(const struct elf_file *elf, uint16_t machine, uint64_t vaddr, uint64_t caller,
		  struct outlined *out)
{
	struct targets targets = { .n = 0 };
	struct table t = { 0 };
	uint64_t target;
	bool found;
	int err;

	*out = (struct outlined){ .n = 0 };
	err = table_open(&t, elf);
	if (err)
		goto out;
	found = table_want(&t, vaddr);
	target = machine == EM_X86_64 && caller ? call_target(elf, caller) : 0;
	if (target)
		targets_add(&targets, target);
	scan_file(&t, elf, &targets);
	err = take_wanted(elf, &t, out);
	if (!err && !found)
		err = -ENOENT;
out:
	table_close(&t);
	return err;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/*
 * Return whether the function @name is of the kind that @targets collects: it creates tasks, or it
 * begins regions. Any function of GCC's runtime that may run a function, and creates no task,
 * counts as beginning regions. So the functions that it runs keep their probes.
 */
static bool is_target(const struct targets *targets, const char *name)
{
	const struct family_function *f = NULL;
	bool task = false;

	if (strncmp(name, "GOMP_", strlen("GOMP_")) != 0)
		return false;
	while ((f = family_function(name, f)))
		task |= f->role == SBT_ROLE_TASK;
	if (targets->tasks || task)
		return targets->tasks && task;
	return !strncmp(name, "GOMP_parallel", strlen("GOMP_parallel")) ||
	       !strncmp(name, "GOMP_target", strlen("GOMP_target")) ||
	       !strncmp(name, "GOMP_teams", strlen("GOMP_teams"));
}

static void take_slot(void *ctx, const char *name, uint64_t vaddr)
{
	struct targets *targets = ctx;

	if (is_target(targets, name))
		targets_add(targets, vaddr);
}

static int take_function(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct targets *targets = ctx;

	if (is_target(targets, name))
		targets_add(targets, symbol->vaddr);
	return 0;
}

/*
 * Find entries of the linkage table: jmp *slot(%rip). An entry may begin with the prefix and the
 * endbr64 that compilers put before the jump.
 */
static void take_entries(struct targets *targets, const struct elf_file *elf,
			 const struct elf_range *range, size_t slots)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *code;
	size_t at, i, len, begin;
	uint64_t slot;

	len = range->size < CHUNK ? (size_t)range->size : CHUNK;
	len = elf_bytes(elf, range->offset, len, &code);
	for (at = 0; at + 6 <= len; at++) {
		if (code[at] != 0xff || code[at + 1] != 0x25)
			continue;
		slot = range->vaddr + at + 6 + (uint64_t)(int64_t)get_s32(code + at + 2);
		for (i = 0; i < slots && targets->at[i] != slot; i++)
			;
		if (i == slots)
			continue;
		begin = at - (at && code[at - 1] == 0xf2);
		if (begin >= sizeof(endbr64) &&
		    !memcmp(code + begin - sizeof(endbr64), endbr64, sizeof(endbr64)))
			begin -= sizeof(endbr64);
		targets_add(targets, range->vaddr + begin);
	}
}

static void targets_find(const struct elf_file *elf, struct targets *targets)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct elf_range range;
	size_t i, slots;

	elf_each_slot(elf, take_slot, targets);
	slots = targets->n;
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (elf_section(elf, sections[i], 0, &range))
			take_entries(targets, elf, &range, slots);
	elf_each_function(elf, take_function, targets);
}

int outlined_of_tasks(const struct elf_file *elf, uint16_t machine, struct outlined *out)
{
	struct targets *targets = calloc(2, sizeof(*targets));
	struct table t = { 0 };
	uint8_t *tasks = NULL;
	size_t i;
	int err;

	*out = (struct outlined){ .n = 0 };
	err = targets ? table_open(&t, elf) : -ENOMEM;
	if (!err) {
		tasks = calloc(t.n, 1);
		err = tasks ? 0 : -ENOMEM;
	}
	if (err || machine != EM_X86_64)
		goto out;
	targets[0].tasks = true;
	targets_find(elf, &targets[0]);
	targets_find(elf, &targets[1]);
	scan_file(&t, elf, &targets[0]);
	memcpy(tasks, t.wanted, t.n);
	memset(t.wanted, 0, t.n);
	/*
	 * If there are too many targets to know all functions that begin regions, no function is
	 * certain to belong only to tasks.
	 */
	if (targets[1].n == TARGETS_MAX)
		goto out;
	scan_file(&t, elf, &targets[1]);
	for (i = 0; i < t.n; i++)
		t.wanted[i] = tasks[i] && !t.wanted[i];
	err = take_wanted(elf, &t, out);
out:
	free(tasks);
	free(targets);
	table_close(&t);
	return err == -ENOENT ? 0 : err;
}
