/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the reader and its child say to each other. Of this room only. */
#ifndef SITES_READER_WIRE_H
#define SITES_READER_WIRE_H

#include "symbols/child.h"
#include "sites/reader.h"
#include "sites/rule.h"

#define READER_TEXT_MAX 4096
#define READER_PART	(32u << 10) /* bytes of an answer in one message */
#define READER_ANSWER	(16u << 20) /* and of all */

struct reader_request { /* a text follows, without its end */
	uint32_t question;
	uint32_t serial;
	uint32_t family;
	uint32_t text_len;
	uint64_t a, b;
	struct child_file file;
};

enum reader_says {
	READER_SAYS_ANSWER, /* a part of it follows */
	READER_SAYS_NAME, /* what does this mangled name read in the source? */
	READER_SAYS_PARAMETERS, /* how many has the function at `value`? */
};

struct reader_head {
	uint32_t serial;
	uint32_t says;
	uint32_t error; /* of an answer: positive */
	uint32_t total; /* bytes of all parts */
	uint64_t value;
};

/* What the tracer says to the latter two. */
struct reader_said {
	uint32_t known;
	uint32_t parameters;
	char text[2048];
};

/* As the child is born with it. */
struct reader_life {
	struct rules *rules, *known;
	bool names; /* somebody knows names */
};

/* The child's life; @life is a struct reader_life. */
void reader_child_run(void *life, int sock);

#endif /* SITES_READER_WIRE_H */
