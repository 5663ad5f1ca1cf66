# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
#
#   make              build/sbt-trace
#   make demo         set up, build, trace the bundled programs, print the reports
#   make check        set up, build, run every test; ends with "N passed, N failed"
#   make check-vm     of these, those in other kernels and on arm64, in virtual machines, with a table of what each has
#   make check-long   what takes too long for make check: 200 runs of each fault (FAULT_RUNS=200), the package in a
#                     Debian of its own; in virtual machines 128 threads on 8 and 16 CPUs, and what is hard, on arm64.
#                     FAULT_SECONDS=40: no more than so long for each fault
#   make bench        the measured figures, as ratios within one run
#   make fuzz         fuzzers, FUZZ_SECONDS each (default 20): make fuzz FUZZ_SECONDS=600
#   make static       build/static/sbt-trace, for machines that lack the libraries
#   make deb          build/deb/sbt-trace_*.deb
#   make install      below PREFIX (/usr/local), in DESTDIR if that is given
#   make clean format lint

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
B := build
Q := $(if $(V),,@)
say = @printf '  %-6s %s\n' $1 $(patsubst $(B)/%,%,$@)

CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
PKGCONF ?= pkg-config
# Another machine than this: make ARCH=aarch64 B=build/arm64 CROSS=aarch64-linux-gnu- SYSROOT=$$(tests/vm/debian.py sysroot arm64)
ARCH := $(shell uname -m)
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
ifneq ($(CROSS),)
CC := $(CROSS)gcc
CXX := $(CROSS)g++
OBJCOPY := $(CROSS)objcopy
STRIP := $(CROSS)strip
endif
MULTIARCH := $(shell $(CC) -print-multiarch)
ifneq ($(SYSROOT),)
CPPFLAGS += -isystem $(SYSROOT)/usr/include
SYSROOT_LIBS := -L$(SYSROOT)/usr/lib/$(MULTIARCH) -Wl,-rpath-link,$(SYSROOT)/usr/lib/$(MULTIARCH):$(SYSROOT)/lib/$(MULTIARCH)
LDFLAGS += $(SYSROOT_LIBS)
endif
# The target's <asm/ptrace.h>, wherever its C compiler keeps it.
BPF_ASM := $(if $(CROSS),/usr/$(MULTIARCH)/include,/usr/include/$(MULTIARCH))

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wformat=2 -Wundef -Wvla -Wno-format-nonliteral
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(B) -DSBT_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
# Found at the start, and never written after it.
LDFLAGS += -Wl,-z,relro,-z,now -Wl,--as-needed
CFLAGS += -std=gnu11 $(WARN) -fno-strict-aliasing -fstack-protector-strong -MMD -MP
COUNTED := -O1 -g1 -fsanitize-coverage=trace-pc
SAN := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# Static where Debian has the archive, so that the user's machine needs less.
BPF_LIBS := -l:libbpf.a
INSN_LIBS := -l:libcapstone.a
# Names of Rust are shown as they are without it.
ifneq ($(wildcard $(SYSROOT)/usr/include/libiberty/demangle.h),)
CPPFLAGS += -DHAVE_LIBIBERTY
INSN_LIBS += -l:libiberty.a
endif
TERM_LIBS := -l:libncursesw.a -l:libtinfo.a
LIBS := $(BPF_LIBS) $(INSN_LIBS) $(TERM_LIBS) -l:libzstd.a -ldw -lelf -lz -lm

