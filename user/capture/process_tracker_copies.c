// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle programs that run a copy of code. Copied breakpoints are replaced by the original code,
 * before the copy runs if possible. Only a breakpoint is overwritten, and only if the bytes around
 * it equal the bytes around a probe of sbt-trace in its file.
 */
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/copies.h"
#include "base/array.h"
#include "base/msg.h"
#include "base/remark.h"
#include "target/look.h"
#include "target/maps.h"
#include "target/proc.h"

/*
 * Maximum total number of bytes that are searched in the memory of one process. Each search of the
 * range where the program's own code is (sbt_event.own_code) has a separate limit,
 * SEARCH_OWN_BYTES.
 */
#define SEARCH_BYTES	 (64u << 20)
#define SEARCH_OWN_BYTES (256u << 20)

/* How often, and at what interval, a running process is searched again. */
#define SEARCH_TIMES	8
#define SEARCH_AGAIN_US 50

/* How long to wait until a process is stopped: 20 ms. */
#define STOP_LOOKS   400
#define STOP_LOOK_US 50

#define WINDOW_BYTES (256u << 10) /* bytes per read */
#define WINDOW_PAGES 512 /* pages per read of pagemap */

/* bits of /proc/PID/pagemap: the page is in memory, or swapped */
#define PAGE_PRESENT (1ULL << 63 | 1ULL << 62)

struct search {
	const struct copies *copies;
	int pid, mem, pagemap;
	uint64_t page_bytes;
	uint64_t dev, ino; /* numbers of the searched file, from stat(); 0: no file */
	uint64_t budget; /* pages that may still be read */
	uint8_t *window;
	/* number of breakpoints that were replaced, and that could not be replaced */
	uint32_t replaced, left;
	int error; /* why some breakpoints could not be replaced: -errno */
	bool moved; /* some memory was gone when it was read */
};

/* Open the file of a mapping, even if it has no name. Return the descriptor or -errno. */
static int open_mapped(const struct search *s, const struct maps_entry *e, int flags)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, s->pid, e->start,
		 e->end);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/*
 * Return whether the file has a copied breakpoint. Another file may by now be mapped at the
 * address.
 */
static bool in_file(const struct search *s, int fd, uint64_t offset)
{
	uint64_t from = offset < COPIES_AROUND ? 0 : offset - COPIES_AROUND;
	uint8_t bytes[2 * COPIES_AROUND + SBT_BREAKPOINT_BYTES];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || st.st_ino != s->ino || st.st_dev != s->dev)
		return false;
	n = pread(fd, bytes, sizeof(bytes), (off_t)from);
	return n > (ssize_t)(offset - from) &&
	       copies_at(s->copies, bytes, (size_t)n, offset - from) != NULL;
}

/*
 * Write to a shared mapping through its file, because /proc/PID/mem refuses to write to such a
 * mapping. Return 0 or -errno.
 */
static int write_shared(const struct search *s, const struct maps_entry *e, uint64_t address,
			const uint8_t *bytes)
{
	uint64_t offset = address - e->start + e->offset;
	int fd = open_mapped(s, e, O_RDWR), err = -ESTALE;

	if (fd < 0)
		return fd;
	if (in_file(s, fd, offset))
		err = pwrite(fd, bytes, SBT_BREAKPOINT_BYTES, (off_t)offset) == SBT_BREAKPOINT_BYTES
			      ? 0
			      : -errno;
	close(fd);
	return err;
}

static int write_there(const struct search *s, const struct maps_entry *e, uint64_t address,
		       const uint8_t *bytes)
{
	if (e->shared)
		return write_shared(s, e, address, bytes);
	if (s->mem < 0)
		return s->mem;
	return pwrite(s->mem, bytes, SBT_BREAKPOINT_BYTES, (off_t)address) == SBT_BREAKPOINT_BYTES
		       ? 0
		       : -errno;
}

/*
 * Replace a breakpoint. The process may have changed the memory, so check the bytes around the
 * breakpoint again before writing.
 */
static void replace(struct search *s, const struct maps_entry *e, uint64_t start, uint64_t end,
		    uint64_t address)
{
	uint64_t from = address - start < COPIES_AROUND ? start : address - COPIES_AROUND;
	uint8_t bytes[2 * COPIES_AROUND + SBT_BREAKPOINT_BYTES];
	size_t n = sizeof(bytes) < end - from ? sizeof(bytes) : end - from;
	const uint8_t *original;
	int err;

	if (look_read(s->pid, from, bytes, n)) {
		s->moved = true;
		return;
	}
	original = copies_at(s->copies, bytes, n, address - from);
	if (!original)
		return;
	err = write_there(s, e, address, original);
	if (err) {
		s->left++;
		s->error = err;
	} else {
		s->replaced++;
	}
}

