// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"
#include "emit/buf.h"
#include "emit/json.h"

#define TIMES 3 /* once this multiple of @lean bytes is written, crossings are drawn together */

/* Successive crossings of a thread that are drawn as one slice. */
struct chrome_run {
	uint32_t n;
	uint64_t from, to, work_ns, wait_ns, leave_ns;
};

/*
 * How far a thread's track is filled. Slices must not overlap, because viewers can only nest them.
 * A slice that would overlap because of corrupt times is cut.
 */
struct chrome_track {
	uint32_t tid; /* tid of the thread; the slot may be reused for another thread */
	/* bit i: part i of the phase was not 0 when put_shares() last wrote it */
	uint32_t shares;
	bool reported; /* put_shares() has written all parts once */
	uint64_t end_ns;
	struct chrome_run run;
};

struct chrome {
	FILE *file;
	const struct report_env *env;
	uint64_t start_ns;
	struct buf buf;
	bool comma;
	int err; /* first error */
	uint64_t flows; /* number of flow ids used */
	uint64_t crossings; /* number of ids used for nested crossings */
	uint64_t lean; /* size of the file in bytes at which less is drawn */
	uint64_t written; /* bytes written */
	/*
	 * time since start_ns from which counters are left out (lean_ns), or crossings are joined
	 * (together_ns); 0: not yet
	 */
	uint64_t lean_ns, together_ns;
	/* number of crossings per slice; 0: each crossing has its own slice */
	uint32_t together;
	/* size in bytes at which @together doubles */
	uint64_t next;
	/* number of crossings that share a slice with others */
	uint64_t drawn_together;
	/* number of slices that were cut or left out because they would overlap */
	uint64_t clipped;
	uint32_t ntracks;
	struct chrome_track *tracks; /* tracks, by index of the thread */
	struct report_namer *namer;
	uint32_t nlabels;
	char **labels; /* labels, by index of the barrier; NULL: not looked up yet */
	struct hash sites; /* labels of call sites, by number of the site */
};

#define NAME(suffix, arg, name, ...) [MODEL_BLOCKED_##suffix] = name,
static const char *const blocked_names[MODEL_BLOCKED_REASONS] = { SBT_PART_REASONS(NAME, ) };

/* --- writing ---------------------------------------------------------------------------------- */

static int chrome_fail(struct chrome *c, int err)
{
	if (!c->err)
		c->err = err;
	return c->err;
}

static int chrome_put(struct chrome *c)
{
	c->written += c->buf.len;
	if (c->err)
		buf_clear(&c->buf);
	else
		c->err = buf_write(&c->buf, c->file);
	return c->err;
}

/* Reduce the detail of all output after @t_ns, depending on the bytes written so far. */
static void chrome_thin(struct chrome *c, uint64_t t_ns)
{
	if (c->written < c->lean)
		return;
	if (!c->lean_ns)
		c->lean_ns = t_ns > c->start_ns ? t_ns - c->start_ns : 1;
	if (c->written < (c->together ? c->next : TIMES * c->lean))
		return;
	if (!c->together)
		c->together_ns = t_ns > c->start_ns ? t_ns - c->start_ns : 1;
	c->together = c->together ? 2 * c->together : 64;
	c->next = c->written + c->lean / 8;
}

