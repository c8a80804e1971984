// Fat binaries: good ones, damaged ones, and nvcc's own.
#include "vm/cudart/fatbin.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "container.h"
#include "vm/cudart/api.h"

namespace ridge::vm::cudart {
namespace {

using test::container;
using test::Entry;

TEST(Fatbin, ReadsPlainLz4AndZstd) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += ".visible .entry kernel" + std::to_string(i % 7) + "\n";
  for (const auto packing :
       {FatImage::Packing::none, FatImage::Packing::lz4, FatImage::Packing::zstd}) {
    const auto bytes = container({{.text = text, .arch = 80, .packing = packing}});
    const auto images = read_container(bytes);
    ASSERT_TRUE(images) << images.error().message;
    ASSERT_EQ(images->size(), 1u);
    EXPECT_EQ((*images)[0].arch, 80);
    const auto plain = unpack((*images)[0]);
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(plain->substr(0, text.size()), text);
  }
}

TEST(Fatbin, ChoosesAsTheDriverDoes) {
  struct Case {
    std::vector<Entry> entries;
    int major, minor;
    int arch;  // chosen; 0: none
    char suffix;
  };
  const Entry p75{.arch = 75}, p80{.arch = 80}, p90{.arch = 90}, p90a{.arch = 90, .suffix = 'a'},
      p100{.arch = 100};
  const Entry p100f{.arch = 100, .suffix = 'f'}, e90{.arch = 90, .kind = 2};
  const Case cases[] = {
      {{p75, p90, p80}, 9, 0, 90, 0},
      {{p75, p90, p80}, 8, 6, 80, 0},
      {{p100}, 9, 0, 0, 0},
      {{p90a, p80}, 9, 0, 90, 'a'},
      {{p90, p90a}, 9, 0, 90, 'a'},
      {{p90a}, 10, 0, 0, 0},
      {{e90}, 9, 0, 0, 0},
      {{e90, p80}, 9, 0, 80, 0},
      {{p90a, p80}, 8, 9, 80, 0},
      {{p100f}, 10, 3, 100, 'f'},
      {{p100f, p90}, 9, 0, 90, 0},
      {{}, 9, 0, 0, 0},
  };
  for (const Case& c : cases) {
    const auto bytes = container(c.entries);
    const auto images = read_container(bytes);
    ASSERT_TRUE(images);
    const auto chosen = choose_ptx(*images, c.major, c.minor);
    if (!c.arch) {
      ASSERT_FALSE(chosen);
      EXPECT_EQ(chosen.error().code, cudaErrorNoKernelImageForDevice);
      EXPECT_NE(chosen.error().message.find("-gencode arch=compute_"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ((*chosen)->arch, c.arch);
    EXPECT_EQ((*chosen)->suffix, c.suffix);
  }
}

TEST(Fatbin, ChoosesMachineCodeOfTheDevicesGeneration) {
  const auto bytes = container({{.arch = 90},
                                {.arch = 80, .kind = 2},
                                {.arch = 86, .kind = 2},
                                {.arch = 90, .kind = 2},
                                {.arch = 90, .kind = 2, .suffix = 'a'}});
  const auto images = read_container(bytes);
  ASSERT_TRUE(images);
  const auto label = [&](int major, int minor) {
    const FatImage* chosen = choose_machine_code(*images, major, minor);
    return chosen ? chosen->label() : "none";
  };
  EXPECT_EQ(label(9, 0), "machine code sm_90a");
  EXPECT_EQ(label(8, 0), "machine code sm_80");
  EXPECT_EQ(label(8, 9), "machine code sm_86");
  EXPECT_EQ(label(10, 0), "none");  // its PTX would be compiled
  EXPECT_EQ(label(7, 5), "none");
}

// A report names every image, so that the user sees what the program was built for.
TEST(Fatbin, SaysWhichImagesAreThere) {
  const auto bytes =
      container({{.arch = 100}, {.arch = 80, .kind = 2}, {.arch = 90, .kind = 2, .suffix = 'a'}});
  const auto chosen = choose_ptx(*read_container(bytes), 9, 0);
  ASSERT_FALSE(chosen);
  for (const char* image : {"PTX compute_100", "machine code sm_80", "machine code sm_90a"})
    EXPECT_NE(chosen.error().message.find(image), std::string::npos) << image;
}

TEST(Fatbin, TellsNewPtxFromMachineCode) {
  const auto message = [](const Entry& entry) {
    const auto bytes = container({entry});
    return choose_ptx(*read_container(bytes), 9, 0).error().message;
  };
  const std::string ptx = message({.arch = 120}), machine_code = message({.arch = 120, .kind = 2});
  EXPECT_NE(ptx.find("it holds PTX compute_120."), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("PTX runs on the architecture it was made for and on newer ones"),
            std::string::npos);
  EXPECT_EQ(ptx.find("achine code"), std::string::npos);
  EXPECT_NE(machine_code.find("Machine code cannot run"), std::string::npos) << machine_code;
}

// Bytes placed right before memory that cannot be read, so that reading past them is a crash, not
// luck.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::span<const uint8_t> bytes) : page_(size_t(sysconf(_SC_PAGESIZE))) {
    room_ = (bytes.size() + page_) / page_ * page_;
    map_ = static_cast<uint8_t*>(
        mmap(nullptr, room_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(map_ + room_, page_, PROT_NONE);
    start_ = map_ + room_ - bytes.size();
    std::memcpy(start_, bytes.data(), bytes.size());
  }
  ~GuardedBytes() { munmap(map_, room_ + page_); }
  uint8_t* start() { return start_; }

 private:
  size_t page_, room_ = 0;
  uint8_t *map_ = nullptr, *start_ = nullptr;
};

std::vector<uint8_t> sample() {
  return container(
      {{.text = "some PTX text, some PTX text", .arch = 80, .packing = FatImage::Packing::lz4},
       {.text = "more PTX text, more PTX text", .arch = 90, .packing = FatImage::Packing::zstd}});
}

TEST(Fatbin, EveryTruncationIsAnError) {
  const auto bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    GuardedBytes guarded({bytes.data(), size});
    const auto images = read_container({guarded.start(), size});
    ASSERT_FALSE(images) << "cut after " << size << " bytes";
    EXPECT_EQ(images.error().code, cudaErrorInvalidKernelImage);
    EXPECT_FALSE(container_at(guarded.start())) << "cut after " << size << " bytes";
  }
}

TEST(Fatbin, EveryDamagedByteIsSurvived) {
  const auto bytes = sample();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto damaged = bytes;
      damaged[at] = value;
      GuardedBytes guarded(damaged);
      const auto images = read_container({guarded.start(), damaged.size()});
      if (!images) continue;
      for (const FatImage& image : *images) (void)!unpack(image);
    }
}

TEST(Fatbin, AnArchitectureNoGpuHasIsDamage) {
  EXPECT_FALSE(read_container(container({{.arch = 0xba560050}})));
  EXPECT_FALSE(read_container(container({{.arch = 10000}})));
}

TEST(Fatbin, WrappersAreChecked) {
  const auto bytes = sample();
  struct {
    uint32_t magic = kWrapperMagic, version = 1;
    const void* data = nullptr;
    const void* units = nullptr;
  } wrapper;
  wrapper.data = bytes.data();
  ASSERT_TRUE(read_wrapper(&wrapper));
  EXPECT_EQ(read_wrapper(&wrapper)->linked.size(), bytes.size());
  const void* units[] = {bytes.data(), bytes.data(), nullptr};
  wrapper.version = 2;
  wrapper.units = units;
  EXPECT_EQ(read_wrapper(&wrapper)->units.size(), 2u);
  wrapper.version = 3;
  EXPECT_FALSE(read_wrapper(&wrapper));
  wrapper.version = 1;
  wrapper.magic = 1;
  EXPECT_FALSE(read_wrapper(&wrapper));
  EXPECT_FALSE(read_wrapper(nullptr));
  EXPECT_FALSE(read_wrapper(reinterpret_cast<const void*>(8)));
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Fatbin, ReadsWhatNvccWrites) {
  if (std::string(RIDGE_TEST_NVCC).empty()) GTEST_SKIP() << "no nvcc";
  const std::string folder = ::testing::TempDir() + "ridge_fatbin_" + std::to_string(getpid());
  const std::string source = folder + ".cu", output = folder + ".fatbin";
  std::ofstream(source) << "__global__ void kernel(int* p) { p[threadIdx.x] = 1; }\n";
  for (const char* mode : {"none", "size", "speed", "balance", "default"}) {
    const std::string command =
        std::string(RIDGE_TEST_NVCC) + " -fatbin --compress-mode=" + mode +
        " -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90a,code=[compute_90a,"
        "sm_90a] -o " +
        output + " " + source;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const auto bytes = read_file(output);
    const auto images = read_container(bytes);
    ASSERT_TRUE(images) << mode << ": " << images.error().message;
    EXPECT_EQ(images->size(), 3u);
    const auto newest = choose_ptx(*images, 9, 0), oldest = choose_ptx(*images, 8, 0);
    ASSERT_TRUE(newest && oldest);
    EXPECT_EQ((*newest)->label(), "PTX compute_90a");
    EXPECT_EQ((*oldest)->label(), "PTX compute_75");
    for (const FatImage* image : {*newest, *oldest}) {
      const auto text = unpack(*image);
      ASSERT_TRUE(text) << mode << ": " << text.error().message;
      EXPECT_NE(text->find(".visible .entry _Z6kernelPi"), std::string::npos) << mode;
      EXPECT_NE(text->find(image == *newest ? ".target sm_90a" : ".target sm_75"),
                std::string::npos)
          << mode;
    }
  }
  unlink(source.c_str());
  unlink(output.c_str());
}

}  // namespace
}  // namespace ridge::vm::cudart
