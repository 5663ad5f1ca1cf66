// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The facts of a run have two providers: the session that traces it, and its recording. The
 * recording must answer every question that the session answers. One list holds all facts. If a
 * fact is missing from the list, the test does not compile.
 */
#include "test_model_util.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/recording.h"
#include "sbt/record.h"
#include "recording/run_facts_file.h"

#define END_NS 5000u
#define CPUS   3

struct both {
	struct report_env live, file;
	struct cause_env live_causes, file_causes;
	const struct model *model;
};

/* --- the session --------------------------------------------------------------------------- */

static const struct site_frame frame = { "work", "x.c", 3, 0 };
static const struct site_name site_name = {
	.nframes = 1, .frames = &frame, .module = "/bin/x", .offset = 77, .function = 70
};
static const struct model_barrier barrier = { .proc = 0, .family = 3, .object = 0x7000 };
static const struct report_loss losses[] = { { "ring_full", "the ring was full", 3 },
					     { "no_slot", "no slot", 0 } };
static const struct report_uncounted uncounted[] = { { "cycles", "the machine has none" } };
static const struct remark remarks[] = { { "clocks", PID, "a clock has jumped" } };
static const struct report_hang hangs[] = {
	{ .id = "#1", .label = "work (x.c:3)", .pid = PID, .since_ns = 4000 }
};
static const char *const counters[] = { "instructions", "cycles" };
static const uint32_t cpu_node[CPUS] = { 0, 0, 1 };

static const struct site_name *live_site(void *ctx, uint32_t site)
{
	(void)ctx;
	return site == 9 ? &site_name : NULL;
}

static const char *live_barrier_name(void *ctx, const struct model_barrier *b)
{
	(void)ctx;
	(void)b;
	return NULL;
}

static const char *live_object_name(void *ctx, const struct model_barrier *b)
{
	(void)ctx;
	return b->object == barrier.object ? "the_object" : NULL;
}

static const char *live_probe_group_name(void *ctx, const struct model_proc *p, uint8_t probe_group)
{
	(void)ctx;
	return p->tgid == PID && probe_group == SBT_PROBE_GROUPS_USER ? "solve" : NULL;
}

static const char *live_exit_detection(void *ctx, const struct model_proc *p)
{
	(void)ctx;
	return p->tgid == PID ? "return probe" : NULL;
}

static const char *live_untraced(void *ctx, const struct model_proc *p)
{
	(void)ctx;
	return p->tgid == PID ? "MPI_Recv" : NULL;
}

static bool live_tasks(void *ctx, const struct model_proc *p)
{
	(void)ctx;
	return p->tgid == PID;
}

static uint64_t live_looks(void *ctx, const struct model_proc *p, uint64_t *paused_ns)
{
	(void)ctx;
	*paused_ns = 600;
	return p->tgid == PID ? 50 : 0;
}

static double live_crossing_cost(void *ctx, const struct model_proc *p)
{
	(void)ctx;
	return p->tgid == PID ? 321.5 : NAN;
}

static const char *live_task(void *ctx, uint32_t tid)
{
	(void)ctx;
	return tid == 4 ? "stress-ng" : NULL;
}

static const char *live_lock(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	(void)ctx;
	return tgid == PID && inc == INC && addr == 0x10 ? "the_lock" : NULL;
}

static const char *live_mapping(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	(void)ctx;
	return tgid == PID && inc == INC && addr == 0x20 ? "[heap]" : NULL;
}

static const char *live_file(void *ctx, uint64_t inode, bool *has_ends)
{
	(void)ctx;
	*has_ends |= inode <= 31;
	return inode == 30 ? CAUSE_PIPE : inode == 31 ? CAUSE_SOCKET : inode == 32 ? "log" : NULL;
}

static uint32_t live_stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
			   uint32_t max)
{
	(void)ctx;
	if (tgid != PID || inc != INC || key != 40 || max < 2)
		return 0;
	sites[0] = 9;
	sites[1] = 8;
	return 2;
}

static struct report_env live_facts(void)
{
	struct report_env env = {
		.crossing_cost_ns = 400,
		.switch_cost_ns = 500,
		.switches_cost_ns = 600,
		.rested_ns = 700,
		.sampling = { 900, 3, 450000 },
		.tracer_cpu_ns = 800,
		.for_all = true,
		.produced = 1000,
		.consumed = 990,
		.losses = losses,
		.nlosses = 2,
		.uncounted = uncounted,
		.nuncounted = 1,
		.hangs = hangs,
		.nhangs = 1,
		.remarks = remarks,
		.nremarks = 1,
		.ncounters = 2,
		.counters = counters,
		.ncpus = CPUS,
		.cpu_node = cpu_node,
		.ncpu_node = CPUS,
		.end_ns = END_NS,
	};

#define ANSWER(question) env.question = live_##question;
	REPORT_QUESTIONS(ANSWER)
#undef ANSWER
	return env;
}

