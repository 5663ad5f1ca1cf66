// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The engine of the generators of known answers: N threads, selectable work for each thread and
// round, and a log of every arrival and departure by the program's own clock. tests/e2e/genlog.py
// reads the log. gen.c (pthread_barrier_wait), gen_cond.c and the others define the barriers.
//
// Log: lines "thread tid pid round object site arrive_ns depart_ns serial cpu_enter_ns cpu_leave_ns
// enter_ns leave_ns". arrive and depart are CLOCK_MONOTONIC immediately before and after the call.
// serial is 1 for one thread of each episode: the thread that got PTHREAD_BARRIER_SERIAL_THREAD, or
// the last arriver, or if neither is known, the team's first. cpu_ are the thread's own CPU time,
// read between enter_ns and arrive_ns, and between depart_ns and leave_ns. Lines that begin with #
// have the options and, for each process, the addresses of its barriers. With several teams, object
// is team * barriers + barrier.
#include "gen_core.h"

#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_WORKERS   4096
#define MAX_PROCESSES 64
#define LOGGED_ROUNDS (1U << 20) /* rounds if a time limits the run and a log is kept */

struct worker {
	pid_t tid;
	pid_t pid;
	uint64_t crossings;
	uint64_t serials;
	uint64_t barriers_at; /* address of the barriers in the worker's own process */
};

/*
 * Shared by all processes of a run. The workers, their log entries and the barriers follow in
 * memory.
 */
struct shared {
	uint32_t gate;
	uint32_t ready;
	uint32_t generation; /* --recreate: how often the barriers were initialised again */
	uint32_t stop;
	uint64_t start_ns;
	uint64_t last_round;
	uint64_t next_ticket; /* --count: crossings begun; protected by the mutex */
	uint64_t tickets;
	pthread_mutex_t mutex;
	struct worker worker[];
};

enum pattern { WORK_NONE, WORK_FIXED, WORK_STAIR, WORK_ROTATE, WORK_RANDOM };

struct gen_options gen = { .threads = 4, .teams = 1 };

static struct {
	uint32_t barriers; /* number of barriers in each team */
	uint32_t sites;
	uint32_t count; /* threads that each barrier counts */
	uint32_t recreate;
	uint64_t capacity; /* log entries kept for each worker */
	uint64_t duration_ns;
	uint32_t alarm;
	int mixed, cyclic, forever, wait_start;
	uint32_t sleeping; /* threads that sleep to work; 0: none, 1: all, 2: every other */
	const char *log, *shm;
	enum pattern pattern;
	uint64_t base_ns, extra_ns, seed;
	uint64_t fixed_ns[MAX_WORKERS];
	uint32_t rank, ranks; /* MPI: rank of this process, and number of ranks; 0: no MPI */
} opt = { .barriers = 1, .alarm = STOPGAP_SECONDS };

static const struct gen_family *family;

static struct shared *shared;
static size_t shared_size;
static char *reservation; /* --shm: address range for the mapping of each process */
static int shm_fd = -1;
static struct gen_entry *entries(uint32_t worker)
{
	return (struct gen_entry *)&shared->worker[gen.workers] + worker * opt.capacity;
}

static char *barriers(void)
{
	uintptr_t end = (uintptr_t)entries(gen.workers);

	return gen.processes ? (char *)((end + 63) & ~(uintptr_t)63) : (char *)family->storage;
}

static uint32_t barrier_count(void)
{
	return gen.teams * opt.barriers;
}

static void *barrier_at(uint32_t i)
{
	return barriers() + i * family->object_size;
}

static uint64_t work_ns(uint32_t worker, uint64_t round)
{
	switch (opt.pattern) {
	case WORK_FIXED:
		return opt.fixed_ns[worker];
	case WORK_STAIR:
		return opt.base_ns + worker * opt.extra_ns;
	case WORK_ROTATE:
		return opt.base_ns + (round % gen.workers == worker ? opt.extra_ns : 0);
	case WORK_RANDOM:
		return opt.base_ns + mix64(opt.seed ^ mix64(round * MAX_WORKERS + worker)) %
					     (opt.extra_ns - opt.base_ns + 1);
	case WORK_NONE:
		break;
	}
	return 0;
}

