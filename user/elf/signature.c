// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * From the whole to the part: bytes that the functions must contain (the number of the futex call, the greatest count
 * that is allowed) are looked for in all code; where they are, functions are found by the unwind table, or as what a
 * call leads to; and those few are decoded, following the barrier from the first argument through registers.
 */
#include "elf/signature.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/frames.h"

#define BODY_MAX      2048u /* bytes of a function; the longest known is musl's, 1145 */
#define BODY_MIN      32u
#define MAKER_MAX     256u /* bytes of pthread_barrier_init */
#define CHUNK	      (1u << 20) /* of code, looked at at once: what elf_bytes() gives */
#define CODE_MAX      (1ull << 30) /* bytes looked through; segments of a hostile file may overlap */
#define ANCHORS_MAX   (1u << 16) /* far above what programs have */
#define FUNCTIONS_MAX (1u << 14)
#define DECODED_MAX   512 /* functions decoded */
#define INSN_MAX      15

/* A function that may be one, by vaddr. */
struct body {
	uint64_t vaddr;
	uint64_t size; /* 0: unknown */
};

/* Offsets from the barrier that is in a register. */
#define NOWHERE INT16_MIN
#define REGS	16 /* in the order of struct regs_names */
#define REG_RDI 5

struct regs {
	int16_t at[REGS];
};

struct point {
	uint32_t pos;
	struct regs regs;
};

#define WORDS	   8 /* of four bytes: musl's barrier; glibc's has five */
#define WORD(n)	   (1u << (n))
#define FIRST_NONE UINT32_MAX

/* What a function does. Sets of words of the barrier, and the rest as seen anywhere in it. */
struct deeds {
	uint32_t reads, writes; /* plain ones */
	uint32_t xadds, cmpxchgs, xchgs; /* with a lock */
	uint32_t first; /* the word touched first, on the straight way */
	uint32_t divs, syscalls, calls, rets;
	bool elsewhere; /* touches memory around the barrier, or at a variable distance */
	bool int_max, futex, einval, limit, spins, pause; /* constants, and an instruction */
	bool odd; /* does not decode, or jumps to where a register says */
};

struct walk {
	csh handle;
	cs_insn *insn;
	const uint8_t *bytes;
	uint32_t len;
	bool whole; /* len is the function's */
	uint8_t seen[BODY_MAX];
	/* Each instruction is visited once and leaves one point at most. */
	struct point ahead[BODY_MAX], behind_calls[BODY_MAX];
	uint32_t nahead, nbehind;
	uint32_t extent;
	bool endless; /* where it ends is not known */
	struct deeds deeds;
};

struct hunt {
	const struct elf_file *elf;
	uint64_t *anchors; /* vaddrs, ascending */
	uint32_t nanchors, cap_anchors, tried;
	uint64_t looked; /* bytes */
	struct body *bodies;
	uint32_t nbodies, cap_bodies;
	struct walk *walk;
	struct signature *out;
	uint32_t waits, inits;
};

typedef int (*chunk_fn)(struct hunt *h, const uint8_t *bytes, size_t len, uint64_t vaddr,
			size_t from, size_t to);

static const uint8_t bytes_futex[] = { 0xca, 0, 0, 0 };
static const uint8_t bytes_limit[2][4] = { { 0xfd, 0xff, 0xff, 0x7f }, { 0xfe, 0xff, 0xff, 0x7f } };
static const uint8_t bytes_einval[] = { 0x16, 0, 0, 0 };
static const uint8_t bytes_syscall[] = { 0x0f, 0x05 };
static const uint8_t bytes_pause[] = { 0xf3, 0x90 };

/* --- a function, decoded ----------------------------------------------------------------------- */

/* The sixteen registers, by every name they have. */
static int reg_index(unsigned int reg)
{
	static const uint16_t names[REGS][5] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0 },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0 },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0 },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0 },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0 },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0 },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0 },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0 },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0 },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0 },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0 },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0 },
	};
	int i, j;

	for (i = 0; reg && i < REGS; i++)
		for (j = 0; j < 5; j++)
			if (names[i][j] == reg)
				return i;
	return -1;
}

