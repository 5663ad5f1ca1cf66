// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "predict/predict_as_recording.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/number.h"
#include "base/output.h"
#include "recording/contents.h"

#define MODE	"prediction" /* mode of the session */
#define ADVANCE 1000 /* number of crossings from one MODEL_INPUT_ADVANCE to the next */

struct crossed {
	uint32_t thread, episode, processor, seq;
	uint64_t arrive_ns, depart_ns; /* since the start of the run */
	uint64_t oncpu_ns, runq_ns, inside_runq_ns;
};

struct thread {
	uint32_t tid, tgid, inc;
	uint32_t place; /* see struct model_crossing */
	const char *comm; /* owned by the model; NULL if unknown */
	uint32_t seq;
	/* since the last crossing; the begin of a parallel part is no crossing */
	double work_ns, queue_ns;
	uint64_t depart_ns;
	uint64_t end_ns, tail_ns, tail_runq_ns;
};

struct predict_as_recording {
	const struct replay *replay;
	const struct model *model;
	const struct predict_input *in;
	const struct predict_machine *m;
	uint32_t processors, nbarriers;
	struct thread *threads;
	struct crossed *crossed;
	uint64_t n, cap;
	/* indexed by episode: its member with the lowest index, which distinguishes teams */
	uint32_t *first;
	uint64_t start_ns;
	/* time from .start_ns to the begin of the threads, after the serial part */
	uint64_t begin_ns;
	uint64_t all_ns; /* time of the run */
	struct contents_writer *contents;
	int err; /* the first error */
};

/* --- the simulation --------------------------------------------------------------------------- */

/* Round. The times come from a file, and may be too large. */
static uint64_t whole(double ns)
{
	return ns > 0 ? (uint64_t)llround(fmin(ns, 9e18)) : 0;
}

static void keep(void *ctx, const struct predict_crossed *c)
{
	struct predict_as_recording *p = ctx;
	struct thread *t = &p->threads[c->thread];

	t->work_ns += c->work_ns;
	t->queue_ns += c->queue_ns;
	if (c->episode == PREDICT_NONE) {
		t->end_ns = whole(c->arrive_ns);
		t->tail_ns = whole(t->work_ns);
		t->tail_runq_ns = whole(t->queue_ns);
		return;
	}
	/* The begin of a parallel part is not a barrier of the program. */
	if (p->in->episodes[c->episode].site >= p->nbarriers) {
		t->queue_ns += c->inside_queue_ns;
		return;
	}
	if (grow(p->crossed, p->cap, p->n + 1)) {
		p->err = -ENOMEM;
		return;
	}
	p->crossed[p->n++] = (struct crossed){
		.thread = c->thread,
		.episode = c->episode,
		.processor = c->processor,
		.seq = ++t->seq,
		.arrive_ns = whole(c->arrive_ns),
		.depart_ns = whole(c->depart_ns),
		.oncpu_ns = whole(t->work_ns),
		.runq_ns = whole(t->queue_ns),
		.inside_runq_ns = whole(c->inside_queue_ns),
	};
	t->work_ns = t->queue_ns = 0;
	if (c->thread < p->first[c->episode])
		p->first[c->episode] = c->thread;
}

static int compare(const void *a, const void *b)
{
	const struct crossed *x = a, *y = b;

	if (x->depart_ns != y->depart_ns)
		return NUMBER_COMPARE(x->depart_ns, y->depart_ns);
	return NUMBER_COMPARE(x->seq, y->seq);
}

static int simulate(struct predict_as_recording *p, const struct predict_feed *feed)
{
	struct predict_run run;
	uint32_t i;
	int err;

	p->threads = calloc((size_t)p->in->nthreads + 1, sizeof(*p->threads));
	p->first = malloc(((size_t)p->in->nepisodes + 1) * sizeof(*p->first));
	if (!p->threads || !p->first)
		return -ENOMEM;
	memset(p->first, 0xff, ((size_t)p->in->nepisodes + 1) * sizeof(*p->first));
	for (i = 0; i < p->in->nthreads; i++) {
		struct thread *t = &p->threads[i];
		const struct model_thread *mt =
			model_thread(p->model, predict_feed_thread(feed, i, &t->tid));
		bool same = mt->proc != MODEL_NONE && mt->tid == t->tid;

		if (!same) {
			/* The model has forgotten the thread: make it a separate process. */
			t->tgid = t->tid;
			t->inc = UINT32_MAX - i;
			continue;
		}
		t->tgid = model_proc(p->model, mt->proc)->tgid;
		t->inc = model_proc(p->model, mt->proc)->inc;
		t->comm = mt->comm[0] ? mt->comm : NULL;
		t->place = mt->place == MODEL_NONE ? 0 : mt->place + 1;
	}
	err = predict_simulate(p->in, p->m, p->processors, keep, p, &run);
	if (err)
		return err;
	p->begin_ns = whole((double)p->in->before_ns * p->m->mips_ratio);
	p->all_ns = whole(run.time_ns);
	predict_run_free(&run);
	if (p->n)
		qsort(p->crossed, p->n, sizeof(*p->crossed), compare);
	return p->err;
}

