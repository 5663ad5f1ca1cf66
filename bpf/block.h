/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find out why a thread blocks: the reason, the holder of the lock, the thread that ends the wait
 * (the waker), and the waiting thread's location in the program.
 */
#ifndef BPF_BLOCK_H
#define BPF_BLOCK_H

#include <asm/unistd.h>

#include "account.h"
#include "past.h"
#include "cpu_occupancy.h"
#include "userregs.h"

/* Copy a thread's stack at most once in this time (ns). */
#define CAPTURE_NS 1000000

/*
 * Stacks of blocked threads. Key: stack_key(). Most threads block at the same few locations again
 * and again, so a stack is stored only once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct sbt_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_stack);
} stack_room SEC(".maps");

/*
 * Names of tasks and files for which threads waited. A name is kept because it may be needed after
 * the task has exited or the file was deleted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct sbt_name);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct sbt_file_name);
} file_names SEC(".maps");

static __always_inline bool comm_differs(const char *a, const char *b)
{
	const __u32 *x = (const void *)a, *y = (const void *)b;

	return (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]);
}

/*
 * Indexed by thread number modulo NAMED: the task that was named last. Its name is not read again
 * for a while: most tasks that delay other tasks delay them repeatedly, and reading a name costs
 * more than all other work in a switch.
 */
#define NAMED	  256
/* Read the name of a task or a file, or look up a stack, again after this time (ns). */
#define REREAD_NS 10000000
static struct {
	__u64 start_ns; /* thread numbers are reused */
	__u64 at_ns;
	__u32 pid;
} named[NAMED];

static __noinline int name_task_now(struct task_struct *task)
{
	struct sbt_name name = {}, *known;
	__u32 pid;

	if (!task)
		return 0;
	pid = task->pid;
	bpf_probe_read_kernel(name.comm, sizeof(name.comm), task->comm);
	name.tgid = task->tgid;
	known = bpf_map_lookup_elem(&names, &pid);
	if (!known || known->tgid != name.tgid || comm_differs(known->comm, name.comm))
		bpf_map_update_elem(&names, &pid, &name, BPF_ANY);
	return 0;
}

static __always_inline void name_task(struct task_struct *task, __u64 now)
{
	__u32 pid = task->pid, at = pid & (NAMED - 1);
	__u64 start = task->start_time;

	if (!pid || (named[at].pid == pid && named[at].start_ns == start &&
		     now - named[at].at_ns < REREAD_NS))
		return;
	named[at].pid = pid;
	named[at].start_ns = start;
	named[at].at_ns = now;
	name_task_now(task);
}

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct sbt_file_name);
} mapping_names SEC(".maps");

/* --- why a thread blocks ---------------------------------------------------------------------- */

#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif
#ifndef __NR_openat2
#define __NR_openat2 437
#endif

/* Return whether the first argument of the call is the descriptor of the file that it waits for. */
static __always_inline bool takes_file(long nr)
{
	switch (nr) {
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_syncfs:
	case __NR_sync_file_range:
	case __NR_fallocate:
	case __NR_ftruncate:
	case __NR_getdents64:
	case __NR_ioctl:
	case __NR_sendfile:
	case __NR_splice:
	case __NR_tee:
	case __NR_vmsplice:
	case __NR_copy_file_range:
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
	case __NR_recvfrom:
	case __NR_sendto:
	case __NR_recvmsg:
	case __NR_sendmsg:
	case __NR_recvmmsg:
	case __NR_sendmmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_connect:
#ifdef __NR_epoll_wait
	case __NR_epoll_wait:
#endif
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_io_uring_enter:
		return true;
	default:
		return false;
	}
}

/* What a system call waits for, in addition to the reason. */
enum {
	CALL_MASK = 0xff00,
	CALL_FILE = 0x100, /* a file: the first argument is its descriptor */
	CALL_FUTEX = 0x200, /* the futex at the address in its first argument */
	CALL_SEMAPHORE = 0x300,
	CALL_CHILD = 0x400,
	CALL_SIGNAL = 0x500,
	CALL_FILES = 0x600, /* one of several files */
};

/*
 * Return why a system call with these first arguments blocks: a value of enum sbt_blocked, and
 * CALL_* flags. A global function, because the verifier would otherwise follow all later code once
 * for each call number.
 */
