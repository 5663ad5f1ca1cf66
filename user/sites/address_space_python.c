// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Call sites and positions in Python code. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/address_space_internal.h"
#include "symbols/python.h"

/* A line table: the bytes of it that were sent. */
struct python_lines {
	const uint8_t *bytes;
	uint64_t at; /* address of the table in the process */
	uint64_t size;
	uint32_t len; /* number of `bytes` */
	uint32_t first_line;
	uint8_t minor;
};

/*
 * A function as the kernel sent it. The process may have ended, or may have freed the function,
 * when its samples are handled.
 */
struct python_function {
	struct python_lines table;
	uint32_t size; /* bytes of this struct */
	const char *file, *name; /* in `bytes` */
	uint8_t bytes[]; /* what was sent of the line table, then the texts */
};

/* While functions have this many bytes in all, no more are kept: their process is read. */
#define PYTHON_FUNCTIONS_MOST (64u << 20)
/* Maximum number of positions with a known site; then all are looked up again. */
#define PYTHON_POSITIONS_MOST (1u << 20)

/* The functions of Python's library that wait, as reports name them. */
static const char *const python_waits[SBT_PYTHON_WHATS] = {
	[SBT_PYTHON_BARRIER] = "Barrier.wait",
	[SBT_PYTHON_EVENT] = "Event.wait",
	[SBT_PYTHON_QUEUE] = "Queue.join",
	[SBT_PYTHON_FUTURES] = "concurrent.futures.wait",
	[SBT_PYTHON_POOL] = "multiprocessing.Pool",
	[SBT_PYTHON_CONDITION] = "Condition.wait",
};

/* Return the line table in a record. */
static struct python_lines python_lines_of(const struct sbt_python_site *site)
{
	return (struct python_lines){
		.bytes = site->lines,
		.at = site->lines_at,
		.size = site->lines_size,
		.len = site->lines_len <= sizeof(site->lines) ? site->lines_len : 0,
		.first_line = site->first_line,
		.minor = site->minor,
	};
}

/*
 * Return the line of the instruction @at bytes from the first one. If not all of the table was
 * sent, read it from the process.
 */
static uint32_t python_line_at(const struct address_space *space, const struct python_lines *table,
			       uint32_t at)
{
	int pid = (int)space->tgid;
	uint32_t line = 0;
	uint8_t *lines;

	/* The last line of a table that is cut is not the last one of the function. */
	if (table->size > PYTHON_LINES_MAX)
		return 0;
	if (table->len == table->size)
		return python_line(table->minor, table->bytes, table->len, table->first_line, at);
	lines = malloc(table->size + 1);
	if (lines && !python_read_process(&pid, table->at, lines, table->size))
		line = python_line(table->minor, lines, table->size, table->first_line, at);
	free(lines);
	return line;
}

/* Return whether the function has little code. The size of its line table grows with it. */
static bool python_is_compact(const struct sbt_python_site *site)
{
	return site->lines_size <= SBT_PYTHON_COMPACT(site->minor);
}

static void python_site_text(const struct sbt_python_text *text, const uint8_t *chars,
			     size_t nchars, char *out, size_t size)
{
	bool sound = (text->width == 1 || text->width == 2 || text->width == 4) &&
		     text->n <= nchars / text->width;

	python_text(chars, sound ? text->n : 0, sound ? text->width : 1, out, size);
}

/* The texts of a record, as untrusted UTF-8. */
struct python_texts {
	char file[4 * SBT_PYTHON_FILE_LEN], name[4 * SBT_PYTHON_NAME_LEN];
};

static void python_texts(const struct sbt_python_site *python, struct python_texts *out)
{
	python_site_text(&python->file, python->file_chars, sizeof(python->file_chars), out->file,
			 sizeof(out->file));
	python_site_text(&python->name, python->name_chars, sizeof(python->name_chars), out->name,
			 sizeof(out->name));
}

/* A program can make code without end: from so many sites on, new ones are one site together. */
#define PYTHON_SITES_MOST 65536

/* A position in Python code. */
struct python_position {
	const char *file, *function;
	const char *through; /* the function of the library that waits there, or NULL */
	uint32_t line;
	uint32_t declared; /* first line of the function; 0: unknown */
};

