/* Box3D: four substeps, in each the torque, an implicit gyroscopic term by one Newton step, and a turn to first order.

   omega1 = omega + h/4 A                                  A: from the torque at the beginning, constant in space
   omega' = omega1 - J^-1 h/4 omega1 x I omega1            J = I + h/4 (omega1^ I - (I omega1)^)
   q'     = q (1 + h/8 omega'), normalised

   After b3IntegrateVelocitiesTask and b3IntegrateRotation: github.com/erincatto/box3d at 30c67b5, src/solver.c and
   src/math_internal.h, with the usual four substeps.  The formulas only, written anew, in doubles and without damping.

   polhode: order = 1, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], in_space[3], v[3], part = h / 4.0;
    driven(t, q, omega, I, torque, context, A);
    to_space(q, A, in_space);
    for (int k = 0; k < 4; k++) {
        to_body(q, in_space, A);
        for (int i = 0; i < 3; i++) omega[i] += part * A[i];
        implicit_gyroscopic(part, I, omega);
        for (int i = 0; i < 3; i++) v[i] = part * omega[i];
        turn_linearly(q, v);
    }
}
