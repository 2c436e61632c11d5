"""`python -m polhode`."""

from polhode.cli._app import main

main()