void gen_work(uint32_t index, uint64_t round)
{
	uint64_t ns = work_ns(index, round);
	uint64_t deadline;

	if (!ns)
		return;
	deadline = now_ns() + ns;
	if (opt.sleeping && (opt.sleeping == 1 || index % 2))
		sleep_until(deadline);
	else
		spin_until(deadline);
}

struct gen_entry *gen_next(uint32_t index, uint64_t round, uint32_t object, uint32_t place)
{
	struct worker *w = &shared->worker[index];
	struct gen_entry *e = entries(index) + (gen.logging ? w->crossings : 0);

	e->round = (uint32_t)round;
	e->object = (uint16_t)object;
	e->site = (uint8_t)place;
	e->tid = w->tid;
	w->crossings++;
	return e;
}

void gen_serial(uint32_t index, struct gen_entry *e)
{
	e->serial = 1;
	shared->worker[index].serials++;
}

struct gen_entry *gen_earlier(uint32_t index, uint64_t crossing)
{
	return gen.logging ? entries(index) + crossing : NULL;
}

static uint32_t place_of(uint32_t index, uint64_t round)
{
	if (opt.mixed)
		return index % opt.sites;
	if ((family->can & GEN_SITE_BY_KIND) && strcmp(family->kinds[gen.kind], "all") != 0)
		return gen.kind;
	return (uint32_t)(round % opt.sites);
}

static void cross(uint32_t index, uint64_t round)
{
	uint32_t members = gen.workers / gen.teams;
	uint32_t object = index / members * opt.barriers + (uint32_t)(round % opt.barriers);
	uint32_t place = place_of(index, round);
	struct gen_entry *e;

	gen_work(index, round);
	e = gen_next(index, round, object, place);
	e->serial = 0;
	if (family->site[place](barrier_at(object), index % members, e))
		gen_serial(index, e);
}