__noinline __u32 reason_of(__s64 nr, __u64 first, __u64 second)
{
	switch (nr) {
	case __NR_futex:
	case __NR_futex_waitv:
	case __NR_futex_wait:
		return SBT_BLOCKED_LOCK | CALL_FUTEX;
	case __NR_semop:
	case __NR_semtimedop:
		return SBT_BLOCKED_LOCK | CALL_SEMAPHORE;
	case __NR_flock:
	case __NR_fcntl:
		return SBT_BLOCKED_LOCK;
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
		return SBT_BLOCKED_SLEEP;
#ifdef __NR_select
	case __NR_select:
	case __NR_poll:
#endif
	case __NR_pselect6:
	case __NR_ppoll:
		/*
		 * Without descriptors the call only sleeps. Programs used the call in this way
		 * before nanosleep() existed.
		 */
		if (nr == __NR_ppoll
#ifdef __NR_poll
		    || nr == __NR_poll
#endif
		)
			return second ? SBT_BLOCKED_IO | CALL_FILES : SBT_BLOCKED_SLEEP;
		return first ? SBT_BLOCKED_IO | CALL_FILES : SBT_BLOCKED_SLEEP;
	case __NR_io_getevents:
	case __NR_io_pgetevents:
	case __NR_msgsnd:
	case __NR_msgrcv:
#ifdef __NR_open
	case __NR_open:
#endif
	case __NR_openat:
	case __NR_openat2:
	case __NR_sync:
		return SBT_BLOCKED_IO;
	case __NR_wait4:
	case __NR_waitid:
		return SBT_BLOCKED_OTHER | CALL_CHILD;
#ifdef __NR_pause
	case __NR_pause:
#endif
	case __NR_rt_sigtimedwait:
	case __NR_rt_sigsuspend:
		return SBT_BLOCKED_OTHER | CALL_SIGNAL;
	default:
		return takes_file(nr) ? SBT_BLOCKED_IO | CALL_FILE : SBT_BLOCKED_OTHER;
	}
}

static __always_inline __u32 reason_of_call(const struct user_call *call)
{
	return reason_of(call->nr, call->arg[0], call->arg[1]);
}

/* Note the name of a file under its inode's number, and set file_key to that key (0: none). */
static __noinline int file_name(struct sbt_account *a, struct file *file, const unsigned char *text)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct sbt_file_name name = {};
	__u64 ino = BPF_CORE_READ(inode, i_ino);

	if (!a)
		return 0;
	a->file_key = 0;
	if (!ino)
		return 0;
	/*
	 * Include the device in the key, because files of other file systems have the same inode
	 * numbers.
	 */
	ino ^= (__u64)BPF_CORE_READ(inode, i_sb, s_dev) << 40;
	name.mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	bpf_probe_read_kernel_str(name.name, sizeof(name.name), text);
	/* Objects that are not real files ("[eventfd]", "[timerfd]") share one inode. */
	if (name.name[0] == '[')
		ino ^= *(const __u64 *)name.name * 0x9e3779b97f4a7c15ULL;
	bpf_map_update_elem(&file_names, &ino, &name, BPF_ANY);
	a->file_key = ino;
	return 0;
}

/*
 * Return the key of the file behind descriptor @fd. A thread usually waits for the same file again.
 * So the file's name is read again only after a while, in case the name has changed.
 */
static __always_inline __u64 file_of_call(struct sbt_account *a, struct task_struct *task, __u64 fd,
					  __u64 now)
{
	struct file *file = file_at(task, fd);
	struct dentry *dentry;
	__u64 seen;

	if (!file)
		return 0;
	dentry = BPF_CORE_READ(file, f_path.dentry);
	/*
	 * Identify the file by three addresses together. One is not enough: files that are in no
	 * directory share an inode with all other files of their kind, and the memory of a closed
	 * file is reused at once.
	 */
	seen = (__u64)dentry ^ (__u64)BPF_CORE_READ(file, f_inode) << 16 ^
	       (__u64)BPF_CORE_READ(file, f_op) << 32;
	if (seen == a->file_seen && now - a->file_ns < REREAD_NS)
		return a->file_key;
	a->file_seen = seen;
	a->file_ns = now;
	file_name(a, file, BPF_CORE_READ(dentry, d_name.name));
	return a->file_key;
}

