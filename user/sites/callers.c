// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/callers.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/function_name.h"
#include "base/hash.h"
#include "base/text.h"
#include "elf/insn.h"
#include "sites/family.h"

#define PROLOGUE_BYTES 48

struct code {
	struct caller_code pub;
	struct address_space_code at;
	bool named; /* `name`, and all that depends on it, has been looked up */
	/* Linked address of the function that the call calls. 0: unknown, or in another file. */
	uint64_t target;
	char *why;
	uint32_t declared; /* of the function that contains the call; see struct symbol_frame */
	bool own; /* the call is in a function of the program, inlined or not */
};

struct callers {
	struct address_spaces *spaces;
	struct hash codes; /* (module, offset) -> struct code */
};

int callers_new(struct address_spaces *spaces, struct callers **out)
{
	struct callers *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->spaces = spaces;
	*out = c;
	return 0;
}

void callers_free(struct callers *c)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (!c)
		return;
	while ((e = hash_next(&c->codes, &pos, &zero))) {
		struct code *code = (void *)(uintptr_t)e->value;

		free(code->why);
		free((char *)(uintptr_t)code->pub.name);
		free(code);
	}
	hash_free(&c->codes);
	free(c);
}

/* --- code ------------------------------------------------------------------------------------- */

static bool keeps_frame_x86(const uint8_t *code, size_t len)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, move[] = { 0x48, 0x89, 0xe5 };

	if (len > 4 && !memcmp(code, endbr, 4)) {
		code += 4;
		len -= 4;
	}
	/*
	 * Look for push %rbp and mov %rsp,%rbp. Compilers may put the mov a few instructions later.
	 */
	return len && code[0] == 0x55 && memmem(code, len, move, sizeof(move));
}

static bool keeps_frame_arm64(const uint8_t *code, size_t len)
{
	bool stored = false;
	uint32_t word;
	size_t i;

	for (i = 0; i + 4 <= len; i += 4) {
		memcpy(&word, code + i, 4);
		/*
		 * Look for stp x29, x30, [sp, ...] with or without !, and then mov x29, sp or add
		 * x29, sp, #n.
		 */
		stored |= (word & 0xff407fff) == 0xa9007bfd;
		if (stored && (word & 0xffc003ff) == 0x910003fd)
			return true;
	}
	return false;
}

static bool is_behind_call(uint16_t machine, const uint8_t *before, size_t len)
{
	uint32_t word;
	size_t n;

	if (machine == EM_AARCH64) {
		if (len < 4)
			return false;
		memcpy(&word, before + len - 4, 4);
		return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
	}
	if (len >= 5 && before[len - 5] == 0xe8)
		return true;
	/* An indirect call is ff /2, followed by an address of 0 to 5 bytes. */
	for (n = 2; n <= 7 && n <= len; n++)
		if (before[len - n] == 0xff && (before[len - n + 1] & 0x38) == 0x10)
			return true;
	return false;
}

const char *callers_no_call(struct callers *c, struct address_space *space, uint64_t ip)
{
	struct address_space_code at;
	uint8_t before[7];
	size_t len;

	if (!address_space_code(c->spaces, space, ip, &at) || at.offset < 8)
		return "the stack walk led to an address outside of code";
	len = module_bytes(at.module, at.offset - sizeof(before), before, sizeof(before));
	if (!is_behind_call(at.module->traits.machine, before, len))
		return "the stack walk led to an address that is not a return address";
	return NULL;
}

/*
 * Return the linked address of the function that the call calls. 0: the call is indirect, or the
 * function is in another file.
 */