/* Search memory that is known to be present. */
static void search_run(struct search *s, const struct maps_entry *e, uint64_t start, uint64_t end)
{
	const uint8_t *original;
	uint64_t from;
	size_t at;
	long n;

	for (from = start; from < end;) {
		size_t size = end - from < WINDOW_BYTES ? end - from : WINDOW_BYTES;

		n = look_read_some(s->pid, from, s->window, size);
		if (n != (long)size) {
			s->moved = true;
			return;
		}
		for (at = 0; (at = copies_next(s->copies, s->window, size, at, &original)) < size;
		     at++) {
			/* Later comparisons need the original code in the window. */
			memcpy(s->window + at, original, SBT_BREAKPOINT_BYTES);
			replace(s, e, from, from + size, from + at);
		}
		if (size < WINDOW_BYTES)
			return;
		/* Windows overlap, so that a breakpoint near the end of a window is found. */
		from += WINDOW_BYTES - 2 * COPIES_AROUND;
	}
}

/* Search anonymous memory. Skip pages that were never touched: reading would create them. */
static void search_pages(struct search *s, const struct maps_entry *e, uint64_t start, uint64_t end)
{
	uint64_t there[WINDOW_PAGES], at, run = 0;
	size_t i, want;
	ssize_t n;

	for (at = start; at < end && s->budget;) {
		want = (end - at) / s->page_bytes;
		want = want < WINDOW_PAGES ? want : WINDOW_PAGES;
		want = want < s->budget ? want : s->budget;
		n = pread(s->pagemap, there, want * sizeof(*there),
			  (off_t)(at / s->page_bytes * sizeof(*there)));
		want = n > 0 ? (size_t)n / sizeof(*there) : 0;
		if (!want)
			break;
		for (i = 0; i < want; i++, at += s->page_bytes) {
			if (there[i] & PAGE_PRESENT) {
				run = run ? run : at;
				s->budget--;
			} else if (run) {
				search_run(s, e, run, at);
				run = 0;
			}
		}
	}
	if (run)
		search_run(s, e, run, at);
}

/*
 * Search a mapped file, including pages that the process never read. Return false if SEEK_DATA is
 * unsupported.
 */
static bool search_file(struct search *s, int fd, const struct maps_entry *e, uint64_t start,
			uint64_t end)
{
	uint64_t shift = e->start - e->offset, most;
	off_t data, hole;

	while (start < end && s->budget) {
		data = lseek(fd, (off_t)(start - shift), SEEK_DATA);
		if (data < 0)
			return errno == ENXIO;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return false;
		/* Round up: the last page of a file is mapped completely. */
		start = ((uint64_t)data & ~(s->page_bytes - 1)) + shift;
		most = (((uint64_t)hole + s->page_bytes - 1) & ~(s->page_bytes - 1)) + shift;
		most = most < end ? most : end;
		if (start >= most)
			break;
		if (most - start > s->budget * s->page_bytes)
			most = start + s->budget * s->page_bytes;
		s->budget -= (most - start) / s->page_bytes;
		search_run(s, e, start, most);
		start = most;
	}
	return true;
}

/* Return whether the mapping may be a copy: heap, anonymous, or a deleted file. */
static bool may_be_copy(const struct maps_entry *e)
{
	return e->ino ? e->deleted
		      : e->path[0] != '[' || !strncmp(e->path, "[anon", 5) ||
				!strcmp(e->path, "[heap]");
}

/*
 * Search the part of a mapping between @start and @end. Return false if it maps a file that has
 * probes itself.
 */
static bool search(struct search *s, const struct maps_entry *e, uint64_t start, uint64_t end)
{
	int fd = e->ino ? open_mapped(s, e, O_RDONLY) : -1;
	bool known, probed;
	struct stat st;

	/* Use the numbers from stat(): /proc/PID/maps may show another device number. */
	known = fd >= 0 && !fstat(fd, &st);
	s->dev = known ? st.st_dev : 0;
	s->ino = known ? st.st_ino : 0;
	probed = e->ino &&
		 copies_in_file(s->copies, known ? &s->dev : NULL, known ? s->ino : e->ino);
	if (!probed && (fd < 0 || !search_file(s, fd, e, start, end)))
		search_pages(s, e, start, end);
	if (fd >= 0)
		close(fd);
	return !probed;
}

/* Which mappings to search. */
enum search_what { SEARCH_ALL, SEARCH_CODE, SEARCH_DATA };

/* Search mappings between @start and @end. Return whether any of them may be a copy. */
static bool search_between(struct search *s, enum search_what what, uint64_t start, uint64_t end)
{
	struct maps maps;
	bool any = false;

	if (maps_read(s->pid, &maps))
		return true;
	array_for_each (e, maps.entries, maps.n) {
		if (what != SEARCH_ALL && e->exec != (what == SEARCH_CODE))
			continue;
		if (e->start >= end || e->end <= start || !may_be_copy(e))
			continue;
		any |= search(s, e, e->start > start ? e->start : start,
			      e->end < end ? e->end : end);
	}
	maps_free(&maps);
	return any;
}