/* --- locks ------------------------------------------------------------------------------------ */

#define FUTEX_OP_MASK	    127
#define FUTEX_LOCK_PI	    6
#define FUTEX_WAIT_BITSET   9
#define FUTEX_LOCK_PI2	    13
#define FUTEX_TID_MASK	    0x3fffffff
#define FUTEX_WAITERS	    0x80000000
#define FUTEX_PRIVATE	    128
/*
 * glibc: values of the futex word of a contended mutex and of a read-write lock with waiters, and
 * offsets of the lock's owner from that word.
 */
#define MUTEX_CONTENDED	    2
#define MUTEX_OWNER	    8
#define RWLOCK_WAITED_FOR   3
#define RWLOCK_WRITER	    12 /* offset from the word at which writers wait */
#define RWLOCK_PHASE_WRITER 16 /* offset from the word at which readers wait */

/* Store the times of another thread up to @now, including the time in its present state. */
static __always_inline void times_now(const struct sbt_account *h, __u64 now, __u64 out[SBT_TIMES])
{
	__u64 since = h->state == ACCOUNT_RUNNING ? h->run_ns + h->away_ns : h->since_ns;
	__u64 open = now - since;
	__u32 i;

#pragma unroll
	for (i = 0; i < SBT_TIMES; i++)
		out[i] = h->times[i];
	if (now < since)
		return;
	if (h->state == ACCOUNT_RUNNING)
		out[SBT_TIME_ONCPU] += open;
	else if (h->state == ACCOUNT_RUNNABLE)
		out[SBT_TIME_RUNQ] += open;
	else if (h->state == ACCOUNT_BLOCKED && h->reason < SBT_BLOCKED_REASONS)
		times_add(out, SBT_TIME_BLOCKED + h->reason, open);
}

/*
 * Return the holder that the C library has noted in the lock: a thread's number in the program's
 * own PID namespace, or 0. The expected value of the futex word shows the kind of lock.
 */
static __always_inline __u32 owner_of(__u64 addr, __u32 op, __u32 value)
{
	__u32 owner = 0, where = 0;

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 || value & FUTEX_WAITERS) {
		/*
		 * The word itself holds the owner: PI and robust mutexes, and all locks of musl
		 * that have an owner.
		 */
		bpf_probe_read_user(&owner, sizeof(owner), (void *)addr);
		return owner & FUTEX_TID_MASK;
	}
	if (value == MUTEX_CONTENDED)
		where = MUTEX_OWNER;
	else if (value == RWLOCK_WAITED_FOR)
		where = RWLOCK_WRITER;
	else
		return 0;
	bpf_probe_read_user(&owner, sizeof(owner), (void *)(addr + where));
	if (!owner && where == RWLOCK_WRITER)
		bpf_probe_read_user(&owner, sizeof(owner), (void *)(addr + RWLOCK_PHASE_WRITER));
	return owner;
}

/*
 * A thread number that exceeds the process's number by less than this is taken for a thread of the
 * process: threads that a process creates soon after its start have such numbers.
 */
#define THREADS_NEAR 4096

/*
 * Return the holder as the number of a traced thread, or 0. A thread that waits for another
 * thread's end waits at a word that holds the other thread's number until the kernel clears it. The
 * kernel's wake-up at that word is not private, so the wait is not private either.
 */
static __always_inline __u32 holder_of(struct sbt_account *a, const struct user_call *call,
				       __u64 now)
{
	__u32 word = (__u32)call->arg[1], value = (__u32)call->arg[2], index = 0;
	__u32 op = word & FUTEX_OP_MASK, owner = owner_of(a->block_at.futex, op, value);
	struct sbt_account *h;
	bool join = false;

	/* glibc's condition variables and semaphores wait with this operation. */
	a->event = op == FUTEX_WAIT_BITSET && !owner;
	if (owner) {
		a->waited = SBT_WAITED_LOCK;
	} else if (op == FUTEX_WAIT_BITSET && !value) {
		a->waited = SBT_WAITED_EVENT;
	} else if (op == FUTEX_WAIT_BITSET && !(word & FUTEX_PRIVATE)) {
		owner = value;
		join = true;
		/*
		 * This is a wait for a thread's end even if that thread is not known (any more). A
		 * wait on a shared condition variable may by chance expect such a number. Such a
		 * wait is not reported, but the thread's next wait is.
		 */
		if (value - a->tgid < THREADS_NEAR)
			a->event = 0;
	}
	owner = outer_tid(a, owner);
	h = account_find(owner, &index);
	/*
	 * A futex word that is not a lock may hold any number, but rarely the number of a thread of
	 * this process.
	 */
	if (!h || owner == a->tid || (h->tgid != a->tgid && word & FUTEX_PRIVATE))
		return 0;
	if (join) {
		if (h->tgid != a->tgid)
			return 0;
		a->waited = SBT_WAITED_JOIN;
		a->event = 0;
	}
	times_now(h, now, a->holder_times);
	return owner;
}

