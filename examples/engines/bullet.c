/* Bullet: an implicit gyroscopic term, by one Newton step, and an exponential.

   omega' = omega - J^-1 h omega x I omega + h I^-1 T      J = I + h (omega^ I - (I omega)^)
   q'     = q exp(h omega')                                of at most a quarter of pi

   After btRigidBody::computeGyroscopicImpulseImplicit_Body, which is what a body does by default, and
   btTransformUtil::integrateTransform: github.com/bulletphysics/bullet3 at e7ff71d,
   src/BulletDynamics/Dynamics/btRigidBody.cpp and src/LinearMath/btTransformUtil.h.  The formulas only, written anew, in doubles and without damping.

   polhode: order = 1, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    implicit_gyroscopic(h, I, omega);
    for (int i = 0; i < 3; i++) omega[i] += h * A[i];
    double angle = h * length(omega), most = 0.78539816339744831;
    for (int i = 0; i < 3; i++) v[i] = angle > most ? omega[i] * h * most / angle : omega[i] * h;
    turn(q, v);
}
