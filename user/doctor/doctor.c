// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "doctor/doctor_internal.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* Write "CAP_BPF and CAP_PERFMON are missing". Return false if no needed capability is missing. */
static bool missing_rights(const struct doctor_facts *x, char *out, size_t len)
{
	uint32_t i, n = 0, k = 0;
	size_t used = 0;

	array_for_each (right, x->rights, x->nrights)
		n += right->needed && !right->there;
	for (i = 0; i < x->nrights; i++) {
		if (x->rights[i].there || !x->rights[i].needed)
			continue;
		k++;
		used += (size_t)snprintf(out + used, len - used, "%s%s",
					 k == 1	  ? ""
					 : k == n ? " and "
						  : ", ",
					 x->rights[i].name);
		if (used >= len)
			return true;
	}
	if (n)
		snprintf(out + used, len - used, " %s missing", n == 1 ? "is" : "are");
	return n > 0;
}

/*
 * Set the verdict. If a needed feature is missing, name the first. Features that were not tried are
 * named only if no other feature is missing.
 */
static void classify(struct doctor *d, const struct doctor_facts *x)
{
	const struct doctor_feature *missing = NULL;
	struct doctor_feature *v = &d->verdict;

	*v = (struct doctor_feature){ .group = "verdict", .name = "trace", .needed = true };
	if (missing_rights(x, v->found, sizeof(v->found))) {
		v->state = DOCTOR_NO;
		doctor_remedy(v, "%s", x->root ? DOCTOR_DENIED : DOCTOR_SUDO);
		return;
	}
	array_for_each (f, d->features, d->n) {
		if (!f->needed || f->state == DOCTOR_YES || f->state == DOCTOR_INSTEAD)
			continue;
		if (!missing || (missing->state == DOCTOR_UNKNOWN && f->state == DOCTOR_NO))
			missing = f;
	}
	if (!missing)
		return;
	v->state = DOCTOR_NO;
	snprintf(v->found, sizeof(v->found), "%s: %.*s", missing->name,
		 (int)(sizeof(v->found) - strlen(missing->name) - 3), missing->found);
	doctor_remedy(v, "%s", missing->remedy);
}

void doctor_diagnose(const struct doctor_facts *x, struct doctor *d)
{
	memset(d, 0, sizeof(*d));
	doctor_row(d, "machine", "kernel", DOCTOR_YES, "Linux %s, %s, %u CPU%s", x->release,
		   x->arch, x->cpus, x->cpus == 1 ? "" : "s");
	doctor_add_rights(d, x);
	doctor_add_probes(d, x);
	doctor_add_measures(d, x);
	classify(d, x);
}
