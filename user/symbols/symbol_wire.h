/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Messages between the symboliser and its child. Only for files of user/symbols. */
#ifndef SYMBOLS_SYMBOL_WIRE_H
#define SYMBOLS_SYMBOL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "symbols/child.h"
#include "symbols/stack.h"
#include "symbols/symbol.h"
#include "symbols/unwind.h"

#define SYMBOL_PATH_MAX 4096
#define SYMBOL_TEXT_MAX 2048

enum symbol_question {
	SYMBOL_ASK_CODE = 1,
	SYMBOL_ASK_DATA = 2,
	SYMBOL_ASK_UNWIND = 3, /* with a struct symbol_unwind after the request */
	SYMBOL_ASK_NAME = 4, /* no file: demangle the name in `path` */
	SYMBOL_ASK_PARAMETERS = 5,
	SYMBOL_ASK_RULE = 6,
	SYMBOL_FORGET = 7, /* not a question: close the file */
};

struct symbol_request {
	uint32_t question;
	uint32_t serial;
	uint32_t plain; /* not 0: do not use the debug information */
	uint32_t pad;
	uint64_t vaddr;
	struct child_file identity;
	char path[SYMBOL_PATH_MAX];
};

/* The registers of the frame to unwind, and the sample of the thread's stack. */
struct symbol_unwind {
	struct stack_regs regs;
	struct sbt_stack stack;
};

struct symbol_reply {
	uint32_t serial;
	/* not 0: the member that holds the answer is valid (data, text, parameters or rule) */
	uint32_t known;
	uint32_t parameters;
	char data[SYMBOL_NAME_MAX];
	char text[SYMBOL_TEXT_MAX];
	struct symbol code;
	struct unwind_step step;
	struct sbt_frame_rule rule;
	struct unwind_range range; /* for SYMBOL_ASK_RULE, also without a rule */
};

/* Copy a string and fill the rest of @to with 0, so that no other memory of the sender is sent. */
static inline void symbol_copy(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	memset(to + len, 0, size - len);
}

/* Answer questions over @sock until it is closed. @debug_path is in libdwfl's format. */
void symbol_child_run(void *debug_path, int sock);

#endif /* SYMBOLS_SYMBOL_WIRE_H */
