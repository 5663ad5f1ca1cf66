// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/callsite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/enclose.h"
#include "sites/callers.h"
#include "sites/family.h"

/*
 * Size of the cache, a power of two. Few call sites are in use at one time, and a cache miss costs
 * only a look-up.
 */
#define CACHE_SLOTS 1024u

_Static_assert(CALLERS_MAX == SBT_CHAIN_MAX, "both have the same maximum length of a chain");

/* Return addresses, innermost first. */
struct chain {
	uint32_t n;
	uint64_t ip[CALLERS_MAX];
};

/*
 * A chain of callers that led to a wait or a wake-up. Its functions are looked up only after a
 * barrier has been found in the process.
 */
struct way {
	struct chain chain;
	struct address_space *space;
	bool wake, helpers, known;
};

/* A cache entry: the sites that were found for a wait or a wake-up with these callers. */
struct noted {
	uint64_t ip, callers;
	uint32_t tgid, inc;
	uint32_t mappings; /* value of space.reads when the entry was filled in */
	bool wake, used;
	uint32_t own; /* the innermost call of the program itself */
	uint32_t site; /* site of the barrier; ADDRESS_SPACE_SITE_NONE: not found yet */
};

struct callsites {
	struct attach *attach;
	struct address_spaces *spaces;
	struct callers *callers;
	struct enclose *enclose;
	struct hash samples; /* name of the sample -> struct chain */
	struct hash ways; /* hash of the chain -> struct way */
	uint32_t unknown_ways;
	uint32_t frames;
	uint64_t shorter;
	uint64_t unsampled;
	char why[512];
	/* rules found since the last callsites_take_frame_rules() */
	struct callsites_frame_rule *rules;
	size_t nrules, cap_rules;
	struct noted noted[CACHE_SLOTS];
};

