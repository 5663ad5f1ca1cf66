// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Names of barriers. The id is made from facts that are the same in each run: family, module,
 * function, and line or offset. Addresses, process numbers and the order of events are not used.
 */
#include "analyse/internal.h"
#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"

#define INLINED_ARROW " <- "

/*
 * Function names longer than this are shortened in a label, so that the file, the line or a second
 * function fits.
 */
#define LABEL_FUNCTION 64
#define LABEL_LONGEST  112

static const struct site_name *site_of(const struct report_env *env, uint32_t site)
{
	return env->site ? env->site(env->ctx, site) : NULL;
}

const char *report_family(const struct report_env *env, uint8_t family)
{
	const char *s = env->family_name ? env->family_name(family) : NULL;

	return s ? s : "unknown";
}

uint64_t name_hash(uint64_t h, const char *s)
{
	/* Include the NUL, so that "ab" "c" and "a" "bc" have different hashes. */
	return text_hash(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

static uint64_t hash_number(uint64_t h, uint64_t v)
{
	uint8_t bytes[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		bytes[i] = v >> (8 * i);
	return text_hash(h, bytes, sizeof(bytes));
}

static uint64_t hash_site(const struct site_name *s, bool with_offset)
{
	uint64_t h = TEXT_HASH_INIT;
	const struct site_frame *f;

	if (!s)
		return h;
	h = name_hash(h, text_base_name(s->module));
	if (s->label)
		h = name_hash(h, s->label);
	array_for_each (frame, s->frames, s->nframes)
		h = name_hash(h, frame->function);
	f = s->nframes ? &s->frames[0] : NULL;
	if (f && f->file && f->line) {
		h = name_hash(h, text_base_name(f->file));
		h = hash_number(h, f->line);
	} else {
		with_offset = true;
	}
	return with_offset ? hash_number(h, s->offset) : h;
}

/* Hash the sorted set of the barrier's call sites, so that their order does not matter. */
static int hash_barrier(const struct report_env *env, const struct model_barrier *b,
			bool with_offset, uint64_t *out)
{
	uint64_t *sites = malloc((b->nsites ? b->nsites : 1) * sizeof(*sites));
	uint64_t h = TEXT_HASH_INIT;
	uint32_t i;

	if (!sites)
		return -ENOMEM;
	for (i = 0; i < b->nsites; i++)
		sites[i] = hash_site(site_of(env, b->sites[i]), with_offset);
	qsort(sites, b->nsites, sizeof(*sites), number_compare_u64);
	h = name_hash(h, report_family(env, b->family));
	for (i = 0; i < b->nsites; i++)
		h = hash_number(h, sites[i]);
	if (b->nested)
		h = name_hash(h, "nested");
	free(sites);
	*out = h;
	return 0;
}

static uint32_t fold32(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32);
}

/*
 * Choose the id of a barrier and add it to @taken. @taken maps each (process, id) in use to the
 * next id that may be free. Without this map, each of very many similar barriers would try the ids
 * of all the others.
 */
static int id_of(const struct report_env *env, const struct model_barrier *b, struct hash *taken,
		 uint32_t *out)
{
	uint64_t h, next, of_proc = (uint64_t)b->proc << 32;
	uint32_t id, first;
	int err = hash_barrier(env, b, false, &h);

	if (err)
		return err;
	id = fold32(h);
	if (hash_get(taken, of_proc | id, &next)) {
		err = hash_barrier(env, b, true, &h);
		if (err)
			return err;
		id = fold32(h);
	}
	/*
	 * If the id is still taken, because of a hash collision or because call sites are unknown,
	 * use the next free id.
	 */
	first = id;
	while (hash_get(taken, of_proc | id, &next))
		id = (uint32_t)next;
	*out = id;
	err = hash_put(taken, of_proc | id, id + 1);
	if (!err && id != first)
		err = hash_put(taken, of_proc | first, id + 1);
	return err;
}

/*
 * Set the ids of the first @n barriers. If two barriers of one process have the same facts (one
 * line compiled into two calls), their offsets separate them. The barrier that was seen first keeps
 * the plain id.
 */
int name_ids(struct arena *a, const struct model *m, const struct report_env *env, uint32_t n,
	     struct name_table *out)
{
	struct hash taken = { 0 };
	uint32_t i;
	int err = 0;

	out->n = n;
	out->ids = arena_alloc(a, ((size_t)n + 1) * sizeof(*out->ids));
	if (!out->ids)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		if (model_barrier(m, i)->proc != MODEL_NONE)
			err = id_of(env, model_barrier(m, i), &taken, &out->ids[i]);
	hash_free(&taken);
	return err;
}

/*
 * Set the id of one barrier. Only earlier barriers of its process can collide. Return 0 or -ENOMEM.
 */
static int name_id(struct arena *a, const struct model *m, const struct report_env *env,
		   uint32_t index, uint32_t *id)
{
	struct hash taken = { 0 };
	uint32_t i, n = 0, *own;
	int err = 0;

	for (i = index; i != MODEL_NONE; i = model_barrier(m, i)->before)
		n++;
	own = arena_alloc(a, (size_t)n * sizeof(*own));
	if (!own)
		return -ENOMEM;
	for (i = index; i != MODEL_NONE; i = model_barrier(m, i)->before)
		own[--n] = i;
	do {
		err = id_of(env, model_barrier(m, own[n]), &taken, id);
	} while (!err && own[n++] != index);
	hash_free(&taken);
	return err;
}

void name_copy(char *dst, size_t size, const char *src)
{
	char *safe = text_printable(src);
	size_t n, cut;

	dst[0] = 0;
	if (!safe)
		return;
	n = strlen(safe);
	if (n < size) {
		memcpy(dst, safe, n + 1);
	} else {
		cut = size - 4;
		while (cut && ((uint8_t)safe[cut] & 0xc0) == 0x80)
			cut--;
		memcpy(dst, safe, cut);
		memcpy(dst + cut, "...", 4);
	}
	free(safe);
}

void name_function(char *dst, size_t size, const char *function, size_t limit)
{
	char *own = strlen(function) > limit ? strdup(function) : NULL;

	name_copy(dst, size, own && function_name_shorten(own) ? own : function);
	free(own);
}

void name_append(char *dst, size_t size, const char *fmt, ...)
{
	size_t n = strlen(dst);
	va_list args;
	int len;

	va_start(args, fmt);
	/* clang-tidy 14 loses track of va_start() if it checks several files at once. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	len = vsnprintf(dst + n, size - n, fmt, args);
	va_end(args);
	if (len >= 0 && (size_t)len >= size - n)
		name_cut(dst, size);
}

size_t name_cut(char *dst, size_t size)
{
	size_t n = size - 4, word;

	while (n && ((uint8_t)dst[n] & 0xc0) == 0x80)
		n--;
	/*
	 * Cut after the last complete word if it is in the second half. A sentence is then cut
	 * between words, and a single long word is cut inside.
	 */
	for (word = n; word && dst[word] != ' '; word--)
		;
	if (word > size / 2) {
		n = word;
		while (n && dst[n - 1] == ' ')
			n--;
	}
	memcpy(dst + n, "...", 4);
	return n + 3;
}

/*
 * Return how many frames of a call site are shown. Functions of the C++ library around the
 * program's own functions are left out: the library starts threads with them.
 */
static uint32_t shown_frames(const struct site_name *s)
{
	uint32_t n = s->nframes;

	while (n > 1 && s->frames[n - 1].function &&
	       function_name_of_cxx_library(s->frames[n - 1].function))
		n--;
	return n;
}

/* Return the functions into which the call was inlined, or NULL when out of memory. */
static const char *inlined_into(struct arena *a, const struct site_name *s, uint32_t n)
{
	const char *chain = NULL, *f;
	uint32_t i;

	for (i = 1; i < n; i++) {
		f = s->frames[i].function ? s->frames[i].function : "?";
		chain = chain ? arena_printf(a, "%s" INLINED_ARROW "%s", chain, f)
			      : arena_string(a, f);
		if (!chain)
			return NULL;
	}
	return chain;
}

const char *name_keep(struct arena *a, const char *s, int *err)
{
	char *p;

	if (!s)
		return NULL;
	p = arena_string(a, s);
	if (!p)
		*err = -ENOMEM;
	return p;
}

static int fill_callsite(struct arena *a, const struct site_name *s, struct report_callsite *out)
{
	const struct site_frame *f = s->nframes ? &s->frames[0] : NULL;
	uint32_t n = shown_frames(s);
	int err = 0;

	if (f) {
		out->function = name_keep(a, f->function, &err);
		out->file = name_keep(a, f->file, &err);
		out->line = f->line;
	}
	out->module = name_keep(a, s->module, &err);
	out->through = name_keep(a, s->through, &err);
	out->offset = s->offset;
	if (!err && n > 1) {
		out->inlined = inlined_into(a, s, n);
		if (!out->inlined)
			err = -ENOMEM;
	}
	return err;
}

int name_callsite(struct arena *a, const struct report_env *env, uint32_t site,
		  struct report_callsite *out)
{
	const struct site_name *s = site_of(env, site);

	memset(out, 0, sizeof(*out));
	return s ? fill_callsite(a, s, out) : 0;
}

/*
 * Shorten a name: leave out its first scopes, or else cut out its middle, because both ends are
 * more important.
 */
static void elide(char *name, size_t limit)
{
	size_t len = strlen(name), from = limit / 2, to;
	const char *inner = name;

	if (len <= limit)
		return;
	while ((inner = function_name_inner(inner))) {
		if (strlen(inner) + 3 > limit)
			continue;
		memmove(name + 3, inner, strlen(inner) + 1);
		memset(name, '.', 3);
		return;
	}
	to = len - (limit - from - 3);
	while (from && ((uint8_t)name[from] & 0xc0) == 0x80)
		from--;
	while (name[to] && ((uint8_t)name[to] & 0xc0) == 0x80)
		to++;
	memset(name + from, '.', 3);
	memmove(name + from + 3, name + to, len - to + 1);
}

static const char *short_function(struct arena *a, const char *function)
{
	char *own;

	if (strlen(function) <= LABEL_FUNCTION)
		return function;
	own = arena_string(a, function);
	if (own && !function_name_shorten(own))
		own = arena_string(a, function);
	if (own)
		elide(own, LABEL_LONGEST);
	return own;
}

static const char *shorter(struct arena *a, const char *name)
{
	char *own = name ? arena_string(a, name) : NULL;

	if (own)
		elide(own, LABEL_FUNCTION);
	return own;
}

/*
 * Return the label of a call site. It contains the outermost function into which the call was
 * inlined, because this function distinguishes inlined copies of one source line.
 */
static char *callsite_label(struct arena *a, const struct report_callsite *c)
{
	const char *outer = c->inlined, *arrow, *function = c->function ? c->function : "?";

	while (outer && (arrow = strstr(outer, INLINED_ARROW)))
		outer = arrow + strlen(INLINED_ARROW);
	function = short_function(a, function);
	/* One long name fits, but two do not. */
	if (outer && strlen(function) > LABEL_FUNCTION && strlen(outer) > LABEL_FUNCTION) {
		function = shorter(a, function);
		outer = shorter(a, short_function(a, outer));
	} else if (outer) {
		outer = short_function(a, outer);
	}
	if (!function || (c->inlined && !outer))
		return NULL;
	if (c->file && c->line && outer)
		return arena_printf(a, "%s%s in %s%s %s:%u", function, function_name_call(function),
				    outer, function_name_call(outer), text_base_name(c->file),
				    c->line);
	if (c->file && c->line && c->function)
		return arena_printf(a, "%s%s %s:%u", function, function_name_call(function),
				    text_base_name(c->file), c->line);
	if (c->file && c->line)
		return arena_printf(a, "%s:%u", text_base_name(c->file), c->line);
	if (c->module && c->function)
		return arena_printf(a, "%s%s %s+0x%llx", function, function_name_call(function),
				    text_base_name(c->module), (unsigned long long)c->offset);
	if (c->module)
		return arena_printf(a, "%s+0x%llx", text_base_name(c->module),
				    (unsigned long long)c->offset);
	return arena_printf(a, "0x%llx", (unsigned long long)c->offset);
}

/*
 * Set *out to the number of call sites with labels that differ from @label, and from each other:
 * one call in the source can be compiled into several. Return 0 or -ENOMEM.
 */
static int others(struct arena *a, const struct report_barrier *b, const char *label, uint32_t *out)
{
	struct hash seen = { 0 };
	uint64_t key, value;
	int err = hash_put(&seen, name_hash(TEXT_HASH_INIT, label), 1);

	array_for_each (c, b->callsites + 1, b->ncallsites - 1) {
		const char *other = err ? NULL : callsite_label(a, c);

		if (!other) {
			err = -ENOMEM;
			break;
		}
		key = name_hash(TEXT_HASH_INIT, other);
		if (!hash_get(&seen, key, &value))
			err = hash_put(&seen, key, 1);
	}
	*out = (uint32_t)hash_count(&seen) - 1;
	hash_free(&seen);
	return err;
}

static char *label_of(struct arena *a, const struct report_barrier *b)
{
	uint32_t more = 0;
	char *label;

	if (b->name && b->name[0])
		return arena_string(a, b->name);
	if (!b->ncallsites)
		return arena_string(a, "other call sites");
	label = callsite_label(a, &b->callsites[0]);
	if (label && b->ncallsites > 1 && others(a, b, label, &more))
		return NULL;
	return label && more ? arena_printf(a, "%s and %u more", label, more) : label;
}

int report_site_label(const struct report_env *env, uint32_t site, char *out, size_t size)
{
	struct report_callsite callsite = { 0 };
	struct arena *a = arena_new();
	const struct site_name *s = site_of(env, site);
	char *label = NULL;

	if (!a)
		return -ENOMEM;
	if (s && !fill_callsite(a, s, &callsite))
		label = callsite_label(a, &callsite);
	name_copy(out, size, label ? label : "?");
	report_arena_free(a);
	return s && !label ? -ENOMEM : 0;
}

static void fill_object(const struct report_env *env, const struct model_barrier *mb,
			struct report_barrier *b)
{
	const char *name = env->object_name ? env->object_name(env->ctx, mb) : NULL;
	char addr[32], own[112];

	/*
	 * An object with this bit is no address, but a number that sbt-trace gave to a thread or a
	 * team.
	 */
	if (mb->object >> 63)
		snprintf(addr, sizeof(addr), "none");
	else
		snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)mb->object);
	name_copy(own, sizeof(own), name && name[0] ? name : addr);
	snprintf(b->object, sizeof(b->object), "%s%s", own, mb->objects > 1 ? " and others" : "");
}

