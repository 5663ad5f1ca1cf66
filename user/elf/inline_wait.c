// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/inline_wait.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/insn.h"
#include "elf/insn_group.h"
#include "elf/sdt.h"
#include "elf/x86_code.h"
#include "elf/x86_register.h"

#define BYTES_MAX  65536
/*
 * maximum number of instructions that a walk visits; a wait has fewer, not counting those after its
 * calls
 */
#define REGION_MAX 96
#define PC_OFFSET  (8 * 16) /* offset of the program counter in the kernel's struct pt_regs */

struct code {
	struct x86_code x86;
	uint8_t *seen; /* for each instruction: the present walk has reached it */
	uint8_t *target; /* for each instruction: a jump leads to it */
};

/* The instructions of a wait, in the order in which a walk reaches them. */
struct region {
	size_t at[REGION_MAX];
	uint32_t n;
	bool spins; /* contains a pause instruction */
	bool broken; /* contains an instruction that no wait has */
	uint32_t nleaves;
	uint32_t leaves[INLINE_WAIT_LEAVES];
};

static bool is_locked(const cs_insn *ci)
{
	return ci->detail->x86.prefix[0] == X86_PREFIX_LOCK;
}

/*
 * Return by how much an atomic instruction changes four bytes in memory, or 0 if the instruction
 * does something else.
 */
static int64_t changes_by(const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;
	int64_t by = 1;

	if (!is_locked(ci) || !x->op_count || x->operands[0].type != X86_OP_MEM ||
	    x->operands[0].size != 4)
		return 0;
	if (x->op_count == 2 && x->operands[1].type == X86_OP_IMM)
		by = (int32_t)x->operands[1].imm;
	else if (x->op_count != 1)
		return 0;
	if (ci->id == X86_INS_ADD || ci->id == X86_INS_INC)
		return by;
	return ci->id == X86_INS_SUB || ci->id == X86_INS_DEC ? -by : 0;
}

static void add_leave(struct region *r, uint32_t offset)
{
	uint32_t i;

	for (i = 0; i < r->nleaves; i++)
		if (r->leaves[i] == offset)
			return;
	if (r->nleaves == INLINE_WAIT_LEAVES)
		r->broken = true;
	else
		r->leaves[r->nleaves++] = offset;
}

static void reach(const struct code *c, struct region *r, int64_t offset)
{
	uint32_t at = x86_code_at(&c->x86, offset);

	if (!at || c->seen[at - 1] || r->n == REGION_MAX)
		return;
	c->seen[at - 1] = 1;
	r->at[r->n++] = at - 1;
}

/*
 * Walk from the instruction after @enter up to the subtractions. @calls: also continue after calls.
 * A call may not return, and then the code after it is another part of the function. So only
 * instructions that are reached without continuing after calls prove a wait.
 */
static void walk(const struct code *c, size_t enter, bool calls, struct region *r)
{
	const cs_insn *ci = &c->x86.insn[enter];
	uint32_t next;

	memset(c->seen, 0, c->x86.n);
	memset(r, 0, sizeof(*r));
	reach(c, r, (int64_t)ci->address + ci->size);
	for (next = 0; next < r->n; next++) {
		ci = &c->x86.insn[r->at[next]];
		if (changes_by(ci) == -1) {
			add_leave(r, (uint32_t)ci->address);
			continue;
		}
		if (is_locked(ci) || insn_in_group(ci, CS_GRP_RET)) {
			r->broken = true;
			continue;
		}
		r->spins |= ci->id == X86_INS_PAUSE;
		if (insn_in_group(ci, CS_GRP_JUMP) &&
		    ci->detail->x86.operands[0].type == X86_OP_IMM)
			reach(c, r, ci->detail->x86.operands[0].imm);
		if (ci->id != X86_INS_JMP && (calls || ci->id != X86_INS_CALL))
			reach(c, r, (int64_t)ci->address + ci->size);
	}
	r->broken |= r->n == REGION_MAX && !calls;
}

/* --- what a thread waits for ------------------------------------------------------------------ */