/* An empty log. It is a global variable, because the stack has no room for it. */
static const struct sbt_occupancy no_occupancy;

static __noinline int lock_wait_begin(struct sbt_account *a, __u64 now)
{
	struct sbt_lock lock = {};
	struct sbt_occupancy *t;

	if (!a)
		return 0;
	t = occupancy_of_lock(a);
	if (!t) {
		lock.addr = a->block_at.futex;
		lock.tgid = a->tgid;
		bpf_map_update_elem(&lock_turns, &lock, &no_occupancy, BPF_NOEXIST);
		t = occupancy_of_lock(a);
		if (!t)
			return 0;
	}
	if (t->occupant[t->last & (SBT_OCCUPANTS - 1)].tid != a->holder)
		occupancy_push(t, a->holder, now);
	return 0;
}

/* Return whether @w ended during the present block of the thread. */
static __always_inline bool ended_in_block(const struct sbt_waited_for *w,
					   const struct sbt_account *a)
{
	return w->end_ns > a->since_ns;
}

static __always_inline void activity_clear(struct sbt_block *b)
{
	b->doing = SBT_DOING_UNKNOWN;
	b->doing_ns = 0;
	b->culprit = 0;
}

/*
 * Note that the holder's or waker's time @which grew by @ns during the block, if no other time
 * noted so far grew as much.
 */
static __always_inline void activity_note(struct sbt_block *b, __u32 which, __u64 ns)
{
	if (ns > b->doing_ns) {
		b->doing_ns = ns;
		b->doing = which;
	}
}

/*
 * Translate what activity_note() found into enum sbt_doing, and set `culprit` to the thread that
 * @h, the holder or waker, waited for.
 */
static __always_inline void activity_set(struct sbt_block *b, const struct sbt_account *a,
					 const struct sbt_account *h)
{
	/* Volatile, so that the verifier does not follow all later code once for each value. */
	__u32 most = *(volatile __u8 *)&b->doing;

	b->doing = SBT_DOING_UNKNOWN;
	if (!b->doing_ns)
		return;
	if (most == SBT_TIME_ONCPU) {
		b->doing = SBT_DOING_ONCPU;
	} else if (most == SBT_TIME_RUNQ) {
		b->doing = SBT_DOING_RUNQ;
		b->culprit = ended_in_block(&h->for_cpu, a) ? h->for_cpu.tid : h->out_ran;
	} else {
		b->doing = SBT_DOING_BLOCKED + most - SBT_TIME_BLOCKED;
		if (most == SBT_TIME_BLOCKED + SBT_BLOCKED_LOCK ||
		    most == SBT_TIME_BLOCKED + SBT_BLOCKED_GIL)
			b->culprit = ended_in_block(&h->for_lock, a) ? h->for_lock.tid : h->holder;
	}
}

/* Set what the holder did for most of the time since the block began. */
static __always_inline void holder_activity(struct sbt_block *b, struct sbt_account *a, __u64 now)
{
	__u64 times[SBT_TIMES];
	__u32 index = 0, i;
	struct sbt_account *h = account_find(a->holder, &index);

	b->holder = a->holder;
	/*
	 * A holder that is inside a barrier does not delay this thread. On the contrary, the holder
	 * waits for this thread.
	 */
	if (!h || is_inside_barrier(h) || h->rest_ns > a->since_ns)
		return;
	times_now(h, now, times);
#pragma unroll
	for (i = 0; i < SBT_TIMES; i++)
		activity_note(b, i, times[i] - a->holder_times[i]);
	activity_set(b, a, h);
}

