// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Two threads cross a barrier. Before each crossing, the second thread, "late", waits for a thread
// "waker" of this or another process, which does one known thing for most of that time. "waker
// MEANS DOING [thread|process] [ROUNDS]" prints "# NAME TID" for the threads that a report may
// name. All of these threads have priority over normal threads, so that other programs do not delay
// them.
#include "common.h"
#include "pin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define MS	1000000ULL
#define LONG_NS (12 * MS)
#define TRY_NS	(5 * MS) /* not a divisor of LONG_NS, so that the waker ends the last wait */
#define ASKED	(MS / 5) /* after this time the late thread is surely blocked */

/* TIMED and POLL_TIMED wait repeatedly, each time with a timeout. */
enum means {
	COND,
	TIMED,
	SEM,
	FUTEX,
	EVENTFD,
	PIPE,
	POLL,
	POLL_TIMED,
	EPOLL,
	PAIR,
	UNIX,
	TCP,
	MEANS
};

static const char *const means_name[MEANS] = {
	"cond", "timed",      "sem",   "futex", "eventfd", "pipe",
	"poll", "poll-timed", "epoll", "pair",	"unix",	   "tcp",
};

/* TURNS sleeps in every other round, and computes in the others. */
enum doing { COMPUTE, NO_CPU, SLEEP, LOCK, IO, TURNS, DOINGS };

static const char *const doing_name[DOINGS] = {
	"compute", "no-cpu", "sleep", "lock", "io", "turns"
};

enum priority { RIVAL = 9, HELPER = 7, WAKER = 5, TEAM = 3 };

static struct {
	pthread_mutex_t lock, held;
	pthread_cond_t cond;
	sem_t sem;
	uint32_t asked, flag, word; /* rounds */
	uint32_t rival, rivalled; /* rounds: the rival should take the CPU, and has taken it */
	uint32_t hold, has; /* rounds in which the owner should take `held`, and has taken it */
	uint32_t feed;
	uint32_t ready; /* number of running threads outside of the team */
} * shared;

static enum means means;
static enum doing doing;
static uint32_t rounds = 20;
static pthread_barrier_t barrier;
static int ends[2], feed[2], poller = -1; /* the late thread's end and the waker's end */

static void known_as(const char *name, int priority)
{
	struct sched_param p = { .sched_priority = priority };

	prctl(PR_SET_NAME, name);
	exact_timers();
	printf("# %s %d\n", name, thread_id());
	fflush(stdout);
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("sched_setscheduler: %s", strerror(errno));
	if (priority != TEAM)
		word_add(&shared->ready, 1);
}

static void compute(uint64_t ns)
{
	uint64_t until = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < until)
		;
}

static void put(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		die("write: %s", strerror(errno));
}

static void get(int fd)
{
	uint64_t one;

	if (read(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		die("read: %s", strerror(errno));
}

/* --- helpers of the waker --------------------------------------------------------------------- */

static void *rival(void *arg)
{
	pin_to_last(); /* the waker and its rival share a CPU */
	known_as("rival", RIVAL);
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&shared->rival, n);
		compute(LONG_NS);
		__atomic_store_n(&shared->rivalled, n, __ATOMIC_RELEASE);
	}
	return arg;
}

static void *owner(void *arg)
{
	known_as("owner", HELPER);
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&shared->hold, n);
		pthread_mutex_lock(&shared->held);
		word_set(&shared->has, n);
		sleep_ns(LONG_NS);
		pthread_mutex_unlock(&shared->held);
	}
	return arg;
}

static void *feeder(void *arg)
{
	known_as("feeder", HELPER);
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&shared->feed, n);
		sleep_ns(LONG_NS);
		put(feed[1]);
	}
	return arg;
}

/* --- the waker -------------------------------------------------------------------------------- */

static void do_it(uint32_t n)
{
	switch (doing) {
	case COMPUTE:
		compute(LONG_NS);
		break;
	case NO_CPU:
		word_set(&shared->rival, n);
		while (__atomic_load_n(&shared->rivalled, __ATOMIC_ACQUIRE) < n)
			;
		break;
	case SLEEP:
		sleep_ns(LONG_NS);
		break;
	case TURNS:
		if (n % 2)
			compute(LONG_NS);
		else
			sleep_ns(LONG_NS);
		break;
	case LOCK:
		word_set(&shared->hold, n);
		word_wait(&shared->has, n);
		pthread_mutex_lock(&shared->held);
		pthread_mutex_unlock(&shared->held);
		break;
	default:
		word_set(&shared->feed, n);
		get(feed[0]);
		break;
	}
}

static void wake(uint32_t n)
{
	switch (means) {
	case COND:
	case TIMED:
		pthread_mutex_lock(&shared->lock);
		shared->flag = n;
		pthread_cond_signal(&shared->cond);
		pthread_mutex_unlock(&shared->lock);
		break;
	case SEM:
		sem_post(&shared->sem);
		break;
	case FUTEX:
		word_set(&shared->word, n);
		break;
	default:
		put(ends[1]);
		break;
	}
}

static void *waker(void *arg)
{
	pin_to_last(); /* the waker and its rival share a CPU */
	known_as("waker", WAKER);
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&shared->asked, n);
		sleep_ns(ASKED);
		do_it(n);
		wake(n);
	}
	return arg;
}

/* --- the team --------------------------------------------------------------------------------- */

