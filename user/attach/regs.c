// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/regs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach/link.h"
#include "base/grow.h"
#include "base/number.h"
#include "regs.skel.h"
#include "sbt/regs.h"

/* size of the buffer for reads, in bytes; each read returns less than this */
#define READ_BYTES 32768

_Static_assert(REGS_RETURNS == SBT_REGS_RETURNS, "same as in the BPF program");
_Static_assert(REGS_SLOTS == SBT_REGS_RETURNED, "same as in the BPF program");

struct regs {
	struct regs_bpf *skel;
	struct bpf_link *link;
	bool counts; /* count_return() is loaded */
};

/* Load the programs, including the program that counts returns if the kernel supports it. */
static int load(struct regs *r)
{
	int err;

	r->skel = regs_bpf__open();
	if (!r->skel)
		return -errno;
	bpf_program__set_autoload(r->skel->progs.count_return, true);
	bpf_program__set_expected_attach_type(r->skel->progs.count_return,
					      (enum bpf_attach_type)LINK_ATTACH_MULTI);
	err = regs_bpf__load(r->skel);
	r->counts = !err;
	if (!err)
		return 0;
	regs_bpf__destroy(r->skel);
	r->skel = regs_bpf__open();
	return r->skel ? regs_bpf__load(r->skel) : -errno;
}

int regs_new(struct regs **out, char *why, size_t len)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	struct regs *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	*out = NULL;
	if (!r)
		goto out;
	err = load(r);
	if (err)
		goto out;
	r->link = bpf_program__attach_iter(r->skel->progs.thread_regs, NULL);
	if (!r->link)
		err = -errno;
out:
	libbpf_set_print(before);
	if (err) {
		snprintf(why, len, "%s",
			 err == -EPERM || err == -EACCES
				 ? "not permitted (needs root, or CAP_BPF and CAP_PERFMON)"
				 : strerror(-err));
		regs_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void regs_free(struct regs *r)
{
	if (!r)
		return;
	bpf_link__destroy(r->link);
	regs_bpf__destroy(r->skel);
	free(r);
}

static int add(struct regs_thread **all, uint32_t *n, uint32_t *cap, const struct sbt_regs *from)
{
	struct regs_thread *t;

	if (grow(*all, *cap, *n + 1))
		return -ENOMEM;
	t = &(*all)[(*n)++];
	t->tid = from->tid;
	t->on_cpu = from->on_cpu;
	t->switches = from->switches;
	if (stack_first_of(from->words, &t->regs) || !t->regs.value[STACK_SP])
		memset(&t->regs, 0, sizeof(t->regs));
	for (t->nreturns = 0; t->nreturns < REGS_RETURNS && from->returns[t->nreturns];
	     t->nreturns++)
		t->returns[t->nreturns] = from->returns[t->nreturns];
	return 0;
}

/* Read the records of all threads. A record may be split between two reads. */
static int read_all(int fd, struct regs_thread **out, uint32_t *n)
{
	char *bytes = malloc(READ_BYTES);
	struct sbt_regs record;
	uint32_t cap = 0;
	size_t len = 0, at;
	ssize_t got;
	int err = bytes ? 0 : -ENOMEM;

	while (!err) {
		got = read(fd, bytes + len, READ_BYTES - len);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		len += (size_t)got;
		for (at = 0; !err && len - at >= sizeof(record); at += sizeof(record)) {
			memcpy(&record, bytes + at, sizeof(record));
			err = add(out, n, &cap, &record);
		}
		memmove(bytes, bytes + at, len - at);
		len -= at;
	}
	free(bytes);
	return err;
}

static int by_tid(const void *a, const void *b)
{
	const struct regs_thread *x = a, *y = b;

	return NUMBER_COMPARE(x->tid, y->tid);
}

int regs_read(struct regs *r, uint32_t pid, struct regs_thread **out, uint32_t *n)
{
	int fd, err;

	*out = NULL;
	*n = 0;
	r->skel->bss->wanted = pid;
	fd = bpf_iter_create(bpf_link__fd(r->link));
	if (fd < 0)
		return -errno;
	err = read_all(fd, out, n);
	close(fd);
	if (err) {
		free(*out);
		*out = NULL;
		*n = 0;
	} else if (*n) {
		qsort(*out, *n, sizeof(**out), by_tid);
	}
	return err;
}

int regs_count_returns(struct regs *r, uint32_t slot, int fd, uint64_t offset, uint32_t pid,
		       uint32_t tid)
{
	if (!r->counts)
		return -ENOTSUP;
	r->skel->bss->watched[slot] = tid;
	r->skel->bss->returned[slot] = 0;
	return link_multi_each(bpf_program__fd(r->skel->progs.count_return), LINK_ATTACH_MULTI, fd,
			       &offset, &(uint64_t){ slot }, 1, (int)pid);
}

uint64_t regs_returned(const struct regs *r, uint32_t slot)
{
	return r->skel->bss->returned[slot];
}
