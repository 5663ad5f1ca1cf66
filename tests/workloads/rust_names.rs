// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers in Rust functions with names of all kinds: a closure, a method of a generic trait, and a
// plain function in a module. The first thread is always late. Prints the number of rounds.
use std::sync::{Arc, Barrier};
use std::time::Duration;

mod phases {
    pub trait Meet<T> {
        fn meet(&self, with: T);
    }

    pub struct Team(pub std::sync::Barrier);

    impl Meet<u32> for Team {
        #[inline(never)]
        fn meet(&self, with: u32) {
            self.0.wait();
            std::hint::black_box(with);
        }
    }

    #[inline(never)]
    pub fn plain(barrier: &std::sync::Barrier) {
        barrier.wait();
        std::hint::black_box(0);
    }
}

use phases::Meet;

#[inline(never)]
fn call(function: &dyn Fn(&Barrier), barrier: &Barrier) {
    function(barrier);
    std::hint::black_box(0);
}

fn main() {
    let rounds = 20;
    let team = Arc::new(phases::Team(Barrier::new(3)));
    let threads: Vec<_> = (0..3)
        .map(|i| {
            let team = team.clone();
            std::thread::spawn(move || {
                for k in 0..rounds {
                    if i == 0 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    let closure = |barrier: &Barrier| {
                        barrier.wait();
                        std::hint::black_box(k);
                    };
                    call(&closure, &team.0);
                    team.meet(k);
                    phases::plain(&team.0);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("rounds {}", rounds);
}
