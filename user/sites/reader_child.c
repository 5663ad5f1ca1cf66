// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The child of the reader. It parses the files that processes run, but asks the tracer for names in
 * the source.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "elf/exits.h"
#include "base/array.h"
#include "elf/held_args.h"
#include "sites/module_internal.h"
#include "sites/reader_wire.h"
#include "elf/sdt.h"
#include "symbols/wire.h"

/* maximum number of files for which tables are kept in memory; the files themselves are closed */
#define FILES_MAX    64
#define FUNCTION_MAX 16384 /* maximum number of bytes of a function that are decoded */
#define INSN_BYTES   16

struct file {
	struct child_file identity;
	struct elf_file *elf; /* NULL: free */
	struct elf_traits traits;
	/* Number of the last question about this file, to find the least recently used file. */
	uint64_t used;
};

struct reader_child {
	int sock;
	int fd; /* the file of the current question; -1: none */
	uint32_t serial;
	struct file *asked; /* the file of the current question */
	const struct reader_life *life;
	struct file files[FILES_MAX];
	uint64_t clock;
};

/* --- files ------------------------------------------------------------------------------------ */

static int reopen(void *ctx)
{
	const struct reader_child *c = ctx;

	return c->fd;
}

static int open_file(struct reader_child *c, struct file *f, const struct reader_request *req)
{
	int err;

	elf_close(f->elf);
	memset(f, 0, sizeof(*f));
	err = elf_open(c->fd, req->file.size, &f->elf);
	if (err)
		return err;
	f->identity = req->file;
	elf_traits(f->elf, &f->traits);
	/* From now on, use the descriptor that is sent with each question. */
	elf_suspend(f->elf, reopen, c);
	return 0;
}

static int find_file(struct reader_child *c, const struct reader_request *req, struct file **out)
{
	struct file *f, *oldest = &c->files[0];
	size_t i;
	int err;

	for (i = 0; i < FILES_MAX; i++) {
		f = &c->files[i];
		if (f->elf && !memcmp(&f->identity, &req->file, sizeof(f->identity)))
			goto out;
		if (f->used < oldest->used)
			oldest = f;
	}
	f = oldest;
	err = open_file(c, f, req);
	if (err)
		return err;
out:
	f->used = ++c->clock;
	c->asked = *out = f;
	return 0;
}

/*
 * Close the file, so that its file system can be unmounted when no process runs a program from it.
 */
static void close_file(struct reader_child *c)
{
	if (c->asked && c->asked->elf)
		elf_suspend(c->asked->elf, reopen, c);
	c->asked = NULL;
	close(c->fd);
	c->fd = -1;
}

/* --- questions to the tracer ------------------------------------------------------------------ */

static bool ask(const struct reader_child *c, struct reader_head *head, const char *text,
		struct reader_reply *reply)
{
	const struct iovec parts[] = { { .iov_base = head, .iov_len = sizeof(*head) },
				       { .iov_base = (void *)(uintptr_t)text,
					 .iov_len = text ? strlen(text) : 0 } };
	const struct iovec back = { .iov_base = reply, .iov_len = sizeof(*reply) };
	struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = 2 };
	int fd;

	head->serial = c->serial;
	if (sendmsg(c->sock, &msg, MSG_NOSIGNAL) < 0 ||
	    child_receive(c->sock, &back, 1, &fd) != sizeof(*reply))
		_exit(1);
	return reply->known;
}

static bool source_name(void *ctx, const char *raw, char *name, size_t size)
{
	struct reader_head head = { .sends = READER_SENDS_NAME };
	struct reader_reply reply;

	if (strlen(raw) >= READER_TEXT_MAX || !ask(ctx, &head, raw, &reply))
		return false;
	reply.text[sizeof(reply.text) - 1] = '\0';
	snprintf(name, size, "%s", reply.text);
	return true;
}

static bool parameters(void *ctx, uint64_t vaddr, uint32_t *n)
{
	struct reader_head head = { .sends = READER_SENDS_PARAMETERS, .value = vaddr };
	struct reader_reply reply;

	if (!ask(ctx, &head, NULL, &reply))
		return false;
	*n = reply.parameters;
	return true;
}

/* --- answers ---------------------------------------------------------------------------------- */

static int take_segments(struct module *m)
{
	struct elf_range range;
	bool exec;

	while (elf_loaded(m->elf, m->nsegments, &range, &exec)) {
		if (m->nsegments == MODULE_SEGMENTS_MAX)
			return -EBADMSG;
		m->segments[m->nsegments++] =
			(struct module_segment){ range.vaddr, range.offset, range.size, exec };
	}
	return 0;
}

