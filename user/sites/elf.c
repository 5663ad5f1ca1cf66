// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELF_LIBRARIES_MAX 16

#define ELF_TABLE_MAX (128ULL << 20) /* bytes of one table; a symbol table beyond is not read */
#define ELF_BYTES_MAX (1UL << 20) /* bytes of one elf_bytes() */
#define ELF_NOTES_MAX (1ULL << 20) /* bytes of one note segment */
#define ELF_NOTES_TRY 64 /* note segments, and note sections, looked into */
#define ELF_PHDRS_MAX 65536 /* bytes of program headers: what Linux takes at exec */
#define ELF_MATCH_MAX 4096 /* symbols of one name looked at: more is an attack */
#define ELF_GO_SCAN   (64ULL << 10) /* Go's build info is at the start of the data segment */

/* A part of the file copied into memory; always followed by a NUL that does not count. */
struct elf_part {
	uint8_t *bytes;
	size_t len;
};

struct elf_symbols {
	struct elf_part syms;
	struct elf_part strs;
	size_t count;
};

/* What DT_* entries say; 0: absent. Addresses as linked. */
struct elf_dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash, verdef, verdefnum, soname, flags_1;
	uint64_t libraries[ELF_LIBRARIES_MAX]; /* names, in the string table */
	uint32_t nlibraries; /* one more than fit: there are others */
	uint64_t after_symtab; /* the lowest address above symtab that any entry names */
	bool needed;
};

struct elf_file {
	int fd;
	uint64_t size; /* when opened */
	Elf64_Ehdr ehdr;
	struct elf_part phdrs;
	struct elf_part shdrs;
	struct elf_part shstrs;
	struct elf_part dyns;
	struct elf_dynamic dyn;
	struct elf_symbols dynsym;
	struct elf_symbols symtab;
	bool has_symtab;
	bool broken; /* a table that the file claims could not be read */
	struct elf_part *window; /* of elf_bytes() */
};

/* A visitor returns true to end the walk. */
typedef bool (*elf_note_fn)(uint32_t type, const char *name, size_t name_len, const uint8_t *desc,
			    size_t desc_len, void *ctx);

static void elf_part_free(struct elf_part *part)
{
	free(part->bytes);
	part->bytes = NULL;
	part->len = 0;
}

/* Reads what is there of [offset, offset + len); a file that shrank meanwhile gives less. */
static size_t elf_pread(const struct elf_file *elf, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	if (offset >= elf->size)
		return 0;
	if (len > elf->size - offset)
		len = (size_t)(elf->size - offset);
	while (done < len) {
		n = pread(elf->fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* All of [offset, offset + len), or nothing: -EBADMSG, -ENOMEM. */
static int elf_load(const struct elf_file *elf, uint64_t offset, uint64_t len, uint64_t max,
		    struct elf_part *part)
{
	uint8_t *bytes;

	if (!len || len > max || offset > elf->size || len > elf->size - offset)
		return -EBADMSG;
	bytes = malloc((size_t)len + 1);
	if (!bytes)
		return -ENOMEM;
	if (elf_pread(elf, bytes, (size_t)len, offset) != len) {
		free(bytes);
		return -EBADMSG;
	}
	bytes[len] = 0;
	elf_part_free(part);
	part->bytes = bytes;
	part->len = (size_t)len;
	return 0;
}

static size_t elf_phnum(const struct elf_file *elf)
{
	return elf->phdrs.len / sizeof(Elf64_Phdr);
}

/* By value: the tables come from malloc() and are aligned, but notes and others need not be. */
static Elf64_Phdr elf_phdr(const struct elf_file *elf, size_t i)
{
	Elf64_Phdr phdr;

	memcpy(&phdr, elf->phdrs.bytes + i * sizeof(phdr), sizeof(phdr));
	return phdr;
}

static size_t elf_shnum(const struct elf_file *elf)
{
	return elf->shdrs.len / sizeof(Elf64_Shdr);
}

static Elf64_Shdr elf_shdr(const struct elf_file *elf, size_t i)
{
	Elf64_Shdr shdr;

	memcpy(&shdr, elf->shdrs.bytes + i * sizeof(shdr), sizeof(shdr));
	return shdr;
}

/* The string at @offset of a string table: ends within it by the NUL behind every part. */
static const char *elf_string(const struct elf_part *strs, uint64_t offset)
{
	return offset < strs->len ? (const char *)strs->bytes + offset : "";
}

static void elf_copy_string(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
}

/* File offset of @vaddr in any PT_LOAD with all of @flags, and how many bytes of it follow. */
static int elf_locate(const struct elf_file *elf, uint64_t vaddr, uint32_t flags, uint64_t *offset,
		      uint64_t *room)
{
	Elf64_Phdr ph;
	uint64_t delta;
	size_t i;

	for (i = 0; i < elf_phnum(elf); i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type != PT_LOAD || (ph.p_flags & flags) != flags || vaddr < ph.p_vaddr)
			continue;
		delta = vaddr - ph.p_vaddr;
		if (delta >= ph.p_filesz || ph.p_offset >= elf->size ||
		    delta >= elf->size - ph.p_offset)
			continue;
		*offset = ph.p_offset + delta;
		*room = ph.p_filesz - delta;
		if (*room > elf->size - *offset)
			*room = elf->size - *offset;
		return 0;
	}
	return -ENOENT;
}

int elf_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset)
{
	uint64_t room;

	return elf_locate(elf, vaddr, PF_X, offset, &room);
}

int elf_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr)
{
	Elf64_Phdr ph;
	bool exec;
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < elf_phnum(elf); i++) {
			ph = elf_phdr(elf, i);
			exec = ph.p_flags & PF_X;
			if (ph.p_type != PT_LOAD || exec != (pass == 0))
				continue;
			if (offset < ph.p_offset || offset - ph.p_offset >= ph.p_filesz ||
			    offset >= elf->size)
				continue;
			if (__builtin_add_overflow(ph.p_vaddr, offset - ph.p_offset, vaddr))
				continue;
			return 0;
		}
	}
	return -ENOENT;
}