/* Set the call sites. Make the label from them and from the name. */
static int name_sites(struct arena *a, const struct report_env *env, const uint32_t *sites,
		      uint32_t n, struct report_barrier *out)
{
	const struct site_name *s;
	const char *label;
	uint32_t i;
	int err = 0;

	out->ncallsites = n;
	out->callsites = arena_alloc(a, (n ? n : 1) * sizeof(*out->callsites));
	if (!out->callsites)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		s = site_of(env, sites[i]);
		if (s)
			err = fill_callsite(a, s, &out->callsites[i]);
	}
	if (n) {
		out->function = out->callsites[0].function;
		out->file = out->callsites[0].file;
		out->module = out->callsites[0].module;
		out->line = out->callsites[0].line;
		out->offset = out->callsites[0].offset;
	}
	label = err ? NULL : label_of(a, out);
	if (!label)
		return -ENOMEM;
	name_copy(out->label, sizeof(out->label), label);
	return 0;
}

int name_barrier(struct arena *a, const struct model *m, const struct report_env *env, uint32_t id,
		 uint32_t index, struct report_barrier *out)
{
	const struct model_barrier *mb = model_barrier(m, index);
	const struct model_proc *p = model_proc(m, mb->proc);
	const struct site_name *s;
	const char *kind;
	int err = 0;

	snprintf(out->id, sizeof(out->id), "#%08x", id);
	out->index = index;
	out->pid = p->tgid;
	out->processes = p->processes;
	out->comm = p->comm[0] ? name_keep(a, p->comm, &err) : NULL;
	out->family = report_family(env, mb->family);
	kind = env->kind_name ? env->kind_name(mb->kind) : NULL;
	out->kind = kind ? kind : "explicit";
	out->name = name_keep(a, env->barrier_name ? env->barrier_name(env->ctx, mb) : NULL, &err);
	out->shared = mb->shared;
	out->nested = mb->nested;
	s = mb->nsites ? site_of(env, mb->sites[0]) : NULL;
	out->loop = s && s->loop;
	if (!err)
		err = name_sites(a, env, mb->sites, mb->nsites, out);
	if (err)
		return err;
	fill_object(env, mb, out);
	return 0;
}

