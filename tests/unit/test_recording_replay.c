// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Feed a second model from a recording of the first model's input, and check that both give the
 * same results.
 */
#include "test_model_sim.h"

#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/code.h"
#include "recording/contents.h"
#include "recording/internal.h"

static int new_file(void)
{
	int fd = memfd_create("tape", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static const struct session_counter counters[] = { { "cycles", "hardware", "1" } };
static const struct session_setting settings[] = { { "SBT_WATCH", "(none)" } };
static const struct session_probe probes[] = { { "pthread", "/lib/libc.so", "pthread_barrier_wait",
						 "session", 0x87510, "inode", "push", "why" } };

static struct contents_session a_session(void)
{
	return (struct contents_session){
		.session = { .version = "1",
			     .kernel = "6.1",
			     .mode = "command",
			     .command = "./a \x1b[31m",
			     .clock_start_ns = 1000000,
			     .nprobes = 1,
			     .probes = probes,
			     .ncounters = 1,
			     .counters = counters,
			     .nsettings = 1,
			     .settings = settings,
			     .banner = true },
		.host = "here",
		.model_start_ns = 1000000,
		.realtime_offset_ns = -5,
		.instructions = MODEL_NONE,
		.cycles = 0,
	};
}

/* --- reading back ----------------------------------------------------------------------------- */

struct sink {
	struct model *model;
	struct contents *contents;
	uint32_t marks, messages, hangs, inputs;
	const char *task; /* name of task 7 when the last input was read */
};

static void see_message(struct sink *s, const struct model_message *m)
{
	s->messages++;
	assert_fields(m, IS(tgid, PID), IS(inc, INC), IS(tid, 7), IS(t_ns, 123456790));
	assert_true(m->oncpu_ns == 1ull << 40);
	assert_fields(m, IS(owner, 3), IS(bytes, 4096), IS(write, true));
}

static void see_input(struct sink *s, const struct model_input *in)
{
	struct contents_question q = { .kind = CONTENTS_TASK, .what = 7 };
	const struct contents_answer *a = contents_find(s->contents, &q);

	s->inputs++;
	s->task = a ? a->text : NULL;
	assert_int_equal(model_take(s->model, in), 0);
}

static void see_mark(struct sink *s, const struct model_mark *mark)
{
	assert_fields(mark, IS(tgid, PID), IS(inc, INC), IS(site, 33), IS(begins, true), IS(tid, 5),
		      IS(seq, 9), IS(t_ns, 123456789));
	assert_non_null(mark->detail);
	assert_int_equal(mark->detail->runq_ns, 77);
	s->marks++;
}

static void see_hang(struct sink *s, const struct report_hang *h)
{
	assert_string_equal(h->id, "#1");
	/* Text in the recording cannot control the terminal. */
	assert_fields(h, TEXT(text, "held \\x1b[31m"), IS(verdict, HANG_DEADLOCK), IS(nmissing, 1),
		      IS(missing[0].tid, 3), IS(missing[0].state, HANG_BLOCKED),
		      TEXT(missing[0].frames[1].function, "outer"), IS(missing[0].comm, NULL),
		      IS(ncycle, 1), TEXT(cycle[0].waits_for, "the mutex m"));
	s->hangs++;
}

static void run_tape(int fd, struct sink *s, enum contents_state state)
{
	struct contents_item item;
	int got;

	assert_int_equal(contents_open(fd, &s->contents), 0);
	while ((got = contents_next(s->contents, &item)) > 0) {
		if (item.kind == CONTENTS_ITEM_HANG)
			see_hang(s, item.hang);
		else if (item.input.type == MODEL_INPUT_MARK)
			see_mark(s, item.input.mark);
		else if (item.input.type == MODEL_INPUT_MESSAGE)
			see_message(s, item.input.message);
		else
			see_input(s, &item.input);
	}
	assert_int_equal(got, 0);
	assert_int_equal(contents_state(s->contents), state);
}

/* --- the same model -------------------------------------------------------------------------- */

static void same_stat(const struct model_stat *a, const struct model_stat *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void same_barrier(const struct model_barrier *a, const struct model_barrier *b)
{
	assert_fields(a, IS(episodes, b->episodes), IS(incomplete, b->incomplete),
		      IS(ambiguous, b->ambiguous), IS(crossings, b->crossings),
		      IS(object, b->object));
	same_stat(&a->phase, &b->phase);
	same_stat(&a->barrier, &b->barrier);
	same_stat(&a->wait, &b->wait);
	same_stat(&a->release, &b->release);
	assert_int_equal(a->max_work_ns, b->max_work_ns);
	assert_memory_equal(a->longest, b->longest, sizeof(a->longest));
	assert_int_equal(a->nthreads, b->nthreads);
	for (uint32_t i = 0; i < a->nthreads; i++)
		assert_memory_equal(&a->threads[i], &b->threads[i], sizeof(a->threads[i]));
}

static void same_models(const struct model *a, const struct model *b)
{
	assert_memory_equal(model_totals(a), model_totals(b), sizeof(struct model_totals));
	assert_int_equal(model_nbarriers(a), model_nbarriers(b));
	for (uint32_t i = 0; i < model_nbarriers(a); i++)
		same_barrier(model_barrier(a, i), model_barrier(b, i));
	assert_int_equal(model_nthreads(a), model_nthreads(b));
	for (uint32_t i = 0; i < model_nthreads(a); i++)
		assert_memory_equal(model_thread(a, i), model_thread(b, i),
				    sizeof(struct model_thread));
	assert_int_equal(model_nprocs(a), model_nprocs(b));
	for (uint32_t i = 0; i < model_nprocs(a); i++) {
		struct model_proc x = *model_proc(a, i), y = *model_proc(b, i);

		assert_int_equal(x.nparts, y.nparts);
		assert_true(!x.nparts || !memcmp(x.parts, y.parts, x.nparts * sizeof(*x.parts)));
		x.parts = y.parts = NULL;
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static struct model_detail a_detail(uint64_t *seed, uint64_t work)
{
	struct model_detail d = { .oncpu_ns = rnd_to(seed, 3) ? rnd_to(seed, (uint32_t)work + 1)
							      : MODEL_UNKNOWN,
				  .inside_oncpu_ns = rnd_to(seed, 2) ? 5 : MODEL_UNKNOWN,
				  .runq_ns = rnd_to(seed, 2) ? rnd_to(seed, 1000) : 0,
				  .inside_runq_ns = rnd_to(seed, 2) ? 1 : 0,
				  .interference_ns = rnd_to(seed, 2) ? rnd_to(seed, 1000) : 0,
				  .inside_interference_ns = rnd_to(seed, 2),
				  .switches = (uint32_t)rnd_to(seed, 3),
				  .fault_addr = rnd_to(seed, 2) ? 0x7f0012345678 : 0,
				  .ncounters = 2 };

	for (uint32_t i = 0; i < MODEL_BLOCKED_REASONS; i++)
		d.blocked_ns[i] = rnd_to(seed, 4) ? 0 : rnd_to(seed, 500);
	d.block = (struct model_block){ .ns = rnd_to(seed, 100),
					.at.key = rnd(seed),
					.stack = rnd(seed),
					.waker = (uint32_t)rnd(seed),
					.reason = MODEL_BLOCKED_SLEEP,
					.doing = MODEL_DOING_BLOCKED + MODEL_BLOCKED_IO,
					.waited = MODEL_WAITED_EVENT };
	if (rnd_to(seed, 2)) {
		d.second = d.block;
		d.second.reason = MODEL_BLOCKED_LOCK;
		d.second.holder = d.second.culprit = (uint32_t)rnd(seed);
		d.second.doing_ns = rnd_to(seed, 100);
		d.second.among = 1;
	}
	for (uint32_t i = 0; i < d.ncounters; i++) {
		d.counters[i] = rnd(seed);
		d.inside_counters[i] = rnd(seed);
	}
	return d;
}

/* Run random programs, and record each input. */
static void record_run(struct sim *s, struct run *r, struct contents_writer *w)
{
	uint64_t seed = s->seed;

	model_tap(r->model, contents_input, w);
	play(s, 60);
	for (uint32_t i = 0; i < s->nrecs; i++) {
		struct rec *rec = &s->recs[i];

		if (!rnd_to(&seed, 3))
			continue;
		rec->detail = a_detail(&seed, 500);
		rec->c.detail = &rec->detail;
		rec->c.flags |= MODEL_CROSSING_ACCOUNTED;
		rec->c.arrive_cpu = (uint16_t)rnd_to(&seed, 300);
		rec->c.depart_cpu = (uint16_t)rnd_to(&seed, 300);
		rec->c.site = 1 + rec->c.tid % 2;
	}
	deliver(s, r);
}

static void test_random_runs(void **unused)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct model_ops nothing = { 0 };
		struct contents_session session = a_session();
		struct sink sink = { .model = model_new(&nothing, 1000000) };
		struct run *r CLEANUP_PTR(run_free) = run_new(1000000);
		struct contents_ending ending = { .end_ns = 5 };
		struct contents_writer *w;
		struct sim s CLEANUP(sim_free);
		int fd CLEANUP_PTR(close) = new_file();

		assert_int_equal(contents_create(fd, &w), 0);
		contents_session(w, &session);
		sim_setup(&s, seed);
		s.loss = seed % 3 ? 0 : 30;
		record_run(&s, r, w);
		contents_ending(w, &ending);
		assert_int_equal(contents_close(w), 0);
		run_tape(fd, &sink, CONTENTS_INTACT);
		same_models(r->model, sink.model);
		model_free(sink.model);
		contents_free(sink.contents);
	}
}

/*
 * A process is no longer traced. A model that is fed from the recording also knows when tracing
 * ended, at what cost, and which probe groups were detached before.
 */
static void test_detached(void **unused)
{
	struct model_detached detached = {
		.t_ns = 5000,
		.cost_ppm = 4000000,
		.limit_ppm = 50000,
		.because = 7,
		.probed = true,
		.probe_groups = MODEL_DETACHED_WHOLE,
	};
	struct model_detached part = { .t_ns = 4000,
				       .cost_ppm = 90000,
				       .probe_groups = 6 | 1ULL << 40 };
	struct model_ops nothing = { 0 };
	struct contents_session session = a_session();
	struct sink sink = { .model = model_new(&nothing, 1000) };
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);
	struct contents_ending ending = { .end_ns = 9000 };
	struct contents_writer *w;
	int fd CLEANUP_PTR(close) = new_file();

	assert_int_equal(contents_create(fd, &w), 0);
	contents_session(w, &session);
	model_tap(r->model, contents_input, w);
	run_launched(r, 1000);
	cross_all(r, { 1, 0x1000, 2, 2000, 3001 }, { 2, 0x1000, 2, 3000, 3002 });
	assert_int_equal(model_detached(r->model, PID, INC, &part), 0);
	assert_int_equal(model_detached(r->model, PID, INC, &detached), 0);
	assert_int_equal(model_finish(r->model, 9000), 0);
	contents_ending(w, &ending);
	assert_int_equal(contents_close(w), 0);
	run_tape(fd, &sink, CONTENTS_INTACT);
	same_models(r->model, sink.model);
	assert_fields(model_proc(sink.model, 0), IS(detached.t_ns, 5000),
		      IS(detached.cost_ppm, 4000000), IS(nparts, 1),
		      IS(parts[0].probe_groups, 6 | 1ULL << 40), IS(parts[0].t_ns, 4000),
		      IS(parts[0].cost_ppm, 90000));
	model_free(sink.model);
	contents_free(sink.contents);
}

/*
 * Later threads reuse recorded thread numbers. A late record of an ended thread gets another
 * number.
 */
static void test_threads_that_come_and_go(void **unused)
{
	struct model_ops nothing = { 0 };
	struct contents_session session = a_session();
	struct sink sink = { .model = model_new(&nothing, 1000000) };
	struct contents_ending ending = { .end_ns = 5 };
	struct run *r CLEANUP_PTR(run_free) = run_new(1000000);
	struct contents_writer *w;
	int fd CLEANUP_PTR(close) = new_file();
	uint64_t t = 2000000;

	assert_int_equal(contents_create(fd, &w), 0);
	contents_session(w, &session);
	model_tap(r->model, contents_input, w);
	assert_int_equal(model_add_process(r->model, PID, INC, 0, 0, t, true, "p"), 0);
	for (uint32_t i = 1; i <= 500; i++) {
		assert_int_equal(model_add_thread(r->model, PID, INC, i, t), 0);
		for (uint32_t k = 1; k <= 1 + i % 3; k++, t += 1000) {
			struct model_crossing c = crossing(i, 0x1000 * (i % 4 + 1), 1, t, t + 100);

			c.seq = k;
			c.site = i % 5;
			assert_int_equal(model_add_crossing(r->model, &c), 0);
		}
		/* Sometimes two threads exist at the same time. */
		if (i % 7)
			assert_int_equal(model_end_thread(r->model, PID, INC, i, t, "t"), 0);
	}
	assert_int_equal(model_finish(r->model, t), 0);
	contents_ending(w, &ending);
	assert_int_equal(contents_close(w), 0);
	run_tape(fd, &sink, CONTENTS_INTACT);
	assert_int_equal(model_totals(sink.model)->lost, 0);
	same_models(r->model, sink.model);
	model_free(sink.model);
	contents_free(sink.contents);
}

/* --- everything else ------------------------------------------------------------------------- */

static void name_process(struct contents_writer *w, const char *comm)
{
	struct model_input in = { .type = MODEL_INPUT_PROCESS,
				  .tgid = PID,
				  .inc = INC,
				  .t_ns = 1000001,
				  .process = { .seen = true, .comm = comm } };

	contents_input(w, &in);
}

static void name_task(struct contents_writer *w, const char *name)
{
	struct contents_question q = { .kind = CONTENTS_TASK, .what = 7 };
	struct contents_answer a = { .text = name, .number = NAN };

	contents_answer(w, &q, &a);
}

static void write_hang(struct contents_writer *w)
{
	struct hang_frame frames[] = { { .function = "inner" },
				       { .function = "outer", .line = 3 } };
	struct report_hang_missing missing = {
		.tid = 3, .state = HANG_BLOCKED, .nframes = 2, .frames = frames
	};
	struct report_hang_link link = { .tid = 3, .waits_for = "the mutex m", .next = 3 };
	struct report_hang hang = { .id = "#1",
				    .text = "held \x1b[31m",
				    .verdict = HANG_DEADLOCK,
				    .nmissing = 1,
				    .missing = &missing,
				    .ncycle = 1,
				    .cycle = &link };

	contents_hang(w, &hang);
}

static int a_tape(bool whole)
{
	struct contents_session session = a_session();
	struct model_detail detail = { .runq_ns = 77 };
	struct model_mark mark = { PID, INC, 5, 33, 9, true, 123456789, &detail };
	struct model_message message = { PID, INC, 7, 123456790, 1ull << 40, 3, 4096, true };
	struct site_frame frame = { "f", "x.c", 12, 0 };
	struct site_name site = { .nframes = 1, .frames = &frame, .module = "/m", .offset = 5 };
	struct report_loss loss = { "ring_full", "the buffers were full", 3 };
	struct contents_ending ending = { .end_ns = 2000000,
					  .crossing_cost_ns = 1.5,
					  .switch_cost_ns = 3.5,
					  .tracer_cpu_ns = MODEL_UNKNOWN,
					  .produced = 10,
					  .consumed = 7,
					  .nlosses = 1,
					  .losses = &loss };
	struct contents_question q = {
		.kind = CONTENTS_STACK, .tgid = PID, .inc = INC, .what = 99
	};
	const uint32_t sites[] = { 4, 5 };
	struct contents_answer stack = { .number = NAN, .nsites = 2, .sites = sites };
	struct contents_writer *w;
	int fd = new_file();

	assert_int_equal(contents_create(fd, &w), 0);
	contents_session(w, &session);
	name_task(w, "first");
	contents_answer(w, &q, &stack);
	name_process(w, "p");
	name_task(w, "first");
	name_task(w, "second");
	name_process(w, "p");
	contents_input(w, &(struct model_input){ .type = MODEL_INPUT_MARK, .mark = &mark });
	contents_input(w,
		       &(struct model_input){ .type = MODEL_INPUT_MESSAGE, .message = &message });
	write_hang(w);
	contents_site(w, 4, &site);
	if (whole)
		contents_ending(w, &ending);
	assert_int_equal(contents_close(w), 0);
	return fd;
}

static void test_the_rest(void **unused)
{
	struct model_ops nothing = { 0 };
	struct sink sink = { .model = model_new(&nothing, 1000000) };
	struct contents_question q = {
		.kind = CONTENTS_STACK, .tgid = PID, .inc = INC, .what = 99
	};
	const struct contents_session *began;
	const struct contents_ending *ended;
	const struct contents_answer *a;
	int fd CLEANUP_PTR(close) = a_tape(true);

	run_tape(fd, &sink, CONTENTS_INTACT);
	assert_fields(&sink, IS(marks, 1), IS(messages, 1), IS(hangs, 1), IS(inputs, 2),
		      TEXT(task, "second"));
	began = contents_began(sink.contents);
	assert_fields(began, TEXT(session.command, "./a \x1b[31m"),
		      TEXT(session.probes[0].symbol, "pthread_barrier_wait"),
		      IS(session.probes[0].offset, 0x87510),
		      TEXT(session.counters[0].name, "cycles"), IS(realtime_offset_ns, -5),
		      IS(instructions, MODEL_NONE), IS(machine, NULL));
	ended = contents_ended(sink.contents);
	assert_non_null(ended);
	assert_true(ended->crossing_cost_ns == 1.5);
	assert_true(ended->switch_cost_ns == 3.5);
	assert_true(ended->tracer_cpu_ns == MODEL_UNKNOWN);
	assert_fields(ended, IS(losses[0].count, 3), TEXT(losses[0].cause, "ring_full"));
	assert_string_equal(contents_site_name(sink.contents, 4)->frames[0].function, "f");
	assert_null(contents_site_name(sink.contents, 5));
	a = contents_find(sink.contents, &q);
	assert_non_null(a);
	assert_fields(a, IS(nsites, 2), IS(sites[1], 5));
	q.what = 98;
	assert_null(contents_find(sink.contents, &q));
	/* Stacks stay known when reading begins again. Other answers are those read so far. */
	assert_int_equal(contents_rewind(sink.contents), 0);
	q.what = 99;
	a = contents_find(sink.contents, &q);
	assert_non_null(a);
	assert_fields(a, IS(nsites, 2), IS(sites[0], 4), IS(sites[1], 5));
	q.tgid = PID + 1;
	assert_null(contents_find(sink.contents, &q));
	model_free(sink.model);
	contents_free(sink.contents);
}

static void test_without_its_end(void **unused)
{
	struct model_ops nothing = { 0 };
	struct sink sink = { .model = model_new(&nothing, 1000000) };
	int fd CLEANUP_PTR(close) = a_tape(false);

	run_tape(fd, &sink, CONTENTS_CUT);
	assert_null(contents_ended(sink.contents));
	assert_int_equal(sink.inputs, 2);
	model_free(sink.model);
	contents_free(sink.contents);
}

/* --- hostile values -------------------------------------------------------------------------- */

static void test_values(void **unused)
{
	const uint64_t values[] = { 0, 1, 127, 128, 1u << 31, UINT64_MAX - 1, UINT64_MAX };
	struct coder w CLEANUP(coder_free) = { 0 }, r;
	struct pool pool CLEANUP(pool_free) = { 0 };
	uint64_t v;

	coder_write(&w);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		v = values[i];
		code_u64(&w, &v);
		code_known(&w, &v);
		code_delta(&w, &v, 1000);
	}
	coder_read(&r, w.bytes, w.at, &pool);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		code_u64(&r, &v);
		assert_true(v == values[i]);
		code_known(&r, &v);
		assert_true(v == values[i]);
		code_delta(&r, &v, 1000);
		assert_true(v == values[i]);
	}
	assert_false(r.failed);
	code_u64(&r, &v);
	assert_true(r.failed);
}

