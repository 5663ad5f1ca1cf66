# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
#
# The programs that tests trace, built into $(B)/workloads. They depend on nothing of sbt-trace.
# What needs a compiler that is missing (musl-gcc, go) is left out, with a sentence.

W := $(B)/workloads
W_SRC := tests/workloads
CXX ?= g++
MUSL_GCC ?= musl-gcc
GO ?= go
OBJCOPY ?= objcopy
STRIP ?= strip

# A build-id everywhere, as distributions have it; no CFLAGS of the user's, for the answers to be known.
W_FLAGS := -O2 -g -fno-omit-frame-pointer -pthread -Wall -Wextra -Werror -D_GNU_SOURCE -Wl,--build-id=sha1
W_CC = $(CC) -std=gnu11 $(W_FLAGS)
W_CXX = $(CXX) -std=gnu++17 $(W_FLAGS)
W_MUSL = $(MUSL_GCC) -std=gnu11 $(W_FLAGS)
W_COMMON := $(wildcard $(W_SRC)/*.h) $(W_SRC)/workloads.mk

W_PLAIN := pmm lu cancel_async longjmp_out exec_self fork_children spawn_static churn exit_in_wait inline_site \
	hostile_names early stranger bench_crossing shared_fork
W_CXX_PLAIN := cancel_cxx throw_out
W_DLOPEN := dlopen_lib libbar.so libbaz.so
W_GO := $(if $(shell command -v $(GO) 2>/dev/null),gobar)
W_OLD := gen-oldlib
W_GEN := gen gen-static gen-static-stripped gen-stripped gen-nopie gen-nodebug gen-splitdebug
W_MUSL_GEN := $(if $(shell command -v $(MUSL_GCC) 2>/dev/null),gen-musl gen-musl-static gen-musl-static-stripped)

WORKLOADS := $(W_PLAIN) $(W_CXX_PLAIN) $(W_DLOPEN) $(W_OLD) $(W_GEN) $(W_MUSL_GEN) $(W_GO)

workloads: $(WORKLOADS:%=$(W)/%)
ifeq ($(W_MUSL_GEN),)
	@echo "workloads: gen-musl and its kin are left out, for there is no $(MUSL_GCC)"
endif
ifeq ($(W_GO),)
	@echo "workloads: gobar is left out, for there is no $(GO)"
endif

$(W_PLAIN:%=$(W)/%): $(W)/%: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -o $@ $< -lm

# Unwinding must get from the wait, or from a signal in it, to the C++ caller.
W_UNWIND := -fexceptions -fnon-call-exceptions -fasynchronous-unwind-tables

$(W)/wait.o: $(W_SRC)/wait.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) $(W_UNWIND) -c -o $@ $<

$(W_CXX_PLAIN:%=$(W)/%): $(W)/%: $(W_SRC)/%.cc $(W)/wait.o $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CXX) $(W_UNWIND) -o $@ $< $(W)/wait.o

$(W)/libbar.so $(W)/libbaz.so: $(W)/lib%.so: $(W_SRC)/libbar.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -fPIC -shared -DWAIT_NAME=$*_wait -o $@ $<

$(W)/dlopen_lib: $(W_SRC)/dlopen_lib.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -Wl,-rpath,'$$ORIGIN' -o $@ $< -ldl

# glibc before 2.34: the wait is in a libpthread.so.0, under its old version.
$(W)/old/libpthread.so.0: $(W_SRC)/oldpthread.c $(W_COMMON)
	@mkdir -p $(@D)
	echo 'GLIBC_2.2.5 { global: pthread_barrier_*; local: *; };' > $(@D)/version
	$(W_CC) -fPIC -shared -Wl,-soname,libpthread.so.0 -Wl,--version-script=$(@D)/version -o $@ $<

$(W)/gen-oldlib: $(W_SRC)/gen.c $(W)/old/libpthread.so.0
	$(W_CC) -DGEN_FLAVOUR='"libpthread.so.0"' -Wl,-rpath,'$$ORIGIN/old' -o $@ $^

# No network, and no cache outside the build folder.
$(W)/gobar: $(wildcard $(W_SRC)/gobar/*) $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	cd $(W_SRC)/gobar && CGO_ENABLED=1 GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off \
		GOCACHE=$(abspath $(B))/gocache GOPATH=$(abspath $(B))/gopath $(GO) build -o $(abspath $@) .

# --- the generator, as it may be met in the wild ---------------------------------------------------
$(W)/gen: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"glibc"' -o $@ $<

$(W)/gen-static: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"glibc, static"' -static -o $@ $<

$(W)/gen-musl: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -DGEN_FLAVOUR='"musl"' -o $@ $<

$(W)/gen-musl-static: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -DGEN_FLAVOUR='"musl, static"' -static -o $@ $<

$(W)/gen-stripped: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"stripped"' -o $@ $<
	$(STRIP) --strip-all $@

# No name is left in these: what is in them can only be known by its code.
$(W)/gen-static-stripped $(W)/gen-musl-static-stripped: $(W)/%-stripped: $(W)/%
	$(STRIP) --strip-all -o $@ $<

$(W)/gen-nopie: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"no PIE"' -fno-pie -no-pie -o $@ $<

# A symbol table but no lines.
$(W)/gen-nodebug: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"no debug information"' -g0 -o $@ $<

# Nothing in the program, all in $(W)/debug/.build-id/xx/yyyy.debug, as in a debug package.
$(W)/gen-splitdebug: $(W_SRC)/gen.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"debug information apart"' -o $@ $<
	rm -rf $(W)/debug
	id=$$(readelf -n $@ | sed -n 's/.*Build ID: //p') && \
		file=$(W)/debug/.build-id/$$(echo $$id | cut -c1-2)/$$(echo $$id | cut -c3-).debug && \
		mkdir -p $$(dirname $$file) && $(OBJCOPY) --only-keep-debug $@ $$file
	$(STRIP) --strip-all $@
