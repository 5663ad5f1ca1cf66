// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/elf_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ELF_BYTES_MAX (1UL << 20) /* maximum number of bytes that one call of elf_bytes() reads */

void elf_part_free(struct elf_part *part)
{
	free(part->bytes);
	*part = (struct elf_part){ 0 };
}

/* Return the file's descriptor, reopened if it was suspended, or -1 if that is impossible. */
static int elf_descriptor(const struct elf_file *elf)
{
	struct elf_file *own = (struct elf_file *)(uintptr_t)elf;
	int fd;

	if (elf->fd < 0 && elf->reopen) {
		fd = elf->reopen(elf->reopen_ctx);
		if (fd >= 0)
			own->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	}
	return elf->fd;
}

void elf_suspend(struct elf_file *elf, int (*reopen)(void *ctx), void *ctx)
{
	if (elf->fd >= 0)
		close(elf->fd);
	elf->fd = -1;
	elf->reopen = reopen;
	elf->reopen_ctx = ctx;
}

/*
 * Read up to @len bytes at @offset. Return the number of bytes read, which is smaller at the end of
 * the file.
 */
size_t elf_pread(const struct elf_file *elf, void *buf, size_t len, uint64_t offset)
{
	int fd = elf_descriptor(elf);
	size_t done = 0;
	ssize_t n;

	if (fd < 0 || offset >= elf->size)
		return 0;
	if (len > elf->size - offset)
		len = (size_t)(elf->size - offset);
	while (done < len) {
		n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/*
 * Load all of [offset, offset + len) into @part. Return 0, or -EBADMSG or -ENOMEM if nothing was
 * loaded.
 */
int elf_load(const struct elf_file *elf, uint64_t offset, uint64_t len, uint64_t max,
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
	*part = (struct elf_part){ .bytes = bytes, .len = (size_t)len };
	return 0;
}

size_t elf_phnum(const struct elf_file *elf)
{
	return elf->phdrs.len / sizeof(Elf64_Phdr);
}

/*
 * Return a copy, like all functions that read an entry of a table, because entries may be
 * unaligned.
 */
Elf64_Phdr elf_phdr(const struct elf_file *elf, size_t i)
{
	Elf64_Phdr phdr;

	memcpy(&phdr, elf->phdrs.bytes + i * sizeof(phdr), sizeof(phdr));
	return phdr;
}

size_t elf_shnum(const struct elf_file *elf)
{
	return elf->shdrs.len / sizeof(Elf64_Shdr);
}

Elf64_Shdr elf_shdr(const struct elf_file *elf, size_t i)
{
	Elf64_Shdr shdr;

	memcpy(&shdr, elf->shdrs.bytes + i * sizeof(shdr), sizeof(shdr));
	return shdr;
}

/*
 * Return the string at @offset of a string table. It ends within the table, because a NUL follows
 * every part.
 */
const char *elf_string(const struct elf_part *strs, uint64_t offset)
{
	return offset < strs->len ? (const char *)strs->bytes + offset : "";
}

void elf_copy_string(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
}

/*
 * Find the file offset of @vaddr in a PT_LOAD with all of @flags. Set *@room to the number of bytes
 * from there to the end of the PT_LOAD.
 */
int elf_locate(const struct elf_file *elf, uint64_t vaddr, uint32_t flags, uint64_t *offset,
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

int elf_data_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *offset)
{
	uint64_t room;

	return elf_locate(elf, vaddr, 0, offset, &room);
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

/* Get the @i-th loaded segment that has all of @flags. Set *@exec if it is executable. */
static bool loaded(const struct elf_file *elf, size_t i, uint32_t flags, struct elf_range *out,
		   bool *exec)
{
	Elf64_Phdr ph;
	size_t at;

	for (at = 0; at < elf_phnum(elf); at++) {
		ph = elf_phdr(elf, at);
		if (ph.p_type != PT_LOAD || (ph.p_flags & flags) != flags ||
		    ph.p_offset >= elf->size || !ph.p_filesz || i--)
			continue;
		*exec = ph.p_flags & PF_X;
		*out = (struct elf_range){ .vaddr = ph.p_vaddr,
					   .offset = ph.p_offset,
					   .size = elf->size - ph.p_offset };
		if (out->size > ph.p_filesz)
			out->size = ph.p_filesz;
		return true;
	}
	return false;
}

bool elf_code(const struct elf_file *elf, size_t i, struct elf_range *out)
{
	bool exec;

	return loaded(elf, i, PF_X, out, &exec);
}

bool elf_loaded(const struct elf_file *elf, size_t i, struct elf_range *out, bool *exec)
{
	return loaded(elf, i, 0, out, exec);
}

/* Get the @i-th section named @name that has all of @flags and bytes in the file. */
static bool elf_find_section(const struct elf_file *elf, const char *name, uint64_t flags, size_t i,
			     struct elf_range *out)
{
	Elf64_Shdr sh;
	size_t at;

	for (at = 0; at < elf_shnum(elf); at++) {
		sh = elf_shdr(elf, at);
		if (sh.sh_type == SHT_NOBITS || (sh.sh_flags & flags) != flags || !sh.sh_size ||
		    sh.sh_offset >= elf->size || sh.sh_size > elf->size - sh.sh_offset ||
		    strcmp(elf_string(&elf->shstrs, sh.sh_name), name) != 0 || i--)
			continue;
		*out = (struct elf_range){ .vaddr = sh.sh_addr,
					   .offset = sh.sh_offset,
					   .size = sh.sh_size };
		return true;
	}
	return false;
}

bool elf_section(const struct elf_file *elf, const char *name, size_t i, struct elf_range *out)
{
	return elf_find_section(elf, name, 0, i, out);
}

int elf_frames(const struct elf_file *elf, struct elf_range *out)
{
	uint8_t head[8]; /* version, three encodings, a pointer relative to its own address */
	Elf64_Phdr ph;
	int32_t delta;
	size_t i;

	memset(out, 0, sizeof(*out));
	if (elf_find_section(elf, ".eh_frame", SHF_ALLOC, 0, out))
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

/* --- what a file needs ------------------------------------------------------------------------ */

size_t elf_libraries(const struct elf_file *elf, const char **out, size_t max)
{
	size_t i, n = elf->dyn.nlibraries;

	if (n > ELF_LIBRARIES_MAX)
		n = ELF_LIBRARIES_MAX;
	for (i = 0; i < n && i < max; i++)
		out[i] = elf_string(&elf->dynsym.strs, elf->dyn.libraries[i]);
	return n < max ? n : max;
}

const char *elf_library_path(const struct elf_file *elf, bool *first)
{
	uint64_t at = elf->dyn.runpath ? elf->dyn.runpath : elf->dyn.rpath;

	*first = !elf->dyn.runpath;
	return at ? elf_string(&elf->dynsym.strs, at) : "";
}

bool elf_imports(const struct elf_file *elf, const char *name)
{
	Elf64_Sym sym;
	size_t i;

	for (i = 0; i < elf->dynsym.count; i++) {
		sym = elf_symbol(&elf->dynsym, i);
		if (sym.st_shndx == SHN_UNDEF &&
		    elf_name_is(elf_string(&elf->dynsym.strs, sym.st_name), name))
			return true;
	}
	return false;
}

void elf_each_import(const struct elf_file *elf, void (*each)(void *ctx, const char *name),
		     void *ctx)
{
	Elf64_Sym sym;
	size_t i;

	for (i = 0; i < elf->dynsym.count; i++) {
		sym = elf_symbol(&elf->dynsym, i);
		if (sym.st_shndx == SHN_UNDEF)
			each(ctx, elf_string(&elf->dynsym.strs, sym.st_name));
	}
}
