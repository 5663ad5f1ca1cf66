/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Data of one thread that another one reads or writes, as a marker of the program says. */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* A thread touched another one's data, as it said by a marker. */
struct model_message {
	uint32_t tgid, inc, tid; /* who did */
	uint64_t t_ns;
	uint64_t oncpu_ns; /* how much of its phase it had computed by then; MODEL_UNKNOWN */
	uint32_t
		owner; /* the other one's number in the program; in a prediction less than PREDICT_THREADS_MAX, or it is left out */
	uint32_t bytes;
	bool write;
};

#endif /* MODEL_MESSAGE_H */
