/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Address -> function, file:line and inlined frames, through libdw. An unprivileged child parses
 * the files, which are untrusted. If a file makes it crash or hang, the answer is "unknown", a new
 * child is started, and the tracer is unharmed.
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
 * One frame: the function that contains an address, or one inlined there. All strings are
 * untrusted.
 */
struct symbol_frame {
	char function[SYMBOL_NAME_MAX]; /* demangled; "": unknown */
	char file[SYMBOL_FILE_MAX]; /* "": unknown */
	uint32_t line; /* 0: unknown */
	uint32_t declared; /* identifies where the function is declared; 0: unknown */
};

struct symbol {
	int nframes; /* 0: unknown; [0] is the innermost (inlined), the last is the real function */
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint64_t function_offset; /* offset of the address in the real function, if known */
};

struct symbol_server;

struct symbol_options {
	/*
	 * Ask the servers in DEBUGINFOD_URLS; false: never ask a server. If the tracer is root, the
	 * child runs with user id 65534. This user must be able to write to DEBUGINFOD_CACHE_PATH.
	 */
	bool debuginfod;
	bool fetch_at_once; /* also before symbol_server_idle(NULL) */
	const char *debug_dir; /* absolute; NULL: the system's, /usr/lib/debug */
};

/*
 * Create a symboliser. Return 0 and *@out, to be freed with symbol_server_free(), or -ENOMEM.
 * @options (NULL: defaults) is copied. The first question forks the child, and the first one after
 * a failure forks a new child. Its exit status is collected here: a waitpid(-1) elsewhere must
 * tolerate it.
 */
int symbol_server_new(const struct symbol_options *options, struct symbol_server **out);
/* End the child and free all. NULL is allowed. */
void symbol_server_free(struct symbol_server *server);
/*
 * Set a function that is called every 2 ms or so while names are looked up, as other work is
 * waiting. @idle must not ask for names itself. debuginfod is not used then. Files of one owner may
 * use SYMBOL_OWNER_S of CPU time plus 1 % of the time since the start; beyond that symbol_lookup()
 * returns -EAGAIN. With NULL, no work is waiting, and earlier questions may be repeated for better
 * answers. Files of one owner may then use three times as much, and files of root or of our own
 * user any amount.
 */
void symbol_server_idle(struct symbol_server *server, void (*idle)(void *ctx), void *ctx);
/* Return whether answers may be better after symbol_server_idle(NULL). */
bool symbol_server_fetches_later(const struct symbol_server *server);
/*
 * Return whether a download from debuginfod timed out. debuginfod is not used any more after that.
 */
bool symbol_server_fetch_failed(const struct symbol_server *server);
/* Return whether no work is waiting (any more). */
bool symbol_server_is_later(const struct symbol_server *server);

#define SYMBOL_FILE_S  5 /* CPU time limit for the names of one file */
#define SYMBOL_OWNER_S 20 /* and for all files of one owner while work is waiting */
#define SYMBOL_MIB     512 /* memory limit for all files that are open at a time */

enum symbol_unnamed {
	/* too expensive: functions are from the symbol table, without lines */
	SYMBOL_UNNAMED_LINES,
	SYMBOL_UNNAMED_ALL, /* that failed as well, or the file is damaged */
	SYMBOL_UNNAMED_SILENT, /* the child did not answer */
	SYMBOL_UNNAMED_OWNER, /* the files of its owner are too expensive in total */
};

/* Call @each for files with missing names, with the reason. Return how many more there are. */
uint32_t symbol_unnamed(const struct symbol_server *server,
			void (*each)(void *ctx, const char *path, enum symbol_unnamed why),
			void *ctx);
/*
 * Close the child's descriptor of the file that is open as @fd here, so that its file system can be
 * unmounted.
 */
void symbol_forget(struct symbol_server *server, int fd);

/*
 * Name the code at @vaddr of the ELF file open as @fd. The address is as linked, not at run time.
 * The caller keeps @fd. @path helps to find separate debug files, by build id first, then by
 * debuglink next to it; may be NULL. Pass the address of the call itself: return address minus one.
 *
 * Return 0 with *@out filled as far as known (nframes 0: nothing). -ETIMEDOUT: the child was idle
 * for 5 s, or 60 s with debuginfod. -EDQUOT: it needed more than SYMBOL_FILE_S. -EPIPE: it exited.
 * After these three errors the child is replaced, and every further question about that file fails
 * at once. Return -EBADMSG if @fd is not a regular file, or -errno. On errors *@out is empty.
 */
int symbol_lookup(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  struct symbol *out);

/*
 * Write the name of the data object (global variable) that contains @vaddr into @name. Return false
 * and "" if it is unknown. The rules of symbol_lookup() apply.
 */
bool symbol_data_name(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		      char name[SYMBOL_NAME_MAX]);

/*
 * Demangle a C++ or Rust name, with its parameters, into @name. Return false if it is not mangled
 * or cannot be demangled. @fd is the file that contains it, which is charged if the child fails.
 */
bool symbol_source_name(struct symbol_server *server, int fd, const char *raw, char *name,
			size_t size);
/*
 * Count the parameters of the function that contains @vaddr, including `this`. Return false if
 * there is no debug information, or it does not say.
 */
bool symbol_parameters(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       uint32_t *n);
/*
 * Get the rule to find the caller of the code at @vaddr, see unwind_rule(). Return false if
 * unknown.
 */
bool symbol_frame_rule(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       struct sbt_frame_rule *rule);

/*
 * Unwind one frame by the file's rules for the code at @vaddr: from @regs to its caller. @regs and
 * @stack may be invalid. The rules of symbol_lookup() apply; without an answer step->result is
 * UNWIND_NO_RULES. The answer is untrusted: only step->result is known to be valid.
 */
int symbol_unwind(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  const struct stack_regs *regs, const struct sbt_stack *stack,
		  struct unwind_step *step);

#endif /* SYMBOLS_SYMBOL_H */