size_t elf_bytes(const struct elf_file *elf, uint64_t offset, size_t len, const uint8_t **out)
{
	struct elf_part *window = elf->window;
	uint8_t *bytes;

	*out = NULL;
	if (!len || offset >= elf->size)
		return 0;
	if (len > ELF_BYTES_MAX)
		len = ELF_BYTES_MAX;
	if (len > window->len) {
		bytes = realloc(window->bytes, len);
		if (!bytes)
			return 0;
		window->bytes = bytes;
		window->len = len;
	}
	len = elf_pread(elf, window->bytes, len, offset);
	if (len)
		*out = window->bytes;
	return len;
}

bool elf_code(const struct elf_file *elf, size_t i, struct elf_range *out)
{
	Elf64_Phdr ph;
	size_t at;

	for (at = 0; at < elf_phnum(elf); at++) {
		ph = elf_phdr(elf, at);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || ph.p_offset >= elf->size ||
		    !ph.p_filesz || i--)
			continue;
		memset(out, 0, sizeof(*out));
		out->vaddr = ph.p_vaddr;
		out->offset = ph.p_offset;
		out->size = elf->size - ph.p_offset;
		if (out->size > ph.p_filesz)
			out->size = ph.p_filesz;
		return true;
	}
	return false;
}

static bool elf_frames_by_section(const struct elf_file *elf, struct elf_range *out)
{
	Elf64_Shdr sh;
	size_t i;

	for (i = 0; i < elf_shnum(elf); i++) {
		sh = elf_shdr(elf, i);
		if (sh.sh_type == SHT_NOBITS || !(sh.sh_flags & SHF_ALLOC) || !sh.sh_size ||
		    sh.sh_offset >= elf->size || sh.sh_size > elf->size - sh.sh_offset ||
		    strcmp(elf_string(&elf->shstrs, sh.sh_name), ".eh_frame") != 0)
			continue;
		out->vaddr = sh.sh_addr;
		out->offset = sh.sh_offset;
		out->size = sh.sh_size;
		return true;
	}
	return false;
}

int elf_frames(const struct elf_file *elf, struct elf_range *out)
{
	uint8_t head[8]; /* version, three encodings, a pointer relative to itself */
	Elf64_Phdr ph;
	int32_t delta;
	size_t i;

	memset(out, 0, sizeof(*out));
	if (elf_frames_by_section(elf, out))
		return 0;
	for (i = 0; i < elf_phnum(elf); i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (elf_pread(elf, head, sizeof(head), ph.p_offset) != sizeof(head) ||
		    head[0] != 1 || head[1] != 0x1b)
			return -ENOENT;
		memcpy(&delta, head + 4, sizeof(delta));
		out->vaddr = ph.p_vaddr + 4 + (uint64_t)(int64_t)delta;
		out->open = true;
		return elf_locate(elf, out->vaddr, 0, &out->offset, &out->size);
	}
	return -ENOENT;
}

