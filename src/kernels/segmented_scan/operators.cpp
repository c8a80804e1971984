#include "operator/description.h"

namespace ridge::segmented_scan {
namespace {

OperatorDef scan_of(const std::string& name, bool inclusive, bool by_key) {
  const std::string starts = by_key ? "each new key" : "each head";
  return {.name = name,
          .formula = std::string("out[i] = in[first] + ... + in[") + (inclusive ? "i" : "i - 1") +
                     "], starting again at " + starts,
          .dimensions = {{"n", "elements"}},
          .tensors = {{.name = "in",
                       .shape = "n",
                       .formats = {Dtype::i32, Dtype::i64, Dtype::f32},
                       .layout = Layout::contiguous},
                      {.name = by_key ? "keys" : "heads",
                       .shape = "n",
                       .formats = {by_key ? Dtype::i32 : Dtype::u8},
                       .layout = Layout::contiguous,
                       .meaning = by_key ? "a segment starts where one differs from the one before"
                                         : "a segment starts where one is not 0"},
                      {.name = "out",
                       .role = Role::out,
                       .shape = "n",
                       .like = "in",
                       .layout = Layout::contiguous,
                       .may_be = {"in"}}},
          .header = "ridge/scan.h",
          // How long segments are on average.
          .distributions = {"segments_of_1024", "segments_of_4", "segments_of_150",
                            "segments_of_4500", "one_segment"},
          .notes =
              "The first element starts a segment in any case. Integers wrap around. Sums of "
              "floats may differ in their last digits from run to run. A NaN stays to the end "
              "of its segment."};
}

}  // namespace

// variants.h knows the order.
Operators operators() {
  return {scan_of("inclusive_segmented_scan", true, false),
          scan_of("exclusive_segmented_scan", false, false),
          scan_of("inclusive_scan_by_key", true, true),
          scan_of("exclusive_scan_by_key", false, true)};
}

}  // namespace ridge::segmented_scan
