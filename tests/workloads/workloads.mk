# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
#
# The programs that tests trace, built into $(B)/workloads. They do not depend on sbt-trace.
# Programs that need a missing compiler (musl-gcc, go) are left out, with a message. For another machine (CROSS, SYSROOT)
# only the programs that run in virtual machines are built.

W := $(B)/workloads
W_SRC := tests/workloads
CXX ?= g++
MUSL_GCC ?= musl-gcc
RUSTC ?= rustc
GO ?= go
OBJCOPY ?= objcopy
STRIP ?= strip

# Files that the other machine's packages would install below /. Boost's headers are the same everywhere.
ifneq ($(SYSROOT),)
W_THERE := -isystem $(SYSROOT)/usr/include $(SYSROOT_LIBS) -idirafter /usr/include
W_CLANG_THERE := --target=$(CROSS:-=) $(addprefix -L,$(wildcard $(SYSROOT)/usr/lib/llvm-*/lib))
W_MPICH_THERE := $(wildcard $(SYSROOT)/usr/include/$(MULTIARCH)/mpich)
W_GO_THERE := GOARCH=$(if $(filter aarch64,$(ARCH)),arm64,amd64) CC='$(CC)'
W_MUSL_SPECS := $(W)/musl.specs
MUSL_GCC := $(CC) -specs=$(W_MUSL_SPECS)

