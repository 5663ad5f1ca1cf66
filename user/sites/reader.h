/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Who reads the files that processes run: a child without privileges (child.h), which is given a descriptor of each and says what is in
 * it. It opens no file itself. What it says is checked before it is believed; one that ends, stands still or takes too much for a file is
 * begun anew, and that file is not read.
 */
#ifndef SITES_READER_H
#define SITES_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_FILE_S 5 /* CPU time for all that is asked about one file */
#define READER_MIB    512 /* memory for all that it has read of files */

struct module;
struct reader;
struct rules;
struct symbol_server;
struct wire;

enum reader_question {
	READER_EXAMINE = 1, /* text: the file's path -> module_wire() */
	READER_AROUND, /* a: address as linked -> bool, symbol */
	READER_FUNCTION, /* text: name -> machine, number, the first one */
	READER_ENDS, /* text: name -> bool */
	READER_WRAPPER, /* a: address, b: is it a C library's -> bool */
	READER_IMPORTS, /* -> number, texts */
	READER_OUTLINED, /* a: address, b: caller's or 0, family -> number, places */
	READER_HELD, /* a: address of a call -> struct held_arg, HELD_ARGS_MAX times */
	READER_INSN, /* a: offset -> class */
	READER_MARKS, /* text: provider -> bool */
};

struct reader_asks {
	enum reader_question question;
	uint64_t a, b;
	uint32_t family;
	const char *text; /* NULL: "" */
};

/*
 * @rules and @known: whose places are looked for; what they hold when the child is begun, by the first question, counts. @symbols: who is asked for names
 * in the source. Each may be NULL; they must outlive the reader. Returns 0 or -ENOMEM.
 */
int reader_new(struct rules *rules, struct rules *known, struct symbol_server *symbols,
	       struct reader **out);
/* Ends the child. NULL is allowed. */
void reader_free(struct reader *reader);
/* See modules_follow_priority(). */
void reader_follow_priority(const struct reader *reader);
/* See modules_idle(). */
void reader_idle(struct reader *reader, void (*idle)(void *ctx), void *ctx);

/* Fills in what the module's open file says: 0, or as elf_open(), or -errno of reader_ask(): then nothing is filled in. */
int reader_examine(struct reader *reader, struct module *module);
/*
 * One question about the file that is open as @fd. Returns 0, and *answer, to be read and given to wire_free(). Or -errno of the answer; -ETIMEDOUT
 * (the child stood still), -EDQUOT (too much CPU time), -EPIPE (it ended, which too much memory makes it do, too), -EBADMSG (no regular
 * file). @handler_ns (may be NULL): CPU time that the file has taken, and takes.
 */
int reader_ask(struct reader *reader, int fd, const struct reader_asks *asks, uint64_t *handler_ns,
	       struct wire *answer);
/* The same about a file of the module: nothing more after a failure of the child. */
int reader_ask_module(const struct module *module, const struct reader_asks *asks,
		      struct wire *answer);
/* Rows of places that come later: of module_wire_probe_site(). */
void reader_wire_probe_site(const struct module *module, struct wire *w, void *probe_site);

/* Has the program or library at @path, which may be anything, a marker of @provider? By a child that lives for that. */
bool reader_file_has_marks(const char *path, const char *provider);
/* Where the file open as @fd, made for this machine, has its function @name, as linked. False: it has none, or cannot be read. */
bool reader_file_function(struct reader *reader, int fd, const char *name, uint64_t *vaddr);

#endif /* SITES_READER_H */