# The rooms, in the order in which they may include each other (user/ROOMS).
ROOMS := $(shell sed -n 's/^\([a-z]\+\) .*/\1/p' user/ROOMS)
SRC := $(foreach r,$(ROOMS),$(wildcard user/$(r)/*.c))
OBJ := $(SRC:%.c=$(B)/%.o)

all: $(B)/sbt-trace

# --- for nodes that lack the libraries, the C library too: nothing is loaded as it runs ----------------------
STATIC_LIBS := $(LIBS) -llzma -lbz2 -lzstd -lz -lpthread -ldl
# What would load libraries as it runs.
STATIC_SRC := user/base/plugin.c user/target/users.c
$(B)/static/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DSBT_STATIC -c $< -o $@

$(B)/static/sbt-trace: $(filter-out $(STATIC_SRC:%.c=$(B)/%.o),$(OBJ)) $(STATIC_SRC:%.c=$(B)/static/%.o)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static-pie -Wl,--no-warnings -o $@ $^ $(STATIC_LIBS)

static: $(B)/static/sbt-trace

# --- for distributions, whose packages bring the libraries ------------------------------------------------------
SHARED_LIBS := -lbpf -lcapstone $(filter -l:libiberty.a,$(LIBS)) -lncursesw -ltinfo -lzstd -ldw -lelf -lz -lm
$(B)/shared/sbt-trace: $(OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(SHARED_LIBS)

shared: $(B)/shared/sbt-trace

# --- BPF: one object after linking, embedded through a skeleton -------------------------------
# regs stands alone: it serves where nothing is traced.
BPF_SRC := $(filter-out bpf/regs.bpf.c,$(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(B)/%.o)
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -I$(BPF_ASM) -Iinclude -Ibpf \
	-Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-declarations

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard include/sbt/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

# The verifier adds up the frames of on_switch and of what it calls, 512 bytes in all, and kernels up to 6.1 refuse it with
# more than these of its own: causes would be gone there, which only the virtual machines would tell.
$(B)/bpf/account.bpf.o: BPF_CFLAGS += -Wframe-larger-than=192

$(B)/bpf/sbt.bpf.o: $(BPF_OBJ)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(B)/sbt.skel.h: $(B)/bpf/sbt.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name sbt_bpf > $@.tmp && mv $@.tmp $@

$(B)/regs.skel.h: $(B)/bpf/regs.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name regs_bpf > $@.tmp && mv $@.tmp $@

# Some files of attach/ know the programs: which, is in their .d files once they are compiled; before that, all wait.
ATTACH := $(patsubst %.c,%.o,$(wildcard user/attach/*.c))
$(ATTACH:%=$(B)/%) $(ATTACH:%=$(B)/san/%): | $(B)/sbt.skel.h $(B)/regs.skel.h

# --- the charting library of HTML reports: fetched by npm; empty where it is not to be had, and asked for again ----
CHART := uplot@1.6.32
CHART_SHA256 := 4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d
CPPFLAGS += -DHTML_CHART='"$(B)/html/"'
$(B)/html/chart.js: $(if $(shell test -s $(B)/html/chart.js && echo there),,again)
	@scripts/chart $(CHART) $(CHART_SHA256) $(@D)

$(B)/user/emit/html_assets.o $(B)/san/user/emit/html_assets.o: $(B)/html/chart.js $(wildcard user/emit/html/*)

# --- user space ---------------------------------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(B)/sbt-trace: $(OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- unit tests: user-space code under the sanitizers, no root ------------------------------------
# A test named test_ROOM_*.c is of that room. All link the pure rooms, and of the others only what calls nothing of libbpf either.
PURE := $(shell sed -n 's/^\([a-z]\+\) *pure .*/\1/p' user/ROOMS)
PURE_SRC := $(foreach r,$(PURE),$(wildcard user/$(r)/*.c)) $(wildcard user/attach/event*.c) \
	$(patsubst %,user/%.c,attach/sample attach/probe_sites attach/mappings attach/copies ingest/ring ingest/merge_order ingest/departures \
	hang/hang hang/hang_fill hang/hang_graph hang/hang_need hang/hang_text) $(wildcard user/top/live_rates*.c user/top/screen*.c) \
	$(filter-out user/doctor/doctor_try.c user/doctor/doctor_examine.c,$(wildcard user/doctor/doctor*.c)) $(wildcard user/cmd/option*.c) \
	user/cmd/command_text.c user/cmd/nearest.c user/cmd/pager.c
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)

$(B)/san/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCSAN)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -c $< -o $@

$(B)/counted/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCCOUNT)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(COUNTED) -c $< -o $@

define pure_lib
$(B)/$(1)/pure.a: $(patsubst %.c,$(B)/$(1)/%.o,$(2))
	@rm -f $$@; $(AR) rcs $$@ $$^
endef
$(eval $(call pure_lib,.,$(PURE_SRC)))
$(eval $(call pure_lib,san,$(PURE_SRC)))
$(eval $(call pure_lib,counted,$(wildcard user/base/*.c user/sites/family.c user/model/*.c user/analyse/*.c)))

# A test or an observer need not use all that it is handed, and a row of a table need not name its last fields.
$(B)/san/tests/unit/%.o $(B)/counted/tests/unit/%.o: CFLAGS += -Wno-unused-parameter -Wno-missing-field-initializers

# Tests of how work grows have their code count it, in place of the sanitizers.
counts = $(filter test_analyse_many,$1)

comma := ,

define unit_test
$(B)/unit/$(1): $(patsubst %,$(B)/$(if $(call counts,$1),counted,san)/%,tests/unit/$(1).o pure.a)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $(if $(call counts,$1),$$(COUNTED) -Wl$$(comma)--wrap=memcpy$$(comma)--wrap=memmove,$$(SAN)) -o $$@ $$^ $$(INSN_LIBS) -lcmocka -ljansson -ldw -lelf -l:libzstd.a -lz -lm
endef
$(foreach t,$(UNIT_SRC:tests/unit/%.c=%),$(eval $(call unit_test,$(t))))

unit: $(UNIT_BIN)

# --- the whole program under the sanitizers, for make check-long ----------------------------------
$(B)/san/sbt-trace: $(SRC:%.c=$(B)/san/%.o)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- fuzzers: what each is made of stands in its file; tests/fuzz/run has the rest -----------------
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_SAN := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
fuzz_says = $(shell sed -n 's,^// fuzz-$2:,,p' $1)

define fuzz_target
$(B)/fuzz/$(1)/obj/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,CCFUZZ)
	$$(Q)$$(CLANG) -std=gnu11 -O1 -g $$(CPPFLAGS) -MMD -MP -fno-omit-frame-pointer $$(FUZZ_SAN) \
		$(call fuzz_says,tests/fuzz/fuzz_$(1).c,flags) -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -c $$< -o $$@

$(B)/fuzz/$(1)/fuzz: $(patsubst %.c,$(B)/fuzz/$(1)/obj/%.o,tests/fuzz/fuzz_$(1).c \
		$(wildcard $(call fuzz_says,tests/fuzz/fuzz_$(1).c,sources)))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CLANG) $$(FUZZ_SAN) -o $$@ $$^ $(call fuzz_says,tests/fuzz/fuzz_$(1).c,libs)
endef
$(foreach t,$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%),$(eval $(call fuzz_target,$(t))))

# What stands in for the charting library: without it the page is not written.
$(B)/fuzz/chart/chart.js:
	@mkdir -p $(@D)
	$(Q)for file in chart.css LICENSE chart.js; do echo '//' >$(@D)/$$file; done
$(B)/fuzz/recording/obj/user/emit/html_assets.o: $(B)/fuzz/chart/chart.js

fuzz-programs: $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/fuzz/%/fuzz)

# The same sources as the unit tests have them, for inputs that are kept: no second build of all of them every day. What
# differs where there is fuzzing is built once more.
FUZZ_OWN := $(shell grep -l FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION user/*/*.c) user/emit/html_assets.c
kept_objects = $(patsubst %.c,$(B)/kept/obj/%.o,$(filter $(FUZZ_OWN),$1)) $(patsubst %.c,$(B)/san/%.o,$(filter-out $(FUZZ_OWN),$1))

$(B)/kept/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCSAN)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
		-UHTML_CHART -DHTML_CHART='"$(B)/fuzz/chart/"' -c $< -o $@
$(B)/kept/obj/user/emit/html_assets.o: $(B)/fuzz/chart/chart.js

define kept_target
$(B)/kept/$(1): $(call kept_objects,tests/fuzz/fuzz_$(1).c tests/fuzz/kept.c \
		$(wildcard $(call fuzz_says,tests/fuzz/fuzz_$(1).c,sources)))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(SAN) -o $$@ $$^ $(call fuzz_says,tests/fuzz/fuzz_$(1).c,libs)
endef
$(foreach t,$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%),$(eval $(call kept_target,$(t))))

kept-programs: $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/kept/%)

