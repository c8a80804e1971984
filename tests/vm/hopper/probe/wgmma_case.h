// The wgmma instructions that are recorded: their PTX, and the inputs of each round.
//
// One block of 128 threads runs one instruction (or a chain of them). Its input is one block of
// bytes: the operands in shared memory, then registers, each as 128 words, one per thread: A where
// it is in registers (4), metadata where A is sparse (1), the accumulator (registers()).
#pragma once

#include <string>
#include <vector>

#include "values.h"

namespace ridge::hopper {

struct WgmmaCase {
  Kind a = Kind::f16, b = Kind::f16, d = Kind::f32;
  int n = 8;
  bool sparse = false, satfinite = false;
  bool a_in_registers = false;
  int scale_a = 1, scale_b = 1;
  bool scale_d = true;        // false: D = A B
  int selector = 0;           // of sparse metadata
  bool any_metadata = false;  // also what PTX does not allow
  int chain = 1;              // instructions on one accumulator, each with operands of its own
  bool trans_a = false, trans_b = false;
  size_t image_bytes = 0;  // not 0: what lies in shared memory has this size, whatever it is

  int k_bytes_a() const { return 32; }  // stored, of one row
  int k_bytes_b() const { return sparse ? 64 : 32; }
  int k() const { return k_bytes_b() * 8 / bits_of(b); }
  int registers() const { return d == Kind::f16 ? n / 4 : n / 2; }

  // Operands in shared memory, without swizzling: 8 rows of 16 bytes are 128 bytes in one piece;
  // such pieces follow each other along K first.
  size_t a_bytes() const { return a_in_registers ? 0 : size_t(64) * k_bytes_a(); }
  size_t b_bytes() const { return size_t(n) * k_bytes_b(); }
  size_t shared_bytes() const {
    return image_bytes ? image_bytes : (a_bytes() + b_bytes()) * chain;
  }
  int a_registers() const { return a_in_registers ? 4 * chain : 0; }
  int metadata_registers() const { return sparse ? chain : 0; }
  size_t input_words() const {
    return shared_bytes() / 4 + size_t(128) * (a_registers() + metadata_registers() + registers());
  }
  size_t output_words() const { return size_t(128) * registers(); }

  std::string instruction() const;
  std::string name() const;  // the instruction and what is not in its spelling
};

std::vector<WgmmaCase> wgmma_cases();
int rounds_of(const WgmmaCase& c);
int mode_of_round(int round);
std::string module_header();
std::string kernel_text(const WgmmaCase& c, const std::string& name);
std::vector<uint32_t> make_input(const WgmmaCase& c, int round);

inline uint64_t descriptor(uint64_t address, uint64_t leading, uint64_t stride,
                           uint64_t swizzle = 0, uint64_t base_offset = 0) {
  return (address >> 4 & 0x3fff) | (leading >> 4 & 0x3fff) << 16 | (stride >> 4 & 0x3fff) << 32 |
         base_offset << 49 | swizzle << 62;
}

}  // namespace ridge::hopper
