# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Names that do harm when they are printed unchanged: of threads, functions, paths and arguments."""

import os
import shutil
import subprocess
import unicodedata

from harness import Trace, alone, check, check_equal, check_in, read_bytes, read_csv, wait_for, workload, write_file

SHARED = True

# A file name with escape sequences, line breaks, quotes, markup, formats, broken UTF-8, C1 characters and bidi characters.
BAD = b"x\033[31m\033]0;t\007\nnew\r\"q'`<script>,;|%s%n\\\xff\xfe\xc3(\x80 \xe2\x80\xaertl\xc2\x9b\t"


def harmless(what, data):
    """Check that the text has no effect on a terminal except being shown."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    for i, c in enumerate(text):
        if c in "\n\t":
            continue
        bad = unicodedata.category(c) in ("Cc", "Cs") or c in "\u202a\u202b\u202c\u202d\u202e\u2028" \
            "\u2029\u200e\u200f\u2066\u2067\u2068\u2069"
        check(not bad, f"{what}: U+{ord(c):04X} in {text[max(0, i - 60):i + 30]!r}")


def long_folder(t):
    """Make a folder with a name of the maximum length that consists of bad characters."""
    name = (BAD * 8)[:200]
    here = os.getcwd()
    os.chdir(t.dir)
    try:
        for _ in range((4090 - len(t.dir) - 40) // 201):
            os.mkdir(name)
            os.chdir(name)
        shutil.copy(workload("hostile_names"), b"bad")
        return os.open(b".", os.O_RDONLY | os.O_DIRECTORY)
    finally:
        os.chdir(here)


def bad_copy(t):
    folder = os.path.join(os.fsencode(t.dir), BAD)
    os.mkdir(folder)
    program = os.path.join(folder, BAD + b".exe")
    shutil.copy(workload("hostile_names"), program)
    return program


OPTIONS = ["-W", "--warn-time", "0", "--phase-times", "-v", "--detail"]
SAID = "hostile_names: threads=16 episodes=100 ok\n"


def every_output(t, command, **more):
    """Check the text, JSON and CSV output of the command. Each must be harmless in its own way."""
    path = t.path()
    result = t.sbt("-o", path, *OPTIONS, "--", *command, **more)
    check_equal("the program", (result.rc, result.out), (0, SAID))
    harmless("text", read_bytes(path))
    harmless("stderr", result.stderr)
    result = t.sbt(*OPTIONS, "--", *command, **more)
    harmless("text on stderr", result.stderr)
    path = t.path()
    result = t.sbt("--json", "-o", path, *OPTIONS, "--", *command, **more)
    check_equal("the program", (result.rc, result.out), (0, SAID))
    raw = read_bytes(path)
    check(not any(b < 32 and b != 10 for b in raw), "a control byte in the JSON")
    trace = Trace(t, path).nothing_lost()
    check_equal("teams", [(b["episodes"], b["participants"]) for b in trace.barriers()], [(100, 16)])
    path = t.path()
    result = t.sbt("--csv", "-o", path, *OPTIONS, "--", *command, **more)
    rows = read_csv(path)
    for row in rows:
        for cell in row.values():
            harmless("CSV", cell)
            check(not cell[:1] in ("=", "@", "+") and (cell[:1] != "-" or is_number(cell)),
                  f"a spreadsheet would run {cell!r}")
    return trace


def is_number(cell):
    try:
        float(cell)
        return True
    except ValueError:
        return False


def test_names_in_the_program(t):
    trace = every_output(t, [workload("hostile_names")])
    barrier = trace.barrier()
    check_equal("function", barrier["function"], "hostile_function")
    names = {m["comm"] for m in barrier["threads"]}
    check_equal("different names", len(names), 16)
    check_in("plain names", "%s%n%99999d", names)


def test_path_of_the_program(t):
    every_output(t, [bad_copy(t)])


def test_long_path(t):
    fd = long_folder(t)
    t.at_end(os.close, fd)
    trace = every_output(t, ["./bad"], preexec_fn=lambda: os.fchdir(fd))
    check_equal("function", trace.barrier()["function"], "hostile_function")


def test_symbol(t):
    """Without debug information the function has its symbol's name, which is bad."""
    program = t.path()
    subprocess.run(["strip", "--strip-debug", "-o", program, workload("hostile_names")], check=True)
    trace = every_output(t, [program])
    check_in("function", "bar<script>;", trace.barrier()["function"])


def test_arguments(t):
    program = bad_copy(t)
    every_output(t, ["sh", "-c", 'shift; exec "$0"', program, BAD])


def test_by_pid_and_deleted(t):
    """The path in the mappings then ends in " (deleted)". The name of the program is as bad."""
    program = bad_copy(t) + b" (deleted)"
    shutil.copy(workload("gen"), program)
    gen = t.start([program, "--rounds", "30", "--wait-start"], stdin=subprocess.PIPE)
    wait_for("gen is ready", lambda: "ready" in gen.out)
    tracer = t.attach(*OPTIONS, "-p", str(gen.pid))
    gen.write(b"\n")
    trace = tracer.end()
    check_equal("episodes", trace.end["episodes"] + trace.end["ambiguous"], 30)
    check_equal("function", trace.barrier()["function"], "site_0")
    harmless("stderr", trace.result.stderr)


def test_nothing_found_in_a_bad_path(t):
    program = os.path.join(os.fsencode(t.dir), BAD)
    shutil.copy("/bin/true", program)
    result = t.sbt("--", program)
    check_in("stderr", "no barrier was crossed", result.err)
    harmless("stderr", result.stderr)


@alone
def test_messages(t):
    for args, rc in (([b"--" + BAD], 2), ([b"-w", BAD, "--", "true"], 0), (["--", BAD], 127),
                     (["-o", b"/nonexistent/" + BAD, "--", "true"], 1),
                     (["-u", BAD, "--", "true"], 1), (["-p", BAD], 2), (["--attach", BAD], 2),
                     (["-a", "--comm", BAD], 2), (["-a", "--cgroup", BAD], 1),
                     (["--name", BAD + b"=" + BAD, "--", "true"], 0)):
        result = t.sbt(*args, rc=rc)
        harmless(f"stderr of {args}", result.stderr)
        check(result.stderr, "not a word")


def test_names_given_by_the_user(t):
    path = t.path()
    t.sbt("-o", path, "--name", b"\033[31mred\nline=site_0", "-W", "--warn-time", "0", "--",
          workload("gen"), "--rounds", "5", rc=0)
    harmless("text", read_bytes(path))
    check_in("text", b"red", read_bytes(path))


def test_hostile_elf(t):
    """A mapped file that is no valid ELF file must not stop or disturb sbt-trace."""
    program = t.path("cut")
    data = read_bytes(workload("gen"))
    for name, change in (("sections", lambda d: d[:40] + b"\xff" * 8 + d[48:]),
                         ("section count", lambda d: d[:60] + b"\xff\xff\xff\xff" + d[64:]),
                         ("cut", lambda d: d[:len(d) // 2])):
        write_file(program, change(data))
        os.chmod(program, 0o755)
        plain = t.run([program, "--rounds", "5"])
        result = t.sbt("-o", t.path(), "--", program, "--rounds", "5")
        check(result.rc == plain.rc if plain.rc >= 0 else result.rc == 128 - plain.rc,
              f"{name}: status {result.rc}, without us {plain.rc}")
        check_equal(f"{name}: stdout", result.out, plain.out)
        harmless("stderr", result.stderr)
        os.unlink(program)
