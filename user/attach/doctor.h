/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What this kernel, our rights and this machine allow, found by trying. Each way to attach a probe
 * is tried on a function of our own, and works if the probe was hit. analyse/doctor.h draws the
 * conclusions.
 */
#ifndef ATTACH_DOCTOR_H
#define ATTACH_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Value of an outcome (0: works; -errno: fails) that was not tried, and of an unknown number. */
#define DOCTOR_UNTRIED INT_MIN
/* Value of outcomes: the probe was attached but never hit. */
#define DOCTOR_UNSEEN  (INT_MIN + 1)

#define DOCTOR_RIGHTS	 8
#define DOCTOR_LIBRARIES 8

/* A library with functions to probe or name. */
struct doctor_library {
	char name[24]; /* "libc", "libgomp" */
	char path[160]; /* untrusted */
	bool lines; /* it has debug information, so functions have lines */
};

/* A capability. */
struct doctor_right {
	const char *name, *why; /* read-only strings of the program */
	bool there, needed; /* needed: nothing can be traced without */
};

/* After doctor_begin(), all is 0 or DOCTOR_UNTRIED: unknown. */
struct doctor_facts {
	/* the machine */
	char release[65], arch[65];
	uint32_t cpus; /* online; 0: unknown */

	/* rights */
	uint32_t nrights;
	struct doctor_right rights[DOCTOR_RIGHTS];
	bool root; /* by user id: missing capabilities were removed */
	int first_pidns, first_userns; /* 1, or 0: another namespace; DOCTOR_UNTRIED */
	int bpf_sysctl, paranoid, yama; /* values of the sysctls */
	int seccomp; /* as in /proc/self/status: 0, 1, 2: a filter */
	char lockdown
		[32]; /* "none", "integrity", "confidentiality"; "": a kernel without lockdown */

	/* BPF */
	/* bpf() creates a map, loads a program for probes, creates a ring */
	int map, program, ring;
	int btf; /* the kernel's types can be read */
	int throttle; /* 1: the kernel's types include its throttling counts; 0 */
	int syscalls; /* 1: system calls can be traced, as --discover needs; 0 */
	int perf, perf_exit; /* perf uprobe at an entry, at a ret instruction */
	int cookies; /* perf uprobes carry a number */
	int multi, multi_exit, session;
	int mappings; /* perf events for code that processes map */
	int filters; /* 1: uprobe.multi filters by process; 0: by thread */
	int numbers; /* 1: programs see the process number that we see; 0 */
	int signal; /* 1: programs can send signals; 0 */
	int vma; /* 1: programs can look up mappings; 0 */

	/* sbt-trace's own programs, loaded as for a trace */
	int trial;
	int trial_signal; /* signal that killed the trial; 0: none */
	char trial_why[256]; /* results of the methods */
	char trial_log[256]; /* last message of the kernel (the verifier) or libbpf; "" */
	char method[16]; /* method in use; "" */
	char method_why[256]; /* why it is not a better one */
	int accounts; /* 1: threads' time can be accounted for; 0 */
	char accounts_why[256]; /* the parts that cannot be accounted for, and why */
	int iterator; /* outcome of iterating over all tasks */
	double crossing_ns; /* cost of a crossing; NAN: unknown */

	/* analysis of hangs */
	int registers; /* of a blocked thread */
	char registers_why[160];
	int samples; /* stack of a running thread */

	/* counters */
	int hardware, software; /* 1: some are available; 0: none */
	char hardware_names[96], software_names[160];
	char hardware_why[256]; /* why one or all of them are not available */
	char software_why[256];
	char pfm[64]; /* libpfm4's library; "": none */

	/* processes */
	int other; /* process of another user that was examined; DOCTOR_UNTRIED: none */
	int other_maps, other_files, other_memory; /* its mappings, the mapped files, its memory */
	int child_memory; /* memory of our own child */
	int stop; /* a child can be stopped and continued */
	uint64_t files; /* hard limit of open files */
	char cgroup2[160]; /* mount point of version 2; "" */
	int cgroup_id; /* its number can be read */
	bool cgroup1;

	/* names */
	char libdw[32]; /* version */
	bool is_static; /* this program cannot load libraries */
	bool debuginfod; /* its library can be loaded */
	bool debuginfod_urls; /* DEBUGINFOD_URLS is set */
	uint32_t nlibraries;
	struct doctor_library libraries[DOCTOR_LIBRARIES];
	uint32_t nmpi; /* libraries found; 0: none found, but there may be some elsewhere */
	char mpi[160]; /* paths of the first libraries */
};

/* Set all facts to unknown. */
void doctor_begin(struct doctor_facts *facts);
/* Collect facts about the machine: release, architecture, CPUs. */
void doctor_look_machine(struct doctor_facts *facts);
/* Collect facts that need no BPF: the machine, rights, limits, cgroups, processes. May fork. */
void doctor_look(struct doctor_facts *facts);
/*
 * Try BPF, the ways to attach probes, and counters. Best in a separate process: its exit removes
 * everything.
 */
void doctor_try(struct doctor_facts *facts);

#endif /* ATTACH_DOCTOR_H */
