// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that hostile or very large programs do no harm to the model. */
#include "test_model_util.h"

static const struct model_detail *senseless(uint64_t *x, struct model_detail *d)
{
	unsigned char *p = (unsigned char *)d;

	for (size_t i = 0; i < sizeof(*d); i++)
		p[i] = (unsigned char)rnd(x);
	return d;
}

/* Crossings that no program could make, in any order. */
static void test_garbage(void **state)
{
	uint64_t x = 0x1234567, fed, n;
	struct model_crossing c;
	struct model_detail d;
	struct run *r;
	uint32_t i;

	for (uint64_t seed = 0; seed < 12; seed++) {
		r = run_new(1000);
		fed = 0;
		for (i = 0; i < 20000; i++) {
			memset(&c, 0, sizeof(c));
			c.tgid = (uint32_t)rnd_to(&x, 3);
			c.inc = (uint32_t)rnd_to(&x, 2);
			c.tid = (uint32_t)rnd_to(&x, 9);
			c.seq = (uint32_t)(seed & 1 ? rnd(&x) : i / 9);
			c.site = (uint32_t)rnd_to(&x, seed & 2 ? 3000 : 2);
			c.count = (uint32_t)(rnd_to(&x, 20) ? rnd_to(&x, 5) : rnd(&x));
			c.object = rnd_to(&x, 4);
			c.shared = rnd_to(&x, 8) ? 0 : rnd_to(&x, 3);
			c.arrive_ns = rnd_to(&x, 50) ? 1000 + 10 * i - rnd_to(&x, 90) : rnd(&x);
			c.depart_ns = rnd_to(&x, 50) ? c.arrive_ns + rnd_to(&x, 90) : rnd(&x);
			c.family = (uint8_t)rnd_to(&x, 2);
			c.flags = rnd_to(&x, 30) ? 0 : MODEL_CROSSING_ABANDONED;
			c.depth = (uint8_t)(rnd_to(&x, 10) ? 0 : rnd(&x));
			c.detail = rnd_to(&x, 3) ? NULL : senseless(&x, &d);
			c.flags |= rnd_to(&x, 3) ? 0 : MODEL_CROSSING_ACCOUNTED;
			switch (rnd_to(&x, 40)) {
			case 5:
				assert_int_equal(model_add_tail(r->model, c.tgid, c.inc, c.tid,
								c.arrive_ns, c.detail),
						 0);
				break;
			case 0:
				assert_int_equal(model_end_thread(r->model, c.tgid, c.inc, c.tid,
								  c.arrive_ns, "\x1b[31m"),
						 0);
				break;
			case 1:
				assert_int_equal(
					model_end_process(r->model, c.tgid, c.inc, c.arrive_ns), 0);
				break;
			case 2:
				assert_int_equal(model_add_thread(r->model, c.tgid, c.inc, c.tid,
								  c.arrive_ns),
						 0);
				break;
			case 3:
				assert_int_equal(model_advance(r->model, 10 * i), 0);
				break;
			case 4:
				assert_int_equal(model_add_pending(r->model, c.tgid, c.inc, c.tid,
								   c.object, c.arrive_ns),
						 0);
				break;
			default:
				assert_int_equal(model_add_crossing(r->model, &c), 0);
				fed++;
			}
		}
		assert_int_equal(model_finish(r->model, 300000), 0);
		assert_int_equal(model_totals(r->model)->crossings, fed);
		for (i = 0, n = 0; i < model_nbarriers(r->model); i++)
			n += model_barrier(r->model, i)->crossings;
		assert_true(n <= fed);
		run_free(r);
	}
}

/* There are more objects than the model keeps. Idle objects are closed, and all are counted. */
static void test_many_objects(void **state)
{
	const uint32_t n = 70000;
	struct run *r = *state;

	for (uint32_t i = 0; i < n; i++)
		cross(r, 1, 0x1000 + 64ULL * i, 2, 10 * i, 10 * i + 5);
	assert_true(r->nkept >= n - 65536);
	assert_int_equal(model_finish(r->model, 10ULL * n), 0);
	assert_int_equal(r->nkept, n);
	assert_int_equal(model_totals(r->model)->incomplete, n);
	assert_int_equal(model_nbarriers(r->model), 1);
	assert_int_equal(model_barrier(r->model, 0)->objects, 2);
}

