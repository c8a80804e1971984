// The other unit of units_main.cu.
#include <cstdio>

__device__ int shared_value = 21;
static __device__ int own = 100;

__device__ int twice(int x) { return 2 * x; }
template <class T>
__device__ __noinline__ T common(T x) {
  return x * 3;
}
typedef int (*Function)(int);
__device__ Function chosen = twice;
__global__ void other(int* out) {
  *out = own + common(3);
  printf("the other unit: %d %s\n", *out, "and its strings");
}
