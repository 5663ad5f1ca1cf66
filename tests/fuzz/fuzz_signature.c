// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/elf/signature.c user/elf/elf*.c user/elf/frames.c user/elf/x86*.c
// fuzz-sources: user/base/grow.c
// fuzz-libs: -l:libcapstone.a
/*
 * Fuzz the search for barrier functions in code: the functions that are found must lie in the file.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct signature found;
	struct elf_file *elf;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (elf_open(fd, size, &elf))
		return 0;
	if (!signature_find(elf, EM_X86_64, &found) &&
	    (found.wait.offset >= size || found.wait.size > size - found.wait.offset ||
	     found.init.offset >= size || found.init.size > size - found.init.offset))
		abort();
	elf_close(elf);
	return 0;
}