static uint64_t call_target(const struct address_space_code *at)
{
	const struct module *m = at->module;
	uint64_t back = at->vaddr + 1, target, offset;
	uint8_t bytes[16];
	uint32_t word;
	size_t len;

	if (at->offset < 5)
		return 0;
	if (m->traits.machine == EM_AARCH64) {
		if (module_bytes(m, at->offset - 4, bytes, 4) < 4)
			return 0;
		memcpy(&word, bytes, 4);
		if ((word & 0xfc000000) != 0x94000000)
			return 0;
		target = back - 4 + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
	} else {
		if (module_bytes(m, at->offset - 5, bytes, 5) < 5 || bytes[0] != 0xe8)
			return 0;
		memcpy(&word, bytes + 1, 4);
		target = back + (uint64_t)(int64_t)(int32_t)word;
	}
	if (module_vaddr_to_offset(m, target, &offset))
		return 0;
	len = module_bytes(m, offset, bytes, sizeof(bytes));
	return insn_is_linkage(m->traits.machine, bytes, len) ? 0 : target;
}

/* --- rules ------------------------------------------------------------------------------------ */

static bool keeps_frame(const struct address_space_code *at)
{
	const struct module *m = at->module;
	uint64_t start, offset;
	uint8_t code[PROLOGUE_BYTES];
	size_t len;

	if (!module_function(m, at->vaddr, &start) || module_vaddr_to_offset(m, start, &offset))
		return false;
	len = module_bytes(m, offset, code, sizeof(code));
	return m->traits.machine == EM_AARCH64 ? keeps_frame_arm64(code, len)
					       : keeps_frame_x86(code, len);
}

/*
 * Return whether this is a C++ library with functions that wait, or wake threads, on behalf of
 * their callers.
 */
static bool is_wrapper_library(const struct module *m)
{
	return family_library_has(m->traits.soname, FAMILY_CXX | FAMILY_COND_VAR);
}

/* Return whether a function of the program, not of the C++ library, is in the frames. */
static bool has_own_function(const struct symbol *symbol)
{
	array_for_each (f, symbol->frames, symbol->nframes)
		if (f->function[0] && !function_name_of_cxx_library(f->function))
			return true;
	return false;
}

static void code_name(struct callers *c, struct code *code)
{
	const struct module *m = code->at.module;
	struct symbol *symbol;
	const char *name;

	if (code->named || !m)
		return;
	code->named = true;
	symbol = calloc(1, sizeof(*symbol));
	if (!symbol)
		return;
	if (!symbol_lookup(address_spaces_symbols(c->spaces), module_fd(m), m->path, code->at.vaddr,
			   symbol) &&
	    symbol->nframes) {
		code->pub.inlined = symbol->nframes > 1;
		code->declared = symbol->frames[symbol->nframes - 1].declared;
		code->own = has_own_function(symbol);
		name = symbol->frames[symbol->nframes - 1].function;
		if (*name)
			code->pub.name = strndup(name, site_function_len(name));
	}
	free(symbol);
}

/* Make a rule that uses the frame pointer, if code without an unwind table keeps one. */
static bool rule_by_frame_pointer(const struct address_space_code *at, struct sbt_frame_rule *rule)
{
	if (!keeps_frame(at))
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->flags = SBT_FRAME_BY_FP | SBT_FRAME_SAVES_FP;
	/*
	 * On arm64 the frame extends above the saved pair, by an unknown distance. So values
	 * relative to the stack pointer cannot be found.
	 */
	rule->cfa = 16;
	rule->fp = -16;
	rule->ret = -8;
	return true;
}

static void code_rule(struct callers *c, struct code *code)
{
	const struct module *m = code->at.module;
	struct sbt_frame_rule *rule = &code->pub.rule;

	rule->flags = SBT_FRAME_LAST;
	if (!m) {
		code->pub.why = "the caller's code is not in a file";
		return;
	}
	if (!symbol_frame_rule(address_spaces_symbols(c->spaces), module_fd(m), m->path,
			       code->at.vaddr, rule, NULL) &&
	    !rule_by_frame_pointer(&code->at, rule)) {
		memset(rule, 0, sizeof(*rule));
		rule->flags = SBT_FRAME_LAST;
		code_name(c, code);
		if (asprintf(&code->why, "%s in %s has neither an unwind table nor a frame pointer",
			     code->pub.name ? code->pub.name : "a function",
			     text_base_name(m->path)) < 0)
			code->why = NULL;
		code->pub.why = code->why ? code->why : "out of memory";
		return;
	}
	if (rule->flags & SBT_FRAME_LAST)
		code->pub.why = "the stack ends there";
	else if (is_wrapper_library(m) || module_is_wrapper(m, code->at.vaddr))
		rule->flags |= SBT_FRAME_THROUGH;
}

