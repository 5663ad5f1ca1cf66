// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Code everything but inputs, field by field. New fields go to the end of their struct. */
#include <math.h>

#include "recording/internal.h"

#define FRAMES_MAX   1024 /* maximum number of frames of a site or stack; no real stack is deeper */
#define PRICE_MAX_NS 1e12

/* --- the session ------------------------------------------------------------------------------ */

static void code_probe(struct coder *c, struct session_probe *p)
{
	code_word(c, &p->family);
	code_text(c, &p->binary);
	code_text(c, &p->symbol);
	code_word(c, &p->method);
	code_u64(c, &p->offset);
	code_word(c, &p->scope);
	code_word(c, &p->insn);
	code_word(c, &p->why);
}

static void code_counter(struct coder *c, struct session_counter *e)
{
	code_word(c, &e->name);
	code_word(c, &e->source);
	code_word(c, &e->unit);
}

static void code_uncounted(struct coder *c, struct report_uncounted *u)
{
	code_label(c, &u->name);
	code_label(c, &u->reason);
}

static void code_departures(struct coder *c, struct session_departures *d)
{
	code_word(c, &d->family);
	code_word(c, &d->method);
	code_label(c, &d->why);
}

static void code_setting(struct coder *c, struct session_setting *s)
{
	code_label(c, &s->name);
	code_word(c, &s->value);
}

/* Code each element of an array. */
#define CODE_ARRAY(c, n, array, each)                                                     \
	do {                                                                              \
		uint32_t code_i_;                                                         \
		void *code_to_ = code_array(c, &(n), (array), sizeof(*(array)));          \
                                                                                          \
		for (code_i_ = 0; code_i_ < (n) && code_to_ && !(c)->failed; code_i_++)   \
			each(c, (void *)((char *)code_to_ + code_i_ * sizeof(*(array)))); \
		if (!(c)->writing)                                                        \
			(array) = code_to_;                                               \
	} while (0)

static void code_emit_session(struct coder *c, struct session *s)
{
	code_word(c, &s->version);
	code_word(c, &s->kernel);
	code_word(c, &s->mode);
	code_text(c, &s->command);
	code_u64(c, &s->clock_start_ns);
	code_bool(c, &s->banner);
	code_u64(c, &s->armed_ns);
	CODE_ARRAY(c, s->nprobes, s->probes, code_probe);
	CODE_ARRAY(c, s->ncounters, s->counters, code_counter);
	CODE_ARRAY(c, s->nuncounted, s->uncounted, code_uncounted);
	CODE_ARRAY(c, s->nsettings, s->settings, code_setting);
}

void code_session(struct coder *c, struct contents_session *s)
{
	uint64_t offset = (uint64_t)s->realtime_offset_ns;

	code_emit_session(c, &s->session);
	code_text(c, &s->host);
	code_word(c, &s->machine);
	code_u64(c, &s->model_start_ns);
	code_delta(c, &offset, 0);
	s->realtime_offset_ns = (int64_t)offset;
	code_bool(c, &s->accounted);
	code_u32(c, &s->instructions);
	code_u32(c, &s->cycles);
	code_u32(c, &s->ncpus);
	CODE_ARRAY(c, s->ncpu_node, s->cpu_node, code_u32);
	code_u64(c, &s->ids[0]);
	code_u64(c, &s->ids[1]);
	/* Older versions had no further field. */
	if (!coder_at_end(c))
		CODE_ARRAY(c, s->session.ndepartures, s->session.departures, code_departures);
}

