"""Many bodies at once: `ensemble(...) -> Ensemble`.

A backend moves the bodies.  `polhode.engine.ensemble.tiles.Tiles` is the processor's; a GPU's is `polhode.engine.ensemble.gpu.Gpu`,
imported when it is asked for.  A backend is a class

    Backend(program, n, moments, parameters, dtype="float64", threads=None)

        program     of `polhode.engine.program.build`: the method's and torque's functions in `names`, the state's class in `kind`, the
                    shape of the parameters in `shape`, numbers of a state in `size` and of a motion in `width`
        n           how many bodies
        moments     (3, n) principal moments of inertia, or (3, 1) when all bodies have the same
        parameters  (m, n) what the torque's kernel gets, in the order of its layout, or (m, 1)

with the methods

    begin(h, t, motions)            let the method start (anew) from motions (n, 7): quaternion, body angular velocity
    advance(segment, k, count)      `count` steps of a `polhode.engine.grid.Segment` from its step k, for every body that is well;
                                    no steps: compile what that takes
    motions()                       (n, 7) where the bodies are now; in flight 13 numbers
    failures()                      {body: (k, reason)}: the number of the step that failed, and "diverged" or "unsolved" or a
                                    sentence; the body's motion stays the one before that step

and the attributes `device`, `threads` and `vectorised` (whether the inner loop is made of packed instructions; None where the
question makes no sense).  A body that fails leaves all others alone.
"""