static void wait_for_flag(uint32_t n)
{
	struct timespec until;

	pthread_mutex_lock(&shared->lock);
	while (shared->flag < n) {
		if (means == COND) {
			pthread_cond_wait(&shared->cond, &shared->lock);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)TRY_NS;
		if (until.tv_nsec >= (long)NSEC_PER_SEC) {
			until.tv_nsec -= (long)NSEC_PER_SEC;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&shared->cond, &shared->lock, &until);
	}
	pthread_mutex_unlock(&shared->lock);
}

static void wait_for_waker(uint32_t n)
{
	struct pollfd polled = { .fd = ends[0], .events = POLLIN };
	struct epoll_event event;

	switch (means) {
	case COND:
	case TIMED:
		wait_for_flag(n);
		return;
	case SEM:
		while (sem_wait(&shared->sem))
			;
		return;
	case FUTEX:
		word_wait(&shared->word, n);
		return;
	case POLL:
		if (poll(&polled, 1, -1) != 1)
			die("poll: %s", strerror(errno));
		break;
	case POLL_TIMED:
		while (poll(&polled, 1, (int)(TRY_NS / MS)) != 1)
			;
		break;
	case EPOLL:
		if (epoll_wait(poller, &event, 1, -1) != 1)
			die("epoll_wait: %s", strerror(errno));
		break;
	default:
		break;
	}
	get(ends[0]);
}

static void *team(void *arg)
{
	known_as(arg ? "late" : "early", TEAM);
	for (uint32_t n = 1; n <= rounds; n++) {
		if (arg) {
			word_set(&shared->asked, n);
			wait_for_waker(n);
		}
		serial(pthread_barrier_wait(&barrier));
	}
	return NULL;
}

/* --- setting up ------------------------------------------------------------------------------- */

static void make_shared(void)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	must(pthread_mutex_init(&shared->lock, &mutex), "pthread_mutex_init");
	must(pthread_mutex_init(&shared->held, &mutex), "pthread_mutex_init");
	must(pthread_cond_init(&shared->cond, &cond), "pthread_cond_init");
	if (sem_init(&shared->sem, 1, 0))
		die("sem_init: %s", strerror(errno));
}

/*
 * Connect the two ends through a listening socket, which is bound to @address. The kernel fills in
 * the rest of the address.
 */
static void connect_ends(struct sockaddr *address, socklen_t size)
{
	int listener = socket(address->sa_family, SOCK_STREAM, 0), one = 1;
	/* Bind to an address that the kernel chooses. */
	int bound = listener < 0 ? -1 : bind(listener, address, size);

	size = address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					     : sizeof(struct sockaddr_un);
	if (bound || listen(listener, 1) || getsockname(listener, address, &size))
		die("socket: %s", strerror(errno));
	ends[1] = socket(address->sa_family, SOCK_STREAM, 0);
	if (ends[1] < 0 || connect(ends[1], address, size))
		die("connect: %s", strerror(errno));
	ends[0] = accept(listener, NULL, NULL);
	if (ends[0] < 0)
		die("accept: %s", strerror(errno));
	if (address->sa_family == AF_INET)
		setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void make_ends(void)
{
	struct sockaddr_in inet = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN };

	switch (means) {
	case EVENTFD:
		ends[0] = ends[1] = eventfd(0, 0);
		break;
	case PIPE:
	case POLL:
	case POLL_TIMED:
	case EPOLL:
		if (pipe(ends))
			die("pipe: %s", strerror(errno));
		break;
	case PAIR:
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			die("socketpair: %s", strerror(errno));
		break;
	case UNIX:
		/*
		 * The socket has no name in the file system. The kernel chooses an abstract name.
		 */
		connect_ends((struct sockaddr *)&local, sizeof(sa_family_t));
		break;
	case TCP:
		connect_ends((struct sockaddr *)&inet, sizeof(inet));
		break;
	default:
		break;
	}
	if (means == EPOLL) {
		poller = epoll_create1(0);
		if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event))
			die("epoll: %s", strerror(errno));
	}
	if (pipe(feed))
		die("pipe: %s", strerror(errno));
}

static void parse(int argc, char **argv, int *apart)
{
	if (argc < 3)
		die("usage: waker MEANS DOING [thread|process] [ROUNDS]");
	while (means < MEANS && strcmp(argv[1], means_name[means]))
		means++;
	while (doing < DOINGS && strcmp(argv[2], doing_name[doing]))
		doing++;
	if (means == MEANS || doing == DOINGS)
		die("no such means or doing: %s %s", argv[1], argv[2]);
	*apart = argc > 3 && !strcmp(argv[3], "process");
	if (argc > 4)
		rounds = (uint32_t)parse_u64("rounds", argv[4], 1, 100000);
}

static pthread_t start(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, function, arg), "pthread_create");
	return thread;
}

int main(int argc, char **argv)
{
	static void *(*const helpers[DOINGS])(
		void *) = { [NO_CPU] = rival, [LOCK] = owner, [IO] = feeder };
	pthread_t thread[4];
	pid_t child = 0;
	uint32_t n = 0;
	int apart;

	parse(argc, argv, &apart);
	stopgap(STOPGAP_SECONDS);
	make_shared();
	make_ends();
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	child = apart ? fork() : 0;
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		if (apart)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (helpers[doing])
			thread[n++] = start(helpers[doing], NULL);
		thread[n++] = start(waker, NULL);
	}
	if (!apart || child) {
		/* Wait for the helpers, so that the first phase is like the others. */
		word_wait(&shared->ready, helpers[doing] ? 2 : 1);
		thread[n++] = start(team, NULL);
		thread[n++] = start(team, argv);
	}
	while (n)
		must(pthread_join(thread[--n], NULL), "pthread_join");
	if (child)
		waitpid(child, NULL, 0);
	return 0;
}
