/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the dynamic linker of a process is at, as it tells debuggers (struct r_debug of <link.h>). */
#ifndef TARGET_LINKER_H
#define TARGET_LINKER_H

/*
 * Is it in the midst of mapping files, the program's own at its start or those of a dlopen()? What is mapped then is not all
 * that will be. To be asked before the mappings are read. Returns 1 or 0; -ENOENT: the program does not say (it is static,
 * of another word size, or was linked in an unusual way); -ESRCH: it is gone; or -errno.
 */
int linker_busy(int pid);

#endif /* TARGET_LINKER_H */
