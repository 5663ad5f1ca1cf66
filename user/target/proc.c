// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/grow.h"

static int each_number(const char *path, void (*each)(void *ctx, int number), void *ctx)
{
	DIR *dir = opendir(path);
	const struct dirent *d;
	int n = 0;

	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((d = readdir(dir))) {
		char *end;
		long number = strtol(d->d_name, &end, 10);

		if (*end || number <= 0)
			continue;
		each(ctx, (int)number);
		n++;
	}
	closedir(dir);
	return n;
}

int proc_each_thread(int pid, void (*each)(void *ctx, int tid), void *ctx)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return each_number(path, each, ctx);
}

int proc_each(void (*each)(void *ctx, int pid), void *ctx)
{
	return each_number("/proc", each, ctx);
}

ssize_t proc_read(void *text, size_t size, const char *format, ...)
{
	char path[64];
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	*(char *)text = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	else
		((char *)text)[n] = '\0';
	close(fd);
	return n;
}

int proc_read_all(int fd, size_t max, char **out, size_t *len)
{
	char *text = NULL;
	size_t cap = 0, n = 0;
	ssize_t got;
	int err;

	do {
		/* Read in pieces, because the size of a file in /proc is not known in advance. */
		err = grow(text, cap, n + 4096 + 1);
		if (err)
			goto fail;
		got = read(fd, text + n, cap - n - 1);
		if (got < 0) {
			err = -errno;
			goto fail;
		}
		n += (size_t)got;
		text[n] = '\0';
	} while (got && n < max);
	*out = text;
	*len = n;
	return 0;

fail:
	free(text);
	return err;
}

/* maximum size of a command line in bytes; longer command lines are cut */
#define WORDS_BYTES 32768

int proc_words(int pid, char **words, size_t max)
{
	char *text = malloc(WORDS_BYTES), *at;
	size_t n = 0;
	ssize_t len;

	if (!text)
		return -ENOMEM;
	len = proc_read(text, WORDS_BYTES, "/proc/%d/cmdline", pid);
	for (at = text; len > 0 && at < text + len && n < max; at += strlen(at) + 1)
		words[n++] = at;
	words[n] = NULL;
	if (!n)
		free(text);
	return len < 0 ? (int)len : (int)n;
}

int proc_comm(int pid, int tid, char comm[16])
{
	char buf[64];
	ssize_t n = proc_read(buf, sizeof(buf), "/proc/%d/task/%d/comm", pid, tid);

	if (n < 0)
		return (int)n;
	if (n && buf[n - 1] == '\n')
		buf[--n] = '\0';
	memset(comm, 0, 16);
	memcpy(comm, buf, n < 15 ? (size_t)n : 15);
	return 0;
}

