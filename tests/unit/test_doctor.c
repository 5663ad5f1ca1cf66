// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check how the doctor turns findings into states, replacements, remedies and the verdict. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "doctor/doctor.h"

static const char *const capabilities[] = { "CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE",
					    "CAP_CHECKPOINT_RESTORE", "CAP_SYS_ADMIN" };
#define NRIGHTS 5
#define NNEEDED 2

/* A recent kernel, run by root, that lacks only a PMU. */
static void all_well(struct doctor_facts *x)
{
	memset(x, 0, sizeof(*x)); /* an outcome of 0 means success */
	snprintf(x->release, sizeof(x->release), "6.18.44");
	snprintf(x->arch, sizeof(x->arch), "x86_64");
	x->cpus = 2;
	for (uint32_t i = 0; i < NRIGHTS; i++) {
		x->rights[i].name = capabilities[i];
		x->rights[i].why = "for a reason";
		x->rights[i].there = true;
		x->rights[i].needed = i < NNEEDED;
	}
	x->nrights = NRIGHTS;
	x->first_pidns = x->first_userns = x->numbers = x->filters = 1;
	x->signal = x->vma = x->throttle = x->accounts = x->software = x->syscalls = 1;
	x->bpf_sysctl = x->paranoid = 2;
	snprintf(x->method, sizeof(x->method), "session");
	snprintf(x->software_names, sizeof(x->software_names), "task-clock");
	snprintf(x->hardware_why, sizeof(x->hardware_why), "there is no PMU");
	x->crossing_ns = 900;
	x->other = 77;
	x->files = 20000;
}

static struct doctor *diagnose(const struct doctor_facts *x)
{
	struct doctor *d = malloc(sizeof(*d));

	assert_non_null(d);
	doctor_diagnose(x, d);
	return d;
}

/* Replace a diagnosis by another one. */
static void diagnose_again(const struct doctor_facts *x, struct doctor **d)
{
	free(*d);
	*d = diagnose(x);
}

static const struct doctor_feature *feature(const struct doctor *d, const char *name)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!strcmp(d->features[i].name, name))
			return &d->features[i];
	fail_msg("there is no feature %s", name);
	return NULL;
}

/* Check that each problem has a remedy, and that each replacement is named. */
static void check_sound(const struct doctor *d)
{
	assert_true(d->n > 30 && d->n < DOCTOR_FEATURES - 1);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct doctor_feature *f = &d->features[i];

		assert_true(*f->found);
		if (f->state == DOCTOR_INSTEAD && !*f->instead)
			fail_msg("%s: what is used instead?", f->name);
		if (f->state == DOCTOR_NO && !*f->remedy)
			fail_msg("%s: what is to be done?", f->name);
		if (f->state == DOCTOR_YES && (*f->instead || *f->remedy))
			fail_msg("%s is there", f->name);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(f->name, d->features[j].name);
	}
	assert_true((d->verdict.state == DOCTOR_YES) == !*d->verdict.found);
}

static void test_all_well(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	d = diagnose(&x);
	check_sound(d);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	assert_says(feature(d, "uprobe.session")->found, "in use");
	assert_says(feature(d, "sbt-trace's programs")->found, "0.90 us");
	assert_fields(feature(d, "hardware counters"), IS(state, DOCTOR_INSTEAD),
		      HAS(instead, "task-clock"));
	assert_int_equal(feature(d, "MPI")->state, DOCTOR_UNKNOWN);
}

static void test_nothing_known(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.first_pidns = x.first_userns = x.bpf_sysctl = x.yama = x.seccomp = DOCTOR_UNTRIED;
	x.map = x.program = x.ring = x.btf = x.throttle = x.perf = DOCTOR_UNTRIED;
	x.syscalls = x.registers = x.samples = DOCTOR_UNTRIED;
	x.perf_exit = x.cookies = x.multi = x.multi_exit = DOCTOR_UNTRIED;
	x.session = x.filters = x.numbers = x.signal = x.vma = x.trial = DOCTOR_UNTRIED;
	x.accounts = x.iterator = x.hardware = x.software = x.other = DOCTOR_UNTRIED;
	x.other_maps = x.other_files = x.other_memory = x.child_memory = DOCTOR_UNTRIED;
	x.stop = x.cgroup_id = x.mappings = DOCTOR_UNTRIED;
	d = diagnose(&x);
	assert_int_equal(d->verdict.state, DOCTOR_NO);
	assert_int_equal(feature(d, "bpf()")->state, DOCTOR_UNKNOWN);
	assert_int_equal(feature(d, "uprobe.session")->state, DOCTOR_UNKNOWN);
	assert_int_equal(feature(d, "scheduler events")->state, DOCTOR_UNKNOWN);
	assert_int_equal(feature(d, "software events")->state, DOCTOR_UNKNOWN);
	check_sound(d);
}

