/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * State of a process's dynamic linker, as it is published to debuggers (struct r_debug of
 * <link.h>).
 */
#ifndef TARGET_LINKER_H
#define TARGET_LINKER_H

/*
 * Return 1 while the dynamic linker is mapping files, at the program's start or in a dlopen(), else
 * 0. Until it has finished, the mappings are incomplete, so ask before they are read. Return -ESRCH
 * if the process has exited, or -errno. -ENOENT: the program does not publish the state. It is
 * static, has another word size, or was linked in an unusual way.
 */
int linker_busy(int pid);

#endif /* TARGET_LINKER_H */
