# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Real programs, traced by sbt-trace and by bpftrace in one run: compare hits and time inside, function by function.

Nothing is installed here. Install any of these first: apt-get install hpcc gromacs lammps graphicsmagick.

Two tracers with a probe at the same instruction measure each other's handlers. sbt-trace probes a library when a program maps
it, so its probe is the later one. The kernel puts the later probe at the head of its list, so this probe runs first, at the
entry and at the exit. Therefore sbt-trace's time includes what bpftrace does at the entry before it reads the clock. bpftrace's
time includes what sbt-trace does at the exit, about 0.6 us per hit. To limit this error, bpftrace reads the clock first. When
it wrote three maps before, the error was 1 us per hit in the other direction, which is 5 % of waits of 20 us. The remaining
error is printed in ns per hit ("bpftrace ... ns").
Different instructions would cause a larger error. Where return probes could do harm, sbt-trace detects departures at the ret
instructions. The CPU single-steps these, which takes 5 us that a return probe would count as time inside. bpftrace therefore
records the time at both, and the comparison uses the one that sbt-trace reports.
At the entry, too, bpftrace probes the same instruction as sbt-trace, because up to 4 us of single-stepping can precede it.
Debian's bpftrace can only probe named addresses. So the run uses a copy of the library, to which only names for these
instructions were added.

For the end of a parallel region, the reference is bpftrace's time in the thread that began the region: from the instruction
after GOMP_parallel's call of the region's function to GOMP_parallel's ret. (A return probe would hide the caller, by which
sbt-trace finds all regions of a stripped library at once.) Regions of one thread are no episodes. Functions that one thread
sometimes ran alone have different hits, and are left out of the sum of times.

Half a microsecond matters if waits are short. So GROMACS gets a box in which they are long: with a box of 6 nm, waits last 20
us on a quiet machine, and they grow with the box. The summary of all runs, printed last, is the result. REAL_RUNS sets the
number of runs."""
import collections
import functools
import glob
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SBT = os.path.join(ROOT, "build/sbt-trace")
ENV = dict(os.environ, SBT_OPTIONS="0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           BPFTRACE_MAP_KEYS_MAX="65536", BPFTRACE_MAX_PROBES="1000")
MPI = ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
       "MPI_Reduce_scatter", "MPI_Comm_split", "MPI_Comm_dup", "MPI_Comm_create", "MPI_Cart_create")
GOMP = ("GOMP_barrier", "GOMP_loop_end", "GOMP_sections_end")
MPIRUN = ("mpirun.openmpi", "--oversubscribe", "-np")


def library(program, name):
    """Return the file of a library that the program needs, or None."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    found = re.search(r"%s\S* => (\S+)" % re.escape(name), out)
    return os.path.realpath(found.group(1)) if found else None


def rets(path, symbol):
    """Return the addresses of the ret instructions that the function reaches, also through jumps out of it, according to
    objdump."""
    out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"^([0-9a-f]+) \w %s(@|$)" % re.escape(symbol), out, re.M)
    code, todo, seen, ends = code_of(path), [int(found.group(1), 16)] if found else [], set(), set()
    while todo:
        at = todo.pop()
        while at in code and at not in seen:
            seen.add(at)
            word, target, after, _ = code[at]
            if word.startswith("ret"):
                ends.add(at)
                break
            if word.startswith("j") and target is not None:
                todo.append(target)
            if word.startswith("jmp"):
                break
            at = after
    return sorted(ends)


def behind_call(path, symbol):
    """Return the address after the function's call through a pointer."""
    out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    at = int(re.search(r"^([0-9a-f]+) \w %s(@|$)" % re.escape(symbol), out, re.M).group(1), 16)
    code = code_of(path)
    while code[at][0] != "call" or code[at][3] is not None:
        at = code[at][2]
    return code[at][2]