static void test_rights(void **state)
{
	struct doctor_facts x;
	struct doctor *d;

	for (uint32_t i = 0; i < NNEEDED; i++) {
		all_well(&x);
		x.rights[i].there = false;
		x.trial = x.accounts = x.iterator = DOCTOR_UNTRIED;
		d = diagnose(&x);
		check_sound(d);
		assert_fields(&d->verdict, IS(state, DOCTOR_NO), HAS(found, "is missing"),
			      HAS(remedy, "sudo"));
		x.root = true;
		diagnose_again(&x, &d);
		assert_says(d->verdict.remedy, "root lacks them here");
		for (uint32_t j = 0; j < NRIGHTS; j++)
			assert_int_equal(strstr(d->verdict.found, capabilities[j]) != NULL, i == j);
		assert_says(feature(d, capabilities[i])->remedy, capabilities[i] + 4);
		free(d);
	}
	all_well(&x);
	x.rights[0].there = x.rights[1].there = x.rights[2].there = false;
	x.map = x.program = -EPERM;
	d = diagnose(&x);
	assert_string_equal(d->verdict.found, "CAP_BPF and CAP_PERFMON are missing");
	assert_int_equal(feature(d, "bpf()")->state, DOCTOR_NO);
	free(d);
	/*
	 * A right that only one feature needs is reported with that feature, and a trace is
	 * possible.
	 */
	for (uint32_t i = NNEEDED; i < NRIGHTS; i++) {
		all_well(&x);
		x.rights[i].there = false;
		d = diagnose(&x);
		check_sound(d);
		assert_int_equal(d->verdict.state, DOCTOR_YES);
		assert_fields(feature(d, capabilities[i]), IS(state, DOCTOR_NO),
			      HAS(found, "missing"));
		free(d);
	}
}

static void test_namespaces(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.numbers = x.first_pidns = 0;
	x.trial = DOCTOR_UNSEEN;
	d = diagnose(&x);
	check_sound(d);
	assert_fields(&d->verdict, IS(state, DOCTOR_NO), HAS(found, "PID namespace"),
		      HAS(remedy, "--pid=host"));
	assert_says(feature(d, "sbt-trace's programs")->found, "never hit");
	free(d);

	/*
	 * The PID namespace does not have the number that the first one has on usual kernels. This
	 * does not matter, because BPF programs see the same process numbers as sbt-trace.
	 */
	all_well(&x);
	x.first_pidns = 0;
	d = diagnose(&x);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	free(d);

	all_well(&x);
	x.first_userns = 0;
	x.map = x.program = x.trial = -EPERM;
	d = diagnose(&x);
	assert_says(d->verdict.found, "user namespace");
	assert_says(feature(d, "bpf()")->remedy, "user namespace");
}

static void test_lockdown_and_seccomp(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	snprintf(x.lockdown, sizeof(x.lockdown), "confidentiality");
	x.trial = -EPERM;
	d = diagnose(&x);
	assert_says(d->verdict.found, "lockdown: confidentiality");
	free(d);

	snprintf(x.lockdown, sizeof(x.lockdown), "integrity");
	x.map = -EPERM;
	x.seccomp = 2;
	d = diagnose(&x);
	check_sound(d);
	assert_int_equal(feature(d, "lockdown")->state, DOCTOR_YES);
	assert_says(d->verdict.remedy, "seccomp");
	x.seccomp = 0;
	diagnose_again(&x, &d);
	assert_says(d->verdict.remedy, "security module");
}

