// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The search has three steps. First, search all code for bytes that the barrier functions must
 * contain: the number of the futex call, and the greatest allowed count. Then find the functions
 * around these bytes by the unwind table, or as targets of calls. Finally, decode only these few
 * functions, and follow the barrier's address from the first argument through the registers.
 */
#include "elf/signature.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "elf/frames.h"
#include "elf/insn_group.h"
#include "elf/x86_register.h"

/* maximum size of a function, in bytes; musl's, the largest known, has 1145 */
#define BODY_MAX      2048u
#define BODY_MIN      32u
#define MAKER_MAX     256u /* maximum size of pthread_barrier_init, in bytes */
#define CHUNK	      (1u << 20) /* bytes of code searched at a time: the limit of elf_bytes() */
/* maximum number of bytes that are searched: segments of a hostile file may overlap */
#define CODE_MAX      (1ull << 30)
/* maximum number of matches of the searched bytes; real programs have far fewer */
#define ANCHORS_MAX   (1u << 16)
#define FUNCTIONS_MAX (1u << 14)
#define DECODED_MAX   512 /* maximum number of functions that are decoded */
#define INSN_MAX      15

/* A candidate function. */
struct body {
	uint64_t vaddr;
	uint64_t size; /* 0: unknown */
};

/*
 * Value of regs.at: the register does not point into the barrier. Other values: its distance in
 * bytes from the start of the barrier.
 */
#define NOWHERE INT16_MIN
#define REGS	16 /* number of registers; they have DWARF's numbers */
#define REG_RDI 5

struct regs {
	int16_t at[REGS];
};

struct point {
	uint32_t pos;
	struct regs regs;
};

#define WORDS	   8 /* number of words of four bytes in musl's barrier; glibc's has five */
#define WORD(n)	   (1u << (n))
#define FIRST_NONE UINT32_MAX

/* What a function does: which words of the barrier it accesses, and facts about all of its code. */
struct actions {
	/* one bit for each word that is read or written by plain instructions */
	uint32_t reads, writes;
	/* one bit for each word that is changed by a locked instruction of this kind */
	uint32_t xadds, cmpxchgs, xchgs;
	/* the word that is accessed first, before any branch is taken; FIRST_NONE: none yet */
	uint32_t first;
	uint32_t divs, syscalls, calls, rets;
	/* accesses memory next to the barrier, or the barrier at a variable offset */
	bool elsewhere;
	/* contains these constants, or a pause instruction */
	bool int_max, futex, einval, limit, spins, pause;
	bool unclear; /* does not decode, or jumps through a register */
};

struct walk {
	csh handle;
	cs_insn *insn;
	const uint8_t *bytes;
	uint32_t len;
	bool whole; /* `len` is the length of the whole function */
	uint8_t seen[BODY_MAX];
	/*
	 * Room for one point per byte: each instruction is visited once and adds at most one point.
	 */
	struct point ahead[BODY_MAX], behind_calls[BODY_MAX];
	uint32_t nahead, nbehind;
	uint32_t extent;
	bool endless; /* the end of the function is unknown */
	struct actions actions;
};

struct hunt {
	const struct elf_file *elf;
	uint64_t *anchors; /* addresses of matching bytes, ascending */
	uint32_t nanchors, cap_anchors, tried;
	uint64_t looked; /* bytes searched so far */
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

/* --- a function, decoded ---------------------------------------------------------------------- */

/* Return the index of a register by its Capstone name of any width, or -1. */
static int reg_index(unsigned int reg)
{
	static const uint16_t second_bytes[][2] = { { X86_REG_AH, X86_REG_AL },
						    { X86_REG_BH, X86_REG_BL },
						    { X86_REG_CH, X86_REG_CL },
						    { X86_REG_DH, X86_REG_DL } };
	bool wide;
	int i;

	for (i = 0; i < 4; i++)
		if (second_bytes[i][0] == reg)
			reg = second_bytes[i][1];
	return x86_register(reg, &wide);
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

static void note_word(struct actions *d, const cs_insn *ci, uint8_t access, uint32_t word)
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

static void note_memory(struct actions *d, const cs_insn *ci, const cs_x86_op *op,
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

static void note_constant(struct actions *d, uint64_t value)
{
	d->int_max |= value == 0x7fffffff;
	d->limit |= value == 0x7ffffffd || value == 0x7ffffffe;
	d->futex |= value == 202;
	d->einval |= value == EINVAL;
	/* musl spins 200 times and decrements before or after the test. */
	d->spins |= value >= 199 && value <= 201;
}

static void note_actions(struct actions *d, const cs_insn *ci, const struct regs *regs)
{
	const cs_x86 *x86 = &ci->detail->x86;
	int i;

	d->divs += ci->id == X86_INS_DIV;
	d->syscalls += ci->id == X86_INS_SYSCALL;
	d->calls += ci->id == X86_INS_CALL;
	d->rets += ci->id == X86_INS_RET;
	d->pause |= ci->id == X86_INS_PAUSE;
	for (i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_IMM)
			note_constant(d, (uint64_t)x86->operands[i].imm);
		else if (x86->operands[i].type == X86_OP_MEM && ci->id != X86_INS_LEA &&
			 ci->id != X86_INS_NOP)
			note_memory(d, ci, &x86->operands[i], regs);
	}
}

/*
 * If the instruction computes a pointer into the barrier in a whole register, return the pointer's
 * offset in the barrier, else NOWHERE.
 */
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

/*
 * Forget the registers that a call may change. If @call is false: the registers that a system call
 * may change.
 */
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
		w->actions.unclear = true;
		return;
	}
	forget_many(regs, writes, nwrites);
	/* The result may be in a 64-bit register that is none of the sixteen general registers. */
	to = place == NOWHERE ? -1 : reg_index(x86->operands[0].reg);
	if (to >= 0)
		regs->at[to] = place;
}

