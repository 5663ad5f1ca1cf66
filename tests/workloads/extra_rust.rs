// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// extra_rust LATE THREADS ROUNDS: extra.c in Rust, with std::sync::Barrier.
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;

#[repr(C)]
struct Timespec {
    sec: i64,
    nsec: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, t: *mut Timespec) -> i32;
}

fn cpu_ns() -> u64 {
    let mut t = Timespec { sec: 0, nsec: 0 };
    // 3 is CLOCK_THREAD_CPUTIME_ID.
    unsafe { clock_gettime(3, &mut t) };
    t.sec as u64 * 1_000_000_000 + t.nsec as u64
}

#[inline(never)]
fn extra_work(cells: &mut [f64]) -> f64 {
    for _ in 0..3000 {
        for c in cells.iter_mut() {
            *c = *c / 1.0000001 + 0.3;
        }
    }
    cells[0]
}

#[inline(never)]
fn common_work(cells: &mut [f64]) -> f64 {
    (0..3000).map(|_| cells.iter_mut().map(|c| { *c = *c * 0.5 + 0.1; *c }).sum::<f64>()).sum()
}

fn main() {
    let arg = |i: usize, usual: i64| {
        std::env::args().nth(i).and_then(|a| a.parse::<i64>().ok()).unwrap_or(usual)
    };
    let (late, n, rounds) = (arg(1, 1), arg(2, 2), arg(3, 60));
    let all = Arc::new(Barrier::new(n as usize));
    let threads: Vec<_> = (0..n)
        .map(|k| {
            let all = all.clone();
            thread::spawn(move || {
                let mut cells = vec![1.0; 1000];
                let (mut extra, mut whole) = (0, 0);
                for _ in 0..rounds {
                    let begin = cpu_ns();
                    black_box(common_work(&mut cells));
                    let middle = cpu_ns();
                    let mut end = middle;
                    if k == late {
                        black_box(extra_work(&mut cells));
                        end = cpu_ns();
                    }
                    extra += end - middle;
                    whole += end - begin;
                    all.wait();
                }
                (extra, whole)
            })
        })
        .collect();
    for (k, t) in threads.into_iter().enumerate() {
        let (extra, whole) = t.join().unwrap();
        if k as i64 == late {
            println!("{} {}", extra, whole);
        }
    }
}
