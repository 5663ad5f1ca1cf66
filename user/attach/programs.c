// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Choose the BPF programs for each role, and the programs to load. */
#include "attach/internal.h"
#include "attach/link.h"

struct bpf_program *program_of(const struct sbt_bpf *skel, uint8_t role)
{
	switch (role) {
	case SBT_ROLE_MAKER:
		return bpf_program__autoload(skel->progs.barrier_made)
			       ? skel->progs.barrier_made
			       : skel->progs.barrier_made_unreported;
	case SBT_ROLE_MARK_ENTER:
	case SBT_ROLE_MARK_LEAVE:
	case SBT_ROLE_MARK_PHASE:
	case SBT_ROLE_MARK_THREAD:
	case SBT_ROLE_MARK_ACCESS:
		return skel->progs.mark;
	case SBT_ROLE_TASK:
		return skel->progs.task_made;
	case SBT_ROLE_COND_WAIT:
		return skel->progs.cond_wait;
	case SBT_ROLE_COND_WAKE:
		return skel->progs.cond_wake;
	case SBT_ROLE_TURN:
		return skel->progs.turn_begin;
	case SBT_ROLE_SEM_WAIT:
		return skel->progs.sem_wait;
	case SBT_ROLE_ARRIVAL:
		return skel->progs.barrier_arrival;
	default:
		return NULL;
	}
}

struct bpf_program *program_end(const struct sbt_bpf *skel, uint8_t role)
{
	switch (role) {
	case SBT_ROLE_COND_WAIT:
	case SBT_ROLE_SEM_WAIT:
		return skel->progs.cond_waited;
	case SBT_ROLE_TURN:
		return skel->progs.turn_end;
	default:
		return NULL;
	}
}

/* Return whether probes with this role only serve to discover barriers. */
static bool discovers(uint8_t role)
{
	return role == SBT_ROLE_COND_WAIT || role == SBT_ROLE_COND_WAKE ||
	       role == SBT_ROLE_SEM_WAIT;
}

struct program_ends program_ends(const struct sbt_bpf *skel, uint8_t role)
{
	switch (role) {
	case SBT_ROLE_REGION:
		return (struct program_ends){ skel->progs.region_session, skel->progs.region_enter,
					      skel->progs.region_exit };
	case SBT_ROLE_OUTLINED:
		return (struct program_ends){ skel->progs.outlined_session,
					      skel->progs.outlined_enter,
					      skel->progs.outlined_exit };
	default:
		if (skel->rodata->config.aggregate)
			return (struct program_ends){ skel->progs.sums_session,
						      skel->progs.sums_enter,
						      skel->progs.sums_exit };
		return (struct program_ends){ skel->progs.barrier_session,
					      skel->progs.barrier_enter, skel->progs.barrier_exit };
	}
}

static void prepare_ends(const struct program_ends *ends, enum attach_method method)
{
	int type = method == ATTACH_PERF ? 0 : LINK_ATTACH_MULTI;

	bpf_program__set_autoload(ends->session, method == ATTACH_SESSION);
	bpf_program__set_autoload(ends->enter, method != ATTACH_SESSION);
	bpf_program__set_autoload(ends->exit, true);
	bpf_program__set_expected_attach_type(ends->session, LINK_ATTACH_SESSION);
	bpf_program__set_expected_attach_type(ends->enter, type);
	bpf_program__set_expected_attach_type(ends->exit, type);
}

void programs_prepare(struct sbt_bpf *skel, enum attach_method method, bool discover, bool futex)
{
	static const uint8_t roles[] = { SBT_ROLE_BARRIER, SBT_ROLE_REGION, SBT_ROLE_OUTLINED };
	struct bpf_program *const single[] = { skel->progs.loader_state,
					       skel->progs.outlined_returned,
					       skel->progs.barrier_end, skel->progs.turn_end,
					       skel->progs.cond_waited };
	int type = method == ATTACH_PERF ? 0 : LINK_ATTACH_MULTI;
	uint32_t role;
	size_t i;

	for (i = 0; i < sizeof(roles); i++) {
		struct program_ends ends = program_ends(skel, roles[i]);

		prepare_ends(&ends, method);
	}
	bpf_program__set_autoload(
		skel->progs.barrier_made,
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma, NULL) == 1);
	/* Only x86 has the event to which this program is attached. */
#if defined(__x86_64__)
	bpf_program__set_autoload(skel->progs.on_code_flushed, true);
#endif
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		bpf_program__set_autoload(single[i],
					  discover || single[i] != skel->progs.cond_waited);
		bpf_program__set_expected_attach_type(single[i], type);
	}
	bpf_program__set_autoload(skel->progs.python_waking, discover);
	bpf_program__set_autoload(skel->progs.futex_enter, futex);
	bpf_program__set_autoload(skel->progs.futex_exit, futex);
	for (role = 0; role < SBT_ROLES; role++) {
		struct bpf_program *program = program_of(skel, (uint8_t)role);

		if (!program)
			continue;
		bpf_program__set_autoload(program, role == SBT_ROLE_ARRIVAL
							   ? skel->rodata->config.infer
							   : discover || !discovers((uint8_t)role));
		bpf_program__set_expected_attach_type(program, type);
	}
}