static void walk_push(struct walk *w, int64_t pos, const struct regs *regs)
{
	/*
	 * Ignore a target outside the function (a tail call, or a cold part) and code that was
	 * visited.
	 */
	if (pos < 0 || pos >= w->len || w->seen[pos] || w->nahead == BODY_MAX)
		return;
	w->ahead[w->nahead++] = (struct point){ .pos = (uint32_t)pos, .regs = *regs };
}

/* Follow the jumps of an instruction. Return whether the next instruction is also reached. */
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
		/*
		 * The call may not return. If it does not, the code after it is reached by a jump,
		 * or is another function. So visit that code last.
		 */
		if (w->nbehind < BODY_MAX)
			w->behind_calls[w->nbehind++] =
				(struct point){ .pos = next, .regs = *regs };
		return false;
	default:
		break;
	}
	if (!insn_in_group(ci, CS_GRP_JUMP))
		return true;
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM) {
		w->actions.unclear = true;
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

	/* Decode one instruction at most: a hostile file may contain long runs of prefixes. */
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
			w->actions.unclear = true;
			return;
		}
		next = point.pos + w->insn->size;
		if (next > w->extent)
			w->extent = next;
		note_actions(&w->actions, w->insn, &point.regs);
		move_places(w, &point.regs);
		if (!walk_flow(w, next, &point.regs))
			return;
	}
	if (point.pos >= w->len)
		w->endless = true;
}

/* Get the lowest unvisited point after a call. */
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

/* --- classification --------------------------------------------------------------------------- */

static bool has_all(uint32_t set, uint32_t words)
{
	return (set & words) == words;
}

static bool sane(const struct actions *d)
{
	return !d->unclear && !d->elsewhere && d->rets;
}

/*
 * glibc since 2.25 has the words in (0), current_round (1), count (2), shared (3), out (4). An
 * arriving thread adds 1 to "in". A round ends when current_round advances. A departing thread adds
 * 1 to "out", and the last departing thread resets in, current_round and out.
 */
static bool is_glibc_wait(const struct actions *d)
{
	uint32_t all = d->reads | d->writes | d->xadds | d->cmpxchgs | d->xchgs;

	return sane(d) && d->xadds == (WORD(0) | WORD(4)) && d->cmpxchgs == WORD(1) && !d->xchgs &&
	       has_all(d->reads, WORD(0) | WORD(1) | WORD(2) | WORD(3)) &&
	       d->writes == (WORD(0) | WORD(1) | WORD(4)) && !(all & ~0x1fu) && d->divs &&
	       d->syscalls >= 2 && d->futex && d->int_max;
}

/* pthread_barrier_init checks the count and writes the five words without reading any of them. */
static bool is_glibc_init(const struct actions *d)
{
	return sane(d) && d->writes == 0x1f && !(d->reads | d->xadds | d->cmpxchgs | d->xchgs) &&
	       !d->calls && !d->syscalls && !d->divs && d->limit && d->einval;
}

/*
 * musl has the words _b_lock (0), _b_waiters (1), _b_limit (2), _b_count (3), _b_waiters2 (4),
 * _b_inst (6 and 7). The first arriver shares a structure on its stack with the other threads,
 * spins for a while and sleeps. Every thread begins by reading the limit.
 */
static bool is_musl_wait(const struct actions *d)
{
	uint32_t all = d->reads | d->writes | d->xadds | d->cmpxchgs | d->xchgs;

	return sane(d) && d->first == 2 && d->xchgs == WORD(0) && !(d->xadds & ~WORD(3)) &&
	       !(d->cmpxchgs & ~WORD(0)) &&
	       has_all(d->reads, WORD(1) | WORD(2) | WORD(6) | WORD(7)) &&
	       has_all(d->writes, WORD(6) | WORD(7)) && !(d->writes & (WORD(1) | WORD(2))) &&
	       !(all & WORD(5)) && !d->divs && d->syscalls >= 2 && d->futex && d->int_max &&
	       d->spins && d->pause;
}

