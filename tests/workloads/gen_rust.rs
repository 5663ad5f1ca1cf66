// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for Rust's std::sync::Barrier; gen_rust.c has the rest. Each site is a function.
use std::ffi::c_void;
use std::sync::Barrier;

#[no_mangle]
pub extern "C" fn rust_barrier_new(count: u32) -> *mut c_void {
    Box::into_raw(Box::new(Barrier::new(count as usize))) as *mut c_void
}

fn of<'a>(object: *mut c_void) -> &'a Barrier {
    unsafe { &*(object as *const Barrier) }
}

#[no_mangle]
pub extern "C" fn rust_site_0(object: *mut c_void) -> i32 {
    let result = of(object).wait();
    result.is_leader() as i32
}

#[no_mangle]
pub extern "C" fn rust_site_1(object: *mut c_void) -> i32 {
    let result = of(object).wait();
    result.is_leader() as i32
}
