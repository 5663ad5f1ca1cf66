// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/elf/insn.c
// fuzz-libs: -l:libcapstone.a
/* Fuzz the choice of probe positions: each is within the bytes, and never on a five-byte nop. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

struct refs {
	size_t size;
	uint32_t last;
};

static void check_ref(void *ctx, const struct insn_ref *ref)
{
	struct refs *refs = ctx;

	check(ref->after > refs->last && ref->after < refs->size);
	refs->last = ref->after;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	struct insn_entry e;
	struct refs refs = { 0 };
	uint32_t out[8];
	uint64_t vaddr;
	uint16_t machine;
	char why[48];
	int n, i;

	if (!size)
		return 0;
	machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64;
	/* The file may contain any address. */
	vaddr = data[0] & 2 ? UINT64_MAX - 62 : 0x401000;
	data++;
	size--;
	if (!insn_choose_entry(machine, data, size, &e)) {
		check(e.insn.length && e.skip + e.insn.length <= size);
		check(e.insn.class != INSN_NOP5 && e.insn.class != INSN_REFUSED &&
		      e.insn.class != INSN_UNKNOWN);
		check(machine != EM_X86_64 || e.insn.length != sizeof(nop5) ||
		      memcmp(data + e.skip, nop5, sizeof(nop5)));
	}
	check(memchr(e.why, 0, sizeof(e.why)) && memchr(e.insn.text, 0, sizeof(e.insn.text)));
	n = insn_find_ends(machine, data, size, out, 8, NULL, NULL, why, sizeof(why));
	check(memchr(why, 0, sizeof(why)) != NULL);
	for (i = 0; i < n && i < 8; i++)
		check(out[i] < size && (!i || out[i] > out[i - 1]));
	refs.size = size;
	insn_each_ref(machine, vaddr, data, size, check_ref, &refs);
	return 0;
}
