// The other unit of units_main.cu.
__device__ int shared_value = 21;
static __device__ int own = 100;

__device__ int twice(int x) { return 2 * x; }
template <class T>
__device__ __noinline__ T common(T x) {
  return x * 3;
}
__global__ void other(int* out) { *out = own + common(3); }
