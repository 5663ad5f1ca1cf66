// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_check.h"
#include "target/job.h"

#define PARSE(text, job) job_parse(text, sizeof(text), job)

static void test_openmpi(void **state)
{
	struct job job, other;

	PARSE("HOME=/"
	      "\0OMPI_COMM_WORLD_RANK=3\0OMPI_COMM_WORLD_SIZE=8\0OMPI_COMM_WORLD_LOCAL_RANK=1\0"
	      "OMPI_COMM_WORLD_LOCAL_SIZE=4\0PMIX_NAMESPACE=650248193",
	      &job);
	assert_fields(&job, IS(rank, 3), IS(size, 8), IS(local_rank, 1), IS(local_size, 4),
		      IS(by_proxy, false));
	assert_true(job.key != 0);
	PARSE("OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_SIZE=8\0PMIX_NAMESPACE=650248193", &other);
	assert_true(job.key == other.key);
	PARSE("OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_SIZE=8\0PMIX_NAMESPACE=650248194", &other);
	assert_true(job.key != other.key);
	assert_int_equal(other.local_size, JOB_NONE);
}

static void test_hydra(void **state)
{
	struct job job;

	PARSE("PMI_RANK=1\0PMI_SIZE=2\0MPI_LOCALRANKID=1\0MPI_LOCALNRANKS=2\0PMI_FD=8", &job);
	assert_fields(&job, IS(rank, 1), IS(size, 2), IS(by_proxy, true));
	assert_true(job.key == 0);
	/*
	 * Under Slurm, two mpiruns may share the job's number, so the launcher's proxy identifies
	 * the job.
	 */
	PARSE("PMI_RANK=1\0PMI_SIZE=2\0PMI_FD=8\0SLURM_JOB_ID=7", &job);
	assert_true(job.by_proxy);
}

static void test_none_and_hostile(void **state)
{
	struct job job;

	PARSE("HOME=/\0XPMI_RANK=1", &job);
	assert_int_equal(job.rank, JOB_NONE);
	assert_true(job.key == 0 && !job.by_proxy);
	job_parse("", 0, &job);
	assert_int_equal(job.rank, JOB_NONE);
	/* A string without an end is not a value. */
	job_parse("PMI_RANK=1", 10, &job);
	assert_int_equal(job.rank, JOB_NONE);
	PARSE("PMI_RANK=-1\0PMI_SIZE=2", &job);
	assert_int_equal(job.rank, JOB_NONE);
	PARSE("PMI_RANK=99999999999999999999\0PMI_SIZE=2", &job);
	assert_int_equal(job.rank, JOB_NONE);
	PARSE("PMI_RANK=1x\0PMI_SIZE=2", &job);
	assert_int_equal(job.rank, JOB_NONE);
	/* The rank exceeds the size, so the size is wrong. */
	PARSE("PMI_RANK=5\0PMI_SIZE=2\0PMIX_NAMESPACE=a", &job);
	assert_fields(&job, IS(rank, 5), IS(size, JOB_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmpi),
		cmocka_unit_test(test_hydra),
		cmocka_unit_test(test_none_and_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
