// A matrix product of CUTLASS 3 for Hopper as its CollectiveBuilder puts it together, compared with
// a product on the host: D = 2 A B + 3 C. -DRIDGE_CASE=name says which of the cases below it is.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

namespace {

namespace collective = cutlass::gemm::collective;
namespace epilogue = cutlass::epilogue;
using cute::_1, cute::_2, cute::_32, cute::_64, cute::_128;
using cute::Shape;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// What a vector on the host and its copy on the device hold.
template <class T>
struct Tensor {
  std::vector<T> host;
  T* device = nullptr;

  explicit Tensor(size_t count) : host(count) {
    check(cudaMalloc(&device, count * sizeof(T)), "cudaMalloc");
  }
  ~Tensor() { cudaFree(device); }
  // Small integers: every accumulator holds their sums of products exactly.
  void fill(uint32_t& seed) {
    for (T& value : host) value = T(int((seed = seed * 1664525 + 1013904223) >> 28) % 7 - 3);
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
          "the copy to the device");
  }
  void read() {
    check(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
          "the copy from the device");
  }
};

template <class In, class Sum, class Out, class LayoutA, class LayoutB, class Tile, class Cluster,
          class Mainloop, class Epilogue, int M, int N, int K, int L = 1>
struct Multiply {
  static constexpr int kAlign = 16 / int(sizeof(In)), kAlignOut = 16 / int(sizeof(Out));
  using Row = cutlass::layout::RowMajor;
  using OpClass = cutlass::arch::OpClassTensorOp;
  using Store = typename epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, OpClass, Tile, Cluster, epilogue::collective::EpilogueTileAuto, Sum, Sum,
      Out, Row, kAlignOut, Out, Row, kAlignOut, Epilogue>::CollectiveOp;
  using Main = typename collective::CollectiveBuilder<
      cutlass::arch::Sm90, OpClass, In, LayoutA, kAlign, In, LayoutB, kAlign, Sum, Tile, Cluster,
      collective::StageCountAutoCarveout<int(sizeof(typename Store::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Store>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

  Tensor<In> a{size_t(M) * K * L}, b{size_t(N) * K * L};
  Tensor<Out> c{size_t(M) * N * L}, d{size_t(M) * N * L};
  typename Kernel::StrideA stride_a;
  typename Kernel::StrideB stride_b;
  typename Kernel::StrideC stride_c;

  Multiply() {
    stride_a = cutlass::make_cute_packed_stride(stride_a, cute::make_shape(M, K, L));
    stride_b = cutlass::make_cute_packed_stride(stride_b, cute::make_shape(N, K, L));
    stride_c = cutlass::make_cute_packed_stride(stride_c, cute::make_shape(M, N, L));
  }

  cutlass::Status launch() {
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count =
        cutlass::KernelHardwareInfo::query_device_multiprocessor_count(hardware.device_id);
    const typename Gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {M, N, K, L},
        {a.device, stride_a, b.device, stride_b},
        {{Sum(2), Sum(3)}, c.device, stride_c, d.device, stride_c},
        hardware};
    Gemm gemm;
    const Tensor<uint8_t> workspace(Gemm::get_workspace_size(arguments) + 1);
    cutlass::Status status = gemm.can_implement(arguments);
    if (status == cutlass::Status::kSuccess) status = gemm.initialize(arguments, workspace.device);
    if (status == cutlass::Status::kSuccess) status = gemm.run();
    check(cudaDeviceSynchronize(), "the kernel");
    return status;
  }

  int run() {
    uint32_t seed = 1;
    a.fill(seed), b.fill(seed), c.fill(seed);
    if (const cutlass::Status status = launch(); status != cutlass::Status::kSuccess) {
      std::printf("CUTLASS: %s\n", cutlassGetStatusString(status));
      return 1;
    }
    d.read();
    const auto A = cute::make_tensor(a.host.data(), cute::make_shape(M, K, L), stride_a);
    const auto B = cute::make_tensor(b.host.data(), cute::make_shape(N, K, L), stride_b);
    const auto C = cute::make_tensor(c.host.data(), cute::make_shape(M, N, L), stride_c);
    const auto D = cute::make_tensor(d.host.data(), cute::make_shape(M, N, L), stride_c);
    int wrong = 0;
    for (int l = 0; l < L; ++l)
      for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n) {
          double sum = 0;
          for (int k = 0; k < K; ++k) sum += double(A(m, k, l)) * double(B(n, k, l));
          const Out want = Out(Sum(2 * sum + 3 * double(C(m, n, l))));
          if (double(want) == double(D(m, n, l))) continue;
          if (wrong++ < 5)
            std::printf("(%d, %d, %d) is %g, not %g\n", m, n, l, double(D(m, n, l)), double(want));
        }
    std::printf("%d of %d elements are wrong\n", wrong, M * N * L);
    return wrong != 0;
  }
};

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using StorePingpong = epilogue::TmaWarpSpecialized;
using StoreCooperative = epilogue::TmaWarpSpecializedCooperative;
using cutlass::bfloat16_t, cutlass::half_t, cutlass::float_e4m3_t;

// Sizes that are no multiple of the tile have tiles with rows or columns outside of the tensor.
using bf16_cooperative = Multiply<bfloat16_t, float, float, Row, Column, Shape<_128, _128, _64>,
                                  Shape<_2, _1, _1>, Cooperative, StoreCooperative, 256, 256, 192>;
using f16_pingpong = Multiply<half_t, float, half_t, Row, Row, Shape<_64, _128, _64>,
                              Shape<_1, _2, _1>, Pingpong, StorePingpong, 200, 264, 200, 2>;
using e4m3_pingpong =
    Multiply<float_e4m3_t, float, bfloat16_t, Row, Column, Shape<_64, _128, _128>,
             Shape<_2, _1, _1>, cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8FastAccum,
             StorePingpong, 128, 256, 256>;
using tf32_cooperative = Multiply<float, float, float, Row, Column, Shape<_128, _64, _32>,
                                  Shape<_2, _1, _1>, Cooperative, StoreCooperative, 256, 128, 96>;
using s8_cooperative = Multiply<int8_t, int32_t, int32_t, Row, Column, Shape<_128, _128, _128>,
                                Shape<_1, _2, _1>, Cooperative, StoreCooperative, 128, 256, 256>;
using f16_sums = Multiply<half_t, half_t, half_t, Column, Column, Shape<_128, _128, _64>,
                          Shape<_2, _2, _1>, Cooperative, StoreCooperative, 256, 256, 64>;

}  // namespace

int main() { return RIDGE_CASE().run(); }
