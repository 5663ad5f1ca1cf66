// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check that one run of two ranks, recorded on two machines with different clocks, is read as one
 * run.
 */
#include "test_model_util.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sbt/record.h"
#include "recording/merge.h"

#define ROUNDS 200
#define AHEAD  5000000000ull /* how far the second clock is ahead of the first, ns */

struct node {
	int fd;
	struct contents_writer *contents;
	uint32_t tgid;
	uint64_t ahead;
	uint32_t crossed; /* number of episodes that the node's rank has crossed so far */
	bool found_running; /* the rank was already running when tracing began */
	struct contents_ending ending; /* how the recording of this node ends, with its losses */
};

static void begin_node(struct node *n, const char *host, const char *module, uint32_t site)
{
	struct contents_session s = { .host = host,
				      .model_start_ns = 1000 + n->ahead,
				      .realtime_offset_ns = -(int64_t)n->ahead,
				      .ids = { n->tgid, 1 } };
	struct site_frame frame = { "work", "x.c", 3, 0 };
	struct site_name name = {
		.nframes = 1, .frames = &frame, .module = module, .build_id = "abcd", .offset = 77
	};
	struct model_input in = { .type = MODEL_INPUT_PROCESS,
				  .tgid = n->tgid,
				  .inc = 1,
				  .t_ns = 2000 + n->ahead,
				  .process = { .seen = !n->found_running, .comm = "rank" } };

	n->fd = memfd_create("node", MFD_CLOEXEC);
	assert_true(n->fd >= 0);
	assert_int_equal(contents_create(n->fd, &n->contents), 0);
	contents_session(n->contents, &s);
	contents_site(n->contents, site, &name);
	contents_input(n->contents, &in);
	in = (struct model_input){ .type = MODEL_INPUT_THREAD,
				   .tgid = n->tgid,
				   .inc = 1,
				   .tid = n->tgid,
				   .t_ns = 2000 + n->ahead };
	contents_input(n->contents, &in);
}

static void meet_at(struct node *n, uint32_t round, uint64_t comm, uint32_t site, uint64_t arrive,
		    uint64_t depart)
{
	struct model_crossing x = { .tgid = n->tgid,
				    .inc = 1,
				    .tid = n->tgid,
				    .seq = round + 1,
				    .site = site,
				    .count = 1, /* the number of ranks of this node */
				    .arrive_cpu = (uint16_t)n->crossed++,
				    .object = 0x1000 + n->tgid + comm,
				    .shared = comm,
				    .family = SBT_FAMILY_MPI,
				    .kind = SBT_KIND_COLLECTIVE,
				    .arrive_ns = arrive + n->ahead,
				    .depart_ns = depart + n->ahead };
	struct model_input in = { .type = MODEL_INPUT_CROSSING, .crossing = &x };
	struct model_input advance = { .type = MODEL_INPUT_ADVANCE, .t_ns = depart + n->ahead };

	contents_input(n->contents, &in);
	if (round % 5 == 0)
		contents_input(n->contents, &advance);
}

static void meet(struct node *n, uint32_t round, uint32_t site, uint64_t arrive, uint64_t depart)
{
	meet_at(n, round, 7, site, arrive, depart);
}

static void name_task(struct node *n, uint32_t tid, const char *name)
{
	struct contents_question q = { .kind = CONTENTS_TASK, .what = tid };
	struct contents_answer a = { .text = name, .number = NAN };

	contents_answer(n->contents, &q, &a);
}

static void end_node(struct node *n, uint64_t t)
{
	struct model_input in = { .type = MODEL_INPUT_FINISH, .t_ns = t + n->ahead };

	n->ending.end_ns = t + n->ahead;
	n->ending.produced = n->ending.consumed = ROUNDS;
	contents_input(n->contents, &in);
	contents_ending(n->contents, &n->ending);
	assert_int_equal(contents_close(n->contents), 0);
}

static const char *task_name(const struct merge *m, uint32_t tid)
{
	struct contents_question q = { .kind = CONTENTS_TASK, .what = tid };
	const struct contents_answer *a = merge_find(m, &q);

	return a ? a->text : NULL;
}

