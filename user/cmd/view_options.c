// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/view_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/output.h"
#include "emit/emit.h"

int view_spare(const char *output, const char *const *paths, uint32_t n)
{
	struct stat out, in;
	uint32_t i;

	if (!output || stat(output, &out))
		return 0;
	for (i = 0; i < n; i++) {
		if (stat(paths[i], &in) || in.st_ino != out.st_ino || in.st_dev != out.st_dev)
			continue;
		msg_error("%s is the recording that is to be read: it is not written over", output);
		return -EINVAL;
	}
	return 0;
}

static unsigned width_of(FILE *out)
{
	struct winsize size;

	return !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

int view_print(const struct view_output *o, void (*print)(struct emit *emit, const void *ctx),
	       const void *ctx)
{
	FILE *out = o->path ? output_open(o->path) : stdout;
	struct emit_options options = { .format = o->format };
	struct emit *emit;
	int err;

	if (!out) {
		msg_error("cannot write %s: %s", o->path, strerror(errno));
		return EXIT_FAILED;
	}
	options.colour = isatty(fileno(out)) && !getenv("NO_COLOR");
	options.width = width_of(out);
	emit = emit_new(out, &options);
	if (emit)
		print(emit, ctx);
	err = emit ? emit_free(emit) : -ENOMEM;
	if (o->path && fclose(out) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write %s: %s", o->path ? o->path : "to stdout", strerror(-err));
	return err ? EXIT_FAILED : 0;
}

int view_help(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout)) {
		msg_error("cannot write to stdout: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return 0;
}

int view_percent(const char *s, double *share)
{
	char *end;
	double v;

	if ((*s < '0' || *s > '9') && *s != '.')
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (*end == '%')
		end++;
	if (errno || *end || !isfinite(v))
		return -EINVAL;
	*share = v / 100;
	return 0;
}

int view_seconds(const char *option, const char *arg, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(arg, &end);
	if (!errno && end != arg && !*end && isfinite(*out) && *out >= 0 && *out < 1e9)
		return 0;
	msg_error("%s %s: a number of seconds is expected", option, arg);
	return -EINVAL;
}

int view_words(char *list, const char ***words, uint32_t *n)
{
	const char **grown;
	char *word;

	while ((word = strsep(&list, ","))) {
		if (!*word)
			return -EINVAL;
		grown = reallocarray(*words, *n + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*words = grown;
		grown[(*n)++] = word;
	}
	return 0;
}
