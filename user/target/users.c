// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Look up users. In a static program, the C library's functions would load the modules that
 * /etc/nsswitch.conf names. These modules are built for the system's C library, and may crash with
 * that of the static program. So the static program reads the files itself.
 */
#include "target/users.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>

#ifdef SBT_STATIC
#define GROUPS_MAX 256

static const struct passwd *find(const char *name, uid_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw;

	if (!f)
		return NULL;
	do
		pw = fgetpwent(f);
	while (pw && (name ? strcmp(pw->pw_name, name) : pw->pw_uid != uid));
	if (!pw)
		errno = 0;
	fclose(f);
	return pw;
}

const struct passwd *users_by_name(const char *name)
{
	return find(name, 0);
}

const struct passwd *users_by_id(uid_t uid)
{
	return find(NULL, uid);
}

int users_take_groups(const char *name, gid_t gid)
{
	FILE *f = fopen("/etc/group", "re");
	gid_t groups[GROUPS_MAX] = { gid };
	const struct group *gr;
	size_t n = 1;
	char **member;

	while (f && n < GROUPS_MAX && (gr = fgetgrent(f))) {
		for (member = gr->gr_mem; *member && strcmp(*member, name); member++)
			;
		if (*member && gr->gr_gid != gid)
			groups[n++] = gr->gr_gid;
	}
	if (f)
		fclose(f);
	return setgroups(n, groups) ? -errno : 0;
}
#else
const struct passwd *users_by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *users_by_id(uid_t uid)
{
	return getpwuid(uid);
}

int users_take_groups(const char *name, gid_t gid)
{
	return initgroups(name, gid) ? -errno : 0;
}
#endif
