/* MuJoCo, integrator Euler: the velocity by an explicit step, then the attitude with the new velocity.

   omega' = omega + h I^-1 (T - omega x I omega)
   q'     = q exp(h omega')

   After mj_Euler, mj_advance and mju_quatIntegrate, for a body with a free joint and no damping:
   github.com/google-deepmind/mujoco at a725507, src/engine/engine_forward.c and engine_util_spatial.c.  The formulas
   only, written anew.

   polhode: order = 1, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    acceleration(I, omega, A, A);
    for (int i = 0; i < 3; i++) omega[i] += h * A[i];
    for (int i = 0; i < 3; i++) v[i] = h * omega[i];
    turn(q, v);
}
