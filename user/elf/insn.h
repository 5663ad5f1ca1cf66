/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Choose the instruction for a probe. Pure: the input is code bytes, the output is a decision.
 * Capstone decodes the instructions. The code here knows which instructions the kernel emulates (as
 * in arch/x86/kernel/uprobes.c).
 */
#ifndef ELF_INSN_H
#define ELF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_class {
	INSN_EMULATED, /* emulated by the kernel: a cheap probe */
	INSN_STEPPED, /* single-stepped out of line: six to ten times as expensive */
	INSN_NOP5, /* 0f 1f 44 00 00: never probed, because of a bug in Linux 6.18 to 7.1 */
	INSN_ENDBR, /* endbr64: single-stepped, but may be skipped */
	/* the kernel refuses a probe on it, or such a probe is not safe (int3, privileged, ...) */
	INSN_REFUSED,
	INSN_UNKNOWN, /* does not decode */
};

const char *insn_class_name(enum insn_class class);

struct insn {
	enum insn_class class;
	uint8_t length; /* bytes */
	char text[48]; /* as in an assembler: "push %r13" */
};

/* Decode the first instruction of @bytes for @machine (EM_X86_64, EM_AARCH64). */
void insn_decode(uint16_t machine, const uint8_t *bytes, size_t len, struct insn *out);

struct insn_entry {
	uint32_t skip; /* bytes from the function's start to the probe */
	struct insn insn; /* the instruction under the probe */
	char why[128]; /* a short explanation: "past endbr64, on push %rbp (emulated)" */
};

/*
 * Choose the instruction for the entry probe of a function. The stack pointer and the argument
 * registers must still have their values from the call, so only endbr64 and nops are skipped. A
 * five-byte nop is always skipped. Other nops and endbr64 are skipped if an emulated instruction
 * follows, and if no branch within @len bytes leads back to the skipped code or the probe (so the
 * caller must pass the whole function). Return 0, -ENOTSUP with the reason in why (no instruction
 * is safe to probe, or another machine), -EINVAL if @len is 0, or -ENOMEM.
 */
int insn_choose_entry(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out);

/*
 * Choose the instruction for the entry probe of a function if the probe does not read arguments. If
 * the probe would be single-stepped, also skip instructions that only change registers, up to an
 * emulated instruction that every call executes. Single-stepping would lengthen the wait: by 4 us
 * in each GOMP_barrier.
 */
int insn_choose_late(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out);

/* A jump out of a function. */
struct insn_tail {
	int64_t target; /* offset of the target from the function's start */
	uint32_t at; /* offset of the jump */
	bool conditional;
};

/*
 * Find the offsets of all ret instructions of a function. Decode @len bytes (the symbol's size) in
 * sequence, without following jumps. A jump through the table of a switch, as compilers generate
 * it, stays within the function. If @tails is not NULL, the function may also end by jumping to
 * another function: write up to *@ntails such jumps to @tails, and set *@ntails to their number. If
 * there is such a jump, a function without ret is no error.
 *
 * Return the number of ret instructions (at most @max are written), or a negative value with @why
 * set. -ENOTSUP: the exits are not all known, because an instruction does not decode, a jump leaves
 * the function (tail call or cold part) or goes through a register, or the size is 0 or above
 * 1 MiB. -ENOENT: there is no ret. -ENOMEM. @why receives the second half of a sentence about the
 * function ("it has no ret"); it may be NULL if @why_len is 0.
 */
int insn_find_ends(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t *out, int max,
		   struct insn_tail *tails, uint32_t *ntails, char *why, size_t why_len);

/* How an instruction refers to another function. */
enum insn_ref_how {
	INSN_CALLS, /* calls the function at `target` */
	INSN_CALLS_POINTER, /* calls a function through a register or memory */
	INSN_MAKES, /* computes the address `target` */
};

struct insn_ref {
	enum insn_ref_how how;
	int64_t target; /* offset of the target from the function's start */
	uint32_t after; /* offset of the instruction after the reference */
	enum insn_class next; /* class of that instruction */
};

/*
 * Call @each for all references in a function, in sequence. @vaddr is the function's address.
 * Return 0, -ENOTSUP if part of the function does not decode or for another machine, -EINVAL if
 * @len is 0 or more than 1 MiB, or -ENOMEM.
 */
int insn_each_ref(uint16_t machine, uint64_t vaddr, const uint8_t *bytes, size_t len,
		  void (*each)(void *ctx, const struct insn_ref *ref), void *ctx);

/*
 * Return whether @code is an entry of the procedure linkage table, which jumps to a function in
 * another file. Works for x86-64 and arm64. If the code is too short to decide, return true.
 */
bool insn_is_linkage(uint16_t machine, const uint8_t *code, size_t len);
/*
 * Get the address of the word that the linkage table entry @code at @vaddr jumps through. Return
 * false if it is unknown.
 */
bool insn_linkage_slot(uint16_t machine, uint64_t vaddr, const uint8_t *code, size_t len,
		       uint64_t *slot);

#endif /* ELF_INSN_H */