/* Add a time in microseconds. */
static void put_us(struct buf *b, uint64_t ns)
{
	buf_printf(b, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Add a point in time, which is negative before the start of tracing. */
static void put_at(struct chrome *c, uint64_t t_ns)
{
	if (t_ns < c->start_ns)
		buf_char(&c->buf, '-');
	put_us(&c->buf, t_ns < c->start_ns ? c->start_ns - t_ns : t_ns - c->start_ns);
}

static void event_begin(struct chrome *c, char ph, uint32_t pid)
{
	buf_printf(&c->buf, "%s{\"ph\":\"%c\",\"pid\":%u", c->comma ? ",\n" : "", ph, pid);
	c->comma = true;
}

static void event_at(struct chrome *c, uint64_t t_ns)
{
	buf_str(&c->buf, ",\"ts\":");
	put_at(c, t_ns);
}

/* Add @s as a string of JSON, and free it. */
static void put_string(struct chrome *c, struct buf *s)
{
	if (s->failed)
		c->buf.failed = true;
	else
		jsonl_string(&c->buf, s->s);
	buf_free(s);
}

/* Write an event up to its time. The caller adds other members and the closing brace. */
static void event(struct chrome *c, char ph, uint32_t pid, uint32_t tid, uint64_t t_ns)
{
	event_begin(c, ph, pid);
	buf_printf(&c->buf, ",\"tid\":%u", tid);
	event_at(c, t_ns);
}

/* Add the category and the name: "verb label", or the verb alone. */
static void event_name(struct chrome *c, const char *cat, const char *verb, const char *label)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s%s%s", verb, label ? " " : "", label ? label : "");
	buf_printf(&c->buf, ",\"cat\":\"%s\",\"name\":", cat);
	put_string(c, &name);
}

static void arg(struct chrome *c, const char **comma, const char *name, uint64_t value)
{
	buf_printf(&c->buf, "%s\"%s\":", *comma, name);
	*comma = ",";
	if (value == MODEL_UNKNOWN)
		buf_str(&c->buf, "null");
	else
		buf_printf(&c->buf, "%" PRIu64, value);
}

/* Add an argument unless it is 0. */
static void arg_more(struct chrome *c, const char **comma, const char *name, uint64_t value)
{
	if (value)
		arg(c, comma, name, value);
}

/* --- tracks and names ------------------------------------------------------------------------- */

static struct chrome_track *track_of(struct chrome *c, const struct model_member *m)
{
	struct chrome_track *t;

	if (grow_zeroed(c->tracks, c->ntracks, m->thread + 1))
		return NULL;
	t = &c->tracks[m->thread];
	if (t->tid != m->tid)
		*t = (struct chrome_track){ .tid = m->tid };
	return t;
}

static const char *label_of(struct chrome *c, const struct model *model, uint32_t barrier)
{
	struct report_barrier named;
	void *arena = NULL;

	if (grow_zeroed(c->labels, c->nlabels, barrier + 1))
		return NULL;
	if (!c->labels[barrier]) {
		if (report_namer_name(c->namer, model, c->env, barrier, &named, &arena))
			return NULL;
		c->labels[barrier] = strdup(named.label);
		report_arena_free(arena);
	}
	return c->labels[barrier];
}

/* Return the label of a call site; NULL when out of memory. */
static const char *site_label(struct chrome *c, uint32_t site)
{
	char *label = hash_get_ptr(&c->sites, site), s[192];

	if (label)
		return label;
	if (!c->env->site(c->env->ctx, site))
		return "?";
	if (report_site_label(c->env, site, s, sizeof(s)))
		return NULL;
	label = strdup(s);
	if (label && hash_put_ptr(&c->sites, site, label)) {
		free(label);
		return NULL;
	}
	return label;
}

/* --- slices ----------------------------------------------------------------------------------- */

/*
 * Move *from to the end of the filled part of the track if the slice from *from to @to would
 * overlap that part. Return whether anything is left of the slice.
 */
static bool slice_fits(struct chrome *c, struct chrome_track *t, uint64_t *from, uint64_t to)
{
	if (t->end_ns > *from) {
		c->clipped++;
		*from = t->end_ns;
	}
	if (to < *from || (to == *from && to == t->end_ns))
		return false;
	t->end_ns = to;
	return true;
}

/* One slice of a track. */
struct slice {
	const char *cat, *verb, *label;
	uint32_t pid, tid;
	uint64_t from, to;
};

/*
 * Begin a slice. The caller adds its arguments and calls slice_end(). Begin and end are separate
 * events, not an "X" with a duration: a reader that adds up start and duration in floating point
 * could see a slice overlap the next one.
 */
static void slice(struct chrome *c, const struct slice *s)
{
	event(c, 'B', s->pid, s->tid, s->from);
	event_name(c, s->cat, s->verb, s->label);
	buf_str(&c->buf, ",\"args\":{");
}

/* End an event with arguments. */
static void args_end(struct chrome *c)
{
	buf_str(&c->buf, "}}");
}

static void slice_end(struct chrome *c, const struct slice *s)
{
	args_end(c);
	/*
	 * An end event closes the open slice, whatever its name. Leaving out the name saves a tenth
	 * of the file.
	 */
	event(c, 'E', s->pid, s->tid, s->to);
	buf_char(&c->buf, '}');
}

static uint64_t blocked_ns(const struct model_detail *d)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		sum += d->blocked_ns[i];
	return sum;
}