static bool is_known(const struct actions *d)
{
	return is_glibc_wait(d) || is_musl_wait(d) || is_glibc_init(d);
}

/* --- walking a function ----------------------------------------------------------------------- */

/*
 * Return whether the function ends before @pos, which follows a call. If padding follows the call,
 * the call does not return and the function ends there. Without padding, it is not known whether
 * the function ends: assume that it does if it is already recognised.
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
	return is_known(&w->actions);
}

/*
 * Walk through @len bytes of a function from its start. @whole: @bytes are the complete function.
 */
static void walk_body(struct walk *w, const uint8_t *bytes, uint32_t len, bool whole)
{
	struct point point = { 0 };
	int i;

	w->bytes = bytes;
	w->len = len;
	w->whole = whole;
	memset(w->seen, 0, sizeof(w->seen));
	memset(&w->actions, 0, sizeof(w->actions));
	w->actions.first = FIRST_NONE;
	w->nahead = w->nbehind = w->extent = 0;
	w->endless = false;
	for (i = 0; i < REGS; i++)
		point.regs.at[i] = i == REG_RDI ? 0 : NOWHERE;
	do {
		walk_from(w, point);
		while (w->nahead)
			walk_from(w, w->ahead[--w->nahead]);
	} while (!w->actions.unclear && walk_pop_behind(w, &point) && !walk_ends_at(w, point.pos));
}

/* --- which bytes to search -------------------------------------------------------------------- */

static bool contains(const uint8_t *bytes, size_t len, const uint8_t *what, size_t what_len)
{
	return memmem(bytes, len, what, what_len);
}

/* Return whether the bytes contain a lock xadd of 32 bits, with or without REX. */
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
	if (grow(h->anchors, h->cap_anchors, h->nanchors + 1))
		return -ENOMEM;
	h->anchors[h->nanchors++] = vaddr;
	return 0;
}

/* Add anchors where @what is found in [from, to) and @fits accepts the bytes around it. */
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
	/* A match that begins before @to may end a little after it. */
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

/* Call @fn for all code, in chunks that include the adjacent bytes before and after. */
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
				/* fewer bytes than expected, because the file has become shorter */
				code.size = at - margin + len;
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

/* Return whether there is an anchor in [@vaddr, @vaddr + @size). */
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

/* --- functions -------------------------------------------------------------------------------- */

static void hunt_unique(struct hunt *h)
{
	uint32_t i, n = 0;

	if (!h->nbodies)
		return;
	/* The address of a body is its first member, so the bodies are sorted by address. */
	qsort(h->bodies, h->nbodies, sizeof(*h->bodies), number_compare_u64);
	for (i = 1; i < h->nbodies; i++)
		if (h->bodies[i].vaddr != h->bodies[n].vaddr)
			h->bodies[++n] = h->bodies[i];
	h->nbodies = n + 1;
}

static int hunt_add_body(struct hunt *h, uint64_t vaddr, uint64_t size)
{
	if (h->nbodies == FUNCTIONS_MAX) {
		hunt_unique(h);
		/*
		 * Give up if removing duplicates has freed only a few entries, because the search
		 * would take very long.
		 */
		if (h->nbodies > FUNCTIONS_MAX / 2)
			return -E2BIG;
	}
	if (grow(h->bodies, h->cap_bodies, h->nbodies + 1))
		return -ENOMEM;
	h->bodies[h->nbodies++] = (struct body){ .vaddr = vaddr, .size = size };
	return 0;
}

/* Add the targets of direct calls, which may be functions without an entry in the unwind table. */
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

/* --- the choice ------------------------------------------------------------------------------- */

static void hunt_take(struct hunt *h, struct elf_symbol *symbol, const struct body *body,
		      uint64_t offset)
{
	const struct walk *w = h->walk;

	*symbol = (struct elf_symbol){ .vaddr = body->vaddr, .offset = offset, .size = body->size };
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
	glibc = is_glibc_wait(&h->walk->actions);
	musl = is_musl_wait(&h->walk->actions);
	if (glibc || musl) {
		h->waits++;
		h->out->musl = musl;
		hunt_take(h, &h->out->wait, body, offset);
	} else if (is_glibc_init(&h->walk->actions)) {
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
	qsort(h->anchors, h->nanchors, sizeof(*h->anchors), number_compare_u64);
	err = frames_each(h->elf, hunt_frame, h);
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
	/*
	 * Use pthread_barrier_init only if it was found with certainty: if a call were missed, an
	 * old count would stay in use.
	 */
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
