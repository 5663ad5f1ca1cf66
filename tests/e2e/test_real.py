# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Real programs in Debian's builds: every call that bpftrace counts in the same run is found, and the call sites are in the
files that they name. tests/bench compares the times with bpftrace's."""

import json
import os
import re
import shutil
import subprocess

from harness import SBT, Skip, Trace, check, check_equal, clean_environment, read_text, wait_for, workload, write_file

PAIRED = True

# Functions of MPI's standard that LAMMPS and HPCC call.
MPI = ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
       "MPI_Reduce_scatter", "MPI_Comm_split", "MPI_Comm_dup", "MPI_Comm_create", "MPI_Cart_create")
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

LAMMPS_INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
region most block 0 4 0 6 0 6
create_atoms 1 region most
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 1
run 60
"""
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def there(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program}")


def library(program, name):
    """Return the file of a library that the program needs."""
    out = subprocess.run(["ldd", shutil.which(program)], capture_output=True, text=True, check=True).stdout
    return os.path.realpath(re.search(r"%s\S* => (\S+)" % re.escape(name), out).group(1))


class Counts:
    """Counts of calls by process, function, and offset in its page of the address in a register, made by bpftrace from the
    construction on."""

    def __init__(self, t, path, symbols, register="0"):
        libc = library(workload("gen"), "libc.so.6")
        known = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        # bpftrace may attach its probes in any order. When the first and the last are attached, all are.
        text = 'uprobe:%s:pthread_barrier_init { printf("first\\n"); }\n' % libc
        for symbol in symbols:
            if re.search(r" [TW] %s(@|$)" % symbol, known, re.M):
                text += 'uprobe:%s:%s { @["%s", pid, %s & 0xfff] = count(); }\n' % (path, symbol, symbol, register)
        text += 'uprobe:%s:pthread_barrier_wait { printf("last\\n"); }\n' % libc
        self.out = t.path()
        with open(self.out, "w", encoding="utf-8") as f:
            self.process = t.start(["bpftrace", "-B", "line", "-f", "json", "-e", text], stdout=f)
        wait_for("bpftrace's probes", lambda: self.ready(t), seconds=30, step=0.2)

    def read(self):
        return read_text(self.out)

    def ready(self, t):
        check(self.process.alive(), f"bpftrace ended: {self.process.err[-500:]}")
        t.run([workload("gen"), "--threads", "2", "--rounds", "1"])
        text = self.read()
        return "first" in text and "last" in text

    def stop(self):
        """{pid: {(function, place): calls}}"""
        self.process.signal(2)
        self.process.wait()
        found = {}
        for line in self.read().splitlines():
            record = json.loads(line) if line.startswith("{") else {}
            for key, hits in (record.get("data", {}).get("@", {}) if record.get("type") == "map" else {}).items():
                symbol, pid, place = key.rsplit(",", 2)
                found.setdefault(int(pid), {})[symbol, int(place)] = hits
        return found


def check_sites(trace, family):
    """Check that each site is in its module's code and, if it has a function name, in that function."""
    functions, n = {}, 0
    for row in trace.barriers(family=family):
        for site in row["callsites"]:
            module, offset = site["module"], site["offset"]
            check(os.path.exists(module), f"no {module}")
            if module not in functions:
                out = subprocess.run(["nm", "-DCS", "--defined-only", module], capture_output=True, text=True,
                                     check=True).stdout
                functions[module] = [(int(a, 16), int(size, 16), re.sub(r"@.*", "", name)) for a, size, name in
                                     re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [TtWw] (.*)$", out, re.M)]
            around = [name for start, size, name in functions[module] if start <= offset < start + size]
            if around:
                check(site["function"] in around, f"{site['function']} is not {around} at {offset:#x} of {module}")
                n += 1
    return n


def mpi(t, command, cwd):
    """Trace within mpirun, so that no rank runs before it is known."""
    counts = Counts(t, library(command[0], "libmpi.so"), MPI)
    out = t.path()
    result = t.run(["mpirun.openmpi", "--oversubscribe", "-n", "2", SBT, "--json", "-o", out, "--", *command],
                   timeout=120, cwd=cwd, env=clean_environment(**ENVIRONMENT))
    hits = counts.stop()
    check_equal("exit status", result.rc, 0)
    trace = Trace(t, out).nothing_lost()
    ours = {}
    for row in trace.barriers(family="mpi"):
        for thread in row["threads"]:
            ours[thread["tid"]] = ours.get(thread["tid"], 0) + thread["crossings"]
    check_equal("ranks", len(ours), 2)
    check_equal("calls", ours, {pid: sum(hits.get(pid, {}).values()) for pid in ours})
    return trace


def test_lammps(t):
    there("lmp", "bpftrace", "mpirun.openmpi")
    cwd = os.path.dirname(t.path())
    write_file(os.path.join(cwd, "in.lj"), LAMMPS_INPUT)
    trace = mpi(t, ["lmp", "-in", "in.lj"], cwd)
    check(check_sites(trace, "mpi") > 0, "no site has a function")
    check(trace.end["episodes"] > 60, f"few episodes: {trace.end}")
    check([r for r in trace.barriers(family="mpi") if (r["function"] or "").startswith("LAMMPS_NS::")],
          f"none in LAMMPS's own functions: {[r['function'] for r in trace.barriers(family='mpi')]}")


def test_hpcc(t):
    there("hpcc", "bpftrace", "mpirun.openmpi")
    if not os.path.exists(HPCC_INPUT):
        raise Skip("no input for hpcc")
    cwd = os.path.dirname(t.path())
    text = read_text(HPCC_INPUT)
    text = re.sub(r"(?m)^1000 ( *Ns)", r"100 \1", re.sub(r"(?m)^2 ( *Ps)", r"1 \1", text))
    write_file(os.path.join(cwd, "hpccinf.txt"), text)
    trace = mpi(t, ["hpcc"], cwd)
    check_sites(trace, "mpi")
    check(trace.end["episodes"] > 60, f"few episodes: {trace.end}")


def test_graphicsmagick(t):
    """The end of every parallel region that two threads run is found, in a stripped program."""
    there("gm", "bpftrace")
    counts = Counts(t, library("gm", "libgomp.so"), ("GOMP_parallel",), 'reg("di")')
    trace = t.trace(["gm", "convert", "-size", "200x200", "plasma:red-blue", "-gaussian", "0x2", "-median", "2", "null:"],
                    env=clean_environment(OMP_NUM_THREADS="2")).nothing_lost()
    hits = counts.stop()
    joins = trace.barriers(family="gomp", kind="join")
    check(joins, "no region's end")
    hits = hits.get(joins[0]["pid"], {})
    ours = {("GOMP_parallel", row["offset"] & 0xfff): row["episodes"] for row in joins}
    check_equal("ends of regions, by function", ours, {key: hits.get(key) for key in ours})
    check_equal("modules", {os.path.basename(row["module"]).split(".")[0] for row in joins}, {"libGraphicsMagick-Q16"})
    check_sites(trace, "gomp")
