// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/cause_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "target/proc.h"

#define STACKS_MOST 4096 /* maximum number of stacks that are remembered */

/* The frames that cause_names_stack() last returned for a stack. */
struct reported_stack {
	uint32_t tgid, inc, n;
	uint32_t sites[];
};

struct cause_names {
	const struct attach *attach;
	struct address_spaces *spaces;
	const struct stack_samples *samples; /* NULL: none */
	struct causes *causes;
	struct cause_env env;
	struct sbt_name task; /* the task that was looked up last */
	struct sbt_file_name file;
	char device[sizeof(((struct sbt_file_name *)NULL)->name) + sizeof("the device ")];
	struct sbt_stack stack;
	struct hash stacks; /* hash of process and key -> struct reported_stack */
};

static const char *cause_names_task(void *ctx, uint32_t tid)
{
	struct cause_names *w = ctx;

	/*
	 * Prefer the name that the task had when the BPF programs saw it. The BPF programs keep the
	 * name of a traced thread only if it took a CPU from another thread. Read other names from
	 * /proc.
	 */
	if (attach_task_name(w->attach, tid, &w->task) &&
	    proc_comm((int)tid, (int)tid, w->task.comm))
		return NULL;
	return w->task.comm;
}

static const char *cause_names_lock(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	struct cause_names *w = ctx;
	const struct address_space *space = address_space_find(w->spaces, tgid, inc);

	return space ? address_space_object_name(w->spaces, space, addr) : NULL;
}

static const char *cause_names_mapping(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	struct cause_names *w = ctx;

	(void)inc;
	if (attach_mapping_name(w->attach, tgid, addr, &w->file))
		return NULL;
	switch (w->file.mode) {
	case SBT_MAPPING_FILE:
		/*
		 * "dev/zero" is the kernel's name for shared anonymous memory. The name of a real
		 * file contains no slash.
		 */
		if (!strcmp(w->file.name, "dev/zero"))
			return "shared anonymous memory";
		return *w->file.name ? w->file.name : NULL;
	case SBT_MAPPING_HEAP:
		return "the heap";
	default:
		return "anonymous memory";
	}
}

/* Describe a file that is in no directory, by the name that was passed to anon_inode_getfile(). */
static const char *anonymous_words(const char *name)
{
	static const struct {
		const char *name, *words;
	} kinds[] = {
		{ "[eventpoll]", "an epoll instance" },
		{ "[eventfd]", "an eventfd" },
		{ "[timerfd]", "a timerfd" },
		{ "[signalfd]", "a signalfd" },
		{ "[io_uring]", "an io_uring" },
		{ "[userfaultfd]", "a userfaultfd" },
		{ "[fanotify]", "a fanotify group" },
		{ "[perf_event]", "a perf event" },
		{ "[pidfd]", "a pidfd" },
		{ "inotify", "an inotify instance" },
	};

	array_for_each (kind, kinds, sizeof(kinds) / sizeof(kinds[0]))
		if (!strcmp(name, kind->name))
			return kind->words;
	return NULL;
}

static const char *cause_names_file(void *ctx, uint64_t inode, bool *has_ends)
{
	struct cause_names *w = ctx;
	const char *name = w->file.name, *words = NULL;

	if (attach_file_name(w->attach, inode, &w->file))
		return NULL;
	switch (w->file.mode) {
	case S_IFIFO:
		*has_ends |= !*name;
		return *name ? name : CAUSE_PIPE;
	case S_IFSOCK:
		*has_ends = true;
		return CAUSE_SOCKET;
	case S_IFCHR:
		/* Pseudo-terminals are named 0, 1, 2, ... in their directory. */
		if (*name && name[strspn(name, "0123456789")] == '\0') {
			snprintf(w->device, sizeof(w->device), "the device %s", name);
			return w->device;
		}
		break;
	case S_IFREG: /* anonymous files since Linux 6.16 */
	case 0:
		/*
		 * A user's file may be called "inotify", but then it has a file type. A name in
		 * brackets is unlikely for a user's file.
		 */
		if (*name == '[' || !w->file.mode)
			words = anonymous_words(name);
		if (!words && !w->file.mode && !*name)
			words = "an anonymous file";
		break;
	default:
		break;
	}
	if (words)
		return words;
	return *name ? name : NULL;
}

