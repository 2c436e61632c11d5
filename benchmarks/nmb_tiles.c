/* NMB on many heavy tops, written by hand: the arithmetic of polhode's step on tiles of 64 bodies, vectorised by OpenMP pragmas.
   gcc -O3 -march=native -fopenmp-simd -fno-math-errno -shared -fPIC -o nmb_tiles.so nmb_tiles.c -lm
   A tile is double z[11][64]: attitude (x, y, z, w), body velocity, body acceleration, and one that stays unused. */
#include <math.h>

#define LANES 64

/* sin x / x and cos x by twelve terms of their series in y = x^2, for x up to 2 */
#define TERM(a, b) ((a) + y * (b))
#define SINC(y, y2, y4) (TERM(1.0, -1.0 / 6) + y2 * TERM(1.0 / 120, -1.0 / 5040) \
    + y4 * (TERM(1.0 / 362880, -1.0 / 39916800) + y2 * TERM(1.0 / 6227020800.0, -1.0 / 1307674368000.0) \
    + y4 * (TERM(1.0 / 355687428096000.0, -1.0 / 121645100408832000.0) \
    + y2 * TERM(1.0 / 51090942171709440000.0, -1.0 / 25852016738884976640000.0))))
#define COSINE(y, y2, y4) (TERM(1.0, -1.0 / 2) + y2 * TERM(1.0 / 24, -1.0 / 720) \
    + y4 * (TERM(1.0 / 40320, -1.0 / 3628800) + y2 * TERM(1.0 / 479001600, -1.0 / 87178291200.0) \
    + y4 * (TERM(1.0 / 20922789888000.0, -1.0 / 6402373705728000.0) \
    + y2 * TERM(1.0 / 2432902008176640000.0, -1.0 / 1124000727777607680000.0))))

/* one correction of w by Newton's method for w1 + k1 w2 w3 = b1 and so on round; r is the relative residual before */
#define CORRECT(r) do { \
    double x0 = k0 * (w1 * w2), x1 = k1 * (w2 * w0), x2 = k2 * (w0 * w1); \
    double F0 = w0 + x0 - b0, F1 = w1 + x1 - b1, F2 = w2 + x2 - b2; \
    double d = k0 * w2, e = k0 * w1, f = k1 * w2, g = k1 * w0, m = k2 * w1, n = k2 * w0; \
    double p0 = 1.0 - g * n, p1 = g * m - f, p2 = f * n - m, q0 = n * e - d, q1 = 1.0 - m * e, q2 = m * d - n; \
    double r0 = d * g - e, r1 = e * f - g, r2 = 1.0 - d * f, scale = 1.0 / (p0 + d * p1 + e * p2); \
    double terms = fabs(w0) + fabs(w1) + fabs(w2) + fabs(x0) + fabs(x1) + fabs(x2) + fabs(b0) + fabs(b1) + fabs(b2); \
    r = (fabs(F0) + fabs(F1) + fabs(F2)) / (terms + 1e-300); \
    w0 -= scale * (p0 * F0 + q0 * F1 + r0 * F2); \
    w1 -= scale * (p1 * F0 + q1 * F1 + r1 * F2); \
    w2 -= scale * (p2 * F0 + q2 * F1 + r2 * F2); \
} while (0)

/* n steps of `tiles` tiles; I: moments, moment: M g l.  Returns the lanes with a step whose equation was not solved. */
long nmb_tiles(long tiles, long n, double h, const double I[3], double moment, double (*restrict all)[11][LANES]) {
    const double c = 0.5 * h, g0 = I[2] - I[1], g1 = I[0] - I[2], g2 = I[1] - I[0];
    const double i0 = 1.0 / I[0], i1 = 1.0 / I[1], i2 = 1.0 / I[2], k0 = c * (i0 * g0), k1 = c * (i1 * g1), k2 = c * (i2 * g2);
    long failed = 0;
    for (long tile = 0; tile < tiles; tile++) {
        double (*restrict z)[LANES] = all[tile];
        double bad[LANES] = {0};
        for (long j = 0; j < n; j++) {
            #pragma omp simd
            for (int l = 0; l < LANES; l++) {
                double q0 = z[0][l], q1 = z[1][l], q2 = z[2][l], q3 = z[3][l];
                double A0 = z[7][l], A1 = z[8][l], A2 = z[9][l];
                double W0 = z[4][l] + c * A0, W1 = z[5][l] + c * A1, W2 = z[6][l] + c * A2;
                double x0 = h * W0, x1 = h * W1, x2 = h * W2;
                double y = 0.25 * (x0 * x0 + x1 * x1 + x2 * x2), y2 = y * y, y4 = y2 * y2;
                double sine = 0.5 * SINC(y, y2, y4), cosine = COSINE(y, y2, y4);
                double a = sine * x0, b = sine * x1, d = sine * x2;
                double n0 = q3 * a + q0 * cosine + q1 * d - q2 * b, n1 = q3 * b + q1 * cosine + q2 * a - q0 * d;
                double n2 = q3 * d + q2 * cosine + q0 * b - q1 * a, n3 = q3 * cosine - q0 * a - q1 * b - q2 * d;
                double f = 1.5 - 0.5 * (n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
                q0 = f * n0; q1 = f * n1; q2 = f * n2; q3 = f * n3;
                double T0 = moment * (2 * (q1 * q2 + q0 * q3)), T1 = -moment * (2 * (q0 * q2 - q1 * q3));
                double b0 = W0 + c * (i0 * T0), b1 = W1 + c * (i1 * T1), b2 = W2, residual;
                double w0 = z[4][l] + h * A0, w1 = z[5][l] + h * A1, w2 = z[6][l] + h * A2;
                for (int i = 0; i < 3; i++) {
                    double u = b0 - k0 * (w1 * w2), v = b1 - k1 * (w2 * w0);
                    w2 = b2 - k2 * (w0 * w1); w0 = u; w1 = v;
                }
                CORRECT(residual);
                CORRECT(residual);
                bad[l] = residual <= 1e-9 && y < 4.0 ? bad[l] : 1.0;
                z[0][l] = q0; z[1][l] = q1; z[2][l] = q2; z[3][l] = q3;
                z[4][l] = w0; z[5][l] = w1; z[6][l] = w2;
                z[7][l] = i0 * (T0 - g0 * (w1 * w2)); z[8][l] = i1 * (T1 - g1 * (w2 * w0)); z[9][l] = i2 * (-g2 * (w0 * w1));
            }
        }
        for (int l = 0; l < LANES; l++) failed += bad[l] != 0.0;
    }
    return failed;
}
