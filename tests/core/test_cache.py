"""Machine code on disk: damaged, foreign or missing files cost a compilation and nothing else."""

import itertools
import json
import os
import pickle
import shutil
import stat
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from machine_code import with_cache
from polhode.core import cache
from polhode.core.jit import Build

pytestmark = pytest.mark.compiled
posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions are POSIX's")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="takes root to be someone else"
)
numbers = itertools.count(2)  # each makes another loop


def loop(n, x):
    for _ in range(n):
        x = act(x)
    return x


act = None


def times(k):
    return lambda x: k * x


def run(k):
    """A loop made for the number k, as in a new process: whether it came from disk; its result must
    be right in any case."""
    dispatcher = Build().bound(loop, {"act": times(float(k))})
    cache.attach(dispatcher, f"{k:032x}")
    assert dispatcher(2, 1.0) == float(k * k)
    return bool(dispatcher.stats.cache_hits)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where machine code goes."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def k():
    """A number that no loop was made for."""
    return next(numbers)


@pytest.fixture
def entry(folder, k):
    """A cache with one file: that."""
    assert not run(k)
    (path,) = folder.iterdir()
    assert run(k)
    return path


# --- damage ---------------------------------------------------------------------------------------


def test_not_a_single_bit_may_differ(entry):
    data = entry.read_bytes()
    assert pickle.loads(cache.whole(entry.name, data))
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        assert cache.whole(entry.name, bytes(damaged)) is None, place