static uint32_t unwind(struct cause_names *w, uint32_t tgid, uint32_t inc, uint64_t key,
		       uint32_t *sites, uint32_t max)
{
	struct address_space *space = address_space_find(w->spaces, tgid, inc);
	uint32_t n = 0;

	if (!space || attach_stack(w->attach, key, &w->stack) || w->stack.tgid != tgid ||
	    address_space_unwind(w->spaces, space, &w->stack, sites, max, &n))
		return 0;
	return n;
}

/* Remember the frames of a stack. If memory runs out, the stack is unwound again each time. */
static void remember_stack(struct cause_names *w, uint64_t at,
			   const struct reported_stack *reported, const uint32_t *sites)
{
	size_t bytes = reported->n * sizeof(*sites);
	struct reported_stack *new = malloc(sizeof(*new) + bytes);

	if (!new)
		return;
	*new = *reported;
	memcpy(new->sites, sites, bytes);
	if (hash_count(&w->stacks) >= STACKS_MOST)
		hash_free_ptrs(&w->stacks);
	free(hash_get_ptr(&w->stacks, at));
	if (hash_put_ptr(&w->stacks, at, new))
		free(new);
}

/*
 * Return at least the frames of the last call, even if the kernel has discarded the stack (it keeps
 * a few hundred). A recording contains the last answer, so answers must not become shorter. A later
 * call may return more frames, after more of the program has been read.
 */
static uint32_t cause_names_stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key,
				  uint32_t *sites, uint32_t max)
{
	struct cause_names *w = ctx;
	uint64_t at = hash_mix(key ^ ((uint64_t)tgid << 32 | inc));
	const struct reported_stack *known = hash_get_ptr(&w->stacks, at);
	struct reported_stack reported = { .tgid = tgid, .inc = inc };

	/* Keys of stacks have 64 bits, and labels have 32. */
	if (key <= UINT32_MAX && max) {
		*sites = address_space_python_label(w->spaces, (uint32_t)key);
		return *sites != ADDRESS_SPACE_SITE_NONE;
	}
	if (w->samples && (reported.n = stack_samples_stack(w->samples, key, sites, max)))
		return reported.n;
	if (known && (known->tgid != tgid || known->inc != inc))
		known = NULL;
	reported.n = unwind(w, tgid, inc, key, sites, max);
	if (known && known->n > reported.n) {
		reported.n = known->n < max ? known->n : max;
		memcpy(sites, known->sites, reported.n * sizeof(*sites));
	} else if (reported.n && (!known || known->n < reported.n)) {
		remember_stack(w, at, &reported, sites);
	}
	return reported.n;
}

int cause_names_new(const struct attach *attach, struct address_spaces *spaces,
		    const struct stack_samples *samples, const struct counting *counting,
		    const struct report_env *env, struct cause_names **out)
{
	struct cause_names *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct cause_names){ .attach = attach, .spaces = spaces, .samples = samples };
	w->env = (struct cause_env){
		.ctx = w,
		.instructions = counting->instructions,
		.cycles = counting->cycles,
	};
#define ANSWER(question) w->env.question = cause_names_##question;
	CAUSE_QUESTIONS(ANSWER)
#undef ANSWER
	w->causes = causes_new(&w->env, env);
	if (!w->causes) {
		free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void cause_names_free(struct cause_names *w)
{
	if (!w)
		return;
	causes_free(w->causes);
	hash_free_ptrs(&w->stacks);
	free(w);
}

struct cause_env *cause_names_env(struct cause_names *w)
{
	return &w->env;
}

struct causes *cause_names_causes(const struct cause_names *w)
{
	return w->causes;
}
