// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/unwind.h"

#include "base/array.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define UNWIND_STACK_MAX 32 /* maximum number of operands on the stack of an expression */
#define UNWIND_OPS_MAX	 256

/* The values that a DWARF expression may use. */
struct unwind_frame {
	const struct stack_regs *regs;
	const struct sbt_stack *stack;
	uint64_t cfa;
	bool has_cfa;
};

/* State during the evaluation of an expression. */
struct unwind_machine {
	uint64_t operand[UNWIND_STACK_MAX];
	unsigned int n;
	/* DW_OP_stack_value or a register: the topmost operand is a value, not an address */
	bool is_value;
};

enum unwind_outcome {
	UNWIND_OK,
	UNWIND_BAD, /* the expression is invalid, or uses memory outside the sample */
	UNWIND_UNKNOWN, /* the expression depends on an unknown register */
};

static enum unwind_outcome unwind_push(struct unwind_machine *m, uint64_t value)
{
	if (m->n == UNWIND_STACK_MAX)
		return UNWIND_BAD;
	m->operand[m->n++] = value;
	return UNWIND_OK;
}

static enum unwind_outcome unwind_push_register(const struct unwind_frame *f,
						struct unwind_machine *m, uint64_t reg,
						uint64_t offset)
{
	if (reg >= STACK_NREGS || !stack_knows(f->regs, (unsigned int)reg))
		return UNWIND_UNKNOWN;
	return unwind_push(m, f->regs->value[reg] + offset);
}

static enum unwind_outcome unwind_deref(const struct unwind_frame *f, struct unwind_machine *m,
					uint64_t size)
{
	uint64_t *top;

	if (!m->n || size > 8)
		return UNWIND_BAD;
	top = &m->operand[m->n - 1];
	return stack_read(f->stack, *top, (unsigned int)size, top) ? UNWIND_OK : UNWIND_BAD;
}

/* Combine two operands into one. Set *@known to false for an unknown operation. */
static uint64_t unwind_binary(unsigned int atom, uint64_t a, uint64_t b, bool *known)
{
	*known = true;
	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_ge:
		return (int64_t)a >= (int64_t)b;
	case DW_OP_gt:
		return (int64_t)a > (int64_t)b;
	case DW_OP_le:
		return (int64_t)a <= (int64_t)b;
	case DW_OP_lt:
		return (int64_t)a < (int64_t)b;
	default:
		*known = false;
		return 0;
	}
}

static enum unwind_outcome unwind_operate(struct unwind_machine *m, unsigned int atom)
{
	uint64_t a, b;
	bool known;

	if (atom == DW_OP_drop || atom == DW_OP_dup || atom == DW_OP_neg || atom == DW_OP_not) {
		if (!m->n)
			return UNWIND_BAD;
		a = m->operand[m->n - 1];
		if (atom == DW_OP_dup)
			return unwind_push(m, a);
		if (atom == DW_OP_drop)
			m->n--;
		else
			m->operand[m->n - 1] = atom == DW_OP_neg ? 0 - a : ~a;
		return UNWIND_OK;
	}
	if (m->n < 2)
		return UNWIND_BAD;
	a = m->operand[m->n - 2];
	b = m->operand[m->n - 1];
	if (atom == DW_OP_over)
		return unwind_push(m, a);
	if (atom == DW_OP_swap) {
		m->operand[m->n - 2] = b;
		m->operand[m->n - 1] = a;
		return UNWIND_OK;
	}
	m->n--;
	m->operand[m->n - 1] = unwind_binary(atom, a, b, &known);
	return known ? UNWIND_OK : UNWIND_BAD;
}

/*
 * Execute an operation. Jumps are not supported, so that every expression ends. Compilers use no
 * jumps in unwind tables.
 */
