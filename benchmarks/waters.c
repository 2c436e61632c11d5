/* Forces between the sites of rigid molecules with s sites each, over a list of neighbours: the loop that
 * benchmarks/waters.py compares with.  Shifted forces, nearest images, places of sites in X.  Returns the number of
 * pairs of sites that it looked at. */
#include <math.h>

long forces(long n, long s, const double *restrict X, const double *restrict charge, const double *restrict sigma,
            const double *restrict epsilon, double strength, double cutoff, double box, const long *restrict first,
            const int *restrict listed, double *restrict F)
{
    const double limit = cutoff * cutoff, far = 1.0 / cutoff, inverse = 1.0 / box;
    long pairs = 0;
    for (long i = 0; i < n; i++)
        for (long m = first[i]; m < first[i + 1]; m++) {
            const long j = listed[m];
            for (long a = 0; a < s; a++)
                for (long b = 0; b < s; b++) {
                    double r[3], rr = 0.0;
                    for (int k = 0; k < 3; k++) {
                        r[k] = X[3 * (s * j + b) + k] - X[3 * (s * i + a) + k];
                        r[k] -= box * rint(r[k] * inverse);
                        rr += r[k] * r[k];
                    }
                    pairs++;
                    if (rr >= limit)
                        continue;
                    const double uu = 1.0 / rr, u = sqrt(uu), Q = strength * charge[a] * charge[b];
                    double f = Q * u * uu - u * far * far * Q;
                    if (epsilon[a] * epsilon[b] > 0.0) {
                        const double mean = 0.5 * (sigma[a] + sigma[b]), e = 24.0 * sqrt(epsilon[a] * epsilon[b]);
                        const double s2 = mean * mean * uu, c2 = mean * mean * far * far;
                        const double s6 = s2 * s2 * s2, c6 = c2 * c2 * c2;
                        f += e * (2.0 * s6 - 1.0) * s6 * uu - u * far * e * (2.0 * c6 - 1.0) * c6;
                    }
                    for (int k = 0; k < 3; k++) {
                        F[3 * (s * j + b) + k] += f * r[k];
                        F[3 * (s * i + a) + k] -= f * r[k];
                    }
                }
        }
    return pairs;
}
