"""The playground without a server of its own, from a file server: the browser computes."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from polhode import problems
from polhode.show.play import folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the folder is served as any web host would."""
    page = folder.write(tmp_path_factory.mktemp("playground"))
    serve = functools.partial(Quiet, directory=str(page.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def ready(one):
    one.wait("polhode.playground && !polhode.playground.state().busy")
    one.settle()


def state(one):
    return one.page.evaluate("polhode.playground.state()")


def choose(one, field, value):
    one.page.locator(f"[data-field={field}] select").select_option(value)
    ready(one)


def fill(one, field, value):
    one.page.locator(f"[data-field={field}] input[type=number]").fill(value)
    ready(one)


def told(one, field):
    return one.page.locator(f"[data-field={field}] .play-complaint").text_content()


def test_it_shows_what_the_library_computes_and_loads_nothing_else(tab, address):
    one = tab(f"{address}#problem=krysl/slow-top&method=NMB")
    ready(one)
    top = problems.get("slow-top")
    run = top.integrate("NMB", compiled=False)
    for t in (1.0, 7.5):
        one.page.evaluate(f"polhode.playground.viewer.seek({t})")
        one.settle()
        shown = np.array(state(one)["viewer"]["runs"][0]["shown"])
        wanted = run.quaternion[np.searchsorted(run.t, t - 1e-9)]
        assert min(np.abs(shown - wanted).max(), np.abs(shown + wanted).max()) < 1e-6
    asked = [
        request.partition("#")[0] for request in one.requests if not request.startswith("blob:")
    ]
    assert asked == [address]
    assert one.complaints == []


def test_methods_bodies_and_values(tab, address):
    one = tab(address)
    ready(one)
    choose(one, "compare", "DOP853")
    assert [run["label"] for run in state(one)["viewer"]["runs"]] == ["LP2", "DOP853"]
    choose(one, "compare", "")
    one.page.locator("[data-field=second] .play-tick input").first.check()
    ready(one)
    assert [run["label"] for run in state(one)["viewer"]["runs"]] == ["first body", "second body"]
    fill(one, "step", "-1")
    assert "must be positive, got -1.0" in told(one, "step")
    fill(one, "step", "1e-9")
    assert "at most 400000" in told(one, "step")
    fill(one, "step", "0.01")
    assert told(one, "step") == "" and one.complaints == []
    code = (
        one.page.locator(".play-result pre")
        .text_content()
        .replace("run.view(compare=other).open()", "")
    )
    found = {}
    exec(code, found)  # the code of the page computes the same
    shown = state(one)["viewer"]["runs"][1]
    assert shown["frames"] == len(found["other"]) == 1201


def test_a_newer_question_ends_the_older_one(tab, address):
    one = tab(f"{address}#problem=tumbling-box&method=DOP853&step=0.0001&span=40")
    one.wait("polhode.playground.state().busy")
    fill(one, "step", "0.02")
    after = state(one)
    assert after["answers"] == 1 and after["viewer"]["runs"][0]["frames"] == 2001
    assert one.complaints == []


def test_what_needs_python_cannot_be_chosen(tab, address):
    one = tab(f"{address}#problem=wheel")
    ready(one)
    assert "it has a rotor; `polhode play` has it" in told(one, "problem")
    options = one.page.locator("[data-field=problem] option").evaluate_all(
        "all => Object.fromEntries(all.map(one => [one.value, one.disabled]))"
    )
    offered = {p["name"]: bool(p["obstacle"]) for p in folder.offered()["problems"]}
    assert options == offered
    choose(one, "problem", "sleeping-top")
    assert told(one, "problem") == "" and state(one)["answers"] == 1
    assert one.complaints == []


def test_it_works_as_a_file_too(tab, tmp_path):
    one = tab(folder.write(tmp_path))
    ready(one)
    assert state(one)["answers"] == 1 and one.complaints == []