#define REGISTERS 16
#define SLOTS	  16
#define PATH_MAX  64 /* maximum number of instructions from the probe to the test */

enum value_how { VALUE_UNKNOWN, VALUE_REGISTER, VALUE_STACK, VALUE_CODE };

/* Contents of a register or a stack slot, in terms of the registers' values at the probe. */
struct value {
	uint8_t how;
	/*
	 * VALUE_REGISTER: the value is the contents of this register plus `add`; VALUE_STACK: base
	 * register of the slot
	 */
	uint8_t reg;
	/*
	 * VALUE_STACK: offset of the slot from the base; VALUE_CODE: offset of the address from the
	 * function's start
	 */
	int64_t add;
};

struct slot {
	uint8_t base;
	int64_t disp;
	struct value value;
};

struct path {
	const struct code *c;
	struct value reg[REGISTERS];
	struct slot slot[SLOTS]; /* the stack slots that were written on the path */
	uint32_t nslots;
	/* more slots were written than fit, or the effect of an instruction is unknown */
	bool lost;
};

static bool on_stack(const cs_x86_op *op, uint8_t *base)
{
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    (op->mem.base != X86_REG_RSP && op->mem.base != X86_REG_RBP))
		return false;
	*base = op->mem.base == X86_REG_RSP ? 7 : 6;
	return true;
}

/* Return whether the register still has the value that it had at the probe. */
static bool is_base(const struct path *p, uint8_t base)
{
	return p->reg[base].how == VALUE_REGISTER && p->reg[base].reg == base && !p->reg[base].add;
}

static struct value value_of(const struct path *p, const cs_x86_op *op)
{
	struct value v = { 0 };
	bool wide = false;
	uint8_t base = 0;
	uint32_t i;
	int reg;

	if (op->type == X86_OP_REG) {
		reg = x86_register(op->reg, &wide);
		return reg < 0 ? v : p->reg[reg];
	}
	if (!on_stack(op, &base) || !is_base(p, base))
		return v;
	for (i = 0; i < p->nslots; i++)
		if (p->slot[i].base == base && p->slot[i].disp == op->mem.disp)
			return p->slot[i].value;
	return (struct value){ .how = VALUE_STACK, .reg = base, .add = op->mem.disp };
}

/* Return the address of a memory operand. */
static struct value address_in(const struct path *p, const cs_insn *ci, const cs_x86_op *op)
{
	struct value v = { 0 };
	bool wide = false;
	int reg;

	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return v;
	if (op->mem.base == X86_REG_RIP) {
		return (struct value){ .how = VALUE_CODE,
				       .add = op->mem.disp + (int64_t)(ci->address + ci->size) };
	}
	reg = x86_register(op->mem.base, &wide);
	if (reg < 0)
		return v;
	v = p->reg[reg];
	/* The argument of a probe cannot be a value loaded from memory plus a number. */
	if (v.how == VALUE_STACK && op->mem.disp)
		v.how = VALUE_UNKNOWN;
	else if (v.how == VALUE_REGISTER || v.how == VALUE_CODE)
		v.add += op->mem.disp;
	return v;
}

static void store(struct path *p, const cs_x86_op *op, struct value v)
{
	uint8_t base;
	uint32_t i;

	if (!on_stack(op, &base))
		return;
	for (i = 0; i < p->nslots; i++)
		if (p->slot[i].base == base && p->slot[i].disp == op->mem.disp)
			break;
	if (i == SLOTS) {
		p->lost = true;
		return;
	}
	p->nslots += i == p->nslots;
	p->slot[i] = (struct slot){ .base = base, .disp = op->mem.disp, .value = v };
}

