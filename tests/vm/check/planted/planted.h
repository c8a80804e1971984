// Programs with one bug each, and the same without it: PROGRAM NAME runs the one, PROGRAM NAME fixed
// the other, PROGRAM fixed all of the others, PROGRAM list names them with the kind of finding.
// A line that the finding must name ends in "// BUG name".
#pragma once

#include <cstdio>
#include <cstring>

struct Planted {
  const char* name;
  const char* kind;
  void (*run)(int fixed);
};

// An array of the device that frees itself.
template <class T>
struct Array {
  T* data = nullptr;
  size_t count;
  explicit Array(size_t n, bool zero = true) : count(n) {
    cudaMalloc(&data, n * sizeof(T));
    if (zero) cudaMemset(data, 0, n * sizeof(T));
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  operator T*() const { return data; }
};

template <size_t N>
int planted_main(const Planted (&all)[N], int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "list";
  const bool fixed = argc > 2 || !std::strcmp(name, "fixed");
  for (const Planted& bug : all) {
    if (!std::strcmp(name, "list")) std::printf("%s %s\n", bug.name, bug.kind);
    else if (!std::strcmp(name, "fixed") || !std::strcmp(name, bug.name)) bug.run(fixed);
  }
  cudaDeviceSynchronize();
  return 0;
}
#define PLANTED_MAIN(all) \
  int main(int argc, char** argv) { return planted_main(all, argc, argv); }
