// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/symbol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "symbols/symbol_wire.h"

/*
 * How long (ms) to wait for a child that neither answers nor uses CPU time. The child may have been
 * stopped, or waits for a disk. With debuginfod, the child may be downloading a file, so wait
 * longer.
 */
#define SYMBOL_TIMEOUT_MS	5000
#define SYMBOL_FETCH_TIMEOUT_MS 60000
/* CPU time limit for the names of one file, ns. */
#define SYMBOL_FILE_NS		(SYMBOL_FILE_S * 1000000000ULL)
/* the cost of an answer that took less CPU time (ns) than this is not recorded */
#define SYMBOL_NOTED_NS		10000000ULL
#define SYMBOL_FILES_MAX	512 /* maximum number of files with a recorded cost or failure */

struct symbol_file {
	struct child_file identity;
	uint64_t cpu_ns;
	bool plain; /* use only the file's symbol table, not its debug information */
	int err; /* not 0: do not ask about this file any more, and return this error */
	/* skipped, because the files of its owner have together used too much CPU time */
	bool owner;
	char *path; /* path of the file if symbol_unnamed() is to report the file; else NULL */
};

struct symbol_server {
	bool debuginfod; /* debuginfod may be used */
	bool fetch_at_once;
	bool fetches; /* the present child uses debuginfod */
	bool fetch_failed; /* a download timed out, so debuginfod is not used any more */
	char *debug_path; /* directories for debug files, in libdwfl's format */
	struct child child;
	uint32_t serial;
	uint32_t answers; /* number of answers of the present child */
	struct symbol_file files[SYMBOL_FILES_MAX];
	/*
	 * number of files recorded so far; above SYMBOL_FILES_MAX, the oldest entry is overwritten
	 */
	uint32_t nfiles;
	/*
	 * number of files that symbol_unnamed() cannot report, because their entries were
	 * overwritten
	 */
	uint32_t nlost;
	struct hash owners; /* user id -> CPU time for answers about files that the user owns, ns */
	uint64_t begin_ns;
	void (*idle)(void *ctx);
	void *idle_ctx;
};

static int symbol_start(struct symbol_server *server)
{
	struct child_kind kind = { .name = "sbt-names",
				   .opens = true,
				   .data = (uint64_t)SYMBOL_MIB << 20,
				   .run = symbol_child_run,
				   .ctx = server->debug_path };

	if (server->child.sock >= 0)
		return 0;
	server->fetches = server->debuginfod && (!server->idle || server->fetch_at_once);
	server->answers = 0;
	kind.network = server->fetches;
	return child_start(&server->child, &kind);
}

int symbol_server_new(const struct symbol_options *options, struct symbol_server **out)
{
	const char *dir = options && options->debug_dir ? options->debug_dir : "/usr/lib/debug";
	struct symbol_server *server;

	*out = NULL;
	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->child = CHILD_NONE;
	server->debuginfod = options && options->debuginfod;
	server->fetch_at_once = options && options->fetch_at_once;
	server->begin_ns = now_ns();
	/*
	 * Search the directory of the file, its subdirectory .debug, and then @dir, there also by
	 * build id.
	 */
	if (asprintf(&server->debug_path, ":.debug:%s", dir) < 0) {
		free(server);
		return -ENOMEM;
	}
	*out = server;
	return 0;
}

void symbol_server_idle(struct symbol_server *server, void (*idle)(void *ctx), void *ctx)
{
	/* From now on a child may use debuginfod. The present child may not, so end it. */
	if (server->idle && !idle && server->debuginfod && !server->fetches)
		child_stop(&server->child);
	server->idle = idle;
	server->idle_ctx = ctx;
}

bool symbol_server_fetches_later(const struct symbol_server *server)
{
	return server->debuginfod && server->idle && !server->fetch_at_once;
}

bool symbol_server_fetch_failed(const struct symbol_server *server)
{
	return server->fetch_failed;
}

bool symbol_server_is_later(const struct symbol_server *server)
{
	return !server->idle;
}

void symbol_server_free(struct symbol_server *server)
{
	if (!server)
		return;
	child_stop(&server->child);
	array_for_each (f, server->files, SYMBOL_FILES_MAX)
		free(f->path);
	hash_free(&server->owners);
	free(server->debug_path);
	free(server);
}

