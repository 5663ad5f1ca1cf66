// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The start of an unprivileged child: it drops its privileges, then runs its code. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/child_internal.h"

#define NOBODY	 65534
/* bytes of address space that the child may have in addition to what it inherits from the tracer */
#define MEMORY	 (4ULL << 30)
#define SOCKET	 3
#define MAPS_MAX (8u << 20) /* maximum size of the list of mappings, in bytes */

static void limit(int resource, uint64_t value)
{
	struct rlimit now;

	if (getrlimit(resource, &now))
		return;
	if (now.rlim_max == RLIM_INFINITY || now.rlim_max > value)
		now.rlim_max = value;
	if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	setrlimit(resource, &now);
}

/*
 * Limit the memory. The child inherits the tracer's mappings (programs, debug information), so add
 * their size to the limit.
 */
static void limit_memory(uint64_t data)
{
#ifndef __SANITIZE_ADDRESS__
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	limit(RLIMIT_DATA, data);
	limit(RLIMIT_AS, MEMORY + pages * (uint64_t)sysconf(_SC_PAGESIZE));
#else
	(void)data;
#endif
}

void child_limit_cpu(unsigned int seconds)
{
	struct rusage used;
	struct rlimit now;

	if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now))
		return;
	now.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 2 + seconds;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	setrlimit(RLIMIT_CPU, &now);
}

/* --- system calls ----------------------------------------------------------------------------- */

/*
 * System calls that all children may make: for memory, open files, the socket, and the process
 * itself.
 */
static const int calls_of_all[] = {
	/* Memory. */
	__NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise,
	/* Open files. */
	__NR_read, __NR_pread64, __NR_readv, __NR_preadv, __NR_lseek, __NR_fstat, __NR_close,
	__NR_dup, __NR_fcntl,
	/* The socket, and output that goes to /dev/null. */
	__NR_recvmsg, __NR_sendto, __NR_sendmsg, __NR_write, __NR_writev,
	/* The process itself. */
	__NR_prlimit64,
#if defined(__NR_getrlimit)
	__NR_getrlimit, __NR_setrlimit,
#endif
	__NR_getrusage, __NR_clock_gettime, __NR_gettimeofday, __NR_getpid, __NR_getppid,
	__NR_gettid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getrandom,
	__NR_uname, __NR_sysinfo, __NR_sched_getaffinity, __NR_sched_yield, __NR_futex,
	__NR_set_robust_list, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn,
	__NR_sigaltstack, __NR_restart_syscall, __NR_exit, __NR_exit_group
};

/*
 * System calls that find files, for children that may open files. __NR_openat is handled
 * separately.
 */
static const int calls_to_open[] = {
	__NR_newfstatat, __NR_statx, __NR_faccessat, __NR_readlinkat, __NR_getcwd,
#if defined(__x86_64__)
	__NR_stat,	 __NR_lstat, __NR_access,    __NR_readlink,
#endif
};

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define FIXED_ORDERS   12
#define REFUSED_ORDERS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOWED_ORDERS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static size_t allow(struct sock_filter *code, size_t n, const int *calls, size_t ncalls)
{
	const struct sock_filter allowed = ALLOWED_ORDERS;
	size_t i;

	for (i = 0; i < ncalls; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)calls[i], 0, 1);
		code[n++] = allowed;
	}
	return n;
}

/*
 * Allow only the listed system calls; all others fail. If a file takes over the child, it must not
 * reach the network, another process, or more of the kernel than reading needs. System calls of
 * another architecture have other numbers, so none of them is allowed.
 */
static int filter_calls(bool opens)
{
	static const struct sock_filter begin[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
#if defined(__x86_64__)
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
#else
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0),
#endif
		REFUSED_ORDERS,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	/* Allow openat() only for reading. */
	static const struct sock_filter open_to_read[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0, 1),
		REFUSED_ORDERS,
		ALLOWED_ORDERS,
	};
	static const struct sock_filter end = REFUSED_ORDERS;
	struct sock_filter code[FIXED_ORDERS + 2 * (COUNT(calls_of_all) + COUNT(calls_to_open))];
	struct sock_fprog filter = { .filter = code };
	size_t n = COUNT(begin);

	memcpy(code, begin, sizeof(begin));
	n = allow(code, n, calls_of_all, COUNT(calls_of_all));
	if (opens) {
		n = allow(code, n, calls_to_open, COUNT(calls_to_open));
		memcpy(code + n, open_to_read, sizeof(open_to_read));
		n += COUNT(open_to_read);
	}
	code[n++] = end;
	filter.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) ? -errno : 0;
}

