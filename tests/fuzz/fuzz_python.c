// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Frames of CPython in arbitrary memory, and arbitrary line tables. The first byte selects the
 * version; the rest is the memory of a process, repeated at all addresses.
 */
// fuzz-sources: user/symbols/python.c user/base/text.c
// fuzz-libs: -lm
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/python.h"

#define READS_MAX 20000

struct input {
	const uint8_t *data;
	size_t size;
	uint32_t reads;
};

static int input_read(void *ctx, uint64_t address, void *out, size_t size)
{
	struct input *in = ctx;
	size_t i;

	/* The limits of the reader are for processes; a fuzzer needs shorter runs. */
	if (!in->size || address >> 48 || in->reads++ > READS_MAX)
		return -EFAULT;
	for (i = 0; i < size; i++)
		((uint8_t *)out)[i] = in->data[(address + i) % in->size];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct python_frame frames[PYTHON_FRAMES_MAX];
	struct sbt_python_layout layout;
	struct input in = { data + 1, size - 1, 0 };
	struct python_memory memory = { &in, input_read };
	uint32_t minor;
	int i, n;

	if (size < 2)
		return 0;
	minor = SBT_PYTHON_FIRST + data[0] % SBT_PYTHON_VERSIONS;
	if (!python_layout(minor, &memory, 0x1000, &layout)) {
		n = python_frames(&layout, &memory, 0x1000, data[1], frames, PYTHON_FRAMES_MAX);
		for (i = 0; i < n; i++)
			if (strlen(frames[i].function) >= PYTHON_NAME_MAX ||
			    strlen(frames[i].file) >= PYTHON_FILE_MAX)
				abort();
		if (!python_code(&layout, &memory, data[1] * 8u, data[0], &frames[0]) &&
		    (strlen(frames[0].function) >= PYTHON_NAME_MAX ||
		     strlen(frames[0].file) >= PYTHON_FILE_MAX))
			abort();
	}
	python_line(minor, data + 1, size - 1, data[0], data[1] * 4u);
	return 0;
}
