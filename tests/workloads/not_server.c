// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A web server under load, all in one process: main accepts and queues, THREADS workers answer, and
// THREADS clients send ROUNDS requests each over the loopback, with one connection per request.
#include "not.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#define BACKLOG 256

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int queue[BACKLOG];
static uint32_t head, tail;
static int closed;
static uint64_t answered, received;
static struct sockaddr_in address;

static void push(int fd)
{
	pthread_mutex_lock(&mutex);
	queue[head++ % BACKLOG] = fd;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&mutex);
}

static int pop(void)
{
	int fd = -1;

	pthread_mutex_lock(&mutex);
	while (head == tail && !closed)
		pthread_cond_wait(&arrived, &mutex);
	if (head != tail)
		fd = queue[tail++ % BACKLOG];
	pthread_mutex_unlock(&mutex);
	return fd;
}

static void *worker(void *arg)
{
	static const char answer[] = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	char request[512];
	int fd;

	while ((fd = pop()) >= 0) {
		if (read(fd, request, sizeof(request)) > 0) {
			work_us((uintptr_t)arg + answered, 50);
			if (write(fd, answer, sizeof(answer) - 1) > 0)
				__atomic_fetch_add(&answered, 1, __ATOMIC_RELAXED);
		}
		close(fd);
	}
	return NULL;
}

static void *client(void *arg)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	char answer[512];

	for (uint32_t i = 0; i < rounds; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
			die("not_server: connect: %s", strerror(errno));
		if (write(fd, request, sizeof(request) - 1) > 0 &&
		    read(fd, answer, sizeof(answer)) > 0)
			__atomic_fetch_add(&received, 1, __ATOMIC_RELAXED);
		close(fd);
	}
	return arg;
}

int main(int argc, char **argv)
{
	socklen_t size = sizeof(address);
	pthread_t *workers, *clients;
	uint64_t requests;
	int listener;

	parse_arguments(argc, argv);
	requests = (uint64_t)thread_count * rounds;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 128) || getsockname(listener, (struct sockaddr *)&address, &size))
		die("not_server: %s", strerror(errno));
	workers = start_threads(thread_count, worker);
	clients = start_threads(thread_count, client);
	for (uint64_t i = 0; i < requests; i++) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			die("not_server: accept: %s", strerror(errno));
		push(fd);
	}
	join_threads(clients, thread_count);
	pthread_mutex_lock(&mutex);
	closed = 1;
	pthread_cond_broadcast(&arrived);
	pthread_mutex_unlock(&mutex);
	join_threads(workers, thread_count);
	close(listener);
	return report("not_server", "answers", received, requests);
}
