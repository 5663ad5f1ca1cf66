// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Barriers in C++ functions with names that are long even without template arguments and
 * parameters. The last thread is always late. Prints the number of rounds.
 */
#include <cstdio>
#include <map>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <vector>

#define THREADS 4
#define ROUNDS	20

static pthread_barrier_t barrier;

namespace solver_for_systems_of_equations_with_very_many_unknowns
{
namespace exchange_of_boundary_values_between_neighbouring_partitions
{
template <class Key, class Value> struct communicator_of_partitions_that_are_neighbours {
	__attribute__((noinline)) int
	synchronise_before_the_next_iteration(const std::map<Key, Value> &values)
	{
		pthread_barrier_wait(&barrier);
		return (int)values.size();
	}
};
} // namespace exchange_of_boundary_values_between_neighbouring_partitions
} // namespace solver_for_systems_of_equations_with_very_many_unknowns

/* Without template arguments and parameters, nothing of the name can be left out. */
extern "C" __attribute__((noinline)) int
synchronise_all_threads_of_the_team_before_they_exchange_the_values_at_the_boundaries_of_their_partitions_and_begin_the_next_iteration_of_the_solver_of_the_system_of_equations_all_at_once(
	int i)
{
	pthread_barrier_wait(&barrier);
	return i;
}

using namespace solver_for_systems_of_equations_with_very_many_unknowns::
	exchange_of_boundary_values_between_neighbouring_partitions;

static void *run(void *arg)
{
	communicator_of_partitions_that_are_neighbours<std::string,
						       std::vector<std::map<int, std::string>>>
		c;
	std::map<std::string, std::vector<std::map<int, std::string>>> values;
	volatile int sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if ((long)arg == THREADS - 1)
			usleep(2000);
		sum += synchronise_all_threads_of_the_team_before_they_exchange_the_values_at_the_boundaries_of_their_partitions_and_begin_the_next_iteration_of_the_solver_of_the_system_of_equations_all_at_once(
			i);
		sum += c.synchronise_before_the_next_iteration(values);
	}
	return nullptr;
}

int main()
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, nullptr, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], nullptr, run, (void *)i))
			return 1;
	for (auto t : threads)
		pthread_join(t, nullptr);
	printf("rounds %d\n", ROUNDS);
	return 0;
}
