// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "target/proc.h"

/* model_barrier.flags */
#define WATCH_WATCHED	 0x1u
#define WATCH_NAMED	 0x2u
#define WATCH_NAME_SHIFT 8 /* above: index of --name, plus one */

#define LABEL_BYTES 192

/* The naming of a barrier, made when first needed. */
struct named {
	bool made;
	struct report_barrier barrier;
	void *arena;
	uint64_t warned; /* episodes past the threshold */
};

struct watch {
	const struct options *options;
	const struct report_env *env;
	struct emit *emit;
	struct model *model;
	struct named *named; /* by barrier */
	uint32_t nnamed;
	bool *met_watch; /* by -w */
	bool *met_name; /* by --name */
	struct emit_member *members;
	char (*labels)[LABEL_BYTES]; /* of the members' call sites */
	uint32_t cap_members;
};

int watch_new(const struct options *options, const struct report_env *env, struct emit *emit,
	      struct watch **out)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->options = options;
	w->env = env;
	w->emit = emit;
	w->met_watch = calloc(options->nwatch + 1, sizeof(*w->met_watch));
	w->met_name = calloc(options->nnames + 1, sizeof(*w->met_name));
	if (!w->met_watch || !w->met_name) {
		watch_free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void watch_free(struct watch *w)
{
	uint32_t i;

	if (!w)
		return;
	for (i = 0; i < w->nnamed; i++)
		report_arena_free(w->named[i].arena);
	free(w->named);
	free(w->members);
	free(w->labels);
	free(w->met_watch);
	free(w->met_name);
	free(w);
}

void watch_set_model(struct watch *w, struct model *model)
{
	w->model = model;
}

/* --- which ---------------------------------------------------------------------------------------- */

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* FILE:LINE, FILE being the end of the path at a slash. */
static bool matches_line(const struct site_frame *f, const char *spec)
{
	const char *colon = strrchr(spec, ':');
	size_t len, have;

	if (is_number(spec))
		return f->line && f->line == strtoul(spec, NULL, 10);
	if (!colon || !is_number(colon + 1) || !f->file || !f->line ||
	    f->line != strtoul(colon + 1, NULL, 10))
		return false;
	len = (size_t)(colon - spec);
	have = strlen(f->file);
	if (!len || have < len || strncmp(f->file + have - len, spec, len) != 0)
		return false;
	return have == len || f->file[have - len - 1] == '/';
}

static bool matches_site(const struct site_name *name, const char *spec)
{
	uint32_t i;

	for (i = 0; name && i < name->nframes; i++) {
		const struct site_frame *f = &name->frames[i];

		if ((f->function && !strcmp(f->function, spec)) || matches_line(f, spec))
			return true;
	}
	return false;
}

static struct named *get_named(struct watch *w, const struct model *model, uint32_t index)
{
	struct named *n;

	if (index >= w->nnamed) {
		uint32_t count = index * 2 + 16;

		n = realloc(w->named, count * sizeof(*n));
		if (!n)
			return NULL;
		memset(n + w->nnamed, 0, (count - w->nnamed) * sizeof(*n));
		w->named = n;
		w->nnamed = count;
	}
	n = &w->named[index];
	if (!n->made) {
		if (report_barrier_name(model, w->env, index, &n->barrier, &n->arena))
			return NULL;
		n->made = true;
	}
	return n;
}

/* @id: of the barrier, "#1a2b..."; a spec of "#" and a beginning of it will do. */
static bool matches(const struct watch *w, const struct model_barrier *b, const char *id,
		    const char *name, const char *spec)
{
	uint32_t i;

	if (name && !strcmp(name, spec))
		return true;
	if (spec[0] == '#')
		return spec[1] && !strncmp(id, spec, strlen(spec));
	for (i = 0; i < b->nsites; i++) {
		if (matches_site(w->env->site(w->env->ctx, b->sites[i]), spec))
			return true;
	}
	return false;
}

const char *watch_name(const struct watch *w, const struct model_barrier *b)
{
	uint32_t i = b->flags >> WATCH_NAME_SHIFT;

	return i ? w->options->names[i - 1].name : NULL;
}

void watch_barrier(void *ctx, const struct model *model, uint32_t index, struct model_barrier *b)
{
	struct watch *w = ctx;
	const struct options *o = w->options;
	const char *name;
	struct named *n;
	size_t i;

	if (o->watch_all)
		b->flags |= WATCH_WATCHED;
	/* To look names up takes time: only when somebody asked for one. */
	if (!o->nwatch && !o->nnames)
		return;
	n = get_named(w, model, index);
	if (!n)
		return;
	for (i = 0; i < o->nnames; i++) {
		if (!matches(w, b, n->barrier.id, NULL, o->names[i].barrier))
			continue;
		b->flags |= WATCH_NAMED | (uint32_t)(i + 1) << WATCH_NAME_SHIFT;
		w->met_name[i] = true;
	}
	name = watch_name(w, b);
	for (i = 0; i < o->nwatch; i++) {
		if (!matches(w, b, n->barrier.id, name, o->watch[i]))
			continue;
		b->flags |= WATCH_WATCHED;
		w->met_watch[i] = true;
	}
	/* Named a moment ago without its new name. */
	report_arena_free(n->arena);
	memset(n, 0, sizeof(*n));
}

void watch_unmet(const struct watch *w)
{
	size_t i;

	for (i = 0; i < w->options->nwatch; i++) {
		if (!w->met_watch[i])
			msg_warn("no barrier \"%s\" was seen to watch", w->options->watch[i]);
	}
	for (i = 0; i < w->options->nnames; i++) {
		if (!w->met_name[i])
			msg_warn("no barrier \"%s\" was seen to be named \"%s\"",
				 w->options->names[i].barrier, w->options->names[i].name);
	}
}

/* --- what ------------------------------------------------------------------------------------------- */

static int fill_members(struct watch *w, const struct model *model, const struct model_episode *e)
{
	bool mixed = model_barrier(model, e->barrier)->nsites > 1;
	char(*labels)[LABEL_BYTES];
	uint32_t i;

	if (e->n > w->cap_members) {
		struct emit_member *m = realloc(w->members, e->n * sizeof(*m));

		if (!m)
			return -ENOMEM;
		w->members = m;
		labels = realloc(w->labels, e->n * sizeof(*labels));
		if (!labels)
			return -ENOMEM;
		w->labels = labels;
		w->cap_members = e->n;
	}
	for (i = 0; i < e->n; i++) {
		const struct model_member *from = &e->members[i];
		const struct model_thread *thread = model_thread(model, from->thread);
		struct emit_member *m = &w->members[i];
		char comm[16];

		if (!*thread->comm && !thread->exited) {
			const struct model_proc *p = model_proc(model, thread->proc);

			if (!proc_comm((int)p->tgid, (int)thread->tid, comm))
				model_name_thread(w->model, p->tgid, p->inc, thread->tid, comm);
		}
		m->tid = from->tid;
		m->index = thread->ordinal;
		m->comm = *thread->comm ? thread->comm : NULL;
		m->site = NULL;
		if (mixed && !report_site_label(w->env, from->site, w->labels[i], LABEL_BYTES))
			m->site = w->labels[i];
		m->order = i;
		m->arrive_ns = from->arrive_ns;
		m->inter_ns = i ? from->arrive_ns - e->members[i - 1].arrive_ns : 0;
		m->wait_ns = from->wait_ns;
		m->depart_ns = from->depart_ns;
		m->work_ns = from->work_ns;
		m->cpu = from->arrive_cpu;
	}
	return 0;
}

void watch_episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct watch *w = ctx;
	const struct options *o = w->options;
	uint32_t flags = model_barrier(model, e->barrier)->flags;
	bool late = o->warnings && e->barrier_ns >= o->warn_ns && e->state != MODEL_INCOMPLETE;
	struct emit_episode out;
	struct named *n;

	if (!(flags & (WATCH_WATCHED | WATCH_NAMED)) && !late && !o->phase_times)
		return;
	n = get_named(w, model, e->barrier);
	if (!n || fill_members(w, model, e))
		return;
	out = (struct emit_episode){
		.barrier = &n->barrier,
		.pid = model_proc(model, e->proc)->tgid,
		.seq = e->seq,
		.number = e->number,
		.release_ns = e->release_ns,
		.phase_ns = e->phase_ns,
		.barrier_ns = e->barrier_ns,
		.participants = e->n,
		.state = e->state,
		.why = e->why,
		.nested = e->nested,
		.nmembers = e->n,
		.members = w->members,
	};
	if (flags & WATCH_WATCHED)
		emit_watched(w->emit, &out);
	else if (flags & WATCH_NAMED)
		emit_named(w->emit, &out);
	if (late && n->warned++ % o->warn_every == 0)
		emit_warning(w->emit, &out, o->warn_ns);
	if (o->phase_times)
		emit_phase_time(w->emit, &out);
}
