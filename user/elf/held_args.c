// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/held_args.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/insn_group.h"
#include "elf/x86_code.h"
#include "elf/x86_register.h"

#define BYTES_MAX    65536
#define SLOTS	     48 /* maximum number of words in memory that hold an argument */
#define REGISTERS    16
/* DWARF's number of the stack pointer; all registers here have DWARF's numbers */
#define REGISTER_SP  7
#define IN_REGISTERS 6 /* number of arguments that are passed in registers */
#define NOTHING	     (-1)
#define PASSES_MAX   64

/* A word in memory that holds an argument. */
struct slot {
	int32_t offset; /* offset from the CFA, or from the address in register `base` */
	int8_t base; /* REGISTER_SP: the CFA */
	uint8_t size; /* bytes */
	int8_t arg; /* NOTHING: the slot is free */
};

/*
 * The state before one instruction: which argument each register and memory word holds, or NOTHING.
 */
struct state {
	bool reached;
	/*
	 * the stack pointer is unknown (for example, paths disagree about it), so nothing on the
	 * stack is known
	 */
	bool lost;
	int32_t sp; /* stack pointer relative to the CFA */
	int8_t reg[REGISTERS];
	struct slot slot[SLOTS];
};

struct flow {
	struct x86_code code;
	struct state *before; /* indexed by the number of the instruction */
	bool changed;
};

/* Return whether a call may change the register, according to the System V ABI. */
static bool is_callers(int reg)
{
	return reg == 0 || reg == 1 || reg == 2 || reg == 4 || reg == 5 || (reg >= 8 && reg <= 11);
}

/* The registers that pass the first arguments, in order. */
static const uint8_t in[IN_REGISTERS] = { 5, 4, 1, 2, 8, 9 };

static void at_entry(struct state *s)
{
	int i;

	memset(s, 0, sizeof(*s));
	s->reached = true;
	s->sp = -8;
	memset(s->reg, NOTHING, sizeof(s->reg));
	for (i = 0; i < SLOTS; i++)
		s->slot[i].arg = NOTHING;
	for (i = 0; i < IN_REGISTERS; i++)
		s->reg[in[i]] = (int8_t)i;
	for (i = IN_REGISTERS; i < HELD_ARGS_MAX; i++)
		s->slot[i] = (struct slot){ 8 * (i - IN_REGISTERS), REGISTER_SP, 8, (int8_t)i };
}

/* --- one instruction -------------------------------------------------------------------------- */

static int slot_find(const struct state *s, int base, int32_t offset)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (s->slot[i].arg != NOTHING && s->slot[i].base == base &&
		    s->slot[i].offset == offset)
			return i;
	return NOTHING;
}

/*
 * Record that @size bytes are written at an address: forget the slots that they overlap. If @arg is
 * not NOTHING, record that the address holds argument @arg.
 */
static void slot_put(struct state *s, int base, int32_t offset, unsigned int size, int arg)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (s->slot[i].arg != NOTHING && s->slot[i].base == base &&
		    s->slot[i].offset < offset + (int32_t)size &&
		    s->slot[i].offset + s->slot[i].size > offset)
			s->slot[i].arg = NOTHING;
	for (i = 0; arg != NOTHING && i < SLOTS; i++) {
		if (s->slot[i].arg != NOTHING)
			continue;
		s->slot[i] = (struct slot){ offset, (int8_t)base, (uint8_t)size, (int8_t)arg };
		return;
	}
}

static void forget_based(struct state *s, int base)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (s->slot[i].base == base)
			s->slot[i].arg = NOTHING;
}

static void forget_stack(struct state *s)
{
	s->lost = true;
	forget_based(s, REGISTER_SP);
}

/*
 * Set the register's contents, and forget the slots that are addressed relative to its old value.
 */
static void set_register(struct state *s, int reg, int arg)
{
	s->reg[reg] = (int8_t)arg;
	forget_based(s, reg);
}

/* Find the slot that a memory operand names. Return false if its address is unknown. */
static bool slot_of(const struct state *s, const cs_x86_op *op, int *base, int32_t *offset)
{
	bool wide = false;

	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	*base = x86_register(op->mem.base, &wide);
	if (*base == NOTHING || !wide || (*base == REGISTER_SP && s->lost))
		return false;
	*offset = (int32_t)op->mem.disp + (*base == REGISTER_SP ? s->sp : 0);
	return true;
}