int gen_time_is_up(void)
{
	if (__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
		return 1;
	return opt.duration_ns && now_ns() - shared->start_ns >= opt.duration_ns;
}

/*
 * With --recreate, two counts alternate. With the smaller one, the last thread does not take part.
 */
static uint32_t count_of_segment(uint64_t segment)
{
	return segment % 2 ? opt.count - 1 : opt.count;
}

static void make_barriers(uint32_t count)
{
	for (uint32_t i = 0; family->make && i < barrier_count(); i++)
		family->make(barrier_at(i), count);
}

/* Return whether the worker takes part in the segment that begins with this round. */
static int enter_segment(uint32_t index, uint64_t round)
{
	uint64_t segment = round / opt.recreate;

	if (segment && index == 0) {
		for (uint32_t i = 0; i < barrier_count(); i++)
			family->unmake(barrier_at(i));
		make_barriers(count_of_segment(segment));
		word_set(&shared->generation, (uint32_t)segment);
	} else {
		word_wait(&shared->generation, (uint32_t)segment);
	}
	return index < count_of_segment(segment);
}

static void run_rounds(uint32_t index)
{
	for (uint64_t round = 0; round < gen.rounds; round++) {
		if (opt.recreate && round % opt.recreate == 0) {
			int in = enter_segment(index, round);

			if (__atomic_load_n(&shared->last_round, __ATOMIC_ACQUIRE) < round)
				break;
			if (!in) {
				round += opt.recreate - 1;
				continue;
			}
		}
		/*
		 * Before worker 0 arrives at the last round, it stores the number of that round. So
		 * each thread that departs from the round sees the number.
		 */
		if (index == 0 && shared->last_round == GEN_FOREVER && gen_time_is_up())
			__atomic_store_n(&shared->last_round, round, __ATOMIC_RELEASE);
		cross(index, round);
		if (round >= __atomic_load_n(&shared->last_round, __ATOMIC_ACQUIRE))
			break;
	}
	if (index == 0 && opt.recreate)
		word_set(&shared->generation, UINT32_MAX);
}

/*
 * Take a ticket for one crossing. There are more threads than the barrier counts, and any of them
 * may cross, so threads have different numbers of rounds. The number of tickets is a multiple of
 * the count, so no thread waits forever.
 */
static int take_ticket(void)
{
	int taken = 0;

	pthread_mutex_lock(&shared->mutex);
	if (gen_time_is_up()) {
		/* Threads that already wait in the barrier still need the rest of their episode. */
		uint64_t last = (shared->next_ticket + opt.count - 1) / opt.count * opt.count;

		if (last < shared->tickets)
			shared->tickets = last;
	}
	if (shared->next_ticket < shared->tickets) {
		shared->next_ticket++;
		taken = 1;
	}
	pthread_mutex_unlock(&shared->mutex);
	return taken;
}

void gen_member(uint32_t index)
{
	struct worker *w = &shared->worker[index];
	char name[16];

	snprintf(name, sizeof(name), "gen-%u", index);
	prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
	exact_timers();
	w->tid = thread_id();
	w->pid = getpid();
	w->barriers_at = (uint64_t)(uintptr_t)barriers();
	memset(entries(index), 0,
	       opt.capacity * sizeof(struct gen_entry)); /* no faults while measuring */
	if (!opt.ranks) {
		word_add(&shared->ready, 1);
		word_wait(&shared->gate, 1);
	}
	if (opt.cyclic) {
		while (take_ticket())
			cross(index, w->crossings);
	} else {
		run_rounds(index);
	}
}

static void *worker(void *arg)
{
	gen_member((uint32_t)(uintptr_t)arg);
	return NULL;
}

static pthread_t *start_team(uint32_t process)
{
	pthread_t *threads = (pthread_t *)must_alloc(gen.threads, sizeof(*threads));
	pthread_attr_t attr;

	must(pthread_attr_init(&attr), "pthread_attr_init");
	must(pthread_attr_setstacksize(&attr, 256 * 1024), "pthread_attr_setstacksize");
	for (uint32_t i = 0; i < gen.threads; i++)
		must(pthread_create(&threads[i], &attr, worker,
				    (void *)(uintptr_t)(process * gen.threads + i)),
		     "pthread_create");
	pthread_attr_destroy(&attr);
	return threads;
}

static void join_team(pthread_t *threads)
{
	for (uint32_t i = 0; i < gen.threads; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	free(threads);
}

static void on_stop(int sig)
{
	(void)sig;
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
}

static void set_alarm(void)
{
	if (opt.alarm && !opt.forever)
		stopgap(opt.alarm + (uint32_t)(opt.duration_ns / NSEC_PER_SEC));
}

static pid_t start_process(uint32_t process)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
	set_alarm();
	if (shm_fd >= 0) {
		/* Map the same file at another address in each process. */
		char *place = reservation + (process + 1) * shared_size;
		void *p = mmap(place, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			       shm_fd, 0);

		if (p == MAP_FAILED)
			die("mmap: %s", strerror(errno));
		munmap(shared, shared_size);
		shared = (struct shared *)p;
	}
	join_team(start_team(process));
	_exit(0);
}

static void map_shared(void)
{
	size_t size = sizeof(*shared) + gen.workers * sizeof(struct worker) +
		      gen.workers * opt.capacity * sizeof(struct gen_entry) + 64 +
		      barrier_count() * family->object_size;
	void *p;

	shared_size = (size + 0x1fffff) & ~(size_t)0x1fffff;
	if (opt.shm) {
		shm_fd = open(opt.shm, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (shm_fd < 0 || ftruncate(shm_fd, (off_t)shared_size))
			die("%s: %s", opt.shm, strerror(errno));
		p = mmap(NULL, shared_size * (gen.processes + 1), PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			die("mmap: %s", strerror(errno));
		reservation = (char *)p;
		p = mmap(p, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shm_fd, 0);
	} else {
		p = mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			 0);
	}
	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	shared = (struct shared *)p;
	memset(shared, 0, sizeof(*shared));
}

static void wait_for_start(const pid_t *pids)
{
	struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	sigset_t set;
	char c;

	printf("%s: pid %d ready", family->name, (int)getpid());
	for (uint32_t i = 0; i < gen.processes; i++)
		printf(" %d", (int)pids[i]);
	printf("\n");
	fflush(stdout);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	fds[1].fd = signalfd(-1, &set, SFD_CLOEXEC);
	fds[1].events = POLLIN;
	if (fds[1].fd < 0)
		die("signalfd: %s", strerror(errno));
	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR && !shared->stop)
				continue;
			break;
		}
		if (fds[1].revents)
			break;
		if (fds[0].revents) {
			/* After the end of stdin, only the signal can stop the run. */
			if (read(STDIN_FILENO, &c, 1) != 1)
				fds[0].fd = -1;
			else if (c == '\n')
				break;
		}
	}
	close(fds[1].fd);
}

