// FIX second-buffer
#include "fixes.h"

constexpr int kSize = 512;

__global__ void blur(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < kSize - 1) out[i] = in[i - 1] + in[i] + in[i + 1];
}

int main() {
  const auto in = numbers(kSize, 50);
  auto want = in;
  for (size_t k = 1; k + 1 < want.size(); ++k) want[k] = in[k - 1] + in[k] + in[k + 1];
  Array<int> d(in), second(in);
  blur<<<4, 128>>>(d, d);  // WITH: blur<<<4, 128>>>(d, second);
  return verdict(d.host(), want);  // WITH: return verdict(second.host(), want);
}
