/* Vectors and quaternions for the engines in this folder.  Quaternions are (x, y, z, w), body to space.

   Engines keep the angular velocity in space.  Here it is in body axes, which makes no difference to them: turning a
   body about its angular velocity leaves the components of that velocity in the body as they are. */

#ifndef ROTATION_H
#define ROTATION_H

#include <math.h>

typedef void torque_function(double t, const double q[4], const double omega[3], double torque[3], void *context);

static inline void cross(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x; out[1] = y; out[2] = z;
}

static inline double length(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static inline void momentum(const double I[3], const double omega[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = I[i] * omega[i];
}

static inline void multiply(const double p[4], const double q[4], double out[4])
{
    double x = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1];
    double y = p[3] * q[1] + p[1] * q[3] + p[2] * q[0] - p[0] * q[2];
    double z = p[3] * q[2] + p[2] * q[3] + p[0] * q[1] - p[1] * q[0];
    double w = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2];
    out[0] = x; out[1] = y; out[2] = z; out[3] = w;
}

static inline void normalise(double q[4])
{
    double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] /= size;
}

/* v from body to space axes: v + 2 w (u x v) + 2 u x (u x v), u being the vector of q. */
static inline void to_space(const double q[4], const double v[3], double out[3])
{
    double a[3], b[3];
    cross(q, v, a);
    cross(q, a, b);
    for (int i = 0; i < 3; i++) out[i] = v[i] + 2.0 * (q[3] * a[i] + b[i]);
}

static inline void to_body(const double q[4], const double v[3], double out[3])
{
    double back[4] = {-q[0], -q[1], -q[2], q[3]};
    to_space(back, v, out);
}

/* The unit quaternion of a rotation vector. */
static inline void exponential(const double v[3], double q[4])
{
    double angle = length(v), factor = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    for (int i = 0; i < 3; i++) q[i] = factor * v[i];
    q[3] = cos(0.5 * angle);
}

/* The attitude turned by a rotation vector in body axes. */
static inline void turn(double q[4], const double v[3])
{
    double by[4];
    exponential(v, by);
    multiply(q, by, q);
    normalise(q);
}

/* The same to first order. */
static inline void turn_linearly(double q[4], const double v[3])
{
    double by[4] = {0.5 * v[0], 0.5 * v[1], 0.5 * v[2], 1.0};
    multiply(q, by, q);
    normalise(q);
}

/* The angular acceleration that the torque gives the body, without the gyroscopic term, in body axes. */
static inline void driven(double t, const double q[4], const double omega[3], const double I[3],
    torque_function *torque, void *context, double out[3])
{
    torque(t, q, omega, out, context);
    to_body(q, out, out);
    for (int i = 0; i < 3; i++) out[i] /= I[i];
}

/* All of it: I^-1 (T - omega x I omega). */
static inline void acceleration(const double I[3], const double omega[3], const double from_torque[3], double out[3])
{
    double L[3], gyroscopic[3];
    momentum(I, omega, L);
    cross(L, omega, gyroscopic);
    for (int i = 0; i < 3; i++) out[i] = from_torque[i] + gyroscopic[i] / I[i];
}

/* One Newton step towards the omega of I (omega - before) + h omega x I omega = 0, which has the Jacobian
   J = I + h (omega^ I - (I omega)^); from omega = before only the second term is there. */
static inline void implicit_gyroscopic(double h, const double I[3], double omega[3])
{
    double a = omega[0], b = omega[1], c = omega[2], L[3], f[3], x[3], p[3];
    momentum(I, omega, L);
    cross(omega, L, f);
    double J[3][3] = {{I[0], h * (L[2] - c * I[1]), h * (b * I[2] - L[1])},
                      {h * (c * I[0] - L[2]), I[1], h * (L[0] - a * I[2])},
                      {h * (L[1] - b * I[0]), h * (a * I[1] - L[0]), I[2]}};
    double columns[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) columns[j][i] = J[i][j];
    cross(columns[1], columns[2], p);
    double determinant = columns[0][0] * p[0] + columns[0][1] * p[1] + columns[0][2] * p[2];
    for (int k = 0; k < 3; k++) {   /* Cramer's rule: the determinants with f in place of a column */
        cross(columns[(k + 1) % 3], columns[(k + 2) % 3], p);
        x[k] = h * (f[0] * p[0] + f[1] * p[1] + f[2] * p[2]) / determinant;
    }
    for (int k = 0; k < 3; k++) omega[k] -= x[k];
}

#endif