/* Return whether the parts of the thread's phase are known. */
static bool parts_known(const struct model_member *m)
{
	return m->detail && m->work_ns != MODEL_UNKNOWN && m->detail->oncpu_ns != MODEL_UNKNOWN;
}

static bool counted(const struct model_detail *d, uint32_t i)
{
	return i < d->ncounters && !(d->unknown >> i & 1);
}

static void put_parts(struct chrome *c, const struct model_member *m, const char **comma)
{
	const struct model_detail *d = m->detail;
	char name[32];
	uint64_t left;
	int i;

	left = number_less(m->work_ns, d->oncpu_ns + d->runq_ns + blocked_ns(d));
	arg_more(c, comma, "oncpu_ns", d->oncpu_ns);
	arg_more(c, comma, "runq_ns", d->runq_ns);
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		snprintf(name, sizeof(name), "blocked_%s_ns", blocked_names[i]);
		arg_more(c, comma, name, d->blocked_ns[i]);
	}
	arg_more(c, comma, "unattributed_ns", left);
}

/* Add the counters of the phase, or the counters inside the barrier. */
static void put_counters(struct chrome *c, const struct model_detail *d, bool inside,
			 const char **comma)
{
	uint32_t i;

	for (i = 0; i < c->env->ncounters; i++) {
		if (counted(d, i) && !(inside ? d->inside_counters[i] : d->counters[i]))
			continue;
		buf_str(&c->buf, *comma);
		*comma = ",";
		jsonl_string(&c->buf, c->env->counters[i]);
		if (counted(d, i))
			buf_printf(&c->buf, ":%" PRIu64,
				   inside ? d->inside_counters[i] : d->counters[i]);
		else
			buf_str(&c->buf, ":null");
	}
}

/* Add why the thread arrived late, if it did. */
static void put_cause(struct chrome *c, const struct cause_member *why, const char **comma)
{
	bool all = why->more_site != MODEL_NONE;
	uint32_t site = all ? why->more_site : why->site;
	const char *label;

	if (why->dominant == CAUSE_NONE)
		return;
	arg(c, comma, "late_ns", why->lateness_ns);
	buf_str(&c->buf, ",\"cause\":");
	jsonl_string(&c->buf, cause_name(why->dominant));
	arg(c, comma, "cause_ns", why->dominant_ns);
	if (site == MODEL_NONE)
		return;
	label = site_label(c, site);
	if (!label) {
		chrome_fail(c, -ENOMEM);
		return;
	}
	buf_str(&c->buf, all ? ",\"more_in\":" : ",\"function\":");
	jsonl_string(&c->buf, label);
}

static void put_work(struct chrome *c, const struct model_episode *e, const struct model_member *m,
		     uint32_t pid, uint64_t from, const char *label, const struct cause_member *why)
{
	const struct slice s = { "work", "work to", label, pid, m->tid, from, m->arrive_ns };
	const char *comma = "";

	slice(c, &s);
	arg(c, &comma, "phase", e->number);
	put_cause(c, why, &comma);
	if (parts_known(m) && !c->lean_ns) {
		put_parts(c, m, &comma);
		put_counters(c, m->detail, false, &comma);
	}
	slice_end(c, &s);
}

