// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check built-in machines, files of parameters, and their errors. */
#include "test_predict_util.h"

static void expect_wrong(const char *text, const char *sentence)
{
	struct predict_machine m = machine("laptop", NULL);
	char why[256] = "";

	assert_int_equal(predict_machine_parse(&m, text, why, sizeof(why)), -EINVAL);
	if (!strstr(why, sentence))
		fail_msg("\"%s\" says \"%s\", not \"%s\"", text, why, sentence);
}

static void test_built_in(void **state)
{
	struct predict_machine m;
	char why[256];
	unsigned i;

	for (i = 0; predict_machine_name(i); i++) {
		assert_int_equal(predict_machine_find(predict_machine_name(i), &m), 0);
		assert_string_equal(m.name, predict_machine_name(i));
		assert_non_null(predict_machine_text(i));
		assert_int_equal(predict_machine_check(&m, why, sizeof(why)), 0);
	}
	assert_true(i >= 4);
	assert_null(predict_machine_text(i));
	assert_int_equal(predict_machine_find("no such", &m), -ENOENT);
	/* values of table 3 of the paper that test_predict.c names */
	m = machine("cm5", NULL);
	assert_fields(&m, CLOSE(model_time, 5e3), CLOSE(startup_time, 10e3), CLOSE(byte_time, 118),
		      CLOSE(mips_ratio, 0.41));
	/* values of table 1 of that paper */
	m = machine("distributed", NULL);
	assert_fields(&m, CLOSE(entry_time, 5e3), CLOSE(exit_time, 5e3), CLOSE(check_time, 2e3),
		      CLOSE(exit_check_time, 2e3), CLOSE(model_time, 10e3), CLOSE(by_msgs, 1),
		      CLOSE(msg_size, 128));
}

/* All parameters are zero except those that may not be zero. */
static void test_ideal(void **state)
{
	struct predict_machine m = machine("ideal", NULL);
	const struct predict_param *p;

	for (p = predict_params; p->name; p++)
		if (p->unit == PREDICT_TIME || p->unit == PREDICT_TIME_A_BYTE ||
		    p->unit == PREDICT_BYTES)
			assert_close(predict_param_get(&m, p), 0);
	assert_close(m.mips_ratio, 1);
}

static void test_file(void **state)
{
	static const char text[] = "# a machine\n"
				   "machine = my own\n"
				   "like = cm5\r\n"
				   "\n"
				   "  mipsratio=2   # half as fast\n"
				   "BarrierModelTime = 7 \302\265s\n"
				   "ByteTransferTime = 8 MB/s\n"
				   "BarrierMsgSize = 1 KiB\n"
				   "Topology = Ring\n"
				   "Quantum = 0\n"
				   "CoresPerCluster = 4";
	struct predict_machine m = { 0 };
	char why[256] = "";

	if (predict_machine_parse(&m, text, why, sizeof(why)))
		fail_msg("%s", why);
	assert_fields(&m, TEXT(name, "my own"), CLOSE(mips_ratio, 2), CLOSE(model_time, 7e3),
		      CLOSE(byte_time, 125), CLOSE(startup_time, 10e3), /* the value of the CM-5 */
		      CLOSE(msg_size, 1024), CLOSE(topology, PREDICT_RING),
		      CLOSE(cores_per_cluster, 4));
}

static void test_wrong(void **state)
{
	check_cases(
		expect_wrong,
		{ "MipsRatio = 1\nNoSuch = 1", "line 2: there is no parameter NoSuch" },
		{ "MipsRatio", "NAME = VALUE UNIT is expected" },
		{ "MipsRatio =", "MipsRatio is a number" }, { "MipsRatio = 0", "from 1e-06 to" },
		{ "MipsRatio = 1 us", "without a unit" }, { "MipsRatio = nan", "without a unit" },
		{ "MipsRatio = 0x10", "without a unit" }, { "MipsRatio = 1e999", "must be from" },
		{ "MipsRatio = -1", "without a unit" }, { "EntryTime = 5", "a time with its unit" },
		{ "EntryTime = 5 parsec", "a time with its unit" },
		{ "EntryTime = 5000 s", "must be from" },
		{ "ByteTransferTime = 5 us", "bandwidth" },
		{ "BarrierMsgSize = 1e30", "must be from" }, { "BarrierArity = 1", "from 2 to" },
		{ "BarrierArity = 2.5", "a whole number" }, { "BarrierByMsgs = 2", "from 0 to 1" },
		{ "BarrierModel = square", "is one of linear, central" },
		{ "like = no such", "no machine no such is built in" },
		{ "machine =", "a machine's name" }, { "CoresPerCluster = 0", "from 1 to" });
}

static void test_set(void **state)
{
	struct predict_machine m = machine("ideal", NULL);
	char why[256];

	assert_int_equal(predict_machine_set(&m, "", why, sizeof(why)), -EINVAL);
	assert_int_equal(predict_machine_set(&m, "# no", why, sizeof(why)), -EINVAL);
	assert_int_equal(predict_machine_set(&m, "EntryTime=1us\nExitTime=1us", why, sizeof(why)),
			 -EINVAL);
	assert_int_equal(predict_machine_set(&m, "EntryTime=0.5us", why, sizeof(why)), 0);
	assert_close(m.entry_time, 500);
	assert_int_equal(predict_machine_set(&m, "ServicePolicy=poll", why, sizeof(why)), 0);
	assert_int_equal(predict_machine_check(&m, why, sizeof(why)), -EINVAL);
	assert_says(why, "PollInterval");
}

/* Each printed parameter is read back with the same value. */
static void test_printed(void **state)
{
	for (unsigned i = 0; predict_machine_name(i); i++) {
		struct predict_machine a = machine(predict_machine_name(i), NULL),
				       b = machine("ideal", NULL);
		const struct predict_param *p;
		char value[64], line[128], why[256];

		for (p = predict_params; p->name; p++) {
			predict_param_print(&a, p, value, sizeof(value));
			snprintf(line, sizeof(line), "%s = %s", p->name, value);
			if (predict_machine_set(&b, line, why, sizeof(why)))
				fail_msg("%s: %s", line, why);
			assert_close(predict_param_get(&a, p), predict_param_get(&b, p));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_built_in), cmocka_unit_test(test_ideal),
		cmocka_unit_test(test_file),	 cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_set),	 cmocka_unit_test(test_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