static void move_stack_pointer(struct state *s, const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;

	if (x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
	    x->operands[0].reg == X86_REG_RSP && x->operands[1].type == X86_OP_IMM &&
	    (ci->id == X86_INS_SUB || ci->id == X86_INS_ADD))
		s->sp +=
			(int32_t)(ci->id == X86_INS_ADD ? x->operands[1].imm : -x->operands[1].imm);
	else
		forget_stack(s);
}

/* Execute a copy between registers and slots. Return false if the instruction is not a copy. */
static bool copies(struct state *s, const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	bool wide = false, whole = false;
	int reg, arg = NOTHING, slot, base;
	int32_t offset;

	if ((ci->id != X86_INS_MOV && ci->id != X86_INS_MOVSXD) || x->op_count != 2)
		return false;
	if (from->type == X86_OP_REG) {
		reg = x86_register(from->reg, &wide);
		arg = reg != NOTHING && wide ? s->reg[reg] : NOTHING;
	} else if (slot_of(s, from, &base, &offset)) {
		slot = slot_find(s, base, offset);
		arg = slot != NOTHING ? s->slot[slot].arg : NOTHING;
	}
	if (to->type == X86_OP_REG) {
		reg = x86_register(to->reg, &whole);
		if (reg == REGISTER_SP)
			forget_stack(s);
		else if (reg != NOTHING)
			set_register(s, reg, whole ? arg : NOTHING);
	} else if (slot_of(s, to, &base, &offset)) {
		slot_put(s, base, offset, to->size, to->size >= 4 ? arg : NOTHING);
	}
	return true;
}

static void forget_written(struct flow *f, struct state *s, const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;
	cs_regs read, written;
	uint8_t nread, nwritten, i;
	int32_t offset;
	int reg, base;
	bool wide;

	if (cs_regs_access(f->code.handle, ci, read, &nread, written, &nwritten))
		nwritten = 0;
	for (i = 0; i < nwritten; i++) {
		reg = x86_register(written[i], &wide);
		if (reg == REGISTER_SP)
			move_stack_pointer(s, ci);
		else if (reg != NOTHING)
			set_register(s, reg, NOTHING);
	}
	array_for_each (operand, x->operands, x->op_count)
		if (operand->access & CS_AC_WRITE && slot_of(s, operand, &base, &offset))
			slot_put(s, base, offset, operand->size, NOTHING);
}

static void clobber(struct state *s)
{
	int i;

	for (i = 0; i < REGISTERS; i++)
		if (is_callers(i))
			set_register(s, i, NOTHING);
	/* Memory below the stack pointer belongs to the callee. */
	for (i = 0; i < SLOTS; i++)
		if (s->slot[i].arg != NOTHING && s->slot[i].base == REGISTER_SP &&
		    s->slot[i].offset < s->sp)
			s->slot[i].arg = NOTHING;
}

static void execute(struct flow *f, struct state *s, const cs_insn *ci)
{
	const cs_x86_op *op = &ci->detail->x86.operands[0];
	bool wide = false;
	int reg, slot;

	if (ci->id == X86_INS_PUSH) {
		reg = op->type == X86_OP_REG ? x86_register(op->reg, &wide) : NOTHING;
		s->sp -= 8;
		if (!s->lost)
			slot_put(s, REGISTER_SP, s->sp, 8, reg != NOTHING ? s->reg[reg] : NOTHING);
	} else if (ci->id == X86_INS_POP && op->type == X86_OP_REG) {
		reg = x86_register(op->reg, &wide);
		slot = s->lost ? NOTHING : slot_find(s, REGISTER_SP, s->sp);
		if (reg != NOTHING)
			set_register(s, reg, slot != NOTHING ? s->slot[slot].arg : NOTHING);
		s->sp += 8;
	} else if (ci->id == X86_INS_CALL) {
		clobber(s);
	} else if (!copies(s, ci)) {
		forget_written(f, s, ci);
	}
}

/* --- all paths -------------------------------------------------------------------------------- */

/* Merge @from into @to: keep only what is the same in both states. */
static void merge(struct flow *f, struct state *to, const struct state *from)
{
	int i, at;

	if (!to->reached) {
		*to = *from;
		f->changed = true;
		return;
	}
	for (i = 0; i < REGISTERS; i++)
		if (to->reg[i] != NOTHING && to->reg[i] != from->reg[i]) {
			to->reg[i] = NOTHING;
			f->changed = true;
		}
	if (!to->lost && (from->lost || to->sp != from->sp)) {
		forget_stack(to);
		f->changed = true;
	}
	for (i = 0; i < SLOTS; i++) {
		if (to->slot[i].arg == NOTHING)
			continue;
		at = slot_find(from, to->slot[i].base, to->slot[i].offset);
		if (at == NOTHING || from->slot[at].arg != to->slot[i].arg ||
		    from->slot[at].size != to->slot[i].size) {
			to->slot[i].arg = NOTHING;
			f->changed = true;
		}
	}
}

