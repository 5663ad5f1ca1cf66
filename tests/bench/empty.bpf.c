// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/* Programs that do nothing. Their cost is the lower limit that sbt-trace is compared with. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe")
int empty(void *ctx)
{
	return 0;
}

SEC("raw_tp/sched_switch")
int empty_switch(void *ctx)
{
	return 0;
}

SEC("raw_tp/sched_waking")
int empty_waking(void *ctx)
{
	return 0;
}
