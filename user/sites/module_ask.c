// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Questions about a module after it was examined. Conversions of addresses, and reads of raw bytes,
 * are done here. All questions about the meaning of bytes go to the reader's child.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sites/module_internal.h"
#include "base/array.h"
#include "sites/reader.h"
#include "symbols/wire.h"

#define AROUND_MAX 8192 /* maximum number of answers that are kept */
#define NAME_BYTES 4096

/* --- addresses and bytes ---------------------------------------------------------------------- */

int module_vaddr_to_offset(const struct module *m, uint64_t vaddr, uint64_t *offset)
{
	array_for_each (s, m->segments, m->nsegments) {
		if (!s->exec || vaddr < s->vaddr || vaddr - s->vaddr >= s->size)
			continue;
		*offset = s->offset + (vaddr - s->vaddr);
		return 0;
	}
	return -ENOENT;
}

int module_offset_to_vaddr(const struct module *m, uint64_t offset, uint64_t *vaddr)
{
	int pass;

	for (pass = 0; pass < 2; pass++) {
		array_for_each (s, m->segments, m->nsegments) {
			if (s->exec != (pass == 0) || offset < s->offset ||
			    offset - s->offset >= s->size)
				continue;
			*vaddr = s->vaddr + (offset - s->offset);
			return 0;
		}
	}
	return -ENOENT;
}