static int symbol_send(const struct symbol_server *server, struct symbol_request *req,
		       const struct symbol_unwind *unwind, int fd)
{
	const struct iovec parts[] = { { .iov_base = req, .iov_len = sizeof(*req) },
				       { .iov_base = (void *)(uintptr_t)unwind,
					 .iov_len = sizeof(*unwind) } };

	return child_send(server->child.sock, parts, unwind ? 2 : 1, fd);
}

/*
 * Wait for the answer to request @serial. Return 0, -ETIMEDOUT, -EDQUOT, or -EPIPE if the child has
 * exited or has sent anything else.
 */
static int symbol_wait(const struct symbol_server *server, uint32_t serial, uint64_t most_ns,
		       struct symbol_reply *reply)
{
	struct child_patience patience = { .silent_ms = server->fetches ? SYMBOL_FETCH_TIMEOUT_MS
									: SYMBOL_TIMEOUT_MS,
					   .most_ns = most_ns,
					   .idle = server->idle,
					   .idle_ctx = server->idle_ctx };
	int err = child_wait(&server->child, &patience);
	ssize_t n;

	if (err)
		return err;
	n = recv(server->child.sock, reply, sizeof(*reply), MSG_DONTWAIT);
	return n == sizeof(*reply) && reply->serial == serial ? 0 : -EPIPE;
}

/*
 * Make the strings and counts of an answer valid, because a file may have taken over the child that
 * sent it.
 */
static void symbol_sanitise(struct symbol_reply *reply)
{
	reply->data[sizeof(reply->data) - 1] = 0;
	reply->text[sizeof(reply->text) - 1] = 0;
	if (reply->step.result > UNWIND_END)
		reply->step.result = UNWIND_END;
	if (reply->code.nframes < 0 || reply->code.nframes > SYMBOL_FRAMES_MAX)
		reply->code.nframes = 0;
	array_for_each (frame, reply->code.frames, SYMBOL_FRAMES_MAX) {
		frame->function[sizeof(frame->function) - 1] = 0;
		frame->file[sizeof(frame->file) - 1] = 0;
	}
}

static struct symbol_file *symbol_find_file(struct symbol_server *server,
					    const struct child_file *id)
{
	uint32_t n = server->nfiles < SYMBOL_FILES_MAX ? server->nfiles : SYMBOL_FILES_MAX;

	array_for_each (f, server->files, n)
		if (!memcmp(&f->identity, id, sizeof(*id)))
			return f;
	return NULL;
}

/* Return the entry of the file. If it has none, create one, which may replace the oldest entry. */
static struct symbol_file *symbol_note_file(struct symbol_server *server,
					    const struct child_file *id)
{
	struct symbol_file *file = symbol_find_file(server, id);

	if (file)
		return file;
	file = &server->files[server->nfiles++ % SYMBOL_FILES_MAX];
	server->nlost += file->path != NULL;
	free(file->path);
	*file = (struct symbol_file){ .identity = *id };
	return file;
}

/*
 * Ask one question, and start a child if necessary. Set *@handler_ns to the CPU time that the child
 * used for the answer.
 */
static int symbol_try(struct symbol_server *server, struct symbol_request *req,
		      const struct symbol_unwind *unwind, int fd, uint64_t most_ns,
		      struct symbol_reply *reply, uint64_t *handler_ns)
{
	uint64_t before;
	int err;

	err = symbol_start(server);
	if (err)
		return err;
	req->serial = ++server->serial;
	before = child_cpu_ns(&server->child);
	err = symbol_send(server, req, unwind, fd);
	if (err) {
		/*
		 * The child exited between two questions, so this file is not the cause. Ask a new
		 * child.
		 */
		child_stop(&server->child);
		err = symbol_start(server);
		before = 0;
		if (!err)
			err = symbol_send(server, req, unwind, fd);
		if (err)
			return err;
	}
	err = symbol_wait(server, req->serial, most_ns, reply);
	*handler_ns = number_less(child_cpu_ns(&server->child), before);
	return err;
}

/* Return whether the error means that the child failed because of the file. */
static bool symbol_is_failure(int err)
{
	return err == -EPIPE || err == -ETIMEDOUT || err == -EDQUOT;
}

/*
 * Record the cost of a file after an answer or a failure. After the first failure, use only the
 * file's symbol table and unwind tables, which are small, and return true: ask again. If the child
 * does not respond, or fails again, do not ask about the file any more.
 */