int callsites_new(struct attach *attach, struct address_spaces *spaces, struct callsites **out)
{
	struct callsites *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->attach = attach;
	c->spaces = spaces;
	c->enclose = enclose_new();
	if (!c->enclose || callers_new(spaces, &c->callers)) {
		callsites_free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void callsites_free(struct callsites *c)
{
	if (!c)
		return;
	hash_free_ptrs(&c->samples);
	hash_free_ptrs(&c->ways);
	enclose_free(c->enclose);
	callers_free(c->callers);
	free(c->rules);
	free(c);
}

void callsites_set_frames(struct callsites *c, uint32_t frames)
{
	c->frames = frames;
}

uint64_t callsites_short(const struct callsites *c, const char **why)
{
	*why = c->why;
	return c->shorter;
}

uint64_t callsites_unsampled(const struct callsites *c)
{
	return c->unsampled;
}

static void note_short(struct callsites *c, const char *why)
{
	if (!c->shorter++ && why)
		snprintf(c->why, sizeof(c->why), "%s", why);
}

/* --- samples ---------------------------------------------------------------------------------- */

/*
 * Queue a rule. If memory runs out, the rule is lost, and the kernel side keeps sending samples of
 * that frame.
 */
static void queue_frame_rule(void *ctx, const struct sbt_callers *sample, uint64_t ip,
			     const struct sbt_frame_rule *rule)
{
	struct callsites *c = ctx;

	if (!grow(c->rules, c->cap_rules, c->nrules + 1))
		c->rules[c->nrules++] = (struct callsites_frame_rule){
			.tgid = sample->head.tgid, .inc = sample->head.inc, .ip = ip, .rule = *rule
		};
}

void callsites_take_frame_rules(struct callsites *c,
				void (*apply)(void *ctx, const struct callsites_frame_rule *rule),
				void *ctx)
{
	size_t i;

	for (i = 0; i < c->nrules; i++)
		apply(ctx, &c->rules[i]);
	c->nrules = 0;
}

int callsites_sample(struct callsites *c, struct address_space *space,
		     const struct sbt_callers *sample)
{
	struct chain *chain;

	free(hash_get_ptr(&c->samples, sample->head.sample));
	chain = hash_new_ptr(&c->samples, sample->head.sample, sizeof(*chain));
	if (!chain) {
		hash_del(&c->samples, sample->head.sample);
		return -ENOMEM;
	}
	chain->n = callers_follow(c->callers, space, sample, chain->ip, queue_frame_rule, c);
	return 0;
}

static bool is_sample(uint64_t name)
{
	return (name & SBT_SAMPLE_NAME) && !(name & SBT_CHAIN_NAME);
}

static void sample_done(struct callsites *c, uint64_t name)
{
	if (!is_sample(name))
		return;
	free(hash_get_ptr(&c->samples, name));
	hash_del(&c->samples, name);
}

void callsites_done(struct callsites *c, const struct sbt_crossing *crossing)
{
	if (!hash_count(&c->samples))
		return;
	sample_done(c, crossing->ip);
	sample_done(c, crossing->callers);
}

/* --- chains ----------------------------------------------------------------------------------- */

/* Store the chain with this name in *out. Return false if the chain no longer exists. */
static bool chain_named(struct callsites *c, uint64_t name, struct chain *out)
{
	const struct chain *sampled;
	struct sbt_chain chain;

	if (is_sample(name)) {
		sampled = hash_get_ptr(&c->samples, name);
		if (sampled)
			*out = *sampled;
		return sampled != NULL;
	}
	if (attach_chain(c->attach, name, &chain) || !chain.n || chain.n > CALLERS_MAX)
		return false;
	out->n = (uint32_t)chain.n;
	memcpy(out->ip, chain.ip, out->n * sizeof(out->ip[0]));
	return true;
}

/*
 * Cut the chain at the first address that is not a return address, and return the reason. Return
 * NULL if all are return addresses.
 */
static const char *chain_check(struct callsites *c, struct address_space *space,
			       struct chain *chain)
{
	const char *why;
	uint32_t i;

	for (i = 1; i < chain->n; i++) {
		why = callers_no_call(c->callers, space, chain->ip[i]);
		if (why) {
			chain->n = i;
			return why;
		}
	}
	return NULL;
}

/*
 * Return the site that is @up callers above @from, without counting wrappers. If fewer callers are
 * known, return the outermost known caller.
 */
static uint32_t site_up(struct callsites *c, struct address_space *space, const struct chain *chain,
			uint32_t from, uint32_t up, const char *why)
{
	const struct caller_code *code = NULL;
	uint32_t i = from;

	while (up) {
		code = callers_rule(c->callers, space, chain->ip[i]);
		if (i + 1 >= chain->n) {
			note_short(c, why		  ? why
				      : code && code->why ? code->why
							  : "a frame is too large");
			break;
		}
		if (!code || !(code->rule.flags & SBT_FRAME_THROUGH))
			up--;
		i++;
	}
	return address_space_site(c->spaces, space, chain->ip[i]);
}

/* Return the index of the program's own innermost call, above the wrappers of libraries. */
static uint32_t own_index(struct callsites *c, struct address_space *space,
			  const struct chain *chain)
{
	const struct caller_code *code;
	uint32_t i = 0;

	while (i + 1 < chain->n) {
		code = callers_rule(c->callers, space, chain->ip[i]);
		if (!code || !(code->rule.flags & SBT_FRAME_THROUGH))
			break;
		i++;
	}
	return i;
}

uint32_t callsites_function(struct callsites *c, struct address_space *space, uint64_t ip)
{
	struct chain chain;
	const char *why;

	if (!(ip & (SBT_CHAIN_NAME | SBT_SAMPLE_NAME)))
		return address_space_site(c->spaces, space, ip);
	if (!chain_named(c, ip, &chain)) {
		note_short(c, NULL);
		return address_space_site(c->spaces, space, 0);
	}
	why = chain_check(c, space, &chain);
	return site_up(c, space, &chain, own_index(c, space, &chain), c->frames, why);
}

/* --- barriers written by hand ----------------------------------------------------------------- */

/*
 * Add the callers that are missing in the chain because they ended in a tail call, which leaves no
 * return address on the stack.
 */
static void chain_complete(struct callsites *c, struct address_space *space, bool probed,
			   struct chain *chain)
{
	uint64_t ip;
	uint32_t i;

	for (i = probed ? 0 : 1; i < chain->n && chain->n < CALLERS_MAX; i++) {
		ip = callers_between(c->callers, space, i ? chain->ip[i - 1] : 0, chain->ip[i]);
		if (!ip)
			continue;
		memmove(&chain->ip[i + 1], &chain->ip[i], (chain->n - i) * sizeof(chain->ip[0]));
		chain->ip[i++] = ip;
		chain->n++;
	}
}

/* Fill in the known callers of a wait. Return the same values as chain_check(). */
static const char *chain_of(struct callsites *c, struct address_space *space,
			    const struct sbt_crossing *r, struct chain *chain)
{
	bool named = r->callers & (SBT_CHAIN_NAME | SBT_SAMPLE_NAME);
	const char *why;

	if (!named || !chain_named(c, r->callers, chain)) {
		chain->n = 1;
		chain->ip[0] = r->ip;
		if (!named && r->callers)
			chain->ip[chain->n++] = r->callers;
	}
	why = chain_check(c, space, chain);
	chain_complete(c, space, family_has(r->family, FAMILY_COND_VAR), chain);
	return why;
}

static void steps_of(struct callsites *c, struct address_space *space, const struct chain *chain,
		     struct enclose_step *steps)
{
	const struct caller_code *code;
	uint32_t i;

	for (i = 0; i < chain->n; i++) {
		code = callers_code(c->callers, space, chain->ip[i]);
		steps[i] = (struct enclose_step){ .site = address_space_site(c->spaces, space,
									     chain->ip[i]) };
		if (!code)
			continue;
		steps[i].function = code->function;
		steps[i].through = code->rule.flags & SBT_FRAME_THROUGH;
		steps[i].outer = code->outer;
		steps[i].inlined = code->inlined;
		steps[i].large = !address_spaces_small(c->spaces, steps[i].site);
		steps[i].line = address_spaces_line(c->spaces, steps[i].site, 0);
	}
}

static uint32_t own_site(struct callsites *c, struct address_space *space,
			 const struct chain *chain)
{
	return address_space_site(c->spaces, space, chain->ip[own_index(c, space, chain)]);
}

static int way_add(struct callsites *c, struct address_space *space, const struct chain *chain,
		   bool wake, bool helpers, bool known)
{
	uint64_t key =
		hash_mix((uintptr_t)space + (wake ? 1 : 0) + (helpers ? 2 : 0) + (known ? 4 : 0));
	struct way *way;
	uint32_t i;

	for (i = 0; i < chain->n; i++)
		key = hash_mix(key ^ chain->ip[i]);
	if (hash_get_ptr(&c->ways, key))
		return 0;
	way = hash_new_ptr(&c->ways, key, sizeof(*way));
	if (!way)
		return -ENOMEM;
	*way = (struct way){ *chain, space, wake, helpers, known };
	c->unknown_ways += !known;
	return 0;
}

void callsites_forget(struct callsites *c, const struct address_space *space)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	struct way *way;
	size_t pos = 0;

	while ((e = hash_next(&c->ways, &pos, &zero))) {
		way = (void *)(uintptr_t)e->value;
		if (way->space != space)
			continue;
		c->unknown_ways -= !way->known;
		hash_del(&c->ways, e->key);
		free(way);
		/* Deletion may have moved a later entry to this index. */
		if (pos > 1)
			pos--;
	}
}

/* Look up the functions in all chains of this process, because a barrier has been found in it. */
static void ways_look_up(struct callsites *c, const struct address_space *space)
{
	struct enclose_step steps[CALLERS_MAX];
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while (c->unknown_ways && (e = hash_next(&c->ways, &pos, &zero))) {
		struct way *way = (void *)(uintptr_t)e->value;

		if (way->known || way->space != space)
			continue;
		way->known = true;
		c->unknown_ways--;
		steps_of(c, way->space, &way->chain, steps);
		/*
		 * If memory runs out, this chain is missing when `enclose` chooses the function of
		 * a barrier.
		 */
		enclose_note(c->enclose, steps, way->chain.n, way->wake, way->helpers);
	}
}

static struct noted *noted_slot(struct callsites *c, const struct sbt_crossing *r)
{
	uint64_t h = hash_mix(r->ip ^ hash_mix(r->callers ^ (uint64_t)r->tgid << 40));

	return &c->noted[h >> 40 & (CACHE_SLOTS - 1)];
}

static bool noted_is(const struct noted *n, const struct address_space *space,
		     const struct sbt_crossing *r, bool wake)
{
	return n->used && n->ip == r->ip && n->callers == r->callers && n->tgid == r->tgid &&
	       n->inc == r->inc && n->wake == wake && n->mappings == space->reads;
}

static bool is_wake(const struct sbt_crossing *r)
{
	return r->arrive_ns == r->depart_ns;
}

int callsites_consider(struct callsites *c, struct address_space *space,
		       const struct sbt_crossing *r, bool wake, uint32_t *site)
{
	struct noted *slot = noted_slot(c, r);
	struct chain chain;
	int err;

	if (noted_is(slot, space, r, wake)) {
		*site = slot->own;
		return 0;
	}
	chain_of(c, space, r, &chain);
	*site = own_site(c, space, &chain);
	err = way_add(c, space, &chain, wake, family_has(r->family, FAMILY_FUTEX_WORD), false);
	/*
	 * Looking up the site may have read the mappings of the process again, so use the current
	 * value of space->reads.
	 */
	*slot = (struct noted){ .ip = r->ip,
				.callers = r->callers,
				.mappings = space->reads,
				.tgid = r->tgid,
				.inc = r->inc,
				.wake = wake,
				.used = !err,
				.own = *site,
				.site = ADDRESS_SPACE_SITE_NONE };
	return err;
}

uint32_t callsites_semaphore(struct callsites *c, struct address_space *space,
			     const struct sbt_crossing *r, uint32_t *above)
{
	struct chain chain;
	uint32_t i, site;

	chain_of(c, space, r, &chain);
	site = own_site(c, space, &chain);
	for (i = 0; i < chain.n && address_space_site(c->spaces, space, chain.ip[i]) != site; i++)
		;
	while (i + 1 < chain.n && address_spaces_tiny(c->spaces, site))
		site = address_space_site(c->spaces, space, chain.ip[++i]);
	chain.n -= i < chain.n ? i : chain.n;
	memmove(chain.ip, chain.ip + i, chain.n * sizeof(chain.ip[0]));
	*above = chain.n > 1 ? address_space_site(c->spaces, space, chain.ip[1])
			     : ADDRESS_SPACE_SITE_NONE;
	/*
	 * If memory runs out, the first function of a thread may be reported as a candidate
	 * barrier.
	 */
	way_add(c, space, &chain, false, false, true);
	if (chain.n > 1) {
		chain.n--;
		memmove(chain.ip, chain.ip + 1, chain.n * sizeof(chain.ip[0]));
		way_add(c, space, &chain, false, false, true);
	}
	return site;
}

/*
 * Return whether the program's own innermost call in this chain is at @site, and is in the first
 * function of a thread.
 */
static bool is_first(struct callsites *c, const struct way *way, uint32_t site)
{
	uint32_t i = own_index(c, way->space, &way->chain);
	const struct caller_code *code;

	if (address_space_site(c->spaces, way->space, way->chain.ip[i]) != site ||
	    i + 1 >= way->chain.n)
		return false;
	code = callers_code(c->callers, way->space, way->chain.ip[i + 1]);
	return code && code->outer;
}

bool callsites_first(struct callsites *c, uint32_t site)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&c->ways, &pos, &zero)))
		if (is_first(c, (void *)(uintptr_t)e->value, site))
			return true;
	return false;
}

