"""The command `polhode view`: stored runs in, one page out."""

from polhode.cli._app import complain, point_to
from polhode.support.file_names import readable
from polhode.io import store
from polhode.support.regular import named
from polhode.show.view._page import FORMATS, page


def surface(path):
    """Vertices and faces of a mesh file; drawing does not need it closed."""
    from polhode.bodies.mesh_file import triangles

    return triangles(path)[:2]


def run(runs, output, title, mesh, poinsot, show, force):
    """Make the page, say where it is and open it; what is in the way is refused before any work."""
    output = output or named(runs[0]).with_suffix(".html")
    store.check(output, None, force, FORMATS)
    made = page(runs, title=title and readable(title), mesh=mesh and surface(mesh), poinsot=poinsot)
    made.save(output, force)
    point_to("Page", output)
    if show and not made.open():
        complain(f"no browser could be started; open {output} yourself")
