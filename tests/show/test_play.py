"""The playground without a browser: who is answered, what is refused, and that the numbers are the
library's."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from polhode import InputError, RigidBody, integrate, problems, rotations
from polhode.methods import names
from polhode.show.play import catalogue, work
from polhode.show.play.code import as_python
from polhode.show.play.lessons import LESSONS
from polhode.show.play.server import Server
from polhode.show.view._page import encode

ASKED = {
    "problem": "tumbling-box",
    "body": {"kind": "box", "values": [0.2, 0.13, 0.03]},
    "omega0": [0.02, 6.0, 0.0],
    "method": "LP2",
    "compare": None,
    "step": 0.02,
    "span": 2.0,
}


BALL = {"kind": "moments", "values": [1.0, 1.0, 1.0]}


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def call(server, method="POST", path="/run", body=None, **headers):
    """(status, text) of a request; header names with _ for -."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    body = json.dumps(ASKED) if body is None and method == "POST" else body
    sent = (
        {"Content-Type": "application/json", "X-Polhode-Token": server.token}
        if method == "POST"
        else {}
    )
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.closing(connection):
        connection.request(
            method, path, body, {name: value for name, value in sent.items() if value is not None}
        )
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def ask(server, **changes):
    """The last line of the answer to a good request with changes."""
    status, text = call(server, body=json.dumps(ASKED | changes))
    assert status == 200
    return json.loads(text.splitlines()[-1])


def test_the_page_is_served_with_its_token_and_a_policy(server):
    status, text = call(server, "GET", "/")
    assert (
        status == 200
        and server.token in text
        and "connect-src 'self'" in text
        and "default-src 'none'" in text
    )
    assert call(server, "GET", "/", Host=f"localhost:{server.server_port}")[0] == 200


def test_the_numbers_are_the_librarys(server):
    found = ask(server, compare="NMB")
    box = RigidBody.box(0.20, 0.13, 0.03)
    runs = [
        integrate(box, t_span=(0.0, 2.0), step=0.02, method=name, omega0=(0.02, 6.0, 0.0))
        for name in ("LP2", "NMB")
    ]
    for shown, run in zip(found["runs"], encode(runs), strict=True):
        assert [shown[key] for key in ("t", "quaternion", "omega", "energy")] == [
            run[key] for key in ("t", "quaternion", "omega", "energy")
        ]
    energy = runs[1].total_energy
    assert found["verdicts"][1]["energy"] == np.abs((energy - energy[0]) / energy[0]).max()


def test_how_far_it_is_is_told_line_by_line(server):
    lines = [json.loads(line) for line in call(server)[1].splitlines()]
    assert lines[0] == {"state": "preparing", "method": "LP2", "share": 0.0}
    assert lines[-2]["state"] == "running" and lines[-2]["share"] == 1.0 and "runs" in lines[-1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Host": "evil.example"}, "answers to 127.0.0.1:"),
        ({"Host": "127.0.0.1"}, "answers to"),
        ({"Host": "127.0.0.1:1"}, "answers to"),
        ({"Origin": "http://evil.example"}, "another page"),
        ({"Origin": "null"}, "another page"),
        ({"X_Polhode_Token": "guess"}, "token"),
        ({"X_Polhode_Token": None}, "token"),
        ({"X_Polhode_Token": "ü"}, "token"),
    ],
)
def test_strangers_are_refused(server, changes, words):
    status, text = call(server, **changes)
    assert status == 403 and words in text and "<" not in text
    if "Host" in changes:
        assert call(server, "GET", "/", **changes)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/etc/passwd",
        "/index.html",
        "/?",
        "/static/viewer.js",
        "/%2e%2e/",
        "file:///etc/passwd",
        "/run",
    ],
)
def test_there_are_no_files(server, path):
    status, text = call(server, "GET", path)
    assert status == 404 and "there is only the page" in text
    if path != "/run":
        assert call(server, "POST", path)[0] == 404