/* --- inherited state -------------------------------------------------------------------------- */

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	/*
	 * The terminal sends SIGINT (^C) to the whole foreground process group, but the tracer
	 * still needs answers after ^C.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Close all descriptors except the socket, which becomes descriptor 3. Redirect the standard
 * descriptors to /dev/null.
 */
static int close_descriptors(int sock)
{
	int null, fd;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -errno;
	/*
	 * First move both to high numbers, because the numbers that they have now may be those that
	 * are overwritten below.
	 */
	sock = fcntl(sock, F_DUPFD, 16);
	null = fcntl(null, F_DUPFD, 16);
	if (sock < 0 || null < 0)
		return -EMFILE;
	for (fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	if (dup2(sock, SOCKET) < 0)
		return -errno;
	if (syscall(SYS_close_range, SOCKET + 1, ~0U, 0))
		for (fd = SOCKET + 1; fd < sysconf(_SC_OPEN_MAX); fd++)
			close(fd);
	return 0;
}

/*
 * Unmap all shared memory. BPF rings and maps are shared with the kernel, and the child must have
 * no access to them. Keep files that are mapped read-only, because the C library continues to use
 * its mapped tables of character sets. Read the whole list first: each munmap() changes it.
 */
static int unmap_shared(void)
{
	char *list, *line, mode[5], first;
	unsigned long start, end;
	size_t len = 0;
	ssize_t n;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	list = fd < 0 ? NULL : malloc(MAPS_MAX + 1);
	if (!list) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	while (len < MAPS_MAX && (n = read(fd, list + len, MAPS_MAX - len)) > 0)
		len += (size_t)n;
	close(fd);
	list[len] = '\0';
	for (line = list; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %c", &start, &end, mode, &first) == 4 &&
		    mode[3] == 's' && (mode[1] == 'w' || first != '/'))
			munmap((void *)start, end - start);
	free(list);
	return len == MAPS_MAX ? -E2BIG : 0;
}

static int drop_privileges(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	/*
	 * Root stays root if it lacks CAP_SETUID and CAP_SETGID, or is in a user namespace without
	 * this user id. Its capabilities are removed below.
	 */
	if (geteuid() == 0 &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	     setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	/*
	 * Also remove capabilities that the process did not get by being root, for example those of
	 * the executable file.
	 */
	if (syscall(SYS_capset, &head, none))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Other processes may run with the same user id: deny them access to the child. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return 0;
}

_Noreturn void child_live(const struct child_kind *kind, int sock, pid_t parent)
{
	/*
	 * If the tracer dies, kill this child. A change of user clears this setting, so it is made
	 * again below. Make it here, too, in case the tracer dies before that.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, kind->name, 0, 0, 0);
	reset_signals();
	setsid();
	if (close_descriptors(sock) || unmap_shared())
		_exit(1);
	/*
	 * Give up a raised priority, unless the kind of child needs it. Symbol look-ups must not
	 * disturb traced programs more than necessary.
	 */
	if (!kind->first && getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 512);
	limit_memory(kind->data);
	if (!kind->network) {
		unsetenv("DEBUGINFOD_URLS");
		limit(RLIMIT_FSIZE, 0);
	}
	if (drop_privileges())
		_exit(1);
	/*
	 * Set this again after the change of user. The parent may have exited since the first call.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
	/*
	 * EINVAL: the kernel has no seccomp filters. debuginfod needs the network and threads, so
	 * there is no filter for it.
	 */
	if (!kind->network && filter_calls(kind->opens) && errno != EINVAL)
		_exit(1);
	kind->run(kind->ctx, SOCKET);
	_exit(0);
}

size_t child_receive(int sock, const struct iovec *parts, size_t n, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)parts,
			      .msg_iovlen = n,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	ssize_t len;

	*fd = -1;
	do
		len = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len <= 0)
		return 0;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cmsg), sizeof(*fd));
	return (size_t)len;
}