static void read_bytes(const char *bytes, size_t n, struct coder *r, struct pool *pool)
{
	coder_read(r, (const uint8_t *)bytes, n, pool);
}

static void test_absurd(void **unused)
{
	struct pool pool CLEANUP(pool_free) = { 0 };
	struct coder r;
	const char *s = "was";
	uint32_t n = 0;
	uint64_t v = 0;
	uint8_t byte = 1;

	/* The number has more bits than its type. */
	read_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &r, &pool);
	code_u64(&r, &v);
	assert_true(r.failed);
	/* A value that must fit in one byte is 300. */
	read_bytes("\xac\x02", 2, &r, &pool);
	code_u8(&r, &byte);
	assert_true(r.failed);
	assert_int_equal(byte, 0);
	/* A text is longer than the file, or contains a NUL. */
	read_bytes("\x7f"
		   "abc",
		   4, &r, &pool);
	code_text(&r, &s);
	assert_true(r.failed);
	assert_null(s);
	read_bytes("\x04"
		   "a\0b",
		   4, &r, &pool);
	code_text(&r, &s);
	assert_true(r.failed);
	/* An array has four billion elements. */
	read_bytes("\xff\xff\xff\xff\x0f\x01", 6, &r, &pool);
	assert_null(code_array(&r, &n, NULL, 64));
	assert_true(r.failed);
	assert_int_equal(n, 0);
}

