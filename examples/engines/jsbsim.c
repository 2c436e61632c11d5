/* JSBSim, default integrators: explicit Euler steps for velocity and quaternion.

   q'     = q (1 + h/2 omega), normalised
   omega' = omega + h I^-1 (T - omega x I omega)

   After FGPropagate::Integrate with eRectEuler for both: github.com/JSBSim-Team/jsbsim at 0b688c8,
   src/models/FGPropagate.cpp.  Other integrators can be chosen there.  The formulas only, written anew.

   polhode: order = 1, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    acceleration(I, omega, A, A);
    for (int i = 0; i < 3; i++) v[i] = h * omega[i];
    turn_linearly(q, v);
    for (int i = 0; i < 3; i++) omega[i] += h * A[i];
}
