// How long a module takes from PTX text to a kernel that can be launched, and what the engine costs
// in memory.
//   vm_load_bench FILE.ptx KERNEL   prints seconds and resident megabytes
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "vm/exec/engine.h"

namespace {

double resident_mb() {
  std::ifstream status("/proc/self/statm");
  long total = 0, resident = 0;
  status >> total >> resident;
  return double(resident) * 4096 / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vm_load_bench FILE.ptx KERNEL\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const auto start = std::chrono::steady_clock::now();
  ridge::vm::Engine engine({.gpu = *ridge::find_gpu("h200")});
  const auto program = engine.load(text.str(), argv[1]);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    return 1;
  }
  ridge::vm::Kernel* kernel = engine.find_kernel(*program, argv[2]);
  if (!kernel || !engine.usage(kernel)) {
    std::fprintf(stderr, "no usable kernel %s\n", argv[2]);
    return 1;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.6f %.1f\n", seconds, resident_mb());
}