static struct cause_env live_causes(void)
{
	struct cause_env env = { .instructions = 0, .cycles = 1 };

#define ANSWER(question) env.question = live_##question;
	CAUSE_QUESTIONS(ANSWER)
#undef ANSWER
	return env;
}

/* --- how each fact is compared ------------------------------------------------------------- */

#define SAME_NUMBER(b, member) assert_true((b)->live.member == (b)->file.member)

/* Compare the answers of both providers to the same question. */
#define SAME_TEXT(b, member, ...)                                         \
	assert_string_equal((b)->live.member((b)->live.ctx, __VA_ARGS__), \
			    (b)->file.member((b)->file.ctx, __VA_ARGS__))

static void same_site(const struct both *b)
{
	const struct site_name *live = b->live.site(b->live.ctx, 9),
			       *file = b->file.site(b->file.ctx, 9);

	assert_non_null(file);
	assert_string_equal(file->module, live->module);
	assert_int_equal(file->offset, live->offset);
	assert_int_equal(file->function, live->function);
	assert_int_equal(file->nframes, 1);
	assert_string_equal(file->frames[0].function, live->frames[0].function);
}

static void same_object_name(const struct both *b)
{
	SAME_TEXT(b, object_name, &barrier);
}

static void same_probe_group_name(const struct both *b)
{
	SAME_TEXT(b, probe_group_name, model_proc(b->model, 0), SBT_PROBE_GROUPS_USER);
}

static void same_exit_detection(const struct both *b)
{
	SAME_TEXT(b, exit_detection, model_proc(b->model, 0));
}

static void same_untraced(const struct both *b)
{
	SAME_TEXT(b, untraced, model_proc(b->model, 0));
}

static void same_tasks(const struct both *b)
{
	assert_true(b->live.tasks(b->live.ctx, model_proc(b->model, 0)));
	assert_true(b->file.tasks(b->file.ctx, model_proc(b->model, 0)));
}

static void same_looks(const struct both *b)
{
	uint64_t live_ns = 0, file_ns = 0;

	assert_int_equal(b->live.looks(b->live.ctx, model_proc(b->model, 0), &live_ns),
			 b->file.looks(b->file.ctx, model_proc(b->model, 0), &file_ns));
	assert_int_equal(live_ns, file_ns);
}

static void same_crossing_cost(const struct both *b)
{
	assert_true(b->live.crossing_cost(b->live.ctx, model_proc(b->model, 0)) ==
		    b->file.crossing_cost(b->file.ctx, model_proc(b->model, 0)));
}

static void same_sampling(const struct both *b)
{
	assert_memory_equal(&b->file.sampling, &b->live.sampling, sizeof(b->live.sampling));
}

static void same_losses(const struct both *b)
{
	uint32_t i;

	for (i = 0; i < b->live.nlosses; i++) {
		assert_string_equal(b->file.losses[i].cause, b->live.losses[i].cause);
		assert_string_equal(b->file.losses[i].text, b->live.losses[i].text);
		assert_int_equal(b->file.losses[i].count, b->live.losses[i].count);
	}
}

static void same_uncounted(const struct both *b)
{
	assert_string_equal(b->file.uncounted[0].name, b->live.uncounted[0].name);
	assert_string_equal(b->file.uncounted[0].reason, b->live.uncounted[0].reason);
}

static void same_hangs(const struct both *b)
{
	assert_string_equal(b->file.hangs[0].id, b->live.hangs[0].id);
	assert_string_equal(b->file.hangs[0].label, b->live.hangs[0].label);
	assert_int_equal(b->file.hangs[0].pid, b->live.hangs[0].pid);
	assert_int_equal(b->file.hangs[0].since_ns, b->live.hangs[0].since_ns);
}

static void same_remarks(const struct both *b)
{
	assert_string_equal(b->file.remarks[0].kind, b->live.remarks[0].kind);
	assert_string_equal(b->file.remarks[0].text, b->live.remarks[0].text);
	assert_int_equal(b->file.remarks[0].pid, b->live.remarks[0].pid);
}

static void same_causes(const struct both *b)
{
	assert_non_null(b->file.causes);
}

static void same_counters(const struct both *b)
{
	assert_string_equal(b->file.counters[0], b->live.counters[0]);
	assert_string_equal(b->file.counters[1], b->live.counters[1]);
}