/* The kernel only has perf uprobes, without cookies. */
static void test_5_10(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	snprintf(x.release, sizeof(x.release), "5.10.0-32-cloud-amd64");
	snprintf(x.method, sizeof(x.method), "perf");
	x.session = x.multi = x.multi_exit = x.cookies = -EINVAL;
	x.filters = DOCTOR_UNTRIED;
	x.vma = 0;
	x.cpus = 64;
	d = diagnose(&x);
	check_sound(d);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	assert_fields(feature(d, "uprobe.session"), IS(state, DOCTOR_INSTEAD),
		      HAS(instead, "perf uprobes"), HAS(remedy, "6.13"));
	assert_says(feature(d, "uprobe.multi")->remedy, "6.6");
	assert_says(feature(d, "attach cookies")->remedy, "5.15");
	assert_says(feature(d, "perf uprobe")->found, "in use");
	assert_says(feature(d, "names of mappings")->remedy, "5.17");
	assert_int_equal(feature(d, "system calls")->state, DOCTOR_YES);
	assert_fields(feature(d, "many CPUs at once"), IS(state, DOCTOR_INSTEAD),
		      HAS(remedy, "6.14"));
	x.cpus = 8;
	diagnose_again(&x, &d);
	assert_int_equal(feature(d, "many CPUs at once")->state, DOCTOR_YES);
}

/* The kernel has uprobe.multi, by process or by thread, but no session. */
static void test_multi(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	snprintf(x.release, sizeof(x.release), "6.8.0");
	snprintf(x.method, sizeof(x.method), "multi");
	x.session = -EINVAL;
	x.filters = 0;
	d = diagnose(&x);
	check_sound(d);
	assert_says(feature(d, "uprobe.session")->instead, "uprobe.multi");
	assert_says(feature(d, "uprobe.multi")->found, "in use");
	assert_fields(feature(d, "probes of one process"), IS(state, DOCTOR_INSTEAD),
		      HAS(remedy, "6.12"));
}

/* The kernel has all features, but refuses the programs. */
static void test_refused(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.trial = -EINVAL;
	*x.method = '\0';
	x.accounts = x.iterator = DOCTOR_UNTRIED;
	snprintf(x.trial_log, sizeof(x.trial_log), "the verifier's word");
	d = diagnose(&x);
	check_sound(d);
	assert_fields(&d->verdict, IS(state, DOCTOR_NO), HAS(found, "the verifier's word"),
		      HAS(remedy, "another kernel"));
	assert_fields(feature(d, "uprobe.session"), IS(state, DOCTOR_YES), LACKS(found, "used"));
	free(d);

	/* The kernel refuses only the session, and tracing works without it. */
	x.trial = 0;
	x.accounts = 1;
	x.iterator = 0;
	snprintf(x.method, sizeof(x.method), "multi");
	snprintf(x.method_why, sizeof(x.method_why), "session: Invalid argument");
	d = diagnose(&x);
	check_sound(d);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	assert_fields(feature(d, "uprobe.session"), IS(state, DOCTOR_INSTEAD),
		      HAS(instead, "multi"));
}

static void test_died(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.trial = -EINTR;
	x.trial_signal = 11;
	d = diagnose(&x);
	assert_fields(&d->verdict, IS(state, DOCTOR_NO), HAS(found, "signal 11"));
}

static void test_limits(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.files = 40;
	x.trial = -EMFILE;
	d = diagnose(&x);
	check_sound(d);
	assert_says(d->verdict.remedy, "ulimit -Hn");
	assert_int_equal(feature(d, "open files")->state, DOCTOR_NO);
	free(d);

	x.trial = 0;
	x.files = 300;
	d = diagnose(&x);
	check_sound(d);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	assert_int_equal(feature(d, "open files")->state, DOCTOR_INSTEAD);
	free(d);

	/*
	 * On Linux 5.10, the ring is the first allocation that the limit of locked memory refuses.
	 */
	all_well(&x);
	x.ring = x.trial = -EPERM;
	d = diagnose(&x);
	assert_fields(&d->verdict, HAS(found, "ring buffer"), HAS(remedy, "ulimit -l"));
}

static void test_old_or_bare(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.map = -ENOSYS;
	d = diagnose(&x);
	assert_says(d->verdict.remedy, "CONFIG_BPF_SYSCALL");
	x.map = 0;
	x.btf = -ENOENT;
	diagnose_again(&x, &d);
	assert_says(d->verdict.remedy, "CONFIG_DEBUG_INFO_BTF");
	x.btf = 0;
	x.accounts = 0;
	snprintf(x.accounts_why, sizeof(x.accounts_why), "it cannot be accounted for");
	diagnose_again(&x, &d);
	check_sound(d);
	assert_int_equal(d->verdict.state, DOCTOR_YES);
	assert_int_equal(feature(d, "scheduler events")->state, DOCTOR_INSTEAD);
}

