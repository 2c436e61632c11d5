/* LP2 on the heavy top, written by hand: one body, endpoint only.
   gcc -O3 -march=native -shared -fPIC -o lp2_top.so lp2_top.c -lm */
#include <math.h>

static const double P1 = 0x1.921fb50000000p+0, P2 = 0x1.110b460000000p-26, P3 = 0x1.1a62633145c07p-54;

static inline void sincos_half(double x, double *sine, double *cosine) {
    const double magic = 6755399441055744.0;
    double n = (x * 0.63661977236758134308 + magic) - magic;
    double r = ((x - n * P1) - n * P2) - n * P3, z = r * r, zz = z * z;
    double s = r + r * z * ((-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03)
        + zz * ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
        + zz * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    double c = 1.0 - 0.5 * z + zz * ((4.16666666666666019037e-02 + z * -1.38888888888741095749e-03)
        + zz * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07)
        + zz * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)));
    double m = n - 4.0 * ((0.25 * n - 0.125 + magic) - magic);
    double a = (m * m == 1.0) ? c : s, b = (m * m == 1.0) ? s : c;
    *sine = fabs(m - 0.5) > 1.0 ? -a : a;
    *cosine = m > 0.5 ? -b : b;
}

/* a rotation by the angle about body axis i; j, k are the other two */
static inline void turn(double angle, int i, int j, int k, double q[4], double Pi[3]) {
    double s, c;
    sincos_half(0.5 * angle, &s, &c);
    double sine = 2.0 * s * c, cosine = (c - s) * (c + s), a = q[i], b = q[j], d = q[k], w = q[3], u = Pi[j], v = Pi[k];
    q[i] = c * a + s * w; q[j] = c * b + s * d; q[k] = c * d - s * b; q[3] = c * w - s * a;
    Pi[j] = cosine * u + sine * v; Pi[k] = cosine * v - sine * u;
}

static inline double square(const double a[3]) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

/* q: attitude (x, y, z, w), Om: body velocity; moment: M g l */
void lp2_top(long n, double h, const double I[3], double moment, double q[4], double Om[3]) {
    double Pi[3], x[4] = {q[0], q[1], q[2], q[3]}, r[3] = {1.0 / I[0], 1.0 / I[1], 1.0 / I[2]}, excess = 0.0;
    double T0 = 2.0 * moment * (x[1] * x[2] + x[0] * x[3]), T1 = 2.0 * moment * (x[1] * x[3] - x[0] * x[2]);
    for (int i = 0; i < 3; i++) { Pi[i] = I[i] * Om[i]; }
    for (long k = 0; k < n; k++) {
        Pi[0] += 0.5 * h * T0; Pi[1] += 0.5 * h * T1;
        double wanted = square(Pi), per = 1.0 / (wanted + 1e-300);
        turn(0.5 * h * Pi[0] * r[0], 0, 1, 2, x, Pi);
        turn(0.5 * h * Pi[1] * r[1], 1, 2, 0, x, Pi);
        turn(h * Pi[2] * r[2], 2, 0, 1, x, Pi);
        turn(0.5 * h * Pi[1] * r[1], 1, 2, 0, x, Pi);
        turn(0.5 * h * Pi[0] * r[0], 0, 1, 2, x, Pi);
        double f = 1.5 - 0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        for (int i = 0; i < 4; i++) { x[i] *= f; }
        double half = -0.5 * (per * (square(Pi) - wanted) + excess);
        for (int i = 0; i < 3; i++) { Pi[i] += half * Pi[i]; }
        excess += per * (square(Pi) - wanted);
        T0 = 2.0 * moment * (x[1] * x[2] + x[0] * x[3]); T1 = 2.0 * moment * (x[1] * x[3] - x[0] * x[2]);
        Pi[0] += 0.5 * h * T0; Pi[1] += 0.5 * h * T1;
    }
    for (int i = 0; i < 4; i++) { q[i] = x[i]; }
    for (int i = 0; i < 3; i++) { Om[i] = Pi[i] * r[i]; }
}
