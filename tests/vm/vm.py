# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""A virtual machine for one script: a Debian cloud kernel under emulation, with its own initramfs.

    guest = Guest("arm64", cpus=2, counting=True)
    guest.program("/bin/sbt-trace", "build/arm64/sbt-trace")    with the libraries that it needs
    result = guest.run("sbt-trace --version > version.txt")
    result.rc, result.stdout, result.files["version.txt"], result.console

A shell runs the script, as root, in an empty folder, and all files that it leaves there are returned. Other output of the
machine is on its console. It needs only qemu and what debian.py downloads."""

import gzip
import io
import lzma
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import time

import debian
from debian import Failure

DISK_BYTES = 512 << 20  # sparse; the maximum size of the returned files

# The parts of a machine. debian.py fills the last of the folders with libraries.
MACHINES = {
    "arm64": {
        "qemu": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72"],
        "console": "ttyAMA0",
        "interpreter": "/lib/ld-linux-aarch64.so.1",
        "libraries": ["/usr/aarch64-linux-gnu/lib"],
        "triplet": "aarch64-linux-gnu",
    },
    "amd64": {
        # Debian 12's emulator breaks cmpxchg16b when several CPUs run, which crashes Linux 6.12.
        "qemu": ["qemu-system-x86_64", "-M", "q35", "-cpu", "qemu64,-cx16"],
        "console": "ttyS0",
        "interpreter": "/lib64/ld-linux-x86-64.so.2",
        "libraries": ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"],
        "triplet": "x86_64-linux-gnu",
    },
}

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C WORKLOAD_SECONDS=600
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp /out
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
ip link set lo up
for module in $(cat /modules/order); do insmod /modules/$module; done
cd /out
sh /job >/tmp/stdout 2>/tmp/stderr </dev/null
echo $? >/tmp/status
mkdir -p /tmp/back
mv /tmp/stdout /tmp/stderr /tmp/status /tmp/back
ln -s /out /tmp/back/files
tar -chf /dev/vda -C /tmp/back . || echo "init: the results do not fit"
sync
poweroff -f
"""


class Result:
    def __init__(self, rc, stdout, stderr, files, console, seconds):
        self.rc, self.stdout, self.stderr = rc, stdout, stderr
        self.files, self.console, self.seconds = files, console, seconds
        self.traces = {}  # shared by several tests


class Cpio:
    """An archive in the format that the kernel unpacks ("newc")."""

    def __init__(self):
        self.out = io.BytesIO()
        self.known = set()
        self.number = 0

    def _entry(self, name, mode, data=b"", major=0, minor=0):
        self.number += 1
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(encoded), 0)
        self.out.write(b"070701" + b"".join(b"%08x" % f for f in fields) + encoded)
        self.out.write(bytes(-self.out.tell() % 4))
        self.out.write(data)
        self.out.write(bytes(-self.out.tell() % 4))

    def folder(self, name):
        if name and name not in self.known:
            self.folder(os.path.dirname(name))
            self.known.add(name)
            self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o755):
        name = name.lstrip("/")
        if name in self.known:
            return
        self.folder(os.path.dirname(name))
        self.known.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def device(self, name, major, minor):
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFCHR | 0o600, b"", major, minor)

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return self.out.getvalue()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def needed(path):
    out = debian.command(["readelf", "-d", "-W", path], path)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", out)


def modules_of(kernel, wanted):
    """Return (name, bytes) of the wanted modules, each after its dependencies. Modules that are built in are left out."""
    paths = {}
    for folder, _, names in os.walk(kernel):
        for name in names:
            found = re.fullmatch(r"(.*)\.ko(\.xz|\.gz)?", name)
            if found:
                paths[found[1].replace("-", "_")] = os.path.join(folder, name)
    order = []

    def add(name):
        if name not in paths or name in [n for n, _ in order]:
            return
        data = read(paths[name])
        if paths[name].endswith(".xz"):
            data = lzma.decompress(data)
        elif paths[name].endswith(".gz"):
            data = gzip.decompress(data)
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in depends[1].decode().split(",") if depends else []:
            add(other.replace("-", "_"))
        order.append((name, data))

    for name in wanted:
        add(name)
    return order


def root_of(arch):
    """Return the folder with packages of that architecture."""
    return debian.sysroot(arch) if arch != "amd64" else "/"


def library_of(arch, name):
    """Return the library's path here, and its path in the guest."""
    machine = MACHINES[arch]
    folders = machine["libraries"] + [os.path.join(root_of(arch), part, machine["triplet"]) for part in ("lib", "usr/lib")]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path, f"/lib/{machine['triplet']}/{name}"
    raise Failure(f"{name} for {arch} is not in {', '.join(folders)}")


