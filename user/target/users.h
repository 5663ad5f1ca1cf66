/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Look up users. The static program looks only into /etc/passwd and /etc/group. */
#ifndef TARGET_USERS_H
#define TARGET_USERS_H

#include <pwd.h>

/*
 * Like getpwnam() and getpwuid(). The result is valid until the next call; NULL with errno 0 if
 * there is no such user.
 */
const struct passwd *users_by_name(const char *name);
const struct passwd *users_by_id(uid_t uid);
/* Like initgroups(): give this process the groups of the user. Return 0 or -errno. */
int users_take_groups(const char *name, gid_t gid);

#endif /* TARGET_USERS_H */
