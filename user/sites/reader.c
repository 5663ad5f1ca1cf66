// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/reader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "sites/module_internal.h"
#include "sites/reader_wire.h"
#include "symbols/wire.h"

/* a child that is silent for this time counts as hung: see struct child_patience */
#define SILENT_MS  5000
/* After this many children in a row have hung, no more questions are asked. */
#define SILENT_MAX 3
#define FILE_NS	   (READER_FILE_S * 1000000000ULL)
#define ERROR_MAX  4095

struct reader {
	struct child child;
	struct reader_life life;
	struct symbol_server *symbols;
	uint32_t serial;
	uint32_t answers; /* number of answers that the present child gave */
	uint32_t silent;
	void (*idle)(void *ctx);
	void *idle_ctx;
	struct reader_message {
		struct reader_head head;
		uint8_t bytes[READER_PART];
	} message;
};

int reader_new(struct rules *rules, struct rules *known, struct symbol_server *symbols,
	       struct reader **out)
{
	struct reader *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->child = CHILD_NONE;
	r->life = (struct reader_life){ rules, known, symbols != NULL };
	r->symbols = symbols;
	return 0;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	child_stop(&r->child);
	free(r);
}

void reader_idle(struct reader *r, void (*idle)(void *ctx), void *ctx)
{
	r->idle = idle;
	r->idle_ctx = ctx;
}

void reader_follow_priority(const struct reader *r)
{
	int own = getpriority(PRIO_PROCESS, 0);

	if (r->child.sock >= 0 && own < 0)
		(void)setpriority(PRIO_PROCESS, (id_t)r->child.pid, own);
}

static int start_child(struct reader *r)
{
	const struct child_kind kind = { .name = "sbt-reader",
					 .first = true,
					 .data = (uint64_t)READER_MIB << 20,
					 .run = reader_child_run,
					 .ctx = &r->life };

	if (r->child.sock >= 0)
		return 0;
	r->answers = 0;
	return child_start(&r->child, &kind);
}

static int send_question(const struct reader *r, struct reader_request *req, const char *text,
			 int fd)
{
	const struct iovec parts[] = { { .iov_base = req, .iov_len = sizeof(*req) },
				       { .iov_base = (void *)(uintptr_t)text,
					 .iov_len = req->text_len } };

	return child_send(r->child.sock, parts, req->text_len ? 2 : 1, fd);
}

/* Answer a question that the child asks while it works. The question is about the same file. */
static int answer_child(struct reader *r, int fd, const char *path, size_t len)
{
	const struct reader_head *head = &r->message.head;
	char raw[READER_TEXT_MAX];
	struct reader_reply reply;
	const struct iovec part = { .iov_base = &reply, .iov_len = sizeof(reply) };

	memset(&reply, 0, sizeof(reply));
	if (!r->symbols || len >= sizeof(raw))
		return -EPIPE;
	if (head->sends == READER_SENDS_NAME) {
		memcpy(raw, r->message.bytes, len);
		raw[len] = '\0';
		reply.known =
			symbol_source_name(r->symbols, fd, raw, reply.text, sizeof(reply.text));
	} else {
		reply.known =
			symbol_parameters(r->symbols, fd, path, head->value, &reply.parameters);
	}
	return child_send(r->child.sock, &part, 1, -1);
}

/* Take one part of the answer. Return 1 after the last part. */
static int take_part(const struct reader_message *message, size_t len, struct wire *answer)
{
	const struct reader_head *head = &message->head;

	if (head->error > ERROR_MAX || head->total > READER_ANSWER ||
	    len > head->total - answer->len || (!len && head->total != answer->len))
		return -EPIPE;
	if (len) {
		if (grow(answer->bytes, answer->cap, answer->len + len))
			return -ENOMEM;
		memcpy(answer->bytes + answer->len, message->bytes, len);
		answer->len += len;
	}
	return answer->len == head->total;
}

/* Receive the answer of a running child. *error is the error in the answer. */
static int receive_answer(struct reader *r, const struct reader_request *req, int fd,
			  const char *path, uint64_t most_ns, struct wire *answer, int *error)
{
	struct child_patience patience = {
		.silent_ms = SILENT_MS, .most_ns = most_ns, .idle = r->idle, .idle_ctx = r->idle_ctx
	};
	struct reader_message *message = &r->message;
	ssize_t n;
	int err;

	for (;;) {
		err = child_wait(&r->child, &patience);
		if (err)
			return err;
		n = recv(r->child.sock, message, sizeof(*message), MSG_DONTWAIT);
		if (n < (ssize_t)sizeof(message->head) || message->head.serial != req->serial)
			return -EPIPE;
		if (message->head.sends != READER_SENDS_ANSWER) {
			err = answer_child(r, fd, path, (size_t)n - sizeof(message->head));
			if (err)
				return err;
			continue;
		}
		err = take_part(message, (size_t)n - sizeof(message->head), answer);
		if (err < 0)
			return err;
		*error = -(int)message->head.error;
		if (err)
			return 0;
	}
}