class Guest:
    """@counting: time follows the number of executed instructions, independently of the host, and both `cycles` and
    `instructions` exist (arm64). The emulator's `instructions` are those of all CPUs together, so they are only useful with
    one CPU. @nodes: NUMA nodes; CPU i is in node i % nodes."""

    def __init__(self, arch, suite=None, cpus=1, memory=1024, counting=False, nodes=1):
        self.arch, self.machine = arch, MACHINES[arch]
        if not shutil.which(self.machine["qemu"][0]):
            raise Failure(f"{self.machine['qemu'][0]} is not installed; scripts/setup vm")
        self.kernel = debian.kernel(arch, suite)
        self.cpus, self.memory, self.counting, self.nodes = cpus, memory, counting, nodes
        self.cpio = Cpio()
        for name in ("proc", "sys", "dev", "tmp"):
            self.cpio.folder(name)
        # The console is needed until devtmpfs is mounted, so that a failure before is printed.
        self.cpio.device("dev/console", 5, 1)
        self.cpio.file("/bin/busybox", read(debian.busybox(arch)))
        self.cpio.file("/init", INIT.encode())
        order = modules_of(self.kernel, ["virtio_pci", "virtio_blk"])
        for name, data in order:
            self.cpio.file(f"/modules/{name}.ko", data, 0o644)
        self.cpio.file("/modules/order", "".join(f"{n}.ko\n" for n, _ in order).encode(), 0o644)

    def file(self, name, data, mode=0o644):
        self.cpio.file(name, data, mode)

    def program(self, name, path):
        """Add a file, and the shared libraries that it needs, at their paths in the distribution."""
        self.cpio.file(name, read(path))
        interpreter = os.path.basename(self.machine["interpreter"])
        self._libraries([*needed(path), interpreter] if needed(path) else [])

    def library(self, name):
        """Add a library that is loaded by name, and those that it needs."""
        self._libraries([name])

    def _libraries(self, todo):
        interpreter, done = self.machine["interpreter"], set()
        while todo:
            library = todo.pop()
            if library in done:
                continue
            done.add(library)
            here, there = library_of(self.arch, library)
            self.cpio.file(interpreter if library == os.path.basename(interpreter) else there, read(here))
            todo += needed(here)

    def _image(self):
        for folder, _, names in os.walk(self.kernel):
            for name in sorted(names):
                if name.startswith("vmlinuz"):
                    return os.path.join(folder, name)
        raise Failure(f"there is no kernel image in {self.kernel}")

    def _qemu(self, folder):
        # One thread emulates all CPUs alternately. With several threads, the emulator runs code that another CPU is just
        # changing, as kernels do whenever a probe is attached or detached, and guests crashed. Guests take longest of all, so
        # they get a little priority over other jobs if permitted.
        args = ["nice", "-n", "-2", *self.machine["qemu"], "-accel", "tcg,thread=single", "-m", str(self.memory),
                "-smp", str(self.cpus), "-display", "none", "-monitor", "none", "-nic", "none",
                "-no-reboot", "-no-user-config", "-kernel", self._image(),
                "-initrd", f"{folder}/initrd",
                "-append", f"console={self.machine['console']} rdinit=/init panic=-1",
                "-serial", f"file:{folder}/console",
                "-drive", f"file={folder}/disk,if=none,id=disk,format=raw",
                "-device", "virtio-blk-pci,drive=disk"]
        for node in range(self.nodes if self.nodes > 1 else 0):
            cpus = "".join(f",cpus={cpu}" for cpu in range(node, self.cpus, self.nodes))
            args += ["-object", f"memory-backend-ram,size={self.memory // self.nodes}M,id=node{node}",
                     "-numa", f"node,memdev=node{node}{cpus}"]
        if self.counting:
            args += ["-icount", "shift=1,sleep=off"]
        return args

    def run(self, script, timeout=120):
        """Run the script. Call this only once."""
        with tempfile.TemporaryDirectory(prefix="sbt-vm-") as folder:
            self.cpio.file("/job", script.encode(), 0o644)
            with open(f"{folder}/initrd", "wb") as f:
                f.write(self.cpio.finish())
            said, console, seconds = self._boot(folder, timeout)
            if not console:
                # The emulated machine did not reach its kernel's first message, which is no fault of the tested program.
                said, console, seconds = self._boot(folder, timeout)
            return self._result(f"{folder}/disk", said, console, seconds)

    def _boot(self, folder, timeout):
        """Boot the machine. Return qemu's output, the guest's console output, and the elapsed time."""
        with open(f"{folder}/disk", "wb") as f:
            f.truncate(DISK_BYTES)
        start = time.monotonic()
        try:
            qemu = subprocess.run(self._qemu(folder), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False, timeout=timeout)
            said = qemu.stdout + (f"qemu ended with {qemu.returncode}" if qemu.returncode else "")
        except subprocess.TimeoutExpired:
            said = f"not done after {timeout} s"
        console = ""
        if os.path.exists(f"{folder}/console"):
            console = read(f"{folder}/console").decode("utf-8", "replace")
        return said, console, time.monotonic() - start

    @staticmethod
    def _result(disk, said, console, seconds):
        back = {}
        try:
            with tarfile.open(disk, "r:") as tar:
                for member in tar:
                    if member.isfile():
                        back[member.name[2:]] = tar.extractfile(member).read()
        except tarfile.TarError:
            pass
        if "status" not in back:
            raise Failure("the virtual machine brought nothing back: "
                          f"{said.strip() or 'no word of qemu'}; console: ...{console[-1500:]}")
        files = {n[6:]: data for n, data in back.items() if n.startswith("files/")}
        return Result(int(back["status"]), back["stdout"].decode("utf-8", "replace"),
                      back["stderr"].decode("utf-8", "replace"), files, console, seconds)
