/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The messages between the reader and its child. Private to this room. */
#ifndef SITES_READER_WIRE_H
#define SITES_READER_WIRE_H

#include "symbols/child.h"
#include "sites/reader.h"
#include "sites/rule.h"

#define READER_TEXT_MAX 4096
#define READER_PART	(32u << 10) /* maximum number of bytes of an answer in one message */
#define READER_ANSWER	(16u << 20) /* maximum size of a complete answer, in bytes */

/* A question. Its text follows, without a final NUL. */
struct reader_request {
	uint32_t question;
	uint32_t serial;
	uint32_t family;
	uint32_t text_len;
	uint64_t a, b;
	struct child_file file;
};

enum reader_sends {
	READER_SENDS_ANSWER, /* a part of the answer follows */
	READER_SENDS_NAME, /* question: the source name of the mangled name that follows */
	READER_SENDS_PARAMETERS, /* question: the number of parameters of the function at `value` */
};

struct reader_head {
	uint32_t serial;
	uint32_t sends; /* enum reader_sends */
	uint32_t error; /* error of an answer, as a positive number */
	uint32_t total; /* bytes of all parts */
	uint64_t value;
};

/* The tracer's reply to a question of the child. */
struct reader_reply {
	uint32_t known;
	uint32_t parameters;
	char text[2048];
};

/* The data that the child gets when it is started. */
struct reader_life {
	struct rules *rules, *known;
	bool names; /* the tracer can find names in the source */
};

/* Run the child. @life is a struct reader_life. */
void reader_child_run(void *life, int sock);

#endif /* SITES_READER_WIRE_H */