static void log_objects(FILE *f, const struct worker *w)
{
	for (uint32_t k = 0; family->object_size && k < barrier_count(); k++)
		fprintf(f, "# object pid=%d index=%u address=0x%llx\n", (int)w->pid, k,
			(unsigned long long)w->barriers_at + k * family->object_size);
}

static void write_log(void)
{
	FILE *f = fopen(opt.log, "w");

	if (!f)
		die("%s: %s", opt.log, strerror(errno));
	fprintf(f,
		"# gen threads=%u processes=%u barriers=%u sites=%u mixed=%d count=%u cyclic=%d "
		"recreate=%u teams=%u\n",
		gen.workers, gen.processes, opt.barriers, opt.sites, opt.mixed, opt.count,
		opt.cyclic, opt.recreate, gen.teams);
	fprintf(f, "# family name=%s kind=%s\n", family->name,
		family->kinds ? family->kinds[gen.kind] : "-");
	for (uint32_t i = 0; i < gen.workers; i += gen.threads)
		log_objects(f, &shared->worker[i]);
	for (uint32_t i = 0; i < gen.workers; i++) {
		const struct worker *w = &shared->worker[i];

		for (uint64_t k = 0; k < w->crossings; k++) {
			const struct gen_entry *e = &entries(i)[k];

			fprintf(f, "%u %d %d %u %u %u %llu %llu %u %llu %llu %llu %llu\n", i,
				(int)e->tid, (int)w->pid, e->round, e->object, e->site,
				(unsigned long long)e->arrive, (unsigned long long)e->depart,
				e->serial, (unsigned long long)e->cpu_enter,
				(unsigned long long)e->cpu_leave, (unsigned long long)e->enter,
				(unsigned long long)e->leave);
		}
	}
	if (ferror(f) | fclose(f))
		die("%s: %s", opt.log, strerror(errno));
}

static void parse_work(const char *text)
{
	const char *p = strchr(text, ':');
	size_t n = p ? (size_t)(p - text) : strlen(text);

	if (!strcmp(text, "none"))
		return;
	if (!p)
		die("--work: '%s' is not none, fixed:, stair:, rotate: or random:", text);
	p++;
	if (!strncmp(text, "fixed", n)) {
		opt.pattern = WORK_FIXED;
		for (;;) {
			char *end;
			unsigned long i = strtoul(p, &end, 10);

			if (end == p || *end != '=' || i >= MAX_WORKERS)
				die("--work: fixed:THREAD=TIME[,THREAD=TIME...]");
			opt.fixed_ns[i] = parse_time("--work", end + 1, &p);
			if (*p != ',')
				break;
			p++;
		}
	} else if (!strncmp(text, "stair", n) || !strncmp(text, "rotate", n) ||
		   !strncmp(text, "random", n)) {
		opt.pattern = text[0] == 's'   ? WORK_STAIR
			      : text[1] == 'o' ? WORK_ROTATE
					       : WORK_RANDOM;
		opt.base_ns = parse_time("--work", p, &p);
		if (*p != ':')
			die("--work: '%s' wants a second time", text);
		opt.extra_ns = parse_time("--work", p + 1, &p);
		if (opt.pattern == WORK_RANDOM) {
			if (opt.extra_ns < opt.base_ns)
				die("--work: random:MIN:MAX:SEED with MIN <= MAX");
			if (*p == ':') {
				opt.seed = parse_u64("--work", p + 1, 0, UINT64_MAX);
				p = "";
			}
		}
	} else {
		die("--work: '%s' is not none, fixed:, stair:, rotate: or random:", text);
	}
	if (*p)
		die("--work: '%s' is left over", p);
}

