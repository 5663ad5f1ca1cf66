// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/insn.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/insn_group.h"

#define X86_INSN_MAX  15
#define INSN_AHEAD    64 /* how many bytes to search for an emulated instruction */
#define INSN_BODY_MAX (1UL << 20) /* maximum size of a function that is decoded, in bytes */

static const uint8_t insn_endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t insn_nop5[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

/* How an instruction affects the flow of control. */
enum insn_flow {
	FLOW_NEXT, /* continues with the next instruction */
	FLOW_NOP, /* FLOW_NEXT without an effect: padding */
	FLOW_CALL, /* continues with the next instruction if the called function returns */
	FLOW_BRANCH, /* continues at `target` or with the next instruction */
	FLOW_JUMP, /* continues at `target` */
	FLOW_INDIRECT, /* continues at an address in a register or memory */
	FLOW_RET,
	FLOW_STOP, /* traps */
};

struct insn_step {
	struct insn insn;
	enum insn_flow flow;
	/* FLOW_BRANCH, FLOW_JUMP: offset of the target from the first byte of the decoded bytes */
	int64_t target;
};

struct insn_decoder {
	uint16_t machine;
	csh handle;
	cs_insn *scratch;
};

const char *insn_class_name(enum insn_class class)
{
	static const char *const names[] = {
		[INSN_EMULATED] = "emulated",  [INSN_STEPPED] = "single-stepped",
		[INSN_NOP5] = "five-byte nop", [INSN_ENDBR] = "endbr64",
		[INSN_REFUSED] = "refused",    [INSN_UNKNOWN] = "unknown",
	};

	return names[class];
}

static int decoder_open(struct insn_decoder *d, uint16_t machine)
{
	bool x86 = machine == EM_X86_64;

	memset(d, 0, sizeof(*d));
	d->machine = machine;
	if (!x86 && machine != EM_AARCH64)
		return -ENOTSUP;
	if (cs_open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64, x86 ? CS_MODE_64 : CS_MODE_ARM, &d->handle))
		return -ENOMEM;
	if (x86)
		cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->scratch = cs_malloc(d->handle);
	if (!d->scratch) {
		cs_close(&d->handle);
		return -ENOMEM;
	}
	return 0;
}

static void decoder_close(struct insn_decoder *d)
{
	if (d->scratch)
		cs_free(d->scratch, 1);
	if (d->handle)
		cs_close(&d->handle);
}

/* --- x86-64 ---------------------------------------------------------------------------------- */

/* The parts of an instruction, as the kernel distinguishes them: prefixes, REX, opcode. */
struct x86_parts {
	bool bad_prefix; /* a prefix that uprobes refuse */
	bool opsize; /* a 0x66 prefix */
	uint8_t rex; /* 0: none */
	uint8_t opcode[2]; /* opcode[1] is only used after 0f */
	bool two; /* the opcode begins with 0f; also set for longer opcodes */
	bool vex; /* vector encodings, to which no special case applies */
};

static void x86_split(const uint8_t *b, size_t len, struct x86_parts *p)
{
	size_t i = 0;

	memset(p, 0, sizeof(*p));
	for (; i < len; i++) {
		switch (b[i]) {
		case 0x26: /* segment overrides, and lock: refused by the kernel */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			p->bad_prefix = true;
			continue;
		case 0x66:
			p->opsize = true;
			continue;
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf2:
		case 0xf3:
			continue;
		default:
			break;
		}
		break;
	}
	if (i < len && (b[i] & 0xf0) == 0x40)
		p->rex = b[i++];
	if (i >= len)
		return;
	p->opcode[0] = b[i];
	p->vex = b[i] == 0xc4 || b[i] == 0xc5 || b[i] == 0x62;
	if (b[i] == 0x0f && i + 1 < len) {
		p->two = true;
		p->opcode[1] = b[i + 1];
	}
}

/*
 * Return whether the one-byte opcode is privileged, traps by itself, or is not supported by
 * uprobes.
 */
