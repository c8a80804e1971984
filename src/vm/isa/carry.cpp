// Extended precision: additions and products that write (.cc) and read (addc, subc, madc) the carry
// flag, one bit per lane in Warp::carry. After a subtraction the flag is the borrow.
#include "vm/isa/groups.h"
#include "vm/isa/lane.h"

namespace ridge::vm {
namespace {

enum class Op { add, sub, mad_lo, mad_hi };

// T carries the sign that mad.hi needs; sums are unsigned.
template <class T, Op O, bool In, bool Out, bool Full>
const Inst* carry_handler(Warp& w, const Inst* inst) {
  using U = Unsigned<T>;
  constexpr bool kMad = O == Op::mad_lo || O == Op::mad_hi;
  const T* a = w.src<T>(inst->a);
  const T* b = w.src<T>(inst->b);
  const U* c = kMad ? w.src<U>(inst->c) : nullptr;
  U* d = w.reg<U>(inst->d);
  const uint32_t mask = Full ? kAllLanes : w.mask;
  uint32_t carry = 0;
  each_active(mask, [&](int i) {
    const U in = In ? w.carry >> i & 1 : 0;
    U x = U(a[i]), y = U(b[i]);
    if constexpr (O == Op::mad_lo) x = U(wrap_mul(a[i], b[i]));
    if constexpr (O == Op::mad_hi) x = U(Wider<T>(a[i]) * Wider<T>(b[i]) >> (8 * sizeof(T)));
    if constexpr (kMad) y = c[i];
    U result;
    bool out;
    if constexpr (O == Op::sub) {
      U t;
      out = __builtin_sub_overflow(x, y, &t);
      out |= __builtin_sub_overflow(t, in, &result);
    } else {
      U t;
      out = __builtin_add_overflow(x, y, &t);
      out |= __builtin_add_overflow(t, in, &result);
    }
    d[i] = result;
    carry |= uint32_t(out) << i;
  });
  if constexpr (Out) w.carry = (w.carry & ~mask) | carry;
  return inst + 1;
}

template <Op O, bool In, bool Out>
Handlers select_carry(const Form& form) {
  return detail::Pick<Int32_64>::of(form.type(), []<Type K>() -> Handlers {
    return {carry_handler<LaneT<K>, O, In, Out, true>, carry_handler<LaneT<K>, O, In, Out, false>};
  });
}

constexpr Facts kCarry{.carries = true};
constexpr InstrDef kRows[] = {
    {"add[cc][%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::add, false, true>},
    {"addc[%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::add, true, false>},
    {"addc[cc][%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::add, true, true>},
    {"sub[cc][%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::sub, false, true>},
    {"subc[%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::sub, true, false>},
    {"subc[cc][%int32_64]", "d,a,b", Unit::alu, kCarry, select_carry<Op::sub, true, true>},
    {"mad[lo][cc][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_lo, false, true>},
    {"mad[hi][cc][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_hi, false, true>},
    {"madc[lo][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_lo, true, false>},
    {"madc[lo][cc][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_lo, true, true>},
    {"madc[hi][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_hi, true, false>},
    {"madc[hi][cc][%int32_64]", "d,a,b,c", Unit::fma, kCarry, select_carry<Op::mad_hi, true, true>},
};

}  // namespace

std::span<const InstrDef> carry_rows() { return kRows; }

}  // namespace ridge::vm
