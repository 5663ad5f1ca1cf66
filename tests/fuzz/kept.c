// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * In place of the fuzzing engine: each file of a folder goes once through a fuzz_NAME.c, in a build
 * like that of the unit tests. An input that takes more than SECONDS ends the program, as one does
 * that a sanitizer finds something in; its name is on stderr by then.
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

/* Where nothing is made up. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data;
	(void)max;
	return size;
}

/* Of as many bytes as it has and none more, so that a read past its end is detected. */
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
	/* Nothing at all is an input, too. */
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