static void usage(FILE *f)
{
	fprintf(f,
		"%s (%s): threads, barriers and work with known answers\n"
		"  --threads N        threads, in each process (4)\n"
		"  --rounds R         barriers each thread crosses (1000)\n"
		"  --work PATTERN     none | fixed:0=200us,1=100us | stair:BASE:STEP |\n"
		"                     rotate:BASE:EXTRA | random:MIN:MAX:SEED (none)\n"
		"  --work-by HOW      spin (on the CPU, to a deadline), sleep, or both: threads\n"
		"                     with odd numbers sleep (spin)\n"
		"  --barriers K       K objects, used in turn (1)\n"
		"  --sites K          K call sites, used in turn by all (1)\n"
		"  --mixed            thread i always at site i mod sites (2 sites at least)\n"
		"  --count C          fewer than threads: cyclic use\n"
		"  --recreate K       barriers destroyed and made again at the same address\n"
		"                     every K rounds, counting N and N-1 in turn\n"
		"  --processes P      P forked processes on process-shared barriers\n"
		"  --shm FILE         ... in FILE, mapped at another address in each\n"
		"  --log FILE         write every crossing there at the end\n"
		"  --duration S       stop after S seconds, all in the same round\n"
		"  --wait-start       print the pid, wait for SIGUSR1 or a line on stdin\n"
		"  --forever          until SIGTERM or SIGINT, then end in good order\n"
		"  --teams K          K teams of equal size, each with barriers of its own (1)\n"
		"  --kind KIND        how they meet, where the family has several ways\n"
		"  --shared           not private to a process, even with one alone\n"
		"  --timeout TIME     waits give up after so long, and begin again\n"
		"  --alarm S          die after S seconds more than --duration (60; 0: never)\n",
		family->name, family->flavour);
	for (uint32_t i = 0; family->kinds && family->kinds[i]; i++)
		fprintf(f, i ? " %s" : "kinds: %s", family->kinds[i]);
	if (family->kinds)
		fputc('\n', f);
}

enum {
	OPT_THREADS = 1,
	OPT_ROUNDS,
	OPT_WORK,
	OPT_WORK_BY,
	OPT_BARRIERS,
	OPT_SITES,
	OPT_MIXED,
	OPT_COUNT,
	OPT_RECREATE,
	OPT_PROCESSES,
	OPT_SHM,
	OPT_LOG,
	OPT_DURATION,
	OPT_WAIT_START,
	OPT_GEN_FOREVER,
	OPT_ALARM,
	OPT_TEAMS,
	OPT_KIND,
	OPT_SHARED,
	OPT_TIMEOUT,
	OPT_HELP,
};

static const struct option options[] = {
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "work", required_argument, NULL, OPT_WORK },
	{ "work-by", required_argument, NULL, OPT_WORK_BY },
	{ "barriers", required_argument, NULL, OPT_BARRIERS },
	{ "sites", required_argument, NULL, OPT_SITES },
	{ "mixed", no_argument, NULL, OPT_MIXED },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "recreate", required_argument, NULL, OPT_RECREATE },
	{ "processes", required_argument, NULL, OPT_PROCESSES },
	{ "shm", required_argument, NULL, OPT_SHM },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "wait-start", no_argument, NULL, OPT_WAIT_START },
	{ "forever", no_argument, NULL, OPT_GEN_FOREVER },
	{ "alarm", required_argument, NULL, OPT_ALARM },
	{ "teams", required_argument, NULL, OPT_TEAMS },
	{ "kind", required_argument, NULL, OPT_KIND },
	{ "shared", no_argument, NULL, OPT_SHARED },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static uint32_t number(const char *what, uint64_t min, uint64_t max)
{
	return (uint32_t)parse_u64(what, optarg, min, max);
}

static void may(unsigned int can, int wanted, const char *what)
{
	if (wanted && !(family->can & can))
		die("%s: %s cannot", what, family->name);
}

static uint32_t parse_kind(const char *name)
{
	for (uint32_t i = 0; family->kinds && family->kinds[i]; i++) {
		if (!strcmp(family->kinds[i], name))
			return i;
	}
	die("--kind: %s has no '%s'", family->name, name);
}