static bool symbol_charge(struct symbol_server *server, const struct symbol_request *req,
			  uint64_t handler_ns, int err)
{
	struct symbol_file *file;

	if (!err && handler_ns < SYMBOL_NOTED_NS)
		return false;
	file = symbol_note_file(server, &req->identity);
	file->cpu_ns += handler_ns;
	if (!err)
		return false;
	if (!file->path)
		file->path = strdup(req->path);
	if (file->plain || err == -ETIMEDOUT || req->question == SYMBOL_ASK_NAME) {
		file->err = err;
		return false;
	}
	file->plain = true;
	file->cpu_ns = 0;
	return true;
}

/*
 * Return whether the files of @owner may use more CPU time. This guards against many files that are
 * each just below the limit for one file.
 */
static bool symbol_owner_may(const struct symbol_server *server, uid_t owner)
{
	uint64_t most_ms = SYMBOL_OWNER_S * 1000 + (now_ns() - server->begin_ns) / 100000000;
	uint64_t handler_ns = 0;

	if (!server->idle && (owner == 0 || owner == getuid()))
		return true;
	hash_get(&server->owners, owner, &handler_ns);
	return handler_ns / 1000000 < (server->idle ? most_ms : 3 * most_ms);
}

static void symbol_charge_owner(struct symbol_server *server, uid_t owner, uint64_t ns)
{
	uint64_t before = 0;

	hash_get(&server->owners, owner, &before);
	/* If out of memory, the time is not recorded. */
	(void)hash_put(&server->owners, owner, before + ns);
}

static int symbol_refuse(struct symbol_server *server, const struct symbol_request *req)
{
	struct symbol_file *file;

	if (server->idle)
		return -EAGAIN;
	file = symbol_note_file(server, &req->identity);
	file->owner = true;
	if (!file->path)
		file->path = strdup(req->path);
	return -EAGAIN;
}

static int symbol_ask(struct symbol_server *server, struct symbol_request *req,
		      const struct symbol_unwind *unwind, int fd, uid_t owner,
		      struct symbol_reply *reply)
{
	const struct symbol_file *file;
	uint64_t handler_ns = 0, cost;
	bool more = true, fresh, fetches;
	int err = 0;

	while (more) {
		file = symbol_find_file(server, &req->identity);
		/*
		 * Do not ask about a file that has failed. It need not be closed either: the child
		 * that had it open has ended.
		 */
		if (file && file->err)
			return req->question == SYMBOL_FORGET ? 0 : file->err;
		if (req->question != SYMBOL_FORGET && !symbol_owner_may(server, owner))
			return symbol_refuse(server, req);
		cost = file ? file->cpu_ns : 0;
		req->plain = file && file->plain;
		fresh = server->child.sock < 0 || !server->answers;
		handler_ns = 0;
		err = symbol_try(server, req, unwind, fd, number_less(SYMBOL_FILE_NS, cost), reply,
				 &handler_ns);
		fetches = server->fetches;
		if (err && !symbol_is_failure(err))
			return err;
		symbol_charge_owner(server, owner, handler_ns);
		if (err)
			child_stop(&server->child);
		/*
		 * If a download fails, the file is not the cause. Ask again, with local files only.
		 */
		if (err == -ETIMEDOUT && fetches) {
			server->debuginfod = false;
			server->fetch_failed = true;
			continue;
		}
		/*
		 * Perhaps the child's memory was full of other files. Ask a new child, and only if
		 * that fails, too, this file counts as the cause.
		 */
		if (err == -EPIPE && !fresh)
			continue;
		more = symbol_charge(server, req, handler_ns, err);
	}
	if (err)
		return err;
	server->answers++;
	symbol_sanitise(reply);
	return 0;
}

static int symbol_question(struct symbol_server *server, enum symbol_question question, int fd,
			   const char *path, uint64_t vaddr, const struct symbol_unwind *unwind,
			   struct symbol_reply *reply)
{
	struct symbol_request *req;
	uid_t owner = 0;
	int err;

	req = calloc(1, sizeof(*req));
	if (!req)
		return -ENOMEM;
	req->question = question;
	req->vaddr = vaddr;
	symbol_copy(req->path, sizeof(req->path), path ? path : "");
	err = child_identify(fd, &req->identity, &owner);
	if (!err)
		err = symbol_ask(server, req, unwind, fd, owner, reply);
	free(req);
	return err;
}

/*
 * Ask a question that may have no answer. Return the reply, to be freed, or NULL if there is no
 * answer.
 */
