#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Debian's packages of another architecture or suite, unpacked but never installed.

    debian.py sysroot ARCH         prints a folder with the libraries that programs need there
    debian.py rustc ARCH           prints a command: the Rust compiler, which runs here, for programs there
    debian.py kernel ARCH [SUITE]  prints a folder with the cloud kernel's image
    debian.py busybox ARCH         prints the path of a static busybox

Installing development packages of a second architecture would force the machine's own packages to the same versions, so they
are only unpacked. Downloaded files are kept in $SBT_VM_CACHE, or else in ~/.cache/sbt-trace/vm, and are not downloaded again.
Remove the folder to get newer versions."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib

CACHE = os.environ.get("SBT_VM_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sbt-trace", "vm")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MACHINES = {"arm64": "aarch64", "amd64": "x86_64"}

# Libraries that are linked, with their dependencies, and libraries that the traced programs are built with.
SYSROOT = ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libzstd-dev", "libdw-dev", "libcapstone-dev",
           "libncurses-dev", "libelf1", "zlib1g", "libdw1", "liblzma5", "libbz2-1.0", "musl-dev")
# Packages that only name the current version, and which of their dependencies are wanted.
SYSROOT_NEWEST = {"libomp-dev": "libomp", "libboost-thread-dev": r"libboost-thread", "libtbb-dev": r"libtbb\d",
                  "libmpich-dev": r"mpich|lib(mpich|ucx|hwloc|numa|udev|slurm)"}


class Failure(Exception):
    pass


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def command(args, what, **more):
    """Return the standard output. A failure is reported in one sentence, with the end of the command's output."""
    try:
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, **more)
    except OSError as e:
        raise Failure(f"{what}: {args[0]}: {e.strerror}") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason was given"]
        raise Failure(f"{what}: {args[0]} failed: {last[0]}")
    return done.stdout


def own_sources():
    """Return (uri, release) of the Debian archives that this machine's own apt uses."""
    out = command(["apt-get", "indextargets", "--format",
                   "$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(RELEASE)", "Created-By: Packages"],
                  "the sources of packages")
    rows = [line.split("|") for line in out.splitlines()]
    found = sorted({(r[2], r[3]) for r in rows if r[:2] == ["Debian", "main"]})
    if not found:
        raise Failure("apt knows no Debian archive here; run apt-get update, on Debian")
    return found


def sources(suite):
    """Return the lines of a sources.list. A suite other than the machine's own is searched in addition."""
    own = own_sources()
    if suite:
        main = [uri for uri, release in own if "-" not in release]
        if not main:
            raise Failure("apt has no main archive here")
        own = [(main[0], suite)]
    signed = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
    return "".join(f"deb {signed}{uri} {release} main\n" for uri, release in own)


