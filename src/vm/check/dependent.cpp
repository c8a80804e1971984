// Programmatic dependent launch: a kernel that touches what the kernel before it uses, and has not
// waited for it.
//
// A dependent launch is ordered behind its prerequisites where it has executed griddepcontrol.wait,
// or has learnt from a warp that has. Before that, nothing of theirs is ordered, not even what they
// did before they let it begin. A prerequisite that never executes griddepcontrol.launch_dependents
// is an ordinary one: all of it comes before.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/check/say.h"

namespace ridge::vm::check {
namespace {

std::string line_text(const SiteInfo& info) {
  return info.file.empty() ? say("PTX line ", info.ptx_line) : say("line ", info.line);
}

}  // namespace

void Checker::on_grid_wait(const Access& a) {
  if (std::ranges::find(a.b.grid_waits, a.w.index, &BlockState::GridWait::warp) !=
      a.b.grid_waits.end())
    return;
  a.b.grid_waits.push_back({a.w.index, a.b.interval, a.ws.tick});
  a.b.launch->waited = true;
  a.ws.segment = 0;  // what the warp does from now on is not what it did before
  ++a.ws.tick;
}

bool Checker::has_waited(const Access& a) const {
  const BlockState& b = a.b;
  if (a.ws.clock && b.launch->waited) return true;  // another block may have told it
  return std::ranges::any_of(b.grid_waits, [&](const BlockState::GridWait& wait) {
    return wait.warp == a.w.index || wait.interval < b.interval ||
           (!b.known.empty() && b.known[a.w.index * b.warps.size() + wait.warp] > wait.tick);
  });
}

bool Checker::may_overlap(uint32_t launch, uint32_t other) {
  const std::lock_guard lock(mutex_);
  const WorkOrderRef &a = orders_[launch], &b = orders_[other];
  return a && b && (a->may_overlap(*b) || b->may_overlap(*a));
}

void Checker::report_dependent(const Access& a, const Word& word, Record other, bool other_writes,
                               bool writes) {
  const uint32_t then = segments_[other.segment()].launch;
  bool is_dependent = false;  // this access is the dependent launch's, and not the prerequisite's
  {
    const std::lock_guard lock(mutex_);
    is_dependent = orders_[then]->may_overlap(*orders_[a.b.launch->id]);
  }
  const uint32_t early = is_dependent ? a.s.id : other.site();
  const uint32_t late = is_dependent ? other.site() : a.s.id;
  if (!findings_.is_new("dependent-launch", late, early)) return;
  const bool early_writes = is_dependent ? writes : other_writes;
  const bool late_writes = is_dependent ? other_writes : writes;
  const SiteInfo at_early = sites_.info(early), at_late = sites_.info(late);
  const std::string dependent = report::function_name(at_early.kernel);
  const std::string before = report::function_name(at_late.kernel);
  Finding f;
  f.kind = "dependent-launch";
  f.space = "global";
  f.kernel = dependent;
  f.first = {late, late_writes ? "write" : "read", "kernel " + before};
  f.second = {early, early_writes ? "write" : "read",
              is_dependent ? thread_name(a, word.thread) : "kernel " + dependent};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.what =
      say("kernel ", dependent, early_writes ? " writes" : " reads", " what kernel ", before,
          late_writes ? " writes" : " reads", ", and has not waited for it: ", dependent,
          " was launched as its dependent, and ", before, " lets it begin before it has ended");
  f.fix =
      say("put cudaGridDependencySynchronize() (griddepcontrol.wait) before ", line_text(at_early));
  f.fix_kind = "grid-wait";
  if (!at_early.file.empty())
    f.edits.push_back({at_early.file, at_early.line, {}, "cudaGridDependencySynchronize();"});
  f.scope = "launches";
  findings_.add(f);
}

}  // namespace ridge::vm::check
