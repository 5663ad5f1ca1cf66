// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "symbols/symbol.h"

#define LINK_REGISTER 30 /* arm64 */

/* The rule for a piece of code in a file: how to get from the code there to its caller. */
struct learned {
	struct unwind_range range;
	bool known;
	struct sbt_frame_rule rule;
};

/* The rules of a file that are known, by address. */
struct learned_file {
	struct learned *rules;
	uint32_t n, cap;
};

struct walk {
	struct address_spaces *spaces;
	struct hash files; /* address of the module -> struct learned_file */
	struct sbt_stack window; /* the part of a stack that is sent to the symboliser */
	uint64_t questions;
};

/* The state of one walk. */
struct way {
	struct walk *walk;
	struct address_space *space;
	const struct walk_thread *thread;
	uint32_t nreturns; /* how many of thread->returns were used */
};

int walk_new(struct address_spaces *spaces, struct walk **out)
{
	struct walk *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->spaces = spaces;
	*out = w;
	return 0;
}

void walk_free(struct walk *w)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (!w)
		return;
	while ((e = hash_next(&w->files, &pos, &zero)))
		free(((struct learned_file *)(uintptr_t)e->value)->rules);
	hash_free_ptrs(&w->files);
	free(w);
}

/* --- by rules --------------------------------------------------------------------------------- */

