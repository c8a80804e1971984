#include "vm/isa/tensor_work.h"

#include "vm/isa/mma_handlers.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm {
namespace {

constexpr bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }
constexpr bool is_4bit(Element e) { return e == Element::s4 || e == Element::u4; }

// What the machine multiplies: mma of 8-bit floats is done in f16, of 4-bit integers in 8 bits.
Element multiplied(Element e) { return is_fp8(e) ? Element::f16 : is_4bit(e) ? Element::s8 : e; }

// How many machine instructions ptxas makes of one tile of 16 (or 8) rows and 8 columns.
uint32_t instructions_of_tile(const TensorForm& form, bool sparse) {
  if (is_4bit(form.a)) return 2;
  if (form.a == Element::b1) return form.option & kXor ? 2 : 1;
  const uint32_t depth = sparse ? 32 : 16;  // of f16
  return is_fp8(form.a) ? form.k / depth : 1;
}

TensorWork of_warp(const TensorForm& form, bool sparse) {
  TensorWork work;
  // The oldest shape, of pairs of quads, is ordinary arithmetic since compute capability 9.
  if (form.m == 8 && form.k == 4 && form.a == Element::f16) return work;
  const bool twice = form.a == Element::b1 && form.option & kXor;  // by two .and products
  work.instructions = Geometry(form).tiles() * instructions_of_tile(form, sparse);
  work.operations = 2ull * form.m * form.n * form.k * (twice ? 2 : 1);
  work.source = multiplied(form.a);
  work.sparse = sparse;
  return work;
}

TensorWork of_warpgroup(const WgmmaForm& form, bool a_in_registers) {
  constexpr uint32_t kRows = 64, kWarps = 4;
  const uint32_t depth = form.bytes_of_b() * 8 / uint32_t(bits_of(form.b));
  TensorWork work;
  work.instructions = 1;
  work.operations = 2ull * kRows * form.n * depth / kWarps;
  work.source = form.a;
  work.sparse = form.sparse;
  work.by_warpgroup = true;
  work.shared_bytes = form.n * form.bytes_of_b();
  if (!a_in_registers) work.shared_bytes += kRows * WgmmaForm::kBytesOfA;
  return work;
}

bool multiplies(const Match& match) {
  return match.row->unit == Unit::tensor && match.facts().encoding == Encoding::fragments &&
         match.facts().access == AccessKind::none;
}

}  // namespace

TensorWork tensor_work(const Match& match, const Inst* inst) {
  if (!multiplies(match)) return {};
  if (match.root == "wgmma")
    return of_warpgroup(WgmmaForm::unpack(match.handlers.flags),
                        WgmmaOperands(inst).a_in_registers());
  const bool sparse = match.form.has("sp") || match.form.has("sp::ordered_metadata");
  return of_warp(TensorForm::unpack(match.handlers.flags), sparse);
}

}  // namespace ridge::vm
