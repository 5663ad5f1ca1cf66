/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Address -> function, file:line and inlined frames, through libdw. The parsing of files of unknown
 * origin happens in a child process without privileges: if a file makes it crash or hang, the
 * answer is "unknown", the child is started anew, and the tracer is unharmed.
 */
#ifndef SITES_SYMBOL_H
#define SITES_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOL_NAME_MAX	  256
#define SYMBOL_FILE_MAX	  512
#define SYMBOL_FRAMES_MAX 8

/* One frame: the function an address lies in, or one inlined there. All strings untrusted. */
struct symbol_frame {
	char function[SYMBOL_NAME_MAX]; /* demangled; "" unknown */
	char file[SYMBOL_FILE_MAX]; /* "" unknown */
	uint32_t line; /* 0 unknown */
};

struct symbol {
	int nframes; /* 0: nothing known; [0] innermost (inlined), the last is the real function */
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint64_t function_offset; /* of the address in the real function, when that is known */
};

struct symbol_server;

struct symbol_options {
	bool debuginfod; /* ask debuginfod; never otherwise */
	const char *debug_dir; /* NULL: the system's, /usr/lib/debug */
};

/* Starts the child lazily. Returns 0 and *out, or -errno. */
int symbol_server_new(const struct symbol_options *options, struct symbol_server **out);
void symbol_server_free(struct symbol_server *server);

/*
 * Names the code at @vaddr (as linked: file address, not run-time) of the ELF file open as @fd.
 * @path is for messages and for finding separate debug files (by build-id first, then debuglink next to it).
 * The caller passes the call's own address: return address minus one.
 * Returns 0 with *out filled as far as known, -ETIMEDOUT or -EPIPE when the child had to be given up (*out
 * is then empty).
 */
int symbol_lookup(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  struct symbol *out);

/* Name of the data object (global variable) that @vaddr lies in, into @name; false if unknown. */
bool symbol_data_name(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		      char name[SYMBOL_NAME_MAX]);

#endif /* SITES_SYMBOL_H */
