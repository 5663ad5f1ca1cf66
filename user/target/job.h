/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Which parallel job a process belongs to, and as which rank: by what its launcher has put into its environment (Open
 * MPI, Hydra of MPICH and its kin, PMIx, Slurm).
 */
#ifndef TARGET_JOB_H
#define TARGET_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_NONE UINT32_MAX

struct job {
	uint64_t
		key; /* the same for all ranks of a job on this machine; 0: in none that is known */
	uint32_t rank; /* JOB_NONE: not known, as all of these */
	uint32_t size; /* ranks of the whole job */
	uint32_t local_rank; /* among those on this machine */
	uint32_t local_size;
	bool by_proxy; /* key is not filled in: the job is that of the launcher's process */
};

/*
 * From an environment as the kernel shows it: strings one after another, each ended by a 0; whoever made the process
 * may have written anything. Sets all of *out.
 */
void job_parse(const char *environment, size_t len, struct job *out);
/*
 * Of a process that runs. Where launchers give a job no name, it has that of the process that launched it: the nearest
 * ancestor without a rank. Returns 0, also of a process in no job; -ESRCH, -EACCES, -errno.
 */
int job_read(int pid, struct job *out);

/*
 * Does the process's dynamic linker look for libraries where that of a program of ours would, by its environment? False if
 * that is not known.
 */
bool job_links_as_we(int pid);

#endif /* TARGET_JOB_H */