size_t module_bytes(const struct module *m, uint64_t offset, void *out, size_t len)
{
	int fd = module_fd(m);
	ssize_t n;

	if (fd < 0 || offset > INT64_MAX)
		return 0;
	do
		n = pread(fd, out, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

/* --- questions -------------------------------------------------------------------------------- */

static bool ask_bool(const struct module *m, const struct reader_asks *asks)
{
	struct wire answer;
	bool yes = false;

	if (!reader_ask_module(m, asks, &answer))
		WIRE_BOOL(&answer, yes);
	wire_free(&answer);
	return yes;
}

bool module_knows_ends(const struct module *m, const char *name)
{
	return ask_bool(m, &(struct reader_asks){ .question = READER_ENDS, .text = name });
}

bool module_is_wrapper(const struct module *m, uint64_t vaddr)
{
	/*
	 * A static program contains parts of its C library, even if the barrier functions are not
	 * among them.
	 */
	bool c_library = m->c_library || (m->traits.executable && !m->traits.dynamic);

	return ask_bool(
		m, &(struct reader_asks){ .question = READER_WRAPPER, .a = vaddr, .b = c_library });
}

bool module_defines(const struct module *m, const char *name)
{
	const struct reader_asks asks = { .question = READER_FUNCTION, .text = name };
	uint32_t machine = 0, n = 0;
	struct wire answer;

	if (!reader_ask_module(m, &asks, &answer)) {
		WIRE(&answer, machine, UINT16_MAX);
		WIRE(&answer, n, UINT32_MAX);
	}
	wire_free(&answer);
	return n > 0;
}

enum insn_class module_insn(const struct module *m, uint64_t offset)
{
	const struct reader_asks asks = { .question = READER_INSN, .a = offset };
	enum insn_class class = INSN_UNKNOWN;
	struct wire answer;

	if (!reader_ask_module(m, &asks, &answer)) {
		WIRE(&answer, class, INSN_UNKNOWN);
		if (answer.bad)
			class = INSN_UNKNOWN;
	}
	wire_free(&answer);
	return class;
}

void module_wire_held(struct wire *w, struct held_arg *held)
{
	WIRE(w, held->how, HELD_AT_REGISTER);
	WIRE(w, held->reg, STACK_NREGS - 1);
	WIRE(w, held->size, 8);
	WIRE(w, held->offset, UINT64_MAX);
	WIRE(w, held->passed, UINT64_MAX);
	if (held->passed >= HELD_ARGS_MAX)
		w->bad = true;
}

bool module_held_args(const struct module *m, uint64_t at, struct held_arg out[HELD_ARGS_MAX])
{
	const struct reader_asks asks = { .question = READER_HELD, .a = at };
	struct wire answer;
	bool known;
	int i;

	known = !reader_ask_module(m, &asks, &answer);
	for (i = 0; known && i < HELD_ARGS_MAX; i++)
		module_wire_held(&answer, &out[i]);
	known &= !answer.bad;
	wire_free(&answer);
	return known;
}

/* --- where functions begin -------------------------------------------------------------------- */

void module_forget_answers(struct module *m)
{
	hash_free_ptrs(&m->around);
	free(m->imports);
	m->imports = NULL;
}

bool module_around(const struct module *module, uint64_t vaddr, struct elf_symbol *out)
{
	const struct reader_asks asks = { .question = READER_AROUND, .a = vaddr };
	struct module *m = (struct module *)(uintptr_t)module;
	struct elf_symbol *kept = hash_get_ptr(&m->around, vaddr);
	struct wire answer;
	bool known = false;

	memset(out, 0, sizeof(*out));
	/* An unknown function is kept with size 0, so that it is not asked about again. */
	if (kept) {
		*out = *kept;
		return out->size != 0;
	}
	if (!reader_ask_module(m, &asks, &answer)) {
		WIRE_BOOL(&answer, known);
		module_wire_symbol(&answer, out);
		known &= !answer.bad && vaddr - out->vaddr < out->size;
	}
	wire_free(&answer);
	if (!known)
		memset(out, 0, sizeof(*out));
	if (m->given_up)
		return known;
	if (hash_count(&m->around) >= AROUND_MAX)
		hash_free_ptrs(&m->around);
	kept = malloc(sizeof(*kept));
	if (kept) {
		*kept = *out;
		if (hash_put_ptr(&m->around, vaddr, kept))
			free(kept);
	}
	return known;
}

bool module_function(const struct module *m, uint64_t vaddr, uint64_t *start)
{
	struct elf_symbol around;

	if (!module_around(m, vaddr, &around))
		return false;
	*start = around.vaddr;
	return true;
}

/* --- imports ---------------------------------------------------------------------------------- */

static void read_imports(struct module *m)
{
	const struct reader_asks asks = { .question = READER_IMPORTS };
	struct wire answer;
	char *name, *all;
	size_t len;

	m->imports = calloc(1, 1);
	m->imports_len = 0;
	if (!m->imports || reader_ask_module(m, &asks, &answer))
		return;
	/*
	 * The texts need less room than the answer, because in the answer each text is preceded by
	 * its length.
	 */
	all = realloc(m->imports, answer.len + 1);
	if (all)
		m->imports = all;
	while (all && answer.at < answer.len) {
		wire_long_text(&answer, &name, NAME_BYTES);
		if (answer.bad)
			break;
		len = strlen(name) + 1;
		memcpy(m->imports + m->imports_len, name, len);
		m->imports_len += len;
		free(name);
	}
	wire_free(&answer);
}

bool module_imports(const struct module *module, const char *name)
{
	struct module *m = (struct module *)(uintptr_t)module;
	size_t at, len = strlen(name);
	const char *have;

	if (!m->imports)
		read_imports(m);
	for (at = 0; m->imports && at < m->imports_len; at += strlen(have) + 1) {
		have = m->imports + at;
		if (!strncmp(have, name, len) && (!have[len] || have[len] == '@'))
			return true;
	}
	return false;
}

/* --- parallel regions ------------------------------------------------------------------------- */

/* Add a function, unless it is known already. */
static void add_outlined(struct module *m, const struct module_probe_site *found)
{
	struct module_probe_site *probe_site;

	array_for_each (p, m->places, m->nplaces)
		if (p->start == found->start && !p->end &&
		    p->function->role == found->function->role)
			return;
	probe_site = module_probe_site_new(m);
	if (probe_site)
		*probe_site = *found;
}

int module_find_outlined(struct module *m, uint8_t family, uint64_t offset, uint64_t caller)
{
	struct reader_asks asks = { .question = READER_OUTLINED, .family = family };
	struct module_probe_site *found = NULL;
	struct wire answer;
	bool nothing = true;
	uint32_t n = 0, i;
	int err;

	if (!m->is_elf || module_offset_to_vaddr(m, offset, &asks.a))
		return -ENOENT;
	if (caller && module_offset_to_vaddr(m, caller, &asks.b))
		asks.b = 0;
	err = reader_ask_module(m, &asks, &answer);
	found = err ? NULL : malloc(sizeof(*found));
	if (!found)
		goto out;
	WIRE_BOOL(&answer, nothing);
	WIRE(&answer, n, MODULE_PLACES_MAX);
	for (i = 0; i < n; i++) {
		memset(found, 0, sizeof(*found));
		reader_wire_probe_site(m, &answer, found);
		if (answer.bad || found->function != family_outlined(family) ||
		    !module_probe_site_is_sound(m, found))
			break;
		add_outlined(m, found);
	}
out:
	free(found);
	wire_free(&answer);
	if (err)
		return err;
	return nothing ? -ENOENT : 0;
}

/* --- why a file was not read ------------------------------------------------------------------ */

bool module_is_unread(const struct module *m)
{
	return m->error == -EDQUOT || m->error == -EPIPE || m->error == -ENOMEM ||
	       m->error == -ETIMEDOUT;
}

const char *module_why(int error)
{
	switch (error) {
	case -EDQUOT:
	case -EPIPE:
	case -ENOMEM:
		return "reading it takes more than 5 s of CPU time or 512 MiB, or the file is "
		       "damaged";
	case -ETIMEDOUT:
		return "the process that reads files did not answer";
	default:
		return strerror(-error);
	}
}
