/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The few kernel types that our programs look into, written by hand: only the names matter, CO-RE finds the
 * offsets on the kernel that runs. No vmlinux.h of the build machine is needed.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <asm/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct mm_struct;

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
	int nr_threads;
};

struct task_struct {
	int pid;
	int tgid;
	__u64 start_time; /* CLOCK_MONOTONIC, ns */
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	char comm[16];
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
};

struct linux_binprm;

#pragma clang attribute pop

#define SIG_DFL 0
#define SIG_IGN 1
#define SIGCONT 18
#define SIGSTOP 19
#define ENOMEM	12

#endif /* BPF_KERNEL_H */