static bool x86_refused_one(uint8_t op)
{
	switch (op) {
	case 0x6c: /* ins, outs */
	case 0x6d:
	case 0x6e:
	case 0x6f:
	case 0xcc: /* int3, int, iret */
	case 0xcd:
	case 0xcf:
	case 0xca: /* far returns change the code segment */
	case 0xcb:
	case 0xe4: /* in, out */
	case 0xe5:
	case 0xe6:
	case 0xe7:
	case 0xec:
	case 0xed:
	case 0xee:
	case 0xef:
	case 0xf1: /* int1 */
	case 0xf4: /* hlt */
	case 0xfa: /* cli, sti */
	case 0xfb:
	case 0x8e: /* mov and pop to a segment register: may mask the single step */
		return true;
	default:
		return false;
	}
}

static bool x86_refused_two(uint8_t op)
{
	switch (op) {
	case 0x00: /* descriptor tables and the like */
	case 0x01:
	case 0x06: /* clts */
	case 0x07: /* sysret */
	case 0x08: /* invd, wbinvd */
	case 0x09:
	case 0x0b: /* ud2 */
	case 0x20: /* control and debug registers */
	case 0x21:
	case 0x22:
	case 0x23:
	case 0x30: /* wrmsr, rdmsr */
	case 0x32:
	case 0x34: /* sysenter, sysexit, getsec */
	case 0x35:
	case 0x37:
	case 0x78: /* vmread, vmwrite */
	case 0x79:
	case 0xa1: /* pop to a segment register */
	case 0xa9:
	case 0xaa: /* rsm */
	case 0xb9: /* ud1, ud0 */
	case 0xff:
		return true;
	default:
		return false;
	}
}

static bool x86_is_relative(const struct x86_parts *p)
{
	uint8_t op = p->opcode[0];

	if (p->two)
		return (p->opcode[1] & 0xf0) == 0x80;
	return op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70;
}

static enum insn_class x86_class(const uint8_t *b, size_t len)
{
	struct x86_parts p;

	if (len == sizeof(insn_endbr64) && !memcmp(b, insn_endbr64, len))
		return INSN_ENDBR;
	if (len == sizeof(insn_nop5) && !memcmp(b, insn_nop5, len))
		return INSN_NOP5;
	x86_split(b, len, &p);
	if (p.bad_prefix)
		return INSN_REFUSED;
	if (p.vex)
		return INSN_STEPPED;
	if (p.two ? x86_refused_two(p.opcode[1]) : x86_refused_one(p.opcode[0]))
		return INSN_REFUSED;
	/*
	 * Intel CPUs ignore a 0x66 prefix before a relative branch and AMD CPUs do not, so the
	 * kernel refuses such an instruction.
	 */
	if (x86_is_relative(&p))
		return p.opsize ? INSN_REFUSED : INSN_EMULATED;
	/* Only pushes of one byte, and pushes with a bare REX.B, are emulated. */
	if (!p.two && (p.opcode[0] & 0xf8) == 0x50)
		return len == 1 || (len == 2 && p.rex == 0x41) ? INSN_EMULATED : INSN_STEPPED;
	/*
	 * With REX.B, this instruction is an xchg. But the kernel would take it for a nop because
	 * of its opcode, and skip it.
	 */
	if (!p.two && p.opcode[0] == 0x90)
		return p.rex & 1 ? INSN_REFUSED : INSN_EMULATED;
	return INSN_STEPPED;
}

static void x86_flow(const cs_insn *ci, enum insn_class class, struct insn_step *step)
{
	static const struct {
		unsigned int id;
		enum insn_flow flow;
	} flows[] = {
		{ X86_INS_NOP, FLOW_NOP },	   { X86_INS_ENDBR64, FLOW_NOP },
		{ X86_INS_RET, FLOW_RET },	   { X86_INS_RETF, FLOW_RET },
		{ X86_INS_RETFQ, FLOW_RET },	   { X86_INS_CALL, FLOW_CALL },
		{ X86_INS_UD2, FLOW_STOP },	   { X86_INS_HLT, FLOW_STOP },
		{ X86_INS_INT3, FLOW_STOP },	   { X86_INS_IRET, FLOW_INDIRECT },
		{ X86_INS_IRETD, FLOW_INDIRECT },  { X86_INS_IRETQ, FLOW_INDIRECT },
		{ X86_INS_SYSRET, FLOW_INDIRECT }, { X86_INS_LJMP, FLOW_INDIRECT },
		{ X86_INS_LOOP, FLOW_BRANCH },	   { X86_INS_LOOPE, FLOW_BRANCH },
		{ X86_INS_LOOPNE, FLOW_BRANCH },   { X86_INS_XBEGIN, FLOW_BRANCH },
		{ X86_INS_JMP, FLOW_JUMP },
	};
	const cs_x86 *x86 = &ci->detail->x86;
	bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
	size_t i;

	step->flow = insn_in_group(ci, CS_GRP_JUMP) ? FLOW_BRANCH : FLOW_NEXT;
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		if (flows[i].id == ci->id)
			step->flow = flows[i].flow;
	if (step->flow != FLOW_BRANCH && step->flow != FLOW_JUMP)
		return;
	if (direct && class != INSN_REFUSED)
		step->target = x86->operands[0].imm;
	else
		step->flow = FLOW_INDIRECT;
}