def test_requests_that_are_none(server):
    assert call(server, body="x" * 9000)[0] == 413
    assert call(server, body="x" * 1_000_000)[0] == 413
    assert call(server, body=iter([b"{}"]), Transfer_Encoding="chunked")[0] == 413
    assert call(server, Content_Type="text/plain")[0] == 415
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD"):
        assert call(server, method, "/")[0] == 501
    for text in ("", "{", "[" * 8000, b"\xff\xfe\xfd"):
        status, answer = call(server, body=text)
        assert status == 200 and json.loads(answer) == {"refused": {"": "the request is not JSON"}}
    with socket.create_connection(("127.0.0.1", server.server_port)) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert b"400" in raw.recv(1000)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"problem": "krysl/slow-tap"}, "problem", "did you mean 'krysl/slow-top'"),
        ({"problem": ["x"]}, "problem", "unknown problem"),
        ({"method": "LP3"}, "method", "unknown method"),
        ({"method": "taylor(300)"}, "method", "unknown method"),
        ({"method": None}, "method", "unknown method"),
        ({"compare": "NBM"}, "compare", "did you mean 'NMB'"),
        ({"step": 0}, "step", "must be positive"),
        ({"step": None}, "step", "missing"),
        ({"step": True}, "step", "real numbers"),
        ({"step": 1e-9}, "step", "at most 400000"),
        ({"step": 3.0}, "step", "longer than the span"),
        ({"span": 1e12}, "span", "shorten the span to 8e+03 s or less, or use a longer step"),
        ({"step": float("nan")}, "step", "finite"),
        ({"span": "2"}, "span", "real numbers"),
        ({"span": 10**400}, "span", "float64"),
        ({"omega0": [1, 2]}, "omega0", "three numbers"),
        ({"omega0": [1, None, 2]}, "omega0", "Ω₂ is missing"),
        ({"omega0": 3}, "omega0", "list of three"),
        ({"body": None}, "body", "must be an object"),
        ({"body": {"kind": "cone", "values": [1, 1, 1]}}, "body", "unknown kind of body"),
        ({"body": {"kind": "box", "values": [1, 1, -1]}}, "body", "box edge c must be positive"),
        (
            {"body": {"kind": "box", "values": [None, 1, None]}},
            "body",
            "edge a and edge c are missing",
        ),
        (
            {"body": {"kind": "box", "values": [1e9, 0.1, 0.1]}},
            "body",
            "bring edge a, edge b, edge c closer together",
        ),
        ({"body": {"kind": "box", "values": [1, 1]}}, "body", "three numbers"),
        ({"body": {"kind": "moments", "values": [1, 1, 9]}}, "body", "triangle inequality"),
        (
            {"body": {"kind": "box", "values": [1, 1, 1], "path": "/etc/passwd"}},
            "body",
            "unknown key of the body 'path'",
        ),
        ({"tilt": 181}, "tilt", "at most 180 degrees, got 181"),
        ({"tilt": -1}, "tilt", "must not be negative"),
        ({"tilt": None}, "tilt", "the tilt is missing; give a number of degrees"),
        ({"weight": "heavy"}, "weight", "real numbers"),
        ({"weight": -1}, "weight", "must not be negative"),
        ({"damping": float("inf")}, "damping", "finite"),
        ({"problem": "wheel", "wheel": None}, "wheel", "speed of the wheel is missing"),
        ({"problem": "wheel", "wheel": "fast"}, "wheel", "real numbers"),
        ({"problem": "wheel", "method": "NMB"}, "method", "cannot follow a body with rotors"),
        (
            {"problem": "wheel", "body": {"kind": "box", "values": [1e-3, 1e-3, 1e-3]}},
            "body",
            "rotors are too heavy",
        ),
        ({"second": {"body": None}}, "second", "the keys body, omega0, tilt"),
        (
            {"second": {"body": None, "omega0": [1, 0, 0], "tilt": 0}},
            "second",
            "body must be an object",
        ),
        ({"file": "/etc/passwd"}, "", "unknown key of the request 'file'"),
    ],
)
def test_bad_values_are_explained_by_field(server, changes, field, words):
    refused = ask(server, **changes)["refused"]
    assert list(refused) == [field] and words in refused[field]


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(work.Refused) as caught:
        work.check_request({})
    assert set(caught.value.fields) == {"problem", "body", "omega0", "method", "step", "span"}
    with pytest.raises(work.Refused, match="must be an object"):
        work.check_request([])


def test_a_method_that_fails_shows_what_came_before_or_says_why(server):
    top = {
        "problem": "krysl/slow-top",
        "body": {"kind": "moments", "values": [5, 5, 1]},
        "omega0": [0, 0, 5.0],
        "step": 0.5,
    }
    blown = ask(server, **top, method="taylor1", span=100.0)
    assert (
        "blew up by step 12" in blown["verdicts"][0]["message"]
        and blown["verdicts"][0]["energy"] > 1.0
    )
    refused = ask(server, **top, method="DMV", span=10.0)["refused"]
    assert (
        list(refused) == ["method"]
        and "could not take the step" in refused["method"]
        and "largest step" in refused["method"]
    )


