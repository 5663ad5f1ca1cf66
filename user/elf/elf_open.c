// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/elf_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELF_TABLE_MAX (128ULL << 20) /* maximum size of a table, in bytes */
/* maximum size of the program headers, in bytes: the limit of Linux's exec() */
#define ELF_PHDRS_MAX 65536

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

/*
 * Load the section headers. Section headers are optional: a file without them, or with invalid
 * headers, is accepted.
 */
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

/*
 * Record the lowest address of another table above the symbol table. The symbol table ends there at
 * the latest. (The dynamic section does not give its size.)
 */
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

/*
 * Store the value of an entry of the dynamic section. If there are several entries of a kind, the
 * last one counts.
 */
static void elf_take_dynamic(struct elf_dynamic *dyn, const Elf64_Dyn *entry)
{
	const struct {
		int64_t tag;
		uint64_t *value;
	} values[] = {
		{ DT_SYMTAB, &dyn->symtab },	   { DT_STRTAB, &dyn->strtab },
		{ DT_STRSZ, &dyn->strsz },	   { DT_HASH, &dyn->hash },
		{ DT_GNU_HASH, &dyn->gnu_hash },   { DT_VERDEF, &dyn->verdef },
		{ DT_VERDEFNUM, &dyn->verdefnum }, { DT_SONAME, &dyn->soname },
		{ DT_RPATH, &dyn->rpath },	   { DT_RUNPATH, &dyn->runpath },
		{ DT_FLAGS_1, &dyn->flags_1 },
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].tag == entry->d_tag)
			*values[i].value = entry->d_un.d_val;
	if (entry->d_tag != DT_NEEDED)
		return;
	dyn->needed = true;
	if (dyn->nlibraries < ELF_LIBRARIES_MAX)
		dyn->libraries[dyn->nlibraries] = entry->d_un.d_val;
	dyn->nlibraries += dyn->nlibraries <= ELF_LIBRARIES_MAX;
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

/* Read @n 32-bit words at a linked address. Return false unless all words can be read. */
static bool elf_words_at(const struct elf_file *elf, uint64_t vaddr, uint32_t *words, size_t n)
{
	uint64_t offset, room;

	if (elf_locate(elf, vaddr, 0, &offset, &room) || room < n * sizeof(*words))
		return false;
	return elf_pread(elf, words, n * sizeof(*words), offset) == n * sizeof(*words);
}

/*
 * Walk the hash chain at @vaddr from symbol @index to its end. Return the index after its last
 * symbol, or 0 if the chain has no end.
 */
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
 * Return the number of symbols according to the DT_GNU_HASH table: the end of its last chain.
 * Return 0 if the table hashes no symbol: the symbol table may then still contain imported symbols,
 * which are never hashed.
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
		return head[1]; /* nchain: one entry per symbol */
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

/* Load .dynsym as the dynamic linker finds it: section headers may be missing or wrong. */
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
	struct stat st;

	*out = NULL;
	if (fstat(fd, &st))
		return -errno;
	/* Opening a pipe or a device could block, or have side effects. */
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	return elf_open_sized(fd, (uint64_t)st.st_size, out);
}

int elf_open_sized(int fd, uint64_t size, struct elf_file **out)
{
	struct elf_file *elf;
	int err;

	*out = NULL;
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	elf->fd = -1;
	elf->size = size;
	elf->window = calloc(1, sizeof(*elf->window));
	err = -ENOMEM;
	if (!elf->window)
		goto out;
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	err = elf->fd < 0 ? -errno : elf_load_header(elf);
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
