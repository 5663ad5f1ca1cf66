/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The state of a process's dynamic linker, as the linker publishes it for debuggers (struct r_debug
 * of <link.h>).
 */
#ifndef TARGET_LINKER_H
#define TARGET_LINKER_H

/*
 * Return 1 while the dynamic linker is mapping files, at the program's start or in a dlopen(), else
 * 0. While it does so, the mappings are incomplete. So call this function before reading the
 * mappings. Return -ESRCH if the process has exited, or another -errno. -ENOENT: the program does
 * not publish the state, because it is static, has another word size, or was linked in an unusual
 * way.
 */
int linker_busy(int pid);

#endif /* TARGET_LINKER_H */