static uint32_t find_site(struct callsites *c, struct address_space *space,
			  const struct sbt_crossing *r)
{
	struct enclose_step steps[CALLERS_MAX];
	const struct caller_code *code;
	struct chain chain;
	const char *why;
	bool through;
	uint32_t i, site;

	ways_look_up(c, space);
	c->unsampled += is_sample(r->callers) && !hash_get_ptr(&c->samples, r->callers);
	why = chain_of(c, space, r, &chain);
	steps_of(c, space, &chain, steps);
	i = enclose_site(c->enclose, steps, chain.n, family_has(r->family, FAMILY_FUTEX_WORD),
			 &through);
	site = site_up(c, space, &chain, i, c->frames, why);
	if (!through || site != steps[i].site)
		return site;
	code = callers_code(c->callers, space, chain.ip[i - 1]);
	if (code && code->name)
		address_spaces_set_through(c->spaces, site, code->name);
	return site;
}

uint32_t callsites_found(struct callsites *c, struct address_space *space,
			 const struct sbt_crossing *r)
{
	struct noted *slot = noted_slot(c, r);

	if (!noted_is(slot, space, r, is_wake(r)))
		return find_site(c, space, r);
	if (slot->site == ADDRESS_SPACE_SITE_NONE)
		slot->site = find_site(c, space, r);
	return slot->site;
}

/* --- joins ------------------------------------------------------------------------------------ */

/* Return whether the code at @ip belongs to the C library or the C++ library. */
static bool is_library(struct callsites *c, struct address_space *space, uint64_t ip)
{
	struct address_space_code code;

	if (!address_space_code(c->spaces, space, ip, &code) || !code.module)
		return false;
	return code.module->c_library ||
	       family_library_has(code.module->traits.soname, FAMILY_CXX) ||
	       address_spaces_of_std(c->spaces, address_space_site(c->spaces, space, ip));
}

uint32_t callsites_join(struct callsites *c, struct address_space *space,
			const struct sbt_crossing *r)
{
	struct chain chain;
	const char *why;
	uint32_t i;

	why = chain_of(c, space, r, &chain);
	for (i = 0; i < chain.n && is_library(c, space, chain.ip[i]); i++)
		;
	/* If the program's own call is not known, the call of the library is the call site. */
	if (i == chain.n)
		i = 0;
	return site_up(c, space, &chain, i, c->frames, why);
}