def test_too_long_a_computation_is_ended(monkeypatch):
    monkeypatch.setattr(work, "MOST_SECONDS", 0.0)
    with pytest.raises(work.Refused, match="as long as the playground waits") as caught:
        work.computed(work.check_request(ASKED | {"step": 1e-4, "span": 40.0}), lambda *_: None)
    assert set(caught.value.fields) == {"method"}


def test_who_hangs_up_ends_the_computation(server):
    """A request that would hold the desk for long is dropped; the next one is answered."""
    body = json.dumps(
        ASKED | {"method": "VLV", "step": 1e-4, "span": 40.0, "compare": "DMV"}
    ).encode()
    head = (
        f"POST /run HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nX-Polhode-Token: {server.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", server.server_port)) as raw:
        raw.sendall(head + body)
        while b'"running"' not in (got := raw.recv(65536)):
            assert got
    assert "runs" in ask(server)
    while server.desk.locked():
        time.sleep(0.05)


def test_the_code_runs_and_gives_the_same_motion():
    for changes in (
        {},
        {
            "problem": "krysl/book-toss",
            "body": {"kind": "moments", "values": [5, 10, 1], "unphysical": True},
            "omega0": [0, 0, 0],
            "step": 0.05,
            "compare": "NMB",
        },
        {"body": {"kind": "ellipsoid", "values": [3, 2, 1]}, "weight": 2.0, "tilt": 30.0},
        {
            "problem": "krysl/slow-top",
            "damping": 0.1,
            "second": {"body": BALL, "omega0": [0, 1, 9], "tilt": 90},
        },
        {"problem": "bou-rabee/stress", "weight": 0.25, "tilt": 10.0},
        {"problem": "explorer", "wheel": 3.0, "body": BALL},
        {"problem": "throw", "span": 0.2},
    ):
        request = work.check_request(ASKED | changes)
        space = {}
        exec(as_python(request).replace(".open()", ""), space)
        runs = work.computed(request, lambda *_: None)["runs"]
        for name, run in zip(("run", "other"), runs, strict=False):
            assert encode([space[name]])[0]["quaternion"] == run["quaternion"]


# --- tilt, weight, damping, a second body, lessons ------------------------------------------------


def test_a_problem_left_as_it_is_is_the_papers():
    """Tilt and weight that nobody changed leave every bit as it was."""
    for one, problem in problems.ALL.items():
        request = work.check_request(ASKED | {"problem": one, "step": problem.step})
        assert np.array_equal(
            request.starts[0].rotation0, rotations.as_quaternion(problem.rotation0)
        )
        theirs = problem.torque(problem.step)
        assert repr(request.torque) == repr(theirs if theirs.acts else None)


def test_tilt_weight_and_damping_do_what_they_say():
    top = {"body": BALL, "omega0": [0, 0, 0], "tilt": 60.0, "weight": 3.0, "span": 1.0}
    request = work.check_request(ASKED | top)
    axis = rotations.rotate(request.starts[0].rotation0, [0.0, 0.0, 1.0])
    assert np.isclose(axis[2], 0.5) and np.isclose(axis[0], 0.0)
    run, _ = work._run(request, request.starts[0], request.methods[0], lambda *_: None)
    assert np.isclose(
        run.omega[1, 0], 3.0 * np.sin(np.pi / 3) * 0.02, rtol=1e-3
    )  # it falls about x
    slowed = work.check_request(ASKED | {"body": BALL, "omega0": [0, 0, 2.0], "damping": 0.5})
    run, _ = work._run(slowed, slowed.starts[0], slowed.methods[0], lambda *_: None)
    assert np.isclose(run.omega[-1, 2], 2.0 * np.exp(-0.5 * 2.0), rtol=1e-3)


def test_a_second_body_runs_beside_the_first(server):
    second = {"body": BALL, "omega0": [0, 0, 1], "tilt": 0}
    found = ask(server, second=second)
    assert [one["label"] for one in found["runs"]] == ["first body", "second body"]
    assert [one["method"] for one in found["verdicts"]] == ["LP2", "LP2"]
    found = ask(server, second=second, compare="NMB")
    assert [one["method"] for one in found["verdicts"]] == ["LP2", "NMB"]


def lesson(name, **changes):
    """The motion of a lesson, by its own values."""
    one = next(one for one in catalogue.catalogue()["problems"] if one["name"] == name)
    keys = ("body", "omega0", "tilt", "weight", "step", "span")
    request = work.check_request(
        {**ASKED, "problem": name, **{key: one[key] for key in keys}, **changes}
    )
    run, _ = work._run(request, request.starts[0], request.methods[0], lambda *_: None)
    axes = rotations.rotate(run.quaternion, np.array([0.0, 0.0, 1.0]))
    return run, np.degrees(np.arccos(np.clip(axes[:, 2], -1.0, 1.0)))


