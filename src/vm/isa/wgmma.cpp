// wgmma: the spellings, and how a product is started and waited for. wgmma_product.cpp makes it.
#include "vm/isa/wgmma.h"

#include <cstring>

#include "vm/exec/grid.h"
#include "vm/isa/groups.h"
#include "vm/isa/shared_operand.h"

namespace ridge::vm {
namespace {

bool is_in_shared(Warp& w, const Inst* inst, uint64_t descriptor, bool transposed, uint32_t rows,
                  uint32_t bytes) {
  if (SharedOperand(descriptor, transposed).ends_before(w.shared_size, rows, bytes)) return true;
  raise(w, inst, FaultKind::illegal_address, 0, (descriptor & 0x3fff) << 4, rows * bytes,
        "shared wgmma operand");
  return false;
}

const Inst* start(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  if (w.index / Warpgroup::kWarps >= w.block->warps.size() / Warpgroup::kWarps)
    return raise(w, inst, FaultKind::illegal_instruction, 0, 0, 0,
                 "wgmma needs a warpgroup: four warps, of which the first has a number that is a "
                 "multiple of four");
  const WgmmaOperands o(inst);
  const uint64_t b = w.src<uint64_t>(o.b)[0];
  const uint64_t a = o.a_in_registers() ? 0 : w.src<uint64_t>(o.a[0])[0];
  if (!is_in_shared(w, inst, b, o.transposed_b, o.form.n, o.form.bytes_of_b())) return nullptr;
  if (!o.a_in_registers() && !is_in_shared(w, inst, a, o.transposed_a, 64, WgmmaForm::kBytesOfA))
    return nullptr;
  if (!warpgroup_of(w).starts(w, inst))
    return raise(w, inst, FaultKind::illegal_instruction, 0, 0, 0,
                 "other warps of this warpgroup have executed another wgmma instead: all four must "
                 "execute the same");
  Product& product = w.products.push(w, inst);
  product.adds = w.pred(o.adds) & 1;
  product.a_descriptor = a;
  product.b_descriptor = b;
  if (o.a_in_registers())
    for (int i = 0; i < 4; ++i)
      std::memcpy(product.a[i], w.src<uint32_t>(o.a[i]), sizeof product.a[i]);
  if (o.form.sparse)
    std::memcpy(product.metadata, w.src<uint32_t>(o.metadata), sizeof product.metadata);
  if (w.block->grid->schedule && w.block->grid->schedule.early()) w.products.finish(w);
  return after_fragments(inst);
}

Handlers handlers_of(const WgmmaForm& form) {
  Handlers h{start, start, false, form.pack()};
  h.fragments = {uint8_t(form.d_registers()), 4};
  h.literals = bits_of(form.a) >= 16 ? 2 : 1;
  return h;
}

// `Transposes`: how many operands say whether a matrix is transposed: none, that of B, both.
template <int Transposes>
Handlers select(const Form& form) {
  const auto t = tensor_form(form);
  const auto is_sum = [](Element e) {
    return e == Element::f16 || e == Element::f32 || e == Element::s32;
  };
  const auto is_factor = [](Element e) { return e != Element::f32 && e != Element::s32; };
  if (!t || !is_sum(t->d) || !is_factor(t->a) || !is_factor(t->b)) return {};
  WgmmaForm w;
  w.n = t->n;
  w.d = t->d;
  w.a = t->a;
  w.b = t->b;
  w.sparse = form.has("sp");
  w.saturates = form.has("satfinite");
  w.transposes_a = Transposes == 2;
  w.transposes_b = Transposes >= 1;
  return handlers_of(w);
}

const Inst* fence(Warp& w, const Inst* inst) { return whole_warp(w, inst) ? inst + 1 : nullptr; }
Handlers select_fence(const Form&) { return {fence, fence}; }

const Inst* commit(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  w.products.commit();
  return inst + 1;
}
Handlers select_commit(const Form&) { return {commit, commit}; }

const Inst* wait(Warp& w, const Inst* inst) {
  if (!whole_warp(w, inst)) return nullptr;
  if (w.products.empty()) return inst + 1;
  return wait_for_products(w, inst, w.src<uint32_t>(inst->a)[0]);
}
Handlers select_wait(const Form&) { return {wait, wait}; }

constexpr Facts kStart{
    .encoding = Encoding::fragments, .exchanges = true, .converges = true, .arch_specific = true};
constexpr Facts kFence{
    .sync = Sync::product_fence, .converges = true, .fences = true, .arch_specific = true};
constexpr Facts kCommit{.sync = Sync::product_commit, .converges = true, .arch_specific = true};
constexpr Facts kWait{
    .sync = Sync::product_wait, .converges = true, .fences = true, .arch_specific = true};

#define RIDGE_DENSE "wgmma[mma_async][sync][aligned]"
#define RIDGE_SPARSE "wgmma[mma_async][sp][sync][aligned]"
// D, A, B; metadata and its selector; whether D is added; signs of A and B; whether A and B are
// transposed.
#define RIDGE_OPERANDS "x*:b32,a@:b32,b:b64"
#define RIDGE_METADATA ",e:b32,f#"
#define RIDGE_SCALES ",g:pred,h~,i~"
constexpr InstrDef kRows[] = {
    {"wgmma[fence][sync][aligned]", "", Unit::tensor, kFence, select_fence},
    {"wgmma[commit_group][sync][aligned]", "", Unit::tensor, kCommit, select_commit},
    {"wgmma[wait_group][sync][aligned]", "a:u32", Unit::tensor, kWait, select_wait},

    {RIDGE_DENSE "[%m64k16][f32][bf16][bf16]", RIDGE_OPERANDS RIDGE_SCALES ",j?,k?", Unit::tensor,
     kStart, select<2>},
    {RIDGE_DENSE "[%m64k16][f32][bf16][bf16]", RIDGE_OPERANDS RIDGE_SCALES ",k?", Unit::tensor,
     kStart, select<1>},
    {RIDGE_DENSE "[%m64k16][f16|f32][f16][f16]", RIDGE_OPERANDS RIDGE_SCALES ",j?,k?", Unit::tensor,
     kStart, select<2>},
    {RIDGE_DENSE "[%m64k16][f16|f32][f16][f16]", RIDGE_OPERANDS RIDGE_SCALES ",k?", Unit::tensor,
     kStart, select<1>},
    {RIDGE_DENSE "[%m64k8][f32][tf32][tf32]", RIDGE_OPERANDS RIDGE_SCALES, Unit::tensor, kStart,
     select<0>},
    {RIDGE_DENSE "[%m64k32][f16|f32][e4m3|e5m2][e4m3|e5m2]", RIDGE_OPERANDS RIDGE_SCALES,
     Unit::tensor, kStart, select<0>},
    {RIDGE_DENSE "[%m64k32i][s32][s8|u8][s8|u8]{satfinite}", RIDGE_OPERANDS ",g:pred", Unit::tensor,
     kStart, select<0>},
    {RIDGE_DENSE "[%m64k256i][s32][b1][b1][and][popc]", RIDGE_OPERANDS ",g:pred", Unit::tensor,
     kStart, select<0>},

    {RIDGE_SPARSE "[%m64k32][f32][bf16][bf16]", RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES ",j?,k?",
     Unit::tensor, kStart, select<2>},
    {RIDGE_SPARSE "[%m64k32][f32][bf16][bf16]", RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES ",k?",
     Unit::tensor, kStart, select<1>},
    {RIDGE_SPARSE "[%m64k32][f16|f32][f16][f16]",
     RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES ",j?,k?", Unit::tensor, kStart, select<2>},
    {RIDGE_SPARSE "[%m64k32][f16|f32][f16][f16]", RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES ",k?",
     Unit::tensor, kStart, select<1>},
    {RIDGE_SPARSE "[%m64k16][f32][tf32][tf32]", RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES,
     Unit::tensor, kStart, select<0>},
    {RIDGE_SPARSE "[%m64k64][f16|f32][e4m3|e5m2][e4m3|e5m2]",
     RIDGE_OPERANDS RIDGE_METADATA RIDGE_SCALES, Unit::tensor, kStart, select<0>},
    {RIDGE_SPARSE "[%m64k64i][s32][s8|u8][s8|u8]{satfinite}",
     RIDGE_OPERANDS RIDGE_METADATA ",g:pred", Unit::tensor, kStart, select<0>},
};
#undef RIDGE_DENSE
#undef RIDGE_SPARSE
#undef RIDGE_OPERANDS
#undef RIDGE_METADATA
#undef RIDGE_SCALES

}  // namespace

std::span<const InstrDef> wgmma_rows() { return kRows; }

}  // namespace ridge::vm
