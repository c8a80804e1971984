// Which byte of shared memory is element (row, k) of an operand, for a descriptor.
//
// The operand under test is the first 64 KiB of shared memory, whose element i holds i; the other
// operand selects one k per row of D (A in registers) or is the identity (B). One run gives one
// digit of i, in a base that the type holds exactly.
#pragma once

#include "wgmma_case.h"

namespace ridge::hopper {

struct LayoutKernel {
  char operand;  // 'A' or 'B'
  WgmmaCase wgmma;
  std::string name() const;
  int size() const { return bits_of(wgmma.b) / 8; }  // bytes of one element
  int digits() const { return 2; }
  int base() const { return wgmma.b == Kind::u8 ? 256 : 2048; }
  int rows() const { return operand == 'A' ? 64 : wgmma.n; }  // of the operand
  int k() const { return operand == 'A' && wgmma.sparse ? wgmma.k() / 2 : wgmma.k(); }
};
struct Descriptor {
  uint32_t swizzle, leading, stride, start, base_offset;
  uint64_t more;  // other bits
  uint64_t word() const { return descriptor(start, leading, stride, swizzle, base_offset) | more; }
};

inline constexpr size_t kWindow = 65536;  // bytes under test
std::vector<LayoutKernel> layout_kernels();
std::vector<Descriptor> layout_descriptors();
// One block's input for each digit.
std::vector<uint32_t> layout_input(const LayoutKernel& kernel);
// Where B lies when A is under test.
uint64_t identity_descriptor(const LayoutKernel& kernel);
// What the kernel wrote (all digits) as element numbers: [row][k].
std::vector<uint16_t> layout_map(const LayoutKernel& kernel, const uint32_t* output);

// The rule that all maps follow: the byte in shared memory, counted from its start, where element
// (row, k) of an operand begins. `row` is an index along M or N; `start` is the descriptor's
// address with all 18 bits.
uint32_t operand_offset(const Descriptor& d, uint32_t start, int size, bool transposed, int row,
                        int k);

}  // namespace ridge::hopper