static struct symbol_reply *symbol_known(struct symbol_server *server,
					 enum symbol_question question, int fd, const char *path,
					 uint64_t vaddr)
{
	struct symbol_reply *reply = calloc(1, sizeof(*reply));

	if (!reply)
		return NULL;
	if (!symbol_question(server, question, fd, path, vaddr, NULL, reply) && reply->known)
		return reply;
	free(reply);
	return NULL;
}

int symbol_lookup(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  struct symbol *out)
{
	struct symbol_reply *reply;
	int err;

	memset(out, 0, sizeof(*out));
	reply = calloc(1, sizeof(*reply));
	if (!reply)
		return -ENOMEM;
	err = symbol_question(server, SYMBOL_ASK_CODE, fd, path, vaddr, NULL, reply);
	if (!err)
		*out = reply->code;
	free(reply);
	return err;
}

void symbol_forget(struct symbol_server *server, int fd)
{
	struct symbol_reply *reply;

	/* If no child is running, no child has the file open. */
	if (!server || server->child.sock < 0)
		return;
	reply = calloc(1, sizeof(*reply));
	if (reply && symbol_question(server, SYMBOL_FORGET, fd, NULL, 0, NULL, reply))
		child_stop(&server->child);
	free(reply);
}

bool symbol_data_name(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		      char name[SYMBOL_NAME_MAX])
{
	struct symbol_reply *reply = symbol_known(server, SYMBOL_ASK_DATA, fd, path, vaddr);

	name[0] = 0;
	if (!reply)
		return false;
	symbol_copy(name, SYMBOL_NAME_MAX, reply->data);
	free(reply);
	return true;
}

int symbol_unwind(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		  const struct stack_regs *regs, const struct sbt_stack *stack,
		  struct unwind_step *step)
{
	struct symbol_unwind *unwind;
	struct symbol_reply *reply;
	int err = -ENOMEM;

	memset(step, 0, sizeof(*step));
	unwind = calloc(1, sizeof(*unwind));
	reply = calloc(1, sizeof(*reply));
	if (!unwind || !reply)
		goto out;
	unwind->regs = *regs;
	unwind->stack = *stack;
	err = symbol_question(server, SYMBOL_ASK_UNWIND, fd, path, vaddr, unwind, reply);
	if (!err)
		*step = reply->step;
out:
	free(reply);
	free(unwind);
	return err;
}

bool symbol_source_name(struct symbol_server *server, int fd, const char *raw, char *name,
			size_t size)
{
	struct symbol_reply *reply;

	if (strlen(raw) >= SYMBOL_PATH_MAX)
		return false;
	reply = symbol_known(server, SYMBOL_ASK_NAME, fd, raw, 0);
	if (!reply)
		return false;
	snprintf(name, size, "%s", reply->text);
	free(reply);
	return true;
}

bool symbol_parameters(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       uint32_t *n)
{
	struct symbol_reply *reply = symbol_known(server, SYMBOL_ASK_PARAMETERS, fd, path, vaddr);

	if (!reply)
		return false;
	*n = reply->parameters;
	free(reply);
	return true;
}

bool symbol_frame_rule(struct symbol_server *server, int fd, const char *path, uint64_t vaddr,
		       struct sbt_frame_rule *rule, struct unwind_range *range)
{
	struct symbol_reply *reply = calloc(1, sizeof(*reply));
	bool known = false;

	if (range)
		*range = (struct unwind_range){ vaddr, vaddr + 1 };
	if (reply && !symbol_question(server, SYMBOL_ASK_RULE, fd, path, vaddr, NULL, reply)) {
		known = reply->known;
		if (known)
			*rule = reply->rule;
		/* The answer is untrusted. */
		if (range && reply->range.from <= vaddr && vaddr < reply->range.to)
			*range = reply->range;
	}
	free(reply);
	return known;
}

uint32_t symbol_unnamed(const struct symbol_server *server,
			void (*each)(void *ctx, const char *path, enum symbol_unnamed why),
			void *ctx)
{
	array_for_each (file, server->files, SYMBOL_FILES_MAX) {
		if (!file->path)
			continue;
		if (file->owner && !file->err)
			each(ctx, file->path, SYMBOL_UNNAMED_OWNER);
		else
			each(ctx, file->path,
			     !file->err		       ? SYMBOL_UNNAMED_LINES
			     : file->err == -ETIMEDOUT ? SYMBOL_UNNAMED_SILENT
						       : SYMBOL_UNNAMED_ALL);
	}
	return server->nlost;
}