/* There are more call sites than the model keeps. The rest share one row. */
static void test_many_sites(void **state)
{
	struct run *r = *state;
	struct model_crossing c;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 17000; i++) {
		c = crossing(1, 0x1000, 1, 10 * i, 10 * i + 5);
		c.site = i;
		run_feed(r, c);
	}
	assert_int_equal(model_finish(r->model, 170000), 0);
	assert_true(model_nbarriers(r->model) <= 16385);
	for (uint32_t i = 0; i < model_nbarriers(r->model); i++)
		sum += model_barrier(r->model, i)->episodes;
	assert_int_equal(sum, 17000);
}

/*
 * A program makes a thread for each task. Threads that ended are stored as a sum, and all totals
 * stay the same.
 */
static void test_many_threads(void **state)
{
	const uint32_t n = 150000;
	const struct model_barrier *b;
	const struct model_proc *p;
	struct run *r = *state;
	uint64_t outside = 0, wait = 0, crossings = 0, threads = 0;
	struct model_crossing c;
	uint32_t i, tid;

	for (i = 0; i < n; i++) {
		tid = 1000 + i;
		assert_int_equal(model_add_thread(r->model, PID, INC, tid, 100 * i), 0);
		c = crossing(tid, 0x1000, 2, 100 * i + 10, 100 * i + 31);
		c.seq = 1;
		assert_int_equal(model_add_crossing(r->model, &c), 0);
		c = crossing(1, 0x1000, 2, 100 * i + 30, 100 * i + 32);
		c.seq = i + 1;
		assert_int_equal(model_add_crossing(r->model, &c), 0);
		assert_int_equal(model_end_thread(r->model, PID, INC, tid, 100 * i + 40, NULL), 0);
	}
	assert_int_equal(model_finish(r->model, 100 * n), 0);
	assert_true(model_nthreads(r->model) <= 65536 + 1);
	assert_int_equal(r->nkept, n);
	assert_int_equal(model_totals(r->model)->episodes, n);
	p = model_proc(r->model, 0);
	for (i = 0; i < model_nthreads(r->model); i++) {
		const struct model_thread *t = model_thread(r->model, i);

		if (t->proc == MODEL_NONE || t->tid == 1)
			continue;
		threads++;
		outside += t->outside_ns;
		wait += t->wait_ns;
		crossings += t->crossings;
	}
	assert_int_equal(threads + p->folded.threads, n);
	assert_int_equal(crossings + p->folded.crossings, n);
	assert_int_equal(outside + p->folded.outside_ns, 19ULL * n);
	assert_int_equal(wait + p->folded.wait_ns, 20ULL * n);
	assert_fields(p, IS(nthreads_crossed, n + 1), IS(elapsed_ns, 100 * n));
	b = model_barrier(r->model, 0);
	for (i = 0, wait = 0; i < b->nthreads; i++)
		wait += b->threads[i].wait_ns;
	assert_int_equal(wait, 20ULL * n);
	assert_int_equal(b->wait.sum, 20ULL * n);
}

/* The sequence numbers of crossings wrap around, and nothing is lost. */
static void test_seq_wraps(void **state)
{
	struct run *r = *state;
	struct model_crossing c;

	for (uint32_t i = 0; i < 6; i++) {
		c = crossing(1, 0x1000, 1, 10 * i + 5, 10 * i + 8);
		c.seq = i == 0 ? 1 : UINT32_MAX - 3 + i;
		if (i == 1)
			assert_int_equal(model_advance(r->model, 20), 0);
		assert_int_equal(model_add_crossing(r->model, &c), 0);
	}
	assert_int_equal(model_finish(r->model, 100), 0);
	assert_fields(model_totals(r->model), IS(crossings, 6), IS(episodes, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage), launched_test(test_many_objects),
		launched_test(test_many_sites), launched_test(test_many_threads),
		launched_test(test_seq_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