static void put_state(struct chrome *c, const struct model_episode *e, const char **comma)
{
	arg(c, comma, "phase", e->number);
	if (e->state != MODEL_COMPLETE) {
		buf_printf(&c->buf, ",\"state\":\"%s\"",
			   e->state == MODEL_INCOMPLETE ? "incomplete" : "ambiguous");
	}
	if (e->why & (MODEL_WHY_BOUND | MODEL_WHY_RIVALS))
		buf_str(&c->buf, ",\"last_arrival\":\"at the latest then\"");
}

static void put_wait(struct chrome *c, const struct model_episode *e, const struct model_member *m,
		     uint32_t pid, uint64_t from, uint64_t to, const char *label)
{
	const struct slice s = { "wait", "wait at", label, pid, m->tid, from, to };
	const char *comma = "";

	slice(c, &s);
	put_state(c, e, &comma);
	arg(c, &comma, "order", (uint64_t)(m - e->members));
	slice_end(c, &s);
}

/*
 * Write the slice from the last arrival to the thread's departure. In an incomplete episode the
 * last arrival is unknown, so the slice begins at the thread's own arrival.
 */
static void put_leave(struct chrome *c, const struct model_episode *e, const struct model_member *m,
		      uint32_t pid, uint64_t from, const char *label)
{
	bool whole = e->state == MODEL_INCOMPLETE;
	const struct slice s = { whole ? "inside" : "leave",
				 whole ? "at" : "leave",
				 label,
				 pid,
				 m->tid,
				 from,
				 m->depart_ns };
	const struct model_detail *d = m->detail;
	const char *comma = "";

	slice(c, &s);
	/* If there is a slice of the wait, that slice has these arguments instead. */
	if (whole || !m->wait_ns) {
		put_state(c, e, &comma);
		arg(c, &comma, "order", (uint64_t)(m - e->members));
	}
	if (d && d->inside_oncpu_ns != MODEL_UNKNOWN && !c->lean_ns) {
		/*
		 * These times include the wait, because only sums over the whole time inside the
		 * barrier are known.
		 */
		arg_more(c, &comma, "inside_oncpu_ns", d->inside_oncpu_ns);
		arg_more(c, &comma, "inside_runq_ns", d->inside_runq_ns);
		put_counters(c, d, true, &comma);
	}
	slice_end(c, &s);
}

/* --- counters --------------------------------------------------------------------------------- */

static void counter(struct chrome *c, uint32_t pid, uint32_t tid, uint64_t t_ns, const char *what)
{
	struct buf name = { 0 };

	/* Viewers identify a counter by process and name, so the name contains the tid. */
	event_begin(c, 'C', pid);
	event_at(c, t_ns);
	buf_printf(&name, "%u: %s", tid, what);
	buf_str(&c->buf, ",\"name\":");
	put_string(c, &name);
	buf_str(&c->buf, ",\"args\":{");
}

/*
 * Write the parts of a phase of @work_ns in per cent; with @work_ns 0, all parts are 0. The first
 * call for a track writes all parts, because viewers take the list of parts from the first event.
 * Later calls leave out parts that were 0 in the last call and still are 0.
 */
