// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/team_size.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#include "elf/insn_group.h"
#include "elf/x86_code.h"
#include "elf/x86_register.h"

#define BYTES_MAX    96 /* maximum length of the function */
#define REGISTERS    16
#define REGISTER_RAX 0 /* DWARF's number */

enum content {
	UNKNOWN,
	SLOT, /* the offset of the thread's data from the thread pointer */
	CONSTANT, /* the same as a constant, in a static program */
	TEAM, /* the pointer to the team */
};

struct search {
	enum content in[REGISTERS];
	/* by register. SLOT: address of the word that was loaded; CONSTANT: the value */
	int64_t value[REGISTERS];
	uint64_t vaddr; /* of the function */
	struct team_size found;
	bool has_team, has_count;
	bool failed; /* the code does something else, too */
};

/* Return the number of a whole register; -1: another operand. */
static int register_of(unsigned int reg)
{
	bool wide = false;
	int number = x86_register(reg, &wide);

	return number >= 0 && number < REGISTERS && wide ? number : -1;
}

static enum content content_of(const struct search *s, unsigned int reg)
{
	int number = reg == X86_REG_INVALID ? -1 : register_of(reg);

	return number < 0 ? UNKNOWN : s->in[number];
}

/* A load from the thread's own data: the pointer to the team. */
static enum content load_team(struct search *s, const x86_op_mem *m)
{
	enum content base = content_of(s, m->base);
	uint64_t slot_vaddr = base == SLOT ? (uint64_t)s->value[register_of(m->base)] : 0;
	int64_t team = m->disp;

	if (m->index != X86_REG_INVALID ||
	    (m->base != X86_REG_INVALID && base != SLOT && base != CONSTANT))
		return UNKNOWN;
	if ((base == CONSTANT &&
	     __builtin_add_overflow(team, s->value[register_of(m->base)], &team)) ||
	    team != (int32_t)team)
		return UNKNOWN;
	s->failed |= s->has_team && (s->found.team != team || s->found.slot_vaddr != slot_vaddr);
	s->has_team = true;
	s->found.slot_vaddr = slot_vaddr;
	s->found.team = (int32_t)team;
	return TEAM;
}

/* Return what a load writes to the register @to. */
static enum content load(struct search *s, const cs_insn *ci, const cs_x86_op *from, int to)
{
	const x86_op_mem *m = &from->mem;

	if (m->segment == X86_REG_FS)
		return from->size == 8 ? load_team(s, m) : UNKNOWN;
	if (m->segment != X86_REG_INVALID || m->index != X86_REG_INVALID)
		return UNKNOWN;
	if (m->base == X86_REG_RIP && from->size == 8) {
		s->value[to] = (int64_t)(s->vaddr + ci->address + ci->size + (uint64_t)m->disp);
		return SLOT;
	}
	if (content_of(s, m->base) == TEAM && from->size == 4 && to == REGISTER_RAX) {
		s->failed |= s->has_count;
		s->has_count = true;
		s->found.count = (int32_t)m->disp;
	}
	return UNKNOWN;
}

/* Return what a move writes to the register @to. */
static enum content moved(struct search *s, const cs_insn *ci, int to)
{
	const cs_x86_op *from = &ci->detail->x86.operands[1];

	switch (from->type) {
	case X86_OP_MEM:
		return load(s, ci, from, to);
	case X86_OP_IMM:
		s->value[to] = from->size == 4 ? (uint32_t)from->imm : from->imm;
		return CONSTANT;
	case X86_OP_REG:
		if (content_of(s, from->reg) == UNKNOWN)
			return UNKNOWN;
		s->value[to] = s->value[register_of(from->reg)];
		return content_of(s, from->reg);
	default:
		return UNKNOWN;
	}
}

/* The instruction writes to an operand. */
static void follow_write(struct search *s, const cs_insn *ci, const cs_x86_op *op)
{
	int to = op->type == X86_OP_REG ? register_of(op->reg) : -1;
	bool has_count = s->has_count;

	/* The function only reads memory. */
	s->failed |= op->type == X86_OP_MEM;
	if (to < 0)
		return;
	s->in[to] = ci->id == X86_INS_MOV ? moved(s, ci, to) : UNKNOWN;
	/* After the number was loaded, only another path, without a team, sets the result. */
	s->failed |= has_count && to == REGISTER_RAX && s->in[to] != CONSTANT;
}

static void follow(struct search *s, const cs_insn *ci)
{
	const cs_x86 *x = &ci->detail->x86;
	uint8_t i;

	s->failed |= insn_in_group(ci, CS_GRP_CALL) || ci->id == X86_INS_SYSCALL;
	for (i = 0; i < x->op_count; i++)
		if (x->operands[i].access & CS_AC_WRITE)
			follow_write(s, ci, &x->operands[i]);
}

int team_size_find(uint16_t machine, const uint8_t *bytes, size_t len, uint64_t vaddr,
		   struct team_size *out)
{
	struct x86_code code = { .bytes = bytes, .len = len };
	struct search s = { .vaddr = vaddr };
	size_t i;
	int err;

	if (machine != EM_X86_64)
		return -ENOTSUP;
	if (!len || len > BYTES_MAX)
		return -ENOENT;
	err = x86_code_decode(&code);
	for (i = 0; !err && i < code.n && !s.failed; i++)
		follow(&s, &code.insn[i]);
	x86_code_free(&code);
	if (err)
		return err;
	if (s.failed || !s.has_count)
		return -ENOENT;
	*out = s.found;
	return 0;
}