/*
 * Return whether binutils omit the suffix q of this instruction, because it has only one size in
 * 64-bit code.
 */
static bool x86_drops_q(unsigned int id)
{
	return id == X86_INS_PUSH || id == X86_INS_POP || id == X86_INS_RET || id == X86_INS_CALL ||
	       id == X86_INS_JMP || id == X86_INS_LEAVE;
}

/* --- arm64 ----------------------------------------------------------------------------------- */

/*
 * Classify the instruction @w by its fixed bits. On arm64, uprobes simulate branches and nop. They
 * also simulate adr and loads of literals, but here these are classified as single-stepped.
 */
static void arm64_step(uint32_t w, int64_t at, struct insn_step *step)
{
	/* The first entry for which (w & mask) == bits applies. */
	static const struct {
		uint32_t mask, bits;
		enum insn_class class;
		enum insn_flow flow;
		uint8_t left, right; /* shifts that extract the target in words; 0: none */
	} known[] = {
		{ 0xffffffff, 0xd503201f, INSN_EMULATED, FLOW_NOP, 0, 0 }, /* nop */
		{ 0xfffffc1f, 0xd65f0000, INSN_EMULATED, FLOW_RET, 0, 0 }, /* ret */
		{ 0xfffffbff, 0xd65f0bff, INSN_REFUSED, FLOW_RET, 0, 0 }, /* retaa, retab */
		{ 0xfc000000, 0x14000000, INSN_EMULATED, FLOW_JUMP, 6, 6 }, /* b */
		{ 0xfc000000, 0x94000000, INSN_EMULATED, FLOW_CALL, 6, 6 }, /* bl */
		{ 0xff000000, 0x54000000, INSN_EMULATED, FLOW_BRANCH, 8, 13 }, /* b.cond */
		{ 0x7e000000, 0x34000000, INSN_EMULATED, FLOW_BRANCH, 8, 13 }, /* cbz, cbnz */
		{ 0x7e000000, 0x36000000, INSN_EMULATED, FLOW_BRANCH, 13, 18 }, /* tbz, tbnz */
		{ 0xfffffc1f, 0xd63f0000, INSN_EMULATED, FLOW_CALL, 0, 0 }, /* blr */
		{ 0xfffffc1f, 0xd61f0000, INSN_EMULATED, FLOW_INDIRECT, 0, 0 }, /* br */
		{ 0xfe000000, 0xd6000000, INSN_REFUSED, FLOW_INDIRECT, 0, 0 }, /* braa, eret, ... */
		{ 0xffe0001f, 0xd4000001, INSN_REFUSED, FLOW_NEXT, 0, 0 }, /* svc */
		{ 0xff000000, 0xd4000000, INSN_REFUSED, FLOW_STOP, 0, 0 }, /* brk, hlt, ... */
		/*
		 * Exclusive loads and stores: a single step would clear the exclusive monitor, so
		 * the store would always fail.
		 */
		{ 0x3f000000, 0x08000000, INSN_REFUSED, FLOW_NEXT, 0, 0 },
	};

	step->insn.class = INSN_STEPPED;
	step->flow = FLOW_NEXT;
	array_for_each (k, known, sizeof(known) / sizeof(known[0])) {
		if ((w & k->mask) != k->bits)
			continue;
		step->insn.class = k->class;
		step->flow = k->flow;
		if (k->right)
			step->target = at + (int64_t)((int32_t)(w << k->left) >> k->right) * 4;
		return;
	}
}

