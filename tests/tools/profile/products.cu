// Products in registers: nothing but the tensor cores has much to do.
#include <cstdint>

__global__ void products(float* out) {
  const uint32_t a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {4, 5};
  float sum[8][4] = {};
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (auto& c : sum)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float total = 0;
  for (const auto& c : sum)
    for (const float x : c) total += x;
  if (total == 1) *out = total;
}

int main() {
  float* out;
  if (cudaMalloc(&out, 4) != cudaSuccess) return 1;
  products<<<132, 1024>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
