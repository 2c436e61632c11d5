/* Godot Physics: no gyroscopic term.  A free body turns about a fixed axis, whatever its shape.

   omega' = omega + h I^-1 T
   q'     = q exp(h omega')

   After GodotBody3D::integrate_forces and integrate_velocities: github.com/godotengine/godot at 0a93d3b,
   modules/godot_physics_3d/godot_body_3d.cpp.  The formulas only, written anew, in doubles and without damping.

   polhode: torques = 1 */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    for (int i = 0; i < 3; i++) omega[i] += h * A[i];
    for (int i = 0; i < 3; i++) v[i] = h * omega[i];
    turn(q, v);
}