static void execute(struct path *p, const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;
	bool moves = x->op_count == 2 && (ci->id == X86_INS_MOV || ci->id == X86_INS_MOVZX);
	struct value v = { 0 };
	cs_regs read, written;
	uint8_t nread, nwritten, i;
	bool wide = false;
	int reg;

	if (moves)
		v = value_of(p, &x->operands[1]);
	else if (ci->id == X86_INS_LEA)
		v = address_in(p, ci, &x->operands[1]);
	/* For any other instruction, v is unknown. */
	if (cs_regs_access(p->c->x86.handle, ci, read, &nread, written, &nwritten)) {
		p->lost = true;
		return;
	}
	for (i = 0; i < nwritten; i++) {
		reg = x86_register(written[i], &wide);
		if (reg >= 0)
			p->reg[reg] = (struct value){ 0 };
	}
	for (i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].access & CS_AC_WRITE)
			store(p, &x->operands[i], moves && !i ? v : (struct value){ 0 });
	if ((moves || ci->id == X86_INS_LEA) && x->operands[0].type == X86_OP_REG) {
		reg = x86_register(x->operands[0].reg, &wide);
		if (reg >= 0)
			p->reg[reg] = v;
	}
}

/*
 * Describe the value as an argument of the probe at @at. @size is the size of the value in bytes.
 * Return false if the value is unknown.
 */
static bool describe_value(const struct value *v, uint32_t at, uint8_t size, struct sbt_arg *out)
{
	*out = (struct sbt_arg){ .size = size, .index = SBT_ARG_NO_REG, .disp = v->add };
	switch (v->how) {
	case VALUE_REGISTER:
		out->how = SBT_ARG_REG;
		out->reg = (uint16_t)sdt_regs_offset(EM_X86_64, v->reg);
		out->flags = SBT_ARG_ADDS;
		return true;
	case VALUE_STACK:
		out->how = SBT_ARG_MEM;
		out->reg = (uint16_t)sdt_regs_offset(EM_X86_64, v->reg);
		return true;
	case VALUE_CODE:
		out->how = SBT_ARG_REG;
		out->reg = PC_OFFSET;
		out->flags = SBT_ARG_ADDS;
		out->disp -= (int64_t)at;
		return true;
	default:
		return false;
	}
}

/*
 * The test that decides whether a wait ends: a load into a register, directly followed by a
 * comparison and a conditional jump.
 */
struct test {
	const cs_insn *load, *compare, *jump;
	const cs_x86_op *other; /* operand with which the register is compared */
	uint8_t size; /* bytes that were loaded */
};

static bool test_at(const struct code *c, size_t i, struct test *t)
{
	const cs_x86 *x;
	bool wide = false, wide_too = false;
	int reg, a, b;

	if (i + 2 >= c->x86.n)
		return false;
	t->load = &c->x86.insn[i];
	t->compare = t->load + 1;
	t->jump = t->load + 2;
	x = &t->load->detail->x86;
	if ((t->load->id != X86_INS_MOV && t->load->id != X86_INS_MOVZX) || x->op_count != 2 ||
	    x->operands[0].type != X86_OP_REG || x->operands[1].type != X86_OP_MEM ||
	    !insn_in_group(t->jump, CS_GRP_JUMP))
		return false;
	reg = x86_register(x->operands[0].reg, &wide);
	t->size = x->operands[1].size;
	x = &t->compare->detail->x86;
	if ((t->compare->id != X86_INS_CMP && t->compare->id != X86_INS_TEST) || x->op_count != 2 ||
	    reg < 0)
		return false;
	a = x->operands[0].type == X86_OP_REG ? x86_register(x->operands[0].reg, &wide) : -1;
	b = x->operands[1].type == X86_OP_REG ? x86_register(x->operands[1].reg, &wide_too) : -1;
	if (a != reg && b != reg)
		return false;
	t->other = &x->operands[a == reg];
	return true;
}

/*
 * Return whether the wait ends when the test finds equality. The code for equality is the target of
 * the jump or follows the jump.
 */
static bool equal_leaves(const struct code *c, const struct region *r, const struct test *t)
{
	int64_t taken = t->jump->detail->x86.operands[0].imm,
		next = t->jump->address + t->jump->size;
	int64_t equal = t->jump->id == X86_INS_JE ? taken : next;
	uint32_t hops, i, at;

	for (hops = 0; hops < 4; hops++) {
		const cs_insn *ci;

		for (i = 0; i < r->nleaves; i++)
			if (r->leaves[i] == equal)
				return true;
		at = x86_code_at(&c->x86, equal);
		if (!at)
			return false;
		ci = &c->x86.insn[at - 1];
		if (insn_in_group(ci, CS_GRP_JUMP) && ci->id != X86_INS_JMP)
			return false;
		equal = ci->id == X86_INS_JMP ? ci->detail->x86.operands[0].imm
					      : (int64_t)ci->address + ci->size;
	}
	return false;
}

