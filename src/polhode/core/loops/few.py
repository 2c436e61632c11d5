"""Forces between a few bodies, in the tuple form of `polhode.core.few`; `bind` gives the names that are
None here."""

# bound per number of bodies: load_motion, look, store_forces;  per interaction: forces, load_parameters
load_motion = look = store_forces = forces = load_parameters = None


def forces_at(t, motion, parameters, out):
    """Forces and torques in space, all in one row, at a motion in the user's axes."""
    p = load_parameters(parameters, 0)
    store_forces(forces(t, look(load_motion(motion, 0)), p), out, 0)