/*
 * The current task @waker, which held no lock, ended the wait of the thread in slot @index. If
 * `blocks` keeps this wait for its reason, note the waker there, and what the waker did since this
 * thread began to wait. If earlier waits for the same object timed out, the time counts from the
 * first of them. Global, so that the verifier checks it once and not for each caller.
 */
__noinline int waker_activity(__u32 index, __u32 waker, __u64 now)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index), *h;
	__u32 of = 0, i, reason;
	struct sbt_block *b;
	struct sbt_past *p;
	__u64 since;

	if (!a || !waker || a->holder)
		return 0;
	since = a->tried_ns;
	a->tried_ns = 0;
	reason = a->reason;
	if (reason >= SBT_BLOCKED_REASONS)
		return 0;
	b = &a->blocks[reason];
	if (b->waker || b->holder || a->block_at.key != b->at.key)
		return 0;
	b->waker = waker;
	if (reason == SBT_BLOCKED_IO)
		b->waited = SBT_WAITED_WAKER;
	h = account_find(waker, &of);
	if (!h) {
		/*
		 * With -a a thread is known from its first crossing on. Until then only its process
		 * is known.
		 */
		if (bpf_get_current_pid_tgid() >> 32 == a->tgid)
			b->doing = SBT_DOING_ONCPU;
		return 0;
	}
	p = past_at(of);
	/* If the waker rests, or has rested since the wait began, it is not known what it did. */
	if (!since || !p || is_inside_barrier(h) || h->busy || h->rest_ns > since)
		return 0;
	/*
	 * The waker is running now, even if its account says otherwise: sometimes the kernel
	 * delivers no event for a switch.
	 */
	if (h->state != ACCOUNT_RUNNING) {
		found_running(h);
		past_note(of);
	}
	if (p->tid != waker)
		return 0;
	sums_now(&p->sums[PAST_NONE], h->times, now);
	p->sums[PAST_NONE].times[SBT_TIME_ONCPU] += (now - h->run_ns - h->away_ns) >> PAST_SHIFT;
	past_around(of, since);
	past_grow(of, since);
	for (i = 0; i < SBT_TIMES; i++)
		activity_note(b, i, p->grew[i]);
	/* Scale the time from the whole wait to the reported block, which is a part of it. */
	since = (now - since) >> PAST_SHIFT;
	b->doing_ns = since ? b->doing_ns * b->ns / since : 0;
	activity_set(b, a, h);
	return 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static __noinline int stack_copy(struct sbt_account *a, struct pt_regs___kernel *regs, __u64 key)
{
	struct sbt_stack *room;
	__u32 zero = 0;

	room = bpf_map_lookup_elem(&stack_room, &zero);
	if (!room || !a)
		return 0;
	__builtin_memset(room->regs, 0, sizeof(room->regs));
	bpf_probe_read_kernel(room->regs, USER_REGS_SIZE, regs);
	room->sp = USER_SP(regs);
	room->tgid = a->tgid;
	room->len = SBT_STACK_BYTES;
	/* Near the stack's beginning there are fewer bytes, so try smaller sizes. */
	if (bpf_probe_read_user(room->bytes, SBT_STACK_BYTES, (void *)room->sp)) {
		room->len = SBT_STACK_BYTES / 4;
		if (bpf_probe_read_user(room->bytes, SBT_STACK_BYTES / 4, (void *)room->sp)) {
			room->len = SBT_STACK_BYTES / 16;
			if (bpf_probe_read_user(room->bytes, SBT_STACK_BYTES / 16,
						(void *)room->sp))
				return 0;
		}
	}
	bpf_map_update_elem(&stacks, &key, room, BPF_ANY);
	return 1;
}

static __always_inline __u64 stack_key(struct sbt_account *a, struct pt_regs___kernel *regs,
				       const struct user_call *call, __u64 now)
{
	__u64 ip = call->ip, sp = call->sp;
	__u64 key = (ip * 0x9e3779b97f4a7c15ULL) ^ (sp << 7) ^ ((__u64)a->tgid << 40);
	__u64 above = 0;

	/*
	 * Several call paths may lead to the same ip and sp. The word at the stack pointer
	 * distinguishes some of them.
	 */
	bpf_probe_read_user(&above, sizeof(above), (void *)sp);
	key ^= above * 0xff51afd7ed558ccdULL;
	if (key == a->stack_seen && now - a->stack_ns < REREAD_NS)
		return key;
	if (bpf_map_lookup_elem(&stacks, &key)) {
		a->stack_seen = key;
		a->stack_ns = now;
		return key;
	}
	if (now - a->capture_ns < CAPTURE_NS)
		return 0;
	a->capture_ns = now;
	return stack_copy(a, regs, key) ? key : 0;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static __always_inline long task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return ((struct task_struct___before_5_14 *)task)->state;
}