/* --- opening ------------------------------------------------------------------------------- */

static int elf_load_header(struct elf_file *elf)
{
	const unsigned char *id = elf->ehdr.e_ident;

	if (elf_pread(elf, &elf->ehdr, sizeof(elf->ehdr), 0) < SELFMAG ||
	    memcmp(id, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (elf->size < sizeof(elf->ehdr))
		return -EBADMSG;
	if (id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (elf->ehdr.e_type != ET_EXEC && elf->ehdr.e_type != ET_DYN)
		return -ENOTSUP;
	return 0;
}

/* Section headers are a help, not a need: a file without them, or with bad ones, is taken. */
static void elf_load_sections(struct elf_file *elf)
{
	uint64_t num = elf->ehdr.e_shnum, strndx = elf->ehdr.e_shstrndx;
	Elf64_Shdr first;

	if (!elf->ehdr.e_shoff || elf->ehdr.e_shentsize != sizeof(first))
		return;
	if (elf_load(elf, elf->ehdr.e_shoff, sizeof(first), sizeof(first), &elf->shdrs))
		return;
	first = elf_shdr(elf, 0);
	if (!num)
		num = first.sh_size;
	if (strndx == SHN_XINDEX)
		strndx = first.sh_link;
	if (num > ELF_TABLE_MAX / sizeof(first) ||
	    elf_load(elf, elf->ehdr.e_shoff, num * sizeof(first), ELF_TABLE_MAX, &elf->shdrs)) {
		elf_part_free(&elf->shdrs);
		return;
	}
	if (!strndx || strndx >= elf_shnum(elf))
		return;
	first = elf_shdr(elf, strndx);
	if (first.sh_type == SHT_STRTAB)
		elf_load(elf, first.sh_offset, first.sh_size, ELF_TABLE_MAX, &elf->shstrs);
}

static int elf_load_segments(struct elf_file *elf)
{
	uint64_t bytes = elf->ehdr.e_phnum * sizeof(Elf64_Phdr);

	if (elf->ehdr.e_phentsize != sizeof(Elf64_Phdr))
		return -EBADMSG;
	return elf_load(elf, elf->ehdr.e_phoff, bytes, ELF_PHDRS_MAX, &elf->phdrs);
}

/* Tables have no sizes here: one ends at the latest where another begins. */
static void elf_note_address(struct elf_dynamic *dyn, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_HASH:
	case DT_GNU_HASH:
	case DT_STRTAB:
	case DT_VERSYM:
	case DT_VERDEF:
	case DT_VERNEED:
	case DT_RELA:
	case DT_JMPREL:
	case DT_INIT:
	case DT_FINI:
	case DT_INIT_ARRAY:
	case DT_FINI_ARRAY:
	case DT_PLTGOT:
		break;
	default:
		return;
	}
	if (value > dyn->symtab && (!dyn->after_symtab || value < dyn->after_symtab))
		dyn->after_symtab = value;
}

static void elf_take_dynamic(struct elf_dynamic *dyn, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		dyn->symtab = entry->d_un.d_ptr;
		break;
	case DT_STRTAB:
		dyn->strtab = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		dyn->strsz = entry->d_un.d_val;
		break;
	case DT_HASH:
		dyn->hash = entry->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		dyn->gnu_hash = entry->d_un.d_ptr;
		break;
	case DT_VERDEF:
		dyn->verdef = entry->d_un.d_ptr;
		break;
	case DT_VERDEFNUM:
		dyn->verdefnum = entry->d_un.d_val;
		break;
	case DT_SONAME:
		dyn->soname = entry->d_un.d_val;
		break;
	case DT_FLAGS_1:
		dyn->flags_1 = entry->d_un.d_val;
		break;
	case DT_NEEDED:
		dyn->needed = true;
		if (dyn->nlibraries < ELF_LIBRARIES_MAX)
			dyn->libraries[dyn->nlibraries] = entry->d_un.d_val;
		dyn->nlibraries += dyn->nlibraries <= ELF_LIBRARIES_MAX;
		break;
	default:
		break;
	}
}

static void elf_load_dynamic(struct elf_file *elf)
{
	Elf64_Dyn entry;
	Elf64_Phdr ph;
	size_t i, n = 0;

	for (i = 0; i < elf_phnum(elf); i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type != PT_DYNAMIC)
			continue;
		if (elf_load(elf, ph.p_offset, ph.p_filesz, ELF_TABLE_MAX, &elf->dyns))
			elf->broken = true;
		break;
	}
	for (; n < elf->dyns.len / sizeof(entry); n++) {
		memcpy(&entry, elf->dyns.bytes + n * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		elf_take_dynamic(&elf->dyn, &entry);
	}
	for (i = 0; i < n; i++) {
		memcpy(&entry, elf->dyns.bytes + i * sizeof(entry), sizeof(entry));
		elf_note_address(&elf->dyn, entry.d_tag, entry.d_un.d_ptr);
	}
}

/* 32-bit words at a link-time address, as many as asked for or none. */
static bool elf_words_at(const struct elf_file *elf, uint64_t vaddr, uint32_t *words, size_t n)
{
	uint64_t offset, room;

	if (elf_locate(elf, vaddr, 0, &offset, &room) || room < n * sizeof(*words))
		return false;
	return elf_pread(elf, words, n * sizeof(*words), offset) == n * sizeof(*words);
}

/* The index behind the end of the hash chain at @vaddr, whose first symbol is @index; 0: no end. */
static uint64_t elf_end_of_chain(const struct elf_file *elf, uint64_t vaddr, uint64_t index)
{
	uint64_t offset, room;
	uint32_t words[256];
	size_t n, i;

	while (index < ELF_TABLE_MAX / sizeof(Elf64_Sym)) {
		if (elf_locate(elf, vaddr, 0, &offset, &room))
			return 0;
		n = room < sizeof(words) ? (size_t)room : sizeof(words);
		n = elf_pread(elf, words, n, offset) / sizeof(words[0]);
		if (!n)
			return 0;
		for (i = 0; i < n; i++, index++)
			if (words[i] & 1)
				return index + 1;
		vaddr += n * sizeof(words[0]);
	}
	return 0;
}

/*
 * The number of symbols by a DT_GNU_HASH table: the end of the last chain. 0 when it
 * hashes nothing, for then it does not say how many imports come before.
 */
static uint64_t elf_count_gnu_hash(const struct elf_file *elf)
{
	uint64_t buckets_at, chains_at, last = 0;
	uint32_t head[4], value, i; /* nbuckets, symoffset, bloom words, bloom shift */
	struct elf_part part = { 0 };
	uint64_t offset, room;

	if (!elf->dyn.gnu_hash || !elf_words_at(elf, elf->dyn.gnu_hash, head, 4) || !head[0])
		return 0;
	buckets_at = elf->dyn.gnu_hash + sizeof(head) + head[2] * 8ULL;
	chains_at = buckets_at + head[0] * 4ULL;
	if (elf_locate(elf, buckets_at, 0, &offset, &room) || room < head[0] * 4ULL ||
	    elf_load(elf, offset, head[0] * 4ULL, ELF_TABLE_MAX, &part))
		return 0;
	for (i = 0; i < head[0]; i++) {
		memcpy(&value, part.bytes + i * 4ULL, 4);
		if (value > last)
			last = value;
	}
	elf_part_free(&part);
	if (!last || last < head[1])
		return 0;
	return elf_end_of_chain(elf, chains_at + (last - head[1]) * 4, last);
}

static uint64_t elf_count_dynsym(const struct elf_file *elf)
{
	const struct elf_dynamic *dyn = &elf->dyn;
	uint32_t head[2];
	uint64_t count;

	if (dyn->hash && elf_words_at(elf, dyn->hash, head, 2))
		return head[1]; /* nchain: one a symbol */
	count = elf_count_gnu_hash(elf);
	if (!count && dyn->after_symtab)
		count = (dyn->after_symtab - dyn->symtab) / sizeof(Elf64_Sym);
	return count;
}

static void elf_symbols_free(struct elf_symbols *t)
{
	elf_part_free(&t->syms);
	elf_part_free(&t->strs);
	t->count = 0;
}

static int elf_load_symbols(const struct elf_file *elf, uint64_t syms, uint64_t bytes,
			    uint64_t strs, uint64_t strsz, struct elf_symbols *t)
{
	int err;

	err = elf_load(elf, syms, bytes, ELF_TABLE_MAX, &t->syms);
	if (!err)
		err = elf_load(elf, strs, strsz, ELF_TABLE_MAX, &t->strs);
	if (err)
		elf_symbols_free(t);
	else
		t->count = t->syms.len / sizeof(Elf64_Sym);
	return err;
}

/* .dynsym as the dynamic loader finds it: section headers may be missing or lie. */
static int elf_load_dynsym(struct elf_file *elf)
{
	uint64_t syms, strs, syms_room, strs_room, count;

	if (!elf->dyn.symtab || !elf->dyn.strtab)
		return -ENOENT;
	if (elf_locate(elf, elf->dyn.symtab, 0, &syms, &syms_room) ||
	    elf_locate(elf, elf->dyn.strtab, 0, &strs, &strs_room))
		return -EBADMSG;
	count = elf_count_dynsym(elf);
	if (!count)
		return -ENOENT;
	if (count > syms_room / sizeof(Elf64_Sym) || elf->dyn.strsz > strs_room)
		return -EBADMSG;
	return elf_load_symbols(elf, syms, count * sizeof(Elf64_Sym), strs, elf->dyn.strsz,
				&elf->dynsym);
}

static int elf_load_section_symbols(struct elf_file *elf, uint32_t type, struct elf_symbols *t)
{
	Elf64_Shdr sh, strs;
	size_t i;

	for (i = 0; i < elf_shnum(elf); i++) {
		sh = elf_shdr(elf, i);
		if (sh.sh_type != type)
			continue;
		if (sh.sh_link >= elf_shnum(elf) || sh.sh_entsize != sizeof(Elf64_Sym))
			return -EBADMSG;
		strs = elf_shdr(elf, sh.sh_link);
		if (strs.sh_type != SHT_STRTAB)
			return -EBADMSG;
		return elf_load_symbols(elf, sh.sh_offset, sh.sh_size, strs.sh_offset, strs.sh_size,
					t);
	}
	return -ENOENT;
}

static int elf_load_tables(struct elf_file *elf)
{
	int err;

	err = elf_load_dynsym(elf);
	if (err && err != -ENOMEM)
		err = elf_load_section_symbols(elf, SHT_DYNSYM, &elf->dynsym) == 0 ? 0 : err;
	if (err == -ENOMEM)
		return err;
	if (err == -EBADMSG)
		elf->broken = true;

	err = elf_load_section_symbols(elf, SHT_SYMTAB, &elf->symtab);
	if (err == -ENOMEM)
		return err;
	if (err == -EBADMSG)
		elf->broken = true;
	elf->has_symtab = err != -ENOENT;
	return 0;
}

int elf_open(int fd, struct elf_file **out)
{
	struct elf_file *elf;
	struct stat st;
	int err;

	*out = NULL;
	if (fstat(fd, &st))
		return -errno;
	/* A pipe or a device could block us, or act on being read. */
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	elf->fd = -1;
	elf->size = (uint64_t)st.st_size;
	elf->window = calloc(1, sizeof(*elf->window));
	err = -ENOMEM;
	if (!elf->window)
		goto out;
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	err = -errno;
	if (elf->fd < 0)
		goto out;
	err = elf_load_header(elf);
	if (err)
		goto out;
	elf_load_sections(elf);
	err = elf_load_segments(elf);
	if (err)
		goto out;
	elf_load_dynamic(elf);
	err = elf_load_tables(elf);
	if (err)
		goto out;
	*out = elf;
	return 0;
out:
	elf_close(elf);
	return err;
}

void elf_close(struct elf_file *elf)
{
	if (!elf)
		return;
	if (elf->fd >= 0)
		close(elf->fd);
	elf_part_free(&elf->phdrs);
	elf_part_free(&elf->shdrs);
	elf_part_free(&elf->shstrs);
	elf_part_free(&elf->dyns);
	elf_symbols_free(&elf->dynsym);
	elf_symbols_free(&elf->symtab);
	if (elf->window)
		elf_part_free(elf->window);
	free(elf->window);
	free(elf);
}

/* --- symbols --------------------------------------------------------------------------------- */

static Elf64_Sym elf_symbol(const struct elf_symbols *t, size_t i)
{
	Elf64_Sym sym;

	memcpy(&sym, t->syms.bytes + i * sizeof(sym), sizeof(sym));
	return sym;
}

/* Linkers write versions into .symtab names: "name@@GLIBC_2.34". */
static bool elf_name_is(const char *have, const char *want)
{
	size_t len = strlen(want);

	return !strncmp(have, want, len) && (!have[len] || have[len] == '@');
}

/* One more address of the function, or more about one already there. Returns the new number. */
static int elf_add_function(const struct elf_file *elf, const Elf64_Sym *sym, bool from_symtab,
			    struct elf_symbol *out, int max, int found)
{
	uint64_t offset;
	int i;

	if (elf_vaddr_to_offset(elf, sym->st_value, &offset))
		return found;
	for (i = 0; i < found && i < max; i++) {
		if (out[i].vaddr != sym->st_value)
			continue;
		if (sym->st_size > out[i].size)
			out[i].size = sym->st_size;
		return found;
	}
	if (found < max)
		out[found] = (struct elf_symbol){ .vaddr = sym->st_value,
						  .offset = offset,
						  .size = sym->st_size,
						  .from_symtab = from_symtab };
	return found + 1;
}

int elf_find_function(const struct elf_file *elf, const char *name, struct elf_symbol *out, int max)
{
	const struct elf_symbols *tables[] = { &elf->dynsym, &elf->symtab };
	Elf64_Sym sym;
	size_t t, i, matches = 0;
	int found = 0;

	for (t = 0; t < 2; t++) {
		for (i = 0; i < tables[t]->count; i++) {
			sym = elf_symbol(tables[t], i);
			if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) != STT_FUNC)
				continue;
			if (!elf_name_is(elf_string(&tables[t]->strs, sym.st_name), name))
				continue;
			/* Beyond @max nothing can be compared any more: stop telling apart. */
			if (found > max || ++matches > ELF_MATCH_MAX)
				return found;
			found = elf_add_function(elf, &sym, t == 1, out, max, found);
		}
	}
	return !found && elf->broken ? -EBADMSG : found;
}

