#include "core/closed_libraries.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

std::string name_of(const char* file) {
  const ClosedLibrary* library = find_closed_library(file);
  return library ? std::string(library->name) : "";
}

TEST(ClosedLibraries, AreFoundByTheirFiles) {
  EXPECT_EQ(name_of("libcublas.so.13"), "cuBLAS");
  EXPECT_EQ(name_of("/usr/lib/libcublasLt.so"), "cuBLASLt");
  EXPECT_EQ(name_of("libcudnn_engines_precompiled.so.9"), "cuDNN");
  EXPECT_EQ(name_of("libnppig.so.13"), "NPP");
  EXPECT_EQ(name_of("libcufftw.so.12"), "cuFFT");
}

TEST(ClosedLibraries, OthersAreNot) {
  for (const char* file : {"libcudart.so.13", "libcuda.so.1", "libnvrtc.so.13", "libcublas", "",
                           "libcublasty.so", "libnvJitLink.so.13", "libstdc++.so.6"})
    EXPECT_EQ(name_of(file), "") << file;
}

TEST(ClosedLibraries, SomeHaveAStandin) {
  EXPECT_TRUE(has_standin("libcublas.so.13"));
  EXPECT_TRUE(has_standin("/usr/lib/libcublasLt.so.13"));
  for (const char* other : {"libcublas.so.12", "libcublas.so", "libcufft.so.12", "libcudart.so.13"})
    EXPECT_FALSE(has_standin(other)) << other;
}

TEST(ClosedLibraries, AreDescribedWithTheFile) {
  EXPECT_EQ(describe(*find_closed_library("/a/libcurand.so.10"), "/a/libcurand.so.10"),
            "the host side of cuRAND (libcurand.so.10)");
}

}  // namespace
}  // namespace ridge
