"""The command `polhode play`: serve the playground until Ctrl-C."""

from polhode.cli._app import complain, console


def run(port, show):
    """Start the server, say where the page is, open it, and stay; Ctrl-C is the way it ends."""
    from polhode.show.play.server import Server

    with Server(port) as server:
        try:
            _serve(server, show)
        except KeyboardInterrupt:
            console().print("The playground is closed.")


def _serve(server, show):
    console().print(f"Playground: [bold]{server.url}[/]  (on this machine alone; Ctrl-C ends it)", soft_wrap=True)
    if show:
        import webbrowser

        if not webbrowser.open(server.url):
            complain(f"no browser could be started; open {server.url} yourself")
    server.serve_forever()