static void test_two_nodes(void **unused)
{
	struct node nodes[2] = { { .tgid = 100 }, { .tgid = 200, .ahead = AHEAD } };
	uint64_t seed = 3, t = 10000, barrier[ROUNDS], uncertain;
	struct contents *tapes[2];
	struct contents_item item;
	struct merge_clock clock;
	struct merge *merge;
	struct run *r;
	int got;

	begin_node(&nodes[0], "a", "/x", 5);
	begin_node(&nodes[1], "b", "/y", 9);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t here = t + rnd_to(&seed, 500000), there = t + rnd_to(&seed, 500000);
		uint64_t last = here > there ? here : there;

		barrier[i] = last - (here < there ? here : there);
		meet(&nodes[0], i, 5, here, last + 1000 + rnd_to(&seed, 10000));
		meet(&nodes[1], i, 9, there, last + 1000 + rnd_to(&seed, 10000));
		t = last + 20000;
	}
	name_task(&nodes[0], 1, "init");
	name_task(&nodes[1], 1, "init");
	name_task(&nodes[0], 2, "here");
	name_task(&nodes[1], 2, "there");
	name_task(&nodes[1], 3, "only there");
	end_node(&nodes[0], t);
	end_node(&nodes[1], t + 500);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(contents_open(nodes[i].fd, &tapes[i]), 0);
	assert_int_equal(merge_new(tapes, 2, &merge), 0);
	merge_clock(merge, 1, &clock);
	assert_fields(&clock, IS(found.sync_points, ROUNDS), TEXT(host, "b"),
		      IS(found.contradicts, false));
	uncertain = clock.found.uncertain_ns;
	assert_true(uncertain > 0 && uncertain < 12000);

	r = run_new(merge_start(merge));
	while ((got = merge_next(merge, &item)) > 0) {
		assert_int_equal(item.kind, CONTENTS_ITEM_INPUT);
		assert_int_equal(model_take(r->model, &item.input), 0);
	}
	assert_int_equal(got, 0);
	assert_int_equal(merge_state(merge), CONTENTS_INTACT);
	/*
	 * Both recordings have the same call site in the same file, although the second has another
	 * path for the file.
	 */
	assert_int_equal(model_nbarriers(r->model), 1);
	assert_int_equal(model_barrier(r->model, 0)->nsites, 1);
	assert_string_equal(
		merge_site_name(merge, model_barrier(r->model, 0)->sites[0])->frames[0].function,
		"work");
	assert_fields(model_barrier(r->model, 0), IS(episodes, ROUNDS), IS(incomplete, 0));
	assert_int_equal(r->nkept, ROUNDS);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t got_ns = r->kept[i].ep.barrier_ns;
		uint64_t off = got_ns > barrier[i] ? got_ns - barrier[i] : barrier[i] - got_ns;

		assert_int_equal(r->kept[i].ep.n, 2);
		assert_true(off <= uncertain + 1);
	}
	/* A task has the same name on all nodes, or has no name. */
	assert_string_equal(task_name(merge, 1), "init");
	assert_null(task_name(merge, 2));
	assert_string_equal(task_name(merge, 3), "only there");
	run_free(r);
	merge_free(merge);
	close(nodes[0].fd);
	close(nodes[1].fd);
}

/* --- uncertain clocks ------------------------------------------------------------------------- */

#define NODES 3
#define FEW   20 /* number of episodes at each communicator */
#define COMMS 2

struct tally {
	uint64_t complete, others, wrong;
};

/*
 * Read @nodes as one run and count its episodes. An episode is wrong if the numbers of its members
 * differ.
 */
static void count(struct node *nodes, uint32_t n, struct tally *out, struct merge_clock *last)
{
	struct contents *tapes[NODES];
	struct contents_item item;
	struct merge *merge;
	struct run *r;

	*out = (struct tally){ 0 };
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(contents_open(nodes[i].fd, &tapes[i]), 0);
	assert_int_equal(merge_new(tapes, n, &merge), 0);
	r = run_new(merge_start(merge));
	while (merge_next(merge, &item) > 0)
		assert_int_equal(model_take(r->model, &item.input), 0);
	merge_clock(merge, n - 1, last);
	for (uint32_t i = 0; i < r->nkept; i++) {
		const struct kept *e = &r->kept[i];

		if (e->ep.state != MODEL_COMPLETE || e->ep.n != n) {
			out->others++;
			continue;
		}
		out->complete++;
		/* The tests store the number of the episode in the CPU field. */
		for (uint32_t k = 1; k < n; k++)
			if (e->members[k].arrive_cpu != e->members[0].arrive_cpu) {
				out->wrong++;
				break;
			}
	}
	run_free(r);
	merge_free(merge);
	for (uint32_t i = 0; i < n; i++)
		close(nodes[i].fd);
}

/*
 * Make one run of @n ranks that cross FEW times at each of two communicators, in phases of up to
 * @phase_ns. A rank leaves up to @leave_ns after the release, which limits the precision of its
 * clock. @lost records of the last rank are missing, beginning with number 5. If @numbered, the
 * numbers of the remaining records show the loss.
 */