static void take_needs(struct module *m, const char **names, size_t max)
{
	m->needs.n = (uint32_t)elf_libraries(m->elf, names, max);
	m->needs.names = (char **)(uintptr_t)names;
	m->needs.path = (char *)(uintptr_t)elf_library_path(m->elf, &m->needs.path_first);
}

static void forget_found(const struct rules *rules)
{
	size_t i;

	for (i = 0; rules && i < rules->n; i++)
		rules->all[i]->at[0].found = rules->all[i]->at[1].found = 0;
}

/*
 * Find the variables of enum module_handle now. They are needed whenever a rank maps the file, and
 * a question at that time would take too long.
 */
static void take_handles(struct module *m)
{
	static const char *const names[MODULE_HANDLES] = { "ompi_mpi_comm_world",
							   "ompi_mpi_comm_self",
							   "ompi_mpi_comm_null" };
	int i;

	for (i = 0; i < MODULE_HANDLES; i++) {
		if (elf_find_object(m->elf, names[i], &m->handles[i]))
			m->handles[i] = 0;
		if (!m->handles[MODULE_WORLD])
			return;
	}
}

static int examine(struct reader_child *c, const struct file *f, const char *path, struct wire *w)
{
	const char *libraries[128];
	struct module *m = calloc(1, sizeof(*m));
	struct module_names names = {
		.rules = c->life->rules, .known = c->life->known, .module = m, .ctx = c
	};
	int err = -ENOMEM;

	if (!m)
		return err;
	if (c->life->names) {
		names.source_name = source_name;
		names.parameters = parameters;
	}
	m->fd = c->fd;
	m->path = (char *)(uintptr_t)path;
	m->elf = f->elf;
	err = take_segments(m);
	if (err)
		goto out;
	take_needs(m, libraries, sizeof(libraries) / sizeof(libraries[0]));
	/* Count only the hits in this file: hits in other files have been reported already. */
	forget_found(names.rules);
	module_examine(&names);
	take_handles(m);
	module_wire(w, m, &names);
out:
	free(m->places);
	free(m);
	return err;
}

static int answer_around(const struct file *f, uint64_t vaddr, struct wire *w)
{
	struct elf_symbol around = { 0 };
	bool known = exits_function_around(f->elf, vaddr, &around);

	WIRE_BOOL(w, known);
	module_wire_symbol(w, &around);
	return 0;
}

static int answer_function(const struct file *f, const char *name, struct wire *w)
{
	struct elf_symbol symbol = { 0 };
	int n = elf_find_function(f->elf, name, &symbol, 1);
	uint32_t number = n > 0 ? (uint32_t)n : 0, machine = elf_machine(f->elf);

	WIRE(w, machine, UINT16_MAX);
	WIRE(w, number, UINT32_MAX);
	module_wire_symbol(w, &symbol);
	return 0;
}

struct ends {
	const struct file *f;
	const char *name;
	uint32_t known, unknown;
};

static int take_ends(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct ends *e = ctx;
	size_t len = module_whole_len(name);
	struct exits exits;

	if (strlen(e->name) != len || strncmp(e->name, name, len) != 0)
		return 0;
	exits_find(e->f->elf, e->f->traits.machine, symbol, EXITS_FOLLOW_ALL, &exits);
	e->known += exits.n > 0;
	e->unknown += !exits.n;
	return 0;
}

/*
 * Answer whether the file has a function of this name, and the exits of all functions of this name
 * are known. Copies that compilers make for certain arguments count as the function.
 */
static int answer_ends(const struct file *f, const char *name, struct wire *w)
{
	struct ends e = { .f = f, .name = name };
	bool known;

	elf_each_function(f->elf, take_ends, &e);
	known = e.known && !e.unknown;
	WIRE_BOOL(w, known);
	return 0;
}

static void answer_import(void *ctx, const char *name)
{
	struct wire *w = ctx;
	char *text = (char *)(uintptr_t)name;

	if (w->len < READER_ANSWER / 2)
		wire_long_text(w, &text, READER_TEXT_MAX);
}

static int answer_outlined(const struct reader_child *c, const struct file *f,
			   const struct reader_request *req, struct wire *w)
{
	struct module *m = calloc(1, sizeof(*m));
	const struct module_names names = { .rules = c->life->rules, .known = c->life->known };
	uint32_t nothing;
	int err;

	if (!m)
		return -ENOMEM;
	m->elf = f->elf;
	m->traits = f->traits;
	err = module_add_outlined(m, (uint8_t)req->family, req->a, req->b);
	/* Even if no function is at the address, other functions may have been found. */
	nothing = err != 0;
	WIRE_BOOL(w, nothing);
	WIRE(w, m->nplaces, MODULE_PLACES_MAX);
	array_for_each (p, m->places, m->nplaces)
		module_wire_probe_site(w, p, &names);
	free(m->places);
	free(m);
	return err == -ENOENT ? 0 : err;
}