/* --- traits ---------------------------------------------------------------------------------- */

static void elf_walk_notes(const struct elf_part *part, uint64_t align, elf_note_fn fn, void *ctx)
{
	size_t pos = 0, name_at, desc_at;
	Elf64_Nhdr note;

	align = align == 8 ? 8 : 4;
	while (part->len - pos >= sizeof(note)) {
		memcpy(&note, part->bytes + pos, sizeof(note));
		name_at = pos + sizeof(note);
		if (note.n_namesz > part->len - name_at)
			return;
		desc_at = (name_at + note.n_namesz + align - 1) & ~(align - 1);
		if (desc_at > part->len || note.n_descsz > part->len - desc_at)
			return;
		if (fn(note.n_type, (const char *)part->bytes + name_at, note.n_namesz,
		       part->bytes + desc_at, note.n_descsz, ctx))
			return;
		pos = (desc_at + note.n_descsz + align - 1) & ~(align - 1);
		if (pos > part->len)
			return;
	}
}

static void elf_for_each_note(const struct elf_file *elf, elf_note_fn fn, void *ctx)
{
	struct elf_part part = { 0 };
	Elf64_Phdr ph;
	Elf64_Shdr sh;
	size_t i, tried;

	for (i = 0, tried = 0; i < elf_phnum(elf) && tried < ELF_NOTES_TRY; i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type == PT_NOTE && ++tried &&
		    !elf_load(elf, ph.p_offset, ph.p_filesz, ELF_NOTES_MAX, &part))
			elf_walk_notes(&part, ph.p_align, fn, ctx);
	}
	for (i = 0, tried = 0; i < elf_shnum(elf) && tried < ELF_NOTES_TRY; i++) {
		sh = elf_shdr(elf, i);
		if (sh.sh_type == SHT_NOTE && ++tried &&
		    !elf_load(elf, sh.sh_offset, sh.sh_size, ELF_NOTES_MAX, &part))
			elf_walk_notes(&part, sh.sh_addralign, fn, ctx);
	}
	elf_part_free(&part);
}

