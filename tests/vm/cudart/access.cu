// Accesses that a GPU forbids, or lets pass although they are wrong: access_test.py runs these, and
// looks for the lines marked with "// HERE name".
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>

__global__ void fill(int* d, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) d[i] = i + 1;  // HERE past_the_end
}
__global__ void sum(const int* d, int from, int n, int* out) {
  int s = 0;
  for (int i = from; i < n; ++i) s += d[i];
  *out = s;
}

int* on_device(size_t bytes) {
  int* d = nullptr;
  cudaMalloc(&d, bytes);
  cudaMemset(d, 0, bytes);
  return d;
}
int first_of(const int* d) {
  int value = 0;
  cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

sigjmp_buf back;
void jump_back(int) { siglongjmp(back, 1); }
void on_host(bool own_handler) {
  if (own_handler) std::signal(SIGSEGV, jump_back);
  volatile int* d = on_device(256);
  if (sigsetjmp(back, 1) == 0) {
    d[7] = 1;  // HERE host_write
    std::puts("written");
  } else {
    std::puts("handled");
  }
}

// Outside every allocation, in a page that one touches. The program itself never looks there.
void past_the_end() {
  int* d = on_device(100 * sizeof(int));
  for (int k = 0; k < 3; ++k) fill<<<1, 128>>>(d, 120);
  int* out = on_device(sizeof(int));
  sum<<<1, 1>>>(d, 99, 121, out);  // 100 + 101 + … + 120, and a zero
  const int total = first_of(out);
  std::printf("%d %s\n", total, cudaGetErrorName(cudaGetLastError()));
}

// A page that nobody has.
void far_away() {
  int* d = on_device(64);
  sum<<<1, 1>>>(d, 4 << 20, (4 << 20) + 1, d);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

int main(int, char** argv) {
  const char* what = argv[1];
  if (!std::strcmp(what, "host_write")) on_host(false);
  if (!std::strcmp(what, "handled")) on_host(true);
  if (!std::strcmp(what, "past_the_end")) past_the_end();
  if (!std::strcmp(what, "far_away")) far_away();
  return 0;
}