static void put_shares(struct chrome *c, struct chrome_track *t, uint32_t pid, uint64_t t_ns,
		       const struct model_detail *d, uint64_t work_ns)
{
	static const char *const names[] = { "on CPU", "run queue", "blocked", "unattributed" };
	uint64_t blocked = blocked_ns(d);
	const uint64_t parts[] = { d->oncpu_ns, d->runq_ns, blocked,
				   number_less(work_ns, d->oncpu_ns + d->runq_ns + blocked) };
	const char *comma = "";
	uint32_t now = 0, i;

	for (i = 0; i < 4; i++)
		now |= (uint32_t)(work_ns && parts[i]) << i;
	counter(c, pid, t->tid, t_ns, "phase, %");
	for (i = 0; i < 4; i++) {
		if (t->reported && !((now | t->shares) >> i & 1))
			continue;
		buf_printf(&c->buf, "%s\"%s\":", comma, names[i]);
		comma = ",";
		buf_real(&c->buf, work_ns ? 100 * (double)parts[i] / (double)work_ns : 0, 4);
	}
	args_end(c);
	t->reported = true;
	t->shares = now;
}

/*
 * Write each counter as a rate over the phase, so that the area under the curve is the count. With
 * @work_ns 0, write 0.
 */
static void put_rates(struct chrome *c, uint32_t pid, uint32_t tid, uint64_t t_ns,
		      const struct model_detail *d, uint64_t work_ns)
{
	struct buf name = { 0 };
	uint32_t i;

	for (i = 0; i < c->env->ncounters; i++) {
		if (!counted(d, i))
			continue;
		buf_clear(&name);
		buf_printf(&name, "%s per us", c->env->counters[i]);
		counter(c, pid, tid, t_ns, name.s ? name.s : "");
		buf_str(&c->buf, "\"value\":");
		buf_real(&c->buf, work_ns ? 1000 * (double)d->counters[i] / (double)work_ns : 0, 6);
		args_end(c);
	}
	buf_free(&name);
}

/*
 * Write the parts and rates of a phase at its beginning @from, and 0 at the arrival, if they are
 * known.
 */
static void put_phase(struct chrome *c, struct chrome_track *t, const struct model_member *m,
		      uint32_t pid, uint64_t from)
{
	if (!parts_known(m) || !m->work_ns || c->lean_ns)
		return;
	put_shares(c, t, pid, from, m->detail, m->work_ns);
	put_rates(c, pid, m->tid, from, m->detail, m->work_ns);
	put_shares(c, t, pid, m->arrive_ns, m->detail, 0);
	put_rates(c, pid, m->tid, m->arrive_ns, m->detail, 0);
}

/* --- several crossings as one ----------------------------------------------------------------- */

static void put_run(struct chrome *c, struct chrome_track *t, uint32_t pid)
{
	struct chrome_run *r = &t->run;
	char verb[48];
	struct slice s = { "many", verb, NULL, pid, t->tid, r->from, r->to };
	const char *comma = "";

	if (!r->n)
		return;
	snprintf(verb, sizeof(verb), "%u crossings", r->n);
	if (slice_fits(c, t, &s.from, s.to)) {
		slice(c, &s);
		arg(c, &comma, "work_ns", r->work_ns);
		arg(c, &comma, "wait_ns", r->wait_ns);
		arg(c, &comma, "leave_ns", r->leave_ns);
		slice_end(c, &s);
	}
	*r = (struct chrome_run){ 0 };
}

static void add_run(struct chrome *c, struct chrome_track *t, const struct model_member *m,
		    uint32_t pid)
{
	bool work = m->work_ns != MODEL_UNKNOWN && m->work_ns <= m->arrive_ns;
	uint64_t waited = m->arrive_ns + m->wait_ns;
	bool left = m->depart_ns != MODEL_UNKNOWN && m->depart_ns > waited;
	struct chrome_run *r = &t->run;

	if (!r->n)
		r->from = work ? m->arrive_ns - m->work_ns : m->arrive_ns;
	r->n++;
	c->drawn_together++;
	r->to = left ? m->depart_ns : waited;
	r->work_ns += work ? m->work_ns : 0;
	r->wait_ns += m->wait_ns;
	r->leave_ns += left ? m->depart_ns - waited : 0;
	if (r->n >= c->together)
		put_run(c, t, pid);
}

