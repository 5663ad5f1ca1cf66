# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
#
#   make              build/sbt-trace
#   make demo         set up, build, trace the bundled programs, print the reports
#   make check        set up, build, run every test; ends with "N passed, N failed"
#   make bench        the measured figures, as ratios within one run
#   make install clean format lint fuzz

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
ARCH := $(shell uname -m)
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wformat=2 -Wundef -Wvla -Wno-format-nonliteral
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(B) -DSBT_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 $(WARN) -fno-strict-aliasing -fstack-protector-strong -MMD -MP
SAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# Static where Debian has the archive, so that the user's machine needs less.
BPF_LIBS := -l:libbpf.a
INSN_LIBS := -l:libcapstone.a
LIBS := $(BPF_LIBS) $(INSN_LIBS) -ldw -lelf -lz -lm

# The rooms, in the order that data passes them.
ROOMS := base target sites attach stream model analyse emit cmd
SRC := $(foreach r,$(ROOMS),$(wildcard user/$(r)/*.c))
OBJ := $(SRC:%.c=$(B)/%.o)

all: $(B)/sbt-trace

# --- BPF: one object after linking, embedded through a skeleton -------------------------------
BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:%.c=$(B)/%.o)
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -I/usr/include/$(shell $(CC) -print-multiarch) -Iinclude -Ibpf \
	-Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-declarations

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) include/sbt/record.h
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/bpf/sbt.bpf.o: $(BPF_OBJ)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(B)/sbt.skel.h: $(B)/bpf/sbt.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name sbt_bpf > $@.tmp && mv $@.tmp $@

$(B)/user/attach/attach.o: $(B)/sbt.skel.h

# --- user space ---------------------------------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(B)/sbt-trace: $(OBJ)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- unit tests: user-space code under the sanitizers, no root ------------------------------------
# A test named test_ROOM_*.c links that room and those before it; attach and cmd have none.
PURE := base target sites model analyse emit
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
rooms_upto = $(if $(filter base,$1),base,$(if $(filter target,$1),target base,$(if $(filter sites,$1),sites target \
	base,$(if $(filter model,$1),model base,$(if $(filter analyse,$1),analyse model base,emit analyse model base)))))
unit_room = $(word 2,$(subst _, ,$(notdir $1)))

$(B)/san/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CCSAN)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -c $< -o $@

define san_lib
$(B)/san/$(1).a: $$(patsubst %.c,$(B)/san/%.o,$$(wildcard user/$(1)/*.c))
	@rm -f $$@; $(AR) rcs $$@ $$^
endef
$(foreach r,$(PURE),$(eval $(call san_lib,$(r))))

define unit_test
$(B)/unit/$(1): $(B)/san/tests/unit/$(1).o $(patsubst %,$(B)/san/%.a,$(call rooms_upto,$(call unit_room,$(1))))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(SAN) -o $$@ $$^ $$(INSN_LIBS) -lcmocka -ljansson -ldw -lelf -lm
endef
$(foreach t,$(UNIT_SRC:tests/unit/%.c=%),$(eval $(call unit_test,$(t))))

unit: $(UNIT_BIN)

# --- workloads -------------------------------------------------------------------------------------
WORKLOADS_MK := tests/workloads/workloads.mk
-include $(WORKLOADS_MK)

# --- benchmarks: programs that only they need -------------------------------------------------------
$(B)/bench/empty.bpf.o: tests/bench/empty.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/bench/bench_empty: $(B)/tests/bench/bench_empty.o $(B)/user/attach/link.o $(B)/user/sites/elf.o \
		$(B)/user/sites/insn.o $(B)/user/base/text.o $(B)/user/base/msg.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bench/bench_model: $(B)/tests/bench/bench_model.o $(filter $(B)/user/model/% $(B)/user/base/%,$(OBJ))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

bench-programs: $(B)/bench/empty.bpf.o $(B)/bench/bench_empty $(B)/bench/bench_model

# --- commands ----------------------------------------------------------------------------------------
setup:
	scripts/setup build

demo: setup
	$(MAKE) all $(B)/workloads/lu
	scripts/demo

check:
	scripts/setup check
	$(MAKE) all workloads unit
	scripts/check

bench:
	scripts/setup check
	$(MAKE) all workloads bench-programs
	python3 tests/bench/run.py

lint:
	scripts/setup lint
	$(MAKE) $(B)/sbt.skel.h
	scripts/lint

format:
	clang-format -i $(SRC) $(wildcard user/*/*.h include/sbt/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tests/workloads/*.[ch])

fuzz:
	scripts/setup check
	tests/fuzz/run

install: all
	install -D -m 755 $(B)/sbt-trace $(DESTDIR)$(PREFIX)/bin/sbt-trace
	install -D -m 644 man/sbt-trace.1 $(DESTDIR)$(PREFIX)/share/man/man1/sbt-trace.1
	install -D -m 644 scripts/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/sbt-trace

clean:
	rm -rf $(B)

-include $(OBJ:.o=.d) $(patsubst %.c,$(B)/san/%.d,$(SRC) $(UNIT_SRC))

.DELETE_ON_ERROR:
.PHONY: all setup demo check bench lint format fuzz install clean unit workloads bench-programs
