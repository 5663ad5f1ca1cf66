/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Numbers of x86-64's general registers, by Capstone's names. */
#ifndef ELF_X86_REGISTER_H
#define ELF_X86_REGISTER_H

#include <stdbool.h>

/*
 * Return DWARF's number of the general register that @reg (enum x86_reg) is, or is a part of; -1:
 * @reg is no such register. Set *@wide if @reg has 32 bits or more.
 */
int x86_register(unsigned int reg, bool *wide);

#endif /* ELF_X86_REGISTER_H */