static int16_t reg_place(const struct regs *regs, unsigned int reg)
{
	int i = reg_index(reg);

	return i < 0 ? NOWHERE : regs->at[i];
}

static int16_t moved(int16_t place, int64_t by)
{
	return place == NOWHERE || by < -256 || by > 256 || place + by < -256 || place + by > 256
		       ? NOWHERE
		       : (int16_t)(place + by);
}

static void note_word(struct deeds *d, const cs_insn *ci, uint8_t access, uint32_t word)
{
	bool locked = ci->detail->x86.prefix[0] == X86_PREFIX_LOCK;

	if (d->first == FIRST_NONE)
		d->first = word;
	if (ci->id == X86_INS_XCHG) {
		d->xchgs |= WORD(word);
	} else if (locked && ci->id == X86_INS_XADD) {
		d->xadds |= WORD(word);
	} else if (locked && ci->id == X86_INS_CMPXCHG) {
		d->cmpxchgs |= WORD(word);
	} else {
		if (access & CS_AC_WRITE)
			d->writes |= WORD(word);
		if (!(access & CS_AC_WRITE) || (access & CS_AC_READ))
			d->reads |= WORD(word);
	}
}

static void note_memory(struct deeds *d, const cs_insn *ci, const cs_x86_op *op,
			const struct regs *regs)
{
	int16_t place = reg_place(regs, op->mem.base), index = reg_place(regs, op->mem.index);
	int64_t from, to;

	if (op->mem.segment != X86_REG_INVALID || (place == NOWHERE && index == NOWHERE))
		return;
	from = place + op->mem.disp;
	to = from + (op->size ? op->size : 1);
	if (index != NOWHERE || op->mem.index != X86_REG_INVALID || from < 0 || to > 4 * WORDS) {
		d->elsewhere = true;
		return;
	}
	for (from /= 4; from * 4 < to; from++)
		note_word(d, ci, op->access, (uint32_t)from);
}

static void note_constant(struct deeds *d, uint64_t value)
{
	switch (value) {
	case 0x7fffffff:
		d->int_max = true;
		break;
	case 0x7ffffffd:
	case 0x7ffffffe:
		d->limit = true;
		break;
	case 202:
		d->futex = true;
		break;
	case EINVAL:
		d->einval = true;
		break;
	case 199: /* 200, counted down before or after */
	case 200:
	case 201:
		d->spins = true;
		break;
	default:
		break;
	}
}

static void note_deeds(struct deeds *d, const cs_insn *ci, const struct regs *regs)
{
	const cs_x86 *x86 = &ci->detail->x86;
	int i;

	switch (ci->id) {
	case X86_INS_DIV:
		d->divs++;
		break;
	case X86_INS_SYSCALL:
		d->syscalls++;
		break;
	case X86_INS_CALL:
		d->calls++;
		break;
	case X86_INS_RET:
		d->rets++;
		break;
	case X86_INS_PAUSE:
		d->pause = true;
		break;
	default:
		break;
	}
	for (i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_IMM)
			note_constant(d, (uint64_t)x86->operands[i].imm);
		else if (x86->operands[i].type == X86_OP_MEM && ci->id != X86_INS_LEA &&
			 ci->id != X86_INS_NOP)
			note_memory(d, ci, &x86->operands[i], regs);
	}
}

/* Where the first operand points afterwards, if it is a whole register. */
static int16_t result_place(const cs_x86 *x86, unsigned int id, const struct regs *regs)
{
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

	if (x86->op_count != 2 || to->type != X86_OP_REG || to->size != 8)
		return NOWHERE;
	if (id == X86_INS_MOV && from->type == X86_OP_REG)
		return reg_place(regs, from->reg);
	if (id == X86_INS_LEA && from->mem.index == X86_REG_INVALID)
		return moved(reg_place(regs, from->mem.base), from->mem.disp);
	if (id == X86_INS_ADD && from->type == X86_OP_IMM)
		return moved(reg_place(regs, to->reg), from->imm);
	if (id == X86_INS_SUB && from->type == X86_OP_IMM)
		return moved(reg_place(regs, to->reg), -from->imm);
	return NOWHERE;
}

