/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A library that the test assembles. Positions that are found in its functions are compared with
 * labels in the source.
 */
#ifndef TEST_SITES_ASSEMBLED_H
#define TEST_SITES_ASSEMBLED_H

#include "test_sites_fixture.h"

#include "elf/elf.h"

/* Macros for the assembler source: write "begin NAME" and "end NAME" around a function. */
#define ASSEMBLED_MACROS                                                   \
	".text\n"                                                          \
	".macro begin name\n.globl \\name\n.hidden \\name\n.type \\name, " \
	"@function\n\\name:\n.cfi_startproc\n.endm\n"                      \
	".macro end name\n.cfi_endproc\n.size \\name, . - \\name\n.endm\n"

struct assembled {
	const struct fixture *fixture;
	struct elf_file *elf;
};

static inline int assembled_setup(struct assembled *a, void **state, const char *source)
{
	int err = fixture_setup(state), fd;

	if (err)
		return err;
	a->fixture = *state;
	fixture_write(a->fixture, "source.s", source);
	fixture_run(a->fixture, "cc -shared -o library.so source.s");
	fd = fixture_open(a->fixture, "library.so");
	err = elf_open(fd, &a->elf);
	close(fd);
	return err;
}

static inline int assembled_teardown(struct assembled *a, void **state)
{
	elf_close(a->elf);
	return fixture_teardown(state);
}

/* Return the address that nm gives for a label. */
static inline uint64_t assembled_vaddr(const struct assembled *a, const char *label)
{
	return fixture_nm(a->fixture, "library.so", label);
}

/*
 * Check that the @n positions found for @what are exactly these labels. The list of labels ends
 * with NULL.
 */
static inline void assembled_check(const struct assembled *a, const char *what,
				   const char *const *labels, const uint64_t *at, uint32_t n)
{
	uint64_t offset;
	uint32_t i, j;

	for (i = 0; labels[i]; i++) {
		assert_int_equal(
			elf_vaddr_to_offset(a->elf, assembled_vaddr(a, labels[i]), &offset), 0);
		for (j = 0; j < n && at[j] != offset; j++)
			;
		if (j == n)
			fail_msg("%s: %s is not among the %u places", what, labels[i], n);
	}
	assert_int_equal(n, i);
}

#endif /* TEST_SITES_ASSEMBLED_H */