/* --- both ------------------------------------------------------------------------------------ */

/* Decode the instruction at @at of @bytes. If that fails, set step->insn.length to 0. */
static void decoder_step(struct insn_decoder *d, const uint8_t *bytes, size_t len, size_t at,
			 struct insn_step *step)
{
	const uint8_t *code = bytes + at;
	uint64_t address = at;
	size_t left = len - at, name_len;
	cs_insn *ci = d->scratch;
	uint32_t word;

	memset(step, 0, sizeof(*step));
	step->insn.class = INSN_UNKNOWN;
	step->flow = FLOW_STOP;
	/* Decode one instruction at most: a hostile file may contain long runs of prefixes. */
	if (left > X86_INSN_MAX)
		left = X86_INSN_MAX;
	if (!left || !cs_disasm_iter(d->handle, &code, &left, &address, ci))
		return;
	step->insn.length = (uint8_t)ci->size;
	name_len = strnlen(ci->mnemonic, 15);
	if (d->machine == EM_X86_64) {
		step->insn.class = x86_class(bytes + at, ci->size);
		x86_flow(ci, step->insn.class, step);
		if (name_len && ci->mnemonic[name_len - 1] == 'q' && x86_drops_q(ci->id))
			name_len--;
	} else {
		word = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 |
		       (uint32_t)bytes[at + 3] << 24;
		arm64_step(word, (int64_t)at, step);
	}
	snprintf(step->insn.text, sizeof(step->insn.text), "%.*s%s%.30s", (int)name_len,
		 ci->mnemonic, ci->op_str[0] ? " " : "", ci->op_str);
}

void insn_decode(uint16_t machine, const uint8_t *bytes, size_t len, struct insn *out)
{
	struct insn_decoder d;
	struct insn_step step;

	memset(out, 0, sizeof(*out));
	out->class = INSN_UNKNOWN;
	if (!len || decoder_open(&d, machine))
		return;
	decoder_step(&d, bytes, len, 0, &step);
	*out = step.insn;
	decoder_close(&d);
}

/*
 * Return whether a branch within the function leads to an offset in (0, @at]. If so, a probe at @at
 * may be hit several times in one call. The search ends at bytes that cannot be decoded.
 */
static bool insn_is_branched_to(struct insn_decoder *d, const uint8_t *bytes, size_t len, size_t at)
{
	struct insn_step step;
	size_t pos;

	for (pos = at; pos < len; pos += step.insn.length) {
		decoder_step(d, bytes, len, pos, &step);
		if (!step.insn.length)
			break;
		if ((step.flow == FLOW_BRANCH || step.flow == FLOW_JUMP) && step.target > 0 &&
		    (uint64_t)step.target <= at)
			return true;
	}
	return false;
}

/*
 * Find an emulated instruction that follows only nops. Return its offset, or 0 if there is none
 * nearby.
 */
static size_t insn_look_ahead(struct insn_decoder *d, const uint8_t *bytes, size_t len, size_t at,
			      struct insn_step *step)
{
	size_t end = at + INSN_AHEAD < len ? at + INSN_AHEAD : len;

	while (at < end) {
		decoder_step(d, bytes, len, at, step);
		if (step->insn.class == INSN_EMULATED)
			return at;
		if (!step->insn.length || step->flow != FLOW_NOP)
			return 0;
		at += step->insn.length;
	}
	return 0;
}

/* Return whether the instruction only changes registers other than the stack pointer. */
static bool x86_is_in_registers(const struct insn_decoder *d, const struct insn_step *step)
{
	const cs_x86 *x86 = &d->scratch->detail->x86;
	const cs_x86_op *to = &x86->operands[1]; /* in AT&T order: the source is first */

	if (step->flow == FLOW_NOP)
		return true;
	if (step->flow != FLOW_NEXT || x86->op_count != 2)
		return false;
	switch (d->scratch->id) {
	case X86_INS_TEST:
	case X86_INS_CMP:
		return true;
	case X86_INS_MOV:
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
		return to->type == X86_OP_REG && to->reg != X86_REG_RSP && to->reg != X86_REG_ESP &&
		       to->reg != X86_REG_SP && to->reg != X86_REG_SPL;
	default:
		return false;
	}
}