/* A small file can unpack to very much data. Reading it must not use all memory. */
static void test_the_same_over_and_over(void **unused)
{
	struct model_ops nothing = { 0 };
	struct sink sink = { .model = model_new(&nothing, 1000000) };
	struct contents_session session = a_session();
	struct contents_question q = { .kind = CONTENTS_TASK, .what = 8 };
	struct contents_answer a = { .number = NAN };
	static char text[1000000];
	struct contents_writer *w;
	int i, fd CLEANUP_PTR(close) = new_file();

	assert_int_equal(contents_create(fd, &w), 0);
	contents_session(w, &session);
	name_task(w, "first");
	name_process(w, "p");
	memset(text, 'x', sizeof(text) - 1);
	a.text = text;
	/* Each text differs from its predecessor, because equal texts are not written. */
	for (i = 0; i < 100; i++) {
		text[0] = (char)('a' + i % 2);
		contents_answer(w, &q, &a);
	}
	name_process(w, "q");
	assert_int_equal(contents_close(w), 0);
	assert_true(lseek(fd, 0, SEEK_END) < 200000);
	run_tape(fd, &sink, CONTENTS_DAMAGED);
	assert_fields(&sink, IS(inputs, 1), TEXT(task, "first"));
	model_free(sink.model);
	contents_free(sink.contents);
}

