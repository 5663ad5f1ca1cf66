/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The frames of CPython's interpreter (3.9 to 3.13), read from outside while the process runs. All
 * memory of the process is untrusted, and it may change while it is read: every loop and every text
 * has a limit, and a frame that cannot be read ends the list. Pure,
 * except for python_read_process().
 */
#ifndef SYMBOLS_PYTHON_H
#define SYMBOLS_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "sbt/python.h"

#define PYTHON_NAME_MAX	  128 /* bytes of a function's name, with the NUL */
#define PYTHON_FILE_MAX	  256 /* bytes of a file's name, with the NUL */
#define PYTHON_LINES_MAX  65536 /* bytes of a line table that are read */
#define PYTHON_FRAMES_MAX 128

/* How to read the memory of the process. */
struct python_memory {
	void *ctx;
	/* Read @size bytes at @address. Return 0, or a negative errno if not all can be read. */
	int (*read)(void *ctx, uint64_t address, void *out, size_t size);
};

/* A python_memory.read that reads the process with the PID *(const int *)@ctx. */
int python_read_process(void *ctx, uint64_t address, void *out, size_t size);

/* One function that a thread executes. The texts are untrusted UTF-8. */
struct python_frame {
	uint32_t line; /* 0: unknown */
	uint32_t first_line; /* of the function; 0: unknown */
	char function[PYTHON_NAME_MAX]; /* "Barrier.wait"; before 3.11: "wait" */
	char file[PYTHON_FILE_MAX]; /* of a longer name, the end */
};

/*
 * Return the minor number of Python 3 that the file name of a library or program shows
 * ("libpython3.11.so.1.0", "python3.9"), or 0. @path may have directories.
 */
uint32_t python_version_of(const char *path);

/*
 * Fill in the layout of version 3.@minor. @runtime: address of _PyRuntime. Return 0,
 * -EFAULT, or -ENOTSUP for an unsupported version, or for a build without a GIL, which has another
 * layout.
 */
int python_layout(uint32_t minor, const struct python_memory *memory, uint64_t runtime,
		  struct sbt_python_layout *layout);

/*
 * Read the frames of one thread, the innermost first. @tid: its number in the process's PID
 * namespace. Before 3.11, the interpreter does not store this number, but glibc does. Return the
 * number of frames (at most @max and PYTHON_FRAMES_MAX), 0 if the thread executes no Python code,
 * or a negative errno: -ESRCH if the interpreter does not know the thread.
 */
int python_frames(const struct sbt_python_layout *layout, const struct python_memory *memory,
		  uint64_t runtime, uint32_t tid, struct python_frame *frames, uint32_t max);

/*
 * Read the function with the code object at @code, and the line of its instruction @at bytes from
 * the first one. Return 0, or a negative errno: -EFAULT if it is no code object.
 */
int python_code(const struct sbt_python_layout *layout, const struct python_memory *memory,
		uint64_t code, uint32_t at, struct python_frame *out);

/*
 * Write @n characters of @width bytes (1, 2 or 4) as UTF-8, as far as they fit into @size bytes
 * with the NUL.
 */
void python_text(const uint8_t *chars, size_t n, uint32_t width, char *out, size_t size);

/*
 * Return the line of an instruction, or 0 if the table shows none. @lines: the first @size bytes of
 * the code object's table, which depends on the version 3.@minor. @at: distance of the instruction
 * from the first one in bytes. @first_line: co_firstlineno.
 */
uint32_t python_line(uint32_t minor, const uint8_t *lines, size_t size, uint32_t first_line,
		     uint32_t at);

#endif /* SYMBOLS_PYTHON_H */
