/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The few kernel types that the programs read, written by hand. Only the names of types and members
 * matter, because CO-RE finds the offsets on the running kernel. So no vmlinux.h is needed for the
 * build.
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

struct cfs_bandwidth {
	__u64 quota;
	__u64 throttled_time;
};

struct task_group {
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
};

struct qstr {
	const unsigned char *name;
};

struct super_block {
	__u32 s_dev;
};

struct dentry {
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct super_block *mnt_sb;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

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

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* one for each level of nested PID namespaces */
};

struct task_struct;

struct rq {
	struct task_struct *curr;
	int cpu;
	__u64 prev_steal_time_rq; /* with CONFIG_PARAVIRT_TIME_ACCOUNTING */
};

struct cfs_rq {
	struct rq *rq;
	struct task_group *tg;
	int throttle_count; /* not 0: this group or a group above it is throttled on this CPU */
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime; /* sum_exec_runtime when the task got its CPU */
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long long run_delay; /* total time (ns) that the task waited for a CPU */
	unsigned long long last_arrival; /* when it got its CPU, by the scheduler's clock */
};

/* The register that holds the address of the thread's own data. */
struct thread_struct {
#if defined(__TARGET_ARCH_arm64)
	struct {
		unsigned long tp_value;
	} uw;
#else
	unsigned long fsbase;
#endif
};

struct task_struct {
	int pid;
	int tgid;
	__u64 start_time; /* CLOCK_MONOTONIC, ns */
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	char comm[16];
	unsigned int __state;
	unsigned int flags;
	int exit_code; /* as wait() returns it */
	/* Address of the user-space word at which other threads can wait for this thread's end. */
	int *clear_child_tid;
	int nr_cpus_allowed;
	/* newer kernels have a narrower type; CO-RE reads any unsigned type into this one */
	unsigned int on_cpu;
	unsigned int in_iowait : 1;
	void *stack;
	struct files_struct *files;
	struct sched_entity se;
	struct sched_info sched_info;
	struct thread_struct thread;
	unsigned long nvcsw, nivcsw; /* voluntary and involuntary context switches */
};

/* Before Linux 5.14. */
struct task_struct___before_5_14 {
	volatile long state;
};

#if defined(__TARGET_ARCH_arm64)
struct pt_regs___kernel {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 orig_x0;
	int syscallno;
};
#else
struct pt_regs___kernel {
	unsigned long r10, bp, r8, dx, si, di, orig_ax, ip, sp;
	unsigned short cs;
};
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_nlink;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	const void *f_op;
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

typedef struct {
	void *net;
} possible_net_t;

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport; /* big-endian */
	__u16 skc_num; /* local port, in host byte order */
	__u16 skc_family;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

/*
 * The file that overlayfs maps: a file of the underlying file system. The struct begins with a
 * struct file.
 */
struct backing_file {
	struct path user_path;
};

/*
 * A page in each probed process. Functions with a return probe return to this page, and the kernel
 * single-steps instructions in it.
 */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code, end_code, start_brk, brk, start_stack;
	struct uprobes_state uprobes_state;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct linux_binprm;

struct hrtimer {
	void *function;
};

#pragma clang attribute pop

/*
 * When a probe is hit, the processor's caches are full of other data. So keep the usual path in one
 * sequence, and move all other code out of it.
 */
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For functions in headers: a file may include the header without calling all of them. */
#define MAYBE_UNUSED __attribute__((unused))

#define SIG_DFL 0
#define SIG_IGN 1
#define SIGTRAP 5
#define SIGCONT 18
#define SIGSTOP 19

/* The default size of a kernel stack on x86-64 and arm64. */
#define THREAD_SIZE 16384

#define EBUSY 16

/* linux/mm.h */
#define VM_SHARED 0x8

#define TASK_RUNNING 0
#define TASK_WAKING  0x0200 /* woken before it was switched out */
#define TASK_STOPPED 0x0004 /* by a signal */
#define TASK_TRACED  0x0008 /* by a debugger */
#define PF_EXITING   0x00000004
#define PF_KTHREAD   0x00200000
#define AF_INET	     2
#define S_IFMT	     0170000
#define S_IFIFO	     0010000
#define S_IFSOCK     0140000

#endif /* BPF_KERNEL_H */
