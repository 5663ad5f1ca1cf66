// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "target/proc.h"

/* --- /proc ------------------------------------------------------------------------------------ */

bool look_parse_stat(const char *text, struct look *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long start;
	size_t len;
	char state;

	if (!open || !close || close < open)
		return false;
	/*
	 * Numbers follow the name, which ends at the last parenthesis: the name may contain other
	 * parentheses.
	 */
	if (sscanf(close + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u "
		   "%llu",
		   &state, &start) != 2)
		return false;
	len = (size_t)(close - open - 1);
	memset(out->comm, 0, sizeof(out->comm));
	memcpy(out->comm, open + 1, len < 15 ? len : 15);
	out->state = state;
	out->start_ticks = start;
	return true;
}

bool look_parse_syscall(const char *text, struct look *out)
{
	unsigned long long v[8];
	long long nr;
	int n, i;

	out->syscall = LOOK_UNKNOWN_CALL;
	if (!strncmp(text, "running", 7)) {
		out->syscall = LOOK_NO_CALL;
		return true;
	}
	n = sscanf(text, "%lld %llx %llx %llx %llx %llx %llx %llx %llx", &nr, &v[0], &v[1], &v[2],
		   &v[3], &v[4], &v[5], &v[6], &v[7]);
	if (n == 9 && !v[6]) {
		/* a kernel thread: it has no user stack, so all numbers in the file are 0 */
		nr = LOOK_NO_CALL;
	} else if (n == 9 && nr >= 0) {
		for (i = 0; i < 6; i++)
			out->args[i] = v[i];
		out->sp = v[6];
		out->pc = v[7];
	} else if (n == 3 && nr == -1) {
		out->sp = v[0];
		out->pc = v[1];
	} else {
		return false;
	}
	out->syscall = nr;
	return true;
}

bool look_parse_schedstat(const char *text, struct look *out)
{
	unsigned long long cpu, runq;

	if (sscanf(text, "%llu %llu", &cpu, &runq) != 2)
		return false;
	out->cpu_ns = cpu;
	out->runq_ns = runq;
	return true;
}

bool look_parse_status(const char *text, struct look *out)
{
	const char *own = strstr(text, "\nvoluntary_ctxt_switches:");
	const char *other = strstr(text, "\nnonvoluntary_ctxt_switches:");
	unsigned long long a, b;

	if (!own || !other || sscanf(own, "\nvoluntary_ctxt_switches: %llu", &a) != 1 ||
	    sscanf(other, "\nnonvoluntary_ctxt_switches: %llu", &b) != 1)
		return false;
	out->switches = a + b;
	return true;
}

/*
 * Read a file of /proc/PID/task/TID as text. Return its length, -ESRCH if the thread has exited, or
 * another -errno.
 */
static ssize_t read_text(int pid, int tid, const char *name, char *text, size_t size)
{
	return proc_read(text, size, "/proc/%d/task/%d/%s", pid, tid, name);
}

