// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Sample where traced threads are while they are on a CPU. At each tick of the scheduler, or at
 * each period of a clock of the CPU, the registers of the current thread and a copy of the top of
 * its stack are sent. User space finds the callers in the copy.
 *
 * The programs run in an interrupt, perhaps in the middle of the program of a probe of the same
 * thread. So they change nothing of the thread's state, except that they may find the address of
 * Python's state of the thread, which is always the same. They send a function of Python once.
 */
#include "callers.h"
#include "python.h"
#include "userregs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * A record's place in the order of time is this long before the sample was taken, ns. The interrupt
 * may come after a program of a probe took the time of its record, and before that program reserved
 * room for the record. The record of that program then still follows in the order of its time.
 */
#define SAMPLE_EARLY_NS 100000

static __always_inline void sample_registers(struct sbt_callers *s, struct pt_regs___kernel *regs)
{
#if defined(__TARGET_ARCH_arm64)
	struct {
		__u64 fp, link, sp, pc;
	} r = {};

	bpf_probe_read_kernel(&r, sizeof(r),
			      (const void *)regs + bpf_core_field_offset(regs->regs) +
				      29 * sizeof(__u64));
	s->head.ip = r.pc;
	s->sp = r.sp;
	s->fp = r.fp;
	s->link = r.link;
#else
	s->head.ip = BPF_CORE_READ(regs, ip);
	s->sp = BPF_CORE_READ(regs, sp);
	s->fp = BPF_CORE_READ(regs, bp);
	s->link = 0;
#endif
}

/*
 * Note the Python functions that the current thread, which has slot @index, executes. The number of
 * steps is small because the verifier checks each of them.
 */
static __noinline int sample_python(__u32 index, const struct sbt_python *py,
				    const struct sbt_thread *t, struct sbt_sample *s)
{
	__u64 frame, code;
	__u32 i;

	if (!py || !t || !s)
		return 0;
	frame = python_first_frame(py, t->python.state);
	for (i = 0; i < SBT_SAMPLE_PYTHON && frame; i++) {
		code = python_word(frame + py->layout.code);
		s->python[i].at = python_frame_at(py, code, frame);
		/* A C frame executes no Python code. */
		if (python_is_c_frame(py, frame))
			code = 0;
		s->python[i].code = code;
		s->python[i].function =
			code ? (__u32)python_function(index, code, s->callers.head.arrive_ns) : 0;
		frame = python_word(frame + py->layout.back);
	}
	s->npython = i;
	return 0;
}

/* Global, so that the verifier checks it once. Return 0. */
__noinline int sample_take(__u32 index, __u32 tid)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	__u32 cpu = bpf_get_smp_processor_id(), tgid;
	struct pt_regs___kernel *regs = own_regs();
	__u64 now = bpf_ktime_get_ns();
	const struct sbt_python *py;
	struct sbt_callers *s;
	struct sbt_sample *all;
	struct sbt_proc *p;

	if (!t || !regs)
		return 0;
	tgid = t->tgid;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || proc_flags(p, tgid) & SBT_PROC_EXCLUDED)
		return 0;
	py = python_of(t);
	if (py && !python_own_state(index))
		py = NULL;
	/* While the reader is behind, samples are the first to be left out. */
	all = ring_wake(cpu) == BPF_RB_NO_WAKEUP ? ring_reserve(cpu, sizeof(*all)) : NULL;
	if (!all) {
		count(lost_sample, cpu);
		return 0;
	}
	s = &all->callers;
	all->npython = all->pad = 0;
	__builtin_memset(&s->head, 0, sizeof(s->head));
	s->head.arrive_ns = now;
	s->head.depart_ns = now - SAMPLE_EARLY_NS;
	s->head.tgid = tgid;
	s->head.tid = tid;
	s->head.inc = p->inc;
	s->head.arrive_cpu = cpu;
	s->head.type = SBT_REC_SAMPLE;
	sample_registers(s, regs);
	s->len = stack_bytes(s->bytes, s->sp, SBT_CALLERS_DEEP);
	if (py)
		sample_python(index, py, t, all);
	bpf_ringbuf_submit(all, ring_wake(cpu));
	return 0;
}

static __always_inline int sample_current(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), index = 0;

	if (!tid || armed != ARMED_ALL || ended || !marks[tid & (SBT_MARKS - 1)])
		return 0;
	if (thread_find(tid, &index)) {
		__u64 began = bpf_ktime_get_ns();
		__u32 cpu = bpf_get_smp_processor_id();

		sample_take(index, tid);
		count(samples, cpu);
		count_add(sampling_ns, cpu, bpf_ktime_get_ns() - began);
	}
	return 0;
}

/* Other timers than that of the tick expire at times that depend on what programs do. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_tick, struct hrtimer *timer)
{
	return (__u64)timer->function == config.tick_function ? sample_current() : 0;
}

SEC("?perf_event")
int on_sample_clock(void *ctx)
{
	return sample_current();
}
