// Kernels of which the machine code tells more than the model knows.
__global__ void tails(const float* in, float* out, int n) {
  __shared__ alignas(16) float s[1024];
  for (int i = 0; i < 4; ++i) s[threadIdx.x + 256 * i] = in[threadIdx.x + 256 * i];
  __syncthreads();
  const float* row = s + (threadIdx.x & 63) * 4;
  float* o = out + threadIdx.x * 4;
  if (n > 0) {
    o[0] = row[0];
    if (n > 1) {
      o[1] = row[1];
      if (n > 2) o[2] = row[2];
    }
  }
}
__global__ void turns(const float* in, double* out) {
  __shared__ double s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    double a = s[0];
    for (int i = 1; i < 256; ++i) a += s[i];
    *out = a;
  }
}
__global__ void forgotten(float* out, int n) {
  volatile float v[4];
  for (int i = 0; i < 4; ++i) v[i] = i;
  out[threadIdx.x] = v[threadIdx.x & 3];
}
