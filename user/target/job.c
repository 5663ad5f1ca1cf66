// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* The kernel shows no more than an argument list may have; nobody's job is told beyond this. */
#define ENVIRONMENT_MAX (4u << 20)
#define ANCESTORS_MAX	16

/* The value of @name, which ends with '='; NULL: it is not there, or not ended. */
static const char *value_of(const char *env, size_t len, const char *name)
{
	size_t n = strlen(name), at, size;

	for (at = 0; at < len; at += size + 1) {
		size = strnlen(env + at, len - at);
		if (size == len - at)
			break;
		if (size >= n && !memcmp(env + at, name, n))
			return env + at + n;
	}
	return NULL;
}

static uint32_t number_of(const char *env, size_t len, const char *const names[])
{
	for (; *names; names++) {
		const char *value = value_of(env, len, *names);
		unsigned long number;
		char *end;

		if (!value || *value < '0' || *value > '9')
			continue;
		errno = 0;
		number = strtoul(value, &end, 10);
		if (!errno && !*end && number < JOB_NONE)
			return (uint32_t)number;
	}
	return JOB_NONE;
}

void job_parse(const char *env, size_t len, struct job *out)
{
	static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "PMIX_RANK=",
					     "SLURM_PROCID=", NULL };
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE=", "PMI_SIZE=", "SLURM_NTASKS=",
					     NULL };
	static const char *const local_ranks[] = { "OMPI_COMM_WORLD_LOCAL_RANK=",
						   "MPI_LOCALRANKID=", "SLURM_LOCALID=", NULL };
	static const char *const local_sizes[] = { "OMPI_COMM_WORLD_LOCAL_SIZE=",
						   "MPI_LOCALNRANKS=", NULL };
	static const char *const names[] = { "PMIX_NAMESPACE=", "OMPI_MCA_ess_base_jobid=",
					     "PMI_JOBID=", "SLURM_JOB_ID=" };
	const char *value = NULL, *step;
	size_t i;

	memset(out, 0, sizeof(*out));
	out->rank = number_of(env, len, ranks);
	out->size = number_of(env, len, sizes);
	out->local_rank = number_of(env, len, local_ranks);
	out->local_size = number_of(env, len, local_sizes);
	if (out->rank == JOB_NONE)
		return;
	if (!out->size || (out->size != JOB_NONE && out->rank >= out->size))
		out->size = JOB_NONE;
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !value; i++)
		value = value_of(env, len, names[i]);
	/* Several mpiruns in one job of Slurm: its number is not theirs. */
	if (!value || (i == 4 && value_of(env, len, "PMI_FD="))) {
		out->by_proxy = true;
		return;
	}
	out->key = text_hash(TEXT_HASH_INIT, value, strlen(value));
	step = i == 4 ? value_of(env, len, "SLURM_STEP_ID=") : NULL;
	if (step)
		out->key = text_hash(out->key ^ 1, step, strlen(step));
	if (!out->key)
		out->key = 1;
}

/* All of a file of /proc, to be freed; left alone if it cannot be had. */
static int read_file(int pid, const char *name, char **out, size_t *len)
{
	char path[48], *text = NULL, *more;
	size_t cap = 0, n = 0;
	ssize_t got = 1;
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && got > 0 && n < ENVIRONMENT_MAX) {
		if (cap - n < 4096) {
			cap = cap ? 2 * cap : 16384;
			more = realloc(text, cap);
			if (!more) {
				err = -ENOMEM;
				break;
			}
			text = more;
		}
		got = read(fd, text + n, cap - n);
		if (got < 0)
			err = -errno;
		else
			n += (size_t)got;
	}
	close(fd);
	if (err) {
		free(text);
		return err;
	}
	*out = text;
	*len = n;
	return 0;
}

static int job_of(int pid, struct job *out)
{
	char *env = NULL;
	size_t len = 0;
	int err = read_file(pid, "environ", &env, &len);

	if (!env)
		return err;
	job_parse(env, len, out);
	free(env);
	return 0;
}

bool job_links_as_we(int pid)
{
	const char *own = getenv("LD_LIBRARY_PATH"), *other;
	char *env = NULL;
	size_t len = 0;
	bool same;

	if (read_file(pid, "environ", &env, &len))
		return false;
	other = value_of(env, len, "LD_LIBRARY_PATH=");
	same = !value_of(env, len, "LD_PRELOAD=") && !value_of(env, len, "LD_AUDIT=") &&
	       !own == !other && (!own || !strcmp(own, other));
	free(env);
	return same;
}

/* Its parent, and when it was made, in clock ticks. */
static int parent_of(int pid, int *parent, unsigned long long *start)
{
	char *text = NULL, *rest;
	size_t len = 0;
	int err = read_file(pid, "stat", &text, &len);

	if (!text)
		return err;
	text[len < 4096 ? len : 4095] = '\0';
	/* The name, in brackets, may hold brackets and blanks. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %llu",
			    parent, start) != 2)
		err = -EINVAL;
	free(text);
	return err;
}

int job_read(int pid, struct job *out)
{
	unsigned long long start;
	uint64_t key = TEXT_HASH_INIT;
	struct job above = { .rank = JOB_NONE };
	int i, parent = 0, err = job_of(pid, out);

	if (err || !out->by_proxy)
		return err;
	for (i = 0; i < ANCESTORS_MAX; i++) {
		err = parent_of(pid, &parent, &start);
		if (err)
			return err;
		if (i && (job_of(pid, &above) || above.rank == JOB_NONE))
			break;
		pid = parent;
	}
	if (i == ANCESTORS_MAX || pid <= 1)
		return 0;
	key = text_hash(key, &pid, sizeof(pid));
	key = text_hash(key, &start, sizeof(start));
	out->key = key ? key : 1;
	return 0;
}
