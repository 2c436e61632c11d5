"""What a notebook shows: a picture or a table of every result, and a short line where there is only text."""

import base64

import pytest

import polhode
from polhode.show.view import _card

LONGEST_LINE = 500  # characters of a plain repr
LARGEST = 100_000  # characters of a card
CELLS = {
    "run": "run",
    "plot": "run.plot()",
    "page": "run.view()",
    "stored": "polhode.read(run.save('run.nc', force=True))",
    "ensemble": "many",
    "body": "run.body",
    "flow": "polhode.Flow(run.body, rtol=1e-9)",
    "stepper": "polhode.Stepper(run.body, step=0.01, omega0=(0, 1, 0))",
    "flying stepper": "polhode.Stepper(run.body, step=0.01, omega0=(0, 1, 0), position0=(1, 2, 3))",
    "problem": "polhode.problem('krysl/slow-top')",
    "comparison": "comparison",
    "its figure": "comparison.figure()",
    "advice": "polhode.advise('krysl/slow-top', error=1e-2, methods=['NMB', 'LP2'])",
    "certificate": "certificate",
    "its page": "certificate.figure()",
}
BEGIN = """
import polhode
run = polhode.integrate(
    polhode.RigidBody.box(3, 2, 1), t_span=(0, 20), step=0.01, omega0=(0, 1, 0.001), title="a <b>box</b>")
many = polhode.ensemble([5.0, 5.0, 1.0], t_span=(0, 1), step=0.01, omega0=(0, 0, 5), n=10)
comparison = polhode.compare("krysl/slow-top", methods=["NMB", "LP2"], errors=[1e-2])
certificate = polhode.certify("NMB")
"""
PICTURES = ("plot", "its figure", "its page")
# of what is no result, but is met on the way to one
OTHERS = (
    "many.torque, many.method, many.bodies",
    "comparison.curves[0], comparison.curves[0].points[0]",
    "comparison.truth",
    "list(certificate.facts.values())[0]",
    "polhode.advise('krysl/slow-top', error=1e-2, methods=['NMB']).trials[0]",
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a real notebook shows below each cell, as data of each kind."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    cells = [BEGIN, *CELLS.values(), *(f"print(repr(({other},)))" for other in OTHERS)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        patch.setenv("JUPYTER_CONFIG_DIR", str(folder / "config"))
        nbclient.NotebookClient(
            notebook, timeout=None, resources={"metadata": {"path": str(folder)}}
        ).execute()
    outputs = [cell.outputs for cell in notebook.cells[1:]]
    assert not any(notebook.cells[0].outputs)
    assert all(len(one) == 1 for one in outputs)
    results = dict(zip(CELLS, (one[0].get("data") for one in outputs), strict=False))
    return results, [one[0].text for one in outputs[len(CELLS) :]]


@pytest.mark.parametrize("cell", CELLS)
def test_a_notebook_shows_it(cell, shown):
    data = shown[0][cell]
    assert len(data["text/plain"]) < LONGEST_LINE and "\n" not in data["text/plain"]
    if cell in PICTURES:
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    else:
        assert ("<iframe" if cell == "page" else "<table") in data["text/html"]


def test_cards_are_small(shown):
    cards = {
        cell: len(shown[0][cell]["text/html"]) for cell in CELLS if cell not in (*PICTURES, "page")
    }
    assert max(cards.values()) < LARGEST, cards
    busy = polhode.problem("krysl/coulomb-wall").integrate("LP2", t_span=(0, 300))
    assert len(busy._repr_html_()) < LARGEST


def test_cards_have_units_and_errors(shown):
    assert "error about" in shown[0]["ensemble"]["text/html"]
    body = polhode.RigidBody([1.0, 2.0, 2.5], mass=3.0, units={"length": "mm", "mass": "g"})
    assert "3 g" in body._repr_html_() and "g mm²" in body._repr_html_()
    many = polhode.ensemble(body, t_span=(0, 1), step=0.1, omega0=(0, 0, 5), n=3, units="SI")
    assert "energy [J]" in many._repr_html_()


def test_a_run_comes_with_its_picture_whether_fresh_or_stored(shown):
    run, stored = (shown[0][name]["text/html"] for name in ("run", "stored"))
    assert run == stored and "data:image/png;base64," in run
    assert "a &lt;b&gt;box&lt;/b&gt;" in run  # text is no markup


def test_what_else_is_met_is_short(shown):
    for text in shown[1]:
        assert len(text) < LONGEST_LINE and " object at 0x" not in text, text


def test_a_run_that_is_too_long_to_draw_has_its_table(monkeypatch):
    run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 1), step=0.01, omega0=(0, 1, 0.1))
    assert "<img" in run._repr_html_()
    monkeypatch.setattr(_card, "MOST_POINTS", 100)
    assert "<img" not in run._repr_html_() and "<table" in run._repr_html_()


def test_a_long_table_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(_card, "MOST_ROWS", 1)
    assert "and 1 more" in polhode.RigidBody([1.0, 2.0, 3.0])._repr_html_()