/* Find what the wait waits for, by its test, and classify the wait. */
static void take_test(const struct path *p, const struct region *r, const struct test *t,
		      struct inline_wait *out)
{
	const cs_x86_op *loaded = &t->load->detail->x86.operands[1];
	struct value address = address_in(p, t->load, loaded), old;

	out->kind = INLINE_WAIT_OTHER;
	if (t->size == 1 && t->compare->id == X86_INS_CMP && t->other->type != X86_OP_IMM) {
		old = value_of(p, t->other);
		out->kind = describe_value(&address, out->enter, 8, &out->object) &&
					    describe_value(&old, out->enter, 1, &out->old)
				    ? INLINE_WAIT_BARRIER
				    : INLINE_WAIT_UNKNOWN;
	} else if (t->size == 4 && t->compare->id == X86_INS_TEST && equal_leaves(p->c, r, t)) {
		out->kind = describe_value(&address, out->enter, 8, &out->object)
				    ? INLINE_WAIT_LATCH
				    : INLINE_WAIT_UNKNOWN;
	}
}

/*
 * Follow one path from the probe to the test. That is enough, because all paths wait for the same
 * object.
 */
static void classify(const struct code *c, const struct region *r, struct inline_wait *out)
{
	struct path p = { .c = c };
	int64_t at = out->enter;
	struct test t;
	uint32_t n, i;

	for (i = 0; i < REGISTERS; i++)
		p.reg[i] = (struct value){ .how = VALUE_REGISTER, .reg = (uint8_t)i };
	out->kind = INLINE_WAIT_UNKNOWN;
	for (n = 0; n < PATH_MAX && !p.lost; n++) {
		const cs_insn *ci;

		i = x86_code_at(&c->x86, at);
		if (!i)
			return;
		ci = &c->x86.insn[i - 1];
		if (test_at(c, i - 1, &t)) {
			take_test(&p, r, &t, out);
			return;
		}
		if (ci->id == X86_INS_CALL || insn_in_group(ci, CS_GRP_RET))
			return;
		execute(&p, ci);
		at = ci->id == X86_INS_JMP ? ci->detail->x86.operands[0].imm
					   : (int64_t)ci->address + ci->size;
	}
}

/* --- where probes go -------------------------------------------------------------------------- */

static bool may_probe(const struct code *c, const cs_insn *ci)
{
	struct insn insn;

	insn_decode(EM_X86_64, c->x86.bytes + ci->address, c->x86.len - ci->address, &insn);
	return insn.class == INSN_EMULATED || insn.class == INSN_STEPPED;
}

/* Find the next instruction after number @i that may be probed. Skip only nops. */
static bool probe_after(const struct code *c, size_t i, uint32_t *out)
{
	while (++i < c->x86.n) {
		if (may_probe(c, &c->x86.insn[i])) {
			*out = (uint32_t)c->x86.insn[i].address;
			return true;
		}
		if (c->x86.insn[i].id != X86_INS_NOP)
			return false;
	}
	return false;
}

static bool moves_stack(const struct code *c, const cs_insn *ci)
{
	cs_regs read, written;
	uint8_t nread, nwritten, i;

	if (cs_regs_access(c->x86.handle, ci, read, &nread, written, &nwritten))
		return true;
	for (i = 0; i < nwritten; i++)
		if (written[i] == X86_REG_RSP)
			return true;
	return false;
}

/*
 * Return whether the probe can be on the instruction before the addition. If no jump leads to the
 * addition, the instruction before it is executed only once in each wait, unlike the instruction
 * after the addition, which may be in the loop of the wait. The instruction before the addition
 * must not change the stack pointer, because the departure is recognised by the stack pointer at
 * the probe.
 */
