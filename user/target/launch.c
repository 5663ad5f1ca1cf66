// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/users.h"

/* Wait for the child of an aborted launch for up to ABORT_LOOKS intervals of ABORT_LOOK_US: 2 s. */
#define ABORT_LOOKS   2000
#define ABORT_LOOK_US 1000

static int fill_user(const struct passwd *pw, struct launch_user *out)
{
	if ((size_t)snprintf(out->name, sizeof(out->name), "%s", pw->pw_name) >=
		    sizeof(out->name) ||
	    (size_t)snprintf(out->home, sizeof(out->home), "%s", pw->pw_dir) >= sizeof(out->home) ||
	    (size_t)snprintf(out->shell, sizeof(out->shell), "%s", pw->pw_shell) >=
		    sizeof(out->shell))
		return -ENAMETOOLONG;
	out->uid = pw->pw_uid;
	out->gid = pw->pw_gid;
	out->change = out->uid != geteuid() || out->gid != getegid();
	return 0;
}

static bool parse_id(const char *s, unsigned long *out)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoul(s, &end, 10);
	return !errno && !*end && *out < UINT32_MAX;
}

int launch_find_user(const char *name, struct launch_user *out)
{
	const struct passwd *pw;
	unsigned long uid;

	memset(out, 0, sizeof(*out));
	errno = 0;
	if (name) {
		pw = users_by_name(name);
		if (!pw && parse_id(name, &uid))
			pw = users_by_id((uid_t)uid);
		if (!pw)
			return errno ? -errno : -ENOENT;
		return fill_user(pw, out);
	}
	if (geteuid() != 0 || !parse_id(getenv("SUDO_UID"), &uid) || !uid)
		return 0;
	pw = users_by_id((uid_t)uid);
	return pw ? fill_user(pw, out) : -ENOENT;
}

/* In the child: become the user for good, so that no privilege can be regained. */
static int become(const struct launch_user *user)
{
	int err;

	if (!user->change)
		return 0;
	err = users_take_groups(user->name, user->gid);
	if (err)
		return err;
	/*
	 * Drop the ambient capabilities for tracing, because COMMAND's user must not have them.
	 * This call exists since Linux 4.3.
	 */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -errno;
	if (setenv("HOME", user->home, 1) || setenv("USER", user->name, 1) ||
	    setenv("LOGNAME", user->name, 1) || setenv("SHELL", user->shell, 1))
		return -errno;
	return 0;
}

/* Return 0 if @file can be executed as far as its mode says, -EACCES if not, -ENOENT: no file. */
static int may_execute(const char *file)
{
	struct stat st;

	if (stat(file, &st))
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(st.st_mode) && !access(file, X_OK) ? 0 : -EACCES;
}

/*
 * Write the path of @name in the directory at *path, which is a part of PATH, into @file, of
 * PATH_MAX bytes. Move *path to the next directory, NULL at the end. Return whether it fits.
 */
static bool next_candidate(const char **path, const char *name, char *file)
{
	const char *end = strchrnul(*path, ':');
	int n = snprintf(file, PATH_MAX, "%.*s%s%s", (int)(end - *path), *path,
			 end == *path ? "" : "/", name);

	*path = *end ? end + 1 : NULL;
	return n < PATH_MAX;
}

static const char *search_path(void)
{
	const char *path = getenv("PATH");

	return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

int launch_find_program(const char *name, char *file)
{
	const char *path = search_path();
	int err = -ENOENT;

	if (strchr(name, '/')) {
		snprintf(file, PATH_MAX, "%s", name);
		return may_execute(name);
	}
	while (*name && path) {
		if (!next_candidate(&path, name, file))
			continue;
		if (!may_execute(file))
			return 0;
		if (!access(file, F_OK))
			err = -EACCES;
	}
	return err;
}

/*
 * Like execvp(). But if a file has no format that the kernel can execute, do not run it as a shell
 * script, which would be dangerous as root. Return -ENOENT if there is no such file, and -ELIBACC
 * if its interpreter is missing, or another -errno.
 */
static int execute(char *const argv[])
{
	const char *path = search_path();
	char file[PATH_MAX];
	int err = -ENOENT;

	if (strchr(argv[0], '/')) {
		execv(argv[0], argv);
		return errno == ENOENT && !access(argv[0], F_OK) ? -ELIBACC : -errno;
	}
	while (*argv[0] && path) {
		if (!next_candidate(&path, argv[0], file))
			continue;
		execv(file, argv);
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return -errno;
		/* A directory that may not be searched also causes EACCES. */
		if (!access(file, F_OK))
			err = errno == EACCES ? -EACCES : -ELIBACC;
	}
	return err;
}

int launch_here(char *const argv[], const struct launch_user *user)
{
	int err = become(user);

	return err ? err : execute(argv);
}

/* Wait for the parent's permission, then execute the command. */
static void __attribute__((noreturn))
child(char *const argv[], const struct launch_user *user, int go, int status)
{
	int err;
	char c = 0;

	/*
	 * The parent writes a byte to start the command. If it closes the pipe without this byte,
	 * the start is cancelled.
	 */
	while (read(go, &c, 1) < 0) {
		if (errno != EINTR)
			_exit(125);
	}
	if (c != 'g')
		_exit(125);
	err = become(user);
	if (!err)
		err = execute(argv);
	if (write(status, &err, sizeof(err)) < 0)
		_exit(125);
	_exit(125);
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int launch_prepare(char *const argv[], const struct launch_user *user, struct launch *out)
{
	int go[2], status[2], err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(status, O_CLOEXEC)) {
		err = -errno;
		close_pipe(go);
		return err;
	}
	fflush(NULL);
	out->pid = fork();
	if (out->pid < 0) {
		err = -errno;
		close_pipe(go);
		close_pipe(status);
		return err;
	}
	if (!out->pid) {
		close(go[1]);
		child(argv, user, go[0], status[1]);
	}
	close(go[0]);
	close(status[1]);
	out->result = 0;
	out->go = go[1];
	out->status = status[0];
	out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
	return 0;
}

int launch_go(struct launch *l)
{
	ssize_t n = write(l->go, "g", 1);
	int err = n == 1 ? 0 : -errno;

	close(l->go);
	l->go = -1;
	return err;
}

int launch_result(struct launch *l)
{
	struct pollfd p = { .fd = l->status, .events = POLLIN };
	int err = 0;
	ssize_t n;

	if (l->result || l->status < 0)
		return l->result;
	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = read(l->status, &err, sizeof(err));
	close(l->status);
	l->status = -1;
	/*
	 * A successful exec closes the child's end of the pipe. So an end of file without data
	 * means that the command runs.
	 */
	l->result = n == (ssize_t)sizeof(err) ? err : 1;
	return l->result;
}

void launch_abort(struct launch *l)
{
	int i;

	if (l->go >= 0)
		close(l->go);
	if (l->status >= 0)
		close(l->status);
	l->go = -1;
	l->status = -1;
	/*
	 * The child exits when it reads the end of file. If it was stopped, it cannot do so: kill
	 * it after half of the time.
	 */
	for (i = 0; i < ABORT_LOOKS && !waitpid(l->pid, NULL, WNOHANG); i++) {
		if (i == ABORT_LOOKS / 2)
			kill(l->pid, SIGKILL);
		usleep(ABORT_LOOK_US);
	}
}
