"""What learners' code may not do in a sandbox: each attack would earn its points if it succeeded.

An attack is the body of an answer that goes on to the right result if nothing stops it. So full
points are a hole in the sandbox, and so is whatever it leaves behind.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import site
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import sample_specs
from samples import RIGHT, MakeWorkshop

from course_grading.running import sandbox, seccomp
from course_grading.running.sandbox import Limits, Sandbox, SandboxEnded

WHY_NOT = sandbox.unusable()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

ROOT = Path(__file__).parents[3]
CALLS = seccomp.CALLS.get(platform.machine(), {})
FILES = {
    "reads the specs": "assert list(Path({root!r}).glob('course_grading/specs/*.py'))",
    "imports the specs": "import course_grading.specs.order_blind",
    "reads compiled specs": "assert list(Path({root!r}).rglob('**/order_blind*.pyc'))",
    "reads solutions": "assert (Path({root!r}) / 'solutions').is_dir()",
    "reads the history": "assert (Path({root!r}) / '.git').exists()",
    "reads the tests": "assert (Path({root!r}) / 'tests').exists()",
    "reads specs through its parents": "os.listdir('/proc/1/root/' + {root!r} + '/solutions')",
    "reads a neighbour's notebook": "assert Path({neighbour!r}).exists()",
    "reads the results": "assert Path({results!r}).exists()",
    "reads the teacher's files": "open({home!r} + '/.profile').read()",
    "reads passwords": "open('/etc/shadow').read()",
    "changes the library": "open({root!r} + '/course_lib/__init__.py', 'a').write('#')",
    "changes Python": "open(os.__file__, 'a').write('#')",
    "adds a file to Python": "open(os.path.dirname(os.__file__) + '/mine.py', 'w').write('#')",
    "writes beside the course": "open({root!r} + '/mine.txt', 'w').write('#')",
    "writes into /etc": "open('/etc/mine', 'w').write('#')",
    "reads the teacher's secrets": "assert 'TEACHERS_SECRET' in os.environ",
    "reads them from a process": "assert b'TEACHERS' in open('/proc/1/environ', 'rb').read()",
    "reads the kernel's memory": "open('/proc/kcore', 'rb').read(1)",
    "reads a disk": "os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0)); open('/tmp/disk').read(1)",
    "changes the system": "open('/proc/sys/kernel/hostname', 'w').write('mine')",
    "fills the memory with files":
        "[open(f'/tmp/{{n}}', 'wb').write(bytes(40_000_000)) for n in range(8)]",
    "fills its own folder": "[open(f'{{n}}', 'wb').write(bytes(40_000_000)) for n in range(8)]",
    "fills the root": "open('/large', 'wb').write(bytes(1000))",
    "fills the folder of devices": "open('/dev/large', 'wb').write(bytes(1000))",
    "reads settings that may hold a password": "assert {{*os.listdir('/etc')}} - {settings!r}",
    "finds a folder that it shares with the machine":
        "assert {{line.split(' - ')[1].split()[0] for line in open('/proc/self/mountinfo')"
        " if line.split()[5].startswith('rw')}} - {{'tmpfs', 'proc', 'devpts', 'devtmpfs'}}",
    "writes a large file": "open('/tmp/large', 'wb').write(bytes(60_000_000))",
    "asks what else runs":
        "assert any(b'pytest' in p.read_bytes() for p in Path('/proc').glob('[0-9]*/cmdline'))",
}  # fmt: skip
POWERS = {
    "opens a connection": "socket.create_connection(('127.0.0.1', {port}), 2)",
    "asks for a name": "socket.getaddrinfo('example.org', 80)",
    "sends a packet":
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 9))",
    "uses a socket of the machine's": "socket.socket(socket.AF_UNIX).connect({abstract!r})",
    "speaks to the host of a virtual machine": "socket.socket(socket.AF_VSOCK)",
    "asks for a pair of another family":
        "assert libc.socketpair(30, 1, 0, (ctypes.c_int * 2)()) == 0",
    "asks for more memory": "assert len(bytearray(20_000_000_000))",
    "asks for more memory in torch": "torch.ones(5_000_000_000, dtype=torch.float32)",
    "starts a thousand processes": "[subprocess.Popen(['sleep', '60']) for _ in range(1000)]",
    "starts a thousand threads":
        "[threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(1000)]",
    "forks without end": "[os.fork() or time.sleep(60) for _ in range(1000)]",
    "takes its limits off":
        "resource.setrlimit(resource.RLIMIT_NPROC, (resource.RLIM_INFINITY,) * 2)",
    "becomes root": "os.setuid(0)",
    "changes its root": "os.chroot('/tmp')",
    "mounts": "assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    "unmounts what hides the specs": "assert libc.umount2({specs!r}.encode(), 2) == 0",
    "makes a user namespace": "assert libc.unshare(0x10000000) == 0",
    "sets the clock": "time.clock_settime(time.CLOCK_REALTIME, 0)",
    "watches its host": "assert libc.ptrace(16, os.getppid(), 0, 0) == 0",
    "reads its host's memory": "open(f'/proc/{{os.getppid()}}/mem', 'rb').seek(4096)",
    "writes to its host's pipes": "open(f'/proc/{{os.getppid()}}/fd/3', 'w').write('{{}}')",
    "finds the judge": "assert os.getppid() > 100",
    "ends every process it finds": "os.kill(-1, signal.SIGKILL)",
    "ends its host": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
    "leaves a process behind": "subprocess.Popen(['sleep', '4242'], start_new_session=True); 1 / 0",
    "keeps a key for the next learner":
        "assert libc.syscall({add_key}, b'user', b'k', b'v', 1, -4) > 0",
    "opens the session's keys": "assert libc.syscall({keyctl}, 0, -3, 0) > 0",
    "makes a file that no limit counts": "os.memfd_create('mine')",
    "shares memory that no limit counts": "assert libc.shmget(0, 4096, 0o1600) >= 0",
    "runs faster than others": "os.setpriority(os.PRIO_PROCESS, 0, -10)",
}  # fmt: skip
IMPORTS = (
    "import ctypes, os, resource, signal, socket, subprocess, threading, time, torch\n"
    "from pathlib import Path\nlibc = ctypes.CDLL(None)\n"
)


def attacking(number: int, attack: str) -> str:
    head, body = RIGHT.format(name=f"scale_{number}").split("\n", 1)
    return f"{IMPORTS}{head}\n{textwrap.indent(attack, '    ')}\n{body}"


@pytest.mark.slow
@pytest.mark.parametrize("attacks", [FILES, POWERS], ids=["files", "powers"])
def test_no_attack_earns_a_point(attacks, workshop: MakeWorkshop, tmp_path, monkeypatch):
    monkeypatch.setenv("TEACHERS_SECRET", "x")
    (tmp_path / "neighbour.ipynb").write_text("{}")
    (tmp_path / "results.jsonl").write_text("{}")
    before = (ROOT / "course_lib" / "__init__.py").read_bytes()
    shop = workshop(sample_specs.COUNT)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(abstract := f"\0course-test-{os.getpid()}")
        local.listen()
        for number, attack in enumerate(attacks.values(), start=1):
            shop.answer(
                number,
                attacking(
                    number,
                    attack.format(
                        root=str(ROOT),
                        home=str(Path.home()),
                        port=server.getsockname()[1],
                        add_key=CALLS.get("add_key", -1),
                        keyctl=CALLS.get("keyctl", -1),
                        abstract=abstract,
                        specs=str(ROOT / "course_grading" / "specs"),
                        neighbour=str(tmp_path / "neighbour.ipynb"),
                        results=str(tmp_path / "results.jsonl"),
                        settings={*sandbox.SETTINGS},
                    ),
                ),
            )
        shop.answer(honest := len(attacks) + 1)
        graded = shop.grade(sandbox=Limits(), timeout=20.0)
    assert graded[honest]["points"]
    assert not [name for n, name in enumerate(attacks, 1) if graded[n]["points"]]
    assert (ROOT / "course_lib" / "__init__.py").read_bytes() == before
    assert not (ROOT / "mine.txt").exists()
    assert subprocess.run(["pgrep", "-f", "sleep 4242"], capture_output=True).returncode == 1


@pytest.mark.slow
def test_a_right_answer_passes_beside_one_that_ends_the_sandbox(workshop: MakeWorkshop):
    shop = workshop(3)
    shop.answer(1)
    shop.answer(2, attacking(2, "os.kill(-1, signal.SIGKILL)"))
    shop.answer(3)
    graded = shop.grade(sandbox=Limits(), timeout=20.0)
    assert [graded[n]["points"] for n in (1, 2, 3)] == [2, 0, 2]


@pytest.mark.slow
def test_what_an_answer_has_started_ends_before_the_next_round(workshop: MakeWorkshop):
    shop = workshop(2)
    start = "subprocess.Popen(['sleep', '4343'], start_new_session=True); os._exit(1)"
    shop.answer(1, attacking(1, start))
    seen = "any(b'4343' in p.read_bytes() for p in Path('/proc').glob('[0-9]*/cmdline'))"
    shop.answer(2, attacking(2, f"assert {seen}"))
    graded = shop.grade(sandbox=Limits(), timeout=20.0)
    assert [graded[n]["points"] for n in (1, 2)] == [0, 0]


@pytest.mark.slow
def test_a_deep_folder_ends_with_its_sandbox(workshop: MakeWorkshop):
    shop = workshop(2)
    shop.answer(1, attacking(1, "for _ in range(3000): os.mkdir('d'); os.chdir('d')"))
    shop.answer(2)
    graded = shop.grade(sandbox=Limits(), timeout=20.0)
    assert graded[2]["points"] == 2


def test_an_older_bubblewrap_is_named(monkeypatch, tmp_path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bubblewrap 0.6.1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "0.8.0 or newer is needed" in sandbox.unusable()


@pytest.mark.slow
def test_a_host_that_is_stopped_holds_nobody_up(workshop: MakeWorkshop):
    shop = workshop(3)
    shop.answer(1)
    shop.answer(2, attacking(2, "os.kill(os.getppid(), signal.SIGSTOP)"))
    shop.answer(3)
    graded = shop.grade(sandbox=Limits(patience=4.0), timeout=20.0)
    assert graded[1]["points"] == graded[3]["points"] == 2


def test_an_answer_that_nobody_read_is_passed_over():
    with Sandbox() as one:
        order = json.dumps({"ticket": "of a judge that is gone", "order": "poll", "pid": 99_999})
        one._socket.sendall(f"{order}\n".encode() * 3)  # answered at once, in one piece
        time.sleep(0.2)
        assert one.ask() is None and one.ask("poll", pid=99_999) == -9


def in_sandbox(*command: str, limits: Limits | None = None) -> subprocess.CompletedProcess[str]:
    whole = [*sandbox.command(limits or Limits()), *command]
    return subprocess.run(whole, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_nobody_is_root_in_there():
    assert in_sandbox("id", "-u").stdout.strip() not in ("", "0")
    status = in_sandbox("cat", "/proc/self/status").stdout
    assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status


def test_only_the_course_is_there():
    listed = in_sandbox("ls", "-a", str(ROOT), f"{ROOT}/course_grading/specs").stdout.split()
    assert {"course_lib", "course_lab", "course_grading"} <= set(listed)
    assert not {"solutions", "tests", ".git", "exercises", "docs", "order_blind.py"} & set(listed)


@pytest.mark.skipif(not seccomp.CALLS.get(platform.machine()), reason="no filter for this machine")
def test_only_sockets_that_stay_inside_can_be_made():
    """Even where the kernel has no such family: it is the filter that refuses."""
    code = (
        "from course_grading.running import seccomp; seccomp.forbid_calls(); import socket\n"
        "for family in range(64):\n"
        "    try: print(family, socket.socket(family, 3 if family == 16 else 1) and 0)\n"
        "    except OSError as error: print(family, error.errno)"
    )
    done = in_sandbox(sys.executable, "-c", code)
    said = dict(map(int, line.split()) for line in done.stdout.splitlines())
    assert len(said) == 64, done.stderr
    allowed = {*seccomp.FAMILIES.values()}
    assert all(said[family] in (0, errno.EAFNOSUPPORT) for family in allowed)
    assert {said[family] for family in said.keys() - allowed} == {errno.EPERM}


def test_a_place_for_packages_that_is_not_there_is_left_out(monkeypatch, tmp_path):
    """Debian's Python names several in each environment."""
    places = [*site.getsitepackages(), str(tmp_path / "lib" / "python3" / "dist-packages")]
    monkeypatch.setattr(site, "getsitepackages", lambda: places)
    assert in_sandbox("true").returncode == 0