/* An impossible price is read as unknown. */
static void test_prices(void **unused)
{
	const double prices[] = { 0, 850.5, 1e12, NAN, -1, 1e13, INFINITY };
	struct contents_question q = { .kind = CONTENTS_PRICE, .tgid = PID, .inc = INC };

	for (uint32_t i = 0; i < sizeof(prices) / sizeof(prices[0]); i++) {
		struct model_ops nothing = { 0 };
		struct sink sink = { .model = model_new(&nothing, 1000000) };
		struct contents_session session = a_session();
		struct contents_ending ending = { .end_ns = 9, .crossing_cost_ns = prices[i] };
		struct contents_answer a = { .number = prices[i] };
		const struct contents_answer *read;
		struct contents_writer *w;
		int fd CLEANUP_PTR(close) = new_file();

		assert_int_equal(contents_create(fd, &w), 0);
		contents_session(w, &session);
		contents_answer(w, &q, &a);
		contents_ending(w, &ending);
		assert_int_equal(contents_close(w), 0);
		run_tape(fd, &sink, CONTENTS_INTACT);
		read = contents_find(sink.contents, &q);
		assert_non_null(read);
		if (i < 3)
			assert_true(read->number == prices[i] &&
				    contents_ended(sink.contents)->crossing_cost_ns == prices[i]);
		else
			assert_true(isnan(read->number) &&
				    isnan(contents_ended(sink.contents)->crossing_cost_ns));
		model_free(sink.model);
		contents_free(sink.contents);
	}
}

