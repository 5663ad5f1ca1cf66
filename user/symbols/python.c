// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/python.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/text.h"

#define INTERPRETERS_MAX 64
#define THREADS_MAX	 16384
/* An offset above this is no offset in a struct of CPython. */
#define OFFSET_MAX	 (1u << 20)
#define TEXT_MAX	 4096 /* characters of a text that are read */

static const struct sbt_python_layout layouts[SBT_PYTHON_VERSIONS] = SBT_PYTHON_LAYOUTS;

int python_read_process(void *ctx, uint64_t address, void *out, size_t size)
{
	struct iovec to = { .iov_base = out, .iov_len = size };
	struct iovec from = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t n = process_vm_readv(*(const int *)ctx, &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

uint32_t python_version_of(const char *path)
{
	const char *name = text_base_name(path);
	char *end;
	unsigned long minor;

	if (name && !strncmp(name, "lib", 3))
		name += 3;
	if (!name || strncmp(name, "python3.", 8) != 0 || name[8] < '0' || name[8] > '9')
		return 0;
	minor = strtoul(name + 8, &end, 10);
	/*
	 * Letters for the build may follow, such as "d". A "t" is not among them: a build without a
	 * GIL has another layout.
	 */
	end += strspn(end, "dmu");
	return minor < 256 && (!*end || *end == '.') ? (uint32_t)minor : 0;
}

static int read_u64(const struct python_memory *memory, uint64_t address, uint64_t *out)
{
	return memory->read(memory->ctx, address, out, sizeof(*out));
}

/* --- the layout ------------------------------------------------------------------------------- */

/* The part of 3.13's _Py_DebugOffsets that is used: 64-bit words, after the cookie. */
enum debug_word {
	DEBUG_VERSION,
	DEBUG_FREE_THREADED,
	DEBUG_RUNTIME_HEAD = 4,
	DEBUG_INTERPRETER_NEXT = 7,
	DEBUG_INTERPRETER_THREADS,
	DEBUG_INTERPRETER_GIL = 13,
	DEBUG_STATE_NEXT = 20,
	DEBUG_STATE_FRAME = 22,
	DEBUG_STATE_PTHREAD,
	DEBUG_STATE_NATIVE,
	DEBUG_FRAME_BACK = 28,
	DEBUG_FRAME_CODE,
	DEBUG_FRAME_INSTR,
	DEBUG_FRAME_LOCALS,
	DEBUG_FRAME_OWNER,
	DEBUG_CODE_FILE = 34,
	DEBUG_CODE_NAME = 36,
	DEBUG_CODE_LINES,
	DEBUG_CODE_FIRST_LINE,
	DEBUG_CODE_FIRST_INSTR = 42,
	DEBUG_WORDS
};

/* Fill in the layout that the interpreter itself describes. */
static int layout_described(const struct python_memory *memory, uint64_t runtime,
			    struct sbt_python_layout *l)
{
	struct {
		char cookie[8];
		uint64_t word[DEBUG_WORDS];
	} debug;
	uint32_t i;

	if (memory->read(memory->ctx, runtime, &debug, sizeof(debug)))
		return -EFAULT;
	if (memcmp(debug.cookie, "xdebugpy", sizeof(debug.cookie)) != 0 ||
	    debug.word[DEBUG_VERSION] >> 16 != (0x0300u | l->minor) ||
	    debug.word[DEBUG_FREE_THREADED])
		return -ENOTSUP;
	for (i = DEBUG_RUNTIME_HEAD; i < DEBUG_WORDS; i++)
		if (debug.word[i] > OFFSET_MAX)
			return -ENOTSUP;
	l->head = (uint32_t)debug.word[DEBUG_RUNTIME_HEAD];
	l->next = (uint32_t)debug.word[DEBUG_INTERPRETER_NEXT];
	l->threads = (uint32_t)debug.word[DEBUG_INTERPRETER_THREADS];
	l->gil_of = (uint32_t)debug.word[DEBUG_INTERPRETER_GIL];
	l->state_next = (uint16_t)debug.word[DEBUG_STATE_NEXT];
	l->state_frame = (uint16_t)debug.word[DEBUG_STATE_FRAME];
	l->state_pthread = (uint16_t)debug.word[DEBUG_STATE_PTHREAD];
	l->state_native = (uint16_t)debug.word[DEBUG_STATE_NATIVE];
	l->back = (uint16_t)debug.word[DEBUG_FRAME_BACK];
	l->code = (uint16_t)debug.word[DEBUG_FRAME_CODE];
	l->instr = (uint16_t)debug.word[DEBUG_FRAME_INSTR];
	l->locals = (uint16_t)debug.word[DEBUG_FRAME_LOCALS];
	l->owner = (uint16_t)debug.word[DEBUG_FRAME_OWNER];
	l->file = (uint16_t)debug.word[DEBUG_CODE_FILE];
	l->name = (uint16_t)debug.word[DEBUG_CODE_NAME];
	l->lines = (uint16_t)debug.word[DEBUG_CODE_LINES];
	l->first_line = (uint16_t)debug.word[DEBUG_CODE_FIRST_LINE];
	l->first_instr = (uint16_t)debug.word[DEBUG_CODE_FIRST_INSTR];
	return 0;
}

int python_layout(uint32_t minor, const struct python_memory *memory, uint64_t runtime,
		  struct sbt_python_layout *layout)
{
	if (minor < SBT_PYTHON_FIRST || minor > SBT_PYTHON_LAST)
		return -ENOTSUP;
	*layout = layouts[minor - SBT_PYTHON_FIRST];
	return minor >= 13 ? layout_described(memory, runtime, layout) : 0;
}

/* --- texts ------------------------------------------------------------------------------------ */

static size_t put_utf8(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 7));
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void python_text(const uint8_t *chars, size_t n, uint32_t width, char *out, size_t size)
{
	size_t i, len, used = 0;
	char utf8[4];
	uint32_t c;

	for (i = 0; i < n; i++) {
		c = 0;
		memcpy(&c, chars + i * width, width); /* both machines are little-endian */
		len = put_utf8(c, utf8);
		if (used + len >= size)
			break;
		memcpy(out + used, utf8, len);
		used += len;
	}
	out[used] = '\0';
}

/*
 * Read a str as UTF-8. Text that does not fit is cut at its end or, if @tail, at its beginning. On
 * failure the result is "".
 */
static void read_text(const struct sbt_python_layout *l, const struct python_memory *memory,
		      uint64_t at, bool tail, char *out, size_t size)
{
	uint8_t chars[4 * PYTHON_FILE_MAX];
	uint32_t state, width, n;
	uint64_t length;

	*out = '\0';
	if (!at || read_u64(memory, at + SBT_PYTHON_SIZE, &length) ||
	    memory->read(memory->ctx, at + SBT_PYTHON_TEXT_STATE, &state, sizeof(state)))
		return;
	width = state >> 2 & 7;
	/* A text that is not compact has its characters elsewhere. No name is such a text. */
	if (!(state >> 5 & 1) || (width != 1 && width != 2 && width != 4) || length > TEXT_MAX)
		return;
	at += state >> 6 & 1 ? l->ascii : l->text;
	n = (uint32_t)length;
	if (n > size - 1) {
		at += tail ? (uint64_t)width * (n - (size - 1)) : 0;
		n = (uint32_t)(size - 1);
	}
	if (n * width <= sizeof(chars) && !memory->read(memory->ctx, at, chars, (size_t)n * width))
		python_text(chars, n, width, out, size);
}

/* --- line tables ------------------------------------------------------------------------------ */

/* 3.9, co_lnotab: pairs of the distance to the next line's code and the distance to that line. */
static int64_t line_by_pairs(const uint8_t *lines, size_t size, int64_t line, uint32_t at)
{
	uint32_t address = 0;
	size_t i;

	/* The function has not begun. */
	if (at > INT32_MAX)
		return 0;

	for (i = 0; i + 1 < size; i += 2) {
		address += lines[i];
		if (address > at)
			break;
		line += (int8_t)lines[i + 1];
	}
	return line;
}

/* 3.10, co_linetable: pairs of the size of the code and the distance from the line before. */
static int64_t line_by_sizes(const uint8_t *lines, size_t size, int64_t line, uint32_t at)
{
	uint32_t end = 0;
	int8_t step;
	size_t i;

	for (i = 0; i + 1 < size; i += 2) {
		step = (int8_t)lines[i + 1];
		if (step != -128)
			line += step;
		end += lines[i];
		if (at < end)
			return step == -128 ? 0 : line;
	}
	return 0;
}

/* Read a number of 6-bit groups, the lowest first; bit 6 of a byte: another one follows. */
static uint32_t read_number(const uint8_t *lines, size_t size, size_t *i)
{
	uint32_t value = 0, shift = 0;
	uint8_t byte;

	do {
		if (*i >= size)
			return 0;
		byte = lines[(*i)++];
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

/* From 3.11, co_linetable: entries of one form of location each. */
static int64_t line_by_entries(const uint8_t *lines, size_t size, int64_t line, uint32_t at)
{
	enum { ONE_LINE = 10, NO_COLUMN = 13, LONG = 14, NONE = 15 };
	uint32_t end = 0, form, value;
	size_t i = 0;

	while (i < size) {
		form = lines[i] >> 3 & 15;
		end += 2 * ((lines[i] & 7) + 1u);
		i++;
		if (form == NO_COLUMN || form == LONG) {
			value = read_number(lines, size, &i);
			line += value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
		} else if (form >= ONE_LINE && form < NO_COLUMN) {
			line += form - ONE_LINE;
		}
		if (at < end)
			return form == NONE ? 0 : line;
		/* The rest of an entry: its bytes have no bit 7, which begins the next entry. */
		while (i < size && !(lines[i] & 0x80))
			i++;
	}
	return 0;
}

uint32_t python_line(uint32_t minor, const uint8_t *lines, size_t size, uint32_t first_line,
		     uint32_t at)
{
	int64_t line = minor >= 11   ? line_by_entries(lines, size, first_line, at)
		       : minor == 10 ? line_by_sizes(lines, size, first_line, at)
				     : line_by_pairs(lines, size, first_line, at);

	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Return whether the object is a code object, as the name of its type shows. */
static bool is_code(const struct python_memory *memory, uint64_t code)
{
	uint64_t type, name;
	char text[5];

	return code && !read_u64(memory, code + SBT_PYTHON_TYPE, &type) && type &&
	       !read_u64(memory, type + SBT_PYTHON_TYPE_NAME, &name) &&
	       !memory->read(memory->ctx, name, text, sizeof(text)) &&
	       !memcmp(text, "code", sizeof(text));
}

/* Return the distance of the frame's instruction from the first one in bytes; -1: not begun. */
static int64_t instruction(const struct sbt_python_layout *l, const struct python_memory *memory,
			   uint64_t frame, uint64_t code)
{
	uint64_t at;
	int32_t index;

	if (l->first_instr)
		return read_u64(memory, frame + l->instr, &at)
			       ? -1
			       : (int64_t)(at - code - l->first_instr);
	if (memory->read(memory->ctx, frame + l->instr, &index, sizeof(index)))
		return -1;
	/* 3.10 counts instructions of two bytes. */
	return l->minor >= 10 ? 2 * (int64_t)index : index;
}

/* Return the first line of the function, or 0. */
static uint32_t first_line_of(const struct sbt_python_layout *l, const struct python_memory *memory,
			      uint64_t code)
{
	int32_t first;

	if (memory->read(memory->ctx, code + l->first_line, &first, sizeof(first)) || first < 0)
		return 0;
	return (uint32_t)first;
}

/*
 * @first: the first line of the function. @at: distance of the instruction from the first one in
 * bytes; -1: not begun.
 */
static uint32_t line_of(const struct sbt_python_layout *l, const struct python_memory *memory,
			uint64_t code, uint32_t first, int64_t at)
{
	uint64_t table, size;
	uint8_t *lines;
	uint32_t line = 0;

	if (!first || at < 0 || read_u64(memory, code + l->lines, &table) || !table ||
	    read_u64(memory, table + SBT_PYTHON_SIZE, &size))
		return first;
	/* The last line of a table that is cut is not the last one of the function. */
	if (size > PYTHON_LINES_MAX)
		return 0;
	lines = at > UINT32_MAX ? NULL : malloc(size + 1);
	if (lines && !memory->read(memory->ctx, table + SBT_PYTHON_BYTES, lines, size))
		line = python_line(l->minor, lines, size, first, (uint32_t)at);
	free(lines);
	return line;
}

/* Return the number of the thread with this state, or 0. */
static uint32_t thread_of(const struct sbt_python_layout *l, const struct python_memory *memory,
			  uint64_t state)
{
	uint64_t id = 0, pthread;

	if (l->state_native)
		return read_u64(memory, state + l->state_native, &id) ? 0 : (uint32_t)id;
	if (read_u64(memory, state + l->state_pthread, &pthread) ||
	    read_u64(memory, pthread + SBT_PYTHON_PTHREAD_TID, &id))
		return 0;
	return (uint32_t)id;
}

static uint64_t find_state(const struct sbt_python_layout *l, const struct python_memory *memory,
			   uint64_t interpreter, uint32_t tid, uint32_t *left)
{
	uint64_t state;

	if (read_u64(memory, interpreter + l->threads, &state))
		return 0;
	for (; state && *left; (*left)--) {
		if (thread_of(l, memory, state) == tid)
			return state;
		if (read_u64(memory, state + l->state_next, &state))
			return 0;
	}
	return 0;
}

static uint64_t first_frame(const struct sbt_python_layout *l, const struct python_memory *memory,
			    uint64_t state)
{
	uint64_t frame;

	if (read_u64(memory, state + l->state_frame, &frame) || !frame)
		return 0;
	if (l->by_cframe && read_u64(memory, frame + l->cframe, &frame))
		return 0;
	return frame;
}

/* Return whether the frame is that of a C function, which executes no Python code. */
static bool is_c(const struct sbt_python_layout *l, const struct python_memory *memory,
		 uint64_t frame)
{
	uint8_t owner;

	return l->owner && !memory->read(memory->ctx, frame + l->owner, &owner, sizeof(owner)) &&
	       owner >= SBT_PYTHON_OWNER_C;
}

static int read_code(const struct sbt_python_layout *l, const struct python_memory *memory,
		     uint64_t code, int64_t at, struct python_frame *out)
{
	uint64_t name, file;

	memset(out, 0, sizeof(*out));
	if (!is_code(memory, code) || read_u64(memory, code + l->name, &name) ||
	    read_u64(memory, code + l->file, &file))
		return -EFAULT;
	read_text(l, memory, name, false, out->function, sizeof(out->function));
	read_text(l, memory, file, true, out->file, sizeof(out->file));
	out->first_line = first_line_of(l, memory, code);
	out->line = line_of(l, memory, code, out->first_line, at);
	return 0;
}

int python_code(const struct sbt_python_layout *layout, const struct python_memory *memory,
		uint64_t code, uint32_t at, struct python_frame *out)
{
	return read_code(layout, memory, code, at, out);
}

static int read_frame(const struct sbt_python_layout *l, const struct python_memory *memory,
		      uint64_t frame, struct python_frame *out)
{
	uint64_t code;

	if (read_u64(memory, frame + l->code, &code))
		return -EFAULT;
	return read_code(l, memory, code, instruction(l, memory, frame, code), out);
}

int python_frames(const struct sbt_python_layout *layout, const struct python_memory *memory,
		  uint64_t runtime, uint32_t tid, struct python_frame *frames, uint32_t max)
{
	uint64_t interpreter, state = 0, frame;
	uint32_t i, n = 0, left = THREADS_MAX;

	if (read_u64(memory, runtime + layout->head, &interpreter))
		return -EFAULT;
	for (i = 0; interpreter && i < INTERPRETERS_MAX && !state; i++) {
		state = find_state(layout, memory, interpreter, tid, &left);
		if (!state && read_u64(memory, interpreter + layout->next, &interpreter))
			return -EFAULT;
	}
	if (!state)
		return -ESRCH;
	if (max > PYTHON_FRAMES_MAX)
		max = PYTHON_FRAMES_MAX;
	frame = first_frame(layout, memory, state);
	/* Between two Python frames there is at most one C frame. */
	for (i = 0; frame && n < max && i < 2 * PYTHON_FRAMES_MAX; i++) {
		if (!is_c(layout, memory, frame) &&
		    read_frame(layout, memory, frame, &frames[n++])) {
			n--;
			break;
		}
		if (read_u64(memory, frame + layout->back, &frame))
			break;
	}
	return (int)n;
}