/* Name a barrier with a known id. Return 0, *out and *arena, or return -ENOMEM. */
static int name_known(const struct model *model, const struct report_env *env, uint32_t id,
		      uint32_t index, struct report_barrier *out, void **arena)
{
	struct arena *a = arena_new();
	int err = a ? name_barrier(a, model, env, id, index, out) : -ENOMEM;

	if (err)
		arena_free(a);
	else
		*arena = a;
	return err;
}

int report_barrier_name(const struct model *model, const struct report_env *env, uint32_t index,
			struct report_barrier *out, void **arena)
{
	struct arena *a = arena_new();
	uint32_t id = 0;
	int err = a ? name_id(a, model, env, index, &id) : -ENOMEM;

	*arena = NULL;
	memset(out, 0, sizeof(*out));
	arena_free(a);
	return err ? err : name_known(model, env, id, index, out, arena);
}

/*
 * The ids of barriers that were named so far. They stay valid, because a barrier's call sites never
 * change.
 */
struct report_namer {
	struct hash taken;
	uint32_t *ids; /* ids of the first n barriers */
	uint32_t n, cap;
};

struct report_namer *report_namer_new(void)
{
	return calloc(1, sizeof(struct report_namer));
}

void report_namer_free(struct report_namer *namer)
{
	if (!namer)
		return;
	hash_free(&namer->taken);
	free(namer->ids);
	free(namer);
}

