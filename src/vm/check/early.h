// The host's own accesses to pinned and managed memory that work of a stream may still use.
//
// What work was given may use is closed to the host, page by page, until the host has waited for
// it. An access in between comes here. A copy's target or source is known, so that such an access
// is judged at once. Whether a kernel has touched the word is looked up in the shadow memory, when
// the host comes and again when it has waited for the kernel. Then the page is open until the next
// work that may use it.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "vm/exec/observer.h"
#include "vm/mem/allocations.h"
#include "vm/report/host_place.h"

namespace ridge::vm::check {

class EarlyAccesses {
 public:
  struct Early {
    Observer::HostAccess access;
    report::HostCall call;
    WorkOrderRef order;  // of the work that the host has not waited for
    const char* by;      // "cudaMemcpyAsync"; none: a kernel
  };
  // For a kernel: true if it has touched the place, which is reported then. For a copy: reports it.
  using Judge = std::function<bool(const Early&)>;
  explicit EarlyAccesses(Judge judge) : judge_(std::move(judge)) {}

  void submitted(const WorkOrderRef& order, const Allocations& memory,
                 const std::vector<Observer::Use>& uses);
  void host_waited(const std::map<uint64_t, uint64_t>& host);
  bool touches(const Observer::HostAccess& access);

 private:
  struct Pending {
    WorkOrderRef order;
    Observer::Use use;
  };
  bool is_over(const WorkOrder& order) const;  // the host has waited for it
  void guard(uint64_t begin, uint64_t end);    // as the pending uses want it

  const Judge judge_;
  std::mutex mutex_;
  const Allocations* memory_ = nullptr;
  std::vector<Pending> pending_;
  std::map<uint64_t, uint64_t> host_;  // by stream: up to where the host has waited
  std::vector<Early> undecided_;       // the kernel may still come to the place
};

}  // namespace ridge::vm::check
