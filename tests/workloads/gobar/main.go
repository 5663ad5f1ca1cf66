// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors

// Two goroutines, each locked to a thread, cross a barrier through cgo. Between crossings
// their stacks grow and are copied, which a return probe in a Go function would not survive.
//
// Known answer: 300 episodes of 2 threads at cross() in C. With --wait-start it first reads a line.
package main

/*
#cgo CFLAGS: -O2 -g -fno-omit-frame-pointer -pthread -Wall -Wextra -Werror
#cgo LDFLAGS: -pthread
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static int make(unsigned int count)
{
	alarm(60);
	return pthread_barrier_init(&barrier, NULL, count);
}

__attribute__((noinline)) static int cross(void)
{
	int rc = pthread_barrier_wait(&barrier);

	__asm__ volatile("" : "+r"(rc));
	return rc;
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	threads = 2
	rounds  = 300
)

//go:noinline
func grow(depth int) int {
	var frame [256]int

	for i := range frame {
		frame[i] = depth + i
	}
	if depth == 0 {
		return frame[255]
	}
	return grow(depth-1) + frame[depth%256]
}

func crossFromDeep(depth int) C.int {
	if depth > 0 {
		var frame [64]int

		frame[depth%64] = depth
		return crossFromDeep(depth-1) + C.int(frame[(depth+1)%64])
	}
	return C.cross()
}

func main() {
	var (
		team    sync.WaitGroup
		serials int32
		sink    int64
	)

	if len(os.Args) > 1 && os.Args[1] == "--wait-start" {
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	if C.make(threads) != 0 {
		fmt.Println("gobar: no barrier")
		os.Exit(1)
	}
	for t := 0; t < threads; t++ {
		team.Add(1)
		go func() {
			defer team.Done()
			runtime.LockOSThread()
			for r := 0; r < rounds; r++ {
				// A new goroutine starts with a small stack and has to grow it.
				done := make(chan int)
				go func() { done <- grow(r % 100) }()
				atomic.AddInt64(&sink, int64(<-done))
				if crossFromDeep(r%50) != 0 {
					atomic.AddInt32(&serials, 1)
				}
				if r%50 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	team.Wait()
	if serials != rounds {
		fmt.Printf("gobar: %d episodes\n", serials)
		os.Exit(1)
	}
	fmt.Printf("gobar: rounds=%d threads=%d ok\n", rounds, threads)
}
