/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Address -> function, file:line and inlined frames, through libdw. The parsing of files of unknown
 * origin happens in a child process without privileges: if a file makes it crash or hang, the
 * answer is "unknown", the child is started anew, and the tracer is unharmed.
 */
#ifndef SYMBOLS_SYMBOL_H
#define SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/stack.h"
#include "symbols/unwind.h"

#define SYMBOL_NAME_MAX	  256
#define SYMBOL_FILE_MAX	  512
#define SYMBOL_FRAMES_MAX 8

/* One frame: the function an address lies in, or one inlined there. All strings untrusted. */
struct symbol_frame {
	char function[SYMBOL_NAME_MAX]; /* demangled; "" unknown */
	char file[SYMBOL_FILE_MAX]; /* "" unknown */
	uint32_t line; /* 0 unknown */
	uint32_t declared; /* a number for where the function is declared; 0 unknown */
};

struct symbol {
	int nframes; /* 0: nothing known; [0] innermost (inlined), the last is the real function */
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint64_t function_offset; /* of the address in the real function, when that is known */
};

struct symbol_server;

struct symbol_options {
	/*
	 * Ask the servers in DEBUGINFOD_URLS; never otherwise. The child is nobody when the tracer
	 * is root, so DEBUGINFOD_CACHE_PATH must then name a directory that nobody may write.
	 */
	bool debuginfod;
	bool fetch_at_once; /* while somebody waits for something else, too: see symbol_server_idle() */
	const char *debug_dir; /* absolute; NULL: the system's, /usr/lib/debug */
};

/*
 * Returns 0 and *out, to be given to symbol_server_free(), or -ENOMEM. @options (NULL: all
 * defaults) is not kept. The child is forked by the first question, and anew after it had to be
 * given up; it is waited for here, and a waitpid(-1) elsewhere must not mind meeting it.
 */
int symbol_server_new(const struct symbol_options *options, struct symbol_server **out);
/* Ends the child. NULL is allowed. */
void symbol_server_free(struct symbol_server *server);
/*
 * From now on something else waits while names are asked for: @idle is called again and again meanwhile, each 2 ms or so, and
 * must not ask anything itself. No server of debuginfod is asked then, and files of one owner may take SYMBOL_OWNER_S of CPU time,
 * and 1 % of the time since: symbol_lookup() returns -EAGAIN beyond that. With NULL nothing waits any more, and what could have been
 * answered better may be asked again; files of one owner may then take three times as much, those of root and our own any.
 */
void symbol_server_idle(struct symbol_server *server, void (*idle)(void *ctx), void *ctx);
/* Might the answers be better later, when nothing waits any more? */
bool symbol_server_fetches_later(const struct symbol_server *server);
/* Has a server of debuginfod been waited for in vain? None is asked any more. */
bool symbol_server_fetch_failed(const struct symbol_server *server);
/* Does nothing wait (any more)? */
bool symbol_server_is_later(const struct symbol_server *server);

#define SYMBOL_FILE_S  5 /* CPU time for the names of one file */
#define SYMBOL_OWNER_S 20 /* and for all files of one owner while something waits */
#define SYMBOL_MIB     512 /* memory for all that are open at one time */

enum symbol_unnamed {
	SYMBOL_UNNAMED_LINES, /* too much to read: functions are known by the symbol table, lines are not */
	SYMBOL_UNNAMED_ALL, /* and that was too much, too, or damaged */
	SYMBOL_UNNAMED_SILENT, /* the child stood still */
	SYMBOL_UNNAMED_OWNER, /* all the files of its owner take too much */
};

/* Files of which not all names could be had, each with the reason. Returns how many more there are. */
uint32_t symbol_unnamed(const struct symbol_server *server,
			void (*each)(void *ctx, const char *path, enum symbol_unnamed why),
			void *ctx);
/* Makes the child close the file that is open as @fd, if it has it open: the file system may be unmounted then. */
void symbol_forget(struct symbol_server *server, int fd);

/*
 * Names the code at @vaddr (as linked: file address, not run-time) of the ELF file open as @fd,
 * which stays the caller's. @path serves to find separate debug files: by build id first, then by
 * debuglink next to it; may be NULL. The caller passes the address of the call itself: return
 * address minus one.
 * Returns 0 with *out filled as far as known (nothing: nframes 0), -ETIMEDOUT (when the child has done nothing for 5 s, or
 * 60 s with debuginfod), -EDQUOT (more than SYMBOL_FILE_S) or -EPIPE when the child had to be given up, and then at once for each
 * further question about that file; -EBADMSG when @fd is no regular file, -errno. On errors *out is empty.
 */
int symbol_lookup(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  struct symbol *out);

/*
 * Name of the data object (global variable) that @vaddr lies in, into @name; false, and "", if
 * unknown. What is said of symbol_lookup() holds here too.
 */
bool symbol_data_name(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		      char name[SYMBOL_NAME_MAX]);

/*
 * What a mangled name (C++, Rust) reads in the source, with its parameters, into @name. False: it is not mangled, or
 * cannot be read. @fd: the file that it is from, which is to blame if the child does not survive it.
 */
bool symbol_source_name(struct symbol_server *server, int fd, const char *raw, char *name,
			size_t size);
/*
 * How many parameters the function has that @vaddr lies in, `this` included. False: there is no debug information, or
 * it does not say.
 */
bool symbol_parameters(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       uint32_t *n);
/* How to find who called the code at @vaddr: unwind_rule(). False: it cannot be told. */
bool symbol_frame_rule(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       struct sbt_frame_rule *rule);

/*
 * One step of unwinding by the rules that the file has for the code at @vaddr: from the frame with
 * @regs to its caller. @regs and @stack need not make sense. What is said of symbol_lookup() holds
 * here too; without an answer step->result is UNWIND_NO_RULES. What it says comes from the file:
 * only step->result is known to be one of its values.
 */
int symbol_unwind(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  const struct stack_regs *regs, const struct sbt_stack *stack,
		  struct unwind_step *step);

#endif /* SYMBOLS_SYMBOL_H */