/* Return the site of this position. */
static uint32_t python_site(struct address_spaces *s, const struct address_space *space,
			    const struct python_position *at)
{
	static const struct python_position other = { .file = "", .function = "other Python code" };
	char text[4 * SBT_PYTHON_FILE_LEN + 4 * SBT_PYTHON_NAME_LEN + 64];
	struct site key = { .module = (struct module *)(uintptr_t)space->python };
	struct site_frame *frame;
	uint32_t id;

	snprintf(text, sizeof(text), "%s:%u %s %s", at->file, at->line, at->function,
		 at->through ? at->through : "");
	if (at != &other && s->nsites >= PYTHON_SITES_MOST && !address_spaces_has(s, text))
		return python_site(s, space, &other);
	key.label = address_spaces_keep(s, text);
	if (!key.label)
		return ADDRESS_SPACE_SITE_NONE;
	if (!key.module)
		key.space = (uint64_t)space->tgid << 32 | space->inc;
	id = site_get_framed(s, &key, &frame);
	if (!frame)
		return id;
	frame->function = site_text(at->function);
	frame->file = site_text(at->file);
	frame->line = at->line;
	frame->declared = at->declared;
	s->sites[id]->name.through = at->through;
	return id;
}

uint32_t address_space_python_site(struct address_spaces *s, const struct address_space *space,
				   const struct sbt_python_site *python)
{
	struct python_lines table = python_lines_of(python);
	struct python_texts texts;
	struct python_position at;
	uint32_t id;

	python_texts(python, &texts);
	at = (struct python_position){
		.file = texts.file,
		.function = texts.name,
		.through = python->what < SBT_PYTHON_WHATS ? python_waits[python->what] : NULL,
		.line = python_line_at(space, &table, python->at),
		.declared = python->first_line,
	};
	id = python_site(s, space, &at);
	if (id == ADDRESS_SPACE_SITE_NONE || hash_put(&s->python_labels, python->label, id))
		return ADDRESS_SPACE_SITE_NONE;
	s->sites[id]->compact = python_is_compact(python);
	return id;
}

uint32_t address_space_python_label(const struct address_spaces *s, uint32_t label)
{
	uint64_t id;

	return hash_get(&s->python_labels, label, &id) ? (uint32_t)id : ADDRESS_SPACE_SITE_NONE;
}

static uint64_t function_key(uint64_t code, uint32_t number)
{
	return hash_mix(code ^ hash_mix(number));
}

/* Return a copy of what was sent, or NULL when out of memory. */
static struct python_function *function_new(const struct sbt_python_site *python)
{
	struct python_lines table = python_lines_of(python);
	struct python_texts texts;
	struct python_function *f;
	size_t size;

	python_texts(python, &texts);
	size = sizeof(*f) + table.len + strlen(texts.file) + strlen(texts.name) + 2;
	f = calloc(1, size);
	if (!f)
		return NULL;
	f->size = (uint32_t)size;
	f->table = table;
	f->table.bytes = memcpy(f->bytes, table.bytes, table.len);
	f->file = strcpy((char *)f->bytes + table.len, texts.file);
	f->name = strcpy((char *)f->bytes + table.len + strlen(texts.file) + 1, texts.name);
	return f;
}

int address_space_python_function(struct address_spaces *s, struct address_space *space,
				  const struct sbt_python_site *python)
{
	uint64_t key = function_key(python->code, python->label);
	struct python_function *f;

	/* Memory that was not resident could not be sent, but it may be possible to read it. */
	if (!python->name.n || !python->file.n || !python->lines_size)
		return 0;
	/* The kernel may forget that it has sent a function. */
	if (hash_get_ptr(&space->python_functions, key) ||
	    s->python_functions_size >= PYTHON_FUNCTIONS_MOST)
		return 0;
	f = function_new(python);
	if (!f)
		return -ENOMEM;
	if (hash_put_ptr(&space->python_functions, key, f)) {
		free(f);
		return -ENOMEM;
	}
	s->python_functions_size += f->size;
	return 0;
}

void python_functions_free(struct address_spaces *s, struct address_space *space)
{
	struct hash_entry zero;
	const struct hash_entry *e;
	size_t pos = 0;

	while ((e = hash_next(&space->python_functions, &pos, &zero)))
		s->python_functions_size -=
			((const struct python_function *)(uintptr_t)e->value)->size;
	hash_free_ptrs(&space->python_functions);
}