/* Ask once, and start the child if necessary. */
static int try_once(struct reader *r, struct reader_request *req, const char *text, int fd,
		    uint64_t *handler_ns, struct wire *answer, int *error)
{
	uint64_t before, after, most = FILE_NS > *handler_ns ? FILE_NS - *handler_ns : 0;
	int err = start_child(r);

	if (err)
		return err;
	req->serial = ++r->serial;
	before = child_cpu_ns(&r->child);
	err = send_question(r, req, text, fd);
	if (err) {
		/*
		 * The child exited between two questions. So this file is not the reason: start
		 * another child.
		 */
		child_stop(&r->child);
		err = start_child(r);
		before = 0;
		if (!err)
			err = send_question(r, req, text, fd);
		if (err)
			return err;
	}
	err = receive_answer(r, req, fd, text, most, answer, error);
	after = child_cpu_ns(&r->child);
	*handler_ns += after > before ? after - before : 0;
	return err;
}

int reader_ask(struct reader *r, int fd, const struct reader_asks *asks, uint64_t *handler_ns,
	       struct wire *answer)
{
	const char *text = asks->text ? asks->text : "";
	struct reader_request req = { .question = asks->question,
				      .family = asks->family,
				      .text_len = (uint32_t)strnlen(text, READER_TEXT_MAX),
				      .a = asks->a,
				      .b = asks->b };
	uint64_t spent = 0;
	int err, error = 0, i;
	bool fresh;

	*answer = (struct wire){ 0 };
	err = child_identify(fd, &req.file, NULL);
	if (!err && req.text_len == READER_TEXT_MAX)
		err = -ENAMETOOLONG;
	if (!err && r->silent == SILENT_MAX)
		err = -ETIMEDOUT;
	if (err)
		return err;
	for (i = 0; i < 2; i++) {
		fresh = r->child.sock < 0 || !r->answers;
		err = try_once(r, &req, text, fd, handler_ns ? handler_ns : &spent, answer, &error);
		if (!err && (error != -ENOMEM || fresh))
			break;
		child_stop(&r->child);
		wire_free(answer);
		r->silent = err == -ETIMEDOUT ? r->silent + 1 : 0;
		/*
		 * The child's memory may have been full of other files. Ask a new child, unless
		 * this child had read no other file.
		 */
		if (fresh || (err && err != -EPIPE))
			break;
	}
	if (!err) {
		r->answers++;
		r->silent = 0;
		err = error;
	}
	if (err)
		wire_free(answer);
	answer->reads = true;
	return err;
}

int reader_ask_module(const struct module *module, const struct reader_asks *asks,
		      struct wire *answer)
{
	struct module *m = (struct module *)(uintptr_t)module;
	int err;

	*answer = (struct wire){ .reads = true };
	if (!m->is_elf || m->given_up)
		return m->given_up ? m->given_up : -ENOENT;
	err = reader_ask(m->reader, module_fd(m), asks, &m->read_ns, answer);
	if (err == -EPIPE || err == -EDQUOT || err == -ETIMEDOUT)
		m->given_up = err;
	return err;
}

static struct module_names names_of(const struct reader *r, struct module *m)
{
	return (struct module_names){ .rules = r->life.rules, .known = r->life.known, .module = m };
}

void reader_wire_probe_site(const struct module *m, struct wire *w, void *probe_site)
{
	const struct module_names names = names_of(m->reader, NULL);

	module_wire_probe_site(w, probe_site, &names);
}

int reader_examine(struct reader *r, struct module *m)
{
	const struct reader_asks asks = { .question = READER_EXAMINE, .text = m->path };
	const struct module_names names = names_of(r, m);
	struct wire answer;
	size_t i;
	int err;

	err = reader_ask(r, m->fd, &asks, &m->read_ns, &answer);
	if (err)
		return err;
	module_wire(&answer, m, &names);
	if (answer.bad || answer.at != answer.len ||
	    !module_is_sound(m, m->identified ? (uint64_t)m->identity.st_size : 0)) {
		/*
		 * A child that gives an inconsistent answer cannot be trusted with the next file.
		 */
		child_stop(&r->child);
		module_forget_facts(m);
		err = -EPIPE;
		goto out;
	}
	for (i = 0; i < m->traits.build_id_len; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", m->traits.build_id[i]);
	m->is_elf = true;
out:
	wire_free(&answer);
	return err;
}

/* --- files that are not modules --------------------------------------------------------------- */

bool reader_file_has_marks(const char *path, const char *provider)
{
	const struct reader_asks asks = { .question = READER_MARKS, .text = provider };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct reader *reader = NULL;
	struct wire answer = { 0 };
	bool has = false;

	if (fd < 0)
		return false;
	if (!reader_new(NULL, NULL, NULL, &reader) && !reader_ask(reader, fd, &asks, NULL, &answer))
		WIRE_BOOL(&answer, has);
	wire_free(&answer);
	reader_free(reader);
	close(fd);
	return has;
}

bool reader_file_function(struct reader *reader, int fd, const char *name, uint64_t *vaddr)
{
	const struct reader_asks asks = { .question = READER_FUNCTION, .text = name };
	struct elf_symbol symbol = { 0 };
	uint32_t machine = 0, n = 0;
	struct wire answer;

	if (reader_ask(reader, fd, &asks, NULL, &answer))
		return false;
	WIRE(&answer, machine, UINT16_MAX);
	WIRE(&answer, n, UINT32_MAX);
	module_wire_symbol(&answer, &symbol);
	wire_free(&answer);
	*vaddr = symbol.vaddr;
#if defined(__x86_64__)
	return n && machine == EM_X86_64;
#elif defined(__aarch64__)
	return n && machine == EM_AARCH64;
#else
	return false;
#endif
}