/*
 * Set the reason for which the task blocks, as far as its registers show it. Return the registers,
 * and the system call in @call, or NULL.
 */
static __always_inline struct pt_regs___kernel *
block_reason(struct sbt_account *a, struct task_struct *task, struct user_call *call, __u64 now)
{
	struct pt_regs___kernel *regs = user_regs(task);
	bool iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	__u8 before = a->reason;
	__u32 reason;

	a->holder = 0;
	a->waited = SBT_WAITED_UNKNOWN;
	a->event = 0;
	a->block_at.key = 0;
	a->block_stack = 0;
	a->reason = iowait ? SBT_BLOCKED_IO : SBT_BLOCKED_OTHER;
	if (!regs)
		return NULL;
	user_call(regs, call);
	if (task_state(task) & (TASK_STOPPED | TASK_TRACED)) {
		a->last_reason = before;
		a->reason = SBT_BLOCKED_OTHER;
		a->block_at.other = SBT_OTHER_STOPPED;
		return regs;
	}
	if (call->nr < 0) {
		if (a->fault_since_ns || iowait) {
			a->reason = SBT_BLOCKED_FAULT;
			a->block_at.fault_addr = a->fault_addr;
		}
		return regs;
	}
	if (call->nr == __NR_restart_syscall) {
		/* The thread was stopped, and continues its previous call. */
		a->reason = a->last_reason;
		return regs;
	}
	reason = reason_of_call(call);
	a->reason = (__u8)reason;
	switch (reason & CALL_MASK) {
	case CALL_FILE:
		a->block_at.file = file_of_call(a, task, call->arg[0], now);
		break;
	case CALL_FILES:
		a->block_at.file = SBT_FILE_SEVERAL;
		break;
	case CALL_FUTEX:
		a->block_at.futex = call->arg[0];
		break;
	case CALL_SEMAPHORE:
		a->waited = SBT_WAITED_SEMAPHORE;
		break;
	case CALL_CHILD:
		a->block_at.other = SBT_OTHER_CHILD;
		break;
	case CALL_SIGNAL:
		a->block_at.other = SBT_OTHER_SIGNAL;
		break;
	default:
		if (reason == SBT_BLOCKED_LOCK)
			a->waited = SBT_WAITED_LOCK;
		else if (reason == SBT_BLOCKED_OTHER && iowait)
			/* The system call is not in the list, and the task waits for a disk. */
			a->reason = SBT_BLOCKED_IO;
	}
	return regs;
}

/* Report at most this many unprobed waits of a thread: some processes never get probes. */
#define UNPROBED_MAX 64

/*
 * Report a wait that looks like a wait on a condition variable, and that no probe has seen. User
 * space attaches probes to the waiting functions of a new process when the process creates its
 * first thread. This report makes user space attach them also to a process with a single thread,
 * because processes may share a condition variable.
 */
__noinline int unprobed_wait(__u32 tid, __u64 now)
{
	__u32 index = 0;
	struct sbt_account *a = account_find(tid, &index);
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	struct sbt_event *e;
	struct sbt_proc *p;
	__u32 tgid;

	if (!a || !t || t->tid != tid || a->unprobed >= UNPROBED_MAX || armed != ARMED_ALL)
		return 0;
	/* A probe has seen this wait. */
	if (t->arrive_ns || (t->waiting.since_ns && t->waiting.family != SBT_FAMILY_FUTEX))
		return 0;
	tgid = a->tgid;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || (proc_flags(p, tgid) & (SBT_PROC_EXCLUDED | SBT_PROC_WAITS)))
		return 0;
	a->unprobed++;
	e = event_new(SBT_REC_UNPROBED, now);
	if (!e)
		return 0;
	event_task(e, tgid, tid, p->inc);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

