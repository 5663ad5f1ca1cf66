/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What this kernel, our rights and this machine allow, found by trying. Each attach method is tried
 * on a function of our own, and works if the probe was hit. doctor/doctor.h draws the conclusions.
 */
#ifndef DOCTOR_DOCTOR_FACTS_H
#define DOCTOR_DOCTOR_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Value of an outcome that was not tried, and of an unknown number. (Other values of an outcome: 0:
 * it works; -errno: it fails.)
 */
#define DOCTOR_UNTRIED INT_MIN
/* Value of an outcome: the probe was attached but never hit. */
#define DOCTOR_UNSEEN  (INT_MIN + 1)

#define DOCTOR_RIGHTS	 8
#define DOCTOR_LIBRARIES 8

/* A library with functions to probe or name. */
struct doctor_library {
	char name[24]; /* "libc", "libgomp" */
	char path[160]; /* untrusted */
	bool lines; /* the library has debug information, so its functions have lines */
};

/* A capability. */
struct doctor_right {
	const char *name, *why; /* read-only strings of the program */
	bool there, needed; /* needed: without it, nothing can be traced */
};

/* After doctor_begin(), all facts are 0 or DOCTOR_UNTRIED: unknown. */
struct doctor_facts {
	/* the machine */
	char release[65], arch[65];
	uint32_t cpus; /* online; 0: unknown */

	/* rights */
	uint32_t nrights;
	struct doctor_right rights[DOCTOR_RIGHTS];
	/* the user id is 0; if capabilities are missing nevertheless, they were removed */
	bool root;
	/* 1: the first namespace; 0: another namespace; DOCTOR_UNTRIED: unknown */
	int first_pidns, first_userns;
	int bpf_sysctl, paranoid, yama; /* values of the sysctls */
	int seccomp; /* 0, 1 or 2 (a filter), as in /proc/self/status */
	/* "none", "integrity", "confidentiality"; "": a kernel without lockdown */
	char lockdown[32];

	/* BPF */
	/* outcomes: bpf() creates a map, loads a program for probes, creates a ring */
	int map, program, ring;
	int btf; /* outcome of reading the kernel's types (BTF) */
	int throttle; /* 1: the kernel's types include its throttling counts; else 0 */
	int syscalls; /* 1: system calls can be traced, as --discover needs; else 0 */
	int perf, perf_exit; /* outcomes: perf uprobe at an entry, at a ret instruction */
	int cookies; /* outcome: perf uprobes can carry a number (attach cookie) */
	int multi, multi_exit, session;
	int mappings; /* outcome of opening perf events for code that processes map */
	int filters; /* 1: uprobe.multi filters by process; 0: only by thread */
	int numbers; /* 1: BPF programs see the same process number as this process does; else 0 */
	int signal; /* 1: BPF programs can send signals; else 0 */
	int vma; /* 1: BPF programs can look up mappings; else 0 */

	/* sbt-trace's own programs, loaded as for a trace */
	int trial;
	int trial_signal; /* signal that killed the trial process; 0: none */
	char trial_why[256]; /* result of each attach method */
	char trial_log[256]; /* last message of the kernel (the verifier) or libbpf; "": none */
	char method[16]; /* attach method in use; "": none */
	char method_why[256]; /* why no better attach method is in use */
	int accounts; /* 1: threads' time can be accounted for; else 0 */
	char accounts_why[256]; /* the parts that cannot be accounted for, and why */
	int iterator; /* outcome of iterating over all tasks */
	double crossing_ns; /* ns that tracing adds to a crossing; NAN: unknown */

	/* analysis of hangs */
	int registers; /* outcome of reading the registers of a blocked thread */
	char registers_why[160];
	int samples; /* outcome of sampling the stack of a running thread */

	/* counters */
	int hardware, software; /* 1: some events are available; 0: none */
	char hardware_names[96], software_names[160];
	char hardware_why[256]; /* why one or all hardware events are unavailable */
	char software_why[256];
	char pfm[64]; /* libpfm4's library; "": none */

	/* processes */
	int other; /* pid of another user's process that was examined; DOCTOR_UNTRIED: none */
	/* outcomes of reading that process's mappings, mapped files and memory */
	int other_maps, other_files, other_memory;
	int child_memory; /* outcome of reading the memory of our own child */
	int stop; /* outcome of stopping and continuing a child */
	uint64_t files; /* hard limit of open files */
	char cgroup2[160]; /* mount point of cgroup version 2; "": none */
	int cgroup_id; /* outcome of reading a cgroup's number */
	bool cgroup1;

	/* names */
	char libdw[32]; /* version of libdw */
	bool is_static; /* this program cannot load libraries */
	bool debuginfod; /* debuginfod's library can be loaded */
	bool debuginfod_urls; /* DEBUGINFOD_URLS is set */
	uint32_t nlibraries;
	struct doctor_library libraries[DOCTOR_LIBRARIES];
	/* number of MPI libraries found; 0: none, but there may be some in other directories */
	uint32_t nmpi;
	char mpi[160]; /* paths of the first few of these libraries */
};

/* Set all facts to unknown. */
void doctor_begin(struct doctor_facts *facts);
/* Collect facts about the machine: release, architecture, CPUs. */
void doctor_look_machine(struct doctor_facts *facts);
/*
 * Fill *@facts, which is memory shared with child processes. Each group of facts is collected in a
 * child process. The child's exit removes all that the child created. @trial loads the BPF programs
 * as for a trace, and runs in a child too.
 */
void doctor_examine(struct doctor_facts *facts, void (*trial)(struct doctor_facts *facts));

#endif /* DOCTOR_DOCTOR_FACTS_H */