/* Find an emulated instruction that follows only changes of registers. Return its offset, or 0. */
static size_t insn_past_registers(struct insn_decoder *d, const uint8_t *bytes, size_t len,
				  struct insn_step *step)
{
	size_t at, end = len < INSN_AHEAD ? len : INSN_AHEAD;

	for (at = 0; at < end; at += step->insn.length) {
		decoder_step(d, bytes, len, at, step);
		if (step->insn.class == INSN_EMULATED)
			return insn_is_branched_to(d, bytes, len, at) ? 0 : at;
		if (!step->insn.length || !x86_is_in_registers(d, step))
			return 0;
	}
	return 0;
}

static void insn_explain_entry(struct insn_entry *out, bool endbr, const struct insn *under)
{
	const char *past = endbr ? "past endbr64, on " : out->skip ? "past a nop, on " : "on ";

	snprintf(out->why, sizeof(out->why), "%s%s (%s)", past, under->text,
		 insn_class_name(under->class));
}

static int insn_choose(struct insn_decoder *d, const uint8_t *bytes, size_t len,
		       struct insn_entry *out)
{
	struct insn_step step, ahead;
	size_t at = 0, better;
	bool endbr = false;

	for (;;) {
		if (at >= len) {
			snprintf(out->why, sizeof(out->why), "it has only five-byte nops");
			return -ENOTSUP;
		}
		decoder_step(d, bytes, len, at, &step);
		if (step.insn.class != INSN_NOP5)
			break;
		at += step.insn.length;
	}
	if (step.flow == FLOW_NOP && step.insn.class != INSN_EMULATED) {
		better = insn_look_ahead(d, bytes, len, at + step.insn.length, &ahead);
		if (better && !insn_is_branched_to(d, bytes, len, better)) {
			endbr = step.insn.class == INSN_ENDBR;
			at = better;
			step = ahead;
		}
	}
	out->insn = step.insn;
	if (step.insn.class == INSN_UNKNOWN) {
		snprintf(out->why, sizeof(out->why), "the bytes at +%zu cannot be decoded", at);
		return -ENOTSUP;
	}
	if (step.insn.class == INSN_REFUSED) {
		snprintf(out->why, sizeof(out->why), "the kernel refuses a probe on %s at +%zu",
			 step.insn.text, at);
		return -ENOTSUP;
	}
	if (at && !endbr && insn_is_branched_to(d, bytes, len, at)) {
		snprintf(out->why, sizeof(out->why), "the function jumps back to +%zu", at);
		return -ENOTSUP;
	}
	out->skip = (uint32_t)at;
	insn_explain_entry(out, endbr, &step.insn);
	return 0;
}

int insn_choose_entry(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out)
{
	struct insn_decoder d;
	int err;

	memset(out, 0, sizeof(*out));
	out->insn.class = INSN_UNKNOWN;
	if (!len) {
		snprintf(out->why, sizeof(out->why), "there are no bytes");
		return -EINVAL;
	}
	err = decoder_open(&d, machine);
	if (err) {
		snprintf(out->why, sizeof(out->why), "no decoder for machine %u", machine);
		return err;
	}
	err = insn_choose(&d, bytes, len < INSN_BODY_MAX ? len : INSN_BODY_MAX, out);
	decoder_close(&d);
	return err;
}

int insn_choose_late(uint16_t machine, const uint8_t *bytes, size_t len, struct insn_entry *out)
{
	struct insn_decoder d;
	struct insn_step step = { 0 };
	size_t at = 0;
	int err;

	err = insn_choose_entry(machine, bytes, len, out);
	if (err || machine != EM_X86_64 || out->insn.class == INSN_EMULATED ||
	    decoder_open(&d, machine))
		return err;
	at = insn_past_registers(&d, bytes, len < INSN_BODY_MAX ? len : INSN_BODY_MAX, &step);
	decoder_close(&d);
	if (!at)
		return 0;
	out->skip = (uint32_t)at;
	out->insn = step.insn;
	snprintf(out->why, sizeof(out->why), "past changes of registers only, on %s (%s)",
		 step.insn.text, insn_class_name(step.insn.class));
	return 0;
}

/* --- exits ----------------------------------------------------------------------------------- */

#define MARK_BOUNDARY 1 /* an instruction begins here */
#define MARK_TARGET   2 /* a branch leads here */