/* Code a price in ns; NAN: unknown. A value that cannot be a price is read as NAN. */
static void code_price(struct coder *c, double *ns)
{
	code_double(c, ns);
	if (!c->writing && !(*ns >= 0 && *ns <= PRICE_MAX_NS))
		*ns = NAN;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void code_loss(struct coder *c, struct report_loss *l)
{
	code_label(c, &l->cause);
	code_label(c, &l->text);
	code_u64(c, &l->count);
}

static void code_remark(struct coder *c, struct remark *r)
{
	code_label(c, &r->kind);
	code_u32(c, &r->pid);
	code_label(c, &r->text);
}

void code_ending(struct coder *c, struct contents_ending *e)
{
	double slept = NAN;

	if (!c->writing)
		e->switches_cost_ns = e->rested_ns = e->sampling.samples = e->sampling.lost =
			e->sampling.cost_ns = UINT64_MAX;
	code_u64(c, &e->end_ns);
	code_price(c, &e->crossing_cost_ns);
	code_known(c, &e->tracer_cpu_ns);
	code_u64(c, &e->produced);
	code_u64(c, &e->consumed);
	CODE_ARRAY(c, e->nlosses, e->losses, code_loss);
	CODE_ARRAY(c, e->nhangs, e->hangs, code_hang);
	/* If the input ends here, the version that wrote the recording had no further fields. */
	if (coder_at_end(c)) {
		e->switch_cost_ns = NAN;
		return;
	}
	/*
	 * Unused: a price that older versions had for sleeping at a barrier, and its uncertainty.
	 */
	code_price(c, &slept);
	code_price(c, &e->switch_cost_ns);
	if (!coder_at_end(c))
		code_price(c, &slept);
	if (!coder_at_end(c))
		CODE_ARRAY(c, e->nremarks, e->remarks, code_remark);
	if (coder_at_end(c))
		return;
	code_known(c, &e->switches_cost_ns);
	code_known(c, &e->rested_ns);
	if (coder_at_end(c))
		return;
	code_known(c, &e->sampling.samples);
	code_known(c, &e->sampling.lost);
	code_known(c, &e->sampling.cost_ns);
}

/* --- names ------------------------------------------------------------------------------------ */

static void code_site_frame(struct coder *c, struct site_frame *f)
{
	code_text(c, &f->function);
	code_text(c, &f->file);
	code_u32(c, &f->line);
}

void code_site(struct coder *c, struct site_name *name)
{
	CODE_ARRAY(c, name->nframes, name->frames, code_site_frame);
	if (!c->writing && name->nframes > FRAMES_MAX)
		name->nframes = FRAMES_MAX;
	code_text(c, &name->module);
	code_u64(c, &name->offset);
	code_text(c, &name->build_id);
	code_text(c, &name->label);
	code_text(c, &name->through);
	code_bool(c, &name->loop);
	/* Older versions had no further field. */
	if (!coder_at_end(c))
		code_u64(c, &name->function);
}

void code_question(struct coder *c, struct contents_question *q)
{
	code_u8(c, &q->kind);
	code_u8(c, &q->which);
	code_u32(c, &q->tgid);
	code_u32(c, &q->inc);
	code_u64(c, &q->what);
}

void code_answer(struct coder *c, struct contents_answer *a)
{
	bool counted = c->writing && !isnan(a->number);

	code_text(c, &a->text);
	code_bool(c, &counted);
	if (counted)
		code_price(c, &a->number);
	else
		a->number = NAN;
	CODE_ARRAY(c, a->nsites, a->sites, code_u32);
	if (!c->writing && a->nsites > FRAMES_MAX)
		a->nsites = FRAMES_MAX;
}

/* --- hangs ------------------------------------------------------------------------------------ */

/* Code one of our enums. When reading, a value that this version does not know becomes @other. */
#define CODE_ENUM(c, field, last, other)                                \
	do {                                                            \
		uint8_t code_e_ = (c)->writing ? (uint8_t)(field) : 0;  \
                                                                        \
		code_u8(c, &code_e_);                                   \
		if (!(c)->writing)                                      \
			(field) = code_e_ > (last) ? (other) : code_e_; \
	} while (0)

static void code_arrived(struct coder *c, struct report_hang_arrived *a)
{
	code_u32(c, &a->pid);
	code_u32(c, &a->tid);
	code_u32(c, &a->index);
	code_text(c, &a->comm);
	code_u64(c, &a->arrive_ns);
	code_known(c, &a->waited_ns);
	code_text(c, &a->function);
	code_text(c, &a->file);
	code_text(c, &a->module);
	code_u32(c, &a->line);
}

static void code_frame(struct coder *c, struct hang_frame *f)
{
	code_text(c, &f->function);
	code_text(c, &f->file);
	code_text(c, &f->module);
	code_u32(c, &f->line);
	code_text(c, &f->inlined);
	code_u64(c, &f->address);
}

static void code_missing(struct coder *c, struct report_hang_missing *m)
{
	code_u32(c, &m->pid);
	code_u32(c, &m->tid);
	code_u32(c, &m->index);
	code_text(c, &m->comm);
	CODE_ENUM(c, m->why, HANG_BY_CALL, HANG_BY_PROCESS);
	CODE_ENUM(c, m->state, HANG_GONE, HANG_STATE_UNKNOWN);
	code_text(c, &m->blocked_on);
	code_text(c, &m->syscall);
	code_text(c, &m->wchan);
	code_u32(c, &m->holder);
	code_bool(c, &m->sampled);
	CODE_ARRAY(c, m->nframes, m->frames, code_frame);
}

static void code_link(struct coder *c, struct report_hang_link *l)
{
	code_u32(c, &l->pid);
	code_u32(c, &l->tid);
	code_u32(c, &l->index);
	code_text(c, &l->comm);
	code_text(c, &l->waits_for);
	code_u32(c, &l->next);
}

void code_hang(struct coder *c, struct report_hang *h)
{
	code_sentence(c, h->id, sizeof(h->id));
	code_sentence(c, h->label, sizeof(h->label));
	code_text(c, &h->name);
	code_text(c, &h->comm);
	code_word(c, &h->family);
	code_u32(c, &h->pid);
	code_text(c, &h->function);
	code_text(c, &h->file);
	code_text(c, &h->module);
	code_u32(c, &h->line);
	code_u32(c, &h->count);
	code_u64(c, &h->t_ns);
	code_u64(c, &h->since_ns);
	code_known(c, &h->waited_ns);
	code_u32(c, &h->reported);
	code_bool(c, &h->over);
	CODE_ENUM(c, h->verdict, HANG_OUTSIDE, HANG_UNKNOWN);
	code_bool(c, &h->guess);
	CODE_ARRAY(c, h->narrived, h->arrived, code_arrived);
	CODE_ARRAY(c, h->nmissing, h->missing, code_missing);
	CODE_ARRAY(c, h->ncycle, h->cycle, code_link);
	code_sentence(c, h->text, sizeof(h->text));
	if (!c->writing)
		h->arena = NULL;
}
