/* NASA's 42: Runge-Kutta of order 4 for velocity and quaternion, under a torque that is held during the step.

   omega. = I^-1 (T - omega x I omega)
   q.     = 1/2 q omega                                    normalised after the step

   After KaneNBodyRK4 for one body: github.com/ericstoneking/42 at 11e3cc3, Source/42dynamics.c.  The formulas only,
   written anew.

   polhode: order = 1, free_order = 4, torques = 1, symmetric = no, symplectic = no, conserves = nothing */

#include "rotation.h"

static void rates(const double I[3], const double T[3], const double y[7], double out[7])
{
    double A[3], spin[4] = {0.5 * y[4], 0.5 * y[5], 0.5 * y[6], 0.0};
    for (int i = 0; i < 3; i++) A[i] = T[i] / I[i];
    multiply(y, spin, out);
    acceleration(I, y + 4, A, out + 4);
}

void step(double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, void *context)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double T[3], y[7], now[7], rate[7] = {0.0}, change[7] = {0.0};
    torque(t, q, omega, T, context);
    to_body(q, T, T);
    for (int i = 0; i < 7; i++) y[i] = i < 4 ? q[i] : omega[i - 4];
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 7; i++) now[i] = y[i] + part[k] * h * rate[i];
        rates(I, T, now, rate);
        for (int i = 0; i < 7; i++) change[i] += weight[k] * h * rate[i];
    }
    for (int i = 0; i < 4; i++) q[i] += change[i];
    for (int i = 0; i < 3; i++) omega[i] += change[4 + i];
    normalise(q);
}
