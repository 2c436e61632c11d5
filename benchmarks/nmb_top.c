/* NMB on the heavy top, written by hand: the same arithmetic as polhode's step, one body, endpoint only.
   gcc -O3 -march=native -shared -fPIC -o nmb_top.so nmb_top.c -lm */
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

static inline void cross(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1]; c[1] = a[2] * b[0] - a[0] * b[2]; c[2] = a[0] * b[1] - a[1] * b[0];
}

/* I a + w x I w = T with w = W + h/2 a: the residual, and the size of its terms */
static inline double balance(double h, const double I[3], const double W[3], const double T[3], const double a[3],
                             double w[3], double Iw[3], double F[3]) {
    double g[3], size = 0.0, sw = 0.0, sIw = 0.0;
    for (int i = 0; i < 3; i++) { w[i] = W[i] + 0.5 * h * a[i]; Iw[i] = I[i] * w[i]; }
    cross(w, Iw, g);
    for (int i = 0; i < 3; i++) { F[i] = I[i] * a[i] + g[i] - T[i]; size += fabs(I[i] * a[i]) + fabs(T[i]); }
    for (int i = 0; i < 3; i++) { sw += fabs(w[i]); sIw += fabs(Iw[i]); }
    return (fabs(F[0]) + fabs(F[1]) + fabs(F[2])) / (size + sw * sIw + 1e-300);
}

static inline void correct(double h, const double I[3], const double w[3], const double Iw[3], const double F[3], double a[3]) {
    double k = 0.5 * h;
    double r0[3] = {I[0], k * (-w[2] * I[1] + Iw[2]), k * (w[1] * I[2] - Iw[1])};
    double r1[3] = {k * (w[2] * I[0] - Iw[2]), I[1], k * (-w[0] * I[2] + Iw[0])};
    double r2[3] = {k * (-w[1] * I[0] + Iw[1]), k * (w[0] * I[1] - Iw[0]), I[2]};
    double p[3], q[3], r[3];
    cross(r1, r2, p); cross(r2, r0, q); cross(r0, r1, r);
    double d = 1.0 / (r0[0] * p[0] + r0[1] * p[1] + r0[2] * p[2]);
    for (int i = 0; i < 3; i++) a[i] -= d * (p[i] * F[0] + q[i] * F[1] + r[i] * F[2]);
}

/* q: attitude (x, y, z, w), Om: body velocity, A: body acceleration; moment: M g l.  Returns the steps that failed. */
long nmb_top(long n, double h, const double I[3], double moment, double q[4], double Om[3], double A[3]) {
    long failed = 0;
    double q0 = q[0], q1 = q[1], q2 = q[2], q3 = q[3];
    for (long k = 0; k < n; k++) {
        double W[3], x[3], th2 = 0.0, s, c;
        for (int i = 0; i < 3; i++) { W[i] = Om[i] + 0.5 * h * A[i]; x[i] = h * W[i]; th2 += x[i] * x[i]; }
        double th = sqrt(th2 + 1e-300);
        sincos_half(0.5 * th, &s, &c);
        s /= th;
        double a = s * x[0], b = s * x[1], d = s * x[2];
        double n0 = q3 * a + q0 * c + q1 * d - q2 * b, n1 = q3 * b + q1 * c + q2 * a - q0 * d;
        double n2 = q3 * d + q2 * c + q0 * b - q1 * a, n3 = q3 * c - q0 * a - q1 * b - q2 * d;
        double f = 1.5 - 0.5 * (n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
        q0 = f * n0; q1 = f * n1; q2 = f * n2; q3 = f * n3;
        double R[3][3] = {{1 - 2 * (q1 * q1 + q2 * q2), 2 * (q0 * q1 - q2 * q3), 2 * (q0 * q2 + q1 * q3)},
                          {2 * (q0 * q1 + q2 * q3), 1 - 2 * (q0 * q0 + q2 * q2), 2 * (q1 * q2 - q0 * q3)},
                          {2 * (q0 * q2 - q1 * q3), 2 * (q1 * q2 + q0 * q3), 1 - 2 * (q0 * q0 + q1 * q1)}};
        double t[2] = {-moment * R[1][2], moment * R[0][2]}, T[3], w[3], Iw[3], F[3], residual = 0.0;
        for (int i = 0; i < 3; i++) T[i] = R[0][i] * t[0] + R[1][i] * t[1];
        for (int j = 0; j < 3; j++) { residual = balance(h, I, W, T, A, w, Iw, F); correct(h, I, w, Iw, F, A); }
        for (int j = 0; residual > 1e-9 && j < 40; j++) {
            residual = balance(h, I, W, T, A, w, Iw, F);
            correct(h, I, w, Iw, F, A);
        }
        failed += !(residual <= 1e-9);
        for (int i = 0; i < 3; i++) Om[i] = W[i] + 0.5 * h * A[i];
    }
    q[0] = q0; q[1] = q1; q[2] = q2; q[3] = q3;
    return failed;
}
