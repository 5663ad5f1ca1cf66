/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the function, file:line and inlined frames of an address, through libdw. An unprivileged
 * child parses the files, which are untrusted. If a file makes the child crash or hang, the answer
 * is "unknown", and the next question starts a new child. The tracer is unharmed.
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

/*
 * One frame: the function that contains an address, or a function that was inlined there. All
 * strings are untrusted.
 */
struct symbol_frame {
	char function[SYMBOL_NAME_MAX]; /* demangled; "": unknown */
	char file[SYMBOL_FILE_MAX]; /* "": unknown */
	uint32_t line; /* 0: unknown */
	uint32_t declared; /* a hash that identifies the function's declaration; 0: unknown */
};

struct symbol {
	/*
	 * 0: unknown. frames[0] is the innermost function, which may be inlined; the last frame is
	 * the real function.
	 */
	int nframes;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint64_t function_offset; /* offset of the address in the real function; 0: unknown */
};

struct symbol_server;

struct symbol_options {
	/*
	 * Ask the servers in DEBUGINFOD_URLS. If false, never ask a server. If the tracer is root,
	 * the child runs with user id 65534, which must be able to write to DEBUGINFOD_CACHE_PATH.
	 */
	bool debuginfod;
	/*
	 * ask debuginfod servers even while other work is waiting, that is, while an idle function
	 * is set (symbol_server_idle())
	 */
	bool fetch_at_once;
	const char *debug_dir; /* absolute; NULL: the system's directory, /usr/lib/debug */
};

/*
 * Create a symboliser. Return 0 and *@out, to be freed with symbol_server_free(), or -ENOMEM.
 * @options (NULL: defaults) is copied. The first question forks the child. After a failure, the
 * next question forks a new child. The symboliser collects the child's exit status. If other code
 * calls waitpid(-1), it may get the child's pid first.
 */
int symbol_server_new(const struct symbol_options *options, struct symbol_server **out);
/* End the child and free everything. NULL is allowed. */
void symbol_server_free(struct symbol_server *server);
/*
 * Set a function that is called about every 2 ms while names are looked up, because other work is
 * waiting. @idle must not ask for names itself. While it is set, debuginfod is not used. Files of
 * one owner may then use SYMBOL_OWNER_S of CPU time plus 1 % of the time since the start; beyond
 * that, symbol_lookup() returns -EAGAIN. NULL means that no work is waiting any more. Earlier
 * questions may then be repeated for better answers. From then on, files of one owner may use three
 * times as much CPU time, and files of root or of the tracer's own user may use any amount.
 */
void symbol_server_idle(struct symbol_server *server, void (*idle)(void *ctx), void *ctx);
/*
 * Return whether answers may be better after symbol_server_idle() with NULL, because debuginfod
 * servers are asked only then.
 */
bool symbol_server_fetches_later(const struct symbol_server *server);
/*
 * Return whether a download from debuginfod timed out. After that, debuginfod is not used any more.
 */
bool symbol_server_fetch_failed(const struct symbol_server *server);
/* Return whether no other work is waiting (any more), that is, no idle function is set. */
bool symbol_server_is_later(const struct symbol_server *server);

#define SYMBOL_FILE_S  5 /* CPU time limit, in seconds, for the names of one file */
/* CPU time limit, in seconds, for all files of one owner while other work is waiting */
#define SYMBOL_OWNER_S 20
/* memory limit of the child, in MiB, for all files that it has open at the same time */
#define SYMBOL_MIB     512

enum symbol_unnamed {
	/*
	 * The file is too expensive: function names are from its symbol table, and lines are
	 * missing.
	 */
	SYMBOL_UNNAMED_LINES,
	SYMBOL_UNNAMED_ALL, /* the symbol table failed as well, or the file is damaged */
	SYMBOL_UNNAMED_SILENT, /* the child did not answer */
	SYMBOL_UNNAMED_OWNER, /* all files of the file's owner are too expensive in total */
};

/*
 * Call @each for each file with missing names, with the reason. Return the number of further such
 * files, which are not known by name any more.
 */
uint32_t symbol_unnamed(const struct symbol_server *server,
			void (*each)(void *ctx, const char *path, enum symbol_unnamed why),
			void *ctx);
/*
 * Make the child close its descriptor of the file that is open as @fd here, so that the file system
 * can be unmounted.
 */
void symbol_forget(struct symbol_server *server, int fd);

/*
 * Name the code at @vaddr, a linked address, of the ELF file open as @fd. The caller keeps @fd.
 * @path helps to find separate debug files, by build id first, then by debuglink next to @path; it
 * may be NULL. For a caller's frame, pass the address of the call: return address minus one.
 *
 * Return 0 with *@out filled as far as known (nframes 0: nothing). -ETIMEDOUT: the child was idle
 * for 5 s (60 s with debuginfod), or did not answer within 60 s. -EDQUOT: the child needed more CPU
 * time than SYMBOL_FILE_S. -EPIPE: the child exited. After these three errors the child is
 * replaced, and every further question about that file fails at once. Return -EBADMSG if @fd is not
 * a regular file, or another -errno. On errors *@out is empty.
 */
int symbol_lookup(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  struct symbol *out);

/*
 * Write the name of the data object (global variable) that contains @vaddr to @name. Return false
 * with an empty @name if it is unknown. The rules of symbol_lookup() apply.
 */
bool symbol_data_name(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		      char name[SYMBOL_NAME_MAX]);

/*
 * Demangle a C++ or Rust name into @name, including its parameters. Return false if @raw is not
 * mangled or cannot be demangled. @fd is the file that contains the name. If the child fails, this
 * file counts as the cause.
 */
bool symbol_source_name(struct symbol_server *server, int fd, const char *raw, char *name,
			size_t size);
/*
 * Count the parameters of the function that contains @vaddr, including `this`. Return false if
 * there is no debug information about them.
 */
bool symbol_parameters(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       uint32_t *n);
/*
 * Get the rule that finds the caller's frame for the code at @vaddr: see unwind_rule(). Return
 * false if it is unknown. *range (may be NULL): the code around @vaddr for which the answer is the
 * same.
 */
bool symbol_frame_rule(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       struct sbt_frame_rule *rule, struct unwind_range *range);

/*
 * Unwind one frame, from @regs to its caller, by the file's rules for the code at @vaddr. @regs and
 * @stack may be invalid. The rules of symbol_lookup() apply; without an answer step->result is
 * UNWIND_NO_RULES. The answer is untrusted: only step->result is known to be valid.
 */
int symbol_unwind(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  const struct stack_regs *regs, const struct sbt_stack *stack,
		  struct unwind_step *step);

#endif /* SYMBOLS_SYMBOL_H */
