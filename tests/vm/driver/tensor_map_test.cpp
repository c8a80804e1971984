// Tensor maps: each documented rule broken once. What the bytes mean is not a program's business,
// so here only that the same arguments give the same bytes, and others give others.
#include <cstring>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

struct Tiled {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint32_t rank = 3;
  uintptr_t address = 1 << 20;
  cuuint64_t sizes[5] = {64, 32, 16, 8, 4};
  cuuint64_t strides[4] = {128, 4096, 65536, 524288};
  cuuint32_t box[5] = {64, 8, 1, 1, 1};
  cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    return cuTensorMapEncodeTiled(map, type, rank, reinterpret_cast<void*>(address), sizes, strides,
                                  box, steps, interleave, swizzle, promotion, fill);
  }
};

class TensorMaps : public DriverTest {
 protected:
  void expect_refused(const Tiled& t) {
    CUtensorMap map;
    EXPECT_EQ(t.encode(&map), CUDA_ERROR_INVALID_VALUE);
  }
};

#define REFUSED(change)        \
  do {                         \
    SCOPED_TRACE(#change);     \
    Tiled t;                   \
    EXPECT_OK(t.encode(&map)); \
    change;                    \
    expect_refused(t);         \
  } while (0)

TEST_F(TensorMaps, EveryRuleOfTiledMaps) {
  CUtensorMap map;
  REFUSED(t.rank = 0);
  REFUSED(t.rank = 6);
  REFUSED(t.address += 8);
  REFUSED(t.sizes[1] = 0);
  REFUSED(t.sizes[1] = (cuuint64_t(1) << 32) + 1);
  REFUSED(t.strides[0] += 8);
  REFUSED(t.strides[1] = cuuint64_t(1) << 40);
  REFUSED(t.box[1] = 0);
  REFUSED(t.box[1] = 257);
  REFUSED(t.box[0] = 63);   // 126 bytes
  REFUSED(t.box[0] = 128);  // wider than the swizzle
  REFUSED(t.steps[1] = 0);
  REFUSED(t.steps[1] = 9);
  REFUSED(t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B);  // wants the 32-byte swizzle
  REFUSED((t.rank = 2, t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B));
  REFUSED(t.swizzle = CUtensorMapSwizzle(99));
  REFUSED(t.promotion = CUtensorMapL2promotion(99));
  REFUSED((t.type = CU_TENSOR_MAP_DATA_TYPE_UINT16,
           t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
}

TEST_F(TensorMaps, TheSameArgumentsGiveTheSameBytes) {
  CUtensorMap a, b;
  std::memset(&a, 1, sizeof a);
  std::memset(&b, 2, sizeof b);
  Tiled t;
  EXPECT_OK(t.encode(&a));
  EXPECT_OK(t.encode(&b));
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
  t.address += 1 << 16;
  EXPECT_OK(t.encode(&b));
  EXPECT_NE(std::memcmp(&a, &b, sizeof a), 0);
  EXPECT_OK(cuTensorMapReplaceAddress(&a, reinterpret_cast<void*>(t.address)));
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

// Everything a copy must know is in the bytes.
TEST_F(TensorMaps, OtherArgumentsGiveOtherBytes) {
  CUtensorMap a, b;
  ASSERT_OK(Tiled().encode(&a));
#define DIFFERS(change)                          \
  do {                                           \
    SCOPED_TRACE(#change);                       \
    Tiled t;                                     \
    change;                                      \
    EXPECT_OK(t.encode(&b));                     \
    EXPECT_NE(std::memcmp(&a, &b, sizeof a), 0); \
  } while (0)
  DIFFERS(t.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  DIFFERS(t.rank = 2);
  DIFFERS(t.sizes[2] = 15);
  DIFFERS(t.strides[1] += 128);
  DIFFERS(t.box[1] = 4);
  DIFFERS(t.steps[2] = 2);
  DIFFERS((t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B));
  DIFFERS((t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B));
  DIFFERS((t.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B));
  DIFFERS((t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
#undef DIFFERS
}

TEST_F(TensorMaps, CornersOfIm2col) {
  CUtensorMap map;
  const Tiled t;
  const auto encode = [&](cuuint32_t rank, int lower, int upper, cuuint32_t channels,
                          cuuint32_t pixels) {
    const int low[3] = {lower, 0, 0}, high[3] = {upper, 0, 0};
    return cuTensorMapEncodeIm2col(&map, t.type, rank, reinterpret_cast<void*>(t.address), t.sizes,
                                   t.strides, low, high, channels, pixels, t.steps, t.interleave,
                                   t.swizzle, t.promotion, t.fill);
  };
  EXPECT_OK(encode(3, -1, -1, 64, 128));
  EXPECT_OK(encode(4, -1, -1, 64, 128));
  EXPECT_OK(encode(5, -1, -1, 64, 128));
  EXPECT_EQ(encode(2, -1, -1, 64, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(4, -129, 0, 64, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(5, -17, 0, 64, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(3, 0, 0, 257, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(3, 0, 0, 64, 1025), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(3, 0, -32, 64, 128), CUDA_ERROR_INVALID_VALUE);  // an empty box
}

}  // namespace
}  // namespace ridge::vm::driver