# --- workloads -------------------------------------------------------------------------------------
WORKLOADS_MK := tests/workloads/workloads.mk
-include $(WORKLOADS_MK)

# --- benchmarks: programs that only they need -------------------------------------------------------
$(B)/bench/empty.bpf.o: tests/bench/empty.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/bench/bench_empty: $(B)/tests/bench/bench_empty.o $(B)/user/attach/link.o $(B)/user/attach/uninterruptible.o $(filter $(B)/user/elf/elf%,$(OBJ)) \
		$(B)/user/elf/insn.o $(B)/user/base/text.o $(B)/user/base/msg.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bench/bench_model: $(B)/tests/bench/bench_model.o $(B)/./pure.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(B)/bench/bench_streams: $(B)/tests/bench/bench_streams.o $(B)/user/ingest/ring.o $(B)/user/ingest/merge_order.o $(B)/./pure.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(B)/bench/bench_predict: $(B)/tests/bench/bench_predict.o $(B)/./pure.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

# --- a run made up, for tests of the pictures -------------------------------------------------------------
$(B)/pictures/made: $(B)/tests/pictures/made.o $(B)/./pure.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

picture-programs: $(B)/pictures/made

bench-programs: $(B)/bench/empty.bpf.o $(B)/bench/bench_empty $(B)/bench/bench_model $(B)/bench/bench_streams \
	$(B)/bench/bench_predict