void report_namer_forget(struct report_namer *namer)
{
	hash_free(&namer->taken);
	namer->n = 0;
}

int report_namer_name(struct report_namer *namer, const struct model *model,
		      const struct report_env *env, uint32_t index, struct report_barrier *out,
		      void **arena)
{
	int err = grow(namer->ids, namer->cap, (size_t)index + 1);

	*arena = NULL;
	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	for (; namer->n <= index; namer->n++) {
		if (model_barrier(model, namer->n)->proc == MODEL_NONE)
			continue;
		err = id_of(env, model_barrier(model, namer->n), &namer->taken,
			    &namer->ids[namer->n]);
		if (err)
			return err;
	}
	return name_known(model, env, namer->ids[index], index, out, arena);
}

int report_barrier_names(const struct model *model, const struct report_env *env, uint32_t from,
			 int (*each)(void *ctx, const struct report_barrier *barrier), void *ctx)
{
	uint32_t i, n = model_nbarriers(model);
	struct arena *a = arena_new(), *one;
	struct report_barrier barrier;
	struct name_table ids;
	int err = a ? name_ids(a, model, env, n, &ids) : -ENOMEM;

	for (i = from; i < n && !err; i++) {
		if (model_barrier(model, i)->proc == MODEL_NONE)
			continue;
		one = arena_new();
		memset(&barrier, 0, sizeof(barrier));
		err = one ? name_barrier(one, model, env, ids.ids[i], i, &barrier) : -ENOMEM;
		if (!err)
			err = each(ctx, &barrier);
		arena_free(one);
	}
	arena_free(a);
	return err;
}

int report_place_name(const struct report_env *env, uint8_t family, const uint32_t *sites,
		      uint32_t nsites, const char *name, struct report_barrier *out, void **arena)
{
	struct model_barrier b = { .family = family, .sites = sites, .nsites = nsites };
	struct arena *a = arena_new();
	uint64_t h;
	int err = a ? 0 : -ENOMEM;

	*arena = NULL;
	memset(out, 0, sizeof(*out));
	if (!err)
		err = hash_barrier(env, &b, false, &h);
	if (!err) {
		snprintf(out->id, sizeof(out->id), "#%08x", fold32(h));
		out->family = report_family(env, family);
		out->name = name_keep(a, name, &err);
	}
	if (!err)
		err = name_sites(a, env, sites, nsites, out);
	if (err)
		arena_free(a);
	else
		*arena = a;
	return err;
}

void report_arena_free(void *arena)
{
	arena_free(arena);
}
