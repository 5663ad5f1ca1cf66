/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* An open file, as the files of elf share it: read in elf_open.c, by what elf.c gives of its bytes. */
#ifndef ELF_ELF_INTERNAL_H
#define ELF_ELF_INTERNAL_H

#include <elf.h>

#include "elf/elf.h"

#define ELF_LIBRARIES_MAX 128

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
	uint64_t symtab, strtab, strsz, hash, gnu_hash, verdef, verdefnum, soname, flags_1, rpath,
		runpath;
	uint64_t libraries[ELF_LIBRARIES_MAX]; /* names, in the string table */
	uint32_t nlibraries; /* one more than fit: there are others */
	uint64_t after_symtab; /* the lowest address above symtab that any entry names */
	bool needed;
};

struct elf_file {
	int fd; /* -1: suspended */
	int (*reopen)(void *ctx); /* elf_suspend(); NULL: it is gone for good then */
	void *reopen_ctx;
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

/* elf.c */
void elf_part_free(struct elf_part *part);
size_t elf_pread(const struct elf_file *elf, void *buf, size_t len, uint64_t offset);
int elf_load(const struct elf_file *elf, uint64_t offset, uint64_t len, uint64_t max,
	     struct elf_part *part);
size_t elf_phnum(const struct elf_file *elf);
Elf64_Phdr elf_phdr(const struct elf_file *elf, size_t i);
size_t elf_shnum(const struct elf_file *elf);
Elf64_Shdr elf_shdr(const struct elf_file *elf, size_t i);
const char *elf_string(const struct elf_part *strs, uint64_t offset);
void elf_copy_string(char *to, size_t size, const char *from);
int elf_locate(const struct elf_file *elf, uint64_t vaddr, uint32_t flags, uint64_t *offset,
	       uint64_t *room);

/* elf_symbols.c */
Elf64_Sym elf_symbol(const struct elf_symbols *t, size_t i);
bool elf_name_is(const char *have, const char *want);

#endif /* ELF_ELF_INTERNAL_H */