static void forget(struct regs *regs, unsigned int reg)
{
	int i = reg_index(reg);

	if (i >= 0)
		regs->at[i] = NOWHERE;
}

static void forget_many(struct regs *regs, const uint16_t *list, size_t n)
{
	while (n--)
		forget(regs, list[n]);
}

/* What calls, and the kernel, leave otherwise. */
static void forget_callers(struct regs *regs, bool call)
{
	static const uint16_t list[] = { X86_REG_RAX, X86_REG_RCX, X86_REG_R11,
					 X86_REG_RDX, X86_REG_RSI, X86_REG_RDI,
					 X86_REG_R8,  X86_REG_R9,  X86_REG_R10 };

	forget_many(regs, list, call ? 9 : 3);
}

static void move_places(struct walk *w, struct regs *regs)
{
	const cs_x86 *x86 = &w->insn->detail->x86;
	int16_t place = result_place(x86, w->insn->id, regs);
	cs_regs reads, writes;
	uint8_t nreads, nwrites;
	int to;

	if (w->insn->id == X86_INS_CALL || w->insn->id == X86_INS_SYSCALL)
		forget_callers(regs, w->insn->id == X86_INS_CALL);
	if (cs_regs_access(w->handle, w->insn, reads, &nreads, writes, &nwrites)) {
		w->deeds.odd = true;
		return;
	}
	forget_many(regs, writes, nwrites);
	/* There are more whole registers than these sixteen. */
	to = place == NOWHERE ? -1 : reg_index(x86->operands[0].reg);
	if (to >= 0)
		regs->at[to] = place;
}

static void walk_push(struct walk *w, int64_t pos, const struct regs *regs)
{
	/* Out of it: a tail call, or a part that was put elsewhere. */
	if (pos < 0 || pos >= w->len || w->seen[pos] || w->nahead == BODY_MAX)
		return;
	w->ahead[w->nahead].pos = (uint32_t)pos;
	w->ahead[w->nahead++].regs = *regs;
}

static bool insn_in(const cs_insn *ci, uint8_t group)
{
	int i;

	for (i = 0; i < ci->detail->groups_count; i++)
		if (ci->detail->groups[i] == group)
			return true;
	return false;
}

/* Goes where the instruction goes but on; returns whether it also goes on. */
static bool walk_flow(struct walk *w, uint32_t next, const struct regs *regs)
{
	const cs_insn *ci = w->insn;
	const cs_x86 *x86 = &ci->detail->x86;

	switch (ci->id) {
	case X86_INS_RET:
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		return false;
	case X86_INS_CALL:
		/* It may never return, and then what follows is reached otherwise, or is not ours. */
		if (w->nbehind < BODY_MAX) {
			w->behind_calls[w->nbehind].pos = next;
			w->behind_calls[w->nbehind++].regs = *regs;
		}
		return false;
	default:
		break;
	}
	if (!insn_in(ci, CS_GRP_JUMP))
		return true;
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM) {
		w->deeds.odd = true;
		return false;
	}
	walk_push(w, x86->operands[0].imm, regs);
	return ci->id != X86_INS_JMP;
}

static bool walk_decode(struct walk *w, uint32_t pos)
{
	const uint8_t *code = w->bytes + pos;
	size_t left = w->len - pos;
	uint64_t address = pos;

	/* The decoder must see no more than one instruction can have: hostile runs of prefixes. */
	if (left > INSN_MAX)
		left = INSN_MAX;
	return cs_disasm_iter(w->handle, &code, &left, &address, w->insn);
}

static void walk_from(struct walk *w, struct point point)
{
	uint32_t next;

	for (; point.pos < w->len && !w->seen[point.pos]; point.pos = next) {
		w->seen[point.pos] = 1;
		if (!walk_decode(w, point.pos)) {
			w->deeds.odd = true;
			return;
		}
		next = point.pos + w->insn->size;
		if (next > w->extent)
			w->extent = next;
		note_deeds(&w->deeds, w->insn, &point.regs);
		move_places(w, &point.regs);
		if (!walk_flow(w, next, &point.regs))
			return;
	}
	if (point.pos >= w->len)
		w->endless = true;
}

