// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/x86_code.h"

#include <errno.h>
#include <stdlib.h>

int x86_code_decode(struct x86_code *code)
{
	size_t i;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &code->handle))
		return -ENOMEM;
	cs_option(code->handle, CS_OPT_DETAIL, CS_OPT_ON);
	code->n = cs_disasm(code->handle, code->bytes, code->len, 0, 0, &code->insn);
	code->index = calloc(code->len, sizeof(*code->index));
	if (!code->index)
		return -ENOMEM;
	for (i = 0; i < code->n; i++)
		code->index[code->insn[i].address] = (uint32_t)i + 1;
	return 0;
}

void x86_code_free(struct x86_code *code)
{
	free(code->index);
	if (code->insn)
		cs_free(code->insn, code->n);
	if (code->handle)
		cs_close(&code->handle);
}
