// Holds the rule for operands in shared memory against the recorded maps.
//
//   wgmma_layout_check FILE   FILE as wgmma_layout_record wrote it
#include <cstdio>
#include <fstream>

#include "wgmma_layout.h"

using namespace ridge::hopper;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  constexpr uint32_t kImage = 1024;  // where the image began in shared memory
  std::ifstream file(argv[1]);
  size_t right = 0, wrong = 0;
  for (const LayoutKernel& kernel : layout_kernels()) {
    std::string line;
    std::getline(file, line);
    const size_t tab = line.find('\t');
    if (line.substr(0, tab) != kernel.name()) return std::printf("not the same kernels\n"), 2;
    size_t at = tab + 1;
    for (const Descriptor& d : layout_descriptors()) {
      std::vector<uint16_t> map;
      const bool transposed = kernel.wgmma.trans_a || kernel.wgmma.trans_b;
      for (int row = 0; row < kernel.rows(); ++row)
        for (int k = 0; k < kernel.k(); ++k)
          map.push_back(uint16_t(
              (operand_offset(d, kImage + d.start, kernel.size(), transposed, row, k) - kImage) /
              uint32_t(kernel.size())));
      const bool same = uint32_t(hash_bytes(map.data(), map.size() * 2)) ==
                        std::stoul(line.substr(at, 8), nullptr, 16);
      ++(same ? right : wrong);
      at += 8;
    }
  }
  std::printf("%zu maps agree, %zu do not\n", right, wrong);
  return wrong != 0;
}