struct elf_note_find {
	struct elf_traits *traits;
	bool abi_tag;
};

static bool elf_take_note(uint32_t type, const char *name, size_t name_len, const uint8_t *desc,
			  size_t desc_len, void *ctx)
{
	struct elf_note_find *find = ctx;
	struct elf_traits *traits = find->traits;

	if (name_len == 4 && !memcmp(name, "GNU", 4)) {
		if (type == NT_GNU_BUILD_ID && !traits->build_id_len && desc_len &&
		    desc_len <= ELF_BUILD_ID_MAX) {
			memcpy(traits->build_id, desc, desc_len);
			traits->build_id_len = desc_len;
		}
		if (type == NT_GNU_ABI_TAG)
			find->abi_tag = true;
	}
	if (name_len == 4 && !memcmp(name, "Go\0", 4) && type == 4)
		traits->go = true;
	return false;
}

/* Section names tell Go in files whose notes are gone. */
static bool elf_has_go_sections(const struct elf_file *elf)
{
	const char *name;
	size_t i;

	for (i = 0; i < elf_shnum(elf); i++) {
		name = elf_string(&elf->shstrs, elf_shdr(elf, i).sh_name);
		if (!strcmp(name, ".note.go.buildid") || !strcmp(name, ".go.buildinfo") ||
		    !strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
			return true;
	}
	return false;
}

/* The magic bytes of Go's build information, where its own tools look: strip leaves them. */
static bool elf_has_go_magic(const struct elf_file *elf)
{
	static const char magic[] = "\xff Go buildinf:";
	struct elf_part part = { 0 };
	bool found = false;
	uint64_t len;
	Elf64_Phdr ph;
	size_t i;

	for (i = 0; i < elf_phnum(elf) && !found; i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_W))
			continue;
		len = ph.p_filesz < ELF_GO_SCAN ? ph.p_filesz : ELF_GO_SCAN;
		if (elf_load(elf, ph.p_offset, len, ELF_GO_SCAN, &part))
			continue;
		found = memmem(part.bytes, part.len, magic, sizeof(magic) - 1);
	}
	elf_part_free(&part);
	return found;
}