/* --- episodes --------------------------------------------------------------------------------- */

/*
 * Write a crossing that lies inside another crossing's wait. Such a crossing gets a track of its
 * own, because it can begin in one slice of the outer crossing and end in the next.
 */
static void put_nested(struct chrome *c, const struct model_episode *e,
		       const struct model_member *m, uint32_t pid, const char *label)
{
	uint64_t id = ++c->crossings;

	if (m->depart_ns == MODEL_UNKNOWN)
		return;
	event(c, 'b', pid, m->tid, m->arrive_ns);
	event_name(c, "nested", "inside another: at", label);
	buf_printf(&c->buf,
		   ",\"id2\":{\"local\":\"0x%" PRIx64 "\"},\"args\":{\"tid\":%u,\"order\":%u}}", id,
		   m->tid, (unsigned)(m - e->members));
	event(c, 'e', pid, m->tid, m->depart_ns);
	event_name(c, "nested", "inside another: at", label);
	buf_printf(&c->buf, ",\"id2\":{\"local\":\"0x%" PRIx64 "\"}}", id);
}

/*
 * Write the slices of one thread; @why is the cause of its lateness. Return the time at which the
 * slice after its wait begins, or MODEL_UNKNOWN if there is no such slice.
 */
static uint64_t put_member(struct chrome *c, const struct model_episode *e,
			   const struct model_member *m, uint32_t pid, const char *label,
			   const struct cause_member *why)
{
	struct chrome_track *t = track_of(c, m);
	bool incomplete = e->state == MODEL_INCOMPLETE;
	uint64_t from;

	if (!t) {
		chrome_fail(c, -ENOMEM);
		return MODEL_UNKNOWN;
	}
	if (c->together) {
		add_run(c, t, m, pid);
		return MODEL_UNKNOWN;
	}
	if (m->work_ns != MODEL_UNKNOWN && m->work_ns <= m->arrive_ns) {
		from = m->arrive_ns - m->work_ns;
		if (slice_fits(c, t, &from, m->arrive_ns)) {
			put_work(c, e, m, pid, from, label, why);
			put_phase(c, t, m, pid, from);
		}
	}
	from = m->arrive_ns;
	if (!incomplete && m->wait_ns && slice_fits(c, t, &from, m->arrive_ns + m->wait_ns))
		put_wait(c, e, m, pid, from, m->arrive_ns + m->wait_ns, label);
	from = incomplete ? m->arrive_ns : m->arrive_ns + m->wait_ns;
	if (m->depart_ns == MODEL_UNKNOWN || m->depart_ns <= from ||
	    !slice_fits(c, t, &from, m->depart_ns))
		return MODEL_UNKNOWN;
	put_leave(c, e, m, pid, from, label);
	return from;
}