$(W_MUSL_SPECS): $(wildcard $(SYSROOT)/usr/lib/*-linux-musl/musl-gcc.specs) tests/vm/debian.py $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	sed 's,/usr/,$(SYSROOT)/usr/,g' $< >$@

$(addprefix $(W)/,gen-musl gen-musl-static sbtloop-musl gen_forkjoin-musl joiner-musl): $(W_MUSL_SPECS)
endif

# All programs get a build-id, as in distributions. The user's CFLAGS are not used, because answers must be known.
W_FLAGS := -O2 -g -fno-omit-frame-pointer -pthread -Wall -Wextra -Werror -D_GNU_SOURCE -Wl,--build-id=sha1
W_CC = $(CC) -std=gnu11 $(W_FLAGS)
W_CXX = $(CXX) -std=gnu++17 $(W_FLAGS)
W_MUSL = $(MUSL_GCC) -std=gnu11 $(W_FLAGS)
GEN_SRC := $(W_SRC)/gen.c $(W_SRC)/gen_core.c
W_COMMON := $(wildcard $(W_SRC)/*.h) $(W_SRC)/workloads.mk

W_PLAIN := paced filtered lifetime joiner pmm lu wander cancel_async longjmp_out exec_self fork_children spawn_static churn exit_in_wait inline_site \
	wrapped hostile_names early stranger bench_crossing shared_fork forks pmu_phases late held bench_switch bench_phases bench_slowed cold hung exec_on shm_again exec_away
W_PLAIN += brief waker copied_code
W_CXX_PLAIN := cancel_cxx throw_out cond_cancel
W_STATIC := copied_text
W_DLOPEN := dlopen_lib libbar.so libbaz.so slow_call.so
W_EXEC := exec_on2 exec_on-lib
W_GO := $(if $(shell command -v $(GO) 2>/dev/null),gobar go_waits go_waits-stripped)
# The JDK's folder. Class files run on any machine, but jvm_inside needs a JDK of the machine that it runs on.
JAVAC ?= javac
W_JDK := $(patsubst %/bin/javac,%,$(shell readlink -f "$$(command -v $(JAVAC))" 2>/dev/null))
W_JAVA := $(if $(W_JDK),JavaWaits.class $(if $(CROSS),,$(if $(wildcard $(W_JDK)/include/jni.h),jvm_inside)))
W_OLD := gen-oldlib
# Named barriers, built with all options that change the form of a marker.
W_SBT := thesis/pmm thesis/pmm-off sbtphases sbtphases-cxx sbtphases-off sbtmarks sbtmarks-cxx sbtmarks-off \
	sbtremote sbtremote-cxx sbtremote-off sbtpaper \
	sbtloop sbtloop-O0 sbtloop-lto sbtloop-cxx sbtloop-cxx-O0 sbtloop-off sbtloop-static sbtloop-stripped \
	$(if $(shell command -v $(MUSL_GCC) 2>/dev/null),sbtloop-musl)
# Return whether compiler $2 has header $1. (In a function, make 4.3 keeps a backslash before the sign, so a variable holds it.)
W_SIGN := \#
W_HEADER = $(shell echo '$(W_SIGN)include <$1>' | $2 -E - >/dev/null 2>&1 && echo yes)
# Programs that count in their own phases: with PAPI, if its headers and libpfm4's are installed.
W_PHASES := perf_phases $(if $(call W_HEADER,papi.h,$(CC) -xc),$(if $(call W_HEADER,perfmon/pfmlib.h,$(CC) -xc),papi_phases))
W_GEN := gen gen-static gen-static-stripped gen-stripped gen-nopie gen-nodebug gen-splitdebug
W_MUSL_GEN := $(if $(shell command -v $(MUSL_GCC) 2>/dev/null),gen-musl gen-musl-static gen-musl-static-stripped)

# Other families of the generator. Some need packages that may be missing.
W_HAVE = $(shell command -v $1 2>/dev/null)
W_HAND := hand_written hand_written-O0 hand_written-stripped hand_written-clang \
	hand_written_cxx hand_written_cxx-O0 two_phase two_phase-O0 two_phase-clang \
	two_phase_cxx two_phase_cxx-O0 turnstiles turnstiles-O0 turnstiles-clang
W_OMP_MORE := omp_turns omp_reduce omp_sizes omp_tasks bench_omp
W_OMP_TASKS := omp_tasks-O0 omp_tasks-stripped
# Thread pools that count down, semaphores used as barriers, and programs of C++ without barriers.
W_POOLS := $(foreach name,count_pool sem_meet no_barrier,$(name) $(name)-O0)
W_OMP_STATIC := $(if $(SYSROOT),,omp_turns-static)
W_FAMILY := $(W_HAND) gen_cond gen_futex gen_sem gen_forkjoin gen_forkjoin-cxx gen_forkjoin-static \
	$(if $(W_MUSL_GEN),gen_forkjoin-musl gen_cond-musl joiner-musl) gen_gomp gen_gomp-stripped bench_slowed-libgomp omp_losses omp_tail $(W_OMP_MORE) $(W_OMP_TASKS) $(W_OMP_STATIC) hung_omp two_ways two_ways-posix gen_user gen_std \
	gen_std-O0 gen_std-O1 gen_std-O3 std_ways std_ways-O0 std_ways-Os latch_pool latch_pool-O0 std_split std_split-O0 std_teams std_teams-O0 \
	$(W_POOLS)
W_OMP_CLANG := $(if $(call W_HEADER,omp.h,$(CLANG) -fopenmp -xc),gen_libomp gen_libomp-stripped bench_slowed-libomp omp_losses-libomp omp_tail-libomp $(W_OMP_MORE:%=%-libomp) $(W_OMP_TASKS:%=%-libomp) hung_omp-libomp)
# C++20 barriers that are inlined, by kind and level.
W_INLINE := $(foreach kind,PLAIN COMPLETION MIXED LATCH,$(foreach level,O1 O2 O3,std_inline-$(kind)-$(level)))
W_FLAGS20 := std_flags-O1 std_flags-O2 std_flags-O3
W_ATOMIC := hand_atomic hand_atomic-O0 hand_atomic-DWIDE $(if $(SYSROOT),,hand_atomic-static)

W_STD_CLANG := $(if $(call W_HEADER,barrier,$(CLANG)++ -std=gnu++20 -xc++),gen_std-clang std_ways-clang std_split-clang latch_pool-clang latch_pool-clang-O0 hand_atomic-clang hand_atomic-clang-O0)
W_LIBCXX := $(if $(SYSROOT),,$(if $(call W_HEADER,barrier,$(CLANG)++ -stdlib=libc++ -std=gnu++20 -xc++),gen_std-libcxx gen_std-libcxx-O0))
W_BOOST := $(if $(call W_HEADER,boost/thread/barrier.hpp,$(CXX) $(W_THERE) -xc++),gen_boost)
W_ABSL := $(if $(SYSROOT),,$(if $(call W_HEADER,absl/synchronization/barrier.h,$(CXX) -std=gnu++20 -xc++),gen_absl gen_absl-static))
W_TBB := $(if $(call W_HEADER,tbb/parallel_for.h,$(CXX) $(W_THERE) -xc++),tbb_rounds)
W_BLAS := $(if $(SYSROOT),,$(if $(call W_HEADER,openblas_config.h,$(CC) -xc),blas_rounds))
W_FFTW := $(if $(SYSROOT),,$(if $(call W_HEADER,fftw3.h,$(CC) -xc),fft_rounds fft_rounds-omp))
W_LTTNG := $(if $(call W_HEADER,lttng/tracef.h,$(CC) -xc),bench_phases-lttng)
W_RUST := $(if $(call W_HAVE,rustc),gen_rust rust_names rust_names-v0 rust_scope rust_scope-O0 rust_scope-v0 rust_scope-lto rust_scope-stripped)
W_OPENMPI := $(if $(SYSROOT),,$(if $(call W_HAVE,mpicc.openmpi),gen_openmpi mpi_comms_openmpi hung_openmpi mpi_waits_openmpi mpi_makers_openmpi mpi_mismatch_openmpi mpi_ordinal_openmpi))
W_MPICH := $(if $(SYSROOT),$(if $(W_MPICH_THERE),gen_mpich),$(if $(call W_HAVE,mpicc.mpich),gen_mpich mpi_comms_mpich hung_mpich mpi_waits_mpich mpi_makers_mpich mpi_meets_mpich mpi_mismatch_mpich mpi_ordinal_mpich))
W_MPIF := $(if $(and $(if $(SYSROOT),,yes),$(call W_HAVE,gfortran)),$(if $(W_OPENMPI),gen_openmpif mpi_split_openmpi mpi_waitf_openmpi) $(if $(W_MPICH),gen_mpichf mpi_split_mpich mpi_waitf_mpich))
W_FAMILIES := $(W_FAMILY) $(W_INLINE) $(W_FLAGS20) $(W_ATOMIC) hot_cond spun spun-O0 long_names $(W_STD_CLANG) $(W_LIBCXX) $(W_OMP_CLANG) $(W_BOOST) $(W_ABSL) $(W_RUST) $(W_OPENMPI) $(W_MPICH) $(W_MPIF)

# Programs without a barrier; and programs modelled on SPLASH-2, each with three kinds of barrier.
W_NOT := not_pool not_queue not_pipeline not_mutex not_rwlock not_gun not_timer not_publish not_server not_sem \
	not_stack not_steal not_round
W_NOT_CXX := not_lambdas not_lambdas-O0 not_lambdas-clang
W_SPLASH := $(foreach p,radix lu3 ocean water,$(p)-pthread $(p)-cond $(p)-spin) radix-again lu3-again water-again

W_LOOKED := looked
# Programs with a late thread that does more work in a known function, compiled in many ways.
W_EXTRA_C := extra-O0 extra-O1 extra-O2 extra-O3 extra-no-fp extra-inlined extra-calls extra-memory
W_EXTRA := $(if $(SYSROOT),,$(W_EXTRA_C) libextra.so extra-library extra-splitdebug extra_cxx-O0 extra_cxx-O2 extra_cxx-O3 \
	$(if $(call W_HAVE,$(CLANG)),extra-clang extra-inlined-clang) $(if $(call W_HAVE,rustc),extra_rust extra_rust-O))
WORKLOADS := $(W_PLAIN) $(W_LOOKED) $(W_CXX_PLAIN) $(W_STATIC) $(W_DLOPEN) $(W_EXEC) $(W_OLD) $(W_SBT) $(W_PHASES) $(W_GEN) $(W_MUSL_GEN) $(W_GO) $(W_JAVA) $(W_FAMILIES) $(W_TBB) $(W_BLAS) $(W_FFTW) $(W_LTTNG) $(W_NOT) $(W_NOT_CXX) not_make.sh $(W_SPLASH) $(W_EXTRA)

workloads: $(WORKLOADS:%=$(W)/%)
ifeq ($(W_MUSL_GEN),)
	@echo "workloads: gen-musl and its kin are left out, for there is no $(MUSL_GCC)"
endif
ifeq ($(filter papi_phases,$(W_PHASES)),)
	@echo "workloads: papi_phases is left out, for there is no papi.h or no perfmon/pfmlib.h"
endif
ifeq ($(W_GO),)
	@echo "workloads: gobar and go_waits are left out, for there is no $(GO)"
endif
ifeq ($(W_JAVA),)
	@echo "workloads: JavaWaits is left out, for there is no $(JAVAC)"
endif
	@$(if $(W_OMP_CLANG),:,echo "workloads: gen_libomp is left out, for $(CLANG) has no omp.h")
	@$(if $(W_LIBCXX),:,echo "workloads: gen_std-libcxx is left out, for $(CLANG)++ has no barrier of libc++")
	@$(if $(W_BOOST),:,echo "workloads: gen_boost is left out, for there is no boost/thread/barrier.hpp")
	@$(if $(W_ABSL),:,echo "workloads: gen_absl is left out, for there is no absl/synchronization/barrier.h")
	@$(if $(W_TBB),:,echo "workloads: tbb_rounds is left out, for there is no tbb/parallel_for.h")
	@$(if $(W_BLAS),:,echo "workloads: blas_rounds is left out, for there is no openblas_config.h")
	@$(if $(W_FFTW),:,echo "workloads: fft_rounds is left out, for there is no fftw3.h")
	@$(if $(W_RUST),:,echo "workloads: gen_rust is left out, for there is no rustc")
	@$(if $(W_OPENMPI),:,echo "workloads: gen_openmpi is left out, for there is no mpicc.openmpi")
	@$(if $(W_MPICH),:,echo "workloads: gen_mpich is left out, for there is no mpicc.mpich")
	@$(if $(W_MPIF),:,echo "workloads: gen_openmpif and gen_mpichf are left out, for there is no gfortran, or no MPI")

$(W_PLAIN:%=$(W)/%) $(W_NOT:%=$(W)/%): $(W)/%: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -o $@ $< -lm

# LTTng-UST only learns what the program reports to it.
$(W)/bench_phases-lttng: $(W_SRC)/bench_phases.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DLTTNG -o $@ $< -llttng-ust

# Without frame pointers, like most programs.
$(W_LOOKED:%=$(W)/%): $(W)/%: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -fomit-frame-pointer -o $@ $<

# No contraction into fused operations, so that all variants compute the same.
W_SPLASH_CC = $(W_CC) -ffp-contract=off -o $@ $< -lm
$(W)/%-pthread: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_SPLASH_CC) -DFLAVOUR=PTHREAD

$(W)/%-cond: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_SPLASH_CC) -DFLAVOUR=COND

$(W)/%-spin: $(W_SRC)/%.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_SPLASH_CC) -DFLAVOUR=SPIN

# Programs that run repeatedly in one process, for the benchmarks.
$(W)/bench_again.o: $(W_SRC)/bench_again.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -c -o $@ $<

$(W)/%-again: $(W_SRC)/%.c $(W)/bench_again.o $(W_COMMON)
	@mkdir -p $(@D)
	$(W_SPLASH_CC) $(W)/bench_again.o -DFLAVOUR=PTHREAD -Dmain=program_main

$(W)/%.sh: $(W_SRC)/%.sh
	@mkdir -p $(@D)
	cp $< $@

$(W)/perf_phases: $(W_SRC)/papi_phases.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -o $@ $<

$(W)/papi_phases: $(W_SRC)/papi_phases.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DWITH_PAPI -o $@ $< -lpapi -ldl

# Unwinding must get from the wait, or from a signal during the wait, to the C++ caller.
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

# This program executes exec_on, which executes this program.
$(W)/exec_on2: $(W_SRC)/exec_on.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DMEMBER=second_member -DPAD=320 -o $@ $<

$(W)/exec_on-lib: $(W_SRC)/exec_on.c $(W)/libbar.so $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DWAIT=bar_wait -Wl,-rpath,'$$ORIGIN' -o $@ $< $(W)/libbar.so

$(W)/slow_call.so: $(W_SRC)/slow_call.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -fPIC -shared -o $@ $< -ldl

$(W)/dlopen_lib: $(W_SRC)/dlopen_lib.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -Wl,-rpath,'$$ORIGIN' -o $@ $< -ldl

# As with glibc before 2.34: the wait function is in a libpthread.so.0, with its old version.
$(W)/old/libpthread.so.0: $(W_SRC)/oldpthread.c $(W_COMMON)
	@mkdir -p $(@D)
	echo 'GLIBC_2.2.5 { global: pthread_barrier_*; local: *; };' > $(@D)/version
	$(W_CC) -fPIC -shared -Wl,-soname,libpthread.so.0 -Wl,--version-script=$(@D)/version -o $@ $<

$(W)/gen-oldlib: $(GEN_SRC) $(W)/old/libpthread.so.0
	$(W_CC) -DGEN_FLAVOUR='"libpthread.so.0"' -Wl,-rpath,'$$ORIGIN/old' -o $@ $^

# --- named barriers: include/sbt as a user's program includes it ----------------------------------
W_SBT_H := $(wildcard include/sbt/*.h)
W_SBT_FLAGS := -Iinclude/sbt

# The figures have two statements without effect, and no prototypes.
$(W)/thesis/pmm $(W)/thesis/pmm-off: $(W)/thesis/pmm%: $(W_SRC)/thesis/pmm.c $(W_SBT_H) $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	$(W_CC) $(W_SBT_FLAGS) -Wno-unused-value $(if $(filter -off,$*),-DSBT_OFF) -o $@ $<

$(W)/sbtloop $(W)/sbtphases $(W)/sbtmarks $(W)/sbtremote $(W)/sbtloop-off $(W)/sbtphases-off $(W)/sbtmarks-off \
		$(W)/sbtremote-off: $(W)/%: $(W_COMMON) $(W_SBT_H) $(W_SRC)/sbtloop.c $(W_SRC)/sbtphases.c \
		$(W_SRC)/sbtmarks.c $(W_SRC)/sbtremote.c
	@mkdir -p $(@D)
	$(W_CC) $(W_SBT_FLAGS) $(if $(filter %-off,$*),-DSBT_OFF) -o $@ $(W_SRC)/$(*:-off=).c

$(W)/sbtpaper: $(W_SRC)/sbtpaper.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_CC) $(W_SBT_FLAGS) -o $@ $< -lm

$(W)/sbtloop-cxx $(W)/sbtphases-cxx $(W)/sbtmarks-cxx $(W)/sbtremote-cxx: $(W)/%-cxx: $(W_SRC)/%.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_CXX) $(W_SBT_FLAGS) -x c++ -o $@ $<

$(W)/sbtloop-cxx-O0: $(W_SRC)/sbtloop.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_CXX) $(W_SBT_FLAGS) -O0 -x c++ -o $@ $<

$(W)/sbtloop-O0 $(W)/sbtloop-lto $(W)/sbtloop-static: $(W)/sbtloop-%: $(W_SRC)/sbtloop.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_CC) $(W_SBT_FLAGS) $(patsubst %,-%,$(*:lto=flto)) -o $@ $<

$(W)/copied_text: $(W_SRC)/copied_text.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -static -o $@ $<

$(W)/sbtloop-stripped: $(W_SRC)/sbtloop.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_CC) $(W_SBT_FLAGS) -o $@ $<
	$(STRIP) --strip-all $@

$(W)/sbtloop-musl: $(W_SRC)/sbtloop.c $(W_COMMON) $(W_SBT_H)
	@mkdir -p $(@D)
	$(W_MUSL) $(W_SBT_FLAGS) -o $@ $<

# No network access, and no cache outside of the build folder.
$(W)/gobar: $(wildcard $(W_SRC)/gobar/*) $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	cd $(W_SRC)/gobar && CGO_ENABLED=1 GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off \
		GOCACHE=$(abspath $(B))/gocache GOPATH=$(abspath $(B))/gopath $(W_GO_THERE) $(GO) build -o $(abspath $@) .

# Static, as most Go programs are; with and without symbols and Go's note.
$(W)/go_waits $(W)/go_waits-stripped: $(wildcard $(W_SRC)/go_waits/*) $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	cd $(W_SRC)/go_waits && CGO_ENABLED=0 GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off \
		GOCACHE=$(abspath $(B))/gocache GOPATH=$(abspath $(B))/gopath $(W_GO_THERE) $(GO) build \
		$(if $(filter %-stripped,$@),-ldflags='-s -w -buildid=') -o $(abspath $@) .

# --- Java ------------------------------------------------------------------------------------------
$(W)/JavaWaits.class: $(W_SRC)/JavaWaits.java
	@mkdir -p $(@D)
	$(JAVAC) -d $(@D) $<

$(W)/jvm_inside: $(W_SRC)/jvm_inside.c
	@mkdir -p $(@D)
	$(W_CC) -I$(W_JDK)/include -I$(W_JDK)/include/linux -o $@ $< -ldl

# --- the generator, in the forms in which programs are distributed --------------------------------
$(W)/gen: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"glibc"' -o $@ $(GEN_SRC)

$(W)/gen-static: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"glibc, static"' -static -o $@ $(GEN_SRC)

$(W)/gen-musl: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -DGEN_FLAVOUR='"musl"' -o $@ $(GEN_SRC)

$(W)/gen-musl-static: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -DGEN_FLAVOUR='"musl, static"' -static -o $@ $(GEN_SRC)

$(W)/gen-stripped: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"stripped"' -o $@ $(GEN_SRC)
	$(STRIP) --strip-all $@

# No name is left in these programs: functions can only be recognised by their code.
$(W)/gen-static-stripped $(W)/gen-musl-static-stripped: $(W)/%-stripped: $(W)/%
	$(STRIP) --strip-all -o $@ $<

$(W)/gen-nopie: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"no PIE"' -fno-pie -no-pie -o $@ $(GEN_SRC)

# A symbol table, but no line numbers.
$(W)/gen-nodebug: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"no debug information"' -g0 -o $@ $(GEN_SRC)

# Nothing in the program, and everything in $(W)/debug/.build-id/xx/yyyy.debug, as in a debug package.
$(W)/gen-splitdebug: $(GEN_SRC) $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -DGEN_FLAVOUR='"debug information apart"' -o $@ $(GEN_SRC)
	rm -rf $(W)/debug
	id=$$(readelf -n $@ | sed -n 's/.*Build ID: //p') && \
		file=$(W)/debug/.build-id/$$(echo $$id | cut -c1-2)/$$(echo $$id | cut -c3-).debug && \
		mkdir -p $$(dirname $$file) && $(OBJCOPY) --only-keep-debug $@ $$file
	$(STRIP) --strip-all $@

# --- the generator, for other families of barriers --------------------------------------------------
$(W)/gen_core.o: $(W_SRC)/gen_core.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -c -o $@ $<

$(W)/gen_cond $(W)/gen_futex $(W)/gen_sem $(W)/gen_forkjoin: $(W)/%: $(W_SRC)/%.c $(W)/gen_core.o
	$(W_CC) -o $@ $^

$(W)/hand_written $(W)/two_phase $(W)/turnstiles: $(W)/%: $(W_SRC)/%.c
	@mkdir -p $(@D)
	$(W_CC) -o $@ $<

$(W)/hand_written_cxx $(W)/two_phase_cxx $(W)/not_lambdas: $(W)/%: $(W_SRC)/%.cc
	@mkdir -p $(@D)
	$(W_CXX) -o $@ $<

$(W)/hand_written_cxx-O0 $(W)/two_phase_cxx-O0 $(W)/not_lambdas-O0: $(W)/%-O0: $(W_SRC)/%.cc
	@mkdir -p $(@D)
	$(W_CXX) -O0 -o $@ $<

$(W)/hand_written-O0 $(W)/two_phase-O0 $(W)/turnstiles-O0: $(W)/%-O0: $(W_SRC)/%.c
	@mkdir -p $(@D)
	$(W_CC) -O0 -o $@ $<

$(W)/not_lambdas-clang: $(W_SRC)/not_lambdas.cc
	@mkdir -p $(@D)
	$(CLANG) -x c++ -std=gnu++20 -O2 -g -pthread -o $@ $< -lstdc++

$(W)/hand_written-stripped: $(W_SRC)/hand_written.c
	@mkdir -p $(@D)
	$(W_CC) -s -o $@ $<

$(W)/hand_written-clang $(W)/two_phase-clang $(W)/turnstiles-clang: $(W)/%-clang: $(W_SRC)/%.c
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -o $@ $<

$(W)/gen_forkjoin-static: $(W_SRC)/gen_forkjoin.c $(W)/gen_core.o
	$(W_CC) -static -o $@ $^

$(W)/gen_forkjoin-musl $(W)/gen_cond-musl: $(W)/%-musl: $(W_SRC)/%.c $(W_SRC)/gen_core.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -o $@ $(filter %.c,$^)

$(W)/joiner-musl: $(W_SRC)/joiner.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_MUSL) -o $@ $<

$(W)/gen_forkjoin-cxx: $(W_SRC)/gen_forkjoin.c $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -Wno-missing-field-initializers -o $@ -x c++ $< -x none $(W)/gen_core.o

$(W)/gen_user $(W)/gen_std $(W)/tbb_rounds: $(W)/%: $(W_SRC)/%.cc $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -o $@ $^ $(if $(findstring tbb,$@),$(W_THERE) -ltbb)

$(W)/gen_std-O0 $(W)/gen_std-O1 $(W)/gen_std-O3: $(W)/gen_std-%: $(W_SRC)/gen_std.cc $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -$* -o $@ $^

$(W)/std_ways $(W)/std_ways-O0 $(W)/std_ways-Os: $(W)/std_ways%: $(W_SRC)/std_ways.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/std_teams $(W)/std_teams-O0: $(W)/std_teams%: $(W_SRC)/std_teams.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/count_pool $(W)/count_pool-O0: $(W)/count_pool%: $(W_SRC)/count_pool.cc $(W_COMMON)
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/sem_meet $(W)/sem_meet-O0: $(W)/sem_meet%: $(W_SRC)/sem_meet.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/no_barrier $(W)/no_barrier-O0: $(W)/no_barrier%: $(W_SRC)/no_barrier.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/latch_pool $(W)/latch_pool-O0: $(W)/latch_pool%: $(W_SRC)/latch_pool.cc $(W_COMMON)
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/latch_pool-clang $(W)/latch_pool-clang-O0: $(W)/latch_pool-clang%: $(W_SRC)/latch_pool.cc $(W_COMMON)
	$(CLANG)++ $(W_CLANG_THERE) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(addprefix $(W)/,$(W_INLINE)): $(W)/std_inline-%: $(W_SRC)/std_inline.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) -D$(firstword $(subst -, ,$*)) -$(lastword $(subst -, ,$*)) -o $@ $<

$(addprefix $(W)/,$(W_FLAGS20)): $(W)/std_flags-%: $(W_SRC)/std_flags.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) -$* -o $@ $<

$(addprefix $(W)/,$(W_ATOMIC)): $(W)/hand_atomic%: $(W_SRC)/hand_atomic.cc
	@mkdir -p $(@D)
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/hand_atomic-clang $(W)/hand_atomic-clang-O0: $(W)/hand_atomic-clang%: $(W_SRC)/hand_atomic.cc
	@mkdir -p $(@D)
	$(CLANG)++ $(W_CLANG_THERE) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/std_split $(W)/std_split-O0: $(W)/std_split%: $(W_SRC)/std_split.cc
	$(CXX) -std=gnu++20 $(W_FLAGS) $* -o $@ $<

$(W)/std_ways-clang $(W)/std_split-clang: $(W)/%-clang: $(W_SRC)/%.cc
	$(CLANG)++ $(W_CLANG_THERE) -std=gnu++20 $(W_FLAGS) -o $@ $<

$(W)/gen_std-clang: $(W_SRC)/gen_std.cc $(W)/gen_core.o
	$(CLANG)++ $(W_CLANG_THERE) -std=gnu++20 $(W_FLAGS) -o $@ $^

$(W)/blas_rounds: $(W_SRC)/blas_rounds.c $(W_COMMON)
	$(W_CC) -o $@ $< -lopenblas

$(W)/fft_rounds: $(W_SRC)/fft_rounds.c $(W_COMMON)
	$(W_CC) -o $@ $< -lfftw3_threads -lfftw3 -lm

$(W)/fft_rounds-omp: $(W_SRC)/fft_rounds.c $(W_COMMON)
	$(W_CC) -fopenmp -o $@ $< -lfftw3_omp -lfftw3 -lm

$(W)/gen_std-libcxx $(W)/gen_std-libcxx-O0: $(W)/gen_std-libcxx%: $(W_SRC)/gen_std.cc $(W)/gen_core.o
	$(CLANG)++ -stdlib=libc++ -std=gnu++20 $(W_FLAGS) $* -o $@ $^

$(W)/gen_boost: $(W_SRC)/gen_boost.cc $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -o $@ $^ $(W_THERE) -lboost_thread

$(W)/gen_absl: $(W_SRC)/gen_absl.cc $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -o $@ $^ -labsl_synchronization

# With Abseil linked statically.
$(W)/gen_absl-static: $(W_SRC)/gen_absl.cc $(W)/gen_core.o
	$(CXX) -std=gnu++20 $(W_FLAGS) -o $@ $^ -Wl,-Bstatic $$(pkg-config --static --libs absl_synchronization) -Wl,-Bdynamic

$(W)/gen_gomp: $(W_SRC)/gen_omp.c $(W)/gen_core.o
	$(W_CC) -fopenmp -DOMP_NAME='"gen_gomp"' -o $@ $^

$(W)/gen_libomp: $(W_SRC)/gen_omp.c $(W)/gen_core.o
	$(CLANG) $(W_CLANG_THERE) -std=gnu11 $(W_FLAGS) -fopenmp -DOMP_NAME='"gen_libomp"' -o $@ $^

$(W)/bench_slowed-libgomp: $(W_SRC)/bench_slowed.c $(W_COMMON)
	@mkdir -p $(@D)
	$(W_CC) -fopenmp -o $@ $<

$(W)/bench_slowed-libomp: $(W_SRC)/bench_slowed.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CLANG) $(W_CLANG_THERE) -std=gnu11 $(W_FLAGS) -fopenmp -o $@ $<

$(W)/omp_losses $(W)/omp_tail $(W)/hung_omp $(W_OMP_MORE:%=$(W)/%): $(W)/%: $(W_SRC)/%.c $(W_COMMON)
	$(W_CC) -fopenmp -o $@ $<

$(W)/spun: $(W_SRC)/spun.c $(W_COMMON)
	$(W_CC) -o $@ $<

$(W)/spun-O0: $(W_SRC)/spun.c $(W_COMMON)
	$(W_CC) -O0 -o $@ $<

$(W)/hot_cond: $(W_SRC)/hot_cond.c $(W_COMMON)
	$(W_CC) -o $@ $<

$(W)/two_ways: $(W_SRC)/two_ways.c $(W_COMMON) $(W_SBT_H)
	$(W_CC) -Iinclude/sbt -fopenmp -o $@ $<

$(W)/two_ways-posix: $(W_SRC)/two_ways.c $(W_COMMON) $(W_SBT_H)
	$(W_CC) -Iinclude/sbt -o $@ $<

$(W)/omp_losses-libomp $(W)/omp_tail-libomp $(W)/hung_omp-libomp $(W_OMP_MORE:%=$(W)/%-libomp): $(W)/%-libomp: $(W_SRC)/%.c $(W_COMMON)
	$(CLANG) $(W_CLANG_THERE) -std=gnu11 $(W_FLAGS) -fopenmp -o $@ $<

# The linker warns about libraries that the program would load at run time.
$(W)/omp_turns-static: $(W_SRC)/omp_turns.c $(W_COMMON)
	$(W_CC) -fopenmp -static -Wl,--no-warnings -o $@ $<

$(W)/omp_tasks-O0: $(W_SRC)/omp_tasks.c $(W_COMMON)
	$(W_CC) -O0 -fopenmp -o $@ $<

$(W)/omp_tasks-O0-libomp: $(W_SRC)/omp_tasks.c $(W_COMMON)
	$(CLANG) $(W_CLANG_THERE) -std=gnu11 $(W_FLAGS) -O0 -fopenmp -o $@ $<

$(W)/omp_tasks-stripped-libomp: $(W)/omp_tasks-libomp
	strip -o $@ $<

$(W)/omp_tasks-stripped $(W)/gen_gomp-stripped $(W)/gen_libomp-stripped: $(W)/%-stripped: $(W)/%
	$(STRIP) --strip-all -o $@ $<

$(W)/long_names: $(W_SRC)/long_names.cc $(W_SRC)/workloads.mk
	$(W_CXX) -o $@ $<

# Both mangling schemes: the compiler's default, and the newer one.
$(W)/rust_names: $(W_SRC)/rust_names.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -C opt-level=2 -C debuginfo=1 -o $@ $<

$(W)/rust_names-v0: $(W_SRC)/rust_names.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -C opt-level=2 -C debuginfo=1 -C symbol-mangling-version=v0 -o $@ $<

$(W)/rust_scope: $(W_SRC)/rust_scope.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -O -g -o $@ $<

$(W)/rust_scope-O0: $(W_SRC)/rust_scope.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -C opt-level=0 -o $@ $<

$(W)/rust_scope-v0: $(W_SRC)/rust_scope.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -C opt-level=3 -C symbol-mangling-version=v0 -o $@ $<

$(W)/rust_scope-lto: $(W_SRC)/rust_scope.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) -C opt-level=3 -C lto=fat -o $@ $<

$(W)/rust_scope-stripped: $(W)/rust_scope
	$(STRIP) -o $@ $<

# The Rust part is a library, and the program is a C program.
$(W)/libgen_rust.a: $(W_SRC)/gen_rust.rs $(W_SRC)/workloads.mk
	@mkdir -p $(@D)
	MAKEFLAGS= $(RUSTC) --crate-type staticlib -C opt-level=2 -C debuginfo=1 -C panic=abort -o $@ $<

$(W)/gen_rust: $(W_SRC)/gen_rust.c $(W)/gen_core.o $(W)/libgen_rust.a
	$(W_CC) -Wl,--gc-sections -o $@ $^ -ldl -lm

# Both implementations by their own names, whichever of them is the system's default.
W_MPICC = $(if $(SYSROOT),$(CC) -I$(W_MPICH_THERE) $(W_THERE),mpicc.$*)
$(W)/gen_openmpi $(W)/gen_mpich: $(W)/gen_%: $(W_SRC)/gen_mpi.c $(W)/gen_core.o
	$(W_MPICC) -std=gnu11 $(W_FLAGS) -DMPI_NAME='"$(@F)"' -o $@ $^ $(if $(SYSROOT),-lmpich)

$(W)/mpi_comms_openmpi $(W)/mpi_comms_mpich: $(W)/mpi_comms_%: $(W_SRC)/mpi_comms.c $(W_SRC)/workloads.mk
	mpicc.$* -std=gnu11 $(W_FLAGS) -o $@ $<

$(W)/hung_openmpi $(W)/hung_mpich: $(W)/hung_%: $(W_SRC)/hung_mpi.c $(W_COMMON)
	mpicc.$* -std=gnu11 $(W_FLAGS) -o $@ $<

$(W)/mpi_ordinal_openmpi $(W)/mpi_ordinal_mpich: $(W)/mpi_ordinal_%: $(W_SRC)/mpi_ordinal.c $(W_SRC)/workloads.mk
	mpicc.$* -std=gnu11 $(W_FLAGS) -o $@ $<

$(W)/mpi_mismatch_openmpi $(W)/mpi_mismatch_mpich: $(W)/mpi_mismatch_%: $(W_SRC)/mpi_mismatch.c $(W_COMMON)
	mpicc.$* -std=gnu11 $(W_FLAGS) -o $@ $<

$(W)/mpi_waits_openmpi $(W)/mpi_waits_mpich: $(W)/mpi_waits_%: $(W_SRC)/mpi_waits.c $(W_COMMON)
	mpicc.$* -std=gnu11 $(W_FLAGS) -DCALL_THEM -o $@ $<

$(W)/mpi_makers_openmpi $(W)/mpi_makers_mpich: $(W)/mpi_makers_%: $(W_SRC)/mpi_waits.c $(W_COMMON)
	mpicc.$* -std=gnu11 $(W_FLAGS) -DMAKERS -o $@ $<

# The same without any call that contains an untraced wait.
$(W)/mpi_meets_mpich: $(W_SRC)/mpi_waits.c $(W_COMMON)
	mpicc.mpich -std=gnu11 $(W_FLAGS) -o $@ $<

$(W)/mpi_waitf_openmpi $(W)/mpi_waitf_mpich: $(W)/mpi_waitf_%: $(W_SRC)/mpi_waitf.f90 $(W_SRC)/workloads.mk
	mpifort.$* -O2 -g -Wl,--build-id=sha1 -o $@ $<

$(W)/mpi_split_openmpi $(W)/mpi_split_mpich: $(W)/mpi_split_%: $(W_SRC)/mpi_split.f90 $(W_SRC)/workloads.mk
	mpifort.$* -O2 -g -Wl,--build-id=sha1 -o $@ $<

$(W)/gen_openmpif $(W)/gen_mpichf: $(W)/gen_%f: $(W_SRC)/gen_mpi.c $(W_SRC)/gen_mpif.f90 $(W)/gen_core.o
	mpicc.$* -std=gnu11 $(W_FLAGS) -DFORTRAN -DMPI_NAME='"$(@F)"' -c -o $@.c.o $(W_SRC)/gen_mpi.c
	mpifort.$* -O2 -g -fno-omit-frame-pointer -Wl,--build-id=sha1 -o $@ $(W_SRC)/gen_mpif.f90 \
		$@.c.o $(W)/gen_core.o -lpthread

W_EXTRA_FLAGS = -std=gnu11 -g -pthread -Wall -Wextra -Werror -D_GNU_SOURCE -Wl,--build-id=sha1
$(W)/extra-O0 $(W)/extra-O1 $(W)/extra-O2 $(W)/extra-O3: $(W)/extra-O%: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O$* -o $@ $<
$(W)/extra-no-fp: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O2 -fomit-frame-pointer -o $@ $<
$(W)/extra-inlined: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O2 -DINLINED -o $@ $<
$(W)/extra-calls: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O2 -DCALLS -o $@ $<
$(W)/extra-memory: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O2 -DMEMORY -o $@ $<
$(W)/extra-clang: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CLANG) $(W_EXTRA_FLAGS) -O2 -o $@ $<
$(W)/extra-inlined-clang: $(W_SRC)/extra.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CLANG) $(W_EXTRA_FLAGS) -O3 -DINLINED -o $@ $<
$(W)/libextra.so: $(W_SRC)/extra_lib.c $(W_COMMON)
	@mkdir -p $(@D)
	$(CC) $(W_EXTRA_FLAGS) -O2 -fPIC -shared -o $@ $<
$(W)/extra-library: $(W_SRC)/extra.c $(W)/libextra.so $(W_COMMON)
	$(CC) $(W_EXTRA_FLAGS) -O2 -DLIBRARY -o $@ $< -L$(W) -lextra -Wl,-rpath,'$$ORIGIN'
$(W)/extra-splitdebug: $(W)/extra-O2
	$(OBJCOPY) --only-keep-debug $< $@.debug
	$(OBJCOPY) --strip-all --add-gnu-debuglink=$@.debug $< $@
$(W)/extra_cxx-O0 $(W)/extra_cxx-O2 $(W)/extra_cxx-O3: $(W)/extra_cxx-O%: $(W_SRC)/extra_cxx.cc $(W_COMMON)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++20 -g -pthread -Wall -Wextra -Werror -O$* -o $@ $<
$(W)/extra_rust: $(W_SRC)/extra_rust.rs $(W_COMMON)
	@mkdir -p $(@D)
	$(RUSTC) -g -o $@ $<
$(W)/extra_rust-O: $(W_SRC)/extra_rust.rs $(W_COMMON)
	@mkdir -p $(@D)
	$(RUSTC) -g -O -o $@ $<
