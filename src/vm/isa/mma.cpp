// mma and mma.sp: the spellings. Shapes and types are those that ptxas takes for sm_90.
#include "vm/isa/float.h"
#include "vm/isa/groups.h"
#include "vm/isa/mma_handlers.h"

namespace ridge::vm {
namespace {

constexpr Facts kSync{.encoding = Encoding::fragments, .exchanges = true, .converges = true};

Handlers handlers_of(const TensorForm& form, Handler handler, bool sparse = false) {
  const FragmentSizes n = fragment_sizes(form, sparse);
  Handlers h{handler, handler, false, form.pack()};
  h.fragments = {uint8_t(n.d), uint8_t(n.a), uint8_t(n.b), uint8_t(n.c)};
  if (sparse) h.literals = uint8_t(SparseColumns::selectors(form));
  return h;
}

// The row allows the modifiers; here their order: types are written d, a, b, c.
std::optional<TensorForm> written(const Form& form) {
  const auto t = tensor_form(form);
  const auto sum = [](Element e) {
    return e == Element::f16 || e == Element::f32 || e == Element::s32 || e == Element::f64;
  };
  const auto factor = [](Element e) { return e != Element::f32 && e != Element::s32; };
  if (!t || !sum(t->d) || !sum(t->c) || !factor(t->a) || !factor(t->b)) return std::nullopt;
  return t;
}

Handlers select_float(const Form& form) {
  const auto t = written(form);
  return t ? handlers_of(*t, float_mma(*t)) : Handlers{};
}
Handlers select_sparse_float(const Form& form) {
  const auto t = written(form);
  return t ? handlers_of(*t, sparse_float_mma(*t), true) : Handlers{};
}
Handlers select_double(const Form& form) {
  auto t = written(form);
  if (!t) return {};
  t->option = uint32_t(round_of(form));
  return handlers_of(*t, double_mma());
}
Handlers select_integer(const Form& form) {
  auto t = written(form);
  if (!t) return {};
  t->option = form.has("satfinite") ? kSaturates : form.has("xor") ? kXor : 0;
  return handlers_of(*t, integer_mma(*t));
}
Handlers select_sparse_integer(const Form& form) {
  auto t = written(form);
  if (!t) return {};
  t->option = form.has("satfinite") ? kSaturates : 0;
  return handlers_of(*t, sparse_integer_mma(*t), true);
}

Handlers select_quad_pairs(const Form& form) {
  auto t = written(form);
  if (!t || (t->c == Element::f32 && t->d == Element::f16)) return {};
  uint32_t operand = 0;
  for (std::string_view m : form.modifiers)
    if (m == "row" || m == "col") t->option |= uint32_t(m == "row") << operand++;
  Handlers h{quad_pair_mma(*t), quad_pair_mma(*t), false, t->pack()};
  h.fragments = {uint8_t(t->d == Element::f16 ? 4 : 8), 2, 2,
                 uint8_t(t->c == Element::f16 ? 4 : 8)};
  return h;
}

constexpr std::string_view kDense = "d*:b32,a*:b32,b*:b32,c*:b32";
constexpr std::string_view kSparse = "d*:b32,a*:b32,b*:b32,c*:b32,e:b32,f#";
constexpr InstrDef kRows[] = {
    {"mma[sync][aligned][m8n8k4][row|col][row|col][f16|f32][f16][f16][f16|f32]", kDense,
     Unit::tensor, kSync, select_quad_pairs},
    {"mma[sync][aligned][m16n8k8|m16n8k16][row][col][f16][f16][f16][f16]", kDense, Unit::tensor,
     kSync, select_float},
    {"mma[sync][aligned][m16n8k8|m16n8k16][row][col][f32][f16][f16][f32]", kDense, Unit::tensor,
     kSync, select_float},
    {"mma[sync][aligned][m16n8k8|m16n8k16][row][col][f32][bf16][bf16][f32]", kDense, Unit::tensor,
     kSync, select_float},
    {"mma[sync][aligned][m16n8k4|m16n8k8][row][col][f32][tf32][tf32][f32]", kDense, Unit::tensor,
     kSync, select_float},
    {"mma[sync][aligned][m16n8k16|m16n8k32][row][col][f16][e4m3|e5m2][e4m3|e5m2][f16]", kDense,
     Unit::tensor, kSync, select_float},
    {"mma[sync][aligned][m16n8k16|m16n8k32][row][col][f32][e4m3|e5m2][e4m3|e5m2][f32]", kDense,
     Unit::tensor, kSync, select_float},
    {"mma[sync][aligned][m8n8k4|m16n8k4|m16n8k8|m16n8k16][row][col]{%round}[f64][f64][f64][f64]",
     "d*:f64,a*:f64,b*:f64,c*:f64", Unit::tensor, kSync, select_double},
    {"mma[sync][aligned][m8n8k16|m16n8k16|m16n8k32][row][col]{satfinite}[s32][s8|u8][s8|u8][s32]",
     kDense, Unit::tensor, kSync, select_integer},
    {"mma[sync][aligned][m8n8k32|m16n8k32|m16n8k64][row][col]{satfinite}[s32][s4|u4][s4|u4][s32]",
     kDense, Unit::tensor, kSync, select_integer},
    {"mma[sync][aligned][m8n8k128|m16n8k128|m16n8k256][row][col][s32][b1][b1][s32][and|xor][popc]",
     kDense, Unit::tensor, kSync, select_integer},

    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k16|m16n8k32][row][col][f16][f16][f16][f16]",
     kSparse, Unit::tensor, kSync, select_sparse_float},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k16|m16n8k32][row][col][f32][f16][f16][f32]",
     kSparse, Unit::tensor, kSync, select_sparse_float},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k16|m16n8k32][row][col][f32][bf16][bf16]"
     "[f32]",
     kSparse, Unit::tensor, kSync, select_sparse_float},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k8|m16n8k16][row][col][f32][tf32][tf32]"
     "[f32]",
     kSparse, Unit::tensor, kSync, select_sparse_float},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k64][row][col][f32][e4m3|e5m2][e4m3|e5m2]"
     "[f32]",
     kSparse, Unit::tensor, kSync, select_sparse_float},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k32|m16n8k64][row][col]{satfinite}[s32]"
     "[s8|u8][s8|u8][s32]",
     kSparse, Unit::tensor, kSync, select_sparse_integer},
    {"mma[sp|sp::ordered_metadata][sync][aligned][m16n8k64|m16n8k128][row][col]{satfinite}[s32]"
     "[s4|u4][s4|u4][s32]",
     kSparse, Unit::tensor, kSync, select_sparse_integer},
};

}  // namespace

std::span<const InstrDef> mma_rows() { return kRows; }

}  // namespace ridge::vm
