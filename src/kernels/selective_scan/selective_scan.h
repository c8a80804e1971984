// Mamba's selective scan: for each of `dim` channels, a recurrence of `state` numbers whose factors
// follow from the input.
//   s[t] = delta[t] + delta_bias, or softplus of that
//   h[t][n] = exp(s[t] a[n]) h[t-1][n] + s[t] b[t][n] u[t]
//   v[t] = sum over n of c[t][n] h[t][n] + d u[t]         y[t] = v[t] silu(z[t])
// where a, d and delta_bias are those of the channel, and b and c are the same for all channels.
//
// Backward, with dv = dy silu(z) and g[t][n] = c[t][n] dv[t] + exp(s[t+1] a[n]) g[t+1][n]:
//   du = s sum g b + d dv      dc[t][n] = sum over channels dv h     db[t][n] = sum g s u
//   ds = sum g (a exp(s a) h[t-1] + b u)     da[n] = sum over t, batch g s exp(s a) h[t-1]
//   dd = sum dv u     dz = dy v silu'(z)     ddelta = ds, or ds sigmoid(delta + delta_bias)
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::selective_scan {

constexpr int kMostState = 256;

struct Args {
  bool backward = false, softplus = true;
  const void* u = nullptr;            // (batch, dim, length)
  const void* delta = nullptr;        // the same
  const float* a = nullptr;           // (dim, state)
  const void* b = nullptr;            // (batch, state, length)
  const void* c = nullptr;            // the same
  const float* d = nullptr;           // (dim); null: zeros
  const void* z = nullptr;            // (batch, dim, length); null: no gate
  const float* delta_bias = nullptr;  // (dim); null: zeros
  void* y = nullptr;                  // (batch, dim, length)
  float* last_state = nullptr;        // (batch, dim, state); may be null
  // Backward: gradients in the shapes of what they are gradients of.
  const void* dy = nullptr;
  void* du = nullptr;
  void* ddelta = nullptr;
  float* da = nullptr;
  void* db = nullptr;
  void* dc = nullptr;
  float* dd = nullptr;           // may be null
  void* dz = nullptr;            // null without a z
  float* ddelta_bias = nullptr;  // may be null
  int64_t batch = 0, dim = 0, state = 0, length = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // backward: see gradients.cuh
  size_t workspace_bytes = 0;

  __host__ __device__ int64_t channels() const { return batch * dim; }
};
using Rung = RungOf<Args>;

inline double bytes(const Args& a) {
  const double size = double(size_of(a.dtype)), steps = double(a.length) * size;
  const double per_channel = a.backward ? (a.z ? 7 : 5) : (a.z ? 4 : 3);
  return steps *
         (per_channel * double(a.channels()) + double(a.batch * a.state) * (a.backward ? 4 : 2));
}

}  // namespace ridge::selective_scan
