"""
A CubeSat with magnetorquers and a wheel
========================================

A 6U CubeSat tumbles after its release into a polar orbit, 500 km above the Earth.  Magnetorquers with
B-dot control oppose the change of the magnetic field that they feel, and so take away the rotation.
After two orbits a motor spins up a reaction wheel.  The body then turns the other way, until the
magnetorquers have taken away this rotation too.  What remains is the momentum of the wheel: its axle
keeps its direction in space, although gravity pulls at the long axis of the satellite.

The field is that of a dipole along the Earth's axis.  All numbers are in SI units.
"""

import numpy as np

import polhode
from polhode import plots

mu, radius, inclination = 3.986e14, 6.871e6, np.radians(97.4)
speed = np.sqrt(mu / radius)
period = 2 * np.pi * radius / speed
on, off = 2 * period, 2 * period + 900


def motor(t):
    """The torque on the wheel: for a quarter of an hour."""
    return 2e-5 if on < t < off else 0.0


cube = polhode.RigidBody.box(0.1, 0.226, 0.366, mass=12.0, name="6U CubeSat")
wheel = polhode.Rotor((0, 1, 0), 3e-5, torque=motor)
load = polhode.flight.gravity(mu, cube) + polhode.flight.detumble(gain=6e4, strength=7.7e15)


def fly(satellite):
    """Eight orbits."""
    return polhode.integrate(
        satellite,
        load,
        (0, 8 * period),
        rtol=1e-8,
        breaks=[on, off],
        t_eval=np.linspace(0, 8 * period, 1601),
        omega0=(0.08, 0.05, -0.10),
        position0=(radius, 0, 0),
        velocity0=(0, speed * np.cos(inclination), speed * np.sin(inclination)),
    )


with_wheel, without = fly(cube.with_rotors([wheel])), fly(cube)

# %%
# The satellite without a wheel still turns once or twice per orbit: the field that it follows turns
# twice in an orbit, and gravity pulls at it.  The dashed line is one turn per orbit.


def wandered(run):
    """The angle of the axle's direction, in degrees from the one after four orbits."""
    axle = run.matrix[:, :, 1]
    return np.degrees(np.arccos(np.clip(axle @ axle[800], -1, 1)))


with plots.styled():
    figure = plots.new_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    for run, label, colour in (
        (without, "without wheel", plots.PALETTE[1]),
        (with_wheel, "with wheel", plots.PALETTE[0]),
    ):
        orbits = run.t / period
        rate = np.degrees(np.linalg.norm(run.omega, axis=1))
        left.semilogy(orbits, rate, color=colour, lw=1.4, label=label)
        late = orbits >= 4
        right.plot(orbits[late], wandered(run)[late], color=colour, lw=1.6, label=label)
    left.axhline(360 / period, color="#777777", lw=1.0, ls="--")
    left.axvspan(on / period, off / period, color="#DDDDDD", lw=0)
    left.text(2.25, 1.5e-3, "the motor runs", color="#555555")
    left.set(xlabel="orbits", ylabel="degrees per second", xlim=(0, 8), ylim=(1e-3, 20))
    left.set_title("Angular velocity")
    left.legend(loc="upper right")
    right.set(xlabel="orbits", ylabel="degrees", xlim=(4, 8), ylim=(-5, 215))
    right.set_title("Direction of the axle, from that after four orbits")
    right.legend(loc="upper left")