static __noinline int block_begin(struct sbt_account *a, struct task_struct *prev, __u64 now)
{
	struct pt_regs___kernel *regs;
	struct user_call call = {};
	__u64 before;
	__u8 reason;

	if (!a || !prev)
		return 0;
	before = a->block_at.key;
	reason = a->reason;
	regs = block_reason(a, prev, &call, now);
	if (!regs)
		return 0;
	if (a->reason == SBT_BLOCKED_LOCK && a->block_at.futex) {
		a->holder = holder_of(a, &call, now);
		if (a->holder && a->waited != SBT_WAITED_JOIN)
			lock_wait_begin(a, now);
		/*
		 * A condition variable has two futex words, 4 bytes apart, which are used
		 * alternately. Use one address for both.
		 */
		if (a->waited == SBT_WAITED_EVENT)
			a->block_at.futex &= ~7ULL;
	}
	if (!a->tried_ns || a->reason != reason || a->block_at.key != before)
		a->tried_ns = now;
	a->block_stack = stack_key(a, regs, &call, now);
	/* With -a all processes have the same probes, so there is nothing to report. */
	if (a->event && config.discover && !config.system)
		unprobed_wait(a->tid, now);
	return 0;
}

/*
 * Find the thread that held the lock for most of the wait. The waiting thread has got the lock now.
 */
static __always_inline void lock_wait_end(struct sbt_block *b, struct sbt_account *a, __u64 now,
					  __u32 index, bool keep)
{
	struct sbt_occupancy *t = occupancy_of_lock(a);

	if (!t)
		return;
	if (keep) {
		occupancy_sum(index, false, now);
		if (a->most.tid && a->most.tid != b->holder) {
			b->holder = a->most.tid;
			activity_clear(b);
		}
		b->among = a->most.ns < a->most.seen_ns - a->most.seen_ns / 4;
	}
	occupancy_push(t, a->tid, now);
}

/*
 * Return whether to keep this block as the reason's longest one in the phase. Objects compete for
 * this by a majority vote, weighted by time, because many short waits for one object may cost more
 * than a long wait for another.
 */
static __always_inline bool block_leads(struct sbt_account *a, struct sbt_block *b, __u32 reason,
					__u64 ns)
{
	__u64 *votes = &a->votes[reason];

	if (b->ns && b->at.key == a->block_at.key) {
		*votes += ns;
		return ns > b->ns;
	}
	if (ns <= *votes) {
		*votes -= ns;
		return false;
	}
	*votes = ns - *votes;
	return true;
}

/*
 * End the block of the thread in slot @index. Global, so that the verifier checks it once and not
 * for each caller.
 */
__noinline int block_end(__u32 index, __u64 now, __u32 waker)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	__u64 ns;
	struct sbt_block *b;
	__u32 reason;
	bool leads;

	if (!a)
		return 0;
	reason = a->reason;
	if (reason >= SBT_BLOCKED_REASONS)
		return 0;
	ns = now - a->since_ns;
	times_add(a->times, SBT_TIME_BLOCKED + reason, ns);
	/*
	 * Blocks inside a barrier are not noted. If @now is before since_ns, the waker read the
	 * clock before the thread went to sleep. In that case the sum above stays correct, but
	 * there is no block to note.
	 */
	if (a->inside || now < a->since_ns)
		return 0;
	/* After a join, `holder` is the joined thread, which held no lock. */
	if (reason == SBT_BLOCKED_LOCK || reason == SBT_BLOCKED_GIL)
		waited_longest(&a->for_lock, a->waited == SBT_WAITED_JOIN ? 0 : a->holder, ns, now);
	b = &a->blocks[reason];
	a->blocks_changed = 1;
	leads = block_leads(a, b, reason, ns);
	if (leads) {
		b->ns = ns;
		b->at = a->block_at;
		b->stack = a->block_stack;
		b->waker = a->holder ? waker : 0;
		b->reason = reason;
		b->among = 0;
		b->waited = a->waited;
		b->holder = 0;
		activity_clear(b);
		if (a->holder)
			holder_activity(b, a, now);
	}
	if (a->holder && reason == SBT_BLOCKED_LOCK && a->waited != SBT_WAITED_JOIN)
		lock_wait_end(b, a, now, index, leads);
	return 0;
}

#endif /* BPF_BLOCK_H */
