/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Users as the system knows them; in the static program as /etc/passwd and /etc/group do, and nobody else. */
#ifndef TARGET_USERS_H
#define TARGET_USERS_H

#include <pwd.h>

/* As getpwnam() and getpwuid(): valid until the next call; NULL with errno 0 if there is no such user. */
const struct passwd *users_by_name(const char *name);
const struct passwd *users_by_id(uid_t uid);
/* As initgroups(): the groups of this process become those of the user. Returns 0 or -errno. */
int users_take_groups(const char *name, gid_t gid);

#endif /* TARGET_USERS_H */
