// 12_reduce_with_a_functor: least, most, mean and variance of a million numbers, read once.
//
// The variance is the mean square distance from the mean, which is known only at the end. The
// usual way around that is E[x²] - E[x]²: the difference of two large numbers, of which f32 keeps
// only the leading digits. Chan's formula has no such difference. It carries (count, mean, sum of
// squared distances from that mean), and combines the triples of two groups into the triple of
// both. This is associative and commutative, and a reduction needs no more.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"
#include "ridge/reduce.cuh"

struct Summary {
  float count, mean, squares;  // of distances from the mean
  float least, most;
};

struct Summarise {
  __device__ Summary identity() const { return {0, 0, 0, INFINITY, -INFINITY}; }
  __device__ Summary transform(float x) const { return {1, x, 0, x, x}; }
  __device__ Summary combine(const Summary& a, const Summary& b) const {
    const float count = a.count + b.count;
    const float share = count > 0 ? b.count / count : 0;  // of b
    const float apart = b.mean - a.mean;
    return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share,
            fminf(a.least, b.least), fmaxf(a.most, b.most)};
  }
  __device__ Summary finish(const Summary& all) const { return all; }
};

// What the formula from the book gives, in the same f32.
struct MeanSquareLessSquareMean {
  __device__ float2 identity() const { return {0, 0}; }
  __device__ float2 transform(float x) const { return {x, x * x}; }
  __device__ float2 combine(float2 a, float2 b) const { return {a.x + b.x, a.y + b.y}; }
  __device__ float finish(float2 sums, int64_t count) const {
    const float mean = sums.x / float(count);
    return sums.y / float(count) - mean * mean;
  }
};

int explain(const ridge::Error& error) {
  fprintf(stderr, "%s\n", error.message.c_str());
  return 4;
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 1000003, 1, 1 << 24}});  // as far as an f32 counts
  const int n = args.size(0);
  std::vector<float> numbers(n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> around(9998, 10002);
  for (float& x : numbers) x = around(random);

  float* device_numbers = nullptr;    // (n)
  Summary* device_summary = nullptr;  // (1)
  float* device_by_book = nullptr;    // (1)
  CHECK(cudaMalloc(&device_numbers, n * sizeof(float)));
  CHECK(cudaMalloc(&device_summary, sizeof(Summary)));
  CHECK(cudaMalloc(&device_by_book, sizeof(float)));
  CHECK(cudaMemcpy(device_numbers, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  // Enough for both: they run one after the other, and a Summary is larger than a float2.
  const auto bytes = ridge::reduce_workspace(Summarise(), device_numbers, n);
  if (!bytes) return explain(bytes.error());
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, std::max<size_t>(*bytes, 1)));
  const ridge::Status status =
      ridge::reduce(Summarise(), device_numbers, n, device_summary, workspace, *bytes);
  if (!status) return explain(status.error());
  const ridge::Status second = ridge::reduce(MeanSquareLessSquareMean(), device_numbers, n,
                                             device_by_book, workspace, *bytes);
  if (!second) return explain(second.error());
  Summary summary;
  float by_book;
  CHECK(cudaMemcpy(&summary, device_summary, sizeof(Summary), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&by_book, device_by_book, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_numbers));
  CHECK(cudaFree(device_summary));
  CHECK(cudaFree(device_by_book));
  CHECK(cudaFree(workspace));

  double mean = 0, squares = 0;
  for (const float x : numbers) mean += x;
  mean /= n;
  for (const float x : numbers) squares += (x - mean) * (x - mean);
  const float least = *std::min_element(numbers.begin(), numbers.end());
  const float most = *std::max_element(numbers.begin(), numbers.end());
  const float variance = summary.squares / float(n);
  if (summary.count != float(n)) return fail("the count is %f, not %d", summary.count, n);
  if (summary.least != least) return fail("the least is %f, not %f", summary.least, least);
  if (summary.most != most) return fail("the most is %f, not %f", summary.most, most);
  if (!(std::fabs(summary.mean - mean) <= 0.01))
    return fail("the mean is %f, not %f", summary.mean, mean);
  if (!(std::fabs(variance - squares / n) <= 1e-3))
    return fail("the variance is %f, not %f", variance, squares / n);

  printf("%d numbers: least %.3f, most %.3f, mean %.3f\n", n, least, most, summary.mean);
  printf("  variance by Chan's formula  %12.6f\n", variance);
  printf("  variance by E[x²] - E[x]²   %12.6f\n", by_book);
  printf("  variance in f64             %12.6f\n", squares / n);
  printf("everything but the second line agrees with the CPU\n");
  return 0;
}
