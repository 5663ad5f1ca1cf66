/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* All instructions of an x86-64 function, decoded in sequence. */
#ifndef ELF_X86_CODE_H
#define ELF_X86_CODE_H

#include <capstone/capstone.h>
#include <stddef.h>
#include <stdint.h>

struct x86_code {
	csh handle;
	const uint8_t *bytes;
	size_t len;
	cs_insn *insn; /* the instructions' addresses are offsets in `bytes` */
	size_t n;
	/*
	 * for each offset in `bytes`: 1 + the number of the instruction that begins there; 0: none
	 */
	uint32_t *index;
};

/*
 * Decode code->bytes, which are code->len bytes; the caller sets both, and the rest of @code to 0.
 * Bytes that cannot be decoded end the list. Return 0 or -ENOMEM. In both cases, call
 * x86_code_free() later.
 */
int x86_code_decode(struct x86_code *code);
void x86_code_free(struct x86_code *code);

/*
 * Return 1 + the number of the instruction at @offset, or 0 if there is none. @offset may have any
 * value.
 */
static inline uint32_t x86_code_at(const struct x86_code *code, int64_t offset)
{
	return offset >= 0 && (size_t)offset < code->len ? code->index[offset] : 0;
}

#endif /* ELF_X86_CODE_H */
