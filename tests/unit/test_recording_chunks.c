// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check files of chunks: written data can be read back, and cut or damaged files yield no wrong
 * data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "test_check.h"
#include "recording/chunks.h"

DEFINE_CLEANUP_PTR(chunks_reader_free, struct chunks_reader *)

#define NBLOCKS 6

/* Make the n-th chunk of the test files. Even chunks compress well, odd chunks do not. */
static size_t content(unsigned int n, uint8_t *to)
{
	size_t size = 100 + n * 37;
	uint32_t x = n * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		x = x * 1664525u + 1013904223u;
		to[i] = n % 2 ? (uint8_t)(x >> 24) : (uint8_t)n;
	}
	return size;
}

static int new_file(void)
{
	int fd = memfd_create("blocks", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int written_file(void)
{
	struct chunks_writer *w;
	uint8_t bytes[1024];
	unsigned int n;
	int fd = new_file();

	assert_int_equal(chunks_create(fd, &w), 0);
	for (n = 0; n < NBLOCKS; n++)
		assert_int_equal(chunks_write(w, (uint16_t)(1 + n % 2), bytes, content(n, bytes)),
				 0);
	assert_int_equal(chunks_written(w), lseek(fd, 0, SEEK_END));
	chunks_writer_free(w);
	return fd;
}

static void same_as_written(const struct chunk *b, unsigned int n)
{
	uint8_t bytes[1024];

	assert_fields(b, IS(kind, 1 + n % 2), IS(size, content(n, bytes)));
	assert_memory_equal(b->content, bytes, b->size);
}

static void test_there_and_back(void **unused)
{
	int fd CLEANUP_PTR(close) = written_file();
	struct chunks_reader *r CLEANUP_PTR(chunks_reader_free);
	struct chunk b;
	unsigned int n;

	assert_int_equal(chunks_open(fd, &r), 0);
	for (n = 0; n < NBLOCKS; n++) {
		assert_int_equal(chunks_next(r, ~0ull, &b), 1);
		same_as_written(&b, n);
	}
	assert_int_equal(chunks_next(r, ~0ull, &b), 0);
	assert_int_equal(chunks_ended(r), CHUNKS_INTACT);
	/* Read again from the beginning, but only chunks of one kind. */
	assert_int_equal(chunks_rewind(r), 0);
	for (n = 1; n < NBLOCKS; n += 2) {
		assert_int_equal(chunks_next(r, 1u << 2, &b), 1);
		same_as_written(&b, n);
	}
	assert_int_equal(chunks_next(r, 1u << 2, &b), 0);
	assert_int_equal(chunks_ended(r), CHUNKS_INTACT);
}

/* The file is cut after every byte. All complete chunks are read. */
static void test_cut(void **unused)
{
	int whole = written_file();
	off_t size = lseek(whole, 0, SEEK_END), at;
	uint8_t *bytes = malloc((size_t)size);
	unsigned int most = 0;

	assert_int_equal(pread(whole, bytes, (size_t)size, 0), size);
	for (at = 0; at < size; at++) {
		struct chunks_reader *r;
		struct chunk b;
		unsigned int n = 0;
		int fd = new_file(), err;

		assert_int_equal(pwrite(fd, bytes, (size_t)at, 0), at);
		err = chunks_open(fd, &r);
		if (at < 16) {
			assert_int_equal(err, at ? -EBADMSG : -ENODATA);
			close(fd);
			continue;
		}
		assert_int_equal(err, 0);
		while (chunks_next(r, ~0ull, &b) == 1)
			same_as_written(&b, n++);
		assert_true(n < NBLOCKS);
		assert_true(n >= most);
		most = n;
		assert_true(chunks_ended(r) == CHUNKS_CUT || chunks_ended(r) == CHUNKS_INTACT);
		chunks_reader_free(r);
		close(fd);
	}
	assert_int_equal(most, NBLOCKS - 1);
	free(bytes);
	close(whole);
}

/*
 * Single bits are inverted, one at a time. Each chunk must be read unchanged, or reported as
 * damaged.
 */
static void test_damaged(void **unused)
{
	int fd CLEANUP_PTR(close) = written_file();
	off_t size = lseek(fd, 0, SEEK_END), at;
	unsigned int bit, damaged = 0;

	for (at = 0; at < size; at++) {
		for (bit = 0; bit < 8; bit += 3) {
			struct chunks_reader *r;
			struct chunk b;
			unsigned int n = 0;
			uint8_t was, is;

			assert_int_equal(pread(fd, &was, 1, at), 1);
			is = was ^ (uint8_t)(1u << bit);
			assert_int_equal(pwrite(fd, &is, 1, at), 1);
			if (!chunks_open(fd, &r)) {
				while (chunks_next(r, ~0ull, &b) == 1)
					same_as_written(&b, n++);
				damaged += chunks_ended(r) == CHUNKS_DAMAGED;
				assert_true(chunks_ended(r) != CHUNKS_INTACT || n == NBLOCKS);
				chunks_reader_free(r);
			}
			assert_int_equal(pwrite(fd, &was, 1, at), 1);
		}
	}
	assert_true(damaged > 100);
}

static int open_with(const void *bytes, size_t at, size_t n)
{
	int fd = written_file(), err;
	struct chunks_reader *r;

	assert_int_equal(pwrite(fd, bytes, n, (off_t)at), n);
	err = chunks_open(fd, &r);
	if (!err)
		chunks_reader_free(r);
	close(fd);
	return err;
}

static void test_of_others(void **unused)
{
	const uint32_t other_order = 0x04030201;
	const uint16_t later = CHUNKS_VERSION + 1;

	assert_int_equal(open_with("\x7f"
				   "ELF",
				   0, 4),
			 -EBADMSG);
	/* The file was transferred as text, which changed a line end of two bytes to one byte. */
	assert_int_equal(open_with("\n", 4, 1), -EBADMSG);
	assert_int_equal(open_with(&other_order, 8, sizeof(other_order)), -EILSEQ);
	assert_int_equal(open_with(&later, 12, sizeof(later)), -EPROTONOSUPPORT);
}

/* A file size limit stands for a full disk: data written before can be read. */
static void test_no_room(void **unused)
{
	struct rlimit was, limit;
	struct chunks_writer *w;
	struct chunks_reader *r CLEANUP_PTR(chunks_reader_free);
	uint8_t bytes[1024];
	struct chunk b;
	unsigned int n = 0, read = 0;
	char path[] = "/tmp/blocks.XXXXXX";
	int fd CLEANUP_PTR(close) = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	limit.rlim_cur = 500;
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(chunks_create(fd, &w), 0);
	while (n < NBLOCKS && !chunks_write(w, (uint16_t)(1 + n % 2), bytes, content(n, bytes)))
		n++;
	setrlimit(RLIMIT_FSIZE, &was);
	assert_true(n > 0 && n < NBLOCKS);
	/* Nothing is written after a failure. */
	assert_int_equal(chunks_write(w, 1, bytes, 10), -EFBIG);
	chunks_writer_free(w);
	assert_int_equal(chunks_open(fd, &r), 0);
	while (chunks_next(r, ~0ull, &b) == 1)
		same_as_written(&b, read++);
	assert_int_equal(read, n);
	assert_int_equal(chunks_ended(r), CHUNKS_CUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),	       cmocka_unit_test(test_of_others),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