/* The lowest place behind a call that nothing has led to yet. */
static bool walk_pop_behind(struct walk *w, struct point *out)
{
	uint32_t i, lowest;

	while (w->nbehind) {
		for (lowest = 0, i = 1; i < w->nbehind; i++)
			if (w->behind_calls[i].pos < w->behind_calls[lowest].pos)
				lowest = i;
		*out = w->behind_calls[lowest];
		w->behind_calls[lowest] = w->behind_calls[--w->nbehind];
		if (out->pos < w->len && !w->seen[out->pos])
			return true;
	}
	return false;
}

/* --- what it is ----------------------------------------------------------------------------------- */

static bool has_all(uint32_t set, uint32_t words)
{
	return (set & words) == words;
}

static bool sane(const struct deeds *d)
{
	return !d->odd && !d->elsewhere && d->rets;
}

/*
 * Since 2.25: in (0), current_round (1), count (2), shared (3), out (4). Who comes adds one to "in"; a round is done
 * when current_round is moved on; who leaves adds one to "out", and the last one sets all three back.
 */
static bool is_glibc_wait(const struct deeds *d)
{
	uint32_t all = d->reads | d->writes | d->xadds | d->cmpxchgs | d->xchgs;

	return sane(d) && d->xadds == (WORD(0) | WORD(4)) && d->cmpxchgs == WORD(1) && !d->xchgs &&
	       has_all(d->reads, WORD(0) | WORD(1) | WORD(2) | WORD(3)) &&
	       d->writes == (WORD(0) | WORD(1) | WORD(4)) && !(all & ~0x1fu) && d->divs &&
	       d->syscalls >= 2 && d->futex && d->int_max;
}

/* Checks the count and fills the five words, reading none. */
static bool is_glibc_init(const struct deeds *d)
{
	return sane(d) && d->writes == 0x1f && !(d->reads | d->xadds | d->cmpxchgs | d->xchgs) &&
	       !d->calls && !d->syscalls && !d->divs && d->limit && d->einval;
}

/*
 * _b_lock (0), _b_waiters (1), _b_limit (2), _b_count (3), _b_waiters2 (4), _b_inst (6 and 7): the first who comes
 * lends the others a barrier on its stack, spins for a while and sleeps; whoever is first reads the limit.
 */
static bool is_musl_wait(const struct deeds *d)
{
	uint32_t all = d->reads | d->writes | d->xadds | d->cmpxchgs | d->xchgs;

	return sane(d) && d->first == 2 && d->xchgs == WORD(0) && !(d->xadds & ~WORD(3)) &&
	       !(d->cmpxchgs & ~WORD(0)) &&
	       has_all(d->reads, WORD(1) | WORD(2) | WORD(6) | WORD(7)) &&
	       has_all(d->writes, WORD(6) | WORD(7)) && !(d->writes & (WORD(1) | WORD(2))) &&
	       !(all & WORD(5)) && !d->divs && d->syscalls >= 2 && d->futex && d->int_max &&
	       d->spins && d->pause;
}

static bool is_known(const struct deeds *d)
{
	return is_glibc_wait(d) || is_musl_wait(d) || is_glibc_init(d);
}

/* --- the whole of it ------------------------------------------------------------------------------ */

/*
 * A call at the end with padding behind it does not return. Without padding nobody knows: it does
 * when all is there that makes the function what it is, and else it is gone on.
 */
static bool walk_ends_at(struct walk *w, uint32_t pos)
{
	if (w->whole || pos < w->extent)
		return false;
	if (!walk_decode(w, pos))
		return true;
	if (w->insn->id == X86_INS_NOP || w->insn->id == X86_INS_INT3)
		return true;
	w->endless = true;
	return is_known(&w->deeds);
}

