// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/outlined.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sites/frames.h"

#define CODE_MAX (256u << 20)
#define CHUNK	 (1u << 20)
#define CALL_LEN 5 /* e8 rel32 */
#define LOOK_BACK \
	4096 /* bytes before a call: as far back as its function is looked at across pieces */

/* The functions of a file, by address. */
struct table {
	struct elf_symbol *functions;
	uint8_t *wanted;
	size_t n, cap;
};

static int table_add(void *ctx, uint64_t start, uint64_t len)
{
	struct table *t = ctx;
	struct elf_symbol *functions;

	if (t->n == t->cap) {
		functions = realloc(t->functions, (t->cap * 2 + 256) * sizeof(*functions));
		if (!functions)
			return -ENOMEM;
		t->functions = functions;
		t->cap = t->cap * 2 + 256;
	}
	t->functions[t->n++] = (struct elf_symbol){ .vaddr = start, .size = len };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
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

static int32_t get_s32(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The function that @vaddr is in, or NULL. */
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
 * lea fn(%rip), %REG; mov $fn, %REG: whatever function's address the caller of @call makes. It may do that long before
 * the call, so which of them is handed over is not asked.
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

static void scan_bytes(struct table *t, const uint8_t *code, size_t from, size_t len,
		       uint64_t vaddr, uint64_t target)
{
	const uint8_t *call;
	size_t at;

	for (at = from; at + CALL_LEN <= len; at++) {
		call = memchr(code + at, 0xe8, len - at - CALL_LEN + 1);
		if (!call)
			return;
		at = (size_t)(call - code);
		if (vaddr + at + CALL_LEN + (uint64_t)(int64_t)get_s32(call + 1) == target)
			look_around(t, code, len, vaddr, vaddr + at);
	}
}

/* In pieces that overlap by what a call and its arguments take. */
static void scan_range(struct table *t, const struct elf_file *elf, const struct elf_range *range,
		       uint64_t target)
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
		scan_bytes(t, code, back, len, range->vaddr + pos - back, target);
		len -= back;
	}
}

/* Where the call before @caller goes. */
static uint64_t call_target(const struct elf_file *elf, uint64_t caller)
{
	const uint8_t *code;
	uint64_t offset;

	if (caller < CALL_LEN || elf_vaddr_to_offset(elf, caller - CALL_LEN, &offset) ||
	    elf_bytes(elf, offset, CALL_LEN, &code) != CALL_LEN || code[0] != 0xe8)
		return 0;
	return caller + (uint64_t)(int64_t)get_s32(code + 1);
}

static int take_wanted(const struct elf_file *elf, struct table *t, struct outlined *out)
{
	size_t i;

	out->n = 0;
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
	struct table t = { 0 };
	struct elf_range range;
	bool found = false;
	uint64_t target;
	size_t i;
	int err;

	out->functions = NULL;
	out->n = 0;
	err = frames_each(elf, table_add, &t);
	if (err)
		goto out;
	err = -ENOENT;
	if (!t.n)
		goto out;
	qsort(t.functions, t.n, sizeof(*t.functions), compare);
	err = -ENOMEM;
	t.wanted = calloc(t.n, 1);
	if (!t.wanted)
		goto out;
	found = table_want(&t, vaddr);
	target = machine == EM_X86_64 && caller ? call_target(elf, caller) : 0;
	for (i = 0; target && elf_code(elf, i, &range); i++)
		scan_range(&t, elf, &range, target);
	err = take_wanted(elf, &t, out);
	if (!err && !found)
		err = -ENOENT;
out:
	free(t.wanted);
	free(t.functions);
	return err;
}