int proc_image(int pid, struct proc_image *image)
{
	struct proc_image read = { 0 };
	char buf[1024];
	const char *close;
	ssize_t n = proc_read(buf, sizeof(buf), "/proc/%d/stat", pid);

	if (n < 0)
		return (int)n;
	/* Numbers follow the name, which may contain any characters. */
	close = strrchr(buf, ')');
	if (!close || sscanf(close + 1,
			     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u "
			     "%*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &read.code, &read.code_end, &read.stack) != 3)
		return -EBADMSG;
	if (!read.code)
		return -ESRCH;
	if (!read.stack)
		return -EACCES;
	*image = read;
	return 0;
}

int proc_tgid(int pid, int *tgid)
{
	char buf[512];
	const char *line;
	ssize_t n = proc_read(buf, sizeof(buf), "/proc/%d/status", pid);

	if (n < 0)
		return (int)n;
	/* The name is before this line, but contains no newline: the kernel escapes it. */
	line = strstr(buf, "\nTgid:");
	if (!line || sscanf(line, "\nTgid: %d", tgid) != 1)
		return -ESRCH;
	return 0;
}

bool proc_alive(int pid)
{
	char buf[512], state;
	const char *line;

	if (proc_read(buf, sizeof(buf), "/proc/%d/status", pid) < 0)
		return false;
	line = strstr(buf, "\nState:");
	return line && sscanf(line, "\nState: %c", &state) == 1 && state != 'Z' && state != 'X';
}

/* Parse fields 10 and 20 of a stat file: minor faults and number of threads. */
static bool parse_faults(const char *stat, unsigned long *faults, long *threads)
{
	const char *rest = strrchr(stat, ')');

	return rest && sscanf(rest,
			      ") %*c %*d %*d %*d %*d %*d %*u %lu %*u %*u %*u %*u %*u %*d %*d "
			      "%*d %*d %ld",
			      faults, threads) == 2;
}

bool proc_was_alone(int pid)
{
	unsigned long all, own;
	char stat[512];
	long threads;

	/*
	 * Read the process's number of faults first. The thread's number can only grow until it is
	 * read, so a process that has had only one thread always passes the check.
	 */
	if (!proc_alive(pid) || proc_read(stat, sizeof(stat), "/proc/%d/stat", pid) < 0 ||
	    !parse_faults(stat, &all, &threads) || threads != 1)
		return false;
	return proc_read(stat, sizeof(stat), "/proc/%d/task/%d/stat", pid, pid) >= 0 &&
	       parse_faults(stat, &own, &threads) && all <= own;
}

int proc_waits_at(int pid, int tid, uint64_t *address)
{
	char buf[256];
	unsigned long long word;
	ssize_t n = proc_read(buf, sizeof(buf), "/proc/%d/task/%d/syscall", pid, tid);
	long nr;

	*address = 0;
	if (n < 0)
		return (int)n;
	/*
	 * The text is "running", or it begins with the number and arguments of the system call in
	 * which the thread is blocked.
	 */
	if (!strncmp(buf, "running", 7))
		*address = UINT64_MAX;
	else if (sscanf(buf, "%ld 0x%llx", &nr, &word) == 2 && nr == SYS_futex)
		*address = word;
	return 0;
}

uint64_t proc_own_cpu_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

static void note_node(void *ctx, const char *name)
{
	uint32_t *node = ctx;
	unsigned int number;
	char rest;

	if (sscanf(name, "node%u%c", &number, &rest) == 1)
		*node = number;
}

static int each_name(const char *path, void (*each)(void *ctx, const char *name), void *ctx)
{
	DIR *dir = opendir(path);
	const struct dirent *d;

	if (!dir)
		return -errno;
	while ((d = readdir(dir)))
		each(ctx, d->d_name);
	closedir(dir);
	return 0;
}

int proc_cpu_nodes(uint32_t **out, uint32_t *n)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), i;
	uint32_t *nodes, known = 0;
	char path[64];

	*out = NULL;
	*n = 0;
	nodes = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (i = 0; i < cpus; i++) {
		nodes[i] = UINT32_MAX;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld", i);
		each_name(path, note_node, &nodes[i]);
		known += nodes[i] != UINT32_MAX;
	}
	if (!known) {
		free(nodes);
		return -ENOENT;
	}
	*out = nodes;
	*n = (uint32_t)cpus;
	return 0;
}

int proc_may_look(int pid)
{
	char path[32], target[8];

	/* The kernel requires the same permission to read this link as to read the mappings. */
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, target, sizeof(target)) >= 0)
		return 0;
	return errno == ENOENT ? (proc_alive(pid) ? 0 : -ESRCH) : -errno;
}

uint32_t proc_inner_tid(uint32_t pid, uint32_t tid, bool *own)
{
	unsigned long number = 0, last = 0;
	char path[64], line[256], *at, *end;
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (at = line + 6;; at = end, n++) {
			number = strtoul(at, &end, 10);
			if (end == at)
				break;
			last = number;
		}
		break;
	}
	fclose(f);
	*own = n > 1;
	return n ? (uint32_t)last : tid;
}
