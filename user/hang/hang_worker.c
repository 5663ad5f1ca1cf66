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
	bool running; /* .thread exists */
	pthread_mutex_t lock;
	pthread_cond_t more;
	/* Protected by .lock: */
	struct hang_job *job; /* running, or done and not yet taken back; NULL: none */
	bool done, stop;
};

int hang_job_new(uint32_t nbarriers, struct hang_job **out)
{
	struct hang_job *job = calloc(1, sizeof(*job));

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
	hang_job_free(job);
	*out = NULL;
	return -ENOMEM;
}

void hang_job_free(struct hang_job *job)
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

/* The thread's own lookup of names for addresses: the tracer's is not safe for two threads. */
struct lookup {
	struct symbol_server *symbols;
	struct modules *modules;
	struct address_spaces *spaces;
	struct snapshots *snapshots;
	struct hang_collect *hang_collect;
};

static int lookup_open(struct lookup *r, bool debuginfod)
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

static void lookup_close(struct lookup *r)
{
	hang_collect_free(r->hang_collect);
	snapshots_free(r->snapshots);
	address_spaces_free(r->spaces);
	modules_free(r->modules);
	symbol_server_free(r->symbols);
}

static void do_job(struct lookup *r, struct hang_job *job, bool debuginfod)
{
	struct hang_collect_answer *answer = NULL;
	uint32_t i;

	job->look_err = lookup_open(r, debuginfod);
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
	struct lookup lookup = { 0 };

	/*
	 * The main thread runs at a higher priority. Return to the normal priority, so that the
	 * thread that reads records is not delayed. On Linux, setpriority() affects only this
	 * thread.
	 */
	if (setpriority(PRIO_PROCESS, 0, 0))
		msg_verbose(false, "cannot lower the priority of the thread that examines hangs");
	pthread_mutex_lock(&l->lock);
	while (!l->stop) {
		if (!l->job || l->done) {
			pthread_cond_wait(&l->more, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		do_job(&lookup, l->job, l->debuginfod);
		pthread_mutex_lock(&l->lock);
		l->done = true;
		pthread_cond_broadcast(&l->more);
	}
	pthread_mutex_unlock(&l->lock);
	lookup_close(&lookup);
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
	hang_job_free(l->job);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->more);
	free(l);
}

/* Start the thread with all signals blocked: they are for the main thread. */
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

int hang_worker_start(struct hang_worker *l, struct hang_job *job)
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

struct hang_job *hang_worker_take(struct hang_worker *l, bool wait)
{
	struct hang_job *job = NULL;

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
