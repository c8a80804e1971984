// What the programs beside share. Each has one bug, names the kind of fix in its first line, and
// ends with 0 only if its result is right. Where the fix is more than an edit that the finding
// gives, "// WITH: text" at the end of a line is what the line becomes.
#pragma once

#include <cstdio>
#include <vector>

// An array of the device that frees itself.
template <class T>
struct Array {
  T* data = nullptr;
  size_t count;
  explicit Array(size_t n) : count(n) {
    cudaMalloc(&data, n * sizeof(T));
    cudaMemset(data, 0, n * sizeof(T));
  }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  operator T*() const { return data; }
  std::vector<T> host() const {
    std::vector<T> out(count);
    cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
};

inline std::vector<int> numbers(int n, int modulus = 1 << 30) {
  std::vector<int> all(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<size_t>(i)] = (i * 7 + 3) % modulus;
  return all;
}

template <class T>
int verdict(const std::vector<T>& got, const std::vector<T>& want) {
  if (got == want) return 0;
  std::puts("the result is wrong");
  return 1;
}