static enum unwind_outcome unwind_operation(const struct unwind_frame *f, struct unwind_machine *m,
					    const Dwarf_Op *op)
{
	unsigned int atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return unwind_push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return unwind_push_register(f, m, atom - DW_OP_breg0, op->number);
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->is_value = true;
		return unwind_push_register(f, m, atom - DW_OP_reg0, 0);
	}
	switch (atom) {
	case DW_OP_nop:
		return UNWIND_OK;
	case DW_OP_bregx:
		return unwind_push_register(f, m, op->number, op->number2);
	case DW_OP_regx:
		m->is_value = true;
		return unwind_push_register(f, m, op->number, 0);
	case DW_OP_stack_value:
		m->is_value = true;
		return UNWIND_OK;
	case DW_OP_call_frame_cfa:
		return f->has_cfa ? unwind_push(m, f->cfa) : UNWIND_BAD;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return unwind_push(m, op->number);
	case DW_OP_plus_uconst:
		if (!m->n)
			return UNWIND_BAD;
		m->operand[m->n - 1] += op->number;
		return UNWIND_OK;
	case DW_OP_deref:
		return unwind_deref(f, m, 8);
	case DW_OP_deref_size:
		return unwind_deref(f, m, op->number);
	default:
		return unwind_operate(m, atom);
	}
}

/*
 * Evaluate an expression that gives an address (@address) or the value of a register. If it gives
 * the address at which the register was saved, read the value there.
 */
static enum unwind_outcome unwind_evaluate(const struct unwind_frame *f, const Dwarf_Op *ops,
					   size_t nops, bool address, uint64_t *out)
{
	struct unwind_machine m = { .n = 0 };
	enum unwind_outcome outcome;

	if (nops > UNWIND_OPS_MAX)
		return UNWIND_BAD;
	array_for_each (op, ops, nops) {
		outcome = unwind_operation(f, &m, op);
		if (outcome != UNWIND_OK)
			return outcome;
	}
	if (!m.n)
		return UNWIND_BAD;
	if (!address && !m.is_value && unwind_deref(f, &m, 8) != UNWIND_OK)
		return UNWIND_BAD;
	*out = m.operand[m.n - 1];
	return UNWIND_OK;
}

/* Get one register of the caller. Return false if the register's value is unknown. */
static bool unwind_register(const struct unwind_frame *f, Dwarf_Frame *rules, unsigned int reg,
			    uint64_t *out)
{
	Dwarf_Op own[3], *ops;
	size_t nops;

	if (dwarf_frame_register(rules, (int)reg, own, &ops, &nops))
		return false;
	if (nops)
		return unwind_evaluate(f, ops, nops, false, out) == UNWIND_OK;
	if (ops)
		return false; /* the register is undefined in the caller */
	*out = f->regs->value[reg]; /* the function leaves the register unchanged */
	return stack_knows(f->regs, reg);
}

static void unwind_registers(struct unwind_frame *f, Dwarf_Frame *rules, int ra, bool signal,
			     struct unwind_step *step)
{
	struct stack_regs *caller = &step->caller;
	unsigned int reg;
	uint64_t value;

	step->result = UNWIND_END;
	if (ra < 0 || ra >= STACK_NREGS || !unwind_register(f, rules, (unsigned int)ra, &value) ||
	    !stack_pc_of(value))
		return;
	stack_set(caller, STACK_PC, stack_pc_of(value));
	caller->exact = signal;
	for (reg = 0; reg < STACK_PC; reg++)
		if (unwind_register(f, rules, reg, &value))
			stack_set(caller, reg, value);
	/*
	 * In the frame of a signal handler, use the table's rule for the stack pointer, because the
	 * handler may run on another stack. Otherwise the CFA is the caller's stack pointer by
	 * definition.
	 */
	if (!signal)
		stack_set(caller, STACK_SP, f->cfa);
	if (stack_knows(caller, STACK_SP))
		step->result = UNWIND_CALLER;
}

/* Return the rules, which the caller frees, or NULL. Their addresses are *bias below @vaddr's. */
static Dwarf_Frame *unwind_rules(Dwfl_Module *module, uint64_t vaddr, Dwarf_Addr *bias)
{
	Dwarf_Frame *rules = NULL;
	Dwarf_CFI *cfi;

	*bias = 0;
	cfi = dwfl_module_eh_cfi(module, bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, vaddr - *bias, &rules))
		return rules;
	/* The section .debug_frame is used with -fno-asynchronous-unwind-tables, and by Go. */
	cfi = dwfl_module_dwarf_cfi(module, bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, vaddr - *bias, &rules))
		return rules;
	return NULL;
}