/* Whether a version that the file defines is one of glibc's. */
static bool elf_defines_glibc(const struct elf_file *elf)
{
	uint64_t at = elf->dyn.verdef, n = elf->dyn.verdefnum, offset, room;
	Elf64_Verdaux aux;
	Elf64_Verdef def;

	if (!at)
		return false;
	/* vd_next only leads on, so this ends; the cap is against a chain of tiny steps. */
	if (n > 4096)
		n = 4096;
	for (; n; n--) {
		if (elf_locate(elf, at, 0, &offset, &room) || room < sizeof(def) ||
		    elf_pread(elf, &def, sizeof(def), offset) != sizeof(def))
			return false;
		if (elf_locate(elf, at + def.vd_aux, 0, &offset, &room) || room < sizeof(aux) ||
		    elf_pread(elf, &aux, sizeof(aux), offset) != sizeof(aux))
			return false;
		if (!strncmp(elf_string(&elf->dynsym.strs, aux.vda_name), "GLIBC_2.", 8))
			return true;
		if (!def.vd_next)
			return false;
		at += def.vd_next;
	}
	return false;
}

struct elf_marks {
	bool glibc_static, musl_dls, musl_init_libc, musl_copy_tls, go;
	bool setcanceltype, signal, throws;
};

static bool elf_is_signal_call(const char *name)
{
	static const char *const calls[] = { "sigaction",  "__sigaction",  "signal",
					     "bsd_signal", "sysv_signal",  "__sysv_signal",
					     "sigset",	   "rt_sigaction", "__libc_sigaction" };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (elf_name_is(name, calls[i]))
			return true;
	return false;
}

