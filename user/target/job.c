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
#include "target/proc.h"

/*
 * Longer environments (in bytes) are cut. The kernel limits the total size of a program's arguments
 * and environment.
 */
#define ENVIRONMENT_MAX (4u << 20)
#define ANCESTORS_MAX	16

/*
 * Return the value of the variable @name, which must end in '='. Return NULL if the variable is
 * missing or is not terminated by a 0.
 */
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
	/*
	 * The environment does not name the parallel job if none of the variables is set. It does
	 * not do so either if Hydra (PMI_FD) started the process and only the Slurm job (the last
	 * variable) is known: several mpiruns may share one Slurm job.
	 */
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

/*
 * Read up to ENVIRONMENT_MAX bytes of the file @name of /proc/PID into *@out, which the caller
 * frees. On errors, leave *@out unchanged.
 */
static int read_file(int pid, const char *name, char **out, size_t *len)
{
	char path[48];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = proc_read_all(fd, ENVIRONMENT_MAX, out, len);
	close(fd);
	return err;
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

/* Read the parent of @pid, and the time when @pid started, in clock ticks. */
static int parent_of(int pid, int *parent, unsigned long long *start)
{
	char text[1024], *rest;
	ssize_t n = proc_read(text, sizeof(text), "/proc/%d/stat", pid);

	if (n < 0)
		return (int)n;
	/* The program's name is in parentheses, and may itself contain parentheses and blanks. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %llu",
			    parent, start) != 2)
		return -EINVAL;
	return 0;
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
