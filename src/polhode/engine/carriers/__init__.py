"""Carriers take steps: of one body with steps of a given size, of one body by tolerance, of many bodies.

A carrier has

    begin(segment)                        let the method start from the present motion
    pace                                  how many steps a chunk takes, which the driver adapts
    advance(segment, k, recorder, most)   take some steps of a segment from its step k, as many as the recorder
                                          allows, and `most` at most: a `Chunk`
    motion                                the present motion, in principal axes
    diagnose(chunk, place)                after a failed chunk: raises, or returns (status, message)
    state                                 everything needed to continue, as plain data; can be set
    elapsed, steps, evaluations, rejected the cost so far

Files, events, progress and interrupts are left to the driver.
"""