static int answer_held(const struct file *f, uint64_t at, struct wire *w)
{
	struct held_arg held[HELD_ARGS_MAX];
	struct elf_symbol around;
	const uint8_t *bytes;
	size_t len;
	int err, i;

	if (!exits_function_around(f->elf, at, &around))
		return -ENOENT;
	len = elf_bytes(f->elf, around.offset, FUNCTION_MAX, &bytes);
	err = held_args_find(f->traits.machine, bytes, len, (uint32_t)(at + 1 - around.vaddr),
			     held);
	for (i = 0; !err && i < HELD_ARGS_MAX; i++)
		module_wire_held(w, &held[i]);
	return err;
}

static int answer_insn(const struct file *f, uint64_t offset, struct wire *w)
{
	const uint8_t *bytes;
	struct insn insn;
	size_t len = elf_bytes(f->elf, offset, INSN_BYTES, &bytes);

	insn_decode(f->traits.machine, bytes, len, &insn);
	WIRE(w, insn.class, INSN_UNKNOWN);
	return 0;
}

static int answer_marks(const struct file *f, const char *provider, struct wire *w)
{
	struct sdt_list notes = { 0 };
	int err = sdt_read(f->elf, provider, &notes);
	bool has = notes.n > 0;

	WIRE_BOOL(w, has);
	if (!err)
		sdt_free(&notes);
	return err;
}

static int answer(struct reader_child *c, const struct reader_request *req, const char *text,
		  struct wire *w)
{
	struct file *f = NULL;
	int err = find_file(c, req, &f);
	bool yes;

	if (err)
		return err;
	switch ((enum reader_question)req->question) {
	case READER_EXAMINE:
		return examine(c, f, text, w);
	case READER_AROUND:
		return answer_around(f, req->a, w);
	case READER_FUNCTION:
		return answer_function(f, text, w);
	case READER_ENDS:
		return answer_ends(f, text, w);
	case READER_WRAPPER:
		yes = module_has_wrapper(f->elf, req->b != 0, req->a);
		WIRE_BOOL(w, yes);
		return 0;
	case READER_IMPORTS:
		elf_each_import(f->elf, answer_import, w);
		return 0;
	case READER_OUTLINED:
		return answer_outlined(c, f, req, w);
	case READER_HELD:
		return answer_held(f, req->a, w);
	case READER_INSN:
		return answer_insn(f, req->a, w);
	case READER_MARKS:
		return answer_marks(f, text, w);
	}
	return -EINVAL;
}

static void send_answer(const struct reader_child *c, const struct wire *w, int err)
{
	struct reader_head head = { .serial = c->serial,
				    .sends = READER_SENDS_ANSWER,
				    .error = (uint32_t)-err,
				    .total = err ? 0 : (uint32_t)w->len };
	struct iovec parts[2] = { { .iov_base = &head, .iov_len = sizeof(head) } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t at = 0;

	do {
		parts[1].iov_base = head.total ? w->bytes + at : NULL;
		parts[1].iov_len = head.total - at < READER_PART ? head.total - at : READER_PART;
		at += parts[1].iov_len;
		if (sendmsg(c->sock, &msg, MSG_NOSIGNAL) < 0)
			_exit(1);
	} while (at < head.total);
}

/* Receive a question. Return false if there will be no more questions. */
static bool receive(struct reader_child *c, struct reader_request *req, char text[READER_TEXT_MAX])
{
	const struct iovec parts[] = { { .iov_base = req, .iov_len = sizeof(*req) },
				       { .iov_base = text, .iov_len = READER_TEXT_MAX - 1 } };
	size_t n = child_receive(c->sock, parts, 2, &c->fd);

	if (n < sizeof(*req) || n - sizeof(*req) != req->text_len || c->fd < 0)
		return false;
	text[req->text_len] = '\0';
	c->serial = req->serial;
	return true;
}

void reader_child_run(void *life, int sock)
{
	struct reader_child *c = calloc(1, sizeof(*c));
	struct reader_request req;
	char text[READER_TEXT_MAX];
	struct wire w = { 0 };
	int err;

	if (!c)
		return;
	c->sock = sock;
	c->life = life;
	while (receive(c, &req, text)) {
		child_limit_cpu(READER_FILE_S);
		w.len = 0;
		err = answer(c, &req, text, &w);
		/*
		 * Close the file before the answer is sent: after that, the tracer assumes that the
		 * file is closed.
		 */
		close_file(c);
		if (w.bad || w.len > READER_ANSWER)
			err = -ENOMEM;
		w.bad = false;
		send_answer(c, &w, err);
	}
}