/* Follows @len bytes of a function from its start; @whole: they are all of it. */
static void walk_body(struct walk *w, const uint8_t *bytes, uint32_t len, bool whole)
{
	struct point point = { 0 };
	int i;

	w->bytes = bytes;
	w->len = len;
	w->whole = whole;
	memset(w->seen, 0, sizeof(w->seen));
	memset(&w->deeds, 0, sizeof(w->deeds));
	w->deeds.first = FIRST_NONE;
	w->nahead = w->nbehind = w->extent = 0;
	w->endless = false;
	for (i = 0; i < REGS; i++)
		point.regs.at[i] = i == REG_RDI ? 0 : NOWHERE;
	do {
		walk_from(w, point);
		while (w->nahead)
			walk_from(w, w->ahead[--w->nahead]);
	} while (!w->deeds.odd && walk_pop_behind(w, &point) && !walk_ends_at(w, point.pos));
}

/* --- which bytes to look at ------------------------------------------------------------------------- */

static bool contains(const uint8_t *bytes, size_t len, const uint8_t *what, size_t what_len)
{
	return memmem(bytes, len, what, what_len);
}

/* lock xadd of 32 bits, with or without REX. */
static bool contains_xadd(const uint8_t *bytes, size_t len)
{
	size_t at;

	for (at = 0; at + 4 <= len; at++)
		if (bytes[at] == 0xf0 && ((bytes[at + 1] == 0x0f && bytes[at + 2] == 0xc1) ||
					  ((bytes[at + 1] & 0xf0) == 0x40 &&
					   bytes[at + 2] == 0x0f && bytes[at + 3] == 0xc1)))
			return true;
	return false;
}

static bool may_be_wait(const uint8_t *bytes, size_t len)
{
	return contains(bytes, len, bytes_syscall, sizeof(bytes_syscall)) &&
	       contains(bytes, len, bytes_futex, sizeof(bytes_futex)) &&
	       (contains_xadd(bytes, len) ||
		contains(bytes, len, bytes_pause, sizeof(bytes_pause)));
}

static bool may_be_init(const uint8_t *bytes, size_t len)
{
	return (contains(bytes, len, bytes_limit[0], sizeof(bytes_limit[0])) ||
		contains(bytes, len, bytes_limit[1], sizeof(bytes_limit[1]))) &&
	       contains(bytes, len, bytes_einval, sizeof(bytes_einval));
}

static int hunt_add_anchor(struct hunt *h, uint64_t vaddr)
{
	uint64_t *anchors;

	if (h->nanchors == h->cap_anchors) {
		h->cap_anchors = h->cap_anchors * 2 + 256;
		anchors = realloc(h->anchors, h->cap_anchors * sizeof(*anchors));
		if (!anchors)
			return -ENOMEM;
		h->anchors = anchors;
	}
	h->anchors[h->nanchors++] = vaddr;
	return 0;
}

/* The places of @what in [from, to) with @fits in the neighbourhood. */
static int hunt_bytes(struct hunt *h, const uint8_t *bytes, size_t len, uint64_t vaddr, size_t from,
		      size_t to, const uint8_t what[4], bool (*fits)(const uint8_t *, size_t),
		      size_t reach)
{
	const uint8_t *at;
	size_t pos, low, high;
	int err;

	for (; from < to; from = pos + 1) {
		at = memmem(bytes + from, to - from, what, 4);
		if (!at)
			return 0;
		if (++h->tried > ANCHORS_MAX)
			return -E2BIG;
		pos = (size_t)(at - bytes);
		low = pos > reach ? pos - reach : 0;
		high = len - pos > reach ? pos + reach : len;
		if (!fits(bytes + low, high - low))
			continue;
		err = hunt_add_anchor(h, vaddr + pos);
		if (err)
			return err;
	}
	return 0;
}

