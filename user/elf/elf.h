/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A reader of ELF files of unknown origin: every offset and count in the file
 * is checked against the file's size before it is used, nothing is trusted and
 * nothing is allocated by what the file claims. ELF64, little-endian.
 *
 * What is needed is read into memory and checked there: a mapping of a file that is
 * truncated meanwhile would end the tracer with SIGBUS.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

struct elf_file; /* opaque; not to be shared between threads */

/* One function found by name. Several versions of a symbol give one entry an address. */
struct elf_symbol {
	uint64_t vaddr; /* as linked */
	uint64_t offset; /* in the file: where a uprobe goes */
	uint64_t size; /* bytes; 0: unknown */
	bool from_symtab; /* else .dynsym */
};

/* What the file is and what in it decides how it may be probed. */
struct elf_traits {
	uint16_t machine; /* EM_X86_64, EM_AARCH64, ... */
	bool executable; /* a program rather than a library: ET_EXEC, or a PIE of either kind */
	bool dynamic; /* has a dynamic section with DT_NEEDED, or an interpreter */
	bool stripped; /* no .symtab */
	bool go; /* made by the Go toolchain */
	bool glibc; /* defines or carries glibc */
	bool musl; /* defines or carries musl */
	bool imports_setcanceltype; /* may cancel threads asynchronously */
	bool imports_signal; /* sigaction, signal and kin: has signal handlers */
	bool plain_libraries; /* needs none but the C and C++ run-times */
	bool imports_throw; /* __cxa_throw, or carries it: C++ with exceptions */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len; /* 0: none */
	char interp[256]; /* "" if none; untrusted */
	char soname[256]; /* "" if none; untrusted */
};

/*
 * Opens the file behind @fd (not consumed; may be closed afterwards).
 * Returns 0 and *out (to be given to elf_close()), or -ENOEXEC (not an ELF file),
 * -ENOTSUP (another class or byte order, or neither program nor library), -EBADMSG (malformed),
 * -errno.
 */
int elf_open(int fd, struct elf_file **out);
/* The same of a regular file whose size is known: it is not asked for. */
int elf_open_sized(int fd, uint64_t size, struct elf_file **out);
/*
 * Closes the file. The tables that were read stay; what else is needed is read from the descriptor that @reopen returns,
 * which stays the caller's, or is not there (-1).
 */
void elf_suspend(struct elf_file *elf, int (*reopen)(void *ctx), void *ctx);
/* Releases everything, what elf_bytes() gave included. NULL is allowed. */
void elf_close(struct elf_file *elf);

/*
 * Fills *traits; never fails on a file that elf_open() took: what cannot be read stays false.
 * A static program without symbols may be known for glibc's by its ABI note, for musl's not at all.
 */
void elf_traits(const struct elf_file *elf, struct elf_traits *traits);

/* EM_X86_64, EM_AARCH64, ... */
uint16_t elf_machine(const struct elf_file *elf);

/*
 * All distinct addresses of the function @name: defined, STT_FUNC (STT_GNU_IFUNC names a resolver,
 * not the function, and is left out), from .dynsym and .symtab, every symbol version.
 * Writes up to @max to @out and returns how many there are (0: none), or -EBADMSG when none
 * was found and a symbol table could not be read.
 */
int elf_find_function(const struct elf_file *elf, const char *name, struct elf_symbol *out,
		      int max);

/*
 * The address as linked of the variable @name, local or global, if there is one and only one: 0, or
 * -ENOENT, -EEXIST (several), -EBADMSG (none found, and a symbol table could not be read).
 */
int elf_find_object(const struct elf_file *elf, const char *name, uint64_t *vaddr);

/*
 * Calls @each for every such function, by every one of its names, which are untrusted and may carry a version
 * ("name@@GLIBC_2.34"); a name in both tables comes twice. Anything but 0 ends it and is returned.
 */
int elf_each_function(const struct elf_file *elf,
		      int (*each)(void *ctx, const char *name, const struct elf_symbol *symbol),
		      void *ctx);

/* File offset of @vaddr through PT_LOAD with PF_X (only bytes backed by the file), or -ENOENT. */
int elf_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset);
/* The way back: through PT_LOAD with PF_X first, then through any other; or -ENOENT. */
int elf_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr);

/*
 * Bytes at a file offset, read anew: how many of @len are there (0 if none, at most 1 MiB).
 * *out belongs to @elf and holds until the next elf_bytes() on it or elf_close().
 */
size_t elf_bytes(const struct elf_file *elf, uint64_t offset, size_t len, const uint8_t **out);

/* Bytes of the file, all of them within it; loaded at vaddr, unless that is 0. */
struct elf_range {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size;
	bool open; /* size is an upper bound: the end is where the contents say */
};

/* The @i-th executable segment, from 0. False: there are no more. */
bool elf_code(const struct elf_file *elf, size_t i, struct elf_range *out);
/* The same of all segments that are loaded. *exec: is this one executable? */
bool elf_loaded(const struct elf_file *elf, size_t i, struct elf_range *out, bool *exec);
/* The @i-th section of that name, from 0, with all its bytes in the file. False: no more. */
bool elf_section(const struct elf_file *elf, const char *name, size_t i, struct elf_range *out);
/* The unwind table .eh_frame by the section headers, else by PT_GNU_EH_FRAME; or -ENOENT. */
int elf_frames(const struct elf_file *elf, struct elf_range *out);

/* The libraries that it needs by its own word (not theirs), untrusted. Returns how many. */
size_t elf_libraries(const struct elf_file *elf, const char **out, size_t max);
/*
 * Where it says that they are: directories with colons between them, "" none; untrusted. @first: to be looked at
 * before LD_LIBRARY_PATH (DT_RPATH), and for libraries of libraries too.
 */
const char *elf_library_path(const struct elf_file *elf, bool *first);
/* Does it use a function of this name that others define? */
bool elf_imports(const struct elf_file *elf, const char *name);
/* Calls @each for the name of everything that it uses and others define; untrusted, may carry a version. */
void elf_each_import(const struct elf_file *elf, void (*each)(void *ctx, const char *name),
		     void *ctx);
/*
 * Calls @each for every word that the dynamic linker fills with the address of a function or variable of that name, which
 * is untrusted: @vaddr, as linked. By the relocations in sections .rela.plt and .rela.dyn.
 */
void elf_each_slot(const struct elf_file *elf,
		   void (*each)(void *ctx, const char *name, uint64_t vaddr), void *ctx);

#endif /* ELF_ELF_H */
