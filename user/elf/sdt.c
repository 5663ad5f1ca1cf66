// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/sdt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

#define SDT_OWNER	 "stapsdt"
#define SDT_TYPE	 3
/* number of addresses in a note (marker, base and semaphore), before the strings */
#define SDT_ADDRESSES	 3
#define SDT_SECTIONS_MAX 16 /* maximum number of sections named .note.stapsdt that are read */
#define SDT_NOTES_MAX	 65536 /* maximum number of notes that are stored */
/*
 * maximum number of symbols that are looked up in one file: each look-up walks through all symbols
 */
#define SDT_RESOLVE_MAX	 64

struct sdt_reader {
	const struct elf_file *elf;
	const char *provider; /* NULL: all providers */
	struct elf_range base; /* .stapsdt.base; its size is 0 if there is none */
	uint16_t machine;
	uint32_t resolved;
	size_t room; /* number of notes for which out->notes has room */
	struct sdt_list *out;
};

/* Split @len bytes into three strings. Return false if a string does not end within these bytes. */
static bool sdt_strings(const char *at, size_t len, const char *out[3])
{
	size_t i, n;

	for (i = 0; i < 3; i++) {
		n = strnlen(at, len);
		if (n == len)
			return false;
		out[i] = at;
		at += n + 1;
		len -= n + 1;
	}
	return true;
}

static int sdt_resolve(const char *name, uint64_t *vaddr, void *ctx)
{
	struct sdt_reader *r = ctx;

	if (r->resolved >= SDT_RESOLVE_MAX)
		return -ENOENT;
	r->resolved++;
	return elf_find_object(r->elf, name, vaddr);
}

static int sdt_add(struct sdt_reader *r, const uint64_t address[SDT_ADDRESSES],
		   const char *const strings[3])
{
	struct sdt_list *out = r->out;
	struct sdt_note *note;
	uint64_t moved = 0;

	if (out->n == SDT_NOTES_MAX) {
		out->beyond++;
		return 0;
	}
	if (r->base.size && address[1])
		moved = r->base.vaddr - address[1];
	if (grow(out->notes, r->room, out->n + 1))
		return -ENOMEM;
	note = &out->notes[out->n];
	*note = (struct sdt_note){ .vaddr = address[0] + moved,
				   .semaphore = address[2] ? address[2] + moved : 0,
				   .provider = strings[0],
				   .name = strings[1],
				   .text = strings[2] };
	if (!address[0] || elf_vaddr_to_offset(r->elf, note->vaddr, &note->offset)) {
		out->elsewhere++;
		return 0;
	}
	note->n_args =
		sdt_parse_args(r->machine, strings[2], sdt_resolve, r, note->args, SDT_ARGS_MAX);
	out->n++;
	return 0;
}

static int sdt_take(struct sdt_reader *r, const char *desc, size_t len)
{
	uint64_t address[SDT_ADDRESSES];
	const char *strings[3];

	if (len < sizeof(address) ||
	    !sdt_strings(desc + sizeof(address), len - sizeof(address), strings)) {
		r->out->malformed++;
		return 0;
	}
	if (r->provider && strcmp(r->provider, strings[0]) != 0)
		return 0;
	memcpy(address, desc, sizeof(address));
	return sdt_add(r, address, strings);
}

static size_t sdt_align(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/*
 * Parse the notes in @bytes. The bytes must live as long as the list, because its strings point
 * into them.
 */
static int sdt_walk(struct sdt_reader *r, const char *bytes, size_t len)
{
	size_t at = 0, name, desc;
	Elf64_Nhdr note;
	int err = 0;

	while (!err && len - at >= sizeof(note)) {
		memcpy(&note, bytes + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + sdt_align(note.n_namesz);
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (note.n_type == SDT_TYPE && note.n_namesz == sizeof(SDT_OWNER) &&
		    !memcmp(bytes + name, SDT_OWNER, sizeof(SDT_OWNER)))
			err = sdt_take(r, bytes + desc, note.n_descsz);
		at = desc + sdt_align(note.n_descsz);
		if (at > len)
			at = len;
	}
	if (!err && at < len)
		r->out->malformed++;
	return err;
}

/* Load all sections .note.stapsdt one after another. Store the end of each section in @ends. */
static int sdt_load(struct sdt_reader *r, size_t *ends, size_t *n)
{
	struct elf_range range;
	const uint8_t *bytes;
	size_t got, len = 0;
	char *more;

	for (*n = 0; *n < SDT_SECTIONS_MAX; (*n)++) {
		if (!elf_section(r->elf, ".note.stapsdt", *n, &range))
			return 0;
		got = elf_bytes(r->elf, range.offset, (size_t)range.size, &bytes);
		if (got < range.size)
			r->out->malformed++;
		more = realloc(r->out->strings, len + got + 1);
		if (!more)
			return -ENOMEM;
		r->out->strings = more;
		if (got)
			memcpy(more + len, bytes, got);
		len += got;
		ends[*n] = len;
	}
	return 0;
}

int sdt_read(const struct elf_file *elf, const char *provider, struct sdt_list *out)
{
	struct sdt_reader r = { .elf = elf, .provider = provider, .out = out };
	size_t ends[SDT_SECTIONS_MAX], n, i, from = 0;
	int err;

	memset(out, 0, sizeof(*out));
	r.machine = elf_machine(elf);
	if (!elf_section(elf, ".stapsdt.base", 0, &r.base))
		r.base.size = 0;
	err = sdt_load(&r, ends, &n);
	for (i = 0; i < n && !err; i++) {
		err = sdt_walk(&r, out->strings + from, ends[i] - from);
		from = ends[i];
	}
	if (err)
		sdt_free(out);
	return err;
}

void sdt_free(struct sdt_list *list)
{
	free(list->notes);
	free(list->strings);
	memset(list, 0, sizeof(*list));
}