struct insn_walk {
	const uint8_t *bytes;
	size_t len;
	uint8_t *marks; /* one per byte */
	uint32_t *out;
	int max;
	int found;
	struct insn_tail *tails; /* NULL: jumps out of the function are errors */
	uint32_t max_tails, ntails;
	char before[sizeof(((struct insn *)0)->text)]; /* the previous instruction */
	char *why;
	size_t why_len;
};

/*
 * Return whether a jump goes through the table of a switch. Such a jump has one of three forms: its
 * target was just computed from the table's address, or the target is loaded from the table, or a
 * prefix shows that the target needs no endbr. Tail calls have none of these forms.
 */
static bool insn_by_table(const struct insn_walk *w, const char *text)
{
	const char *reg = strrchr(text, ' ');

	if (!strncmp(text, "notrack", 7))
		return true;
	if (!strncmp(text, "jmp *", 5) && strstr(text, ", 8)") && strstr(text, "(, %"))
		return true;
	if (!reg || strncmp(w->before, "add ", 4) != 0)
		return false;
	reg++;
	if (!strncmp(text, "br ", 3))
		return !strncmp(w->before + 4, reg, strlen(reg)) &&
		       w->before[4 + strlen(reg)] == ',';
	if (*reg++ != '*' || *reg != '%')
		return false;
	return strlen(w->before) > strlen(reg) &&
	       !strcmp(w->before + strlen(w->before) - strlen(reg), reg);
}

static int insn_take_tail(struct insn_walk *w, size_t at, const struct insn_step *step)
{
	if (w->ntails == w->max_tails)
		return -ENOTSUP;
	w->tails[w->ntails++] = (struct insn_tail){ .target = step->target,
						    .at = (uint32_t)at,
						    .conditional = step->flow == FLOW_BRANCH };
	return 0;
}

static int insn_take_step(struct insn_walk *w, size_t at, const struct insn_step *step)
{
	const char *text = step->insn.text;

	w->marks[at] |= MARK_BOUNDARY;
	switch (step->flow) {
	case FLOW_INDIRECT:
		if (w->tails && insn_by_table(w, text))
			return 0;
		snprintf(w->why, w->why_len, "%s at +%zu is an indirect jump", text, at);
		return -ENOTSUP;
	case FLOW_BRANCH:
	case FLOW_JUMP:
		if (step->target < 0 || (uint64_t)step->target >= w->len) {
			if (w->tails && !insn_take_tail(w, at, step))
				return 0;
			snprintf(w->why, w->why_len, "%s at +%zu leaves the function", text, at);
			return -ENOTSUP;
		}
		w->marks[step->target] |= MARK_TARGET;
		return 0;
	case FLOW_RET:
		if (step->insn.class == INSN_REFUSED) {
			snprintf(w->why, w->why_len, "the kernel refuses a probe on %s at +%zu",
				 text, at);
			return -ENOTSUP;
		}
		if (w->found < w->max)
			w->out[w->found] = (uint32_t)at;
		w->found++;
		return 0;
	case FLOW_NEXT:
	case FLOW_NOP:
	case FLOW_CALL:
	case FLOW_STOP:
		break;
	}
	return 0;
}

/*
 * Check that every branch leads to the start of a decoded instruction. Otherwise the executed code
 * differs from the decoded code. A branch to the byte after a lock prefix is allowed, because C
 * libraries use it.
 */
static int insn_check_targets(struct insn_walk *w)
{
	size_t i;

	for (i = 0; i < w->len; i++) {
		if (!(w->marks[i] & MARK_TARGET) || (w->marks[i] & MARK_BOUNDARY))
			continue;
		if (i && (w->marks[i - 1] & MARK_BOUNDARY) && w->bytes[i - 1] == 0xf0)
			continue;
		snprintf(w->why, w->why_len, "a jump leads into an instruction at +%zu", i);
		return -ENOTSUP;
	}
	return 0;
}

