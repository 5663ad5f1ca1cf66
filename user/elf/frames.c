// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX (64u << 20) /* maximum number of bytes of a table that are read */

/*
 * The unwind table .eh_frame. It is untrusted: before a record is read, check that the record lies
 * inside the table.
 */
struct frames {
	const uint8_t *bytes;
	size_t len;
	uint64_t vaddr;
	bool open;
	/* Position of the common record (CIE) that was used last, and its encoding of addresses. */
	size_t cie;
	int cie_encoding;
	frames_fn each;
	void *ctx;
};

static uint32_t get_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static bool skip_leb(const uint8_t *bytes, size_t end, size_t *pos)
{
	while (*pos < end)
		if (!(bytes[(*pos)++] & 0x80))
			return true;
	return false;
}

/*
 * Return the size in bytes of a code address in this encoding, or 0 if code addresses are never
 * encoded in this way.
 */
static size_t encoding_size(int encoding)
{
	switch (encoding & ~0x10) {
	case 0x00: /* an address */
	case 0x04:
	case 0x0c:
		return 8;
	case 0x03:
	case 0x0b:
		return 4;
	default:
		return 0;
	}
}

/*
 * Return the pointer encoding that the augmentation "zR..." of the record in [pos, end) names, or
 * -1 if unknown.
 */
static int cie_encoding(const struct frames *f, size_t pos, size_t end)
{
	size_t letters, skip;
	uint8_t version;

	if (pos >= end)
		return -1;
	version = f->bytes[pos++];
	letters = pos;
	while (pos < end && f->bytes[pos])
		pos++;
	if (pos++ >= end || (version != 1 && version != 3))
		return -1;
	if (f->bytes[letters] != 'z')
		return f->bytes[letters] ? -1 : 0;
	/*
	 * Skip four fields: code alignment factor, data alignment factor, return address register,
	 * and length of the augmentation.
	 */
	if (!skip_leb(f->bytes, end, &pos) || !skip_leb(f->bytes, end, &pos))
		return -1;
	if (version == 1)
		pos++;
	else if (!skip_leb(f->bytes, end, &pos))
		return -1;
	if (!skip_leb(f->bytes, end, &pos))
		return -1;
	for (letters++; f->bytes[letters]; letters++) {
		if (pos >= end)
			return -1;
		switch (f->bytes[letters]) {
		case 'R':
			return f->bytes[pos];
		case 'L':
			pos++;
			break;
		case 'P':
			skip = encoding_size(f->bytes[pos] & 0x7f);
			if (!skip)
				return -1;
			pos += 1 + skip;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return -1;
		}
	}
	return 0;
}

/* Find the contents of the record at @pos. Return false if there is no record. */
static bool frames_record(const struct frames *f, size_t pos, size_t *body, size_t *end)
{
	uint32_t len;

	if (f->len < 8 || pos > f->len - 8)
		return false;
	len = get_u32(f->bytes + pos);
	/* 0xffffffff announces the 64-bit format, which no compiler uses here. */
	if (len < 4 || len > f->len - pos - 4)
		return false;
	*body = pos + 4;
	*end = *body + len;
	return true;
}

static int frames_encoding(struct frames *f, size_t cie)
{
	size_t body, end;

	if (cie != f->cie) {
		f->cie = cie;
		f->cie_encoding = -1;
		if (frames_record(f, cie, &body, &end) && !get_u32(f->bytes + body))
			f->cie_encoding = cie_encoding(f, body + 4, end);
	}
	return f->cie_encoding;
}

static uint64_t frames_number(const struct frames *f, size_t pos, size_t size, bool is_signed)
{
	uint64_t value = 0;

	memcpy(&value, f->bytes + pos, size);
	return size == 4 && is_signed ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value;
}

static int frames_function(struct frames *f, size_t body, size_t end)
{
	uint32_t back = get_u32(f->bytes + body);
	uint64_t start, len;
	int encoding;
	size_t size;

	if (!back || back > body)
		return 0;
	encoding = frames_encoding(f, body - back);
	size = encoding < 0 ? 0 : encoding_size(encoding);
	body += 4;
	if (!size || end - body < 2 * size)
		return 0;
	start = frames_number(f, body, size, encoding & 8);
	if (encoding & 0x10)
		start += f->vaddr + body;
	len = frames_number(f, body + size, size, false);
	return f->each(f->ctx, start, len);
}

static int frames_walk(struct frames *f)
{
	size_t pos = 0, body, end;
	int err = 0;

	while (!err && f->len - pos >= 8) {
		if (frames_record(f, pos, &body, &end)) {
			err = frames_function(f, body, end);
			pos = end;
		} else if (!get_u32(f->bytes + pos) && !f->open) {
			pos += 4; /* a terminator that a linker left between records */
		} else {
			break;
		}
	}
	return err;
}

int frames_each(const struct elf_file *elf, frames_fn each, void *ctx)
{
	struct frames f = { .cie = SIZE_MAX, .each = each, .ctx = ctx };
	struct elf_range range;
	const uint8_t *part;
	uint8_t *bytes;
	size_t n;
	int err;

	if (elf_frames(elf, &range))
		return 0;
	if (range.size > FRAMES_MAX)
		range.size = FRAMES_MAX;
	bytes = malloc(range.size);
	if (!bytes)
		return -ENOMEM;
	for (; f.len < range.size; f.len += n) {
		n = elf_bytes(elf, range.offset + f.len, range.size - f.len, &part);
		if (!n)
			break;
		memcpy(bytes + f.len, part, n);
	}
	f.bytes = bytes;
	f.vaddr = range.vaddr;
	f.open = range.open;
	err = frames_walk(&f);
	free(bytes);
	return err;
}