static bool is_before(const struct code *c, size_t enter)
{
	const cs_insn *ci;

	if (!enter || c->target[enter])
		return false;
	ci = &c->x86.insn[enter - 1];
	return ci->address + ci->size == c->x86.insn[enter].address &&
	       !insn_in_group(ci, CS_GRP_JUMP) && !insn_in_group(ci, CS_GRP_RET) &&
	       !insn_in_group(ci, CS_GRP_CALL) && !moves_stack(c, ci) && may_probe(c, ci);
}

static bool wait_at(const struct code *c, size_t enter, struct inline_wait *out)
{
	struct region proof, all;
	uint32_t i;

	if (changes_by(&c->x86.insn[enter]) != 1)
		return false;
	walk(c, enter, false, &proof);
	if (proof.broken || !proof.spins || !proof.nleaves)
		return false;
	walk(c, enter, true, &all);
	memset(out, 0, sizeof(*out));
	out->kind = INLINE_WAIT_UNKNOWN;
	if (all.nleaves < proof.nleaves)
		all = proof;
	for (i = 0; i < all.nleaves; i++)
		if (!probe_after(c, x86_code_at(&c->x86, all.leaves[i]) - 1,
				 &out->leaves[out->nleaves++]))
			return true;
	if (is_before(c, enter)) {
		out->enter = (uint32_t)c->x86.insn[enter - 1].address;
		classify(c, &proof, out);
	}
	if (out->kind == INLINE_WAIT_UNKNOWN && probe_after(c, enter, &out->enter))
		classify(c, &proof, out);
	return true;
}

static int decode(struct code *c)
{
	int err = x86_code_decode(&c->x86);
	uint32_t to;
	size_t i;

	if (err)
		return err;
	c->seen = calloc(c->x86.n + 1, 1);
	c->target = calloc(c->x86.n + 1, 1);
	if (!c->seen || !c->target)
		return -ENOMEM;
	for (i = 0; i < c->x86.n; i++) {
		const cs_insn *ci = &c->x86.insn[i];
		const cs_x86_op *op = &ci->detail->x86.operands[0];

		if (!insn_in_group(ci, CS_GRP_JUMP) || op->type != X86_OP_IMM)
			continue;
		to = x86_code_at(&c->x86, op->imm);
		if (to)
			c->target[to - 1] = 1;
	}
	return 0;
}

int inline_waits_find(uint16_t machine, const uint8_t *bytes, size_t len, struct inline_wait *out,
		      int max)
{
	struct code c = { .x86 = { .bytes = bytes, .len = len } };
	int err, n = 0;
	size_t i;

	if (machine != EM_X86_64 || !len || len > BYTES_MAX)
		return -ENOTSUP;
	err = decode(&c);
	for (i = 0; !err && i < c.x86.n && n < max; i++)
		n += wait_at(&c, i, &out[n]);
	free(c.target);
	free(c.seen);
	x86_code_free(&c.x86);
	return err ? err : n;
}

/* Return whether @b begins with an atomic addition of 1: a lock add or a lock inc of four bytes. */
static bool is_enter(const uint8_t *b, size_t len)
{
	size_t at = 1;

	if (len < 10 || b[0] != 0xf0)
		return false;
	if ((b[at] & 0xf8) == 0x40) /* REX prefix */
		at++;
	return (b[at] == 0x83 || b[at] == 0xff) && (b[at + 1] & 0x38) == 0 && b[at + 1] < 0xc0;
}

#define PAUSE_NEAR 512 /* maximum distance in bytes to the pause instruction of the spin loop */

size_t inline_wait_hint(const uint8_t *bytes, size_t len, size_t from)
{
	size_t i, k;

	for (i = from; i < len; i++) {
		if (!is_enter(bytes + i, len - i))
			continue;
		for (k = i + 4; k + 1 < len && k < i + PAUSE_NEAR; k++)
			if (bytes[k] == 0xf3 && bytes[k + 1] == 0x90)
				return i;
	}
	return len;
}
