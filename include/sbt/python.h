/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where CPython keeps what its threads execute, by version. The BPF programs and user space read
 * the interpreter's memory from outside, so both need the offsets of its structs. The offsets are
 * those of 64-bit builds without Py_TRACE_REFS and with a GIL.
 */
#ifndef SBT_PYTHON_H
#define SBT_PYTHON_H

#ifndef __KERNEL_SUBSET_H
#include <linux/types.h>
#endif

/* The supported versions: minor numbers of Python 3. */
#define SBT_PYTHON_FIRST    9
#define SBT_PYTHON_LAST	    13
#define SBT_PYTHON_VERSIONS (SBT_PYTHON_LAST - SBT_PYTHON_FIRST + 1)

/*
 * Size in bytes of the line table of a function that has little code, at most: some 25 lines from
 * 3.11 on, and 40 before: those tables have lines only.
 */
#define SBT_PYTHON_COMPACT(minor) ((minor) >= 11 ? 300 : 80)

/*
 * All members are offsets in bytes, unless their comment says otherwise. An offset that a version
 * does not have is 0.
 */
struct sbt_python_layout {
	__u32 head; /* _PyRuntime: the first interpreter */
	__u32 next; /* interpreter: the next interpreter */
	__u32 threads; /* interpreter: the thread state that was created last */
	__u32 gil_of; /* interpreter: pointer to its GIL, where it has its own */
	__u16 gil; /* _PyRuntime: the GIL, where interpreters share it */
	__u16 holder; /* GIL: the thread state that took it last */
	/* thread state */
	__u16 state_next;
	__u16 state_pthread; /* pthread_self() of the thread */
	__u16 state_native; /* number that the kernel gives to the thread; from 3.11 */
	__u16 state_frame; /* the innermost frame, or the C frame that points to it */
	__u16 cframe; /* C frame: the innermost frame */
	/* frame */
	__u16 code, back;
	__u16 instr; /* pointer to the instruction, or (32 bits) its index */
	__u16 owner; /* (8 bits) what the frame belongs to; from 3.12 */
	__u16 locals; /* the first local variable */
	/* code object */
	__u16 name; /* co_qualname, or co_name before 3.11 */
	__u16 file, first_line, lines;
	__u16 first_instr; /* the instructions; from 3.11 */
	/* str: the characters of ASCII text, and of other text */
	__u16 ascii, text;
	__u8 by_cframe; /* 1: `state_frame` points to a C frame */
	__u8 minor; /* version: minor number of Python 3 */
};

/* The same in all versions. */
#define SBT_PYTHON_TYPE	     8 /* object: its type */
#define SBT_PYTHON_TYPE_NAME 24 /* type: its name, a C string */
#define SBT_PYTHON_SIZE	     16 /* str, bytes: the length */
#define SBT_PYTHON_BYTES     32 /* bytes: the contents */
#define SBT_PYTHON_TEXT_HASH \
	24 /* str: hash of the characters; -1: not computed yet; co_name has one */
#define SBT_PYTHON_TEXT_STATE 32 /* str: bit field with the size of a character */
/*
 * The GIL's condition variables and mutexes, glibc's, at which threads wait. In nearly all waits, a
 * thread waits at the first condition variable for the GIL, for at most 5 ms at a time.
 */
#define SBT_PYTHON_GIL_WAITS  32
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define SBT_PYTHON_GIL_END     224
#define SBT_PYTHON_PTHREAD_TID 208 /* glibc: where pthread_self() of a thread has its number */
#else
#define SBT_PYTHON_GIL_END     208
#define SBT_PYTHON_PTHREAD_TID 720
#endif
/* 3.12: a frame with this owner, or a greater one, is a C frame and executes no Python code. */
#define SBT_PYTHON_OWNER_C 3

#define SBT_PYTHON_LAYOUTS                      \
	{                                       \
		{ .minor = 9,                   \
		  .head = 32,                   \
		  .next = 0,                    \
		  .threads = 8,                 \
		  .gil = 352,                   \
		  .holder = 8,                  \
		  .state_next = 8,              \
		  .state_pthread = 176,         \
		  .state_frame = 24,            \
		  .code = 32,                   \
		  .back = 24,                   \
		  .instr = 104,                 \
		  .locals = 360,                \
		  .name = 112,                  \
		  .file = 104,                  \
		  .first_line = 40,             \
		  .lines = 120,                 \
		  .ascii = 48,                  \
		  .text = 72 },                 \
			{ .minor = 10,          \
			  .head = 32,           \
			  .next = 0,            \
			  .threads = 8,         \
			  .gil = 352,           \
			  .holder = 8,          \
			  .state_next = 8,      \
			  .state_pthread = 176, \
			  .state_frame = 24,    \
			  .code = 32,           \
			  .back = 24,           \
			  .instr = 96,          \
			  .locals = 352,        \
			  .name = 112,          \
			  .file = 104,          \
			  .first_line = 40,     \
			  .lines = 120,         \
			  .ascii = 48,          \
			  .text = 72 },         \
			{ .minor = 11,          \
			  .head = 40,           \
			  .next = 0,            \
			  .threads = 16,        \
			  .gil = 360,           \
			  .holder = 8,          \
			  .state_next = 8,      \
			  .state_pthread = 152, \
			  .state_native = 160,  \
			  .state_frame = 56,    \
			  .by_cframe = 1,       \
			  .cframe = 8,          \
			  .code = 32,           \
			  .back = 48,           \
			  .instr = 56,          \
			  .locals = 72,         \
			  .name = 128,          \
			  .file = 112,          \
			  .first_line = 72,     \
			  .lines = 136,         \
			  .first_instr = 184,   \
			  .ascii = 48,          \
			  .text = 72 },         \
			{ .minor = 12,          \
			  .head = 40,           \
			  .next = 0,            \
			  .threads = 72,        \
			  .gil_of = 384,        \
			  .holder = 8,          \
			  .state_next = 8,      \
			  .state_pthread = 136, \
			  .state_native = 144,  \
			  .state_frame = 56,    \
			  .by_cframe = 1,       \
			  .cframe = 0,          \
			  .code = 0,            \
			  .back = 8,            \
			  .instr = 56,          \
			  .owner = 70,          \
			  .locals = 72,         \
			  .name = 128,          \
			  .file = 112,          \
			  .first_line = 68,     \
			  .lines = 136,         \
			  .first_instr = 192,   \
			  .ascii = 40,          \
			  .text = 56 },         \
			{ .minor = 13,          \
			  .head = 632,          \
			  .next = 7264,         \
			  .threads = 7344,      \
			  .gil_of = 16,         \
			  .holder = 8,          \
			  .state_next = 8,      \
			  .state_pthread = 152, \
			  .state_native = 160,  \
			  .state_frame = 72,    \
			  .code = 0,            \
			  .back = 8,            \
			  .instr = 56,          \
			  .owner = 70,          \
			  .locals = 72,         \
			  .name = 128,          \
			  .file = 112,          \
			  .first_line = 68,     \
			  .lines = 136,         \
			  .first_instr = 200,   \
			  .ascii = 40,          \
			  .text = 56 },         \
	}

#endif /* SBT_PYTHON_H */
