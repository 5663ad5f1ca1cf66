#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Check what is installed, what is packaged, and whether it runs without anything else. Needs root, and make all static deb
build/workloads/gen-static before.

    run.py [PATTERN...]        tests that take seconds; part of make check
    run.py --root [PATTERN...] also test the package in a separate Debian: debootstrap uses the mirror of this machine's apt;
                               the downloaded files are kept in $SBT_VM_CACHE or ~/.cache/sbt-trace/vm

Prints one line per test, and a last line "N passed, N failed"."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build")
GEN = os.path.join(BUILD, "workloads", "gen-static")

sys.path.insert(0, os.path.join(ROOT, "tests", "vm"))
import debian  # noqa: E402

# Paths below PREFIX.
FILES = ["bin/sbt-trace", "include/sbt/sbt.h", "include/sbt/sbt_barrier.h",
         "share/bash-completion/completions/sbt-trace", "share/man/man1/sbt-trace-predict.1",
         "share/man/man1/sbt-trace.1", "share/man/man5/sbt-trace-recording.5",
         "share/pkgconfig/sbt.pc"]

PROGRAM = r"""
#define SBT_BARRIER bar
#define SBT_THREADID 0
#include <pthread.h>
#include <sbt/sbt.h>
sbt_barrier_t *SBT_BARRIER;
int main(int argc, char **argv)
{
	SBT_BARRIER = sbt_init(1, argc, argv);
	N_BARRIER("one");
	SBT_PHASE("p");
	sbt_finalize();
	return !SBT_BARRIER ? 1 : 0;
}
"""


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def check_equal(what, got, expected):
    if got != expected:
        raise Failure(f"{what}: got {got!r}, expected {expected!r}")


def check_in(what, part, whole):
    if part not in whole:
        raise Failure(f"{what}: {part!r} is not in {whole[-1500:]!r}")


def run(*args, rc=0, timeout=300, **more):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=timeout, **more)
    if done.returncode != rc:
        raise Failure(f"{' '.join(args)}: exit status {done.returncode}, expected {rc}: "
                      f"{done.stdout[-1500:]}")
    return done.stdout


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


def the_deb():
    found = glob.glob(f"{BUILD}/deb/sbt-trace_*.deb")
    check_equal("packages", len(found), 1)
    return found[0]


# --- make install -----------------------------------------------------------------------------------

def install(work, *words):
    run("make", "-s", "-C", ROOT, "install", *words)
    return files_below(work)


def test_install_obeys(work):
    """make install obeys DESTDIR and PREFIX, and installs only the expected files."""
    got = install(work, f"DESTDIR={work}", "PREFIX=/opt/some where")
    check_equal("files", got, [f"opt/some where/{name}" for name in FILES])
    below = f"{work}/opt/some where"
    modes = {name: os.stat(f"{below}/{name}").st_mode & 0o777 for name in FILES}
    check_equal("modes", modes, {n: 0o755 if n.startswith("bin/") else 0o644 for n in FILES})
    with open(f"{below}/share/pkgconfig/sbt.pc", encoding="utf-8") as f:
        check_in("sbt.pc", "prefix=/opt/some where\n", f.read())
    # Without PREFIX, the files go below /usr/local.
    other = os.path.join(work, "other")
    run("make", "-s", "-C", ROOT, "install", f"DESTDIR={other}")
    check_equal("files by default", files_below(other), [f"usr/local/{name}" for name in FILES])


