/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The parallel job and rank of a process, from the variables that its launcher has set (Open MPI,
 * Hydra of MPICH and similar launchers, PMIx, Slurm).
 */
#ifndef TARGET_JOB_H
#define TARGET_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_NONE UINT32_MAX

struct job {
	/* same for all ranks of a job on this machine; 0: in no known job */
	uint64_t key;
	uint32_t rank; /* JOB_NONE: unknown, as in all members below */
	uint32_t size; /* number of ranks in the whole job */
	uint32_t local_rank; /* rank among those on this machine */
	uint32_t local_size;
	bool by_proxy; /* key is not set: the launcher's process identifies the job */
};

/*
 * Parse an environment as the kernel shows it: strings that each end in a 0. The contents are
 * untrusted. Set all of *@out.
 */
void job_parse(const char *environment, size_t len, struct job *out);
/*
 * Read the job of a running process. Where launchers give a job no name, use the process that
 * launched it: the nearest ancestor without a rank. Return 0, also for a process in no job, or
 * -ESRCH, -EACCES, -errno.
 */
int job_read(int pid, struct job *out);

/*
 * By its environment, return whether the process's dynamic linker searches the same directories for
 * libraries as that of a program that we start. Return false if that is unknown.
 */
bool job_links_as_we(int pid);

#endif /* TARGET_JOB_H */