@functools.lru_cache(None)
def code_of(path):
    """Return {address: (mnemonic, target of a jump, address of the next instruction, target of a call)} for .text."""
    out = subprocess.run(["objdump", "-d", "-j", ".text", "--no-show-raw-insn", path], capture_output=True, text=True,
                         check=True).stdout
    found = [(int(a, 16), re.sub(r"^(bnd|repz|notrack) +", "", text))
             for a, text in re.findall(r"^\s*([0-9a-f]+):\s+(\S.*)$", out, re.M)]
    code = {}
    for (at, text), (after, _) in zip(found, found[1:] + [(0, "")]):
        jump = re.match(r"(j\w+)\s+([0-9a-f]+)", text)
        call = re.match(r"call\s+([0-9a-f]+)", text)
        code[at] = text.split()[0], int(jump.group(2), 16) if jump else None, after, call and int(call.group(1), 16)
    return code


def give_sizes(path):
    """Give each function without a size a size of one byte, because bpftrace requires sizes."""
    with open(path, "r+b") as f:
        sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
        at, size = (int(x, 16) for x in re.search(r"\] \.symtab +SYMTAB +\S+ (\S+) (\S+)", sections).groups())
        f.seek(at)
        table = bytearray(f.read(size))
        for i in range(0, size, 24):
            name, info, other, section, value, length = struct.unpack_from("<IBBHQQ", table, i)
            if info & 15 == 2 and not length:
                struct.pack_into("<IBBHQQ", table, i, name, info, other, section, value, 1)
        f.seek(at)
        f.write(table)


def entries(path):
    """Return {function: offset in the file of sbt-trace's probe}. Instructions before this offset are in no wait, so bpftrace
    starts there, too."""
    out = subprocess.run([SBT, "list", "--json", path], capture_output=True, text=True, check=True).stdout
    places = [json.loads(text) for text in out.splitlines()]
    return {r["function"]: r["offset"] for r in places if r["type"] == "place" and r["problem"] is None}


def with_names(path, symbols, cwd):
    """Copy the library, and add names for the functions' beginnings (bench_in_...) and ret instructions. Return (path, {symbol:
    names of rets})."""
    copy = os.path.join(cwd, "lib", os.path.basename(path))
    soname = re.search(r"SONAME.*\[(.*)\]", subprocess.run(["readelf", "-dW", path], capture_output=True, text=True,
                                                           check=True).stdout).group(1)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    text, text_offset = (int(x, 16) for x in re.search(r"\] \.text +PROGBITS +(\S+) +(\S+)", sections).groups())
    names, options, begins = {}, [], entries(path)
    for symbol in symbols:
        # MPI_X and PMPI_X are the same function.
        begin = begins.get(symbol) or begins["P" + symbol]
        options += ["--add-symbol", "bench_in_%s=.text:0x%x,function,global" % (symbol, begin - text_offset)]
    if symbols == GOMP:
        symbols = (*symbols, "GOMP_parallel")
        options += ["--add-symbol", "bench_joins=.text:0x%x,function,global" % (behind_call(path, "GOMP_parallel") - text)]
    for symbol in symbols:
        addresses = rets(path, symbol)
        names[symbol] = ["bench_ret_%x" % address for address in addresses]
        for name, address in zip(names[symbol], addresses):
            options += ["--add-symbol", "%s=.text:0x%x,function,global" % (name, address - text)]
    # Several functions can end at the same ret.
    pairs = dict(zip(options[1::2], options[::2]))
    subprocess.run(["objcopy", *(word for option, flag in pairs.items() for word in (flag, option)), path, copy], check=True)
    give_sizes(copy)
    link = os.path.join(cwd, "lib", soname)
    if not os.path.exists(link):
        os.symlink(os.path.basename(copy), link)
    return copy, names