@contextlib.contextmanager
def locked(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


class Archive:
    """One suite (None: the machine's own) for one architecture."""

    def __init__(self, arch, suite=None):
        self.arch, self.suite = arch, suite
        self.name = f"{suite or 'own'} {arch}"
        self.dir = os.path.join(CACHE, f"{suite or 'own'}-{arch}")
        self.updated = False

    def _options(self):
        lists = os.path.join(self.dir, "lists")
        return ["-o", f"Dir::Etc::sourcelist={self.dir}/sources.list",
                "-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={lists}",
                "-o", f"Dir::Cache={self.dir}/apt", "-o", "Dir::State::status=/dev/null",
                "-o", f"APT::Architecture={self.arch}", "-o", f"APT::Architectures={self.arch}",
                "-o", "APT::Get::AllowUnauthenticated=false", "-o", "APT::Sandbox::User=root",
                "-o", "Acquire::Languages=none", "-o", "Acquire::Retries=2"]

    def _update(self):
        if self.updated:
            return
        with open(f"{self.dir}/sources.list", "w", encoding="ascii") as f:
            f.write(sources(self.suite))
        for folder in ("lists/partial", "apt/archives/partial"):
            os.makedirs(os.path.join(self.dir, folder), exist_ok=True)
        command(["apt-get", *self._options(), "-o", "APT::Update::Error-Mode=any", "update", "-q"],
                f"the lists of packages of {self.name} could not be fetched")
        self.updated = True

    def depends(self, package):
        self._update()
        out = command(["apt-cache", *self._options(), "depends", "--important", package],
                      f"what {package} depends on ({self.name})")
        return re.findall(r"^\s+Depends: (\S+)$", out, re.M)

    def named(self, meta, pattern):
        """Return the dependencies of a meta package, which names the current version, and their dependencies, if their names
        match @pattern."""
        todo, found = [meta], []
        while todo:
            for package in self.depends(todo.pop()):
                if re.match(pattern, package) and package not in found:
                    found.append(package)
                    todo.append(package)
        if not found:
            raise Failure(f"{meta} of {self.name} names none of {pattern}")
        return found

    def unpacked(self, name, packages, only=None):
        """Return the folder CACHE/.../NAME with the contents of the packages (or of those that a function returns). Download
        them unless the folder exists. @only: a pattern of the wanted paths."""
        final = os.path.join(self.dir, name)
        with locked(self.dir):
            if os.path.isdir(final):
                return final
            if callable(packages):
                packages = packages()
            self._update()
            say(f"fetching {', '.join(packages)} ({self.name})")
            with tempfile.TemporaryDirectory(dir=self.dir) as work:
                command(["apt-get", *self._options(), "download", "-q", *packages],
                        f"{' '.join(packages)} of {self.name} could not be fetched", cwd=work)
                root = os.path.join(work, "root")
                os.mkdir(root)
                for deb in sorted(n for n in os.listdir(work) if n.endswith(".deb")):
                    unpack(os.path.join(work, deb), root, only)
                relink(root)
                os.rename(root, final)
            # The package lists are not needed once everything is unpacked.
            shutil.rmtree(os.path.join(self.dir, "lists"), ignore_errors=True)
            shutil.rmtree(os.path.join(self.dir, "apt"), ignore_errors=True)
            self.updated = False
        return final


def unpack(deb, root, only):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as p:
        with tarfile.open(fileobj=p.stdout, mode="r|") as tar:
            for member in tar:
                if member.isdir() or (only and not re.search(only, member.name)):
                    continue
                if member.issym() or member.isfile() or member.islnk():
                    tar.extract(member, root)
        p.stdout.read()
    if p.returncode:
        raise Failure(f"{os.path.basename(deb)} could not be unpacked")


def relink(root):
    """Make absolute links relative, because they would lead to the machine's own files."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) and os.readlink(path).startswith("/"):
                target = root + os.readlink(path)
                os.unlink(path)
                os.symlink(os.path.relpath(target, folder), path)


def sysroot(arch):
    # A folder that was unpacked for another list cannot be used.
    name = f"sysroot-{zlib.crc32(repr((SYSROOT, SYSROOT_NEWEST)).encode()):08x}"
    archive = Archive(arch)
    return archive.unpacked(name, lambda: [*SYSROOT, *(package for meta, pattern in SYSROOT_NEWEST.items()
                                                      for package in (meta, *archive.named(meta, pattern)))],
                            r"^\./(usr/include|(usr/)?lib)/(?!.*\.bc$)|^\./usr/bin/(mpiexec\.hydra|hydra_pmi_proxy)$")


def rustc(arch):
    """Return the compiler, whatever other Rust compiler is installed here: a Rust library can only be used by exactly the
    version that built it."""
    own = next(name for name, machine in MACHINES.items() if machine == os.uname().machine)
    compiler = Archive(own)
    there = compiler.unpacked("rustc", lambda: ["rustc", *compiler.named("libstd-rust-dev", r"libstd-rust-\d")],
                              r"^\./usr/(bin/rustc|lib/[^/]*/lib(rustc_driver|std)-[^/]*)$")
    library = Archive(arch).unpacked("rust", ["libstd-rust-dev"], r"/lib(?!test-|proc_macro-)[^/]*\.rlib$")
    return (f"env LD_LIBRARY_PATH={there}/usr/lib/{MACHINES[own]}-linux-gnu {there}/usr/bin/rustc "
            f"--target {MACHINES[arch]}-unknown-linux-gnu --sysroot {library}/usr")


def busybox(arch):
    return os.path.join(Archive(arch).unpacked("busybox", ["busybox-static"], r"^\./bin/"),
                        "bin/busybox")


# The image, and the modules that a virtual machine's devices need.
KERNEL_FILES = r"/vmlinuz|/config-|/modules\.(builtin|dep)$|/(virtio|9p|netfs|fscache)"


def kernel(arch, suite=None):
    archive = Archive(arch, suite)
    # The dependency of the meta package may be split in two.
    meta = f"linux-image-cloud-{arch}"
    return archive.unpacked("kernel", lambda: archive.named(meta, r"linux-(image|binary|modules)-\d"), KERNEL_FILES)


def main():
    jobs = {"sysroot": sysroot, "rustc": rustc, "kernel": kernel, "busybox": busybox}
    if len(sys.argv) < 3 or sys.argv[1] not in jobs or sys.argv[2] not in MACHINES:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        print(jobs[sys.argv[1]](*sys.argv[2:]))
    except Failure as e:
        say(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
