// Tensor maps: what an H200's driver made of the same arguments, its refusals and its bytes.
#include <cstring>
#include <fstream>
#include <map>

#include "driver_test.h"
#include "vm/hopper/probe/tensor_map_case.h"

namespace ridge::vm::driver {
namespace {

using hopper::MapCase;

class TensorMaps : public DriverTest {};

std::string hex(const uint8_t* bytes) {
  std::string text;
  for (int i = 0; i < 128; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", bytes[i]);
    text += two;
  }
  return text.substr(0, text.find_last_not_of('0') + 1);  // as the record has it
}

// What was recorded: the result and the bytes, by the case's name.
std::map<std::string, std::pair<std::string, std::string>> recorded() {
  std::map<std::string, std::pair<std::string, std::string>> all;
  std::ifstream record(RIDGE_TEST_RECORDS "/tensor_map.txt");
  for (std::string line; std::getline(record, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    all[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                  line.substr(second + 1)};
  }
  return all;
}

TEST_F(TensorMaps, EqualThoseOfAnH200) {
  const auto record = recorded();
  ASSERT_GT(record.size(), 700u);
  std::vector<std::string> unrecorded;
  for (const auto& cases : {hopper::null_pointer_cases(false), hopper::null_pointer_cases(true),
                            hopper::tensor_map_cases()})
    for (const MapCase& c : cases) {
      const auto found = record.find(c.name());
      if (found == record.end()) {
        unrecorded.push_back(c.name());
        continue;
      }
      const auto& [result, expected] = found->second;
      alignas(64) uint8_t bytes[192] = {};
      const CUresult mine = c.encode(cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, bytes);
      // Where the driver crashes, ours refuses.
      EXPECT_EQ(int(mine), result == "crash" ? int(CUDA_ERROR_INVALID_VALUE) : std::stoi(result))
          << c.name();
      if (mine == CUDA_SUCCESS) {
        EXPECT_EQ(hex(bytes), expected) << c.name();
      }
    }
  EXPECT_EQ(unrecorded, std::vector<std::string>{"im2col rank=5 no_steps"});
}

// A macro, because a call that fails is reported once for each place in the program.
#define EXPECT_REFUSED(change, text)                                                             \
  do {                                                                                           \
    hopper::MapArguments m;                                                                      \
    change;                                                                                      \
    CUtensorMap map;                                                                             \
    ::testing::internal::CaptureStderr();                                                        \
    const CUresult result = cuTensorMapEncodeTiled(                                              \
        &map, CUtensorMapDataType(m.type), uint32_t(m.rank), reinterpret_cast<void*>(m.address), \
        m.dims, m.strides, m.box, m.steps, CUtensorMapInterleave(m.interleave),                  \
        CUtensorMapSwizzle(m.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,                          \
        CUtensorMapFloatOOBfill(m.fill));                                                        \
    const std::string told = ::testing::internal::GetCapturedStderr();                           \
    EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE);                                                 \
    EXPECT_NE(told.find(std::string("cuTensorMapEncodeTiled failed: ") + (text)),                \
              std::string::npos)                                                                 \
        << told;                                                                                 \
  } while (false)

TEST_F(TensorMaps, RefusalsSayWhatIsWrong) {
  EXPECT_REFUSED(m.type = 14, "tensorDataType is 14; it is 0 to 12 on this GPU");
  EXPECT_REFUSED(m.rank = 6, "tensorRank is 6; it is 1 to 5");
  EXPECT_REFUSED(m.address += 8, "globalAddress is no multiple of 16 bytes");
  EXPECT_REFUSED(m.address = uint64_t(1) << 60, "globalAddress is above 2^57");
  EXPECT_REFUSED(m.dims[2] = 0, "globalDim[2] is 0");
  EXPECT_REFUSED(m.strides[1] = 8200, "globalStrides[1] is 8200 bytes, no multiple of 16");
  EXPECT_REFUSED(m.strides[1] = uint64_t(1) << 41, "globalStrides[1] is 2199023255552 bytes");
  EXPECT_REFUSED(m.steps[3] = 9, "elementStrides[3] is 9; it is 1 to 8");
  EXPECT_REFUSED(m.box[1] = 300, "boxDim[1] is 300; it is 1 to 256");
  EXPECT_REFUSED(m.box[0] = 15,
                 "boxDim[0] is 15 elements of 4 bytes, together no multiple of 16 bytes");
  EXPECT_REFUSED(m.swizzle = 1,
                 "boxDim[0] is 16 elements of 4 bytes, together 64 bytes, and the "
                 "swizzle's span is 32");
  EXPECT_REFUSED((m.box[1] = 256, m.box[2] = 4), "the box has 262144 bytes, at most 233472");
  EXPECT_REFUSED((m.type = 2, m.fill = 1), "oobFill asks for NaN, and the elements are integers");
}
#undef EXPECT_REFUSED

TEST_F(TensorMaps, ReplacingTheAddressChangesNothingElse) {
  MapCase here, there;
  there.m.address += 4096;
  alignas(64) uint8_t a[192] = {}, b[192] = {};
  ASSERT_OK(here.encode(cuTensorMapEncodeTiled, nullptr, a));
  ASSERT_OK(there.encode(cuTensorMapEncodeTiled, nullptr, b));
  auto* const map = reinterpret_cast<CUtensorMap*>(a);
  EXPECT_NE(std::memcmp(a, b, 128), 0);
  ASSERT_OK(cuTensorMapReplaceAddress(map, reinterpret_cast<void*>(there.m.address)));
  EXPECT_EQ(std::memcmp(a, b, 128), 0);
  EXPECT_EQ(cuTensorMapReplaceAddress(map, reinterpret_cast<void*>(there.m.address + 8)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTensorMapReplaceAddress(nullptr, reinterpret_cast<void*>(there.m.address)),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ridge::vm::driver