def test_specs_are_hidden_behind_links_too(tmp_path, monkeypatch):
    (link := tmp_path / "link").symlink_to(ROOT)
    packages = [link / package.relative_to(ROOT) for package in sandbox.PACKAGES]
    monkeypatch.setattr(sandbox, "PACKAGES", tuple(packages))
    for course in (link, ROOT):
        listed = in_sandbox("ls", f"{course}/course_grading", f"{course}/course_grading/specs")
        assert "judging" in listed.stdout and "order_blind" not in listed.stdout


def test_an_ordinary_user_s_sandbox_has_no_place_without_a_limit(monkeypatch):
    """Root's belongs to somebody else inside. This one belongs to whoever starts it."""
    as_user = []
    if os.getuid() == 0:  # a user who reaches neither Python nor the course: they are left out
        as_user = ["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups"]
        monkeypatch.setattr(os, "getuid", lambda: 1234)
        monkeypatch.setattr(sandbox, "_course", lambda: iter([]))
    command = [*as_user, *sandbox.command(Limits(files=4_000_000))]
    look = (
        "find / -path /proc -prune -o -type d -writable -print 2>/dev/null | while read place; do "
        "(echo > $place/mine) 2>/dev/null && echo $place; done; df -k /tmp ~ | tail -n 2"
    )
    done = subprocess.run([*command, "sh", "-c", look], capture_output=True, text=True)
    *places, of_tmp, of_home = done.stdout.splitlines()
    assert {*places} == {"/tmp", sandbox.HOME}, done
    assert all(int(line.split()[1]) <= 4096 for line in (of_tmp, of_home))


