#include "vm/isa/fragment.h"

#include <charconv>

namespace ridge::vm {
namespace {

constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8",
                                       "u8",  "s4",   "u4",   "b1",  "f32",  "s32"};

// "m16n8k16"
bool read_shape(std::string_view text, TensorForm& form) {
  uint32_t* const sizes[] = {&form.m, &form.n, &form.k};
  for (int i = 0; i < 3; ++i) {
    if (text.empty() || text.front() != "mnk"[i]) return false;
    const auto [end, error] =
        std::from_chars(text.data() + 1, text.data() + text.size(), *sizes[i]);
    if (error != std::errc()) return false;
    text.remove_prefix(size_t(end - text.data()));
  }
  return text.empty();
}

}  // namespace

std::optional<Element> element_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return Element(i);
  return std::nullopt;
}

std::optional<TensorForm> tensor_form(const Form& form) {
  TensorForm t;
  Element types[4];
  int count = 0;
  bool shaped = false;
  for (std::string_view modifier : form.modifiers) {
    if (const auto e = element_from_name(modifier)) {
      if (count == 4) return std::nullopt;
      types[count++] = *e;
    } else {
      shaped = shaped || read_shape(modifier, t);
    }
  }
  if (!shaped || count == 0) return std::nullopt;
  t.d = types[0];
  t.c = types[count == 3 ? 0 : count - 1];
  if (count >= 3) {
    t.a = types[1];
    t.b = types[2];
  } else if (count == 1) {
    t.a = t.b = types[0];
  }
  return t;
}

bool whole_warp_slow(Warp& w, const Inst* inst) {
  static constexpr auto kEveryLane = [] {
    std::array<uint32_t, kWarpSize> lanes{};
    lanes.fill(kAllLanes);
    return lanes;
  }();
  if (!gather_lanes(w, inst, kEveryLane.data())) return false;
  if (w.mask == kAllLanes) return true;
  raise(w, inst, FaultKind::illegal_instruction, uint32_t(__builtin_ctz(w.mask)), 0, 0,
        "this instruction needs all 32 threads of the warp, and some have exited or are elsewhere");
  return false;
}

}  // namespace ridge::vm
