/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A reader of untrusted ELF files (ELF64, little-endian). Every offset and count in a file is
 * checked against the file's size before it is used, and no allocation depends on an unchecked
 * size.
 *
 * Data is read into memory and checked there. A mapping would end the tracer with SIGBUS if the
 * file were truncated meanwhile.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

struct elf_file; /* opaque; not to be shared between threads */

/* A function found by name. Several versions of a symbol at the same address are one entry. */
struct elf_symbol {
	uint64_t vaddr; /* linked address */
	uint64_t offset; /* offset in the file, as a uprobe needs it */
	uint64_t size; /* bytes; 0: unknown */
	bool from_symtab; /* found in .symtab; else in .dynsym */
};

/* Properties of a file that decide how it may be probed. */
struct elf_traits {
	uint16_t machine; /* EM_X86_64, EM_AARCH64, ... */
	bool executable; /* a program, not a library: ET_EXEC, or a PIE */
	bool dynamic; /* has a dynamic section with DT_NEEDED, or an interpreter */
	bool stripped; /* has no .symtab */
	bool go; /* built by the Go toolchain */
	bool glibc; /* is a library of glibc, or a static program that contains glibc */
	bool musl; /* is musl's library, or a static program that contains musl */
	/* uses pthread_setcanceltype(): may cancel threads asynchronously */
	bool imports_setcanceltype;
	bool imports_signal; /* sigaction, signal or similar: has signal handlers */
	bool plain_libraries; /* needs only the C run-time libraries (libc, libm, libgcc_s, ...) */
	bool imports_throw; /* imports or defines __cxa_throw: C++ with exceptions */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len; /* 0: none */
	char interp[256]; /* "" if none; untrusted */
	char soname[256]; /* "" if none; untrusted */
};

/*
 * Open the regular file of @size bytes behind @fd. The caller keeps @fd and may close it. Return 0
 * and *@out, to be closed with elf_close(), or -errno. -ENOEXEC: not an ELF file. -ENOTSUP: another
 * class or byte order, or neither program nor library. -EBADMSG: malformed.
 */
int elf_open(int fd, uint64_t size, struct elf_file **out);
/*
 * Close the file descriptor but keep the tables in memory. Later reads use a duplicate of the
 * descriptor that @reopen returns, or fail if it returns -1. The caller keeps the returned
 * descriptor.
 */
void elf_suspend(struct elf_file *elf, int (*reopen)(void *ctx), void *ctx);
/* Release everything, including the bytes from elf_bytes(). NULL is allowed. */
void elf_close(struct elf_file *elf);

/*
 * Fill *@traits. This never fails on a file that elf_open() accepted: traits that cannot be read
 * stay false. In a static program without symbols, glibc may be recognised by its ABI note, but
 * musl cannot be recognised.
 */
void elf_traits(const struct elf_file *elf, struct elf_traits *traits);

/* Return the machine of the file: EM_X86_64, EM_AARCH64, ... */
uint16_t elf_machine(const struct elf_file *elf);

/*
 * Find all distinct addresses of the function @name: every defined STT_FUNC symbol in .dynsym and
 * .symtab, in every symbol version. STT_GNU_IFUNC is ignored, because it names a resolver and not
 * the function. Write up to @max entries to @out. Return the number found (0: none; may exceed
 * @max), or -EBADMSG if no address was found and a symbol table could not be read.
 */
int elf_find_function(const struct elf_file *elf, const char *name, struct elf_symbol *out,
		      int max);

/*
 * Find the linked address of the variable @name, local or global. Return 0, -ENOENT, -EEXIST
 * (several variables have this name) or -EBADMSG (none found, and a symbol table could not be
 * read).
 */
int elf_find_object(const struct elf_file *elf, const char *name, uint64_t *vaddr);

/*
 * Call @each for every defined function and each of its names. Names are untrusted and may contain
 * a version ("name@@GLIBC_2.34"). A name in both tables is reported twice. Stop at the first result
 * of @each other than 0, and return that result.
 */
int elf_each_function(const struct elf_file *elf,
		      int (*each)(void *ctx, const char *name, const struct elf_symbol *symbol),
		      void *ctx);

/*
 * Convert @vaddr to a file offset, only through an executable PT_LOAD and only within the file.
 * Return 0, or -ENOENT if there is none.
 */
int elf_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset);
/* Do the same for data: through any PT_LOAD. */
int elf_data_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset);
/*
 * Convert a file offset to an address, through an executable PT_LOAD if possible, else through any
 * other PT_LOAD. Return 0, or -ENOENT if there is none.
 */
int elf_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *vaddr);

/*
 * Read bytes at a file offset. Return how many of the @len bytes were read: at most 1 MiB, 0 if
 * none. *@out belongs to @elf and is valid until the next elf_bytes() or elf_close().
 */
size_t elf_bytes(const struct elf_file *elf, uint64_t offset, size_t len, const uint8_t **out);

/*
 * A range of bytes that lies within the file. `vaddr` is where the range is loaded; 0: it is not
 * loaded.
 */
struct elf_range {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t size;
	bool open; /* `size` is only an upper bound: the contents show where the range ends */
};

/* Get the @i-th executable segment, from 0. Return false if there are no more. */
bool elf_code(const struct elf_file *elf, size_t i, struct elf_range *out);
/* Get the @i-th loaded segment, and whether it is executable. Return false if there are no more. */
bool elf_loaded(const struct elf_file *elf, size_t i, struct elf_range *out, bool *exec);
/*
 * Get the @i-th section named @name that lies within the file. Return false if there are no more.
 */
bool elf_section(const struct elf_file *elf, const char *name, size_t i, struct elf_range *out);
/*
 * Find the unwind table .eh_frame through the section headers or PT_GNU_EH_FRAME. Return 0, or
 * -ENOENT if there is none.
 */
int elf_frames(const struct elf_file *elf, struct elf_range *out);

/*
 * Get the names of the libraries that the file itself needs (DT_NEEDED). The names are untrusted.
 * Return their number.
 */
size_t elf_libraries(const struct elf_file *elf, const char **out, size_t max);
/*
 * Return the file's library search path: directories separated by colons, "" if none; untrusted.
 * Set *@first if this path precedes LD_LIBRARY_PATH and also applies to libraries that the file's
 * libraries need (DT_RPATH).
 */
const char *elf_library_path(const struct elf_file *elf, bool *first);
/* Return whether the file uses a function of this name from another file. */
bool elf_imports(const struct elf_file *elf, const char *name);
/* Call @each for every name that the file imports; untrusted, may contain a version. */
void elf_each_import(const struct elf_file *elf, void (*each)(void *ctx, const char *name),
		     void *ctx);
/*
 * Call @each for every word that the dynamic linker sets to the address of a function or variable.
 * @name: the name of that function or variable, untrusted. @vaddr: the linked address of the word.
 * Uses the relocations in sections .rela.plt and .rela.dyn.
 */
void elf_each_slot(const struct elf_file *elf,
		   void (*each)(void *ctx, const char *name, uint64_t vaddr), void *ctx);

#endif /* ELF_ELF_H */