def test_nothing_goes_from_one_sandbox_to_the_next():
    for _ in range(2):
        done = in_sandbox("sh", "-c", "ls -A /tmp ~ && touch /tmp/left-in-tmp ~/left-at-home")
        assert done.returncode == 0 and "left-" not in done.stdout


def test_a_sandbox_ends_with_all_that_runs_in_it():
    with Sandbox() as one:
        assert one.lives()
    assert not one.lives()
    with pytest.raises(SandboxEnded):
        one.ask()


@pytest.mark.slow
def test_loading_specs_before_judges_are_forked_starts_no_threads(monkeypatch):
    """A fork that used torch's threads would wait for them forever."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    counts = (
        "import os\nfrom course_grading.running import runner, service\n"
        "threads = lambda: len(os.listdir('/proc/self/task'))\n"
        "service.preload_kernels()\nbefore = threads()\n"
        "service.preload_judges(runner.SPECS)\nprint(threads() - before)"
    )
    done = subprocess.run([sys.executable, "-c", counts], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.slow
def test_the_limit_of_cpu_time_binds(workshop: MakeWorkshop):
    shop = workshop(2)
    shop.answer(1, attacking(1, "while True: pass"))
    shop.answer(2)
    graded = shop.grade(sandbox=Limits(cpu_seconds=6), timeout=50.0)
    assert [graded[n]["points"] for n in (1, 2)] == [0, 2]
    assert "ended the kernel" in graded[1]["message"]


def test_what_is_missing_is_said_with_its_remedy(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "apt install bubblewrap" in sandbox.unusable()


def test_a_sandbox_that_is_forbidden_is_said(monkeypatch, tmp_path):
    says = "No permissions to create a namespace"
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert says in sandbox.unusable()
