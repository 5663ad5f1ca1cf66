# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""A virtual machine for one script: a Debian cloud kernel under emulation, an initramfs of our own.

    guest = Guest("arm64", cpus=2, counting=True)
    guest.program("/bin/sbt-trace", "build/arm64/sbt-trace")    with the libraries that it needs
    result = guest.run("sbt-trace --version > version.txt")
    result.rc, result.stdout, result.files["version.txt"], result.console

The script is run by a shell, as root, in an empty folder; all that it leaves there comes back. What
the machine has to say else is on its console. It needs nothing but qemu and what debian.py fetches.
"""

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

DISK_BYTES = 512 << 20  # sparse; as much may come back

# What a machine is made of. The last of the folders with libraries is filled by debian.py.
MACHINES = {
    "arm64": {
        "qemu": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72"],
        "console": "ttyAMA0",
        "interpreter": "/lib/ld-linux-aarch64.so.1",
        "libraries": ["/usr/aarch64-linux-gnu/lib"],
        "triplet": "aarch64-linux-gnu",
    },
    "amd64": {
        # Debian 12's emulator breaks cmpxchg16b when several CPUs run: Linux 6.12 dies of it.
        "qemu": ["qemu-system-x86_64", "-M", "q35", "-cpu", "qemu64,-cx16"],
        "console": "ttyS0",
        "interpreter": "/lib64/ld-linux-x86-64.so.2",
        "libraries": ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"],
        "triplet": "x86_64-linux-gnu",
    },
}

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C
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
        self.traces = {}  # of several tests


class Cpio:
    """An archive as the kernel unpacks it ("newc")."""

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
    """(name, bytes) of the modules wanted, and before each what it depends on. What is built in is
    not among them."""
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
    """Below which packages of that architecture are here."""
    return debian.sysroot(arch) if arch != "amd64" else "/"


def library_of(arch, name):
    """Where it is here, and where it will be there."""
    machine = MACHINES[arch]
    folders = machine["libraries"] + [os.path.join(root_of(arch), part, machine["triplet"]) for part in ("lib", "usr/lib")]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path, f"/lib/{machine['triplet']}/{name}"
    raise Failure(f"{name} for {arch} is not in {', '.join(folders)}")


class Guest:
    """@counting: time passes by the instructions that are executed, whatever the host does, and
    both `cycles` and `instructions` exist (arm64). The emulator's `instructions` are those of all
    CPUs together: with more than one they are of no use. @nodes: NUMA nodes, CPU i in node i % nodes."""

    def __init__(self, arch, suite=None, cpus=1, memory=1024, counting=False, nodes=1):
        self.arch, self.machine = arch, MACHINES[arch]
        if not shutil.which(self.machine["qemu"][0]):
            raise Failure(f"{self.machine['qemu'][0]} is not installed; scripts/setup vm")
        self.kernel = debian.kernel(arch, suite)
        self.cpus, self.memory, self.counting, self.nodes = cpus, memory, counting, nodes
        self.cpio = Cpio()
        for name in ("proc", "sys", "dev", "tmp"):
            self.cpio.folder(name)
        # Until devtmpfs is there: a failure before that is printed.
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
        """A file, and the shared libraries that it needs, where its distribution has them."""
        self.cpio.file(name, read(path))
        interpreter = os.path.basename(self.machine["interpreter"])
        self._libraries([*needed(path), interpreter] if needed(path) else [])

    def library(self, name):
        """One that is loaded by name, and those that it needs."""
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
        # CPUs in turns: side by side the emulator runs code that another CPU is just changing, which kernels do whenever
        # a probe comes or goes, and guests died of it.
        # Guests take longest of all: of what runs beside them they come a little before it, where that is allowed.
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
        """May be called once."""
        with tempfile.TemporaryDirectory(prefix="sbt-vm-") as folder:
            self.cpio.file("/job", script.encode(), 0o644)
            with open(f"{folder}/initrd", "wb") as f:
                f.write(self.cpio.finish())
            said, console, seconds = self._boot(folder, timeout)
            if not console:
                # The emulated machine did not come as far as its kernel's first word: no fault of what it was to run.
                said, console, seconds = self._boot(folder, timeout)
            return self._result(f"{folder}/disk", said, console, seconds)

    def _boot(self, folder, timeout):
        """What qemu says, what the guest's kernel says, and how long it took."""
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
