"""`python -m polhode`."""

from polhode.cli import main

main()