/* @carried: symbols defined here count as used, for a static program has no imports. */
static void elf_mark_symbols(const struct elf_symbols *t, bool carried, struct elf_marks *marks)
{
	const char *name;
	Elf64_Sym sym;
	bool defined;
	size_t i;

	for (i = 0; i < t->count; i++) {
		sym = elf_symbol(t, i);
		defined = sym.st_shndx != SHN_UNDEF;
		name = elf_string(&t->strs, sym.st_name);
		if (elf_name_is(name, "__cxa_throw"))
			marks->throws = true;
		if (!defined || carried) {
			if (elf_name_is(name, "pthread_setcanceltype"))
				marks->setcanceltype = true;
			else if (elf_is_signal_call(name))
				marks->signal = true;
		}
		if (!defined)
			continue;
		if (elf_name_is(name, "__libc_setup_tls"))
			marks->glibc_static = true;
		else if (elf_name_is(name, "__dls2b") || elf_name_is(name, "__dls3"))
			marks->musl_dls = true;
		else if (elf_name_is(name, "__init_libc"))
			marks->musl_init_libc = true;
		else if (elf_name_is(name, "__copy_tls"))
			marks->musl_copy_tls = true;
		else if (elf_name_is(name, "runtime.goexit"))
			marks->go = true;
	}
}

