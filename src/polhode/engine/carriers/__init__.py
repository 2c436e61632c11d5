"""Carriers take motions through time: one body at steps of given size, one body by tolerance, many
bodies.

A carrier of one body, or of many, has

    begin(segment)                        let the method start (anew) where the motion is
    advance(segment, k, recorder, most)   some steps of a segment from its step k, as many as the recorder and the pace allow and
                                          `most` at the most: a `Chunk`
    motion                                where it is now, principal axes
    diagnose(chunk, place)                what a failed chunk means: raises, or gives (status, message)
    state                                 everything needed to go on, as plain data; may be assigned
    elapsed, steps, evaluations, rejected what it took

and knows nothing of files, events, progress or interrupts: these are the driver's.
"""
