// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Find facts about the machine, and what we may do to other processes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/doctor_internal.h"
#include "base/array.h"
#include "attach/rights.h"
#include "target/maps.h"

/* The kernel's inode numbers of the first namespaces. */
#define FIRST_USERNS 0xeffffffdu
#define FIRST_PIDNS  0xeffffffcu

#define NOBODY 65534

static int is_namespace(const char *path, ino_t number)
{
	struct stat st;

	return stat(path, &st) ? DOCTOR_UNTRIED : st.st_ino == number;
}

static int read_seccomp(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	int mode = DOCTOR_UNTRIED;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Seccomp:", 8))
			mode = atoi(line + 8);
	if (f)
		fclose(f);
	return mode;
}

/* Read the selected word of "none [integrity] confidentiality". */
static void read_lockdown(char *out, size_t size)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "", *begin, *end;

	*out = '\0';
	if (f && fgets(line, sizeof(line), f)) {
		begin = strchr(line, '[');
		end = begin ? strchr(begin, ']') : NULL;
		if (end)
			snprintf(out, size, "%.*s", (int)(end - begin - 1), begin + 1);
	}
	if (f)
		fclose(f);
}

static void look_rights(struct doctor_facts *f)
{
	const struct right *r;

	for (r = rights_known; r->name && f->nrights < DOCTOR_RIGHTS; r++)
		f->rights[f->nrights++] = (struct doctor_right){ .name = r->name,
								 .why = r->why,
								 .there = rights_have(r->number),
								 .needed = r->needed };
	f->root = !geteuid();
	f->first_pidns = is_namespace("/proc/self/ns/pid", FIRST_PIDNS);
	f->first_userns = is_namespace("/proc/self/ns/user", FIRST_USERNS);
	f->bpf_sysctl = rights_sysctl(RIGHTS_BPF_SYSCTL);
	f->paranoid = rights_sysctl(RIGHTS_PARANOID);
	f->yama = rights_sysctl(RIGHTS_YAMA);
	f->seccomp = read_seccomp();
	read_lockdown(f->lockdown, sizeof(f->lockdown));
}

/* --- control groups --------------------------------------------------------------------------- */

static void look_cgroups(struct doctor_facts *f)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + 64];
	} h = { .handle = { .handle_bytes = 64 } };
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[1024], path[160], type[32];
	int mount;

	while (mounts && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %159s %31s", path, type) != 2)
			continue;
		if (!strcmp(type, "cgroup"))
			f->cgroup1 = true;
		if (!strcmp(type, "cgroup2") && !*f->cgroup2)
			snprintf(f->cgroup2, sizeof(f->cgroup2), "%s", path);
	}
	if (mounts)
		fclose(mounts);
	if (*f->cgroup2)
		f->cgroup_id =
			name_to_handle_at(AT_FDCWD, f->cgroup2, &h.handle, &mount, 0) ? -errno : 0;
}

/* --- processes -------------------------------------------------------------------------------- */

/*
 * Read some bytes at the beginning of a readable mapping, as the analysis of hangs does for stacks
 * and locks.
 */
static int read_memory(int pid, const struct maps *maps)
{
	char bytes[16] = "";
	size_t i;
	int err = -ENOENT;

	for (i = 0; i < maps->n && err; i++) {
		struct iovec to = { bytes, sizeof(bytes) };
		struct iovec from = { (void *)(uintptr_t)maps->entries[i].start, sizeof(bytes) };

		if (process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(bytes))
			return 0;
		err = -errno;
		if (errno != EFAULT)
			break;
	}
	return err;
}

static int open_files(int pid, const struct maps *maps)
{
	int fd;

	array_for_each (e, maps->entries, maps->n) {
		if (!e->ino)
			continue;
		fd = maps_open(pid, e);
		if (fd < 0)
			return fd;
		close(fd);
		return 0;
	}
	return -ENOENT;
}

/*
 * Start a process of another user: a child that changes its user. Return 0 if that is not
 * permitted.
 */
static pid_t start_other(void)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe2(ready, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid) {
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(1);
		/* Set this only now, because a change of user clears it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ready[0]);
	return pid > 0 ? pid : 0;
}

static void look_into(struct doctor_facts *f, pid_t pid)
{
	struct maps maps = { 0 };

	f->other = pid;
	f->other_maps = maps_read(pid, &maps);
	if (!f->other_maps && !maps.n)
		f->other_maps = -EACCES;
	if (!f->other_maps) {
		f->other_files = open_files(pid, &maps);
		f->other_memory = read_memory(pid, &maps);
	}
	maps_free(&maps);
}

static void look_other(struct doctor_facts *f)
{
	pid_t pid = getuid() == NOBODY ? 0 : start_other();

	if (pid) {
		look_into(f, pid);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	} else if (getpid() != 1 && getuid()) {
		/* Process 1 belongs to root, which is not the user of this process. */
		look_into(f, 1);
	}
}

static void look_child(struct doctor_facts *f)
{
	char there[16] = "", bytes[sizeof(there)] = "";
	struct iovec from = { there, sizeof(there) }, to = { bytes, sizeof(bytes) };
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	/* The child is a copy: it has the same contents at the same address. */
	f->child_memory =
		process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(there) ? 0 : -errno;
	f->stop = kill(pid, SIGSTOP) ? -errno : 0;
	if (!f->stop && (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)))
		f->stop = -EINVAL;
	if (!f->stop && (kill(pid, SIGCONT) || waitpid(pid, &status, WCONTINUED) != pid ||
			 !WIFCONTINUED(status)))
		f->stop = -EINVAL;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void doctor_look_machine(struct doctor_facts *f)
{
	struct utsname u;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!uname(&u)) {
		snprintf(f->release, sizeof(f->release), "%s", u.release);
		snprintf(f->arch, sizeof(f->arch), "%s", u.machine);
	}
	f->cpus = cpus > 0 ? (uint32_t)cpus : 0;
}

void doctor_look(struct doctor_facts *f)
{
	struct rlimit files;

	doctor_look_machine(f);
	look_rights(f);
	look_cgroups(f);
	look_other(f);
	look_child(f);
	if (!getrlimit(RLIMIT_NOFILE, &files))
		f->files = files.rlim_max == RLIM_INFINITY ? UINT64_MAX : files.rlim_max;
}
