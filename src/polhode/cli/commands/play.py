"""`polhode play`."""

from pathlib import Path
from typing import Annotated

import typer

from polhode.cli.options import Force
from polhode.cli.terminal import make_console, print_error

GROUP = "First steps"


def play(
    port: Annotated[int, typer.Option(help="Port of the page; 0 chooses a free one.")] = 0,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
    static: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a page into a folder instead, which computes in the browser: for any web server.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Open a playground in the browser, with sliders for body, spin, method and step."""
    import webbrowser

    if static is not None:
        from polhode.show.play import folder

        page = folder.write(static, force)
        typer.echo(
            f"{page}: {page.stat().st_size / 1e6:.2f} MB; open it in a browser, or put it on a web server"
        )
        return

    from polhode.show.play.server import Server

    console = make_console()
    with Server(port) as server:
        try:
            address = f"Playground: [bold]{server.url}[/]  (reachable only from this machine; stop with Ctrl-C)"
            console.print(address, soft_wrap=True)
            if show and not webbrowser.open(server.url):
                print_error(f"no browser could be started; open {server.url} yourself")
            server.serve_forever()
        except KeyboardInterrupt:
            console.print("The playground is closed.")