/* Read the crossing in @old, and check that it is written as the same bytes. */
static void same_bytes(const struct coder *old, struct model_crossing *x, struct model_detail *d)
{
	struct contents_thread reader = { 0 }, writer = { 0 };
	struct coder in, out CLEANUP(coder_free) = { .writing = true };
	bool detailed;

	coder_read(&in, old->bytes, old->at, NULL);
	code_crossing(&in, &reader, x, d, &detailed);
	assert_true(coder_at_end(&in) && !in.failed);
	x->detail = detailed ? d : NULL;
	code_crossing(&out, &writer, x, d, &detailed);
	assert_int_equal(out.at, old->at);
	assert_memory_equal(out.bytes, old->bytes, old->at);
}

static void write_numbers(struct coder *c, const uint64_t *values, size_t n)
{
	c->at = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t value = values[i];

		code_u64(c, &value);
	}
}

/*
 * In a recording, the flags are one byte. The bits of TEAM (0x20) and BOUND (0x80) together mean
 * that the thread only joins the others.
 */
static void test_bytes_of_flags(void **unused)
{
	struct coder old CLEANUP(coder_free) = { .writing = true };
	struct model_detail d;
	struct model_crossing x;

	for (uint16_t byte = 1; byte <= UINT8_MAX; byte++) {
		bool joins = (byte & 0xa0) == 0xa0;

		/*
		 * mask of the fields that follow, twice the arrival, twice the time inside, flags
		 */
		write_numbers(&old, (const uint64_t[]){ 0x20, 2 * 50, 2 * 7, byte }, 4);
		same_bytes(&old, &x, &d);
		assert_fields(&x, IS(flags, joins ? (byte & ~0x80) | MODEL_CROSSING_JOINS : byte),
			      IS(arrive_ns, 50), IS(begun_ns, 50), IS(depart_ns, 57));
	}
}

