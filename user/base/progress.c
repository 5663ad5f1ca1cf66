// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define QUIET_NS  500000000ULL
#define REDRAW_NS 250000000ULL
#define DEPTH_MAX 4
#define TEXT_MAX  256

struct progress {
	int fd;
	bool started; /* the thread that draws the line runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* The following members are protected by `lock`. */
	bool quit, shown;
	uint32_t depth; /* number of nested pieces of work that are in progress; 0: none */
	uint64_t since_ns; /* start of the outermost piece of work, ns of CLOCK_MONOTONIC */
	char text[DEPTH_MAX][TEXT_MAX];
};

struct progress *progress_new(int fd)
{
	const char *term = getenv("TERM");
	pthread_condattr_t attr;
	struct progress *p;

	if (!isatty(fd) || !term || !*term || !strcmp(term, "dumb"))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->fd = fd;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	return p;
}

/* Write, and ignore errors, because a lost progress line does no harm. */
static void put(const struct progress *p, const char *s, size_t len)
{
	if (write(p->fd, s, len) < 0)
		return;
}

static uint32_t columns(const struct progress *p)
{
	struct winsize size;

	if (ioctl(p->fd, TIOCGWINSZ, &size) || size.ws_col < 2)
		return 80;
	return size.ws_col;
}

/*
 * Return how many bytes of @s fit into a line of @columns columns, if each character takes one
 * column. The last column stays free so that the line does not wrap.
 */
static size_t fitting(const char *s, uint32_t columns)
{
	size_t at = 0, len = strlen(s), step;
	uint32_t code;

	while (at < len && --columns) {
		step = text_utf8((const uint8_t *)s + at, len - at, &code);
		at += step ? step : 1;
	}
	return at;
}

/* Draw the line and return the cursor to its beginning, so that the next output overwrites it. */
static void draw(struct progress *p, uint64_t now)
{
	uint32_t at = p->depth && p->depth < DEPTH_MAX ? p->depth - 1 : DEPTH_MAX - 1;
	char line[TEXT_MAX + 64], out[TEXT_MAX + 96];
	int n;

	snprintf(line, sizeof(line), "sbt-trace: %s ... %llu s", p->text[at],
		 (unsigned long long)((now - p->since_ns) / 1000000000u));
	n = snprintf(out, sizeof(out), "\r%.*s\033[K\r", (int)fitting(line, columns(p)), line);
	p->shown = true;
	put(p, out, (size_t)n);
}

static void erase(struct progress *p)
{
	if (p->shown)
		put(p, "\r\033[K", 4);
	p->shown = false;
}

static void *run(void *arg)
{
	struct progress *p = arg;
	struct timespec until;
	uint64_t next, now;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		if (!p->depth) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		now = now_ns();
		next = p->since_ns + QUIET_NS;
		if (now >= next) {
			draw(p, now);
			next = now + REDRAW_NS;
		}
		until.tv_sec = (time_t)(next / 1000000000u);
		until.tv_nsec = (long)(next % 1000000000u);
		pthread_cond_timedwait(&p->changed, &p->lock, &until);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/*
 * Start the thread that draws the line. All signals are blocked in it, so that other threads handle
 * them. If the thread cannot be started, there is no progress line.
 */
static void start(struct progress *p)
{
	sigset_t all, before;

	if (p->started)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p->started = !pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_begin(struct progress *p, const char *fmt, ...)
{
	char text[TEXT_MAX], *printable;
	va_list args;

	if (!p)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(args);
	printable = text_printable(text);
	start(p);
	pthread_mutex_lock(&p->lock);
	if (!p->depth)
		p->since_ns = now_ns();
	if (p->depth < DEPTH_MAX)
		snprintf(p->text[p->depth], TEXT_MAX, "%s", printable ? printable : "");
	p->depth++;
	/*
	 * Wake the thread only for the outermost piece of work. The text of a nested piece is shown
	 * when the line is next redrawn.
	 */
	if (p->depth == 1)
		pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	free(printable);
}

void progress_end(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->depth && !--p->depth)
		erase(p);
	pthread_mutex_unlock(&p->lock);
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	erase(p);
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (p->started)
		pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
