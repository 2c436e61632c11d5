"""The playground that needs no server, beside the page that shows it."""

from pathlib import Path

from polhode.show.play import folder


def write(app, exception):
    if exception is None and app.builder.format == "html":
        folder.write(Path(app.outdir) / "_static" / "playground", force=True)


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
