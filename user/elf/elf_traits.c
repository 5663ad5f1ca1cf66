// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/elf_internal.h"

#include <string.h>

#define ELF_NOTES_MAX (1ULL << 20) /* maximum size of a note segment, in bytes */
/* maximum number of note segments, and also of note sections, that are read */
#define ELF_NOTES_TRY 64
/*
 * number of bytes at the start of each writable segment that are searched for Go's build
 * information
 */
#define ELF_GO_SCAN   (64ULL << 10)

/* A function that examines one note. It returns true to stop reading notes. */
typedef bool (*elf_note_fn)(uint32_t type, const char *name, size_t name_len, const uint8_t *desc,
			    size_t desc_len, void *ctx);

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

/* Return whether section names identify Go. This finds Go programs that lack Go's note. */
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

/*
 * Return whether the magic bytes of Go's build information are where Go's own tools look for them.
 * The strip command does not remove these bytes.
 */
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

/* Return whether the file defines a symbol version of glibc. */
static bool elf_defines_glibc(const struct elf_file *elf)
{
	uint64_t at = elf->dyn.verdef, n = elf->dyn.verdefnum, offset, room;
	Elf64_Verdaux aux;
	Elf64_Verdef def;

	if (!at)
		return false;
	/*
	 * vd_next only leads forward, so this loop ends. The limit guards against a long chain of
	 * small steps.
	 */
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

/*
 * Mark the functions that a symbol table mentions. @carried: also count definitions as uses,
 * because a static program contains these functions and imports none.
 */
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

/*
 * Return whether this is a common library that does not handle signals and does not cancel threads
 * by itself.
 */
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
	/*
	 * glibc's libc.so.6 also has an interpreter, so that it can be run. Its soname shows that
	 * the file is a library.
	 */
	traits->executable = elf->ehdr.e_type == ET_EXEC || (elf->dyn.flags_1 & DF_1_PIE) ||
			     (traits->interp[0] && !traits->soname[0]);
	elf_for_each_note(elf, elf_take_note, &find);
	elf_mark_symbols(&elf->dynsym, false, &marks);
	/* In a dynamic program, a definition in .symtab counts as a use only for exceptions. */
	elf_mark_symbols(&elf->symtab, !traits->dynamic && traits->executable, &marks);

	traits->go = traits->go || marks.go || elf_has_go_sections(elf) || elf_has_go_magic(elf);
	/*
	 * The ABI note is in glibc's start-up code. So a static program with that note contains
	 * glibc.
	 */
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
