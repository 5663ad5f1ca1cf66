/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Starting COMMAND: held back until the probes are in place, as the user it should run as. */
#ifndef TARGET_LAUNCH_H
#define TARGET_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int go; /* closing it lets the command begin; -1 afterwards */
	int status; /* pipe that brings errno if the exec fails */
	int result; /* of the exec, once known; 0: not yet */
	int pidfd; /* readable when the command has ended; -1 if the kernel has none */
};

struct launch_user {
	uid_t uid;
	gid_t gid;
	char name[256];
	char home[4096];
	char shell[4096];
	bool change; /* false: stay as we are */
};

/*
 * Who COMMAND runs as: @name (-u), or the user behind sudo, or nobody else than now. Returns 0, -ENOENT
 * when there is no such user, -errno.
 */
int launch_find_user(const char *name, struct launch_user *out);

/* Becomes COMMAND, in this very process. Returns only if it cannot be: -errno. */
int launch_here(char *const argv[], const struct launch_user *user);
/* Forks; the child waits. Returns 0 or -errno. */
int launch_prepare(char *const argv[], const struct launch_user *user, struct launch *out);
/*
 * Lets the child execute COMMAND. Returns 0 at once; what became of the exec is told by
 * launch_result().
 */
int launch_go(struct launch *launch);
/* 1 when the command runs, -errno if it could not be executed, 0 not known yet. */
int launch_result(struct launch *launch);
/* The child is not needed: it ends without having executed anything. */
void launch_abort(struct launch *launch);

#endif /* TARGET_LAUNCH_H */