static void put_arrow(struct chrome *c, char ph, uint32_t pid, uint32_t tid, uint64_t t_ns,
		      uint64_t id)
{
	event(c, ph, pid, tid, t_ns);
	buf_printf(&c->buf, ",\"cat\":\"release\",\"name\":\"release\",\"id\":%" PRIu64 "%s}", id,
		   ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static uint32_t pid_of(const struct model *model, const struct model_member *m)
{
	return model_proc(model, model_thread(model, m->thread)->proc)->tgid;
}

/*
 * Draw an arrow from the last arrival to each thread that it released. Arrows need a slice at both
 * ends.
 */
static void put_arrows(struct chrome *c, const struct model *model, const struct model_episode *e,
		       const uint64_t *released)
{
	const struct model_member *last = &e->members[e->n - 1];
	uint32_t i;

	if (e->state == MODEL_INCOMPLETE || released[e->n - 1] == MODEL_UNKNOWN)
		return;
	for (i = 0; i + 1 < e->n; i++) {
		if (released[i] == MODEL_UNKNOWN)
			continue;
		c->flows++;
		put_arrow(c, 's', pid_of(model, last), last->tid, released[e->n - 1], c->flows);
		put_arrow(c, 'f', pid_of(model, &e->members[i]), e->members[i].tid, released[i],
			  c->flows);
	}
}

int chrome_episode(struct chrome *c, const struct model *model, const struct model_episode *e)
{
	const struct model_member *ref = cause_reference(c->env->causes, model, e);
	const char *label = label_of(c, model, e->barrier);
	struct cause_member why;
	uint64_t *released;
	uint32_t i;

	if (c->err || !e->n)
		return c->err;
	released = calloc(e->n, sizeof(*released));
	if (!label || !released) {
		free(released);
		return chrome_fail(c, -ENOMEM);
	}
	chrome_thin(c, e->members[0].arrive_ns);
	for (i = 0; i < e->n; i++) {
		const struct model_member *m = &e->members[i];

		why = cause_of_member(c->env->causes, model, e, ref, m);
		if (e->nested && c->together)
			c->drawn_together++;
		else if (e->nested)
			put_nested(c, e, m, pid_of(model, m), label);
		else
			released[i] = put_member(c, e, m, pid_of(model, m), label, &why);
	}
	if (!e->nested)
		put_arrows(c, model, e, released);
	free(released);
	return chrome_put(c);
}

/* --- begin and end ---------------------------------------------------------------------------- */

int chrome_begin(struct chrome **out, FILE *file, const struct report_env *env, uint64_t start_ns,
		 uint64_t lean)
{
	struct chrome *c = calloc(1, sizeof(*c));
	int err;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	*c = (struct chrome){ .file = file,
			      .env = env,
			      .start_ns = start_ns,
			      .lean = lean,
			      .namer = report_namer_new() };
	if (!c->namer) {
		free(c);
		return -ENOMEM;
	}
	buf_printf(&c->buf,
		   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"sbt-trace "
		   "%s\",\"clock_start_ns\":\"%" PRIu64
		   "\",\"note\":\"Slices and arrows have the times that were measured. For the "
		   "parts of a phase (run queue, blocked, ...) and for counters, only sums are "
		   "known. The sums are arguments of the slice, and counter tracks show them as "
		   "constant from the beginning of the phase to its end. late_ns is how much "
		   "later than the typical thread of the episode the thread arrived, cause is the "
		   "largest part of that (cause_ns), and function is where it was, on a CPU or "
		   "blocked, for longest. more_in replaces function where it is known in which "
		   "place the last arrivers of this barrier were on a CPU for longer than typical "
		   "threads, over its late episodes up to this one. A counter track is 0 where "
		   "there is no phase or nothing "
		   "is known. A null argument is unknown, a missing argument is 0. The metadata "
		   "state what was left out of a long run.\"},\n\"traceEvents\":[\n",
		   SBT_VERSION, start_ns);
	err = chrome_put(c);
	if (err) {
		report_namer_free(c->namer);
		buf_free(&c->buf);
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

static void put_meta(struct chrome *c, const char *what, uint32_t pid, uint32_t tid)
{
	event_begin(c, 'M', pid);
	buf_printf(&c->buf, ",\"tid\":%u,\"name\":\"%s\",\"args\":{", tid, what);
}

static void put_thread_name(struct chrome *c, const struct model_thread *th, uint32_t pid)
{
	uint32_t index = th->place != MODEL_NONE ? th->place : th->ordinal;
	struct buf name = { 0 };

	if (index != MODEL_NONE)
		buf_printf(&name, "thread %u ", index);
	buf_printf(&name, "%s", *th->comm ? th->comm : "?");
	put_meta(c, "thread_name", pid, th->tid);
	buf_str(&c->buf, "\"name\":");
	put_string(c, &name);
	args_end(c);
	if (index == MODEL_NONE)
		return;
	put_meta(c, "thread_sort_index", pid, th->tid);
	buf_printf(&c->buf, "\"sort_index\":%u}}", index);
}

/* Write a slice without arguments, if its beginning is known and it is not empty. */
static void put_bare(struct chrome *c, struct chrome_track *t, struct slice s)
{
	if (s.from == MODEL_UNKNOWN || s.from >= s.to || !slice_fits(c, t, &s.from, s.to))
		return;
	slice(c, &s);
	slice_end(c, &s);
}

/*
 * Write the times outside episodes: work after the last departure, and a wait that lasted to the
 * end.
 */
static void put_last(struct chrome *c, const struct model_thread *th, uint32_t index, uint32_t pid,
		     uint64_t end_ns)
{
	struct model_member m = { .thread = index, .tid = th->tid };
	struct chrome_track *t = track_of(c, &m);
	uint64_t end = th->end_ns == MODEL_UNKNOWN ? end_ns : th->end_ns, from = th->depart_ns;

	if (!t) {
		chrome_fail(c, -ENOMEM);
		return;
	}
	put_run(c, t, pid);
	if (th->pending_ns != MODEL_UNKNOWN && th->pending_ns < end)
		end = th->pending_ns;
	put_bare(c, t,
		 (struct slice){ "work", "after the last barrier", NULL, pid, th->tid, from, end });
	put_bare(c, t,
		 (struct slice){ "wait", "waits to the end", NULL, pid, th->tid, th->pending_ns,
				 end_ns });
}

static void put_names(struct chrome *c, const struct model *model, uint64_t end_ns)
{
	const struct model_thread *th;
	const struct model_proc *p;
	uint32_t i;

	for (i = 0; i < model_nprocs(model); i++) {
		p = model_proc(model, i);
		if (!p->crossings)
			continue;
		put_meta(c, "process_name", p->tgid, p->tgid);
		buf_str(&c->buf, "\"name\":");
		jsonl_string(&c->buf, *p->comm ? p->comm : "?");
		args_end(c);
		chrome_put(c);
	}
	for (i = 0; i < model_nthreads(model) && !c->err; i++) {
		th = model_thread(model, i);
		if (th->proc == MODEL_NONE || (!th->crossings && th->pending_ns == MODEL_UNKNOWN))
			continue;
		p = model_proc(model, th->proc);
		put_thread_name(c, th, p->tgid);
		put_last(c, th, i, p->tgid, end_ns);
		chrome_put(c);
	}
}

/* Write the metadata: since when details were left out, and how many crossings share slices. */
static void put_left_out(struct chrome *c)
{
	buf_printf(&c->buf, "\n],\n\"metadata\":{\"slices_cut\":%" PRIu64, c->clipped);
	if (c->lean_ns) {
		buf_str(&c->buf, ",\"without_counters_from_us\":");
		put_us(&c->buf, c->lean_ns);
	}
	if (c->together) {
		buf_str(&c->buf, ",\"crossings_together_from_us\":");
		put_us(&c->buf, c->together_ns);
		buf_printf(&c->buf, ",\"crossings_together\":%" PRIu64, c->drawn_together);
	}
	buf_str(&c->buf, "}}\n");
}

bool chrome_thinned(const struct chrome *c, struct chrome_thinned *out)
{
	*out = (struct chrome_thinned){ c->lean_ns, c->together_ns, c->drawn_together };
	return c->lean_ns > 0;
}

int chrome_end(struct chrome *c, const struct model *model, uint64_t end_ns)
{
	uint32_t i;
	int err;

	if (model && !c->err) {
		put_names(c, model, end_ns);
		put_left_out(c);
		chrome_put(c);
		if (!c->err)
			c->err = buf_flush(c->file);
	}
	err = c->err;
	for (i = 0; i < c->nlabels; i++)
		free(c->labels[i]);
	free(c->labels);
	hash_free_ptrs(&c->sites);
	report_namer_free(c->namer);
	free(c->tracks);
	buf_free(&c->buf);
	free(c);
	return err;
}