static uint64_t code_key(const struct address_space_code *at)
{
	return hash_mix((uint64_t)(uintptr_t)at->module ^ hash_mix(at->offset));
}

static struct code *code_get(struct callers *c, struct address_space *space, uint64_t ip)
{
	struct address_space_code at;
	struct code *code;

	if (!address_space_code(c->spaces, space, ip, &at))
		memset(&at, 0, sizeof(at));
	code = hash_get_ptr(&c->codes, code_key(&at));
	/*
	 * Two addresses of code may have the same 64-bit key, but this is very unlikely. If it
	 * happens, the rule of the first address is used for both.
	 */
	if (code)
		return code;
	code = hash_new_ptr(&c->codes, code_key(&at), sizeof(*code));
	if (!code)
		return NULL;
	code->at = at;
	if (at.module)
		code->target = call_target(&at);
	code_rule(c, code);
	return code;
}

const struct caller_code *callers_rule(struct callers *c, struct address_space *space, uint64_t ip)
{
	struct code *code = code_get(c, space, ip);

	return code ? &code->pub : NULL;
}

/* --- functions -------------------------------------------------------------------------------- */

static bool is_runtime(const struct module *m)
{
	const char *soname = m->traits.soname;

	/* A static program contains its C library, but is not a runtime. */
	return ((m->loader || m->c_library) && *soname) || is_wrapper_library(m) ||
	       family_library_has(soname, FAMILY_LIBC_OBJECT | FAMILY_OPENMP) ||
	       !strncmp(soname, "libgcc_s.so", strlen("libgcc_s.so")) ||
	       !strncmp(soname, "libtbb.so", strlen("libtbb.so"));
}

/*
 * Return whether a function with this name starts threads or programs. The function may be linked
 * into a program.
 */
static bool starts_threads(const char *name)
{
	static const char *const exact[] = { "start_thread",
					     "clone",
					     "clone3",
					     "__clone",
					     "__clone3",
					     "start",
					     "start_c11",
					     "__libc_start_call_main",
					     "__libc_start_main",
					     "libc_start_main_stage2",
					     "_start",
					     "thread_start" };
	static const char *const within[] = {
		"std::__invoke",	 "std::thread::",
		"std::__thread_proxy",	 "__rust_begin_short_backtrace",
		"core::ops::function::", "boost::detail::thread_data"
	};
	size_t i;

	for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (!strcmp(name, exact[i]))
			return true;
	for (i = 0; i < sizeof(within) / sizeof(within[0]); i++)
		if (strstr(name, within[i]))
			return true;
	return false;
}

static void code_function(struct callers *c, struct code *code)
{
	struct caller_code *pub = &code->pub;
	const struct module *m = code->at.module;
	uint64_t start, h;

	if (pub->function || pub->outer)
		return;
	if (!m || is_runtime(m)) {
		pub->outer = true;
		return;
	}
	code_name(c, code);
	if (pub->name) {
		/* The library's function may contain the thread's first function, inlined. */
		pub->outer = starts_threads(pub->name) && !(code->own && pub->inlined);
		h = text_hash(1 + (uint64_t)code->declared, pub->name, strlen(pub->name));
	} else if (module_function(m, code->at.vaddr, &start)) {
		h = text_hash(2, &start, sizeof(start));
	} else {
		return;
	}
	h = text_hash(h, m->path, strlen(m->path));
	h = text_hash(h, m->build_id, strlen(m->build_id));
	pub->function = h ? h : 1;
}