static void run_of(struct node *nodes, uint32_t n, uint64_t seed, uint64_t phase_ns,
		   uint64_t leave_ns, uint32_t lost, bool numbered)
{
	uint64_t t[NODES], end = 0, release, arrive[NODES];
	uint32_t i, k, seq[NODES] = { 0 };

	for (k = 0; k < n; k++) {
		begin_node(&nodes[k], "abc" + k, "/x", 5);
		t[k] = 10000;
	}
	for (i = 0; i < FEW * COMMS; i++) {
		uint64_t comm = 7 + i % COMMS;

		for (k = 0, release = 0; k < n; k++) {
			arrive[k] = t[k] + 1000 + rnd_to(&seed, phase_ns);
			release = arrive[k] > release ? arrive[k] : release;
		}
		for (k = 0; k < n; k++) {
			bool is_lost = k == n - 1 && i >= 5 && i < 5 + lost;

			t[k] = release + 1000 + rnd_to(&seed, leave_ns);
			end = t[k] > end ? t[k] : end;
			nodes[k].crossed = i;
			if (!is_lost)
				meet_at(&nodes[k], seq[k], comm, 5, arrive[k], t[k]);
			seq[k] += !is_lost || numbered;
		}
	}
	for (k = 0; k < n; k++)
		end_node(&nodes[k], end + 1000);
}

/*
 * The clocks can be aligned to a millisecond at best, and episodes follow each other faster than
 * that. Each episode is nevertheless found.
 */
static void test_uncertain_clocks(void **unused)
{
	struct merge_clock clock;
	struct tally got;

	for (uint64_t seed = 1; seed <= 100; seed++)
		for (uint32_t n = 2; n <= NODES; n++) {
			struct node nodes[NODES] = { { .tgid = 100 },
						     { .tgid = 120, .ahead = AHEAD },
						     { .tgid = 140, .ahead = 2 * AHEAD } };

			run_of(nodes, n, seed, 200000, 2000000, 0, false);
			count(nodes, n, &got, &clock);
			assert_true(clock.found.uncertain_ns > 10000);
			assert_int_equal(clock.unnumbered, 0);
			assert_fields(&got, IS(wrong, 0), IS(others, 0), IS(complete, FEW * COMMS));
		}
}

/*
 * When tracing began, the last rank was already running. Only times can match its episodes, and
 * this is reported.
 */
static void test_late_rank(void **unused)
{
	struct node nodes[NODES] = { { .tgid = 100 },
				     { .tgid = 120, .ahead = AHEAD },
				     { .tgid = 140, .ahead = 2 * AHEAD, .found_running = true } };
	struct merge_clock clock;
	struct tally got;

	run_of(nodes, NODES, 5, 2000000, 1000, 0, false);
	count(nodes, NODES, &got, &clock);
	assert_fields(&clock, IS(found.sync_points, 0), IS(unnumbered, FEW * COMMS));
	assert_fields(&got, IS(wrong, 0), IS(complete, FEW * COMMS));
}

/* Records are missing in the middle of the recording. Later episodes are matched by time. */
static void test_lost_records(void **unused)
{
	struct node nodes[NODES] = { { .tgid = 100 },
				     { .tgid = 120, .ahead = AHEAD },
				     { .tgid = 140, .ahead = 2 * AHEAD } };
	struct merge_clock clock;
	struct tally got;

	run_of(nodes, NODES, 5, 2000000, 1000, 3, true);
	count(nodes, NODES, &got, &clock);
	assert_fields(&clock, IS(found.sync_points, 5), IS(unnumbered, FEW * COMMS - 8));
	assert_int_equal(got.wrong, 0);
	assert_int_equal(got.complete + got.others, FEW * COMMS);
	assert_true(got.complete >= FEW * COMMS - 5);
}

/*
 * As in test_lost_records(), but no number shows the loss. The recording reports the loss, so none
 * of its numbers is trusted.
 */
static void test_lost_before_numbers(void **unused)
{
	const struct report_loss loss = { "not_examined", "", 3 };
	struct node nodes[NODES] = {
		{ .tgid = 100 },
		{ .tgid = 120, .ahead = AHEAD },
		{ .tgid = 140, .ahead = 2 * AHEAD, .ending = { .nlosses = 1, .losses = &loss } }
	};
	struct merge_clock clock;
	struct tally got;

	run_of(nodes, NODES, 5, 2000000, 1000, 3, false);
	count(nodes, NODES, &got, &clock);
	assert_fields(&clock, IS(found.sync_points, 0), IS(unnumbered, FEW * COMMS - 3));
	assert_int_equal(got.wrong, 0);
	assert_true(got.complete >= FEW * COMMS - 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_nodes),	    cmocka_unit_test(test_uncertain_clocks),
		cmocka_unit_test(test_late_rank),	    cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_lost_before_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
