# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""record without -o writes sbt.data, and keeps an earlier recording as sbt.data.old; report, predict and diff read these files.
Nothing but a recording is ever replaced. Under sudo, new files belong to the user that called sudo."""

import os
import shutil
import subprocess

from harness import SBT, Trace, UNPRIVILEGED, check, check_equal, check_in, clean_environment, read_bytes, wait_for, workload, write_file

SHARED = True

DATA, OLD = "sbt.data", "sbt.data.old"
SUDO = {"SUDO_UID": str(UNPRIVILEGED), "SUDO_GID": str(UNPRIVILEGED)}


def gen(rounds):
    return [workload("gen"), "--threads", "2", "--rounds", str(rounds)]


def directory(t, owner=0, name="dir"):
    path = t.path(name)
    os.mkdir(path)
    os.chown(path, owner, owner)
    return path


def episodes(t, cwd, *files):
    path = t.path("json")
    t.run([SBT, "report", "--json", "-o", path, *files], cwd=cwd, rc=0)
    return Trace(t, path).end["episodes"]


def test_record_and_report(t):
    cwd = directory(t)
    for rounds in (20, 30, 40):
        # The program's name needs no --, and the options after it are the program's.
        t.run([SBT, "record", "-q", *gen(rounds)], cwd=cwd, rc=0)
        check_equal("episodes", episodes(t, cwd), rounds)
    check_equal("files", sorted(os.listdir(cwd)), [DATA, OLD])
    check_equal("the earlier one", episodes(t, cwd, OLD), 30)
    check_in("diff", f"A: {OLD}\nB: {DATA}\n", t.run([SBT, "diff"], cwd=cwd, rc=0).out)
    check_in("predict", "2 processors", t.run([SBT, "predict"], cwd=cwd, rc=0).out)
    check_equal("with -o", t.run([SBT, "record", "-q", "-o", "mine", *gen(10)], cwd=cwd).rc, 0)
    check_equal("episodes of sbt.data", episodes(t, cwd), 40)
    result = t.run([SBT, "report", "-o", DATA], cwd=cwd, rc=2)
    check_in("its own input", "is one of the recordings to read", result.err)


def test_full_disk(t):
    """If the disk is full, the earlier recording is kept: as it was, or as the older one of two."""
    cwd = directory(t)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", cwd], check=True)
    t.at_end(subprocess.run, ["umount", cwd])
    t.run([SBT, "record", "-q", *gen(20)], cwd=cwd, rc=0)
    result = t.run([SBT, "record", "-q", *gen(20000)], cwd=cwd)
    check_in("message", "No space left on device", result.err)
    check_equal("episodes", episodes(t, cwd, OLD if OLD in os.listdir(cwd) else DATA), 20)


def test_file_of_another_user(t):
    """In a directory of all users, the files of other users are not replaced, not even by root."""
    cwd = directory(t)
    os.chmod(cwd, 0o1777)
    t.run([SBT, "record", "-q", *gen(20)], cwd=cwd, rc=0)
    os.chown(os.path.join(cwd, DATA), 1234, 1234)
    check_in("message", f"{DATA} is another user's file", t.run([SBT, "record", "-q", *gen(30)], cwd=cwd).err)
    check_equal("episodes", episodes(t, cwd), 20)


def test_no_file_to_read(t):
    cwd = directory(t)
    for command, name in (("report", DATA), ("predict", DATA), ("diff", OLD)):
        result = t.run([SBT, command], cwd=cwd, rc=2)
        check_in(command, f"no recording is given, and there is no file {name} here", result.err)


def test_command_cannot_be_run(t):
    """Both files stay as they were, and no other file is left, also where root needs a capability to change the directory."""
    recording = t.path("recording")
    t.run([SBT, "record", "-q", "-o", recording, *gen(20)], rc=0)
    for i, (owner, there, command, status) in enumerate(((0, True, "./script", 126), (UNPRIVILEGED, True, "no-such-command", 127),
                                                         (UNPRIVILEGED, False, "./script", 126))):
        cwd = directory(t, owner, str(i))
        script = os.path.join(cwd, "script")
        write_file(script, "#!/no/such/interpreter\n")
        os.chmod(script, 0o755)
        for name in (DATA, OLD) if there else ():
            shutil.copy(recording, os.path.join(cwd, name))
        files = {n: (os.stat(os.path.join(cwd, n)).st_ino, read_bytes(os.path.join(cwd, n))) for n in os.listdir(cwd)}
        t.run([SBT, "record", command], cwd=cwd, rc=status)
        check_equal("files", {n: (os.stat(os.path.join(cwd, n)).st_ino, read_bytes(os.path.join(cwd, n))) for n in os.listdir(cwd)},
                    files)


def other_files(cwd, name):
    """Make a file that is no recording, in several ways. Yield what the message says, and a check that nothing changed."""
    path, target = os.path.join(cwd, name), os.path.join(cwd, "target")
    write_file(target, "precious\n")
    for make, what in ((lambda: os.symlink("target", path), "a symbolic link"), (lambda: os.symlink("none", path), "a symbolic link"),
                       (lambda: os.mkfifo(path), "not a regular file"), (lambda: os.mkdir(path), "a directory"),
                       (lambda: write_file(path, "precious\n"), "not a recording"), (lambda: write_file(path, ""), "not a recording")):
        make()
        before = os.lstat(path)
        yield what
        after = os.lstat(path)
        check_equal(what, (after.st_ino, after.st_size, after.st_mtime_ns), (before.st_ino, before.st_size, before.st_mtime_ns))
        check_equal("the target", read_bytes(target), b"precious\n")
        check(not os.path.exists(os.path.join(cwd, "none")), "the link was followed")
        os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
    os.remove(target)


def test_replaces_only_recordings(t):
    cwd = directory(t)
    for name in (DATA, OLD):
        for what in other_files(cwd, name):
            result = t.run([SBT, "record", "touch", "ran"], cwd=cwd, rc=1)
            check_in(what, f"{name} is {what}, so it is not overwritten: name another file with -o", result.err)
        check_equal("files", os.listdir(cwd), [])


def test_file_that_appears_meanwhile(t):
    """Another program makes sbt.data before the recording gets this name: the recording has another name, and a message says so."""
    cwd = directory(t)
    program = t.gen("--threads", "2", "--rounds", "20", wait=True)
    tracer = t.start([SBT, "record", "--delay", "0.5", "-p", str(program.pid)], cwd=cwd)
    new = wait_for("the new file", lambda: os.listdir(cwd))[0]
    write_file(os.path.join(cwd, DATA), "precious\n")
    wait_for("it records", lambda: os.path.getsize(os.path.join(cwd, new)))
    program.begin()
    result = tracer.wait()
    check_equal("status", result.rc, 0)
    check_in("message", f"{DATA} or {OLD} is now not a recording: the recording stays in {new}", result.err)
    check_equal("the other program's file", read_bytes(os.path.join(cwd, DATA)), b"precious\n")
    check_in("summary", f"sbt-trace report {new}", result.err)
    check_equal("episodes", episodes(t, cwd, new), 20)


def test_user_behind_sudo(t):
    """The user can read what sudo sbt-trace wrote. A file that is there already keeps its owner."""
    cwd, env = directory(t, UNPRIVILEGED), clean_environment(**SUDO)
    write_file(os.path.join(cwd, "there"), "")
    for _ in range(2):
        t.run([SBT, "record", "-q", *gen(20)], cwd=cwd, env=env, rc=0)
    for command in (["record", "-q", "-o", "own", *gen(20)], ["-o", "text", *gen(20)], ["record", "-q", "-o", "there", *gen(20)],
                    ["report", "--html", "page", "--chrome", "trace", "-o", "report"],
                    ["predict", "--processors", "4", "--record-to", "predicted"]):
        t.run([SBT, *command], cwd=cwd, env=env, rc=0)
    owners = {n: os.stat(os.path.join(cwd, n)).st_uid for n in os.listdir(cwd)}
    check_equal("owners", owners, {"there": 0, **{n: UNPRIVILEGED for n in (DATA, OLD, "own", "text", "page", "trace", "report", "predicted")}})
    check_equal("mode", {os.stat(os.path.join(cwd, n)).st_mode & 0o777 for n in owners if n != "there"}, {0o600})
    # By root, and by root through sudo.
    for name, sudo in (("plain", {}), ("by-root", {"SUDO_UID": "0", "SUDO_GID": "0"}), ("odd", {"SUDO_UID": "x", "SUDO_GID": "1"})):
        t.run([SBT, "report", "-o", name], cwd=cwd, env=clean_environment(**sudo), rc=0)
        check_equal(name, os.stat(os.path.join(cwd, name)).st_uid, 0)