DAMAGE = {
    "empty": lambda data: b"",
    "the head": lambda data: data[:10],
    "half": lambda data: data[: len(data) // 2],
    "all but a byte": lambda data: data[:-1],
    "a byte more": lambda data: data + b"\0",
    "garbage": lambda data: bytes(range(256)) * 40,
    "a flipped bit": lambda data: data[:-200] + bytes([data[-200] ^ 4]) + data[-199:],
}
MISTAKEN = {  # whole, and yet not what it should be
    "no pickle": lambda body: b"not a pickle",
    "another pickle": lambda body: pickle.dumps((1, 2, 3)),
    "machine code for other arguments": lambda body: pickle.dumps(
        (("int64",), pickle.loads(body)[1])
    ),
}


@pytest.mark.parametrize("damage", [*DAMAGE, *MISTAKEN])
def test_a_damaged_file_is_a_miss_and_is_replaced(entry, k, damage):
    if damage in DAMAGE:
        entry.write_bytes(DAMAGE[damage](entry.read_bytes()))
    else:
        cache.write(entry, MISTAKEN[damage](cache.read(entry)))
    assert not run(k) and run(k)
    assert [path.name for path in entry.parent.iterdir()] == [entry.name]


def test_a_file_under_another_name_is_a_miss(entry):
    other = entry.with_name(entry.name.replace("loop", "pool"))
    entry.rename(other)
    assert cache.read(other) is None


RUN = """
    import json, polhode
    from machine_code import cache_statistics
    run = polhode.integrate([5, 5, 1], "heavy_top", (0, 1), 0.01, "LP2", rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    s = cache_statistics()
    print(json.dumps([s["compiled"], s["loaded"], run.quaternion[-1].tolist()]))
"""


def process(folder):
    """A fresh process at work."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RUN)],
        env=with_cache(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(running):
    """What it printed: loops compiled, loaded, and the last attitude."""
    out, err = running.communicate()
    assert running.returncode == 0 and not err, err
    return json.loads(out.splitlines()[-1])


@pytest.mark.slow
def test_real_files_garbled_between_processes(tmp_path):
    made, loaded, right = ended(process(tmp_path))
    assert made >= 2 and loaded == 0
    files = sorted(tmp_path.iterdir())
    assert len(files) == made  # one each
    for number, path in enumerate(files):
        data = path.read_bytes()
        path.write_bytes(
            data[: len(data) * number // len(files)] if number % 2 else data[:-9] + b"\xff" * 9
        )
    assert ended(process(tmp_path)) == [made, 0, right]
    assert ended(process(tmp_path)) == [0, made, right]


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once(tmp_path):
    running = [process(tmp_path) for _ in range(3)]
    results = [ended(one) for one in running]
    assert results[0][2] == results[1][2] == results[2][2]
    assert ended(process(tmp_path)) == [0, sum(results[0][:2]), results[0][2]]
    assert {path.suffix for path in tmp_path.iterdir()} == {".nbc"}


# --- a cache that cannot be used ------------------------------------------------------------------


def works_without(k, told=None):
    """Nothing is kept, nothing is said but perhaps one warning, and all is well."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert not run(k) and not run(k)
    assert len(said) == (told is not None) and (told is None or told in str(said[0].message))


def in_a_child(action):
    """Run in a forked process, so that what it does to itself ends with it; its exit code."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        action()
        os._exit(0)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(9)


@root
@pytest.mark.parametrize("home", [None, "/nonexistent/home"])
def test_a_user_whom_the_system_does_not_know(entry, k, home):
    def action():
        os.setgid(54321)
        os.setuid(54321)
        for name in ("HOME", "XDG_CACHE_HOME", "POLHODE_CACHE_DIR"):
            os.environ.pop(name, None)
        if home:
            os.environ["HOME"] = home
        assert (cache.cache_directory() is None) == (home is None)
        works_without(k)

    assert in_a_child(action) == 0


def test_a_cache_folder_is_not_made_in_the_current_folder(k, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLHODE_CACHE_DIR", raising=False)
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, "relative")
    works_without(k)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["a file/cache", "a file", "/dev/null/cache", "/proc/cache"])
def test_a_place_where_no_folder_can_be(k, place, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLHODE_CACHE_DIR", place)
    works_without(k)
    assert (tmp_path / "a file").read_text() == "mine" and len(list(tmp_path.iterdir())) == 1


@posix
def test_a_disk_that_takes_no_more(entry, k):
    import resource

    def action():
        entry.unlink()
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        works_without(k)

    assert in_a_child(action) == 0 and list(entry.parent.iterdir()) == []


@root
@pytest.mark.parametrize("mode", [0o755, 0o311, 0o700], ids=oct)
def test_a_folder_of_root_that_cannot_be_written_or_read(entry, k, mode):
    """What can be read is used; all the rest is compiled."""
    for path in entry.parents:
        if path.stat().st_uid == 0 and path.is_relative_to("/tmp"):
            path.chmod(path.stat().st_mode | 0o111)
    entry.chmod(0o644)
    entry.parent.chmod(mode)

    def action():
        os.setuid(54321)
        assert run(k) == (mode != 0o700)
        works_without(next(numbers) + 10**6)

    assert in_a_child(action) == 0
    assert list(entry.parent.iterdir()) == [entry]


# --- whom to trust --------------------------------------------------------------------------------


@posix
def test_folder_and_files_are_the_users_own(entry):
    assert (
        stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
        and stat.S_IMODE(entry.stat().st_mode) == 0o600
    )


REFUSED = "another user owns that folder or may write to it; make it writable only for you (chmod go-w), or name another folder"


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777], ids=oct)
def test_a_folder_that_others_can_write_to_is_not_used(folder, k, mode):
    folder.mkdir()
    folder.chmod(mode)
    works_without(k, REFUSED)
    assert list(folder.iterdir()) == []


@posix
@pytest.mark.parametrize("mode", [0o660, 0o606, 0o666], ids=oct)
def test_a_file_that_others_can_write_to_is_a_miss_and_is_replaced(entry, k, mode):
    entry.chmod(mode)
    assert not run(k) and run(k)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@root
def test_what_another_user_owns_is_not_used(entry, k):
    os.chown(entry, 12345, 12345)
    assert not run(k) and run(k) and entry.stat().st_uid == 0
    os.chown(entry.parent, 12345, 12345)
    cache.usable.cache_clear()
    works_without(k, REFUSED)


@posix
def test_links_pipes_and_folders_are_not_opened(entry, k, tmp_path):
    shutil.copy(entry, tmp_path / "elsewhere")
    for make in (lambda: entry.symlink_to(tmp_path / "elsewhere"), lambda: os.mkfifo(entry)):
        entry.unlink()
        make()
        assert not run(k) and run(k) and entry.is_file() and not entry.is_symlink()
    entry.unlink()
    entry.mkdir()
    works_without(k)  # it stays in the way


class Poison:
    """Unpickled, it leaves a trace."""

    def __reduce__(self):
        return os.mkdir, ("unpickled",)


@posix
def test_nothing_is_unpickled_before_it_is_known_to_be_safe(entry, k, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = pickle.dumps(Poison())
    entry.write_bytes(body)
    assert not run(k)
    cache.write(entry, body)
    entry.chmod(0o666)
    assert not run(k)
    assert not Path("unpickled").exists()
    cache.write(entry, body)
    assert not run(k) and Path("unpickled").exists()  # a user's own file may do what it likes


# --- several at once, and many --------------------------------------------------------------------


def test_writers_and_readers_at_once(tmp_path):
    path = tmp_path / "one.nbc"
    bodies = {bytes([number]) * 50_000 for number in range(8)}
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(
                lambda body: [(cache.write(path, body), cache.read(path)) for _ in range(50)],
                bodies,
            )
        )
    assert all(wrote and found in bodies for some in done for wrote, found in some)
    assert [one.name for one in tmp_path.iterdir()] == ["one.nbc"]


def test_files_used_least_recently_leave_the_cache_and_those_of_others_stay(tmp_path, monkeypatch):
    names = [f"loop-{number:032x}-{number:016x}.nbc" for number in range(6)]
    # of old, and half-written
    names += [f"loop-{6:032x}.py311.nbi", f"loop-{7:032x}.py311.1.nbc", f"{names[0]}.x7.new"]
    others = ["mine.nbc", "mine-12.py311.nbi", "notes.txt"]
    for age, name in enumerate([*others, *names]):
        cache.write(tmp_path / name, b"something")
        os.utime(tmp_path / name, (age, age))
    assert cache.read(tmp_path / names[0]) == b"something"  # it is used
    monkeypatch.setattr(cache, "LIMIT", 4)
    cache.prune(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*others, names[0], *names[-3:]}
    cache.prune(tmp_path / "nowhere")
