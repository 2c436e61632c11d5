"""The playground in a real browser: what is changed is computed anew, what is wrong is explained
beside it."""

import threading

import numpy as np
import pytest

from polhode import RigidBody, integrate
from polhode.show.play.server import Server


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def open_page(tab, server):
    def opened(**options):
        one = tab(server.url, **options)
        ready(one)
        return one

    return opened


def ready(one):
    """Wait until nothing is on its way: longer only where a method is compiled for the first
    time."""
    one.wait("polhode.playground && !polhode.playground.state().busy", seconds=120)
    one.settle()


def state(one):
    return one.page.evaluate("polhode.playground.state()")


def fill(one, field, value, number=0):
    one.page.locator(f"[data-field={field}] input[type=number]").nth(number).fill(value)
    ready(one)


def choose(one, field, value):
    one.page.locator(f"[data-field={field}] select").select_option(value)
    ready(one)


def complaint(one, field):
    return one.page.locator(f"[data-field={field}] .play-complaint").text_content()


def test_the_page_shows_what_the_library_computes(open_page, server):
    one = open_page()
    one.page.evaluate("polhode.playground.viewer.seek(5)")
    one.settle()
    run = integrate(
        RigidBody.box(0.20, 0.13, 0.03),
        t_span=(0, 12),
        step=0.02,
        method="LP2",
        omega0=(0.02, 6.0, 0.0),
    )
    shown = np.array(state(one)["viewer"]["runs"][0]["shown"])
    wanted = run.quaternion[np.searchsorted(run.t, 5.0 - 1e-9)]
    assert min(np.abs(shown - wanted).max(), np.abs(shown + wanted).max()) < 1e-6
    assert one.complaints == [] and set(one.requests) == {server.url, f"{server.url}run"}


def test_a_slider_computes_anew_and_keeps_the_time(open_page):
    one = open_page()
    one.page.evaluate("polhode.playground.viewer.seek(5)")
    before = state(one)
    move = "(bar) => { bar.value = 800; bar.dispatchEvent(new Event('input')); }"
    one.page.locator("[data-field=body] input[type=range]").first.evaluate(move)
    ready(one)
    after = state(one)
    assert after["answers"] == before["answers"] + 1 and after["asked"]["body"]["values"][0] > 0.3
    assert after["viewer"]["time"] == 5.0
    assert after["viewer"]["runs"][0]["quaternion"] != before["viewer"]["runs"][0]["quaternion"]


def test_many_changes_in_a_row_are_one_question(open_page):
    one = open_page()
    drag = """(bar) => { for (let i = 500; i < 900; i += 10) { bar.value = i; bar.dispatchEvent(new Event("input")); } }"""
    one.page.locator("[data-field=omega0] input[type=range]").nth(1).evaluate(drag)
    ready(one)
    assert state(one)["answers"] == 2 and len(one.requests) == 3


def test_bad_values_are_explained_beside_their_field_and_can_be_mended(open_page):
    one = open_page()
    fill(one, "step", "-1")
    fill(one, "omega0", "", number=2)
    assert "must be positive, got -1.0" in complaint(one, "step") and "Ω₃ is missing" in complaint(
        one, "omega0"
    )
    assert complaint(one, "body") == "" and state(one)["answers"] == 1  # the old picture stays
    fill(one, "step", "1e-9")
    assert "at most 400000" in complaint(one, "step")
    fill(one, "omega0", "0.5", number=2)
    fill(one, "step", "0.02")
    assert complaint(one, "step") == "" and state(one)["answers"] == 2 and one.complaints == []


def test_another_kind_of_body_has_the_same_inertia(open_page):
    one = open_page()
    choose(one, "body", "moments")
    moments = state(one)["asked"]["body"]["values"]
    assert np.allclose(moments, RigidBody.box(0.20, 0.13, 0.03).moments, rtol=1e-3)
    choose(one, "body", "ellipsoid")
    assert np.allclose(
        RigidBody.ellipsoid(*state(one)["asked"]["body"]["values"]).moments, moments, rtol=1e-2
    )
    choose(one, "body", "moments")
    fill(one, "body", "1", number=0)
    assert "triangle inequality" in complaint(one, "body")
    one.page.locator("[data-field=body] .play-tick input").check()
    ready(one)
    assert complaint(one, "body") == ""


def test_two_methods_side_by_side(open_page):
    one = open_page()
    choose(one, "compare", "NMB")
    assert [run["label"] for run in state(one)["viewer"]["runs"]] == ["LP2", "NMB"]
    assert "order 2" in one.page.locator("[data-field=compare] .play-fact").text_content()
    assert one.page.locator(".play-result tr").first.text_content() == "LP2NMB"
    choose(one, "compare", "")
    assert len(state(one)["viewer"]["runs"]) == 1


def test_a_problem_brings_its_values(open_page):
    one = open_page()
    choose(one, "problem", "krysl/slow-top")
    asked = state(one)["asked"]
    assert asked["body"] == {"kind": "moments", "values": [5, 5, 1], "unphysical": False} and asked[
        "omega0"
    ] == [0, 0, 5]
    assert one.page.locator(".play-view h1").text_content() == "Slow symmetric top"
    choose(one, "problem", "krysl/book-toss")
    assert state(one)["asked"]["body"]["unphysical"] and complaint(one, "body") == ""