void unwind_step(Dwfl_Module *module, uint64_t vaddr, const struct stack_regs *regs,
		 const struct sbt_stack *stack, struct unwind_step *step)
{
	struct unwind_frame f = { .regs = regs, .stack = stack };
	enum unwind_outcome outcome;
	Dwarf_Frame *rules;
	bool signal = false;
	Dwarf_Addr bias;
	Dwarf_Op *ops;
	size_t nops;
	int ra;

	memset(step, 0, sizeof(*step));
	step->result = UNWIND_NO_RULES;
	rules = unwind_rules(module, vaddr, &bias);
	if (!rules)
		return;
	step->result = UNWIND_END;
	ra = dwarf_frame_info(rules, NULL, NULL, &signal);
	step->signal = signal;
	if (ra < 0 || dwarf_frame_cfa(rules, &ops, &nops))
		goto out;
	outcome = unwind_evaluate(&f, ops, nops, true, &f.cfa);
	if (outcome == UNWIND_UNKNOWN)
		step->result = UNWIND_NO_RULES;
	if (outcome != UNWIND_OK)
		goto out;
	f.has_cfa = true;
	unwind_registers(&f, rules, ra, signal, step);
out:
	free(rules);
}

/* --- compact rules ---------------------------------------------------------------------------- */

static bool fits(uint64_t value, int32_t *out)
{
	*out = (int32_t)(uint32_t)value;
	return (uint64_t)(int64_t)*out == value;
}

static bool rule_cfa(Dwarf_Frame *rules, struct sbt_frame_rule *rule)
{
	unsigned int reg;
	uint64_t offset;
	Dwarf_Op *ops;
	size_t nops;

	if (dwarf_frame_cfa(rules, &ops, &nops) || nops != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		reg = (unsigned int)ops[0].number;
		offset = ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		reg = ops[0].atom - DW_OP_breg0;
		offset = ops[0].number;
	} else {
		return false;
	}
	if (reg == STACK_FP)
		rule->flags |= SBT_FRAME_BY_FP;
	return (reg == STACK_FP || reg == STACK_SP) && fits(offset, &rule->cfa);
}

enum saved { SAVED_NOWHERE, SAVED_SAME, SAVED_AT, SAVED_ELSE };

/* Find where the caller's value of @reg is. SAVED_AT: it is saved *@at bytes from the CFA. */
static enum saved saved_at(Dwarf_Frame *rules, unsigned int reg, int32_t *at)
{
	Dwarf_Op own[3], *ops;
	uint64_t offset = 0;
	size_t nops;

	if (dwarf_frame_register(rules, (int)reg, own, &ops, &nops))
		return SAVED_ELSE;
	if (!nops)
		return ops ? SAVED_NOWHERE : SAVED_SAME;
	if (nops > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return SAVED_ELSE;
	if (nops == 2) {
		if (ops[1].atom != DW_OP_plus_uconst)
			return SAVED_ELSE;
		offset = ops[1].number;
	}
	return fits(offset, at) ? SAVED_AT : SAVED_ELSE;
}

static bool rule_registers(Dwarf_Frame *rules, int ra, struct sbt_frame_rule *rule)
{
	enum saved fp = saved_at(rules, STACK_FP, &rule->fp);

	if (fp == SAVED_AT)
		rule->flags |= SBT_FRAME_SAVES_FP;
	else if (fp == SAVED_ELSE)
		return false;
	switch (saved_at(rules, (unsigned int)ra, &rule->ret)) {
	case SAVED_AT:
		return true;
	case SAVED_SAME:
		rule->flags |= SBT_FRAME_LINK;
		return true;
	case SAVED_NOWHERE:
		rule->flags |= SBT_FRAME_LAST;
		return true;
	default:
		return false;
	}
}

bool unwind_rule(Dwfl_Module *module, uint64_t vaddr, struct sbt_frame_rule *rule,
		 struct unwind_range *range)
{
	Dwarf_Addr bias, from = 0, to = 0;
	Dwarf_Frame *rules = unwind_rules(module, vaddr, &bias);
	bool signal = false, ok = false;
	int ra;

	memset(rule, 0, sizeof(*rule));
	*range = (struct unwind_range){ vaddr, vaddr + 1 };
	if (!rules)
		return false;
	ra = dwarf_frame_info(rules, &from, &to, &signal);
	if (from + bias <= vaddr && vaddr < to + bias)
		*range = (struct unwind_range){ from + bias, to + bias };
	if (ra >= 0 && ra < STACK_NREGS && !signal)
		ok = rule_registers(rules, ra, rule) &&
		     (rule->flags & SBT_FRAME_LAST || rule_cfa(rules, rule));
	free(rules);
	return ok;
}
