/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Programs compiled by the test, and what independent tools report about them. */
#ifndef TEST_SITES_FIXTURE_H
#define TEST_SITES_FIXTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_check.h"
#include "elf/elf.h"

DEFINE_CLEANUP_PTR(pclose, FILE *)

struct fixture {
	char dir[64];
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->dir, "/tmp/sbt-unit-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	/*
	 * The symboliser's child runs as user 65534, and opens debug files in this directory by
	 * their paths.
	 */
	if (chmod(f->dir, 0755))
		return -1;
	*state = f;
	return 0;
}

__attribute__((format(printf, 2, 3))) static inline int fixture_try(const struct fixture *f,
								    const char *fmt, ...)
{
	char command[2048], args[1536];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "cd %s && { %s ; } 2>err", f->dir, args);
	return system(command);
}

static inline void fixture_show(const struct fixture *f)
{
	char command[128];

	snprintf(command, sizeof(command), "cat %s/err >&2", f->dir);
	if (system(command))
		print_message("nothing is known about it\n");
}

#define fixture_run(f, ...)                                           \
	do {                                                          \
		if (fixture_try(f, __VA_ARGS__)) {                    \
			fixture_show(f);                              \
			fail_msg("a command for the fixture failed"); \
		}                                                     \
	} while (0)

static inline bool fixture_has(const struct fixture *f, const char *program)
{
	return !fixture_try(f, "command -v %s >/dev/null", program);
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	if (chdir("/") || fixture_try(f, "rm -rf %s", f->dir))
		return -1;
	free(f);
	return 0;
}

static inline void fixture_write(const struct fixture *f, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline int fixture_open(const struct fixture *f, const char *name)
{
	char path[512];
	int fd;

	if (name[0] == '/')
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* Run a shell command, and store at most @size - 1 bytes of its output. */
__attribute__((format(printf, 4, 5))) static inline void
fixture_output(const struct fixture *f, char *buf, size_t size, const char *fmt, ...)
{
	char command[2048], args[1536];
	va_list ap;
	FILE *pipe CLEANUP_PTR(pclose);
	size_t n;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "cd %s && { %s ; }", f->dir, args);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(buf, 1, size - 1, pipe);
	buf[n] = 0;
}

/* Return the address that nm gives for @name. */
static inline uint64_t fixture_nm(const struct fixture *f, const char *file, const char *name)
{
	char out[256];

	fixture_output(
		f, out, sizeof(out),
		"{ nm %s; nm -D %s; } 2>/dev/null | "
		"awk -v name='%s' '$3 == name || index($3, name \"@\") == 1 { print $1; exit }'",
		file, file, name);
	assert_true(out[0]);
	return strtoull(out, NULL, 16);
}

static inline int fixture_elf(int fd, struct elf_file **out)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return elf_open(fd, (uint64_t)st.st_size, out);
}

/* Return all bytes of a file. The caller frees them. */
static inline uint8_t *fixture_slurp(int fd, size_t *len)
{
	struct stat st;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	*len = (size_t)st.st_size;
	return bytes;
}

/* Return a file in memory with these bytes. */
static inline int fixture_memory(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("fixture", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, 0), (ssize_t)len);
	return fd;
}

#endif /* TEST_SITES_FIXTURE_H */