const struct caller_code *callers_code(struct callers *c, struct address_space *space, uint64_t ip)
{
	struct code *code = code_get(c, space, ip);

	if (!code)
		return NULL;
	code_function(c, code);
	return &code->pub;
}

/* --- tail calls ------------------------------------------------------------------------------- */

/* Return whether there is a probe in the function that begins at @start. */
static bool is_probed(const struct module *m, uint64_t start)
{
	const struct module_waits *const both[] = { &m->waits, &m->wakes };
	uint64_t vaddr, other;
	uint32_t i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < both[i]->nentries; j++)
			if (!module_offset_to_vaddr(m, both[i]->entries[j], &vaddr) &&
			    module_function(m, vaddr, &other) && other == start)
				return true;
	}
	return false;
}

uint64_t callers_between(struct callers *c, struct address_space *space, uint64_t below,
			 uint64_t ip)
{
	const struct code *code = code_get(c, space, ip);
	uint64_t start, other;
	struct address_space_code at;

	if (!code || !code->target || !module_function(code->at.module, code->target, &start) ||
	    start != code->target)
		return 0;
	if (!below) {
		if (is_probed(code->at.module, start))
			return 0;
	} else if (!address_space_code(c->spaces, space, below, &at) ||
		   (at.module == code->at.module && module_function(at.module, at.vaddr, &other) &&
		    other == start)) {
		return 0;
	}
	/*
	 * Return an address just after the function's start, as if its first instruction had made
	 * the call.
	 */
	return ip + (start - (code->at.vaddr + 1)) + 1;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool sample_read(const struct sbt_callers *s, uint64_t addr, uint64_t *value)
{
	uint64_t len = s->len < sizeof(s->bytes) ? s->len : sizeof(s->bytes), at = addr - s->sp;

	if (len < sizeof(*value) || addr < s->sp || at > len - sizeof(*value))
		return false;
	memcpy(value, s->bytes + at, sizeof(*value));
	return true;
}

/*
 * Step to the caller's frame. Return false if the caller is unknown or its frame is not in the
 * sample.
 */
static bool step_up(const struct sbt_callers *s, const struct sbt_frame_rule *rule, bool first,
		    uint64_t *ip, uint64_t *sp, uint64_t *fp)
{
	uint64_t cfa = (rule->flags & SBT_FRAME_BY_FP ? *fp : *sp) + (uint64_t)(int64_t)rule->cfa;

	if (rule->flags & SBT_FRAME_LAST || cfa < *sp)
		return false;
	if (rule->flags & SBT_FRAME_LINK) {
		if (!first)
			return false;
		*ip = s->link;
	} else if (!sample_read(s, cfa + (uint64_t)(int64_t)rule->ret, ip)) {
		return false;
	}
	if (rule->flags & SBT_FRAME_SAVES_FP &&
	    !sample_read(s, cfa + (uint64_t)(int64_t)rule->fp, fp))
		return false;
	*ip = stack_pc_of(*ip);
	*sp = cfa;
	return *ip != 0;
}

uint32_t callers_follow(struct callers *c, struct address_space *space, const struct sbt_callers *s,
			uint64_t *ips,
			void (*use)(void *ctx, const struct sbt_callers *sample, uint64_t ip,
				    const struct sbt_frame_rule *rule),
			void *ctx)
{
	uint64_t ip = s->head.ip, sp = s->sp, fp = s->fp, want = s->head.wanted;
	const struct caller_code *code;
	uint32_t n = 1;

	ips[0] = ip;
	while ((want || !s->head.wanted) && n < CALLERS_MAX) {
		code = callers_rule(c, space, ip);
		if (!code)
			break;
		use(ctx, s, ip, &code->rule);
		if (!s->head.wanted && !(code->rule.flags & SBT_FRAME_THROUGH))
			break;
		if (!step_up(s, &code->rule, n == 1, &ip, &sp, &fp))
			break;
		if (want && !(code->rule.flags & SBT_FRAME_THROUGH))
			want--;
		ips[n++] = ip;
	}
	return n;
}
