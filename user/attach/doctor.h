/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What this kernel, these rights and this machine allow, found out by trying: each way of putting a probe is tried on a
 * function of our own, and counts as there when the probe was hit. What follows from it all is said by analyse/doctor.h.
 */
#ifndef ATTACH_DOCTOR_H
#define ATTACH_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Of an outcome (0: it works; -errno: it does not) and of a number: not tried, not known. */
#define DOCTOR_UNTRIED INT_MIN
/* Of an outcome: the probe was put and never hit. */
#define DOCTOR_UNSEEN  (INT_MIN + 1)

#define DOCTOR_RIGHTS	 8
#define DOCTOR_LIBRARIES 8

/* A library whose functions are probed or named. */
struct doctor_library {
	char name[24]; /* "libc", "libgomp" */
	char path[160]; /* untrusted */
	bool lines; /* functions are named with their lines: there is debug information */
};

/* All of it zero and DOCTOR_UNTRIED, doctor_begin(), nothing is known. */
struct doctor_facts {
	/* the machine */
	char release[65], arch[65];
	uint32_t cpus; /* online; 0: not known */

	/* rights */
	uint32_t nrights;
	struct {
		const char *name, *why; /* read-only strings of the program */
		bool there, needed; /* needed: nothing is traced without */
	} rights[DOCTOR_RIGHTS];
	bool root; /* by its number: what it lacks it was denied */
	int first_pidns, first_userns; /* 1, 0: another; DOCTOR_UNTRIED */
	int bpf_sysctl, paranoid, yama; /* the sysctls' values */
	int seccomp; /* as in /proc/self/status: 0, 1, 2: a filter */
	char lockdown
		[32]; /* "none", "integrity", "confidentiality"; "": the kernel has no lockdown */

	/* BPF */
	int map, program, ring; /* bpf() makes a map, loads a program for probes, makes a ring */
	int btf; /* the kernel's types can be read */
	int throttle; /* 1: the kernel's types have what it counts of throttling; 0 */
	int syscalls; /* 1: it traces system calls, which --discover needs; 0 */
	int perf, perf_exit; /* a perf uprobe: at an entry, a ret instruction */
	int cookies; /* a number that it carries */
	int multi, multi_exit, session;
	int mappings; /* perf events of code that processes map */
	int filters; /* 1: uprobe.multi filters by process; 0: by thread */
	int numbers; /* 1: programs know us by the number that we know, too; 0 */
	int signal; /* 1: programs can send signals; 0 */
	int vma; /* 1: programs can look up mappings; 0 */

	/* sbt-trace's own programs, loaded as for a trace */
	int trial;
	int trial_signal; /* it died of this; 0 */
	char trial_why[256]; /* what each method said */
	char trial_log[256]; /* what the kernel, or libbpf, said last: the verifier's word; "" */
	char method[16]; /* the one that is used; "" */
	char method_why[256]; /* why it is not a better one */
	int accounts; /* 1: where threads' time goes can be accounted for; 0 */
	char accounts_why[256]; /* what of it cannot, and why */
	int iterator; /* outcome of going over all tasks */
	double crossing_ns; /* what a crossing costs; NAN unknown */

	/* where a hang is looked into */
	int registers; /* those of a blocked thread can be had */
	char registers_why[160];
	int samples; /* a running thread's stack */

	/* counters */
	int hardware, software; /* 1: some can be had; 0: none */
	char hardware_names[96], software_names[160];
	char hardware_why[256]; /* why one of them, or all, cannot */
	char software_why[256];
	char pfm[64]; /* libpfm4's library; "" none */

	/* processes */
	int other; /* another user's process that was looked at; DOCTOR_UNTRIED: there is none */
	int other_maps, other_files, other_memory; /* its mappings, the files mapped, its memory */
	int child_memory; /* that of a child of our own */
	int stop; /* a child can be stopped and continued */
	uint64_t files; /* that may be open at once, at most */
	char cgroup2[160]; /* where version 2 is mounted; "" */
	int cgroup_id; /* its number can be had */
	bool cgroup1;

	/* names */
	char libdw[32]; /* version */
	bool is_static; /* this program loads no libraries */
	bool debuginfod; /* its library can be loaded */
	bool debuginfod_urls; /* DEBUGINFOD_URLS is set */
	uint32_t nlibraries;
	struct doctor_library libraries[DOCTOR_LIBRARIES];
	uint32_t nmpi; /* 0: none seen; it is not known where all may lie */
	char mpi[160]; /* the first ones' paths */
};

/* Nothing is known yet. */
void doctor_begin(struct doctor_facts *facts);
/* The machine alone: release, architecture, CPUs. */
void doctor_look_machine(struct doctor_facts *facts);
/* What can be read and needs no BPF: the machine, rights, limits, cgroups, processes. May fork. */
void doctor_look(struct doctor_facts *facts);
/* BPF, the ways of putting probes, counters. Best in a process of its own: it ends, and all that was put is gone. */
void doctor_try(struct doctor_facts *facts);

#endif /* ATTACH_DOCTOR_H */