/* Return the index of the first rule for code that ends after @vaddr. */
static uint32_t rule_after(const struct learned_file *f, uint64_t vaddr)
{
	uint32_t low = 0, high = f->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->rules[mid].range.to <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Return the rule for the code, or NULL if out of memory. A question to the symboliser takes much
 * longer than a step, and one answer is often for many addresses. The result is valid until the
 * next call.
 */
static const struct learned *learn(struct walk *w, const struct address_space_code *at)
{
	uint64_t key = (uint64_t)(uintptr_t)at->module;
	struct learned_file *f = hash_get_ptr(&w->files, key);
	struct learned *l, answer = { .known = false };
	uint32_t i;

	if (!f)
		f = hash_new_ptr(&w->files, key, sizeof(*f));
	if (!f)
		return NULL;
	i = rule_after(f, at->vaddr);
	l = f->rules + i;
	if (i < f->n && l->range.from <= at->vaddr)
		return l;
	w->questions++;
	answer.known = symbol_frame_rule(address_spaces_symbols(w->spaces), module_fd(at->module),
					 at->module->path, at->vaddr, &answer.rule, &answer.range);
	if (grow(f->rules, f->cap, f->n + 1))
		return NULL;
	l = f->rules + i;
	/* The symboliser's answers are untrusted: they must not overlap. */
	if (i && answer.range.from < l[-1].range.to)
		answer.range.from = l[-1].range.to;
	if (i < f->n && answer.range.to > l->range.from)
		answer.range.to = l->range.from;
	memmove(l + 1, l, (f->n++ - i) * sizeof(*l));
	*l = answer;
	return l;
}

static bool read_word(const struct way *way, uint64_t address, uint64_t *value)
{
	*value = 0;
	return way->thread->read(way->thread->ctx, address, value, sizeof(*value)) ==
	       (long)sizeof(*value);
}

/* Read the return address of a leaf function on arm64. */
static bool link_register(const struct stack_regs *regs, uint64_t *value)
{
#if defined(__aarch64__)
	*value = regs->value[LINK_REGISTER];
	return stack_knows(regs, LINK_REGISTER);
#else
	(void)regs;
	*value = 0;
	return false;
#endif
}

/*
 * Step to the caller by a rule. The registers that functions save are unknown after that, except
 * the frame pointer. Further rules need no other registers.
 */
static bool step_by_rule(const struct way *way, const struct sbt_frame_rule *rule,
			 const struct stack_regs *regs, struct stack_regs *caller)
{
	unsigned int base = rule->flags & SBT_FRAME_BY_FP ? STACK_FP : STACK_SP;
	uint64_t cfa, value;

	if (!stack_knows(regs, base))
		return false;
	cfa = regs->value[base] + (uint64_t)(int64_t)rule->cfa;
	memset(caller, 0, sizeof(*caller));
	if (rule->flags & SBT_FRAME_LINK) {
		if (!link_register(regs, &value))
			return false;
	} else if (!read_word(way, cfa + (uint64_t)(int64_t)rule->ret, &value)) {
		return false;
	}
	stack_set(caller, STACK_PC, stack_pc_of(value));
	stack_set(caller, STACK_SP, cfa);
	if (!(rule->flags & SBT_FRAME_SAVES_FP)) {
		if (stack_knows(regs, STACK_FP))
			stack_set(caller, STACK_FP, regs->value[STACK_FP]);
	} else if (read_word(way, cfa + (uint64_t)(int64_t)rule->fp, &value)) {
		stack_set(caller, STACK_FP, value);
	}
	return caller->value[STACK_PC] != 0;
}

uint64_t walk_questions(const struct walk *w)
{
	return w->questions;
}

/* --- by the unwind tables of the file --------------------------------------------------------- */

static void window_at(const struct way *way, uint64_t address)
{
	struct sbt_stack *window = &way->walk->window;
	long n = way->thread->read(way->thread->ctx, address, window->bytes, SBT_STACK_BYTES);

	window->sp = address;
	window->len = n > 0 ? (uint32_t)n : 0;
	window->tgid = way->space->tgid;
}

static bool ask(const struct way *way, const struct address_space_code *at,
		const struct stack_regs *regs, struct unwind_step *step)
{
	memset(step, 0, sizeof(*step));
	if (at->module)
		symbol_unwind(address_spaces_symbols(way->walk->spaces), module_fd(at->module),
			      at->module->path, at->vaddr, regs, &way->walk->window, step);
	return step->result == UNWIND_CALLER;
}

/*
 * Step to the caller by the unwind tables, or by the frame pointer in code without tables. This is
 * for code without a simple rule, such as signal frames and realigned stacks.
 */
static bool step_by_file(const struct way *way, const struct address_space_code *at,
			 const struct stack_regs *regs, struct unwind_step *step)
{
	uint64_t sp = regs->value[STACK_SP], fp = regs->value[STACK_FP];

	window_at(way, sp);
	if (ask(way, at, regs, step))
		return true;
	if (!stack_knows(regs, STACK_FP) || fp < sp)
		return false;
	/*
	 * In a large frame, the saved values are near the frame pointer, which is too far from the
	 * stack pointer.
	 */
	if (fp - sp > SBT_STACK_BYTES / 2) {
		window_at(way, fp - SBT_STACK_BYTES / 2);
		if (ask(way, at, regs, step))
			return true;
	}
	if (step->result != UNWIND_NO_RULES)
		return false;
	return stack_frame_pointer_step(&way->walk->window, regs, &step->caller);
}

/*
 * Step to the caller by the frame pointer. The caller's stack pointer is only a lower bound: a
 * function that aligns its frame has moved the frame pointer.
 */
static bool step_by_frame_pointer(const struct way *way, const struct stack_regs *regs,
				  struct stack_regs *caller)
{
	uint64_t fp = regs->value[STACK_FP], pair[2];

	if (!stack_knows(regs, STACK_FP) || fp % sizeof(fp) || fp < regs->value[STACK_SP] ||
	    way->thread->read(way->thread->ctx, fp, pair, sizeof(pair)) != (long)sizeof(pair))
		return false;
	memset(caller, 0, sizeof(*caller));
	stack_set(caller, STACK_PC, stack_pc_of(pair[1]));
	stack_set(caller, STACK_FP, pair[0]);
	caller->value[STACK_SP] = fp + sizeof(pair);
	return caller->value[STACK_PC] != 0;
}

/* --- the walk --------------------------------------------------------------------------------- */

/*
 * If the return address was replaced by a return probe's address, set the real return address, if
 * it is known.
 */
static void undo_probe(struct way *way, struct stack_regs *regs)
{
	const struct maps_entry *e = maps_find(&way->space->maps, regs->value[STACK_PC]);

	/*
	 * In the innermost frame, an address in this mapping belongs to an instruction that is
	 * being single-stepped.
	 */
	if (e && !regs->exact && !strcmp(e->path, "[uprobes]") &&
	    way->nreturns < way->thread->nreturns)
		stack_set(regs, STACK_PC, way->thread->returns[way->nreturns++]);
}

/*
 * Find the code of the frame. If the code is in no file, @at is zero. Return false if the address
 * is not code.
 */
static bool code_at(const struct way *way, const struct stack_regs *regs,
		    struct address_space_code *at)
{
	uint64_t ip = regs->value[STACK_PC] + (regs->exact ? 1 : 0);

	if (!address_space_find_code(way->space, ip - 1))
		return false;
	if (!address_space_code(way->walk->spaces, way->space, ip, at))
		memset(at, 0, sizeof(*at));
	return true;
}

/* Return the address, plus 1, of which the frame gets the call site. */
static uint64_t site_address(const struct way *way, const struct address_space_code *at,
			     const struct walk_frame *frame)
{
	const struct maps_entry *e = NULL;

	/*
	 * In code that the program has made, addresses have no names. Each of them as a call site
	 * of its own would only take memory.
	 */
	if (way->thread->quick && !at->module)
		e = address_space_find_code(way->space, frame->address);
	return (e ? e->start : frame->address) + 1;
}

int walk_up(struct walk *w, struct address_space *space, const struct walk_thread *thread,
	    struct walk_frame *frames, uint32_t max, uint32_t *n, bool *whole)
{
	struct way way = { .walk = w, .space = space, .thread = thread };
	struct stack_regs regs = thread->regs;
	bool more = true;

	*n = 0;
	*whole = false;
	while (more && *n < max) {
		const struct learned *l = NULL;
		struct unwind_step step = { 0 };
		struct address_space_code at;
		bool stands;

		undo_probe(&way, &regs);
		if (!code_at(&way, &regs, &at))
			break;
		if (at.module) {
			l = learn(w, &at);
			if (!l)
				return -ENOMEM;
		}
		if (l && l->known && l->rule.flags & SBT_FRAME_LAST) {
			*whole = true;
			more = false;
		} else if (!thread->registers && l && l->known &&
			   step_by_rule(&way, &l->rule, &regs, &step.caller)) {
			more = true;
		} else if (thread->quick) {
			more = (!l || !l->known) &&
			       step_by_frame_pointer(&way, &regs, &step.caller);
		} else {
			more = step_by_file(&way, &at, &regs, &step) ||
			       (l && l->known && step_by_rule(&way, &l->rule, &regs, &step.caller));
		}
		more = more && stack_grows(&regs, &step.caller);
		/*
		 * During a system call, the pc is after the system call instruction, perhaps on the
		 * next source line.
		 */
		stands = (regs.exact || step.signal) && !(!*n && thread->in_call);
		frames[*n].address = regs.value[STACK_PC] - !stands;
		frames[*n].site =
			address_space_site(w->spaces, space, site_address(&way, &at, &frames[*n]));
		if (frames[*n].site == ADDRESS_SPACE_SITE_NONE)
			return -ENOMEM;
		frames[*n].regs = regs;
		frames[*n].cfa = more && stack_knows(&step.caller, STACK_SP)
					 ? step.caller.value[STACK_SP]
					 : 0;
		++*n;
		regs = step.caller;
	}
	return 0;
}