def test_install_runs(work):
    install(work, f"PREFIX={work}/p")
    check_in("version", "sbt-trace ", run(f"{work}/p/bin/sbt-trace", "--version"))
    for page in glob.glob(f"{work}/p/share/man/man*/*"):
        text = run("man", "-l", page, env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C"})
        check_in(f"the page {page}", "NAME", text)
    complete = (f". {work}/p/share/bash-completion/completions/sbt-trace; "
                "COMP_WORDS=(sbt-trace --vers); COMP_CWORD=1; _sbt_trace; echo \"${COMPREPLY[@]}\"")
    check_equal("completion", run("bash", "-c", complete).strip(), "--version")


# --- the header -------------------------------------------------------------------------------------

def test_pkg_config(work):
    """A program that finds the header by pkg-config alone can be built in C and in C++, and has the markers."""
    install(work, f"PREFIX={work}/p")
    env = {**os.environ, "PKG_CONFIG_PATH": f"{work}/p/share/pkgconfig"}
    flags = run("pkg-config", "--cflags", "sbt", env=env).split()
    check_equal("flags", flags, [f"-I{work}/p/include", "-pthread"])
    check_equal("version", run("pkg-config", "--modversion", "sbt", env=env).strip(),
                run(f"{work}/p/bin/sbt-trace", "--version").split()[1])
    libs = run("pkg-config", "--libs", "sbt", env=env).split()
    for compiler, name in (("gcc", "program.c"), ("g++", "program.cc")):
        with open(f"{work}/{name}", "w", encoding="ascii") as f:
            f.write(PROGRAM)
        run(compiler, "-Wall", "-Wextra", "-Werror", "-o", f"{work}/program", *flags, f"{work}/{name}",
            *libs)
        run(f"{work}/program")
        notes = run("readelf", "-n", f"{work}/program")
        for marker in ("enter", "leave", "phase"):
            check_in(f"notes by {compiler}", f"Name: {marker}", notes)


def test_header_stands_alone(work):
    """The header needs the C library's headers and no others, for example not SystemTap's sys/sdt.h."""
    with open(f"{work}/program.c", "w", encoding="ascii") as f:
        f.write(PROGRAM)
    used = run("gcc", "-M", f"-I{ROOT}/include", f"{work}/program.c").replace("\\\n", " ").split()[1:]
    foreign = [os.path.realpath(p) for p in used if not p.startswith((ROOT, work)) and "/lib/gcc/" not in p]
    owners = {line.split(":")[0] for line in run("dpkg-query", "-S", *foreign).splitlines()}
    check_equal("owners of the headers", sorted(owners - {"linux-libc-dev"}), ["libc6-dev"])


# --- the static program -------------------------------------------------------------------------------

def in_root(root, *args, **more):
    """Run a command with @root as its root directory, and with /proc and /sys mounted there."""
    script = ('mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && '
              'mount --bind /dev "$0/dev" && exec chroot "$0" "$@"')
    return run("unshare", "-m", "sh", "-c", script, root, *args, **more)


def folders(root):
    for name in ("proc", "sys", "dev", "tmp"):
        os.makedirs(os.path.join(root, name), exist_ok=True)


def check_trace(root, out, rounds):
    with open(os.path.join(root, out), encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    check_equal("last record", records[-1]["type"], "end")
    found = {r["function"]: r["episodes"] for r in records if r["type"] == "barrier"}
    check_equal("episodes", found, {"site_0": rounds})
    check_equal("lost", records[-1]["lost_total"], 0)
    return records


def test_static_in_an_empty_root(work):
    """A root with three programs, and no library, shell or name service."""
    program = f"{BUILD}/static/sbt-trace"
    check_in("file", "statically linked", run("sh", "-c", f"ldd {program} 2>&1; true"))
    folders(work)
    os.makedirs(f"{work}/etc")
    shutil.copy(program, f"{work}/sbt-trace")
    shutil.copy(GEN, f"{work}/gen")
    os.chmod(work, 0o755)
    with open(f"{work}/etc/passwd", "w", encoding="ascii") as f:
        f.write("root:x:0:0:root:/:/none\nworker:x:1234:1235:A worker:/home:/none\n")
    with open(f"{work}/etc/group", "w", encoding="ascii") as f:
        f.write("worker:x:1235:\nmore:x:1300:other,worker\n")
    in_root(work, "/sbt-trace", "--json", "-o", "/out", "--", "/gen", "--threads", "3", "--rounds", "40")
    check_trace(work, "out", 40)
    text = in_root(work, "/sbt-trace", "-u", "worker", "--", "/gen", "--threads", "2", "--rounds", "5")
    check_in("report", "only 5 complete episodes", text)
    check_in("doctor", "sbt-trace can trace here", in_root(work, "/sbt-trace", "doctor"))
    # The result of the user lookup shows what the static program reads of /etc.
    shutil.copy(debian.busybox("amd64") if os.uname().machine == "x86_64" else "/bin/true", f"{work}/busybox")
    text = in_root(work, "/sbt-trace", "-q", "-o", "/dev/null", "-u", "worker", "--", "/busybox", "grep", "-E",
                   "^(Uid|Gid|Groups)", "/proc/self/status")
    check_equal("ids", text.split()[:13],
                ["Uid:", *["1234"] * 4, "Gid:", *["1235"] * 4, "Groups:", "1235", "1300"])
    refused = in_root(work, "/sbt-trace", "-u", "stranger", "--", "/gen", rc=1)
    check_in("a stranger", "there is no such user", refused)


def test_static_names_as_the_other(work):
    """The static program demangles C++ names without libstdc++, with the same result."""
    names = []
    for program in (f"{BUILD}/sbt-trace", f"{BUILD}/static/sbt-trace"):
        run(program, "--json", "-o", f"{work}/out", "--", f"{BUILD}/workloads/gen_std", "--threads", "2", "--rounds",
            "20")
        with open(f"{work}/out", encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        names.append(sorted((r["function"], r["episodes"]) for r in records if r["type"] == "barrier"))
        if not names[-1]:
            raise Failure("no barrier was found")
    check_equal("names", names[1], names[0])


# --- the package --------------------------------------------------------------------------------------

def test_deb_contents(_):
    deb = the_deb()
    names = [line.split()[5][1:] for line in run("dpkg-deb", "-c", deb).splitlines() if not line.startswith("d")]
    compressed = [n + ".gz" if "/man/" in n else n for n in FILES]
    for name in compressed:
        check_in("files", f"/usr/{name}", names)
    extra = set(names) - {f"/usr/{n}" for n in compressed}
    for name in extra:
        if not name.startswith("/usr/share/doc/sbt-trace/"):
            raise Failure(f"{name} was not expected")
    fields = {f: run("dpkg-deb", "-f", deb, f).strip() for f in ("Package", "Version", "Depends", "Architecture")}
    check_equal("version", fields["Version"], run(f"{BUILD}/sbt-trace", "--version").split()[1])
    for library in ("libc6", "libdw1", "libbpf"):
        check_in("computed dependencies", library, fields["Depends"])


def test_deb_lintian(_):
    if not shutil.which("lintian"):
        raise Skip("lintian is not installed")
    found = [line for line in run("lintian", "--allow-root", "--fail-on", "none", the_deb()).splitlines()
             if re.match("[EW]: ", line)]
    check_equal("findings", found, [])


def base_root(work):
    """Unpack a Debian made by debootstrap below @work."""
    own = [(u, r) for u, r in debian.own_sources() if "-" not in r]
    if not own:
        raise Skip("apt has no main archive here")
    uri, suite = own[0]
    kept = os.path.join(debian.CACHE, f"root-{suite}.tar")
    root = os.path.join(work, "root")
    os.makedirs(debian.CACHE, exist_ok=True)
    if not os.path.exists(kept):
        run("debootstrap", "--variant=minbase", suite, root, uri, timeout=500)
        run("tar", "-C", root, "-cf", kept + ".new", ".")
        os.rename(kept + ".new", kept)
    else:
        os.mkdir(root)
        run("tar", "-C", root, "-xf", kept)
    with open(f"{root}/etc/apt/sources.list", "w", encoding="ascii") as f:
        f.write(debian.sources(None))
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(name, root + name)
    return root


def state_of(root):
    """Return every file that a package could leave behind, with its size."""
    skip = ("./proc", "./sys", "./dev", "./tmp", "./var/cache", "./var/log", "./var/lib/apt", "./var/lib/dpkg", "./run")
    found = {}
    for path, _, names in os.walk(root):
        short = "./" + os.path.relpath(path, root)
        if not short.startswith(skip):
            found.update({f"{short}/{n}": os.lstat(f"{path}/{n}").st_size for n in names})
    return found


def test_root_deb(work):
    """The package is installed, run and removed in a separate Debian."""
    root = base_root(work)
    run("chroot", root, "apt-get", "update", "-q")
    name = os.path.basename(the_deb())
    with open(f"{root}/usr/sbin/policy-rc.d", "w", encoding="ascii") as f:
        f.write("#!/bin/sh\nexit 101\n")
    deps = [d.split()[0] for d in run("dpkg-deb", "-f", the_deb(), "Depends").split(",")]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    run("chroot", root, "apt-get", "install", "-qy", "--no-install-recommends", *deps, env=env)
    before = state_of(root)
    shutil.copy(the_deb(), f"{root}/tmp/{name}")
    run("chroot", root, "apt-get", "install", "-qy", "--no-install-recommends", f"/tmp/{name}", env=env)
    check_in("status", "install ok installed", run("chroot", root, "dpkg", "-s", "sbt-trace"))
    run("chroot", root, "dpkg", "--verify", "sbt-trace")
    shutil.copy(GEN, f"{root}/tmp/gen")
    in_root(root, "sbt-trace", "--json", "-o", "/tmp/out", "--", "/tmp/gen", "--threads", "4", "--rounds", "60")
    check_trace(root, "tmp/out", 60)
    check_in("doctor", "sbt-trace can trace here", in_root(root, "sbt-trace", "doctor"))
    in_root(root, "sbt-trace", "record", "-q", "-o", "/tmp/rec", "--", "/tmp/gen", "--threads", "2", "--rounds", "10")
    check_in("report", "10 episodes", in_root(root, "sbt-trace", "report", "/tmp/rec"))
    out = run("chroot", root, "apt-get", "purge", "-qy", "sbt-trace", env=env)
    if "warning" in out.lower():
        raise Failure(f"purging: {out}")
    check_equal("what is left or gone", sorted(set(state_of(root).items()) ^ set(before.items())), [])


# --- --------------------------------------------------------------------------------------------------

def main():
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if os.geteuid() != 0:
        sys.exit("run.py: root is needed")
    whole = "--root" in words
    patterns = [w for w in words if w != "--root"]
    tests = [(n[5:], f) for n, f in globals().items() if n.startswith("test_")]
    passed = failed = 0
    for name, function in tests:
        if (name.startswith("root_") and not whole) or (patterns and not any(p in name for p in patterns)):
            continue
        start, why, skipped = time.monotonic(), None, ""
        with tempfile.TemporaryDirectory(prefix="sbt-package-") as work:
            try:
                function(work)
            except Skip as e:
                skipped = f", skipped: {e}"
            except (Failure, debian.Failure, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
                why = f"{type(e).__name__}: {e}"
        if why:
            print(f"FAIL package.{name}: {why}", flush=True)
        else:
            print(f"ok package.{name} ({time.monotonic() - start:.1f} s){skipped}", flush=True)
        passed += not why
        failed += bool(why)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