int look_again(int pid, int tid, struct look *out)
{
	char text[4096];
	ssize_t n;

	memset(out, 0, sizeof(*out));
	out->syscall = LOOK_UNKNOWN_CALL;
	out->cpu_ns = out->runq_ns = out->switches = UINT64_MAX;
	n = read_text(pid, tid, "stat", text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (!look_parse_stat(text, out))
		return -EBADMSG;
	if (read_text(pid, tid, "schedstat", text, sizeof(text)) > 0)
		look_parse_schedstat(text, out);
	if (read_text(pid, tid, "status", text, sizeof(text)) > 0)
		look_parse_status(text, out);
	return 0;
}

int look_thread(int pid, int tid, struct look *out)
{
	char text[512];
	int err = look_again(pid, tid, out);

	if (err)
		return err;
	if (read_text(pid, tid, "syscall", text, sizeof(text)) > 0)
		look_parse_syscall(text, out);
	/*
	 * The file contains "0" if the thread is not in the kernel, or if we may not know where it
	 * is.
	 */
	if (read_text(pid, tid, "wchan", text, sizeof(text)) > 0 && strcmp(text, "0") != 0)
		snprintf(out->wchan, sizeof(out->wchan), "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

long look_read_some(int pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = { .iov_base = to, .iov_len = size };
	struct iovec there = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return n < 0 ? -errno : n;
}

int look_read(int pid, uint64_t address, void *to, size_t size)
{
	long n = look_read_some(pid, address, to, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* --- system calls ----------------------------------------------------------------------------- */

/* How to describe in words what a system call waits for. */
enum shape {
	PLAIN, /* "name()" */
	OF_FILE, /* "name() of FILE": the first argument is a file descriptor */
	TO_FILE,
	ON_FILE,
	OF_PATH, /* the second argument is a path */
	OF_ID, /* "name() of the semaphores NUMBER" or "of the message queue NUMBER" */
	POLL,
	SELECT,
	SLEEP, /* the first argument points to the duration */
	CLOCK_SLEEP,
	WAIT4,
	WAITID,
	FUTEX,
	CONTROL, /* "a lock of FILE", or "name() on FILE" */
	SIGNAL,
	VFORK,
};

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

static const struct call {
	int64_t nr;
	const char *name;
	enum look_wait wait;
	enum shape shape;
} calls[] = {
	{ SYS_futex, "futex", LOOK_FUTEX, FUTEX },
	{ SYS_futex_waitv, "futex_waitv", LOOK_OTHER, PLAIN },
	{ SYS_futex_wait, "futex_wait", LOOK_FUTEX, PLAIN },
	{ SYS_read, "read", LOOK_IO, OF_FILE },
	{ SYS_pread64, "pread64", LOOK_IO, OF_FILE },
	{ SYS_readv, "readv", LOOK_IO, OF_FILE },
	{ SYS_preadv, "preadv", LOOK_IO, OF_FILE },
	{ SYS_preadv2, "preadv2", LOOK_IO, OF_FILE },
	{ SYS_write, "write", LOOK_IO, TO_FILE },
	{ SYS_pwrite64, "pwrite64", LOOK_IO, TO_FILE },
	{ SYS_writev, "writev", LOOK_IO, TO_FILE },
	{ SYS_pwritev, "pwritev", LOOK_IO, TO_FILE },
	{ SYS_pwritev2, "pwritev2", LOOK_IO, TO_FILE },
	{ SYS_recvfrom, "recvfrom", LOOK_IO, OF_FILE },
	{ SYS_recvmsg, "recvmsg", LOOK_IO, OF_FILE },
	{ SYS_recvmmsg, "recvmmsg", LOOK_IO, OF_FILE },
	{ SYS_sendto, "sendto", LOOK_IO, TO_FILE },
	{ SYS_sendmsg, "sendmsg", LOOK_IO, TO_FILE },
	{ SYS_sendmmsg, "sendmmsg", LOOK_IO, TO_FILE },
	{ SYS_accept, "accept", LOOK_IO, ON_FILE },
	{ SYS_accept4, "accept4", LOOK_IO, ON_FILE },
	{ SYS_connect, "connect", LOOK_IO, ON_FILE },
	{ SYS_sendfile, "sendfile", LOOK_IO, TO_FILE },
	{ SYS_splice, "splice", LOOK_IO, OF_FILE },
	{ SYS_tee, "tee", LOOK_IO, OF_FILE },
	{ SYS_vmsplice, "vmsplice", LOOK_IO, TO_FILE },
	{ SYS_copy_file_range, "copy_file_range", LOOK_IO, OF_FILE },
	{ SYS_fsync, "fsync", LOOK_IO, OF_FILE },
	{ SYS_fdatasync, "fdatasync", LOOK_IO, OF_FILE },
	{ SYS_ftruncate, "ftruncate", LOOK_IO, OF_FILE },
	{ SYS_fallocate, "fallocate", LOOK_IO, OF_FILE },
	{ SYS_getdents64, "getdents64", LOOK_IO, OF_FILE },
	{ SYS_ioctl, "ioctl", LOOK_IO, ON_FILE },
	{ SYS_openat, "openat", LOOK_IO, OF_PATH },
	{ SYS_epoll_pwait, "epoll_pwait", LOOK_IO, PLAIN },
	{ SYS_epoll_pwait2, "epoll_pwait2", LOOK_IO, PLAIN },
	{ SYS_ppoll, "ppoll", LOOK_IO, POLL },
	{ SYS_pselect6, "pselect6", LOOK_IO, SELECT },
	{ SYS_io_getevents, "io_getevents", LOOK_IO, PLAIN },
	{ SYS_io_uring_enter, "io_uring_enter", LOOK_IO, PLAIN },
	{ SYS_sync, "sync", LOOK_IO, PLAIN },
	{ SYS_syncfs, "syncfs", LOOK_IO, OF_FILE },
	{ SYS_msync, "msync", LOOK_IO, PLAIN },
	{ SYS_nanosleep, "nanosleep", LOOK_SLEEP, SLEEP },
	{ SYS_clock_nanosleep, "clock_nanosleep", LOOK_SLEEP, CLOCK_SLEEP },
	{ SYS_wait4, "wait4", LOOK_CHILD, WAIT4 },
	{ SYS_waitid, "waitid", LOOK_CHILD, WAITID },
	{ SYS_semop, "semop", LOOK_OTHER, OF_ID },
	{ SYS_semtimedop, "semtimedop", LOOK_OTHER, OF_ID },
	{ SYS_msgrcv, "msgrcv", LOOK_OTHER, OF_ID },
	{ SYS_msgsnd, "msgsnd", LOOK_OTHER, OF_ID },
	{ SYS_mq_timedreceive, "mq_timedreceive", LOOK_OTHER, OF_FILE },
	{ SYS_mq_timedsend, "mq_timedsend", LOOK_OTHER, TO_FILE },
	{ SYS_flock, "flock", LOOK_OTHER, CONTROL },
	{ SYS_fcntl, "fcntl", LOOK_OTHER, CONTROL },
	{ SYS_rt_sigtimedwait, "rt_sigtimedwait", LOOK_OTHER, SIGNAL },
	{ SYS_rt_sigsuspend, "rt_sigsuspend", LOOK_OTHER, SIGNAL },
	{ SYS_restart_syscall, "restart_syscall", LOOK_OTHER, PLAIN },
	{ SYS_execve, "execve", LOOK_OTHER, PLAIN },
	{ SYS_clone, "clone", LOOK_CHILD, VFORK },
	{ SYS_clone3, "clone3", LOOK_CHILD, VFORK },
	{ SYS_exit_group, "exit_group", LOOK_OTHER, PLAIN },
	{ SYS_exit, "exit", LOOK_OTHER, PLAIN },
	{ SYS_mmap, "mmap", LOOK_OTHER, PLAIN },
	{ SYS_munmap, "munmap", LOOK_OTHER, PLAIN },
	{ SYS_mprotect, "mprotect", LOOK_OTHER, PLAIN },
	{ SYS_madvise, "madvise", LOOK_OTHER, PLAIN },
	{ SYS_sched_yield, "sched_yield", LOOK_NOTHING, PLAIN },
#ifdef SYS_poll /* arm64 has only the newer calls */
	{ SYS_poll, "poll", LOOK_IO, POLL },
	{ SYS_select, "select", LOOK_IO, SELECT },
	{ SYS_epoll_wait, "epoll_wait", LOOK_IO, PLAIN },
	{ SYS_open, "open", LOOK_IO, PLAIN },
	{ SYS_pause, "pause", LOOK_OTHER, SIGNAL },
	{ SYS_vfork, "vfork", LOOK_CHILD, VFORK },
#endif
};

static const struct call *call_of(int64_t nr)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

const char *look_call_name(int64_t nr)
{
	const struct call *call = call_of(nr);

	return call ? call->name : NULL;
}

enum look_wait look_call_wait(const struct look *look)
{
	const struct call *call = call_of(look->syscall);

	if (!call)
		return look->syscall >= 0 ? LOOK_OTHER : LOOK_NOTHING;
	/* A call of poll() or select() without files only sleeps. */
	if (call->shape == POLL && !look->args[1])
		return LOOK_SLEEP;
	if (call->shape == SELECT && !look->args[0])
		return LOOK_SLEEP;
	return call->wait;
}

/* --- words ------------------------------------------------------------------------------------ */

static void printable_into(const char *raw, char *words, size_t size)
{
	char *text = text_printable(raw);

	snprintf(words, size, "%s", text ? text : "?");
	free(text);
}

void look_file_words(const char *link, char *words, size_t size)
{
	static const struct {
		const char *begin, *words;
	} kinds[] = {
		{ "pipe:[", "a pipe" },
		{ "socket:[", "a socket" },
		{ "anon_inode:[eventpoll]", "an epoll instance" },
		{ "anon_inode:[eventfd]", "an eventfd" },
		{ "anon_inode:[timerfd]", "a timerfd" },
		{ "anon_inode:[signalfd]", "a signalfd" },
		{ "anon_inode:[io_uring]", "an io_uring" },
		{ "anon_inode:[userfaultfd]", "a userfaultfd" },
		{ "anon_inode:[fanotify]", "a fanotify group" },
		{ "anon_inode:[perf_event]", "a perf event" },
		{ "anon_inode:[pidfd]", "a pidfd" },
		{ "anon_inode:inotify", "an inotify instance" },
		{ "anon_inode:", "an anonymous file" },
	};

	array_for_each (kind, kinds, sizeof(kinds) / sizeof(kinds[0])) {
		if (!strncmp(link, kind->begin, strlen(kind->begin))) {
			snprintf(words, size, "%s", kind->words);
			return;
		}
	}
	if (!strncmp(link, "/dev/pts/", 9) || !strncmp(link, "/dev/tty", 8)) {
		char path[80];

		printable_into(link, path, sizeof(path));
		snprintf(words, size, "the terminal %s", path);
		return;
	}
	printable_into(link, words, size);
}

static void file_words(int pid, int32_t fd, char *words, size_t size)
{
	char path[64], link[PATH_MAX + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRId32, pid, fd);
	n = fd < 0 ? -1 : readlink(path, link, sizeof(link) - 1);
	if (n <= 0) {
		snprintf(words, size, "descriptor %" PRId32, fd);
		return;
	}
	link[n] = '\0';
	look_file_words(link, words, size);
}

static void poll_words(int pid, const char *name, const struct look *look, char *words, size_t size)
{
	uint64_t n = look->args[1];
	struct pollfd first;
	char file[256];

	if (!n) {
		snprintf(words, size, "%s() of no files, used as a sleep", name);
		return;
	}
	if (look_read(pid, look->args[0], &first, sizeof(first))) {
		snprintf(words, size, "%s() of %" PRIu64 " file%s", name, n, n == 1 ? "" : "s");
		return;
	}
	file_words(pid, first.fd, file, sizeof(file));
	if (n == 1)
		snprintf(words, size, "%s() of %s", name, file);
	else
		snprintf(words, size, "%s() of %" PRIu64 " files, the first %s", name, n, file);
}

static void sleep_words(int pid, uint64_t address, bool until, char *words, size_t size)
{
	struct timespec t;

	if (until || look_read(pid, address, &t, sizeof(t)) || t.tv_sec < 0 || t.tv_nsec < 0)
		snprintf(words, size, "sleep");
	else
		snprintf(words, size, "sleep of %.6g s",
			 (double)t.tv_sec + (double)t.tv_nsec / 1e9);
}

static void futex_words(const struct look *look, char *words, size_t size)
{
	switch (look->args[1] & (uint64_t)FUTEX_CMD_MASK & 0x7f) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		snprintf(words, size, "a futex%s", look->args[3] ? ", with a timeout" : "");
		break;
	case FUTEX_LOCK_PI:
	case 13: /* FUTEX_LOCK_PI2, since Linux 5.14 */
		snprintf(words, size, "a mutex with priority inheritance%s",
			 look->args[3] ? ", with a timeout" : "");
		break;
	default:
		snprintf(words, size, "futex()");
	}
}

static void child_words(int32_t id, bool one, char *words, size_t size)
{
	if (one)
		snprintf(words, size, "its child %" PRId32, id);
	else
		snprintf(words, size, "any of its children");
}

static void control_words(int pid, const char *name, const struct look *look, char *words,
			  size_t size)
{
	char file[256];

	file_words(pid, (int32_t)look->args[0], file, sizeof(file));
	if (look->syscall == SYS_flock || look->args[1] == F_SETLKW ||
	    look->args[1] == F_OFD_SETLKW)
		snprintf(words, size, "a lock of %s", file);
	else
		snprintf(words, size, "%s() on %s", name, file);
}

static void path_words(int pid, const char *name, const struct look *look, char *words, size_t size)
{
	char raw[256], path[1024];
	long n = look_read_some(pid, look->args[1], raw, sizeof(raw) - 1);

	if (n <= 0) {
		snprintf(words, size, "%s()", name);
		return;
	}
	raw[n] = '\0';
	printable_into(raw, path, sizeof(path));
	snprintf(words, size, "%s() of %s", name, path);
}

void look_words(int pid, const struct look *look, char *words, size_t size)
{
	const struct call *call = call_of(look->syscall);
	static const char *const link[] = { [OF_FILE] = "of", [TO_FILE] = "to", [ON_FILE] = "on" };
	char file[256];

	*words = '\0';
	if (look->syscall < 0)
		return;
	if (!call) {
		snprintf(words, size, "system call %" PRId64, look->syscall);
		return;
	}
	switch (call->shape) {
	case PLAIN:
		snprintf(words, size, "%s()", call->name);
		break;
	case OF_FILE:
	case TO_FILE:
	case ON_FILE:
		file_words(pid, (int32_t)look->args[0], file, sizeof(file));
		snprintf(words, size, "%s() %s %s", call->name, link[call->shape], file);
		break;
	case OF_PATH:
		path_words(pid, call->name, look, words, size);
		break;
	case OF_ID:
		snprintf(words, size, "%s() of %s %" PRId32, call->name,
			 call->name[0] == 's' ? "the semaphores" : "the message queue",
			 (int32_t)look->args[0]);
		break;
	case POLL:
		poll_words(pid, call->name, look, words, size);
		break;
	case SELECT:
		snprintf(words, size, look->args[0] ? "%s()" : "%s() of no files, used as a sleep",
			 call->name);
		break;
	case SLEEP:
		sleep_words(pid, look->args[0], false, words, size);
		break;
	case CLOCK_SLEEP:
		sleep_words(pid, look->args[2], look->args[1] & TIMER_ABSTIME, words, size);
		break;
	case WAIT4:
		child_words((int32_t)look->args[0], (int32_t)look->args[0] > 0, words, size);
		break;
	case WAITID:
		child_words((int32_t)look->args[1], look->args[0] == P_PID, words, size);
		break;
	case FUTEX:
		futex_words(look, words, size);
		break;
	case CONTROL:
		control_words(pid, call->name, look, words, size);
		break;
	case SIGNAL:
		snprintf(words, size, "a signal");
		break;
	case VFORK:
		snprintf(words, size, "its child to start another program");
		break;
	}
}