static void parse_options(int argc, char **argv)
{
	const char *rest;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case OPT_THREADS:
			gen.threads = number("--threads", 1, MAX_WORKERS);
			break;
		case OPT_ROUNDS:
			gen.rounds = parse_u64("--rounds", optarg, 1, UINT32_MAX);
			break;
		case OPT_WORK:
			parse_work(optarg);
			break;
		case OPT_WORK_BY:
			if (strcmp(optarg, "spin") && strcmp(optarg, "sleep") &&
			    strcmp(optarg, "both"))
				die("--work-by: spin, sleep or both");
			opt.sleeping = optarg[0] == 'b' ? 2 : optarg[1] == 'l';
			break;
		case OPT_BARRIERS:
			opt.barriers = number("--barriers", 1, GEN_MAX_OBJECTS);
			break;
		case OPT_SITES:
			opt.sites = number("--sites", 1, family->sites);
			break;
		case OPT_MIXED:
			opt.mixed = 1;
			break;
		case OPT_COUNT:
			opt.count = number("--count", 1, MAX_WORKERS);
			break;
		case OPT_RECREATE:
			opt.recreate = number("--recreate", 1, UINT32_MAX);
			break;
		case OPT_PROCESSES:
			gen.processes = number("--processes", 1, MAX_PROCESSES);
			break;
		case OPT_SHM:
			opt.shm = optarg;
			break;
		case OPT_LOG:
			opt.log = optarg;
			break;
		case OPT_DURATION:
			opt.duration_ns = NSEC_PER_SEC * number("--duration", 1, 100000);
			break;
		case OPT_WAIT_START:
			opt.wait_start = 1;
			break;
		case OPT_GEN_FOREVER:
			opt.forever = 1;
			break;
		case OPT_ALARM:
			opt.alarm = number("--alarm", 0, 100000);
			break;
		case OPT_TEAMS:
			gen.teams = number("--teams", 1, GEN_MAX_OBJECTS);
			break;
		case OPT_KIND:
			gen.kind = parse_kind(optarg);
			break;
		case OPT_SHARED:
			gen.shared = 1;
			break;
		case OPT_TIMEOUT:
			gen.timeout_ns = (uint32_t)parse_time("--timeout", optarg, &rest);
			break;
		case OPT_HELP:
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc)
		die("%s: '%s' is left over", family->name, argv[optind]);
	if (opt.ranks)
		gen.threads = opt.ranks;
	if (!gen.rounds) {
		gen.rounds = 1000;
		if (opt.duration_ns || opt.forever)
			gen.rounds = opt.log ? LOGGED_ROUNDS : GEN_FOREVER;
	}
	gen.workers = gen.threads * (gen.processes ? gen.processes : 1);
	if (gen.workers > MAX_WORKERS)
		die("%s: %u threads in all, at most %u", family->name, gen.workers, MAX_WORKERS);
	opt.cyclic = opt.count && opt.count < gen.workers;
	if (opt.count > gen.workers)
		die("--count: more than there are threads would wait for ever");
	if (gen.workers % gen.teams || gen.teams * opt.barriers > GEN_MAX_OBJECTS)
		die("--teams: not of equal size, or too many");
	if (!opt.count)
		opt.count = gen.workers / gen.teams;
	if (!opt.sites)
		opt.sites = opt.mixed ? 2 : (family->can & GEN_SITE_BY_KIND) ? family->sites : 1;
	if (opt.mixed && opt.sites < 2)
		die("--mixed: needs two --sites at least");
	if (opt.cyclic && (gen.processes || opt.barriers > 1 || opt.recreate))
		die("--count: not with --processes, --barriers or --recreate");
	if (opt.recreate && (gen.processes || gen.workers < 2))
		die("--recreate: needs two threads at least and one process");
	if (opt.shm && !gen.processes)
		die("--shm: needs --processes");
	/* Worker 0 decides which round is the last, which works for one team only. */
	if (gen.teams > 1 && (opt.duration_ns || opt.forever))
		die("--teams: not with --duration or --forever");
	if (opt.cyclic + !!opt.recreate + (gen.teams > 1) > 1)
		die("--count, --recreate and --teams: one at a time");
	may(GEN_CAN_CYCLE, opt.cyclic, "--count");
	may(GEN_CAN_RECREATE, opt.recreate != 0, "--recreate");
	may(GEN_CAN_SHARE, gen.processes != 0, "--processes");
	may(GEN_CAN_SHARE, gen.shared, "--shared");
	may(GEN_CAN_TEAM, gen.teams > 1, "--teams");
	may(0, opt.ranks && (opt.duration_ns || opt.forever || opt.wait_start || opt.shm),
	    "--duration, --forever, --wait-start, --shm");
	gen.shared |= gen.processes != 0;
	gen.logging = opt.log != NULL;
	opt.capacity = 1;
	if (opt.log)
		/* A thread is a member of an episode at most once. */
		opt.capacity = opt.cyclic ? gen.rounds * gen.workers / opt.count + 1 : gen.rounds;
	if (opt.capacity > (1ULL << 34) / sizeof(struct gen_entry) / gen.workers)
		die("--log: too many rounds to keep in memory");
}