/* Libraries that every program may have, and that neither handle signals nor cancel threads of their own accord. */
static bool elf_library_plain(const char *name)
{
	static const char *const plain[] = {
		"libc.so",  "libm.so",	   "libpthread.so", "librt.so",
		"libdl.so", "libgcc_s.so", "libc.musl",	    "ld-linux"
	};
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (!strncmp(name, plain[i], strlen(plain[i])))
			return true;
	}
	return false;
}

static bool elf_libraries_plain(const struct elf_file *elf)
{
	uint32_t i;

	if (elf->dyn.nlibraries > ELF_LIBRARIES_MAX)
		return false;
	for (i = 0; i < elf->dyn.nlibraries; i++) {
		const char *name = elf_string(&elf->dynsym.strs, elf->dyn.libraries[i]);

		if (!name || !elf_library_plain(name))
			return false;
	}
	return true;
}

static void elf_take_segments(const struct elf_file *elf, struct elf_traits *traits)
{
	uint8_t buf[sizeof(traits->interp)];
	Elf64_Phdr ph;
	size_t i, len;

	for (i = 0; i < elf_phnum(elf); i++) {
		ph = elf_phdr(elf, i);
		if (ph.p_type != PT_INTERP)
			continue;
		len = ph.p_filesz < sizeof(buf) - 1 ? ph.p_filesz : sizeof(buf) - 1;
		len = elf_pread(elf, buf, len, ph.p_offset);
		buf[len] = 0;
		elf_copy_string(traits->interp, sizeof(traits->interp), (const char *)buf);
		break;
	}
	traits->plain_libraries = elf_libraries_plain(elf);
	if (elf->dyn.soname)
		elf_copy_string(traits->soname, sizeof(traits->soname),
				elf_string(&elf->dynsym.strs, elf->dyn.soname));
}

void elf_traits(const struct elf_file *elf, struct elf_traits *traits)
{
	struct elf_note_find find = { .traits = traits };
	struct elf_marks marks = { 0 };

	memset(traits, 0, sizeof(*traits));
	traits->machine = elf->ehdr.e_machine;
	traits->stripped = !elf->has_symtab;
	elf_take_segments(elf, traits);
	traits->dynamic = elf->dyn.needed || traits->interp[0];
	/* glibc's own libc.so.6 has an interpreter, so that it can be run; its name tells. */
	traits->executable = elf->ehdr.e_type == ET_EXEC || (elf->dyn.flags_1 & DF_1_PIE) ||
			     (traits->interp[0] && !traits->soname[0]);
	elf_for_each_note(elf, elf_take_note, &find);
	elf_mark_symbols(&elf->dynsym, false, &marks);
	/* Local copies in a dynamic program are its own business, but exceptions are not. */
	elf_mark_symbols(&elf->symtab, !traits->dynamic && traits->executable, &marks);

	traits->go = traits->go || marks.go || elf_has_go_sections(elf) || elf_has_go_magic(elf);
	/* glibc's start-up code carries the ABI note; a static program with it carries all of glibc. */
	traits->glibc =
		elf_defines_glibc(elf) ||
		(!traits->dynamic && (marks.glibc_static || (find.abi_tag && traits->executable)));
	traits->musl = !traits->glibc &&
		       (marks.musl_dls ||
			(!traits->dynamic && marks.musl_init_libc && marks.musl_copy_tls));
	traits->imports_setcanceltype = marks.setcanceltype;
	traits->imports_signal = marks.signal;
	traits->imports_throw = marks.throws;
}