/* --- the recording ---------------------------------------------------------------------------- */

static int write_session(struct predict_as_recording *p)
{
	const struct contents_session *was = replay_session(p->replay);
	struct contents_session s = {
		.session = was->session,
		.host = was->host,
		.machine = was->machine,
		.model_start_ns = was->model_start_ns,
		.realtime_offset_ns = was->realtime_offset_ns,
		.accounted = true,
		.instructions = MODEL_NONE,
		.cycles = MODEL_NONE,
		.ncpus = p->processors,
	};
	char *command;

	p->start_ns = was->model_start_ns;
	s.session.nprobes = s.session.ncounters = s.session.nuncounted = 0;
	if (asprintf(&command, "%s (predicted: %u processors of %s)",
		     was->session.command ? was->session.command : "?", p->processors,
		     p->m->name) < 0)
		return -ENOMEM;
	s.session.command = command;
	s.session.mode = MODE;
	/* Choose the recording's id. The time suffices if there are no random bytes yet. */
	if (getrandom(s.ids, sizeof(s.ids), GRND_NONBLOCK) != (ssize_t)sizeof(s.ids))
		s.ids[0] = p->start_ns;
	contents_session(p->contents, &s);
	free(command);
	return 0;
}

/* Write the names of the barriers' call sites. */
static void write_names(struct predict_as_recording *p)
{
	const struct report_env *env = replay_env(p->replay);
	uint32_t i, k;

	for (i = 0; i < p->nbarriers; i++) {
		const struct model_barrier *b = model_barrier(p->model, i);
		const struct site_name *name;

		for (k = 0; k < b->nsites; k++) {
			name = env->site(env->ctx, b->sites[k]);
			if (name)
				contents_site(p->contents, b->sites[k], name);
		}
	}
}

/* Return whether a thread with a lower index belongs to the same process. */
static bool is_later(const struct predict_as_recording *p, uint32_t i)
{
	array_for_each (t, p->threads, i)
		if (t->tgid == p->threads[i].tgid && t->inc == p->threads[i].inc)
			return true;
	return false;
}

static void write_thread(struct predict_as_recording *p, uint32_t i)
{
	struct thread *t = &p->threads[i];
	struct model_input in = {
		.tgid = t->tgid, .inc = t->inc, .tid = t->tid, .t_ns = p->start_ns
	};

	if (!is_later(p, i)) {
		in.type = MODEL_INPUT_PROCESS;
		in.process.seen = true;
		in.process.comm = t->comm;
		contents_input(p->contents, &in);
	}
	in.t_ns += p->begin_ns;
	if (t->tid != t->tgid) {
		in.type = MODEL_INPUT_THREAD;
		contents_input(p->contents, &in);
	}
	if (t->comm) {
		in.type = MODEL_INPUT_NAME;
		in.name.comm = t->comm;
		contents_input(p->contents, &in);
	}
}

/* Divide the time @all into computing, waiting for a processor, and blocked time (the rest). */
static void fill_detail(struct model_detail *d, uint64_t all, uint64_t oncpu, uint64_t runq)
{
	d->oncpu_ns = oncpu < all ? oncpu : all;
	d->runq_ns = runq < all - d->oncpu_ns ? runq : all - d->oncpu_ns;
	d->blocked_ns[MODEL_BLOCKED_OTHER] = all - d->oncpu_ns - d->runq_ns;
}

