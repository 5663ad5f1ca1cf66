/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The parallel job and the rank of a process, according to the environment variables that the
 * launcher has set (Open MPI, Hydra of MPICH and similar launchers, PMIx, Slurm).
 */
#ifndef TARGET_JOB_H
#define TARGET_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_NONE UINT32_MAX

struct job {
	/*
	 * Number that identifies the job: all its ranks on this machine have this number. 0: the
	 * process is in no known job.
	 */
	uint64_t key;
	uint32_t rank; /* JOB_NONE: unknown, as in the next three members */
	uint32_t size; /* number of ranks in the complete job */
	uint32_t local_rank; /* rank among the job's ranks on this machine */
	uint32_t local_size;
	/*
	 * job_parse() has not set `key`, because only the launcher's process identifies the job:
	 * see job_read()
	 */
	bool by_proxy;
};

/*
 * Parse an environment in the format of /proc/PID/environ: strings that each end in a 0. The
 * contents are untrusted. All members of *@out are set.
 */
void job_parse(const char *environment, size_t len, struct job *out);
/*
 * Read the job of a running process. If the launcher has given the job no name, identify the job by
 * the process that launched it: the nearest ancestor without a rank. Return 0 (also if the process
 * is in no job), -ESRCH, -EACCES or another -errno.
 */
int job_read(int pid, struct job *out);

/*
 * Return whether, according to its environment, process @pid preloads no libraries and searches the
 * same directories for libraries as a program that sbt-trace starts. Return false if that is
 * unknown.
 */
bool job_links_as_we(int pid);

#endif /* TARGET_JOB_H */
