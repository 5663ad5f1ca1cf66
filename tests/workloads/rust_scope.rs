// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads of a scope: rust_scope KIND ROUNDS THREADS. In each round a scope creates threads that
// sleep: the first for 4 ms, each next one for 4 ms more. KIND "turns": the late thread changes
// each round. KIND "last": each such scope is followed by another one, at whose end main arrives
// last. Prints, by the program's own clock, how long the threads of the first scopes waited for
// their last thread.
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

fn meet(threads: usize, shift: usize) -> u128 {
    let ends: Vec<Mutex<Option<Instant>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    thread::scope(|s| {
        for i in 0..threads {
            let end = &ends[i];
            s.spawn(move || {
                thread::sleep(Duration::from_millis(4 + 4 * ((i + shift) % threads) as u64));
                *end.lock().unwrap() = Some(Instant::now());
            });
        }
    });
    let ends: Vec<Instant> = ends.iter().map(|e| e.lock().unwrap().unwrap()).collect();
    let last = *ends.iter().max().unwrap();
    ends.iter().map(|e| (last - *e).as_nanos()).sum()
}

fn come_last(threads: usize) {
    thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| thread::sleep(Duration::from_millis(1)));
        }
        thread::sleep(Duration::from_millis(20));
    });
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (rounds, threads) = (args[2].parse().unwrap(), args[3].parse().unwrap());
    let mut waited = 0;
    for round in 0..rounds {
        waited += meet(threads, if args[1] == "turns" { round } else { 0 });
        if args[1] == "last" {
            come_last(threads);
        }
    }
    println!("# waited {waited}");
}