static void write_crossing(struct predict_as_recording *p, const struct crossed *c)
{
	struct thread *t = &p->threads[c->thread];
	const struct model_barrier *b = model_barrier(p->model, p->in->episodes[c->episode].site);
	struct model_detail d = { .inside_runq_ns = c->inside_runq_ns };
	struct model_crossing x = {
		.tgid = t->tgid,
		.inc = t->inc,
		.tid = t->tid,
		.seq = c->seq,
		.site = b->nsites ? b->sites[0] : 0,
		.count = p->in->episodes[c->episode].n,
		/* If several teams use the call site, each team gets its own object. */
		.object = b->object + (b->objects > 1 ? 64 * (uint64_t)p->first[c->episode] : 0),
		.shared = b->shared ? 1 + (uint64_t)p->in->episodes[c->episode].site : 0,
		.arrive_ns = p->start_ns + c->arrive_ns,
		.depart_ns = p->start_ns + c->depart_ns,
		.arrive_cpu = (uint16_t)c->processor,
		.depart_cpu = (uint16_t)c->processor,
		.family = b->family,
		.kind = b->kind,
		.place = (uint16_t)t->place,
		.detail = &d,
	};
	struct model_input in = { .type = MODEL_INPUT_CROSSING, .crossing = &x };

	fill_detail(&d, number_less(c->arrive_ns, t->depart_ns), c->oncpu_ns, c->runq_ns);
	t->depart_ns = c->depart_ns;
	contents_input(p->contents, &in);
}

static void write_crossings(struct predict_as_recording *p)
{
	struct model_input in = { .type = MODEL_INPUT_ADVANCE };
	uint64_t i;

	for (i = 0; i < p->n; i++) {
		write_crossing(p, &p->crossed[i]);
		if (i % ADVANCE != ADVANCE - 1)
			continue;
		in.t_ns = p->start_ns + p->crossed[i].depart_ns;
		contents_input(p->contents, &in);
	}
}

static void write_end(struct predict_as_recording *p, const struct thread *t)
{
	struct model_detail d = { .oncpu_ns = 0 };
	struct model_input in = { .type = MODEL_INPUT_TAIL,
				  .tgid = t->tgid,
				  .inc = t->inc,
				  .tid = t->tid,
				  .t_ns = p->start_ns + t->end_ns,
				  .tail = { &d } };

	fill_detail(&d, number_less(t->end_ns, t->depart_ns), t->tail_ns, t->tail_runq_ns);
	contents_input(p->contents, &in);
	in.type = MODEL_INPUT_END_THREAD;
	in.end_thread.comm = t->comm;
	contents_input(p->contents, &in);
}

static void write_ending(struct predict_as_recording *p)
{
	struct contents_ending e = { .crossing_cost_ns = NAN,
				     .switch_cost_ns = NAN,
				     .switches_cost_ns = REPORT_UNKNOWN,
				     .rested_ns = REPORT_UNKNOWN,
				     .sampling = { REPORT_UNKNOWN, REPORT_UNKNOWN, REPORT_UNKNOWN },
				     .tracer_cpu_ns = REPORT_UNKNOWN,
				     .produced = p->n,
				     .consumed = p->n };
	struct model_input in = { 0 };
	uint32_t i;

	array_for_each (t, p->threads, p->in->nthreads)
		write_end(p, t);
	in.t_ns = e.end_ns = p->start_ns + p->all_ns;
	in.type = MODEL_INPUT_END_PROCESS;
	for (i = 0; i < p->in->nthreads; i++) {
		in.tgid = p->threads[i].tgid;
		in.inc = p->threads[i].inc;
		if (!is_later(p, i))
			contents_input(p->contents, &in);
	}
	in = (struct model_input){ .type = MODEL_INPUT_FINISH, .t_ns = e.end_ns };
	contents_input(p->contents, &in);
	contents_ending(p->contents, &e);
}

static int write_all(struct predict_as_recording *p, int fd)
{
	int err = contents_create(fd, &p->contents), closed;
	uint32_t i;

	if (err)
		return err;
	err = write_session(p);
	if (!err) {
		write_names(p);
		for (i = 0; i < p->in->nthreads; i++)
			write_thread(p, i);
		write_crossings(p);
		write_ending(p);
	}
	closed = contents_close(p->contents);
	return err ? err : closed;
}

uint32_t predict_as_recording_processors(const struct replay *replay)
{
	const struct contents_session *s = replay_session(replay);

	return s->session.mode && !strcmp(s->session.mode, MODE) ? s->ncpus : 0;
}

int predict_as_recording_record(const char *path, const struct replay *replay,
				const struct predict_feed *feed, const struct predict_machine *m,
				uint32_t processors)
{
	struct predict_as_recording p = {
		.replay = replay,
		.model = replay_model(replay),
		.in = predict_feed_input(feed),
		.m = m,
		.processors = processors,
		.nbarriers = model_nbarriers(replay_model(replay)),
	};
	int fd = output_open_fd(path), err;

	if (fd < 0) {
		msg_error("cannot write %s: %s", path, strerror(-fd));
		return fd;
	}
	err = simulate(&p, feed);
	if (!err)
		err = write_all(&p, fd);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write the prediction to %s: %s", path, strerror(-err));
	free(p.threads);
	free(p.crossed);
	free(p.first);
	return err;
}
