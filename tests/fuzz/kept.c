// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * This file takes the place of the fuzzing engine. It passes each file of a folder once to
 * LLVMFuzzerTestOneInput() of a fuzz_NAME.c. The program is built like the unit tests. It prints
 * the name of each file to stderr before it passes the file on. It ends if an input takes more than
 * SECONDS, or if a sanitizer finds an error.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECONDS 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Without the engine, inputs are not mutated. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data;
	(void)max;
	return size;
}

/*
 * Read a file into a buffer of exactly its size, so that the sanitizer detects a read past the end.
 */
static uint8_t *read_whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;

	if (!f)
		return NULL;
	if (!fstat(fileno(f), &st)) {
		*size = (size_t)st.st_size;
		data = malloc(*size);
		if (data && fread(data, 1, *size, f) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(f);
	return data;
}

static int run(const char *folder, const char *name)
{
	char path[4096];
	uint8_t *data;
	size_t size;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -1;
	data = read_whole(path, &size);
	if (!data) {
		fprintf(stderr, "%s cannot be read\n", path);
		return -1;
	}
	fprintf(stderr, "%s\n", path);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(data, size);
	alarm(0);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1, failed = 0,
	    inputs = 0, i;

	if (n < 0) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	/* Test the empty input, too. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (i = 0; i < n; i++) {
		if (*entries[i]->d_name != '.') {
			failed |= run(argv[1], entries[i]->d_name);
			inputs++;
		}
		free(entries[i]);
	}
	free(entries);
	fprintf(stderr, "stat::number_of_executed_units: %d\n", inputs);
	return failed || !inputs;
}