static int insn_walk_body(struct insn_decoder *d, struct insn_walk *w)
{
	bool runs_on = true;
	struct insn_step step;
	size_t at;
	int err;

	for (at = 0; at < w->len; at += step.insn.length) {
		decoder_step(d, w->bytes, w->len, at, &step);
		if (!step.insn.length) {
			snprintf(w->why, w->why_len, "the bytes at +%zu cannot be decoded", at);
			return -ENOTSUP;
		}
		err = insn_take_step(w, at, &step);
		if (err)
			return err;
		memcpy(w->before, step.insn.text, sizeof(w->before));
		if (step.flow != FLOW_NOP)
			runs_on = step.flow == FLOW_NEXT || step.flow == FLOW_BRANCH;
	}
	err = insn_check_targets(w);
	if (err)
		return err;
	if (runs_on) {
		snprintf(w->why, w->why_len, "it continues past its end");
		return -ENOTSUP;
	}
	if (!w->found && !w->ntails) {
		snprintf(w->why, w->why_len, "it has no ret");
		return -ENOENT;
	}
	return w->found;
}

int insn_find_ends(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t *out, int max,
		   struct insn_tail *tails, uint32_t *ntails, char *why, size_t why_len)
{
	struct insn_walk w = { .bytes = bytes,
			       .len = len,
			       .out = out,
			       .max = max,
			       .tails = tails,
			       .max_tails = tails ? *ntails : 0,
			       .why = why,
			       .why_len = why_len };
	struct insn_decoder d;
	int err;

	if (why_len)
		why[0] = 0;
	if (!len || len > INSN_BODY_MAX) {
		snprintf(why, why_len, "its size of %zu bytes is not usable", len);
		return -ENOTSUP;
	}
	err = decoder_open(&d, machine);
	if (err) {
		snprintf(why, why_len, "no decoder for machine %u", machine);
		return err;
	}
	w.marks = calloc(len, 1);
	err = w.marks ? insn_walk_body(&d, &w) : -ENOMEM;
	free(w.marks);
	decoder_close(&d);
	if (tails)
		*ntails = w.ntails;
	return err;
}

/*
 * Find out whether an x86-64 instruction refers to another function. Return false if it does not.
 */
static bool insn_refers(const struct insn_decoder *d, const struct insn_step *step, size_t at,
			struct insn_ref *ref)
{
	const cs_x86 *x86 = &d->scratch->detail->x86;
	/* In AT&T order: the source is first. */
	const cs_x86_op *op = &x86->operands[0];

	ref->after = (uint32_t)(at + step->insn.length);
	ref->target = 0;
	if (step->flow == FLOW_CALL) {
		ref->how = op->type == X86_OP_IMM ? INSN_CALLS : INSN_CALLS_POINTER;
		if (ref->how == INSN_CALLS)
			ref->target = op->imm;
		return true;
	}
	if (d->scratch->id != X86_INS_LEA || op->type != X86_OP_MEM ||
	    op->mem.base != X86_REG_RIP || op->mem.index != X86_REG_INVALID)
		return false;
	ref->how = INSN_MAKES;
	ref->target = (int64_t)ref->after + op->mem.disp;
	return true;
}

#define ARM64_REGS 32

/*
 * Page addresses in registers, from adrp. A compiler adds the offset in the page a few instructions
 * later.
 */
struct arm64_pages {
	uint64_t page[ARM64_REGS];
	bool known[ARM64_REGS];
};

/*
 * Find out whether an arm64 instruction refers to another function. A register may have been
 * overwritten since adrp, but a wrong address does no harm, because no function begins there.
 */
static bool arm64_refers(struct arm64_pages *p, uint32_t w, uint64_t vaddr, size_t at,
			 const struct insn_step *step, struct insn_ref *ref)
{
	uint32_t to = w & 31, from = w >> 5 & 31;
	int64_t imm = ((int64_t)(int32_t)(w << 8) >> 13) * 4 + (w >> 29 & 3);

	ref->after = (uint32_t)(at + step->insn.length);
	ref->target = 0;
	if (step->flow == FLOW_CALL) {
		ref->how = (w & 0xfc000000) == 0x94000000 ? INSN_CALLS : INSN_CALLS_POINTER;
		ref->target = step->target;
		return true;
	}
	if ((w & 0x9f000000) == 0x90000000) { /* adrp */
		p->page[to] = ((vaddr + at) & ~0xfffULL) + (uint64_t)imm * 4096;
		p->known[to] = true;
		return false;
	}
	ref->how = INSN_MAKES;
	if ((w & 0x9f000000) == 0x10000000) { /* adr */
		ref->target = (int64_t)at + imm;
		return true;
	}
	if ((w & 0xffc00000) != 0x91000000 || !p->known[from]) /* add, unshifted */
		return false;
	ref->target = (int64_t)(p->page[from] + (w >> 10 & 0xfff) - vaddr);
	return true;
}

