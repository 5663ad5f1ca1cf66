// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors

// Goroutines that wait for each other. "barriers": a WaitGroup, a group that returns the first error, as errgroup does, and
// barriers of a condition variable, of channels, and of goroutines that are locked to threads. "others": a pool of workers, a
// contended mutex, garbage collection, timers, and connections. With --wait-start it first prints a line and reads one.
// "exec PATH [ARGUMENT...]" executes another program, as launchers of containers do.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	team   = 4
	rounds = 60
)

type barrier struct {
	mutex   sync.Mutex
	changed *sync.Cond
	arrived int
	round   int
}

func newBarrier() *barrier {
	b := &barrier{}
	b.changed = sync.NewCond(&b.mutex)
	return b
}

func (b *barrier) wait() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	round := b.round
	b.arrived++
	if b.arrived == team {
		b.arrived = 0
		b.round++
		b.changed.Broadcast()
		return
	}
	for round == b.round {
		b.changed.Wait()
	}
}

// The first error of several functions that run at once.
type group struct {
	running sync.WaitGroup
	once    sync.Once
	err     error
}

func (g *group) start(f func() error) {
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	}()
}

func (g *group) wait() error {
	g.running.Wait()
	return g.err
}

// Run f in a team of goroutines, and wait for all of them without a WaitGroup.
func inTeam(f func(member int)) {
	done := make(chan bool)
	for i := 0; i < team; i++ {
		go func(member int) {
			f(member)
			done <- true
		}(i)
	}
	for i := 0; i < team; i++ {
		<-done
	}
}

func pause(member int) {
	time.Sleep(time.Duration(member) * 200 * time.Microsecond)
}

func waitGroups() {
	for r := 0; r < rounds; r++ {
		var running sync.WaitGroup
		for i := 0; i < team; i++ {
			running.Add(1)
			go func(member int) {
				defer running.Done()
				pause(member)
			}(i)
		}
		running.Wait()
	}
}

func errorGroups() {
	for r := 0; r < rounds; r++ {
		var g group
		for i := 0; i < team; i++ {
			member := i
			g.start(func() error { pause(member); return nil })
		}
		if g.wait() != nil {
			os.Exit(1)
		}
	}
}

func conditions(locked bool) {
	b := newBarrier()
	inTeam(func(member int) {
		if locked {
			runtime.LockOSThread()
		}
		for r := 0; r < rounds; r++ {
			pause(member)
			b.wait()
		}
	})
}

func channels() {
	arrive := make(chan int)
	var release [team]chan bool
	for i := range release {
		release[i] = make(chan bool)
	}
	go func() {
		for {
			for range release {
				<-arrive
			}
			for i := range release {
				release[i] <- true
			}
		}
	}()
	inTeam(func(member int) {
		for r := 0; r < rounds; r++ {
			pause(member)
			arrive <- member
			<-release[member]
		}
	})
}

func pool() {
	tasks, results := make(chan int, team), make(chan int)
	for i := 0; i < team; i++ {
		go func() {
			for n := range tasks {
				sum := 0
				for k := 0; k < n%10000; k++ {
					sum += k
				}
				results <- sum
			}
		}()
	}
	go func() {
		for n := 0; n < 5000; n++ {
			tasks <- n
		}
		close(tasks)
	}()
	for n := 0; n < 5000; n++ {
		<-results
	}
}

func contended() {
	var mutex sync.Mutex
	count := 0
	inTeam(func(int) {
		for i := 0; i < 50000; i++ {
			mutex.Lock()
			count++
			mutex.Unlock()
		}
	})
}

type node struct{ left, right *node }

func grow(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{grow(depth - 1), grow(depth - 1)}
}

func garbage() {
	inTeam(func(int) {
		for i := 0; i < 5; i++ {
			runtime.KeepAlive(grow(14))
		}
	})
	for i := 0; i < 5; i++ {
		runtime.GC()
	}
}

func timers() {
	inTeam(func(member int) {
		for i := 0; i < 30; i++ {
			time.Sleep(time.Duration(1+member%2) * time.Millisecond)
		}
	})
}

func connections() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go io.Copy(c, c)
		}
	}()
	inTeam(func(int) {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		defer c.Close()
		data := make([]byte, 100)
		for i := 0; i < 300; i++ {
			c.Write(data)
			io.ReadFull(c, data)
		}
	})
	listener.Close()
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "exec" {
		panic(syscall.Exec(os.Args[2], os.Args[2:], os.Environ()))
	}
	time.AfterFunc(time.Minute, func() { os.Exit(1) })
	if len(os.Args) > 2 && os.Args[2] == "--wait-start" {
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	if len(os.Args) > 1 && os.Args[1] == "others" {
		pool()
		contended()
		garbage()
		timers()
		connections()
	} else {
		waitGroups()
		errorGroups()
		conditions(false)
		channels()
		conditions(true)
	}
	fmt.Println("go_waits: ok")
}
