/* Jolt, PhysX: an explicit gyroscopic term that keeps the size of the momentum, and an exponential.

   L      = I omega
   L1     = (L - h omega x L) |L| / |L - h omega x L|
   omega' = I^-1 L1 + h I^-1 T
   q'     = q exp(h omega')

   After MotionProperties::ApplyGyroscopicForceInternal and Body::AddRotationStep: github.com/jrouwe/JoltPhysics at
   3b47ec3, Jolt/Physics/Body/MotionProperties.inl and Body.inl.  The term is an option there, and without it the body
   moves as in godot.c.  The term of PhysX (eENABLE_GYROSCOPIC_FORCES), of Rapier (src/dynamics/rigid_body.rs at
   ccd01cd, on by default) and of Avian 0.4 (src/dynamics/integrator/mod.rs) is the same.  The formulas only, written
   anew, in doubles and without damping.

   polhode: order = 1, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], L[3], change[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    momentum(I, omega, L);
    cross(omega, L, change);
    double before = length(L);
    for (int i = 0; i < 3; i++) L[i] -= h * change[i];
    double after = length(L), factor = after > 0.0 ? before / after : 0.0;
    for (int i = 0; i < 3; i++) omega[i] = factor * L[i] / I[i] + h * A[i];
    for (int i = 0; i < 3; i++) v[i] = h * omega[i];
    turn(q, v);
}