def script(path, symbols, names):
    """Return a script that counts calls by process, function and call site, with the time to the ret instruction and to the
    return."""
    parts = ['BEGIN { printf("ready\\n"); }']
    key = "pid, @fn[tid], @from[tid]"
    for name in sorted({name for symbol in symbols for name in names[symbol]}):
        parts.append("uprobe:%s:%s { $now = nsecs; if (@in[tid] && reg(\"sp\") == @sp[tid]) { "
                     "@to_ret[%s] = sum($now - @in[tid]); } }" % (path, name, key))
    for number, symbol in enumerate(symbols):
        parts.append("uprobe:%s:bench_in_%s /!@in[tid]/ { $now = nsecs; @fn[tid] = %d; @from[tid] = *(uint64*)reg(\"sp\"); "
                     "@sp[tid] = reg(\"sp\"); @in[tid] = $now; }" % (path, symbol, number))
        parts.append("uretprobe:%s:bench_in_%s { $now = nsecs; if (@in[tid] && reg(\"sp\") == @sp[tid] + 8) { "
                     "@hits[%s] = count(); @to_return[%s] = sum($now - @in[tid]); delete(@in[tid]); } }" %
                     (path, symbol, key, key))
    if symbols == GOMP:
        parts.append("uprobe:%s:GOMP_parallel { @regions[pid] = count(); @begun[tid] = reg(\"sp\"); @region[tid] = reg(\"di\"); }" %
                     path)
        parts.append("uprobe:%s:bench_joins { @join[tid] = nsecs; }" % path)
        for name in names["GOMP_parallel"]:
            parts.append("uprobe:%s:%s { $now = nsecs; if (@join[tid] && reg(\"sp\") == @begun[tid]) { "
                         "@join_hits[pid, @region[tid]] = count(); @join_to_ret[pid, @region[tid]] = sum($now - @join[tid]); "
                         "delete(@join[tid]); } }" % (path, name))
    parts.append("END { clear(@in); clear(@sp); clear(@from); clear(@fn); clear(@join); clear(@begun); clear(@region); }"
                 if symbols == GOMP else "END { clear(@in); clear(@sp); clear(@from); clear(@fn); }")
    return "\n".join(parts)


def start_bpftrace(text):
    p = subprocess.Popen(["bpftrace", "-f", "json", "-e", text], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=ENV)
    for line in p.stdout:
        if "ready" in line:
            return p
    raise RuntimeError("bpftrace did not become ready: " + p.stderr.read())


def stop_bpftrace(p):
    p.send_signal(2)
    out = p.communicate(timeout=60)[0]
    maps = collections.defaultdict(dict)
    for line in out.splitlines():
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("type") == "map":
            for name, data in record["data"].items():
                for key, value in data.items():
                    maps[name][tuple(int(k) for k in key.split(","))] = value
    return maps


class Mappings(threading.Thread):
    """The mapped files of the processes below a process, read while they run."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.spans, self.end = pid, collections.defaultdict(set), False

    def run(self):
        while not self.end:
            todo = [self.pid]
            while todo:
                pid = todo.pop()
                for path in glob.glob("/proc/%d/task/*/children" % pid):
                    try:
                        with open(path, encoding="ascii") as f:
                            todo += [int(p) for p in f.read().split()]
                    except OSError:
                        pass
                self.look(pid)
            time.sleep(0.1)

    def look(self, pid):
        try:
            with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as f:
                for line in f:
                    word = line.split(None, 5)
                    if "x" in word[1] and len(word) == 6:
                        low, high = (int(a, 16) for a in word[0].split("-"))
                        self.spans[pid].add((low, high, int(word[2], 16), word[5].strip()))
        except OSError:
            pass

    def place(self, pid, address):
        """Return (file, offset in the file) of the instruction before an address."""
        for low, high, offset, path in self.spans[pid]:
            if low < address <= high:
                return path, address - 1 - low + offset
        return "?", address


def virtual_to_file(path):
    """Convert an address: sbt-trace reports addresses in the file's image, the mappings have offsets in the file."""
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=False).stdout
    loads = [[int(x, 16) for x in m] for m in re.findall(r"LOAD\s+0x(\S+) 0x(\S+) 0x\S+ 0x(\S+)", out)]

    def convert(address):
        for offset, start, size in loads:
            if start <= address < start + size:
                return address - start + offset
        return address
    return convert