static int hunt_anchors(struct hunt *h, const uint8_t *bytes, size_t len, uint64_t vaddr,
			size_t from, size_t to)
{
	/* What begins before @to may end a little behind it. */
	size_t end = len - to < 3 ? len : to + 3;
	int err;

	err = hunt_bytes(h, bytes, len, vaddr, from, end, bytes_futex, may_be_wait, BODY_MAX);
	if (!err)
		err = hunt_bytes(h, bytes, len, vaddr, from, end, bytes_limit[0], may_be_init,
				 MAKER_MAX);
	if (!err)
		err = hunt_bytes(h, bytes, len, vaddr, from, end, bytes_limit[1], may_be_init,
				 MAKER_MAX);
	return err;
}

/* Calls @fn for all code: [from, to) of @len bytes, which have more on both sides where there is more. */
static int each_chunk(struct hunt *h, chunk_fn fn)
{
	struct elf_range code;
	const uint8_t *bytes;
	uint64_t at, margin;
	size_t i, len, to;
	int err;

	for (i = 0; elf_code(h->elf, i, &code); i++) {
		for (at = 0; at < code.size; at += to - margin) {
			margin = at < BODY_MAX ? at : BODY_MAX;
			to = code.size - at + margin < CHUNK ? code.size - at + margin : CHUNK;
			len = elf_bytes(h->elf, code.offset + at - margin, to, &bytes);
			if (len < to)
				code.size = at - margin + len; /* the file has shrunk */
			to = len == CHUNK ? CHUNK - BODY_MAX : len;
			if (to <= margin)
				break;
			h->looked += to;
			if (h->looked > CODE_MAX)
				return -E2BIG;
			err = fn(h, bytes, len, code.vaddr + at - margin, margin, to);
			if (err)
				return err;
		}
	}
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The first anchor at or above @vaddr is within @size of it. */
static bool hunt_has_anchor(const struct hunt *h, uint64_t vaddr, uint64_t size)
{
	uint32_t low = 0, high = h->nanchors, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (h->anchors[mid] < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < h->nanchors && h->anchors[low] - vaddr < size;
}

/* --- functions ------------------------------------------------------------------------------------ */

static int compare_bodies(const void *a, const void *b)
{
	const struct body *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static void hunt_unique(struct hunt *h)
{
	uint32_t i, n = 0;

	if (!h->nbodies)
		return;
	qsort(h->bodies, h->nbodies, sizeof(*h->bodies), compare_bodies);
	for (i = 1; i < h->nbodies; i++)
		if (h->bodies[i].vaddr != h->bodies[n].vaddr)
			h->bodies[++n] = h->bodies[i];
	h->nbodies = n + 1;
}

static int hunt_add_body(struct hunt *h, uint64_t vaddr, uint64_t size)
{
	struct body *bodies;

	if (h->nbodies == FUNCTIONS_MAX) {
		hunt_unique(h);
		/* Making room for a few at a time would never end. */
		if (h->nbodies > FUNCTIONS_MAX / 2)
			return -E2BIG;
	}
	if (h->nbodies == h->cap_bodies) {
		h->cap_bodies = h->cap_bodies * 2 + 256;
		bodies = realloc(h->bodies, h->cap_bodies * sizeof(*bodies));
		if (!bodies)
			return -ENOMEM;
		h->bodies = bodies;
	}
	h->bodies[h->nbodies].vaddr = vaddr;
	h->bodies[h->nbodies++].size = size;
	return 0;
}

/* What direct calls lead to: a function without an entry in the unwind table. */
static int hunt_calls(struct hunt *h, const uint8_t *bytes, size_t len, uint64_t vaddr, size_t from,
		      size_t to)
{
	const uint8_t *at;
	uint64_t target;
	int32_t delta;
	size_t pos;
	int err;

	for (; from < to; from = pos + 1) {
		at = memchr(bytes + from, 0xe8, to - from);
		if (!at)
			return 0;
		pos = (size_t)(at - bytes);
		if (len - pos < 5)
			return 0;
		memcpy(&delta, at + 1, sizeof(delta));
		target = vaddr + pos + 5 + (uint64_t)(int64_t)delta;
		if (!hunt_has_anchor(h, target, BODY_MAX))
			continue;
		err = hunt_add_body(h, target, 0);
		if (err)
			return err;
	}
	return 0;
}

static int hunt_frame(void *ctx, uint64_t start, uint64_t len)
{
	struct hunt *h = ctx;

	if (len < BODY_MIN || len > BODY_MAX || !hunt_has_anchor(h, start, len))
		return 0;
	return hunt_add_body(h, start, len);
}

static int hunt_frames(struct hunt *h)
{
	return frames_each(h->elf, hunt_frame, h);
}

/* --- the choice ----------------------------------------------------------------------------------- */

static void hunt_take(struct hunt *h, struct elf_symbol *symbol, const struct body *body,
		      uint64_t offset)
{
	const struct walk *w = h->walk;

	symbol->vaddr = body->vaddr;
	symbol->offset = offset;
	symbol->size = body->size;
	if (!body->size && !w->endless)
		symbol->size = w->extent;
}

static int hunt_classify(struct hunt *h, const struct body *body, uint32_t *decoded)
{
	const uint8_t *bytes;
	bool glibc, musl;
	uint64_t offset;
	size_t len;

	if (elf_vaddr_to_offset(h->elf, body->vaddr, &offset))
		return 0;
	len = elf_bytes(h->elf, offset, body->size ? body->size : BODY_MAX, &bytes);
	if (len < (body->size ? body->size : BODY_MIN))
		return 0;
	if (!may_be_wait(bytes, len) && !may_be_init(bytes, len))
		return 0;
	if (++*decoded > DECODED_MAX)
		return -E2BIG;
	walk_body(h->walk, bytes, (uint32_t)len, body->size != 0);
	glibc = is_glibc_wait(&h->walk->deeds);
	musl = is_musl_wait(&h->walk->deeds);
	if (glibc || musl) {
		h->waits++;
		h->out->musl = musl;
		hunt_take(h, &h->out->wait, body, offset);
	} else if (is_glibc_init(&h->walk->deeds)) {
		h->inits++;
		hunt_take(h, &h->out->init, body, offset);
	}
	return 0;
}

static int hunt_classify_all(struct hunt *h)
{
	uint32_t i, decoded = 0;
	int err = 0;

	hunt_unique(h);
	h->waits = h->inits = 0;
	for (i = 0; i < h->nbodies && !err; i++)
		err = hunt_classify(h, &h->bodies[i], &decoded);
	return err;
}

static int hunt_run(struct hunt *h)
{
	int err = each_chunk(h, hunt_anchors);

	if (err || !h->nanchors)
		return err ? err : -ENOENT;
	qsort(h->anchors, h->nanchors, sizeof(*h->anchors), compare_u64);
	err = hunt_frames(h);
	if (!err)
		err = hunt_classify_all(h);
	if (!err && !h->waits) {
		h->nbodies = 0;
		err = each_chunk(h, hunt_calls);
		if (!err)
			err = hunt_classify_all(h);
	}
	if (err)
		return err;
	if (h->waits != 1)
		return h->waits ? -ENOTUNIQ : -ENOENT;
	/* A barrier made unseen would keep the count of the one that was there before it. */
	if (h->inits != 1 || h->out->musl)
		memset(&h->out->init, 0, sizeof(h->out->init));
	return 0;
}

int signature_find(const struct elf_file *elf, uint16_t machine, struct signature *out)
{
	struct hunt h = { .elf = elf, .out = out };
	int err = -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (machine != EM_X86_64)
		return -ENOTSUP;
	h.walk = malloc(sizeof(*h.walk));
	if (!h.walk)
		return -ENOMEM;
	if (!cs_open(CS_ARCH_X86, CS_MODE_64, &h.walk->handle)) {
		cs_option(h.walk->handle, CS_OPT_DETAIL, CS_OPT_ON);
		h.walk->insn = cs_malloc(h.walk->handle);
		if (h.walk->insn) {
			err = hunt_run(&h);
			cs_free(h.walk->insn, 1);
		}
		cs_close(&h.walk->handle);
	}
	if (err)
		memset(out, 0, sizeof(*out));
	free(h.walk);
	free(h.anchors);
	free(h.bodies);
	return err;
}