/* In a recording, the object at which a thread was blocked is one field for all reasons. */
static void test_bytes_of_blocks(void **unused)
{
	struct coder old CLEANUP(coder_free) = { .writing = true };
	/* block.ns, block.at, block.reason */
	uint64_t mask = 1 << 20 | 1 << 21 | 1 << 27;
	struct model_detail d;
	struct model_crossing x;

	for (uint8_t reason = 1; reason < MODEL_BLOCKED_REASONS; reason++) {
		write_numbers(
			&old,
			(const uint64_t[]){ 0x800, 100, 14, mask, 9, MODEL_OTHER_CHILD, reason, 0 },
			8);
		same_bytes(&old, &x, &d);
		assert_fields(&d.block, IS(ns, 9), IS(at.key, MODEL_OTHER_CHILD),
			      IS(at.futex, MODEL_OTHER_CHILD), IS(at.file, MODEL_OTHER_CHILD),
			      IS(at.fault_addr, MODEL_OTHER_CHILD), IS(at.other, MODEL_OTHER_CHILD),
			      IS(reason, reason));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_runs),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_threads_that_come_and_go),
		cmocka_unit_test(test_the_rest),
		cmocka_unit_test(test_without_its_end),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_absurd),
		cmocka_unit_test(test_the_same_over_and_over),
		cmocka_unit_test(test_prices),
		cmocka_unit_test(test_bytes_of_flags),
		cmocka_unit_test(test_bytes_of_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
