// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Recognise functions that wait, or wake threads, on behalf of their callers. */
#include <string.h>

#include "sites/module_internal.h"

/*
 * Return whether a function of the C library waits or wakes on behalf of its caller. Only symbols
 * are used, because this question is asked for every wait.
 */
static bool is_wrapper_function(const struct elf_file *elf, uint64_t vaddr)
{
	static const char *const names[] = { "syscall", "cnd_wait", "cnd_timedwait",
					     "cnd_broadcast" };
	struct elf_symbol found[4];
	size_t i;
	int j, n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = elf_find_function(elf, names[i], found, 4);
		for (j = 0; j < n && j < 4; j++)
			if (vaddr - found[j].vaddr < found[j].size)
				return true;
	}
	return false;
}

struct around {
	uint64_t vaddr;
	bool found;
};

static int is_wrapper_symbol(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	static const char *const prefixes[] = {
		"_ZNSt18condition_variable", "_ZNSt3__118condition_variable",
		"_ZNSt9__condvar", /* wait_for() and wait_until() call it */
		"_ZNSt3_V222condition_variable_any", "_ZN5boost18condition_variable",
		/* std::atomic<>::wait() and notify_all() */
		"_ZNSt6atomic", "_ZNKSt6atomic", "_ZNSt11atomic_flag", "_ZNKSt11atomic_flag",
		"_ZNKSt10atomic_ref", "_ZNSt13__atomic_base", "_ZNKSt13__atomic_base",
		"_ZNKSt12__atomic_ref", "_ZNKSt14__atomic_float", "_ZNSt14__atomic_float",
		"_ZNSt13__atomic_impl", "_ZSt21__atomic_wait_address",
		"_ZSt23__atomic_wait_address_v", "_ZSt23__atomic_notify_address",
		"_ZNSt8__detail8__waiter", "_ZNSt8__detail13__waiter_",
		"_ZNSt8__detail18__waiter_pool_base", "_ZNSt8__detail15__platform_wait",
		"_ZNSt8__detail17__platform_notify",
		/* std::barrier, std::latch and std::counting_semaphore */
		"_ZSt26__atomic_wait_address_bare", "_ZNKSt14__tree_barrier",
		"_ZNSt14__tree_barrier", "_ZNKSt7barrier", "_ZNSt7barrier", "_ZNKSt5latch",
		"_ZNSt5latch", "_ZNSt18__atomic_semaphore", "_ZNSt18counting_semaphore"
	};
	struct around *a = ctx;
	size_t i;

	if (a->vaddr - symbol->vaddr >= symbol->size)
		return 0;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		a->found |= !strncmp(name, prefixes[i], strlen(prefixes[i]));
	return 1;
}

/*
 * Return whether the function at @vaddr belongs to the C++ library or to Boost, and waits or wakes
 * on behalf of its caller. Templates of these libraries are compiled into programs.
 */
static bool is_wrapper_template(const struct elf_file *elf, uint64_t vaddr)
{
	struct around a = { .vaddr = vaddr };

	elf_each_function(elf, is_wrapper_symbol, &a);
	return a.found;
}

bool module_has_wrapper(const struct elf_file *elf, bool c_library, uint64_t vaddr)
{
	return (c_library && is_wrapper_function(elf, vaddr)) || is_wrapper_template(elf, vaddr);
}
