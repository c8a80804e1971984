// What nvcc and its linker say, as they say it, and what we add to that.
#include "nvcc_hints.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ridge::tools {
namespace {

std::string hint(const std::string& output, const std::string& flags = "") {
  const std::string hint = nvcc_hint({output, flags, "/nowhere/a.cu"});
  const size_t flag = hint.find("--nvcc ");
  return flag == hint.npos ? hint : hint.substr(flag);
}

TEST(NvccHints, FlagsThatMendIt) {
  EXPECT_EQ(hint("a.cu(1): error: kernel launch from __device__ or __global__ functions requires "
                 "separate compilation mode\n"),
            "--nvcc \"-rdc=true\"");
  EXPECT_EQ(hint("ptxas fatal   : Unresolved extern function '_Z1fi'\n"), "--nvcc \"-rdc=true\"");
  EXPECT_EQ(hint("a.cu(1): error: __host__ or __device__ annotation on lambda requires "
                 "--extended-lambda nvcc flag\n"),
            "--nvcc \"--extended-lambda\"");
  EXPECT_EQ(hint("a.cu(1): error: calling a constexpr __host__ function(\"f\") from a __global__ "
                 "function(\"k\") is not allowed. The experimental flag "
                 "'--expt-relaxed-constexpr' can be used to allow this.\n"),
            "--nvcc \"--expt-relaxed-constexpr\"");
  EXPECT_EQ(hint("a.cu(3): error: namespace \"std\" has no member \"span\"\n"),
            "--nvcc \"-std=c++20\"");
  EXPECT_EQ(hint("a.cu(1): error: this declaration has no storage class or type specifier\n"
                 "  template <class T> requires (sizeof(T) > 1) void f(T) {}\n"),
            "--nvcc \"-std=c++20\"");
  EXPECT_EQ(hint("ptxas /tmp/a.ptx, line 23; error   : Instruction 'wgmma.fence' not supported on "
                 ".target 'sm_90'\n"),
            "--nvcc \"-gencode arch=compute_90a,code=compute_90a\"");
  EXPECT_EQ(
      hint("ptxas a.ptx, line 9; error : Feature 'cp.async' requires .target sm_80 or higher\n"),
      "--nvcc \"-arch=sm_80\"");
}

TEST(NvccHints, Libraries) {
  EXPECT_EQ(hint("a.cpp:(.text+0x8): undefined reference to `cublasCreate_v2'\n"
                 "a.cpp:(.text+0xf): undefined reference to `cuInit'\n"
                 "a.cpp:(.text+0x1f): undefined reference to `cublasDestroy_v2'\n"),
            "--nvcc \"-lcublas -lcuda\"");
  EXPECT_EQ(hint("undefined reference to `omp_get_max_threads'"), "--nvcc \"-Xcompiler -fopenmp\"");
  EXPECT_EQ(hint("undefined reference to `smooth(int)'"), "--nvcc \"other.cu\"");
  EXPECT_EQ(hint("(.text+0x17): undefined reference to `main'"), "--nvcc \"main.cu\"");
}

TEST(NvccHints, WhatIsGivenStaysAndIsNotGivenTwice) {
  const char* const refusal = "error: … requires separate compilation mode\n";
  EXPECT_EQ(hint(refusal, "-DN=8"), "--nvcc \"-DN=8 -rdc=true\"");
  EXPECT_EQ(hint(refusal, "-rdc=true"), "");
  EXPECT_EQ(hint(refusal, "-DS=\"x\""), "--nvcc '-DS=\"x\" -rdc=true'");
}

TEST(NvccHints, SilenceWhereNoFlagHelps) {
  EXPECT_EQ(hint("a.cu(1): error: identifier \"nothing\" is undefined\n"), "");
  EXPECT_EQ(hint("a.cu(1): error: namespace \"std\" has no member \"vectr\"\n"), "");
  EXPECT_EQ(hint(""), "");
}

TEST(NvccHints, FindsHeadersNearby) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("ridge-hints-" + std::to_string(getpid()));
  fs::create_directories(folder / "project" / "src");
  fs::create_directories(folder / "project" / "include" / "deep");
  std::ofstream(folder / "project" / "include" / "deep" / "own.h") << "\n";
  const auto ask = [&](const std::string& header) {
    return nvcc_hint({"a.cu:1:10: fatal error: " + header + ": No such file or directory\n", "",
                      folder / "project" / "src" / "a.cu"});
  };
  const std::string include = (folder / "project" / "include").string();
  EXPECT_EQ(ask("own.h"), "nvcc needs the folder of own.h: --nvcc \"-I " + include + "/deep\"");
  EXPECT_EQ(ask("deep/own.h"),
            "nvcc needs the folder of deep/own.h: --nvcc \"-I " + include + "\"");
  EXPECT_EQ(ask("none.h"), "nvcc needs the folder of none.h: --nvcc \"-I FOLDER\"");
  EXPECT_EQ(ask("format"), "the C++ library of the host's compiler has no <format>");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ridge::tools