/* Return the site of a position in a function that the kernel sent. */
static uint32_t sent_site(struct address_spaces *s, const struct address_space *space,
			  const struct python_function *f, uint32_t at)
{
	return python_site(s, space,
			   &(struct python_position){ .file = f->file,
						      .function = f->name,
						      .line = python_line_at(space, &f->table, at),
						      .declared = f->table.first_line });
}

/* Return the site of a position in a function that was not sent, and is read from the process. */
static uint32_t read_site(struct address_spaces *s, const struct address_space *space,
			  uint64_t code, uint32_t at)
{
	int pid = (int)space->tgid;
	struct python_memory memory = { &pid, python_read_process };
	struct python_frame frame;

	if (!space->python || python_code(&space->python_layout, &memory, code, at, &frame))
		return ADDRESS_SPACE_SITE_NONE;
	return python_site(s, space,
			   &(struct python_position){ .file = frame.file,
						      .function = frame.function,
						      .line = frame.line,
						      .declared = frame.first_line });
}

uint32_t address_space_python_code(struct address_spaces *s, const struct address_space *space,
				   const struct sbt_python_at *python)
{
	uint64_t function = function_key(python->code, python->function), known;
	uint64_t process = (uint64_t)space->tgid << 32 | space->inc;
	uint64_t key = hash_mix(hash_mix(function ^ python->at) ^ process);
	const struct python_function *f = hash_get_ptr(&space->python_functions, function);
	uint32_t id;

	if (hash_get(&s->python_codes, key, &known))
		return (uint32_t)known;
	id = f ? sent_site(s, space, f, python->at) : read_site(s, space, python->code, python->at);
	/* Programs that make functions without end have new positions without end. */
	if (hash_count(&s->python_codes) >= PYTHON_POSITIONS_MOST)
		hash_free(&s->python_codes);
	/* Without the entry, the function is looked up again. */
	if (id != ADDRESS_SPACE_SITE_NONE)
		hash_put(&s->python_codes, key, id);
	return id;
}

void python_sites_free(struct address_spaces *s)
{
	hash_free(&s->python_codes);
	hash_free(&s->python_labels);
}

uint32_t address_space_find_python(struct address_spaces *s, struct address_space *space)
{
	int pid = (int)space->tgid;
	struct python_memory memory = { &pid, python_read_process };
	const struct maps_entry *e = NULL;
	const struct module *m = NULL;
	uint64_t vaddr, runtime;
	uint32_t minor;
	size_t i;

	space->python = NULL;
	for (i = 0; i < space->maps.n && !(m && m->python_runtime); i++) {
		e = &space->maps.entries[i];
		m = e->exec && e->ino ? modules_get(s->modules, pid, e) : NULL;
	}
	if (!m || !m->python_runtime || module_offset_to_vaddr(m, e->offset, &vaddr))
		return 0;
	runtime = e->start - vaddr + m->python_runtime;
	minor = m->python_minor ? m->python_minor : python_version_of(m->path);
	if (python_layout(minor, &memory, runtime, &space->python_layout))
		return 0;
	space->python = m;
	space->python_runtime = runtime;
	return minor;
}

uint32_t address_space_python_frames(struct address_spaces *s, const struct address_space *space,
				     uint32_t tid, uint32_t *sites, uint32_t max)
{
	int pid = (int)space->tgid, n;
	struct python_memory memory = { &pid, python_read_process };
	struct python_frame *frames;
	uint32_t i;

	frames = space->python ? calloc(PYTHON_FRAMES_MAX, sizeof(*frames)) : NULL;
	if (!frames)
		return 0;
	if (max > PYTHON_FRAMES_MAX)
		max = PYTHON_FRAMES_MAX;
	n = python_frames(&space->python_layout, &memory, space->python_runtime, tid, frames, max);
	for (i = 0; n > 0 && i < (uint32_t)n; i++) {
		sites[i] = python_site(s, space,
				       &(struct python_position){ .file = frames[i].file,
								  .function = frames[i].function,
								  .line = frames[i].line });
		if (sites[i] == ADDRESS_SPACE_SITE_NONE)
			break;
	}
	free(frames);
	return i;
}
