// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/* What a session costs that does nothing: the floor that sbt-trace is measured against. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe")
int empty(void *ctx)
{
	return 0;
}
