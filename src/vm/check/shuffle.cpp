// A shuffle that reads a lane which does not take part in it gets a value that means nothing.
#include "vm/isa/shuffle.h"
#include "vm/check/checker.h"
#include "vm/report/finding.h"

namespace ridge::vm::check {

// Called when all lanes that the masks name have come, or are gone. A lane may read itself, and one
// whose source lies outside its segment does.
void Checker::on_shuffle(const Access& a, const uint32_t* members) {
  const Warp& w = a.w;
  const auto mode = Shuffle(a.s.shuffle - 1);
  const uint32_t* amount = w.src<uint32_t>(a.inst->b);
  const uint32_t* clamp = w.src<uint32_t>(a.inst->c);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const int from = shuffle_source(mode, lane, amount[lane], clamp[lane]).lane;
    if (from == lane) continue;
    const char* why = !(w.present >> from & 1)       ? "which the block does not have"
                      : w.exited >> from & 1         ? "which has left the kernel"
                      : !(members[lane] >> from & 1) ? "which its mask leaves out"
                                                     : nullptr;
    if (!why) continue;
    report_shuffle(a, uint32_t(lane), uint32_t(from), why);
    return;
  }
}

void Checker::report_shuffle(const Access& a, uint32_t lane, uint32_t from, const char* why) {
  if (!findings_.is_new("mask", 0, a.s.id)) return;
  Finding f;
  f.kind = "mask";
  f.kernel = kernel_name(*a.w.worker->grid);
  f.second = {a.s.id, "shuffle", thread_name(a, a.base + lane)};
  f.what = "lane " + std::to_string(lane) + " reads lane " + std::to_string(from) + ", " + why +
           ": the value means nothing";
  f.fix =
      "let all lanes of the mask reach the shuffle (a thread without work contributes a neutral "
      "value), or read only lanes that take part";
  findings_.add(f);
}

std::string Checker::thread_name(const Access& a, uint32_t thread) const {
  const GridRun& grid = *a.w.worker->grid;
  const Dim3& n = grid.launch->block;
  const uint32_t at[3] = {thread % n.x, thread / n.x % n.y, thread / n.x / n.y};
  return report::thread_name(at, a.w.block->ctaid);
}

}  // namespace ridge::vm::check