def test_the_lessons_show_what_their_sentences_say():
    assert lesson("sleeping-top")[1].max() < 3.0
    assert lesson("sleeping-top", omega0=[0, 0, 3.0])[1].max() > 60.0
    assert lesson("sleeping-top", damping=0.05)[1].max() > 60.0
    assert np.ptp(lesson("precession")[1]) < 0.01
    assert np.ptp(lesson("precession", omega0=[0, 0.2, 10.0])[1]) > 0.5
    tilt = lesson("nutation")[1]
    assert np.ptp(tilt) > 2.0 and np.isclose(tilt.min(), 40.0, atol=0.01)  # it returns to the cusp
    turned = rotations.rotate(lesson("tumbling-box")[0].quaternion, np.array([0.0, 1.0, 0.0]))
    assert turned[:, 1].min() < -0.99
    assert catalogue.catalogue()["problems"][1]["poinsot"]
    # stable above (J3 - J2) spin / J of the wheel = 200 rad/s
    assert lesson("wheel")[0].omega[:, 1].min() > 5.99
    assert lesson("wheel", wheel=190.0)[0].omega[:, 1].min() < 5.7
    assert lesson("wheel", wheel=0.0)[0].omega[:, 1].min() < -5.99
    flat = lesson("explorer")[0]
    momenta, energies = np.linalg.norm(flat.momentum_spatial, axis=1), flat.kinetic_energy
    assert np.ptp(momenta) < 1e-12 * momenta[0] and np.all(np.diff(energies[::50]) < 0.0)
    long_axis = flat.matrix[:, :, 2] @ flat.momentum_spatial[0] / momenta[0]
    assert long_axis[0] > 0.99 and np.abs(long_axis[-100:]).max() < 0.2
    assert momenta[0] ** 2 / (2 * flat.body.inertia.max()) < energies[-1] < 0.25 * energies[0]
    thrown = lesson("throw")[0]
    fall = 0.5 * 9.81 * thrown.t**2
    assert np.allclose(thrown.position[:, 2], 6.0 * thrown.t - fall, rtol=1e-12, atol=1e-12)
    assert thrown.omega[:, 1].min() < -8.0


def test_a_wheel_belongs_to_the_problem():
    start = {"problem": "wheel", "body": {"kind": "ellipsoid", "values": [0.2, 0.1, 0.3]}}
    other = {"body": BALL, "omega0": [0, 1, 0], "tilt": 0}
    request = work.check_request(ASKED | start | {"wheel": -50.0, "second": other})
    for body in (one.body for one in request.starts):
        (wheel,) = body.rotors
        assert (wheel.axis, wheel.speed, wheel.is_held) == ((0.0, 1.0, 0.0), -50.0, True)
    assert work.check_request(ASKED | start).starts[0].body.rotors[0].speed == 300.0
    assert not work.check_request(ASKED | {"wheel": 3.0}).starts[0].body.rotors


def test_the_catalogue_holds_every_problem_and_method():
    data = catalogue.catalogue()
    assert [one["name"] for one in data["problems"]] == [*LESSONS, *problems.ALL]
    assert [one["name"] for one in data["methods"]] == names()
    for one in data["problems"]:  # each can be asked for as it stands
        work.check_request(
            ASKED
            | {"problem": one["name"]}
            | {key: one[key] for key in ("body", "omega0", "tilt", "weight", "step", "span")}
        )
    groups = list(dict.fromkeys(one["group"] for one in data["methods"]))
    assert groups[0] == "Recommended" and groups[-1] == "Faulty variants from papers"
    assert data["methods"][0]["name"] == data["first"]
    assert "order 2, symplectic" in next(
        one["fact"] for one in data["methods"] if one["name"] == "LP2"
    )


# --- the port and the command ---------------------------------------------------------------------


def test_it_listens_on_this_machine_alone(server):
    assert (
        server.socket.getsockname()[0] == "127.0.0.1"
        and server.url == f"http://127.0.0.1:{server.server_port}/"
    )


def test_ports_that_cannot_be_had(server):
    with pytest.raises(InputError, match="--port"):
        Server(server.server_port)
    for port in (-1, 80, 70_000):
        with pytest.raises(InputError, match="from 1024 to 65535"):
            Server(port)


def test_the_command_has_no_host_and_ends_quietly():
    done = subprocess.run(
        [sys.executable, "-m", "polhode", "play", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "unknown option of `polhode play` '--host'" in done.stderr
    with subprocess.Popen(
        [sys.executable, "-m", "polhode", "play", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, error = process.communicate()
    assert process.returncode == 0 and "closed" in out and error == ""