/* Count the episodes by the threads that were serial, because each episode has exactly one. */
static uint64_t count_episodes(void)
{
	uint64_t episodes = 0, crossings = 0, expected = 0;

	for (uint32_t i = 0; i < gen.workers; i++) {
		episodes += shared->worker[i].serials;
		crossings += shared->worker[i].crossings;
	}
	if (opt.recreate) {
		for (uint64_t round = 0; round < episodes; round++)
			expected += count_of_segment(round / opt.recreate);
	} else {
		expected = episodes * opt.count;
	}
	if (crossings != expected)
		die("%s: %llu crossings, but %llu episodes make %llu", family->name,
		    (unsigned long long)crossings, (unsigned long long)episodes,
		    (unsigned long long)expected);
	return episodes;
}

void gen_set_rank(uint32_t rank, uint32_t ranks)
{
	opt.rank = rank;
	opt.ranks = ranks;
}

void *gen_record(uint32_t index, int part, size_t *size)
{
	*size = part ? opt.capacity * sizeof(struct gen_entry) : sizeof(struct worker);
	return part ? (void *)entries(index) : (void *)&shared->worker[index];
}

static void start(const pid_t *pids)
{
	if (opt.wait_start)
		wait_for_start(pids);
	shared->start_ns = now_ns();
	word_set(&shared->gate, 1);
}

static void run_processes(void)
{
	pid_t pids[MAX_PROCESSES];

	fflush(stdout);
	for (uint32_t i = 0; i < gen.processes; i++)
		pids[i] = start_process(i);
	word_wait(&shared->ready, gen.workers);
	start(pids);
	for (uint32_t i = 0; i < gen.processes; i++) {
		int status;

		while (waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			die("%s: process %u ended with status 0x%x", family->name, i,
			    (unsigned int)status);
	}
}

static void run_threads(void)
{
	pthread_t *team = start_team(0);

	word_wait(&shared->ready, gen.workers);
	start(NULL);
	join_team(team);
}

/*
 * Run the members in threads that the family creates. The run begins without waiting for all of
 * them.
 */
static void run_family(void)
{
	for (uint32_t i = 0; i < gen.workers; i++)
		shared->worker[i].pid = getpid();
	start(NULL);
	if (family->drive)
		family->drive();
	else
		family->run(gen.workers);
}

static void prepare(void)
{
	pthread_mutexattr_t attr;
	sigset_t set;

	map_shared();
	must(pthread_mutexattr_init(&attr), "pthread_mutexattr_init");
	must(pthread_mutex_init(&shared->mutex, &attr), "pthread_mutex_init");
	shared->last_round = GEN_FOREVER;
	shared->tickets = GEN_FOREVER;
	if (opt.cyclic && gen.rounds != GEN_FOREVER)
		shared->tickets = gen.rounds * gen.workers / opt.count * opt.count;
	make_barriers(opt.count);

	set_alarm();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (opt.forever) {
		struct sigaction stop = { .sa_handler = on_stop };

		sigaction(SIGTERM, &stop, NULL);
		sigaction(SIGINT, &stop, NULL);
	}
}

int gen_main(int argc, char **argv, const struct gen_family *with)
{
	family = with;
	parse_options(argc, argv);
	prepare();
	if (gen.processes)
		run_processes();
	else if (family->run || family->drive)
		run_family();
	else
		run_threads();
	if (opt.rank)
		return 0;
	if (opt.log)
		write_log();
	printf("%s: rounds=%llu threads=%u ok\n", family->name,
	       (unsigned long long)count_episodes(), gen.workers);
	return 0;
}