static void same_cpu_node(const struct both *b)
{
	assert_memory_equal(b->file.cpu_node, b->live.cpu_node, CPUS * sizeof(cpu_node[0]));
}

static void same_task(const struct both *b)
{
	assert_string_equal(b->file_causes.task(b->file_causes.ctx, 4), "stress-ng");
}

static void same_lock(const struct both *b)
{
	assert_string_equal(b->file_causes.lock(b->file_causes.ctx, PID, INC, 0x10), "the_lock");
}

static void same_mapping(const struct both *b)
{
	assert_string_equal(b->file_causes.mapping(b->file_causes.ctx, PID, INC, 0x20), "[heap]");
}

static void same_file(const struct both *b)
{
	static const char *const names[] = { "a pipe", "a socket", "log" };
	uint64_t i;

	for (i = 0; i < 3; i++) {
		bool has_ends = false;

		assert_string_equal(b->file_causes.file(b->file_causes.ctx, 30 + i, &has_ends),
				    names[i]);
		assert_int_equal(has_ends, i < 2);
	}
}

static void same_stack(const struct both *b)
{
	uint32_t sites[4];

	assert_int_equal(b->file_causes.stack(b->file_causes.ctx, PID, INC, 40, sites, 4), 2);
	assert_int_equal(sites[0], 9);
	assert_int_equal(sites[1], 8);
}

static void same_instructions(const struct both *b)
{
	assert_int_equal(b->file_causes.instructions, b->live_causes.instructions);
}

static void same_cycles(const struct both *b)
{
	assert_int_equal(b->file_causes.cycles, b->live_causes.cycles);
}

/*
 * All members of struct report_env, in their order. For an ASKED fact there is a function above
 * that compares it. A NUMBER fact must be equal. A recording does not keep the OTHER members. They
 * come from the command that prints, from the program itself, or from --aggregate, which cannot be
 * recorded.
 */
#define REPORT_FACTS(ASKED, NUMBER, OTHER) \
	OTHER(ctx)                         \
	ASKED(site)                        \
	OTHER(barrier_name)                \
	ASKED(object_name)                 \
	OTHER(family_name)                 \
	OTHER(kind_name)                   \
	OTHER(probe_group_family)          \
	ASKED(probe_group_name)            \
	ASKED(exit_detection)              \
	ASKED(untraced)                    \
	ASKED(tasks)                       \
	ASKED(looks)                       \
	ASKED(crossing_cost)               \
	NUMBER(crossing_cost_ns)           \
	NUMBER(switch_cost_ns)             \
	NUMBER(switches_cost_ns)           \
	NUMBER(rested_ns)                  \
	ASKED(sampling)                    \
	NUMBER(tracer_cpu_ns)              \
	NUMBER(for_all)                    \
	NUMBER(produced)                   \
	NUMBER(consumed)                   \
	ASKED(losses)                      \
	NUMBER(nlosses)                    \
	ASKED(uncounted)                   \
	NUMBER(nuncounted)                 \
	ASKED(hangs)                       \
	NUMBER(nhangs)                     \
	ASKED(remarks)                     \
	NUMBER(nremarks)                   \
	ASKED(causes)                      \
	OTHER(functions)                   \
	OTHER(conceptual)                  \
	OTHER(openmp)                      \
	NUMBER(ncounters)                  \
	ASKED(counters)                    \
	NUMBER(ncpus)                      \
	ASKED(cpu_node)                    \
	NUMBER(ncpu_node)                  \
	NUMBER(end_ns)                     \
	OTHER(interim)                     \
	NUMBER(cut)                        \
	OTHER(extent)                      \
	OTHER(aggregate)                   \
	OTHER(left_out)

#define CAUSE_FACTS(ASKED, OTHER) \
	OTHER(ctx)                \
	ASKED(task)               \
	ASKED(lock)               \
	ASKED(mapping)            \
	ASKED(file)               \
	ASKED(stack)              \
	ASKED(instructions)       \
	ASKED(cycles)

#define NOTHING(member)	      (__typeof__(any.member)){ 0 },
#define CAUSE_NOTHING(member) (__typeof__(any_cause.member)){ 0 },
#define AT(member)	      offsetof(struct report_env, member),
#define CAUSE_AT(member)      offsetof(struct cause_env, member),

/*
 * If the lists lack a member, its initializer is missing, which is a compile error. If there are as
 * many rows as members and no duplicates, each member has a row.
 */
