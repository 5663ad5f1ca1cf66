# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace list BINARY and list -p PID: the functions that could be traced there, compared with nm, objdump and ldd."""

import json
import os
import re
import subprocess

from harness import check, check_equal, check_in, check_not_in, function_at, wait_for, workload, write_file

SHARED = True


def listed(t, *args, rc=0):
    result = t.sbt("list", *args, rc=rc)
    for line in result.out.splitlines():
        check(len(line) <= 100 or "--json" in args, f"more than 100 columns: {line}")
    return result


def places_of(text):
    """Return the probe sites of list --json, and the notes on them."""
    objects = [json.loads(line) for line in text.splitlines()]
    return ([o for o in objects if o["type"] == "place"],
            [o["text"] for o in objects if o["type"] == "note"])


def places(t, *args):
    return places_of(listed(t, "--json", *args).out)


def tool(*args):
    return subprocess.run(args, check=True, text=True, stdout=subprocess.PIPE).stdout


def check_library(found, libc):
    """Check a program with POSIX barriers alone: the only probe site is where the file @libc has the function."""
    (place,) = [p for p in found if p["family"] == "pthread"]
    start = function_at(libc, "pthread_barrier_wait")
    check(start <= place["offset"] <= start + 16, f"{place['offset']:x}, readelf: {start:x}")
    check_equal("used", place["used"], True)
    return place


def test_program_and_its_libraries(t):
    """list finds the C library that the dynamic linker would load, and the function at its address there."""
    path = workload("gen")
    found, _ = places(t, path)
    libc = re.search(r"libc\.so\.6 => (\S+)", tool("ldd", path)).group(1)
    place = check_library(found, libc)
    check_equal("module", os.path.realpath(place["module"]), os.path.realpath(libc))
    code = tool("objdump", "-d", "--no-show-raw-insn", libc,
                f"--start-address={place['offset']:#x}", f"--stop-address={place['offset'] + 8:#x}")
    check_in("objdump", place["instruction"].split()[0], code)
    text = listed(t, path).out
    check_in("text", "pthread_barrier_wait", text)
    check_not_in("text", "no listed file calls it", text)


def test_nothing_to_trace(t):
    """A spin barrier: the library's function exists, but is never called."""
    found, notes = places(t, workload("gen_user"))
    check_equal("used", [p["used"] for p in found if p["family"] == "pthread"], [False])
    check(any("no known barrier function is called" in n for n in notes), notes)
    check(any("only spins" in n for n in notes), notes)


def test_user_functions(t):
    path = workload("gen_user")
    found, notes = places(t, "-b", "team::barrier::wait", "-b", "my_throwing_barrier", "-b", "nope",
                          path)
    user = {p["function"]: p for p in found if p["family"] == "user"}
    check_equal("functions", sorted(user),
                ["my_throwing_barrier", "team::barrier::wait(unsigned int)"])
    check(all(p["exits"] and "ret" in p["end"] and "return" not in p["end"]
              for p in user.values()), user)
    check(any("-b nope: none of these files has such a function" in n for n in notes), notes)


def test_static_programs(t):
    found, _ = places(t, workload("gen-static"))
    check_equal("modules", {p["module"] for p in found}, {workload("gen-static")})
    found, _ = places(t, workload("gen-static-stripped"))
    check_equal("functions", [p["function"] for p in found if p["family"] == "pthread"],
                ["pthread_barrier_wait"])
    check_in("chosen", "found by its code", found[0]["chosen"])


def test_process(t):
    gen = t.gen("--forever", name="gen")
    # Code that is not loaded yet is not listed.
    wait_for("the program's threads", lambda: len(os.listdir(f"/proc/{gen.pid}/task")) > 1)
    found, _ = places(t, "-p", str(gen.pid))
    check_equal("used", [p["used"] for p in found if p["family"] == "pthread"], [True])
    check(gen.alive(), "it ended")


def test_a_library_that_is_missing(t):
    binary, lib = t.path("app"), t.path("libgone.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", lib, "-"], check=True,
                   input=b"int gone(void) { return 1; }\n")
    subprocess.run(["gcc", "-x", "c", "-o", binary, "-", "-x", "none", lib, "-Wl,-soname,app"],
                   check=True, input=b"int gone(void); int main(void) { return gone(); }\n")
    os.unlink(lib)
    _, notes = places(t, binary)
    check(any("is needed, but was not found" in n for n in notes), notes)


def check_tbb(notes):
    check_in("list", "is oneTBB: at the end of its algorithms one thread waits", " ".join(notes))


def test_tasks_of_tbb(t):
    """No function shows the barriers of this library, and list says so."""
    source, library = t.path() + ".c", t.path("libtbb.so.12")
    write_file(source, "int wait_for_tasks(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libtbb.so.12", "-o", library, source],
                   check=True)
    check_tbb([" ".join(t.sbt("list", library).out.split())])


def test_libraries_with_threads(t):
    """OpenBLAS and FFTW are known by their functions, and those that use OpenMP are traced as such."""
    source, library = t.path() + ".c", t.path("libnumbers.so")
    for function, words in (("exec_blas_async_wait", "has threads of OpenBLAS"),
                            ("fftwf_spawn_loop", "has threads of FFTW"), ("spawn_loop", None)):
        for openmp in (False, True):
            call = "GOMP_parallel(0, 0, 0, 0);" if openmp else ""
            write_file(source, "void GOMP_parallel(void *, void *, unsigned, unsigned);\n"
                               f"int {function}(void) {{ {call} return 0; }}\n")
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
            listed = " ".join(t.sbt("list", library).out.split())
            if words and not openmp:
                check_in(function, words, listed)
            else:
                check_not_in(function, "has threads of", listed)


def test_by_run_path(t):
    """$ORIGIN is the folder of the program."""
    os.mkdir(t.path("lib"))
    binary, lib = t.path("app"), os.path.join(t.path("lib"), "libmeet.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-x", "c", "-Wl,-soname,libmeet.so", "-o", lib,
                    "-"], check=True, input=b"int meet_all(int *p) { return ++*p; }\n")
    subprocess.run(["gcc", "-x", "c", "-o", binary, "-", "-x", "none", lib,
                    "-Wl,-rpath,$ORIGIN/lib"], check=True,
                   input=b"int meet_all(int *); int main(int c, char **v)"
                         b" { (void)v; return meet_all(&c); }\n")
    found, _ = places(t, "-b", "meet_all", binary)
    (place,) = [p for p in found if p["family"] == "user"]
    check_equal("module", os.path.realpath(place["module"]), os.path.realpath(lib))


def test_wrong(t):
    for args, part in ((["/etc/passwd"], "neither a program"), (["/no/such"], "cannot read"),
                       (["-p", "999999999"], "cannot read process"),):
        result = listed(t, *args, rc=1)
        check_in("stderr", part, result.err)
    for args, part in (([], "one of BINARY"), (["-p", "x"], "one process number is expected"),
                       (["-b", "f@0", "/bin/true"], "neither @all nor"), (["-p"], "needs a value"),
                       (["--events", "/bin/true"], "one of BINARY")):
        result = listed(t, *args, rc=2)
        check_in("stderr", part, result.err)