/*
 * Search the process during the call that makes memory executable. If the process is stopped,
 * search it after that call.
 */
static void search_process(struct search *s, const struct sbt_event *event)
{
	bool held = event->flags & SBT_EVENT_HELD, any;
	int times = 0;

	any = search_between(s, SEARCH_ALL, event->range_start, event->range_end);
	/*
	 * Search again if the call has not finished, or if its memory was moved to its final
	 * address.
	 */
	while (!held && !s->replaced && (!any || s->moved) && times++ < SEARCH_TIMES) {
		s->moved = false;
		usleep(SEARCH_AGAIN_US);
		any = search_between(s, SEARCH_CODE, 0, UINT64_MAX);
	}
	/*
	 * The call only made room for code. The program will copy code from its data to this room,
	 * so search the data for breakpoints.
	 */
	if (event->replaces && !s->replaced && !s->left)
		search_between(s, SEARCH_DATA, 0, UINT64_MAX);
}

/* Wait until the process is stopped as its call returns. */
static void wait_stopped(uint32_t pid)
{
	struct look look;
	int i;

	for (i = 0; i < STOP_LOOKS; i++) {
		if (look_again((int)pid, (int)pid, &look) || look.state == 'T')
			return;
		usleep(STOP_LOOK_US);
	}
}

static int search_open(struct search *s, uint32_t pid)
{
	char path[32];

	s->pid = (int)pid;
	s->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	s->window = malloc(WINDOW_BYTES);
	if (!s->window)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	s->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (s->pagemap < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	s->mem = open(path, O_RDWR | O_CLOEXEC);
	if (s->mem < 0)
		s->mem = -errno;
	return 0;
}

static void search_close(struct search *s)
{
	if (s->pagemap >= 0)
		close(s->pagemap);
	if (s->mem >= 0)
		close(s->mem);
	free(s->window);
}

/*
 * Report the copies that were found. If @traced is false, the process has copied probes that all
 * processes share, and the report does not contain the process.
 */
static void report_copies(const struct tracker *t, const struct search *s, bool traced)
{
	char comm[16] = "?";

	proc_comm(s->pid, s->pid, comm);
	if (!traced)
		msg_verbose(t->options.verbose,
			    "process %d (%s), which is not traced, runs a copy of code with "
			    "probes: %u breakpoints in it were replaced by the original code, %u "
			    "could not be",
			    s->pid, comm, s->replaced, s->left);
	else if (s->left)
		remark_warn("copied", (uint32_t)s->pid,
			    "process %d (%s) runs a copy of code with probes. %u breakpoints in "
			    "the copy could not be replaced by the original code (%s): the process "
			    "dies of SIGTRAP when it reaches one of them",
			    s->pid, comm, s->left, strerror(-s->error));
	else
		remark_warn("copied", (uint32_t)s->pid,
			    "process %d (%s) runs a copy of code with probes, as a program that "
			    "replaces its own text does. The breakpoints in the copy were replaced "
			    "by the original code: barriers that are crossed in it are not seen",
			    s->pid, comm);
}

void tracker_copied(struct tracker *t, const struct sbt_event *event)
{
	struct search s = { .copies = attach_copies(t->attach), .pagemap = -1, .mem = -1 };
	uint64_t before = 0, most;

	/* If SIGCONT were sent before the process has stopped, the process would stay stopped. */
	if (event->flags & SBT_EVENT_HELD)
		wait_stopped(event->tgid);
	hash_get(&t->copied, event->tgid, &before);
	if (!search_open(&s, event->tgid)) {
		most = (event->own_code ? SEARCH_OWN_BYTES : SEARCH_BYTES) / s.page_bytes;
		s.budget = event->own_code ? most : most - (before >> 1);
		most = s.budget;
		search_process(&s, event);
		if (!event->own_code)
			before += (most - s.budget) << 1;
		if ((s.replaced || s.left) && !(before & 1)) {
			report_copies(t, &s, event->inc);
			before |= 1;
		}
		hash_put(&t->copied, event->tgid, before);
	}
	search_close(&s);
	tracker_resume(t, event);
}

void tracker_copied_forget(struct tracker *t)
{
	struct hash left = { 0 };
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;
	int err = 0;

	while ((e = hash_next(&t->copied, &pos, &zero)) && !err)
		if (!kill((pid_t)e->key, 0) || errno != ESRCH)
			err = hash_put(&left, e->key, e->value);
	/* If memory runs out, keep all entries. */
	if (err) {
		hash_free(&left);
		return;
	}
	hash_free(&t->copied);
	t->copied = left;
}