static void test_lists(void **state)
{
	static const size_t at[] = { REPORT_FACTS(AT, AT, AT) };
	static const size_t causes_at[] = { CAUSE_FACTS(CAUSE_AT, CAUSE_AT) };
	struct report_env any = { 0 };
	struct cause_env any_cause = { 0 };
	const struct report_env all = { REPORT_FACTS(NOTHING, NOTHING, NOTHING) };
	const struct cause_env all_causes = { CAUSE_FACTS(CAUSE_NOTHING, CAUSE_NOTHING) };
	size_t i;

	(void)state;
	(void)any;
	(void)any_cause;
	(void)all;
	(void)all_causes;
	for (i = 1; i < sizeof(at) / sizeof(at[0]); i++)
		assert_true(at[i] > at[i - 1]);
	for (i = 1; i < sizeof(causes_at) / sizeof(causes_at[0]); i++)
		assert_true(causes_at[i] > causes_at[i - 1]);
}

/* --- both ---------------------------------------------------------------------------------- */

/* Ask every question once, as a report does during tracing. */
static void ask(struct report_env *env, struct cause_env *causes, struct recording *r,
		const struct model *model)
{
	uint32_t sites[4];
	bool has_ends = false;
	uint64_t i;

	env->site(env->ctx, 9);
	env->object_name(env->ctx, &barrier);
	env->probe_group_name(env->ctx, model_proc(model, 0), SBT_PROBE_GROUPS_USER);
	recording_process(r, model_proc(model, 0));
	causes->task(causes->ctx, 4);
	causes->lock(causes->ctx, PID, INC, 0x10);
	causes->mapping(causes->ctx, PID, INC, 0x20);
	for (i = 30; i < 33; i++)
		causes->file(causes->ctx, i, &has_ends);
	causes->stack(causes->ctx, PID, INC, 40, sites, 4);
}

static void record_run(int fd, const struct report_env *facts, const struct cause_env *cause_facts)
{
	struct session_counter counted[] = { { counters[0], "hardware", "1" },
					     { counters[1], "hardware", "1" } };
	struct session_probe probe = { .family = "pthread",
				       .binary = "/bin/x",
				       .symbol = "pthread_barrier_wait",
				       .method = "session",
				       .scope = facts->for_all ? "inode" : "process",
				       .insn = "push",
				       .why = "a symbol" };
	struct session session = { .version = "1",
				   .kernel = "6.1",
				   .mode = "command",
				   .nprobes = 1,
				   .probes = &probe,
				   .ncounters = facts->ncounters,
				   .counters = counted,
				   .nuncounted = facts->nuncounted,
				   .uncounted = facts->uncounted };
	struct report_env env = *facts;
	struct cause_env causes = *cause_facts;
	struct model *model = model_new(NULL, 0);
	struct recording *r;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_non_null(model);
	assert_int_equal(recording_open(path, &r), 0);
	recording_listen(r, &env, &causes);
	assert_int_equal(recording_begin(r, model), 0);
	recording_session(r, &session, 0);
	assert_int_equal(recording_keep(r), 0);
	assert_int_equal(model_add_process(model, PID, INC, 0, 0, 0, true, "run"), 0);
	ask(&env, &causes, r, model);
	assert_int_equal(model_finish(model, END_NS), 0);
	recording_names(r);
	recording_ending(r, END_NS);
	assert_int_equal(recording_close(r, false), 0);
	model_free(model);
}

static void replay(struct merge *merge, struct model *model, struct run_facts_file *facts)
{
	struct contents_item item;
	int got;

	assert_int_equal(run_facts_file_begin(facts, merge), 0);
	facts->model = model;
	while ((got = merge_next(merge, &item)) > 0)
		assert_int_equal(model_take(model, &item.input), 0);
	assert_int_equal(got, 0);
	assert_int_equal(run_facts_file_end(facts, END_NS, 0, UINT64_MAX), 0);
}

#define CHECK_ASKED(member)  same_##member(&b);
#define CHECK_NUMBER(member) SAME_NUMBER(&b, member);
#define NO_CHECK(member)

static void test_both_providers(void **state)
{
	struct both b = { .live = live_facts(), .live_causes = live_causes() };
	struct model *model = model_new(NULL, 0);
	struct run_facts_file facts = { 0 };
	struct contents *contents;
	struct merge *merge;
	int fd = memfd_create("facts", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_non_null(model);
	record_run(fd, &b.live, &b.live_causes);
	assert_int_equal(contents_open(fd, &contents), 0);
	assert_int_equal(merge_new(&contents, 1, &merge), 0);
	replay(merge, model, &facts);
	b.model = model;
	b.file = facts.env;
	b.file_causes = facts.cause_env;
	REPORT_FACTS(CHECK_ASKED, CHECK_NUMBER, NO_CHECK)
	CAUSE_FACTS(CHECK_ASKED, NO_CHECK)
	run_facts_file_free(&facts);
	merge_free(merge);
	model_free(model);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_both_providers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
