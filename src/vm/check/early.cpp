#include "vm/check/early.h"

#include <algorithm>

#include "vm/check/checker.h"
#include "vm/report/sink.h"

namespace ridge::vm::check {
namespace {

constexpr uint64_t kHostPage = 4096;
constexpr size_t kMostUndecided = 4096;

}  // namespace

bool EarlyAccesses::is_over(const WorkOrder& order) const {
  const auto known = host_.find(order.stream);
  return known != host_.end() && order.number <= known->second;
}

void EarlyAccesses::guard(uint64_t begin, uint64_t end) {
  using Guard = Allocations::Guard;
  memory_->guard(begin, end, Guard::open);
  for (const bool writes : {false, true})  // what work writes is closed, whoever reads it, too
    for (const Pending& p : pending_)
      if (p.use.writes == writes && p.use.begin < end && p.use.end > begin)
        memory_->guard(std::max(begin, p.use.begin), std::min(end, p.use.end),
                       writes ? Guard::shut : Guard::read_only);
}

void EarlyAccesses::submitted(const WorkOrderRef& order, const Allocations& memory,
                              const std::vector<Observer::Use>& uses) {
  const std::lock_guard lock(mutex_);
  memory_ = &memory;
  if (is_over(*order)) return;
  for (const Observer::Use& use : uses) {
    pending_.push_back({order, use});
    guard(use.begin, use.end);
  }
}

void EarlyAccesses::host_waited(const std::map<uint64_t, uint64_t>& host) {
  const std::lock_guard lock(mutex_);
  host_ = host;
  if (pending_.empty()) return;
  std::erase_if(undecided_,
                [&](const Early& early) { return is_over(*early.order) && (judge_(early), true); });
  std::vector<Observer::Use> over;
  std::erase_if(pending_, [&](const Pending& p) {
    if (!is_over(*p.order)) return false;
    over.push_back(p.use);
    return true;
  });
  for (const Observer::Use& use : over) guard(use.begin, use.end);
}

bool EarlyAccesses::touches(const Observer::HostAccess& access) {
  const std::lock_guard lock(mutex_);
  if (!memory_ || !memory_->is_watched(access.address)) return false;
  for (const Pending& p : pending_) {
    const Observer::Use& use = p.use;
    if (access.address < use.begin || access.address >= use.end) continue;
    if (!use.writes && !access.writes) continue;
    if (access.inside && p.order->is_before(*access.inside)) continue;  // a host function behind it
    const Early early{access, report::host_call_at(access.instruction), p.order, use.call};
    if (!judge_(early) && !early.by && undecided_.size() < kMostUndecided)
      undecided_.push_back(early);
  }
  const uint64_t page = access.address / kHostPage * kHostPage;
  memory_->guard(page, page + kHostPage, Allocations::Guard::open);
  return true;
}

// --- the checker's part ---

void Checker::submitted(const WorkOrderRef& order, const Allocations& memory,
                        const std::vector<Use>& uses) {
  early_.submitted(order, memory, uses);
}
void Checker::host_waited(const std::map<uint64_t, uint64_t>& host) { early_.host_waited(host); }
bool Checker::host_touches(const HostAccess& access) { return early_.touches(access); }

// The work's last access to the word, if it cannot be without the other: one of the two writes.
// Work that speaks to a running host, by volatile accesses or fences of the system, may have told
// it that it is done with the word.
std::optional<SiteInfo> Checker::kernel_access(const EarlyAccesses::Early& early) {
  const Allocations* memory = memory_.load();
  const RangeRef range = memory ? shadow_.find(*memory, early.access.address) : nullptr;
  if (!range) return std::nullopt;
  const uint64_t word = early.access.address & ~3ull;
  const Cell& cell = range->page(word).cells[Range::word(word)];
  for (const bool wrote : {true, false}) {
    const Record record = get(wrote ? cell.write : cell.read);
    if (!record.bits || record.segment() == Record::kNotOver || (!wrote && !early.access.writes))
      continue;
    const std::lock_guard lock(mutex_);
    const uint32_t launch =
        segments_.holds(record.segment()) ? segments_[record.segment()].launch : 0;
    if (launch >= orders_.size() || orders_[launch] != early.order) continue;
    const SiteInfo info = sites_.info(record.site());
    if (!info.speaks_to_host) return info;
  }
  return std::nullopt;
}

bool Checker::judge_early(const EarlyAccesses::Early& early) {
  report::Finding f;
  f.kind = "early-host-access";
  f.second.act = early.access.writes ? "write" : "read";
  f.second.who = "the host";
  f.address = early.access.address;
  const std::string does = early.access.writes ? "writes" : "reads";
  const auto home = memory_.load() ? memory_.load()->find(early.access.address) : std::nullopt;
  const std::string what = home && home->kind == MemKind::pinned ? "pinned" : "managed";
  if (home)
    f.memory = "allocation #" + std::to_string(home->id) + " of " + std::to_string(home->size) +
               " bytes, byte " + std::to_string(early.access.address - home->base);
  if (early.by) {
    f.message = "the host " + does + " " + what + " memory that a " + early.by +
                " uses, and has not waited for it";
  } else {
    const auto kernel = kernel_access(early);
    if (!kernel) return false;
    f.kernel = report::function_name(kernel->kernel);
    f.first = {kernel->act == Act::load ? "read" : "write", "a kernel",
               report::Place{.file = kernel->file,
                             .line = kernel->line,
                             .column = kernel->column,
                             .function = {},
                             .inside = kernel->inside,
                             .ptx_line = kernel->ptx_line,
                             .instruction = kernel->mnemonic}};
    f.message = "the host " + does + " " + what + " memory that kernel " + f.kernel +
                " uses, and has not waited for it";
  }
  f.second.place = report::host_place(early.call);
  f.fix =
      "wait first: cudaDeviceSynchronize(), or cudaStreamSynchronize or cudaEventSynchronize for "
      "the stream that does it";
  report::tell(f);
  return true;
}

}  // namespace ridge::vm::check