int insn_each_ref(uint16_t machine, uint64_t vaddr, const uint8_t *bytes, size_t len,
		  void (*each)(void *ctx, const struct insn_ref *ref), void *ctx)
{
	struct arm64_pages pages = { 0 };
	struct insn_decoder d;
	struct insn_step step;
	struct insn_ref ref;
	bool waits = false;
	uint32_t word;
	size_t at;
	int err;

	if (!len || len > INSN_BODY_MAX)
		return -EINVAL;
	err = decoder_open(&d, machine);
	if (err)
		return err;
	for (at = 0; at < len; at += step.insn.length) {
		decoder_step(&d, bytes, len, at, &step);
		if (waits) {
			ref.next = step.insn.class;
			each(ctx, &ref);
		}
		if (!step.insn.length) {
			err = -ENOTSUP;
			break;
		}
		if (machine == EM_AARCH64) {
			memcpy(&word, bytes + at, sizeof(word));
			waits = arm64_refers(&pages, word, vaddr, at, &step, &ref);
		} else {
			waits = insn_refers(&d, &step, at, &ref);
		}
	}
	/*
	 * A call at the end of a function has no next instruction, because it does not return. It
	 * is not reported.
	 */
	decoder_close(&d);
	return err;
}

bool insn_is_linkage(uint16_t machine, const uint8_t *code, size_t len)
{
	uint32_t word[2];

	if (machine == EM_AARCH64) {
		if (len < sizeof(word))
			return true;
		memcpy(word, code, sizeof(word));
		if (word[0] == 0xd503245f) { /* bti c */
			code += 4;
			len -= 4;
			memcpy(word, code, len < sizeof(word) ? len : sizeof(word));
		}
		/*
		 * adrp x16, ...; ldr x17, [x16, ...]. With an add instead of the ldr, the entry
		 * would lead to an address in the same file.
		 */
		return (word[0] & 0x9f00001f) == 0x90000010 &&
		       (len < sizeof(word) || (word[1] & 0xffc003ff) == 0xf9400211);
	}
	if (len > 4 && !memcmp(code, insn_endbr64, 4)) {
		code += 4;
		len -= 4;
	}
	if (len > 1 && code[0] == 0xf2)
		code++;
	return len < 3 || (code[0] == 0xff && code[1] == 0x25);
}

static bool arm64_slot(uint64_t vaddr, const uint8_t *code, size_t len, uint64_t *slot)
{
	uint32_t word[3];
	uint64_t page;
	int64_t pages;
	size_t i = 0;

	if (len < sizeof(word))
		return false;
	memcpy(word, code, sizeof(word));
	if (word[0] == 0xd503245f) /* bti c */
		i = 1;
	if ((word[i] & 0x9f00001f) != 0x90000010 || (word[i + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	/*
	 * The instruction holds a number of pages in 21 bits. The two low bits are separate from
	 * the other 19.
	 */
	pages = (int64_t)((word[i] >> 29 & 3) | (word[i] >> 5 & 0x7ffff) << 2);
	if (pages & 1 << 20)
		pages -= 1 << 21;
	page = ((vaddr + 4 * i) & ~0xfffULL) + (uint64_t)pages * 4096;
	*slot = page + (word[i + 1] >> 10 & 0xfff) * 8;
	return true;
}

bool insn_linkage_slot(uint16_t machine, uint64_t vaddr, const uint8_t *code, size_t len,
		       uint64_t *slot)
{
	size_t at = 0;
	int32_t disp;

	if (machine == EM_AARCH64)
		return arm64_slot(vaddr, code, len, slot);
	if (len > 4 && !memcmp(code, insn_endbr64, 4))
		at = 4;
	if (len > at && code[at] == 0xf2) /* bnd */
		at++;
	if (len < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&disp, code + at + 2, sizeof(disp));
	*slot = vaddr + at + 6 + (uint64_t)(int64_t)disp;
	return true;
}