class Groups:
    """Call sites that share a row of the report, such as a barrier that ranks reach through different calls."""

    def __init__(self):
        self.parent = {}

    def find(self, place):
        self.parent.setdefault(place, place)
        while self.parent[place] != place:
            place = self.parent[place]
        return place

    def join(self, places):
        for place in places[1:]:
            self.parent[self.find(place)] = self.find(places[0])


def run_both(command, path, symbols, cwd, kinds):
    """Run the command under both tracers at once. Return the rows {(symbols): [hits, hits, ns, ns]}, the call sites, and the
    end record."""
    gate, out = os.path.join(cwd, "gate"), os.path.join(cwd, "trace.json")
    path, ret_names = with_names(path, symbols, cwd)
    text, env = script(path, symbols, ret_names), dict(ENV, LD_LIBRARY_PATH=os.path.dirname(path))
    bpftrace = start_bpftrace(text)
    sbt = subprocess.Popen([SBT, "--json", "--no-warnings", "-o", out, "--", "sh", "-c",
                            'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"', gate, *command],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           cwd=cwd, env=env)
    look = Mappings(sbt.pid)
    look.start()
    try:
        while not (os.path.exists(out) and os.path.getsize(out)) and sbt.poll() is None:
            time.sleep(0.05)
        with open(gate, "w", encoding="ascii"):
            pass
        err = sbt.communicate(timeout=300)[1]
    finally:
        look.end = True
        look.join()
        maps = stop_bpftrace(bpftrace)
        if os.path.exists(gate):
            os.unlink(gate)
    if sbt.returncode:
        raise RuntimeError("%s ended with %d:\n%s" % (command[0], sbt.returncode, err[-2000:]))
    with open(out, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    return hold(records, maps, look, symbols, kinds, path)


def join_tails(of, names, library_path):
    """Join the rows of barriers at the end of a region's function. They are reached by a jump and return into the library, but
    sbt-trace names the function."""
    jumped = [g for g, r in of.items() if not r[0] and g[0] == library_path]
    tails = [g for g, r in of.items() if not r[1]]
    if jumped and tails and sum(of[g][1] for g in jumped) == sum(of[g][0] for g in tails):
        keep = jumped[0]
        for g in jumped[1:] + tails:
            of[keep] = [a + b for a, b in zip(of[keep], of.pop(g))]
            names[keep] |= names.pop(g, set())


def hold(records, maps, look, symbols, kinds, library_path):
    """Compare sbt-trace's rows with bpftrace's sums."""
    groups, converters = Groups(), {}
    of = collections.defaultdict(lambda: [0, 0, 0, 0])
    names = collections.defaultdict(set)
    rows = [r for r in records if r["type"] == "barrier" and r["family"] in kinds and r["kind"] != "join"]

    def place_of(site):
        module = site["module"]
        if module not in converters:
            converters[module] = virtual_to_file(module)
        return module, converters[module](site["offset"])

    row_places = []
    for row in rows:
        places = [place_of(site) for site in row["callsites"]]
        groups.join(places)
        row_places.append(places[0])
    by_exit = {r["pid"]: r["departures"] == "ret instructions" for r in records if r["type"] == "process"}
    for key, hits in maps["@hits"].items():
        pid, number, address = key
        group = groups.find(look.place(pid, address))
        names[group].add(symbols[number])
        of[group][1] += hits
        of[group][3] += maps["@to_ret" if by_exit.get(pid) else "@to_return"].get(key, 0)
    for row, place in zip(rows, row_places):
        group = groups.find(place)
        of[group][0] += sum(t["crossings"] for t in row["threads"])
        of[group][2] += sum(t["idle_ns"] for t in row["threads"])
    join_tails(of, names, library_path)
    regions = sum(maps["@regions"].values()), sum(r["episodes"] for r in records if r["type"] == "barrier" and
                                                  r["family"] == "gomp" and r["kind"] == "join")
    return of, names, regions, hold_joins(records, maps, look, place_of), by_exit, records


def hold_joins(records, maps, look, place_of):
    """Compare the ends of regions, for the threads that begin them. Return [hits, hits, ns, ns], functions, functions left out."""
    by_region = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in records:
        if row["type"] == "barrier" and row["family"] == "gomp" and row["kind"] == "join":
            r = by_region[row["pid"], place_of(row["callsites"][0])]
            for t in row["threads"]:
                if t["tid"] == row["pid"]:
                    r[0] += t["crossings"]
                    r[2] += t["idle_ns"]
    for (pid, function), hits in maps["@join_hits"].items():
        key = pid, look.place(pid, function + 1)
        if key in by_region:
            by_region[key][1] += hits
            by_region[key][3] += maps["@join_to_ret"].get((pid, function), 0)
    same = [r for r in by_region.values() if r[0] == r[1]]
    return [sum(r[i] for r in same) for i in range(4)], len(same), len(by_region) - len(same)


def difference(mine, other):
    return "%+8.2f %%" % (100 * (mine / other - 1)) if other else "       -  "


def line(program, name, r):
    print("%-26s %-34s %8d %8d %10.3f %10.3f %s" %
          (program, name, r[0], r[1], r[2] / 1e6, r[3] / 1e6, difference(r[2], r[3])), flush=True)


def table(title, command, path, symbols, cwd, kinds, runs=2):
    """Run the command under both tracers at once, several times, and print a table."""
    all_runs = collections.defaultdict(list)
    for _ in range(int(os.environ.get("REAL_RUNS", runs))):
        of, names, regions, (join, same, other), by_exit, records = run_both(command, path, symbols, cwd, kinds)
        end = records[-1]
        by_symbol = collections.defaultdict(lambda: [0, 0, 0, 0])
        for group, r in of.items():
            key = ", ".join(sorted(names[group])) or "not seen by bpftrace"
            by_symbol[key] = [a + b for a, b in zip(by_symbol[key], r)]
        for name, r in sorted(by_symbol.items(), key=lambda item: -item[1][3]):
            line(title, name, r)
        total = [sum(r[i] for r in of.values()) for i in range(4)]
        line(title, "all", total)
        all_runs["all"].append(total)
        if any(join):
            line(title, "ends of regions", join)
            all_runs["ends of regions"].append(join)
        print("    %d places, %d of them with other hits; departures by %s; %d incomplete, %d lost; bpftrace %+.0f ns a hit" %
              (len(of), sum(r[0] != r[1] for r in of.values()),
               "ret instructions" if any(by_exit.values()) else "return probe",
               end["incomplete"], sum(end["lost"].values()), (total[3] - total[2]) / max(1, total[1])))
        if any(regions):
            print("    GOMP_parallel was called %d times; sbt-trace has the ends of %d regions (of those of one thread none), of %d "
                  "functions, %d of them with other hits" % (*regions, same + other, other))
    for name, rows in all_runs.items():
        summary(title, name, [r for r in rows if r[1] and r[3]])


def summary(title, name, rows):
    """Print all runs in one line."""
    ratios, hits = [r[2] / r[3] for r in rows], sum(r[1] for r in rows)
    if rows:
        print("    %s, %s: %d runs, from %s to %s, mean %s; bpftrace %+.0f ns a hit, of waits of %.1f us" %
              (title, name, len(rows), difference(min(ratios), 1).strip(), difference(max(ratios), 1).strip(),
               difference(statistics.mean(ratios), 1).strip(), sum(r[3] - r[2] for r in rows) / hits,
               sum(r[3] for r in rows) / 1e3 / hits))


HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def hpcc(cwd):
    """HPCC uses a grid of 1 x 2 processes: of three ranks, one waits for the others, and two share the CPUs."""
    with open(HPCC_INPUT, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"(?m)^1000 ( *Ns)", r"1500 \1", re.sub(r"(?m)^2 ( *Ps)", r"1 \1", text))
    with open(os.path.join(cwd, "hpccinf.txt"), "w", encoding="utf-8") as f:
        f.write(text)
    path = library(shutil.which("hpcc"), "libmpi.so")
    for ranks in ("2", "3"):
        table("hpcc, %s ranks" % ranks, (*MPIRUN, ranks, "hpcc"), path, MPI, cwd, ("mpi",))


LAMMPS_INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
region most block 0 8 0 12 0 12
create_atoms 1 region most
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 1
run 300
"""


def lammps(cwd):
    """Two thirds of the box are full, so one rank has less work than the other."""
    with open(os.path.join(cwd, "in.lj"), "w", encoding="ascii") as f:
        f.write(LAMMPS_INPUT)
    table("lammps, 2 ranks", (*MPIRUN, "2", "lmp", "-in", "in.lj"), library(shutil.which("lmp"), "libmpi.so"), MPI,
          cwd, ("mpi",))


GROMACS_RUN = """integrator = md
nsteps = 60
dt = 0.0005
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
gen-vel = yes
gen-seed = 1
"""
GROMACS_TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""


def gromacs(cwd):
    """A box of water of 9 nm, so that waits are long compared with a hit. Its edges have not been relaxed: with steps of 2 fs,
    one run in four fails by itself."""
    for name, text in (("md.mdp", GROMACS_RUN), ("topol.top", GROMACS_TOPOLOGY)):
        with open(os.path.join(cwd, name), "w", encoding="ascii") as f:
            f.write(text)
    for words in ("solvate -cs spc216.gro -box 9 9 9 -o box.gro -p topol.top",
                  "grompp -f md.mdp -c box.gro -p topol.top -o run.tpr -maxwarn 3"):
        subprocess.run(["gmx", *words.split()], cwd=cwd, check=True, capture_output=True)
    table("gmx, 2 OpenMP threads", "gmx mdrun -s run.tpr -ntmpi 1 -ntomp 2 -deffnm run".split(),
          library(shutil.which("gmx"), "libgomp.so"), GOMP, cwd, ("gomp",), runs=5)
    if shutil.which("gmx_mpi"):
        table("gmx_mpi, 2 ranks", (*MPIRUN, "2", *"gmx_mpi mdrun -s run.tpr -ntomp 1 -deffnm run".split()),
              library(shutil.which("gmx_mpi"), "libmpi.so"), MPI, cwd, ("mpi",))


def graphicsmagick(cwd):
    """The program has ends of regions only. With few regions, the first ones, for which caches are cold, would dominate."""
    command = ["gm", "convert", "-size", "700x700", "plasma:red-blue", *["-blur", "0x3", "-sharpen", "0x2"] * 20, "null:"]
    table("gm, 2 OpenMP threads", command,
          library(shutil.which("gm"), "libgomp.so"), GOMP, cwd, ("gomp",), runs=5)


PROGRAMS = (("hpcc", hpcc), ("lmp", lammps), ("gmx", gromacs), ("gm", graphicsmagick))


def bench_real():
    if not shutil.which("bpftrace"):
        print("no bpftrace")
        return
    print("%-26s %-34s %8s %8s %10s %10s" % ("", "", "hits", "", "inside, ms", ""))
    print("%-26s %-34s %8s %8s %10s %10s %s" % ("program", "function", "sbt", "bpftrace", "sbt", "bpftrace", "difference"))
    wanted = os.environ.get("REAL", "").split()
    for program, run in PROGRAMS:
        if wanted and program not in wanted:
            continue
        if not shutil.which(program):
            print("%s is not installed" % program)
            continue
        with tempfile.TemporaryDirectory() as cwd:
            run(cwd)
