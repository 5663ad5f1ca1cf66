// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/hang_worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/msg.h"
#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

struct hang_worker {
	bool debuginfod;
	pthread_t thread;
	bool running; /* the thread */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct errand *job; /* under way, or done and not yet taken back; under the lock: */
	bool done, stop;
};

int errand_new(uint32_t nbarriers, struct errand **out)
{
	struct errand *job = calloc(1, sizeof(*job));

	*out = job;
	if (!job)
		return -ENOMEM;
	job->question.barriers = calloc(nbarriers, sizeof(*job->question.barriers));
	job->which = calloc(nbarriers, sizeof(*job->which));
	job->known = calloc(nbarriers, sizeof(*job->known));
	job->out = calloc(nbarriers, sizeof(*job->out));
	job->err = calloc(nbarriers, sizeof(*job->err));
	if (job->question.barriers && job->which && job->known && job->out && job->err)
		return 0;
	errand_free(job);
	*out = NULL;
	return -ENOMEM;
}

void errand_free(struct errand *job)
{
	uint32_t i;

	if (!job)
		return;
	hang_collect_question_free(&job->question);
	for (i = 0; job->out && i < job->n; i++)
		report_hang_free(&job->out[i]);
	free(job->which);
	free(job->known);
	free(job->out);
	free(job->err);
	free(job);
}

/* Its own way back from addresses to names: the tracer's is not for two threads. */
struct rooms {
	struct symbol_server *symbols;
	struct modules *modules;
	struct address_spaces *spaces;
	struct snapshots *snapshots;
	struct hang_collect *hang_collect;
};

static int rooms_open(struct rooms *r, bool debuginfod)
{
	struct symbol_options so = { .debuginfod = debuginfod };
	int err;

	if (r->hang_collect)
		return 0;
	err = r->symbols ? 0 : symbol_server_new(&so, &r->symbols);
	if (!err && !r->modules)
		err = modules_new(NULL, r->symbols, &r->modules);
	if (!err && !r->spaces)
		err = address_spaces_new(r->modules, r->symbols, &r->spaces);
	if (!err && !r->snapshots)
		err = snapshots_new(r->spaces, &r->snapshots);
	return err ? err : hang_collect_new(r->spaces, r->snapshots, &r->hang_collect);
}

static void rooms_close(struct rooms *r)
{
	hang_collect_free(r->hang_collect);
	snapshots_free(r->snapshots);
	address_spaces_free(r->spaces);
	modules_free(r->modules);
	symbol_server_free(r->symbols);
}

static void do_job(struct rooms *r, struct errand *job, bool debuginfod)
{
	struct hang_collect_answer *answer = NULL;
	uint32_t i;

	job->look_err = rooms_open(r, debuginfod);
	if (!job->look_err)
		job->look_err = hang_collect_look(r->hang_collect, &job->question, &answer);
	for (i = 0; i < job->n; i++)
		job->err[i] = job->look_err
				      ? job->look_err
				      : hang_collect_classify(answer, job->which[i], &job->out[i]);
	hang_collect_answer_free(answer);
}

static void *run_jobs(void *ctx)
{
	struct hang_worker *l = ctx;
	struct rooms rooms = { 0 };

	/* What reads the records goes first; on Linux this is of the thread alone. */
	if (setpriority(PRIO_PROCESS, 0, 0))
		msg_verbose(false, "cannot set the priority");
	pthread_mutex_lock(&l->lock);
	while (!l->stop) {
		if (!l->job || l->done) {
			pthread_cond_wait(&l->more, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		do_job(&rooms, l->job, l->debuginfod);
		pthread_mutex_lock(&l->lock);
		l->done = true;
		pthread_cond_broadcast(&l->more);
	}
	pthread_mutex_unlock(&l->lock);
	rooms_close(&rooms);
	return NULL;
}

int hang_worker_new(bool debuginfod, struct hang_worker **out)
{
	struct hang_worker *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->debuginfod = debuginfod;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->more, NULL);
	return 0;
}

void hang_worker_free(struct hang_worker *l)
{
	if (!l)
		return;
	if (l->running) {
		pthread_mutex_lock(&l->lock);
		l->stop = true;
		pthread_cond_broadcast(&l->more);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	errand_free(l->job);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->more);
	free(l);
}

/* Signals are the first thread's. */
static int start_thread(struct hang_worker *l)
{
	sigset_t all, before;
	int err;

	if (l->running)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&l->thread, NULL, run_jobs, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	l->running = !err;
	return -err;
}

int hang_worker_start(struct hang_worker *l, struct errand *job)
{
	int err = start_thread(l);

	if (err)
		return err;
	pthread_mutex_lock(&l->lock);
	l->job = job;
	l->done = false;
	pthread_cond_broadcast(&l->more);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

bool hang_worker_has(const struct hang_worker *l)
{
	return l->job;
}

struct errand *hang_worker_take(struct hang_worker *l, bool wait)
{
	struct errand *job = NULL;

	if (!l->job)
		return NULL;
	pthread_mutex_lock(&l->lock);
	while (wait && !l->done)
		pthread_cond_wait(&l->more, &l->lock);
	if (l->done) {
		job = l->job;
		l->job = NULL;
		l->done = false;
	}
	pthread_mutex_unlock(&l->lock);
	return job;
}
