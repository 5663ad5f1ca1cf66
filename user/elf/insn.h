/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Which instruction a probe may sit on. Pure: bytes in, decision out. Instructions are decoded with
 * Capstone; which of them the kernel emulates is our own knowledge (arch/x86/kernel/uprobes.c).
 */
#ifndef ELF_INSN_H
#define ELF_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_class {
	INSN_EMULATED, /* the kernel emulates it: a cheap probe */
	INSN_STEPPED, /* single-stepped out of line: six to ten times dearer */
	INSN_NOP5, /* 0f 1f 44 00 00: never probed, see facts on Linux 6.18 to 7.1 */
	INSN_ENDBR, /* endbr64: stepped, and may be stepped past */
	INSN_REFUSED, /* decoded, but the kernel refuses or must not probe it (int3, privileged, ...) */
	INSN_UNKNOWN, /* does not decode */
};

const char *insn_class_name(enum insn_class class);

struct insn {
	enum insn_class class;
	uint8_t length; /* bytes */
	char text[48]; /* "push %r13"; for people */
};

/* Decodes the first instruction of @bytes for @machine (EM_X86_64, EM_AARCH64). */
void insn_decode(uint16_t machine, const uint8_t *bytes, size_t len, struct insn *out);

struct insn_entry {
	uint32_t skip; /* bytes from the function's start to the probe */
	struct insn insn; /* what is under the probe */
	char why[128]; /* one sentence: "past endbr64, on push %rbp (emulated)" */
};

/*
 * Chooses where the entry probe of a function goes. The stack pointer and the argument registers
 * must still be as at the call, so only endbr64 and nops are stepped past: past a five-byte nop
 * always, past endbr64 and other nops when what follows is emulated and no branch within @len leads
 * back there (give the whole function).
 * Returns 0, or -ENOTSUP with the reason in why (nothing safe to probe, or another machine),
 * -EINVAL for no bytes, -ENOMEM.
 */
int insn_choose_entry(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out);

/*
 * The same of a function whose arguments nobody reads: if that place would be single-stepped, whatever changes
 * registers alone is stepped past, too, up to an emulated instruction that every call comes to. What is
 * stepped lies in the wait: 4 us of each GOMP_barrier.
 */
int insn_choose_late(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out);

/*
 * Finds every place where a function returns: the offsets of its ret instructions from the start.
 * Decodes @len bytes (the symbol's size) in sequence; follows nothing.
 * Returns the number found (up to @max written), or -ENOTSUP when the exits cannot all be known: an
 * instruction that does not decode, a jump out of the function (tail call or cold part) or through
 * a register, a size of 0 or above 1 MiB; -ENOENT when there is no ret; -ENOMEM. @why (may be NULL
 * when @why_len is 0) gets half a sentence about the function in these cases.
 */
int insn_find_exits(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t *out, int max,
		    char *why, size_t why_len);

/* A jump out of a function. */
struct insn_tail {
	int64_t target; /* from the function's start */
	uint32_t at; /* where the jump is */
	bool conditional;
};

/*
 * The same of one that may end by a jump into another: @tails gets those (up to *@ntails of them, which becomes how many
 * there are), and 0 rets are no error if there is one. A jump by the table of a switch, as compilers write it, is one
 * within the function.
 */
int insn_find_ends(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t *out, int max,
		   struct insn_tail *tails, uint32_t *ntails, char *why, size_t why_len);

/* What an instruction has to do with other functions. */
enum insn_ref_how {
	INSN_CALLS, /* the one at `target` */
	INSN_CALLS_POINTER, /* one that a register or memory tells */
	INSN_MAKES, /* it makes the address `target` */
};

struct insn_ref {
	enum insn_ref_how how;
	int64_t target; /* from the function's start */
	uint32_t after; /* where the next instruction is */
	enum insn_class next; /* and which a probe would find there */
};

/*
 * Calls @each for these, in sequence. @vaddr: where the function lies. Returns 0, or -ENOTSUP if not all of it can be decoded, or for another machine;
 * -EINVAL for no bytes, or more than 1 MiB; -ENOMEM.
 */
int insn_each_ref(uint16_t machine, uint64_t vaddr, const uint8_t *bytes, size_t len,
		  void (*each)(void *ctx, const struct insn_ref *ref), void *ctx);

/*
 * Is this an entry of the procedure linkage table, that jumps on to a function in another file? x86-64 and arm64. What is
 * too short to be told is taken for one.
 */
bool insn_is_linkage(uint16_t machine, const uint8_t *code, size_t len);
/* The word by which the entry @code at @vaddr of that table jumps on, into *slot. False: it cannot be told. */
bool insn_linkage_slot(uint16_t machine, uint64_t vaddr, const uint8_t *code, size_t len,
		       uint64_t *slot);

#endif /* ELF_INSN_H */