static void test_hangs(void **state)
{
	struct doctor_facts x;
	struct doctor *d CLEANUP_PTR(free);

	all_well(&x);
	x.registers = -EINVAL;
	x.samples = -EACCES;
	x.rights[1].there = false;
	snprintf(x.registers_why, sizeof(x.registers_why), "no iterator");
	d = diagnose(&x);
	check_sound(d);
	assert_fields(feature(d, "stacks of blocked threads"), HAS(found, "no iterator"),
		      HAS(instead, "/proc"));
	assert_says(feature(d, "stacks of running threads")->remedy, "CAP_PERFMON");
}

static void test_release(void **state)
{
	assert_true(doctor_release_from("6.14.0", 6, 14));
	assert_true(doctor_release_from("7.2.13+deb14", 6, 14));
	assert_true(doctor_release_from("6.18", 6, 14));
	assert_false(doctor_release_from("6.13.9", 6, 14));
	assert_false(doctor_release_from("5.19.0", 6, 1));
	assert_true(doctor_release_from("nonsense", 6, 1));
}

/* The same message is in the doctor's table and at the start of a trace. */
static void test_cpus(void **state)
{
	struct doctor_facts x;
	struct doctor *d;
	char why[200] = "";

	all_well(&x);
	x.cpus = 16;
	assert_false(doctor_cpus_wait(&x, why, sizeof(why))); /* Linux 6.18 */
	assert_string_equal(why, "");
	snprintf(x.release, sizeof(x.release), "6.12.94+deb13-amd64");
	assert_true(doctor_cpus_wait(&x, why, sizeof(why)));
	assert_says(why, "16 CPUs: before Linux 6.14");
	d = diagnose(&x);
	assert_string_equal(feature(d, "many CPUs at once")->found, why);
	free(d);
	x.cpus = 8;
	assert_false(doctor_cpus_wait(&x, why, sizeof(why)));
	x.cpus = 0; /* unknown */
	x.release[0] = 0;
	assert_false(doctor_cpus_wait(&x, why, sizeof(why)));
}

/* --- messages of libbpf -------------------------------------------------------------------- */

static void check_log(const char *log, const char *expected)
{
	char out[256];

	doctor_read_log(log, out, sizeof(out));
	assert_string_equal(out, expected);
}

static void test_log(void **state)
{
	check_log("", "");
	check_log("\n", "");
	check_log("libbpf: failed to load object 'sbt_bpf'\n", "");
	/* a message of Linux 7.2 */
	check_log("libbpf: extern (func ksym) 'f': func_proto [273] incompatible with kernel\n"
		  "libbpf: failed to load object 'sbt_bpf'\n"
		  "libbpf: failed to load BPF skeleton 'sbt_bpf': -22\n",
		  "extern (func ksym) 'f': func_proto [273] incompatible with kernel");
	/* a message of Linux 6.12 */
	check_log("libbpf: prog 'one': BPF program load failed: Permission denied\n"
		  "libbpf: prog 'one': -- BEGIN PROG LOAD LOG --\n"
		  "1: (85) call bpf_session_is_return#56551\n"
		  "calling kernel function bpf_session_is_return is not allowed\n"
		  "processed 2 insns (limit 1000000) max_states_per_insn 0\n"
		  "-- END PROG LOAD LOG --\n"
		  "libbpf: prog 'one': failed to load: -13\n"
		  "libbpf: failed to load object 'sbt_bpf'\n",
		  "the kernel's verifier refuses one: calling kernel function "
		  "bpf_session_is_return is not allowed");
	/* Too many open files: the verifier printed nothing. */
	check_log("libbpf: prog 'one': BPF program load failed: Too many open files\n"
		  "libbpf: prog 'one': -- BEGIN PROG LOAD LOG --\n"
		  "processed 2 insns (limit 1000000)\n"
		  "-- END PROG LOAD LOG --\n"
		  "libbpf: prog 'one': failed to load: -24\n",
		  "prog 'one': BPF program load failed: Too many open files");
	/* Both the beginning and the end of the message are cut off. */
	check_log("R0 !read_ok\n-- END PROG LOAD LOG --\n",
		  "the kernel's verifier refuses a program: R0 !read_ok");
	check_log("R0 !read_ok", "R0 !read_ok");
	check_log("-- END PROG LOAD LOG --\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_well),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_lockdown_and_seccomp),
		cmocka_unit_test(test_5_10),
		cmocka_unit_test(test_multi),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_died),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_old_or_bare),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