# --- commands ----------------------------------------------------------------------------------------
setup:
	@scripts/setup build

# A newcomer's first sight: no line of each compiler run, unless the build fails.
demo: setup
	@mkdir -p $(B)
	@printf 'Building sbt-trace ... '
	@$(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) all $(B)/workloads/lu >$(B)/demo-build.log 2>&1 || \
		{ echo failed; cat $(B)/demo-build.log; exit 1; }
	@echo done
	@scripts/demo

check:
	scripts/setup check
	$(MAKE) -j$(shell nproc) all static workloads
	$(MAKE) deb
	scripts/check --machines
	$(MAKE) picture-programs unit kept-programs bench-programs
	scripts/check

# What a change can have affected, in three minutes.
check-quick:
	scripts/check-quick $(SINCE)

check-packages:
	scripts/setup check
	$(MAKE) all static deb $(B)/workloads/gen-static $(B)/workloads/gen_std
	tests/packages/run.py --root

check-vm:
	scripts/setup check
	$(MAKE) all workloads
	scripts/check-vm

check-long:
	scripts/setup check
	$(MAKE) all static deb workloads $(B)/san/sbt-trace
	scripts/check --long

bench:
	scripts/setup check
	-scripts/setup bench
	$(MAKE) all workloads bench-programs
	tests/bench/run.py

lint:
	scripts/setup lint
	$(MAKE) $(B)/sbt.skel.h $(B)/regs.skel.h
	scripts/lint

format:
	clang-format -i $(SRC) $(wildcard user/*/*.h include/sbt/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tests/workloads/*.[ch])

fuzz:
	scripts/setup check
	$(MAKE) fuzz-programs
	tests/fuzz/run

install install-shared: PROGRAM = $(B)/sbt-trace
install-shared: PROGRAM = $(B)/shared/sbt-trace
install: all
install-shared: shared
install install-shared:
	install -D -m 755 $(PROGRAM) "$(DESTDIR)$(PREFIX)/bin/sbt-trace"
	install -D -m 644 include/sbt/sbt.h "$(DESTDIR)$(PREFIX)/include/sbt/sbt.h"
	install -D -m 644 include/sbt/sbt_barrier.h "$(DESTDIR)$(PREFIX)/include/sbt/sbt_barrier.h"
	install -D -m 644 man/sbt-trace.1 "$(DESTDIR)$(PREFIX)/share/man/man1/sbt-trace.1"
	install -D -m 644 man/sbt-trace-predict.1 "$(DESTDIR)$(PREFIX)/share/man/man1/sbt-trace-predict.1"
	install -D -m 644 man/sbt-trace-recording.5 "$(DESTDIR)$(PREFIX)/share/man/man5/sbt-trace-recording.5"
	install -D -m 644 scripts/completion.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sbt-trace"
	install -d "$(DESTDIR)$(PREFIX)/share/pkgconfig"
	sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),' packaging/sbt.pc.in >"$(DESTDIR)$(PREFIX)/share/pkgconfig/sbt.pc"
	chmod 644 "$(DESTDIR)$(PREFIX)/share/pkgconfig/sbt.pc"

deb:
	scripts/setup package
	$(MAKE) shared
	packaging/deb $(B) $(VERSION)

clean:
	rm -rf $(B)

-include $(OBJ:.o=.d) $(B)/tests/pictures/made.d $(wildcard $(B)/tests/bench/*.d) $(patsubst %.c,$(B)/san/%.d,$(SRC) $(UNIT_SRC))
-include $(wildcard $(B)/counted/*/*/*.d)
-include $(wildcard $(B)/fuzz/*/obj/user/*/*.d $(B)/fuzz/*/obj/tests/fuzz/*.d $(B)/kept/obj/*/*/*.d $(B)/san/tests/fuzz/*.d)

.DELETE_ON_ERROR:
.PHONY: all static shared install-shared deb setup demo check check-quick check-long check-packages check-vm bench lint format fuzz install clean unit workloads bench-programs fuzz-programs kept-programs picture-programs again