static void merge_at(struct flow *f, int64_t offset, const struct state *from)
{
	uint32_t at = x86_code_at(&f->code, offset);

	if (at)
		merge(f, &f->before[at - 1], from);
}

/*
 * Carry the states along all edges of the control flow until nothing changes. The targets of a jump
 * through a register are unknown, so no state is carried along it.
 */
static void spread(struct flow *f)
{
	int passes;
	size_t i;

	for (passes = 0; f->changed && passes < PASSES_MAX; passes++) {
		f->changed = false;
		for (i = 0; i < f->code.n; i++) {
			const cs_insn *ci = &f->code.insn[i];
			const cs_x86_op *op = &ci->detail->x86.operands[0];
			struct state s = f->before[i];

			if (!s.reached || insn_in_group(ci, CS_GRP_RET))
				continue;
			if (insn_in_group(ci, CS_GRP_JUMP)) {
				if (op->type == X86_OP_IMM)
					merge_at(f, op->imm, &s);
				if (ci->id == X86_INS_JMP)
					continue;
			} else {
				execute(f, &s, ci);
			}
			merge_at(f, (int64_t)ci->address + ci->size, &s);
		}
	}
}

static int decode(struct flow *f)
{
	int err = x86_code_decode(&f->code);

	if (err)
		return err;
	if (!f->code.n)
		return -ENOTSUP;
	f->before = calloc(f->code.n, sizeof(*f->before));
	return f->before ? 0 : -ENOMEM;
}

static void hold(struct held_arg *arg, enum held_how how, uint8_t reg, int32_t offset)
{
	arg->how = how;
	arg->reg = reg;
	arg->offset = offset;
}

/*
 * Fill @out from the state before the call, without the registers and memory that the callee may
 * change.
 */
static int answer(struct flow *f, uint32_t after, struct held_arg *out)
{
	const cs_insn *insn = f->code.insn;
	const struct state *s = NULL;
	struct state kept;
	size_t i;
	int k;

	for (i = 0; i < f->code.n; i++)
		if (insn[i].id == X86_INS_CALL && insn[i].address + insn[i].size == after &&
		    f->before[i].reached)
			s = &f->before[i];
	if (!s)
		return -ENOENT;
	for (k = 0; k < IN_REGISTERS; k++)
		if (s->reg[in[k]] != NOTHING)
			out[s->reg[in[k]]].passed = (int16_t)k;
	kept = *s;
	clobber(&kept);
	/* Search the most reliable slots last, because later results replace earlier ones. */
	for (k = 0; k < 2 * SLOTS; k++) {
		i = (size_t)k % SLOTS;
		if (kept.slot[i].arg != NOTHING &&
		    (kept.slot[i].base == REGISTER_SP) == (k >= SLOTS)) {
			hold(&out[kept.slot[i].arg], k >= SLOTS ? HELD_ON_STACK : HELD_AT_REGISTER,
			     (uint8_t)kept.slot[i].base, kept.slot[i].offset);
			out[kept.slot[i].arg].size = kept.slot[i].size;
		}
	}
	for (k = 0; k < REGISTERS; k++)
		if (kept.reg[k] != NOTHING)
			hold(&out[kept.reg[k]], HELD_IN_REGISTER, (uint8_t)k, 0);
	return 0;
}

int held_args_find(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t after,
		   struct held_arg out[HELD_ARGS_MAX])
{
	struct flow f = { .code = { .bytes = bytes, .len = len }, .changed = true };
	int err, i;

	for (i = 0; i < HELD_ARGS_MAX; i++)
		out[i] = (struct held_arg){ .how = HELD_NOWHERE, .passed = NOTHING };
	if (machine != EM_X86_64 || !len || len > BYTES_MAX)
		return -ENOTSUP;
	err = decode(&f);
	if (!err) {
		at_entry(&f.before[0]);
		spread(&f);
		err = answer(&f, after, out);
	}
	free(f.before);
	x86_code_free(&f.code);
	return err;
}
