/* NMB on the heavy top, written by hand for a GPU: one thread for each body, its trajectory in registers.
   nvcc -O3 -arch=native -Xcompiler -fPIC -shared -o nmb_top_cuda.so nmb_top.cu */
#include <cuda_runtime.h>

template <typename real> struct three { real x, y, z; };
template <typename real> __device__ three<real> cross(three<real> a, three<real> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename real> __device__ real dot(three<real> a, three<real> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <typename real> __device__ real size(three<real> a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

__device__ void half(float x, float *s, float *c) { sincosf(x, s, c); }
__device__ void half(double x, double *s, double *c) {
    const double magic = 6755399441055744.0;
    double n = (x * 0.63661977236758134308 + magic) - magic;
    double r = ((x - n * 0x1.921fb50000000p+0) - n * 0x1.110b460000000p-26) - n * 0x1.1a62633145c07p-54, z = r * r, zz = z * z;
    double p = r + r * z * ((-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03)
        + zz * ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
        + zz * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    double q = 1.0 - 0.5 * z + zz * ((4.16666666666666019037e-02 + z * -1.38888888888741095749e-03)
        + zz * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07)
        + zz * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)));
    int m = (int)n & 3;
    double a = (m & 1) ? q : p, b = (m & 1) ? p : q;
    *s = (m & 2) ? -a : a;
    *c = ((m + 1) & 2) ? -b : b;
}

/* z: q (4), Om (3), A (3), one column for each body; I: moments of inertia; moment: M g l */
template <typename real>
__global__ void march(int n, int steps, real h, real I1, real I2, real I3, real moment, real *z, int *bad) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    real q0 = z[j], q1 = z[n + j], q2 = z[2 * n + j], q3 = z[3 * n + j];
    three<real> Om = {z[4 * n + j], z[5 * n + j], z[6 * n + j]}, A = {z[7 * n + j], z[8 * n + j], z[9 * n + j]};
    const real k = real(0.5) * h;
    bool good = true;
    for (int step = 0; step < steps; step++) {
        three<real> W = {Om.x + k * A.x, Om.y + k * A.y, Om.z + k * A.z}, x = {h * W.x, h * W.y, h * W.z};
        real th = sqrt(dot(x, x) + real(1e-30)), s, c;
        half(real(0.5) * th, &s, &c);
        s /= th;
        real a = s * x.x, b = s * x.y, d = s * x.z;
        real n0 = q3 * a + q0 * c + q1 * d - q2 * b, n1 = q3 * b + q1 * c + q2 * a - q0 * d;
        real n2 = q3 * d + q2 * c + q0 * b - q1 * a, n3 = q3 * c - q0 * a - q1 * b - q2 * d;
        real f = real(1.5) - real(0.5) * (n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
        q0 = f * n0; q1 = f * n1; q2 = f * n2; q3 = f * n3;
        real R13 = 2 * (q0 * q2 + q1 * q3), R23 = 2 * (q1 * q2 - q0 * q3), t0 = -moment * R23, t1 = moment * R13;
        three<real> T = {(1 - 2 * (q1 * q1 + q2 * q2)) * t0 + 2 * (q0 * q1 + q2 * q3) * t1,
                         2 * (q0 * q1 - q2 * q3) * t0 + (1 - 2 * (q0 * q0 + q2 * q2)) * t1, R13 * t0 + R23 * t1};
        real residual = 0;
        for (int i = 0; i < 3; i++) {
            three<real> w = {W.x + k * A.x, W.y + k * A.y, W.z + k * A.z}, Iw = {I1 * w.x, I2 * w.y, I3 * w.z};
            three<real> IA = {I1 * A.x, I2 * A.y, I3 * A.z}, g = cross(w, Iw);
            three<real> F = {IA.x + g.x - T.x, IA.y + g.y - T.y, IA.z + g.z - T.z};
            residual = size(F) / (size(IA) + size(w) * size(Iw) + size(T) + real(1e-30));
            three<real> r0 = {I1, k * (-w.z * I2 + Iw.z), k * (w.y * I3 - Iw.y)};
            three<real> r1 = {k * (w.z * I1 - Iw.z), I2, k * (-w.x * I3 + Iw.x)};
            three<real> r2 = {k * (-w.y * I1 + Iw.y), k * (w.x * I2 - Iw.x), I3};
            three<real> p = cross(r1, r2), q = cross(r2, r0), r = cross(r0, r1);
            real e = 1 / dot(r0, p);
            A.x -= e * (p.x * F.x + q.x * F.y + r.x * F.z);
            A.y -= e * (p.y * F.x + q.y * F.y + r.y * F.z);
            A.z -= e * (p.z * F.x + q.z * F.y + r.z * F.z);
        }
        Om = {W.x + k * A.x, W.y + k * A.y, W.z + k * A.z};
        good = good && h * size(Om) < real(1e5) && residual < real(sizeof(real) == 8 ? 1e-9 : 5e-4);
    }
    if (!good) *bad = 1;
    z[j] = q0; z[n + j] = q1; z[2 * n + j] = q2; z[3 * n + j] = q3;
    z[4 * n + j] = Om.x; z[5 * n + j] = Om.y; z[6 * n + j] = Om.z; z[7 * n + j] = A.x; z[8 * n + j] = A.y; z[9 * n + j] = A.z;
}

template <typename real> static double timed(int n, int steps, double h, const double I[3], double moment, real *host) {
    real *z; int *bad, failed = 0; float ms; cudaEvent_t from, to;
    if (cudaMalloc(&z, 10 * n * sizeof(real)) || cudaMalloc(&bad, sizeof(int))) return -1.0;
    cudaMemcpy(z, host, 10 * n * sizeof(real), cudaMemcpyHostToDevice);
    cudaMemset(bad, 0, sizeof(int));
    cudaEventCreate(&from); cudaEventCreate(&to);
    cudaEventRecord(from);
    march<real><<<(n + 127) / 128, 128>>>(n, steps, h, I[0], I[1], I[2], moment, z, bad);
    cudaEventRecord(to); cudaEventSynchronize(to); cudaEventElapsedTime(&ms, from, to);
    cudaMemcpy(host, z, 10 * n * sizeof(real), cudaMemcpyDeviceToHost);
    cudaMemcpy(&failed, bad, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(z); cudaFree(bad);
    return failed || cudaGetLastError() ? -1.0 : ms * 1e-3;
}

/* seconds of the kernel alone, or -1 where something went wrong */
extern "C" double march64(int n, int steps, double h, const double *I, double moment, double *z) {
    return timed<double>(n, steps, h, I, moment, z);
}
extern "C" double march32(int n, int steps, double h, const double *I, double moment, float *z) {
    return timed<float>(n, steps, h, I, moment, z);
}
