"""The playground that needs no server: in node, its scripts compute what the library computes."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import polhode
from javascript_code import needs_node, run
from polhode import problems
from polhode.exports.bundle import bundle
from polhode.show.play import folder, work

WEB = Path(__file__).parents[2] / "web" / "src"
SCRIPT = """
import { readFileSync } from "node:fs";
import * as code from "./steps.js";
import { computed } from "./motion.js";
import { checked, Refused } from "./request.js";

const { catalogue, requests } = JSON.parse(readFileSync(process.argv[2], "utf8")), results = [];
for (const asked of requests) {
    try {
        results.push(await computed(checked(asked, catalogue), catalogue, code, async () => {}));
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        results.push({ refused: error.fields });
    }
}
console.log(JSON.stringify(results, (key, value) => (ArrayBuffer.isView(value) ? [...value] : value)));
"""
ARRAYS = ("t", "quaternion", "omega", "energy", "momentum")
BOX = {"kind": "box", "values": [0.2, 0.13, 0.03], "unphysical": False}


def moments(*values):
    return {"kind": "moments", "values": list(values), "unphysical": False}


def asked(**changes):
    """A request of the page."""
    given = {
        "problem": "tumbling-box", "body": BOX, "omega0": [0.02, 6.0, 0.0], "tilt": 0.0, "second": None,
        "wheel": 0.0, "weight": 0.0, "damping": 0.0, "method": "LP2", "compare": None, "step": 0.02, "span": 12.0,
    }  # fmt: skip
    return given | changes


TOP = asked(
    problem="sleeping-top", body=moments(1, 1, 0.5), omega0=[0.1, 0.2, 6.0], weight=1.0, tilt=25.0, step=0.01, span=0.305
)  # fmt: skip
METHODS = [one["name"] for one in folder.offered()["methods"] if not one["obstacle"]]
SHOWN = [
    asked(),
    asked(body={**BOX, "kind": "ellipsoid"}, compare="LP2", step=0.001),
    asked(problem="throw", omega0=[0.02, 12.0, 0.0], span=1.2),
    asked(tilt=30.0, second={"body": moments(1, 2, 2.5), "omega0": [1.0, 0.0, 0.1], "tilt": 90.0}),
]
WRONG = [
    asked(step=-0.5, weight=-1.0, damping=None, omega0=[1.0, None, None], tilt=200.0, span=None),
    asked(step=1e-5, span=1e5),
    asked(step=1e-6, span=1.0),
    asked(step=30.0),
    asked(body=moments(1, 1, 1e-9)),
    asked(body={**BOX, "values": [1.0, None, 1.0]}),
]
PAGES = [*({**TOP, "method": name} for name in METHODS), *SHOWN, *WRONG]


@pytest.fixture(scope="module")
def answers():
    """All requests in one process."""
    files = {
        name: (WEB / name).read_text(encoding="utf-8")
        for name in ("motion.js", "request.js", "data.js", "format.js")
    }
    files["package.json"] = '{"type": "module"}'
    steps = bundle(folder.exported(), folder.acting().values())
    files["steps.js"] = f"{steps}export {{ makeBody, methods, torques }};"
    files["tasks.json"] = json.dumps({"catalogue": folder.offered(), "requests": PAGES})
    return run(SCRIPT, **files)


def numbers(text):
    """An array as the page of the library carries it."""
    return np.frombuffer(base64.b64decode(text[3:]), dtype=f"<{text[:2]}")


@needs_node
@pytest.mark.parametrize("i", range(len(METHODS)), ids=METHODS)
def test_the_motion_of_each_method(answers, i):
    request = work.check_request(PAGES[i])
    (start,) = request.starts
    torque = request.torque.without_derivatives()  # none are known on the page
    one = polhode.integrate(
        start.body, torque, (0.0, request.span), request.step, METHODS[i], rotation0=start.rotation0,
        scalar_first=False, omega0=start.omega0, compiled=False,
    )  # fmt: skip
    shown, verdict = answers[i]["runs"][0], answers[i]["verdicts"][0]
    assert np.array_equal(shown["t"], one.t) and verdict["steps"] == one.steps == 31
    assert np.abs(np.reshape(shown["quaternion"], (-1, 4)) - one.quaternion).max() < 2e-7
    assert np.abs(np.reshape(shown["omega"], (-1, 3)) - one.omega).max() < 1e-6
    if (
        "taylor" not in METHODS[i]
    ):  # these find derivatives otherwise where the torque may use the velocity
        right = np.abs(one.total_energy / one.total_energy[0] - 1.0).max()
        assert verdict["energy"] == pytest.approx(right, rel=1e-3, abs=1e-12)


@needs_node
@pytest.mark.parametrize("i", range(len(SHOWN)))
def test_the_page_is_that_of_the_library(answers, i):
    found, right = answers[len(METHODS) + i], work.computed(work.check_request(SHOWN[i]), print)
    assert found["code"] == right["code"]
    for mine, its in zip(found["runs"], right["runs"], strict=True):
        for key in ARRAYS + ("position",) * ("position" in its):
            assert np.allclose(mine[key], numbers(its[key]), rtol=1e-6, atol=1e-6)
        mine, its = (
            {key: value for key, value in one.items() if key not in (*ARRAYS, "position")}
            for one in (mine, its)
        )
        known = {key: value for key, value in its["about"].items() if key in mine["about"]}
        for key in ("torque", "polhode"):
            known.pop(key), mine["about"].pop(key)
        assert mine.pop("about") == known and its.pop("about")
        assert np.allclose(mine.pop("up"), its.pop("up"), atol=1e-12)
        assert mine == json.loads(json.dumps(its))
    for mine, its in zip(found["verdicts"], right["verdicts"], strict=True):
        same = ("method", "steps", "evaluations", "message", "causes")
        assert [mine[key] for key in same] == [its[key] for key in same]


@needs_node
@pytest.mark.parametrize("i", range(len(WRONG)))
def test_what_is_wrong_is_said_in_the_same_words(answers, i):
    with pytest.raises(work.Refused) as refused:
        work.check_request(WRONG[i])
    assert answers[len(METHODS) + len(SHOWN) + i]["refused"] == refused.value.fields


def test_the_folder_is_small_and_complete(tmp_path):
    page = folder.write(tmp_path / "play")
    assert list(page.parent.iterdir()) == [page] and page.stat().st_size < 2_000_000
    text = page.read_text(encoding="utf-8")
    assert all(f'"{name}": {{ start' in text for name in METHODS)
    in_arrays = {name for name in polhode.methods.names() if polhode.methods.get(name).arrays}
    assert set(METHODS) == set(polhode.methods.names()) - in_arrays
    with pytest.raises(polhode.InputError, match=r"index\.html' exists; .* --force"):
        folder.write(tmp_path / "play")
    assert folder.write(tmp_path / "play", force=True) == page


def test_all_problems_of_the_playground_act_in_javascript():
    offered = folder.offered()
    names = {one["name"] for problem in offered["problems"] for one in problem["acting"]}
    assert names <= offered["torques"].keys()
    stress = next(one for one in offered["problems"] if one["name"] == "bou-rabee/stress")
    torque = problems.get("bou-rabee/stress").torque()
    assert stress["acting"][0]["parameters"]["alpha"] == torque.params.alpha
