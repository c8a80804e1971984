#include "included_libraries.h"

#include <gtest/gtest.h>

#include <fstream>

#include "scratch.h"

namespace ridge::tools {
namespace {

using Flags = std::vector<std::string>;

class IncludedLibraries : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.ready()); }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  ScratchFolder folder_;
};

TEST_F(IncludedLibraries, OfTheSource) {
  EXPECT_EQ(included_libraries(write("a.cu", "#include <cublas_v2.h>\n"), {}), Flags{"-lcublas"});
  EXPECT_EQ(included_libraries(
                write("b.cu", "  #  include \"cublas_v2.h\"\n#include <cublasLt.h>\n"), {}),
            (Flags{"-lcublas", "-lcublasLt"}));
  EXPECT_EQ(included_libraries(write("c.cu", "// #include <cublas_v2.h>\n#include <cstdio>\n"), {}),
            Flags{});
  EXPECT_EQ(included_libraries(write("d.cu", "#include <my_cublas_v2.h>\n"), {}), Flags{});
  EXPECT_EQ(included_libraries("no_such_file.cu", {}), Flags{});
}

TEST_F(IncludedLibraries, OfItsOwnHeaders) {
  write("one.h", "#include \"deep/two.h\"\n");
  write("deep/two.h", "#include \"../one.h\"\n#include <three.h>\n");
  write("headers/three.h", "#include <cublas_v2.h>\n");
  const auto source = write("a.cu", "#include \"one.h\"\n");
  EXPECT_EQ(included_libraries(source, {}), Flags{});
  for (const Flags& flags :
       {Flags{"-I", folder_ / "headers"}, Flags{"-I" + (folder_ / "headers").string()},
        Flags{"--include-path=" + (folder_ / "headers").string()}})
    EXPECT_EQ(included_libraries(source, flags), Flags{"-lcublas"}) << flags[0];
}

TEST_F(IncludedLibraries, NotWhatIsGivenAlready) {
  const auto source = write("a.cu", "#include <cublas_v2.h>\n#include <cublasLt.h>\n");
  EXPECT_EQ(included_libraries(source, {"-O3", "-lcublas"}), Flags{"-lcublasLt"});
}

}  // namespace
}  // namespace ridge::tools
