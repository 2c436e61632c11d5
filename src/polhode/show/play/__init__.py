"""A page to play with, served to this machine alone: every change is computed anew by the library.

    lessons.py      motions for a lesson, with a sentence each
    start.py        what can be changed in a problem: tilt, weight, damping
    catalogue.py    the problems and methods that the page offers
    work.py         what the page asks for, checked field by field, run, and as Python code
    server.py       two routes on 127.0.0.1: the page, and `POST /run`
    folder.py       the same without a server: the page with the methods in JavaScript (web/src/motion.js)

`polhode play` starts it, `polhode play --static DIR` writes the page.
"""
