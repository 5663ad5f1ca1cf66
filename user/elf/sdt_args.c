// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Parse the arguments of markers: SIZE@OPERAND, separated by blanks, as the compiler writes
 * operands for the assembler. Pure. An unknown form becomes an unknown argument, never a wrong one.
 */
#include "elf/sdt.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* maximum size of an operand, in bytes; longer operands count as unknown */
#define SDT_OPERAND_MAX 256
#define SDT_NUMBER_MAX	20 /* maximum number of characters in a number */

/*
 * Names of the registers with 64, 32, 16 and 8 bits, by DWARF's numbers (System V ABI for x86-64,
 * figure 3.36).
 */
static const char *const x86_names[][4] = {
	{ "rax", "eax", "ax", "al" },	   { "rdx", "edx", "dx", "dl" },
	{ "rcx", "ecx", "cx", "cl" },	   { "rbx", "ebx", "bx", "bl" },
	{ "rsi", "esi", "si", "sil" },	   { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" },	   { "rsp", "esp", "sp", "spl" },
	{ "r8", "r8d", "r8w", "r8b" },	   { "r9", "r9d", "r9w", "r9b" },
	{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
	{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
};

#define SDT_X86_NREGS (sizeof(x86_names) / sizeof(x86_names[0]))

/*
 * Offsets of the registers in the kernel's struct pt_regs (arch/x86/include/uapi/asm/ptrace.h), in
 * words.
 */
static const uint8_t x86_words[SDT_X86_NREGS] = { 10, 12, 11, 5, 13, 14, 4, 19,
						  9,  8,  7,  6, 3,  2,	 1, 0 };

int sdt_regs_offset(uint16_t machine, int reg)
{
	if (reg < 0)
		return -1;
	if (machine == EM_X86_64)
		return reg < (int)SDT_X86_NREGS ? 8 * x86_words[reg] : -1;
	if (machine == EM_AARCH64) /* the order is x0 to x30, then sp */
		return reg <= 31 ? 8 * reg : -1;
	return -1;
}

/* Return the offset of the program counter, which is the address of the probed instruction. */
static int pc_offset(uint16_t machine)
{
	return machine == EM_X86_64 ? 8 * 16 : machine == EM_AARCH64 ? 8 * 32 : -1;
}

/*
 * Set *@out to the offset of the register in struct pt_regs, or to SBT_ARG_NO_REG. Return false if
 * @reg is a register that is not in struct pt_regs.
 */
static bool reg_offset(uint16_t machine, int reg, __u16 *out)
{
	int offset = sdt_regs_offset(machine, reg);

	*out = offset < 0 ? SBT_ARG_NO_REG : (__u16)offset;
	return reg == SDT_NO_REG || offset >= 0;
}

int sdt_probe_arg(uint16_t machine, const struct sdt_note *note, uint32_t i, struct sbt_arg *out)
{
	static const uint8_t hows[] = {
		[SDT_UNKNOWN] = SBT_ARG_NONE, [SDT_CONST] = SBT_ARG_CONST, [SDT_REG] = SBT_ARG_REG,
		[SDT_MEM] = SBT_ARG_MEM,      [SDT_STATIC] = SBT_ARG_MEM,
	};
	const struct sdt_arg *arg;
	struct sbt_arg to;

	memset(out, 0, sizeof(*out));
	if (i >= note->n_args || i >= SDT_ARGS_MAX)
		return -ENOENT;
	arg = &note->args[i];
	to = (struct sbt_arg){ .how = hows[arg->kind],
			       .size = arg->size,
			       .flags = arg->is_signed ? SBT_ARG_SIGNED : 0,
			       .scale = arg->scale,
			       .disp = arg->value };
	if (to.how == SBT_ARG_NONE || !reg_offset(machine, arg->reg, &to.reg) ||
	    !reg_offset(machine, arg->index, &to.index))
		return -ENOENT;
	if (arg->kind == SDT_STATIC) {
		to.reg = (__u16)pc_offset(machine);
		to.disp = (int64_t)((uint64_t)arg->value - note->vaddr);
	}
	*out = to;
	return 0;
}

/* If @c is at *@at, move *@at past @c and the blanks after it. Return whether @c was there. */
static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	*at += strspn(*at, " \t");
	return true;
}

/*
 * Parse a number with an optional sign, decimal or 0x. Return false if there is no number, or if it
 * needs more than 64 bits.
 */
static bool take_number(const char **at, int64_t *value)
{
	bool minus = **at == '-';
	const char *start = *at + (minus || **at == '+');
	unsigned long long n;
	char *end;

	if (!isdigit((unsigned char)*start))
		return false;
	/* strtoull() would also accept signs and octal numbers, so only digits may be left here. */
	errno = 0;
	n = strtoull(start, &end, start[0] == '0' && (start[1] | 0x20) == 'x' ? 16 : 10);
	if (errno || end == start || end - start > SDT_NUMBER_MAX)
		return false;
	*value = (int64_t)(minus ? 0 - n : n);
	*at = end + strspn(end, " \t");
	return true;
}

/* Return the length of a name, which consists of letters, digits, underscores and dots. */
static size_t name_length(const char *at)
{
	size_t n = 0;

	if (isdigit((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.')
		n++;
	return n;
}

/* The sum before a parenthesis: numbers, and the address of at most one symbol. */
struct sdt_sum {
	int64_t value;
	bool number; /* contains a number */
	bool symbol; /* contains the linked address of a symbol */
};

struct sdt_parser {
	uint16_t machine;
	sdt_resolve_fn resolve;
	void *ctx;
};

static bool take_symbol(const struct sdt_parser *p, const char **at, struct sdt_sum *sum)
{
	char name[SDT_OPERAND_MAX];
	size_t n = name_length(*at);
	uint64_t vaddr;

	if (!n || n >= sizeof(name) || sum->symbol || !p->resolve)
		return false;
	memcpy(name, *at, n);
	name[n] = 0;
	if (p->resolve(name, &vaddr, p->ctx))
		return false;
	*at += n;
	sum->symbol = true;
	sum->value = (int64_t)((uint64_t)sum->value + vaddr);
	return true;
}

/* Parse "-8", "16+sym", "sym-4" or nothing. */
static bool take_sum(const struct sdt_parser *p, const char **at, struct sdt_sum *sum)
{
	int64_t value;

	memset(sum, 0, sizeof(*sum));
	while (**at && **at != '(') {
		if (take_number(at, &value)) {
			sum->value = (int64_t)((uint64_t)sum->value + (uint64_t)value);
			sum->number = true;
			continue;
		}
		if (**at == '+' && (sum->number || sum->symbol))
			(*at)++;
		if (!take_symbol(p, at, sum))
			return false;
	}
	return true;
}

/* --- x86-64 ----------------------------------------------------------------------------------- */

/* Parse a register. Set *@width to the kind of its name: 0 is the 64-bit name. */
static int x86_take_reg(const char **at, size_t *width)
{
	const char *start = *at + (**at == '%');
	size_t n = name_length(start), reg;

	for (reg = 0; reg < SDT_X86_NREGS; reg++) {
		for (*width = 0; *width < 4; (*width)++) {
			if (strlen(x86_names[reg][*width]) != n ||
			    memcmp(x86_names[reg][*width], start, n) != 0)
				continue;
			*at = start + n;
			return (int)reg;
		}
	}
	return SDT_NO_REG;
}

static bool x86_take_address_reg(const char **at, int8_t *out)
{
	size_t width;
	int reg = x86_take_reg(at, &width);

	*out = (int8_t)reg;
	return reg != SDT_NO_REG && width == 0;
}

/* Parse "(base,index,scale)" up to the end of the text. Each of the three may be missing. */
static bool x86_take_address(const char *at, struct sdt_arg *arg)
{
	int64_t scale = 1;

	if (!take(&at, '('))
		return false;
	if (*at != ',' && !x86_take_address_reg(&at, &arg->reg))
		return false;
	if (take(&at, ',')) {
		if (!x86_take_address_reg(&at, &arg->index))
			return false;
		if (take(&at, ',') && !take_number(&at, &scale))
			return false;
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	arg->scale = (uint8_t)scale;
	return take(&at, ')') && !*at;
}

static bool x86_memory(const struct sdt_sum *sum, const char *at, struct sdt_arg *arg)
{
	arg->value = sum->value;
	if (sum->symbol) {
		/* The operand is at the symbol's address, with or without the base register rip. */
		arg->kind = SDT_STATIC;
		return !*at || !strcmp(at, "(%rip)") || !strcmp(at, "(rip)");
	}
	arg->kind = SDT_MEM;
	return x86_take_address(at, arg);
}

/* Parse an operand. If it has no % or $, the compiler used -masm=intel. */
static bool x86_operand(const struct sdt_parser *p, const char *at, struct sdt_arg *arg)
{
	const char *start = at;
	struct sdt_sum sum;
	size_t width;
	int reg;

	if (take(&at, '$')) {
		arg->kind = SDT_CONST;
		return take_number(&at, &arg->value) && !*at;
	}
	reg = x86_take_reg(&at, &width);
	if (reg != SDT_NO_REG && !*at) {
		arg->kind = SDT_REG;
		arg->reg = (int8_t)reg;
		return true;
	}
	at = start;
	if (!take_sum(p, &at, &sum))
		return false;
	if (!*at && sum.number && !sum.symbol) {
		arg->kind = SDT_CONST;
		arg->value = sum.value;
		return true;
	}
	return x86_memory(&sum, at, arg);
}

/* --- arm64 ------------------------------------------------------------------------------------ */

#define SDT_ARM_SP   31
#define SDT_ARM_ZERO 32

/* Parse x0 to x30 and sp. xzr gives SDT_ARM_ZERO. Clear *@wide for the 32-bit names. */
static int arm_take_reg(const char **at, bool *wide)
{
	size_t n = name_length(*at);
	const char *start = *at;
	const char *digits = start + 1;
	int64_t reg;

	if (!n)
		return SDT_NO_REG;
	*at += n;
	*wide = *start != 'w';
	if ((n == 2 && !memcmp(start, "sp", n)) || (n == 3 && !memcmp(start, "wsp", n)))
		return SDT_ARM_SP;
	if (n == 3 && (*start == 'x' || *start == 'w') && !memcmp(digits, "zr", 2))
		return SDT_ARM_ZERO;
	if ((*start == 'x' || *start == 'w') && isdigit((unsigned char)*digits) &&
	    take_number(&digits, &reg) && reg <= 30 && digits >= start + n)
		return (int)reg;
	return SDT_NO_REG;
}

static bool arm_take_address_reg(const char **at, int8_t *out)
{
	bool wide = false;
	int reg = arm_take_reg(at, &wide);

	*out = (int8_t)reg;
	*at += strspn(*at, " \t");
	return wide && reg != SDT_NO_REG && reg != SDT_ARM_ZERO;
}

static bool arm_take_constant(const char **at, int64_t *value)
{
	if (**at == '#')
		(*at)++;
	return take_number(at, value);
}

/*
 * Parse "[base]", "[base, 16]", "[base, index]" or "[base, index, lsl 3]" up to the end of the
 * text.
 */
static bool arm_address(const char *at, struct sdt_arg *arg)
{
	int64_t shift;

	arg->kind = SDT_MEM;
	arg->scale = 1;
	if (!take(&at, '[') || !arm_take_address_reg(&at, &arg->reg))
		return false;
	if (take(&at, ',') && !arm_take_constant(&at, &arg->value)) {
		if (!arm_take_address_reg(&at, &arg->index) || arg->index == SDT_ARM_SP)
			return false;
		if (take(&at, ',')) {
			if (strncmp(at, "lsl ", 4) != 0)
				return false;
			at += 4;
			if (!arm_take_constant(&at, &shift) || shift < 0 || shift > 3)
				return false;
			arg->scale = (uint8_t)(1 << shift);
		}
	}
	return take(&at, ']') && !*at;
}

static bool arm_operand(const char *at, struct sdt_arg *arg)
{
	const char *start = at;
	bool wide;
	int reg;

	if (*at == '[')
		return arm_address(at, arg);
	reg = arm_take_reg(&at, &wide);
	if (reg != SDT_NO_REG) {
		/* xzr always reads as zero. */
		arg->kind = reg == SDT_ARM_ZERO ? SDT_CONST : SDT_REG;
		arg->reg = (int8_t)(reg == SDT_ARM_ZERO ? SDT_NO_REG : reg);
		return !*at;
	}
	arg->kind = SDT_CONST;
	return arm_take_constant(&start, &arg->value) && !*start;
}

/* --- all arguments ---------------------------------------------------------------------------- */

/*
 * Parse the size before an operand, such as "-4@": 4 bytes, signed. Without it the size is 8 bytes.
 */
static bool take_size(const char **at, struct sdt_arg *arg)
{
	size_t minus = **at == '-', digits = strspn(*at + minus, "0123456789");
	const char *size = *at + minus;

	arg->size = 8;
	if (!digits || (size[digits] != '@' && size[digits] != 'f'))
		return true;
	arg->is_signed = minus;
	*at = size + digits + 1;
	/* "4f@": a floating-point number, in registers that probes cannot read. */
	if (digits != 1 || size[digits] == 'f' || !strchr("1248", *size)) {
		arg->size = 0;
		return false;
	}
	arg->size = (uint8_t)(*size - '0');
	return true;
}

/* Truncate or extend the value as if it were stored in a variable of the argument's size. */
static int64_t sized(int64_t value, const struct sdt_arg *arg)
{
	unsigned int unused = 64 - 8 * (unsigned int)arg->size;
	uint64_t top = (uint64_t)value << unused;

	return arg->is_signed ? (int64_t)top >> unused : (int64_t)(top >> unused);
}

static void parse_arg(const struct sdt_parser *p, const char *at, struct sdt_arg *arg)
{
	bool known;

	*arg = (struct sdt_arg){ .reg = SDT_NO_REG, .index = SDT_NO_REG, .scale = 1 };
	known = take_size(&at, arg);
	if (known)
		known = p->machine == EM_X86_64	   ? x86_operand(p, at, arg)
			: p->machine == EM_AARCH64 ? arm_operand(at, arg)
						   : false;
	if (!known)
		*arg = (struct sdt_arg){ .size = arg->size,
					 .is_signed = arg->is_signed,
					 .reg = SDT_NO_REG,
					 .index = SDT_NO_REG,
					 .scale = 1 };
	else if (arg->kind == SDT_CONST)
		arg->value = sized(arg->value, arg);
}

/* Return the length of the argument at @at: it ends at a blank outside brackets. */
static size_t arg_length(const char *at)
{
	bool inside = false;
	size_t n;

	for (n = 0; at[n] && (inside || (at[n] != ' ' && at[n] != '\t')); n++)
		inside = at[n] == '[' || (inside && at[n] != ']');
	return n;
}

uint32_t sdt_parse_args(uint16_t machine, const char *text, sdt_resolve_fn resolve, void *ctx,
			struct sdt_arg *out, uint32_t max)
{
	struct sdt_parser p = { .machine = machine, .resolve = resolve, .ctx = ctx };
	char operand[SDT_OPERAND_MAX] = "";
	uint32_t found = 0;
	size_t n;

	for (text += strspn(text, " \t"); *text; text += n + strspn(text + n, " \t")) {
		n = arg_length(text);
		if (found < max) {
			operand[0] = 0;
			if (n < sizeof(operand)) {
				memcpy(operand, text, n);
				operand[n] = 0;
			}
			parse_arg(&p, operand, &out[found]);
		}
		found++;
	}
	return found;
}
