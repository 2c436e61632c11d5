"""
Poinsot's rolling ellipsoid
===========================

Poinsot described the motion of a free body without formulas: its inertia ellipsoid rolls without
slipping on a plane fixed in space.  The point of contact is the tip of the angular velocity.  It traces
the *polhode*, a closed curve, on the ellipsoid and the *herpolhode*, which need not close, on the plane.
"""

# sphinx_gallery_thumbnail_number = 1
import numpy as np
from matplotlib.colors import LightSource

import polhode
from polhode import plots
from polhode.show.poinsot import Poinsot

body = polhode.RigidBody([1.0, 1.7, 2.4], name="a free body")
run = polhode.integrate(body, t_span=(0, 60), step=0.01, omega0=(1.0, 0.35, 0.4))
shape = Poinsot(body, omega0=run.omega[0])

# %%
# The picture is rotated so that the angular momentum points down and the plane lies below; it shows
# three moments of the motion.

plane = shape.plane()
to_picture = np.stack([plane.axes[1], plane.axes[0], -plane.normal])
contact = run.omega_spatial / np.sqrt(2.0 * run.kinetic_energy)[:, None] @ to_picture.T
reach = 1.05 / np.sqrt(body.moments.min())
polhode_curve = shape.polhode(300)
elevation, azimuth = np.radians((16, -62))
to_viewer = np.array(
    [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
)

with plots.styled():
    rolling = plots.new_figure(11.0, 3.9)
    for column, i in enumerate((0, 560, 1500)):
        axes = rolling.add_subplot(1, 3, column + 1, projection="3d", computed_zorder=False)
        turned = to_picture @ run.matrix[i]
        corners = reach * np.array([[-1.0, 1.0], [-1.0, 1.0]])
        axes.plot_surface(
            corners,
            corners.T,
            np.full((2, 2), -plane.distance),
            color="#EDF3F8",
            shade=False,
            zorder=0,
        )
        axes.plot(*contact.T, color=plots.PALETTE[1], lw=0.6, alpha=0.35, zorder=1)
        axes.plot(*contact[: i + 1].T, color=plots.PALETTE[1], lw=2.0, zorder=1)
        axes.view_init(elev=16, azim=-62)
        surface = shape.ellipsoid(48)[:, ::-1] @ turned.T  # the order turns the normals outwards
        axes.plot_surface(
            *np.moveaxis(surface, -1, 0),
            rstride=1,
            cstride=1,
            color="#E8EEF2",
            lw=0,
            antialiased=False,
            lightsource=LightSource(300, 60),
            zorder=2,
        )
        in_front = polhode_curve @ body.inertia @ turned.T @ to_viewer > 0.0
        for part, width in ((in_front, 2.2), (~in_front, 0.8)):
            axes.plot(
                *np.where(part[:, None], polhode_curve @ turned.T, np.nan).T,
                color=plots.PALETTE[0],
                lw=width,
                zorder=3,
            )
        axes.plot(*contact[i], "o", color="black", ms=5, zorder=4)
        axes.set_axis_off()
        axes.set_proj_type("ortho")
        axes.set(
            xlim=(-reach, reach),
            ylim=(-reach, reach),
            zlim=(-plane.distance, 1.7 * reach - plane.distance),
        )
        axes.set_box_aspect((2, 2, 1.7), zoom=1.4)
        axes.set_title(f"t = {run.t[i]:g} s", loc="center", y=-0.02)
    rolling.suptitle(
        "The ellipsoid rolls: polhode (blue) on it, herpolhode (orange) on the plane",
        x=0.012,
        ha="left",
    )

# %%
# ``plots.polhode`` draws both curves of a run: the polhode among those of other motions of the body,
# the herpolhode between its exact bounds.

curves = plots.polhode(run)