def test_tilt_weight_and_damping(open_page):
    one = open_page()
    fill(one, "tilt", "30")
    fill(one, "weight", "0.01")
    fill(one, "damping", "0.001")
    asked = state(one)["asked"]
    assert (asked["tilt"], asked["weight"], asked["damping"]) == (30, 0.01, 0.001)
    code = one.page.locator(".play-result pre").text_content()
    assert "heavy_top(0.01) + polhode.torques.damping(0.001)" in code
    fill(one, "tilt", "200")
    assert "at most 180" in complaint(one, "tilt") and one.complaints == []


def test_a_second_body(open_page):
    one = open_page()
    box = one.page.locator("[data-field=second] input[type=checkbox]").first
    assert not one.page.locator(".play-second").is_visible()
    box.check()
    ready(one)
    assert state(one)["asked"]["second"]["body"] == state(one)["asked"]["body"]
    fill(one, "second", "0.3", number=0)
    labels = [run["label"] for run in state(one)["viewer"]["runs"]]
    assert labels == ["first body", "second body"]
    assert state(one)["asked"]["second"]["body"]["values"][0] == 0.3
    box.uncheck()
    ready(one)
    assert len(state(one)["viewer"]["runs"]) == 1 and one.complaints == []


def test_the_address_holds_everything(open_page, tab, server):
    one = open_page()
    choose(one, "problem", "sleeping-top")
    fill(one, "tilt", "12.5")
    fill(one, "damping", "0.01")
    one.page.locator("[data-field=second] input[type=checkbox]").first.check()
    fill(one, "second", "0.25", number=2)
    choose(one, "compare", "NMB")
    address = one.page.url
    assert "problem=sleeping-top" in address and "tilt=12.5" in address
    other = tab(address)
    ready(other)
    assert state(other)["asked"] == state(one)["asked"] and other.page.url == address
    lost = tab(f"{server.url}#problem=krysl/slow-tap")
    ready(lost)
    text = lost.page.locator("[data-field=problem] p").first.text_content()
    assert "There is no problem krysl/slow-tap" in text
    strange = tab(f"{server.url}#problem=krysl/slow-top&omega0=1,x,2&step=")
    ready(strange)
    assert "Ω₂ is missing" in complaint(strange, "omega0")
    assert "the step is missing" in complaint(strange, "step")


def test_lessons_have_a_sentence_and_poinsot_his_picture(open_page):
    one = open_page()
    assert "intermediate axis" in one.page.locator("[data-field=problem] p").first.text_content()
    choose(one, "problem", "poinsot")
    assert state(one)["viewer"]["poinsot"]
    choose(one, "problem", "nutation")
    assert not state(one)["viewer"]["poinsot"] and state(one)["viewer"]["trace"]


def test_a_wheel_and_its_speed(open_page, tab, server):
    one = open_page()
    wheel = one.page.locator("[data-field=wheel]")
    assert wheel.is_hidden() and "wheel=" not in one.page.url
    choose(one, "problem", "wheel")
    assert wheel.is_visible() and state(one)["asked"]["wheel"] == 300
    assert one.page.locator(".plot").count() == 4
    fill(one, "wheel", "-40")
    assert "wheel at −40" in one.page.locator(".subtitle").text_content().replace("-", "−")
    assert "speed=-40.0" in one.page.locator(".play-result pre").text_content()
    other = tab(one.page.url)
    ready(other)
    assert state(other)["asked"] == state(one)["asked"]
    choose(one, "method", "NMB")
    assert "cannot follow a body with rotors" in complaint(one, "method")
    choose(one, "method", "LP2")
    assert "may change it" in one.page.locator(".play-result").text_content()
    choose(one, "problem", "nutation")
    assert wheel.is_hidden() and one.page.locator(".plot").count() == 3
    assert one.complaints == []


def test_a_thrown_box_flies(open_page):
    one = open_page()
    choose(one, "problem", "throw")
    one.page.evaluate("polhode.playground.viewer.seek(0.6)")
    one.page.keyboard.press("f")
    one.settle()
    shown = state(one)["viewer"]
    assert not shown["follow"] and shown["runs"][0]["place"] != [0, 0, 0]
    choose(one, "problem", "poinsot")
    assert state(one)["viewer"]["poinsot"] and one.complaints == []


def test_the_time_axes_are_in_line(open_page):
    one = open_page(viewport={"width": 1400, "height": 900})
    fill(one, "step", "0.04")
    one.settle()
    left = {round(place.bounding_box()["x"], 1) for place in one.page.locator(".u-over").all()}
    assert len(left) == 1


def test_keys_in_the_form_are_the_forms(open_page):
    one = open_page()
    bar = one.page.locator("[data-field=span] input[type=range]")
    bar.focus()
    before = bar.input_value()
    bar.press("ArrowRight")
    assert bar.input_value() != before and state(one)["viewer"]["time"] == 0.0


@pytest.mark.parametrize("width", [360, 800, 1024])
def test_nothing_sticks_out_on_narrow_screens(open_page, width):
    one = open_page(viewport={"width": width, "height": 740})
    covered = """(line) => { const { left, bottom } = line.getBoundingClientRect();
        return document.elementFromPoint(left + 5, bottom - 2) !== line; }"""
    assert not one.page.locator(".subtitle").evaluate(covered)
    choose(one, "compare", "NMB")
    fill(one, "step", "-1")
    assert one.overflow() <= 0 and one.complaints == []


def test_a_server_that_is_gone_is_said_to_be(tab):
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        one = tab(server.url)
        ready(one)
        server.shutdown()
    fill(one, "step", "0.03")
    assert "start it again" in one.page.locator(".play-status").text_content()
