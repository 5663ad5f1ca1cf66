/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The reader examines the files that processes run. It is a child without privileges (child.h). It
 * gets a descriptor of each file, answers questions about the file, and opens no file itself. Its
 * answers are checked. If the child exits, hangs, or uses too much time or memory for a file, it is
 * replaced, and that file is not read.
 */
#ifndef SITES_READER_H
#define SITES_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_FILE_S 5 /* maximum CPU time, in seconds, for all questions about one file */
#define READER_MIB    512 /* maximum memory, in MiB, for all files that the child has read */

struct module;
struct reader;
struct rules;
struct symbol_server;
struct wire;

enum reader_question {
	READER_EXAMINE = 1, /* text: path of the file -> module_wire() */
	READER_AROUND, /* a: linked address -> bool, symbol */
	READER_FUNCTION, /* text: name -> machine, number of functions, the first function */
	READER_ENDS, /* text: name -> bool */
	READER_WRAPPER, /* a: address, b: whether it is in a C library -> bool */
	READER_IMPORTS, /* -> number, texts */
	/* a: address, b: address of the caller or 0, family -> number, probe sites. */
	READER_OUTLINED,
	/* a: address of a call -> struct held_arg, HELD_ARGS_MAX times. */
	READER_HELD,
	READER_INSN, /* a: offset -> class */
	READER_MARKS, /* text: provider -> bool */
};

struct reader_asks {
	enum reader_question question;
	uint64_t a, b;
	uint32_t family;
	const char *text; /* NULL counts as "" */
};

/*
 * Create a reader. @rules and @known name the functions to find. The first question starts the
 * child, which gets the rules as they are at that time. @symbols finds names in the source. Each
 * may be NULL; they must outlive the reader. Return 0 or -ENOMEM.
 */
int reader_new(struct rules *rules, struct rules *known, struct symbol_server *symbols,
	       struct reader **out);
/* End the child. NULL is allowed. */
void reader_free(struct reader *reader);
/* See modules_follow_priority(). */
void reader_follow_priority(const struct reader *reader);
/* See modules_idle(). */
void reader_idle(struct reader *reader, void (*idle)(void *ctx), void *ctx);

/*
 * Fill in the module from its open file. Return 0, or an error of elf_open() or reader_ask(). After
 * an error, nothing is filled in.
 */
int reader_examine(struct reader *reader, struct module *module);
/*
 * Ask one question about the file that is open as @fd. Return 0 with *answer, which the caller
 * reads and frees with wire_free(). Otherwise return the error in the answer, or -ETIMEDOUT (the
 * child hangs), -EDQUOT (too much CPU time), -EPIPE (the child exited, as it does if it needs too
 * much memory) or -EBADMSG (not a regular file). @handler_ns (may be NULL) sums the CPU time that
 * the file has taken so far.
 */
int reader_ask(struct reader *reader, int fd, const struct reader_asks *asks, uint64_t *handler_ns,
	       struct wire *answer);
/*
 * Ask a question about a module's file, as reader_ask() does, unless an earlier question about the
 * file failed.
 */
int reader_ask_module(const struct module *module, const struct reader_asks *asks,
		      struct wire *answer);
/*
 * Read or write a probe site that was found after the examination, as module_wire_probe_site()
 * does.
 */
void reader_wire_probe_site(const struct module *module, struct wire *w, void *probe_site);

/*
 * Return whether the program or library at @path has a marker of @provider. The file need not be an
 * ELF file. Uses a separate child.
 */
bool reader_file_has_marks(const char *path, const char *provider);
/*
 * Find the linked address of the function @name in the file open as @fd. Return false if there is
 * no such function, if the file is for another machine, or if it cannot be read.
 */
bool reader_file_function(struct reader *reader, int fd, const char *name, uint64_t *vaddr);

#endif /* SITES_READER_H */
