/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Start COMMAND as the right user, and make it wait until the probes are attached. */
#ifndef TARGET_LAUNCH_H
#define TARGET_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int go; /* write end of a pipe: one byte starts the command; -1: already closed */
	int status; /* read end of a pipe, for the -errno of a failed exec; -1: already read */
	int result; /* 1: the command runs; -errno: the exec failed; 0: not known yet */
	int pidfd; /* readable when the command has exited; -1 if the kernel has no pidfds */
};

struct launch_user {
	uid_t uid;
	gid_t gid;
	char name[256];
	char home[4096];
	char shell[4096];
	bool change; /* true: change to this user; false: stay the present user */
};

/*
 * Find the user that COMMAND runs as: @name (-u), or else the user that called sudo, or else the
 * present user (out->change is false). Return 0, -ENOENT if there is no such user, or -errno.
 */
int launch_find_user(const char *name, struct launch_user *out);

/*
 * Find the program @name as a shell does, and write its path into @file, of PATH_MAX bytes. Return
 * 0; -EACCES if there is such a file, but it is not executable; or -ENOENT.
 */
int launch_find_program(const char *name, char *file);

/* Execute COMMAND in this process. Return only on failure: -errno. */
int launch_here(char *const argv[], const struct launch_user *user);
/* Fork a child that waits for launch_go(). Return 0 or -errno. */
int launch_prepare(char *const argv[], const struct launch_user *user, struct launch *out);
/*
 * Let the child execute COMMAND. Return at once; launch_result() reports the outcome of the exec.
 */
int launch_go(struct launch *launch);
/*
 * Return 1 if the command runs, -errno if it could not be executed, or 0 if that is not known yet.
 */
int launch_result(struct launch *launch);
/* End the child without executing COMMAND. */
void launch_abort(struct launch *launch);

#endif /* TARGET_LAUNCH_H */
