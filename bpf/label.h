/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barriers and phases that a program names with the markers of include/sbt/sbt.h. Each name has a
 * number. The number and the name are sent to user space once, while a thread is at the marker,
 * because the program may overwrite the text a moment later.
 */
#ifndef BPF_LABEL_H
#define BPF_LABEL_H

#include "probe.h"

/*
 * Return the number of a marker, never 0: the number is a hash, so it does not depend on which
 * thread arrives first. Two markers are likely to have the same number only if there are tens of
 * thousands of markers.
 */
static __always_inline __u32 label_number(const struct sbt_label_key *key)
{
	const __u64 *word = (const __u64 *)key;
	__u64 h = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < sizeof(*key) / sizeof(*word); i++)
		h = hash_add(h, word[i]);
	return (__u32)(h >> 32) | 1;
}

/*
 * Send the name that @key points at, and its @number, to user space. Return 0, or -1 if there was
 * no room.
 */
static __noinline int label_send(const struct sbt_label_key *key, __u32 number, __u32 tid, __u64 ip)
{
	struct sbt_label *l;

	if (!key)
		return -1;
	count(events, bpf_get_smp_processor_id());
	l = bpf_ringbuf_reserve(&events, sizeof(*l), 0);
	if (!l) {
		count(lost_event, bpf_get_smp_processor_id());
		return -1;
	}
	__builtin_memset(l, 0, sizeof(*l));
	l->event.t_ns = bpf_ktime_get_ns();
	l->event.type = SBT_REC_LABEL;
	event_task(&l->event, key->tgid, tid, key->inc);
	l->label = number;
	l->line = key->line;
	l->loop = key->loop;
	l->ip = ip;
	l->file_at = key->file;
	l->name_at = key->name;
	if (key->file)
		bpf_probe_read_user_str(l->file, sizeof(l->file), (void *)key->file);
	if (key->name)
		bpf_probe_read_user_str(l->name, sizeof(l->name), (void *)key->name);
	bpf_ringbuf_submit(l, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Return the label number for the arguments of the marker with spec @number; 0: not known.
 */
static __noinline __u32 label_of(struct pt_regs *ctx, __u32 number, const struct sbt_thread *t)
{
	struct sbt_label_key key = {};
	__u32 *known, label, reported = 1;

	if (!ctx || !t)
		return 0;
	key.tgid = t->tgid;
	key.inc = t->inc;
	key.file = arg_or(ctx, number, file, 0);
	key.name = arg_or(ctx, number, name, 0);
	key.line = arg_or(ctx, number, line, 0);
	key.loop = arg_or(ctx, number, what, 0);
	if (key.name)
		bpf_probe_read_user_str(key.text, sizeof(key.text), (void *)key.name);
	label = label_number(&key);
	known = bpf_map_lookup_elem(&labels, &key);
	/* Threads that arrive at the same time may send the label twice, which is harmless. */
	if (!known && !label_send(&key, label, t->tid, PT_REGS_IP(ctx)))
		bpf_map_update_elem(&labels, &key, &reported, BPF_ANY);
	return label;
}

#endif /* BPF_LABEL_H */
