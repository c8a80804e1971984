// Programmatic dependent launch in streams: kernels that begin while the one before them still
// runs.
//
// Such a kernel begins when every block of its prerequisites has let it begin or has ended, on a
// thread of its own. It is done after they are. What it has to wait for is a ticket, as everywhere.
#include <algorithm>
#include <chrono>
#include <utility>

#include "vm/cudart/errors.h"
#include "vm/cudart/scheduler.h"

namespace ridge::vm::cudart {
namespace {

// Kernels of a stream that run at once. Beginning later is always allowed.
constexpr size_t kMostOverlapping = 4;
// How long a grid waits before it looks whether its blocks can go on after all.
constexpr auto kShortWhile = std::chrono::milliseconds(2);

}  // namespace

// One kernel between those before and behind it.
class Scheduler::Link : public Dependence {
 public:
  Link(Scheduler& scheduler, Stream& stream, const Stream::Operation& operation)
      : scheduler_(scheduler),
        stream_(stream),
        ticket_(operation.ticket),
        prerequisites_(operation.prerequisites) {}

  bool has_dependents() override {
    const Lock lock(scheduler_.mutex_);
    return dependent() || std::ranges::any_of(scheduler_.streams_, [&](const StreamRef& stream) {
             return !stream->queue.empty() && waits_for_this(stream->queue.front());
           });
  }

  void trigger(bool has_waited) override {
    using Trigger = WorkOrder::Trigger;
    if (!ticket_->order) return;
    Trigger old = Trigger::none;
    const auto now = has_waited ? Trigger::after_wait : Trigger::at_once;
    while (old < now && !ticket_->order->trigger.compare_exchange_weak(old, now)) {
    }
  }

  void release() override {
    Lock lock(scheduler_.mutex_);
    if (std::exchange(ticket_->released, true)) return;
    scheduler_.progress_.notify_all();
    const Ticket behind = dependent();
    if (!behind || !scheduler_.may_begin(stream_)) return;
    scheduler_.progress_.wait(
        lock, [&] { return behind->parked || behind->done || scheduler_.abandoned_; });
  }

  bool has_prerequisites() override {
    if (prerequisites_.empty()) return false;  // as most: they need no lock
    const Lock lock(scheduler_.mutex_);
    return !are_done();
  }
  bool wait() override {
    Lock lock(scheduler_.mutex_);
    return scheduler_.progress_.wait_for(lock, kShortWhile, [&] { return are_done(); });
  }
  void parks() override {
    const Lock lock(scheduler_.mutex_);
    if (std::exchange(ticket_->parked, true)) return;
    scheduler_.progress_.notify_all();
  }
  bool goes_on() override { return !sticky_error(); }

 private:
  // The launch that may begin when this one is released; null: none.
  Ticket dependent() const {
    return !stream_.queue.empty() && stream_.queue.front().behind == ticket_
               ? stream_.queue.front().ticket
               : nullptr;
  }
  bool waits_for_this(const Stream::Operation& operation) const {
    return std::ranges::find(operation.prerequisites, ticket_) != operation.prerequisites.end();
  }
  bool are_done() const {
    return std::ranges::all_of(prerequisites_, [](const Ticket& t) { return t->done; });
  }

  Scheduler& scheduler_;
  Stream& stream_;
  const Ticket& ticket_;  // the operation's, which lives longer
  const std::vector<Ticket>& prerequisites_;
};

bool Scheduler::may_begin(const Stream& stream) const {
  const Stream::Operation& first = stream.queue.front();
  if (abandoned_ || !ready(first)) return false;
  if (stream.running.empty()) return true;
  return first.behind && stream.running.back() == first.behind && first.behind->released &&
         stream.running.size() < kMostOverlapping;
}

Ticket Scheduler::submit(const StreamRef& stream, KernelLaunch launch) {
  Lock lock(mutex_);
  progress_.wait(lock, [&] { return stream->queue.size() < kQueueDepth; });
  return add_kernel(lock, stream, std::move(launch));
}

Ticket Scheduler::add_kernel(Lock& lock, const StreamRef& stream, KernelLaunch launch) {
  Ticket behind = launch.early && stream->last && stream->last->is_kernel ? stream->last : nullptr;
  // For who watches, that it is over counts only if the host has waited for it.
  if (behind &&
      (behind->order && !launch.order ? behind->order->number <= host_[behind->order->stream]
                                      : behind->done))
    behind = nullptr;
  if (behind) launch.prerequisites.push_back(behind);
  for (Ticket& kernel : std::exchange(stream->released_only, {}))
    launch.prerequisites.push_back(std::move(kernel));
  auto ticket = std::make_shared<Completion>();
  ticket->is_kernel = true;
  ticket->order =
      launch.order ? std::move(launch.order) : order_of(*stream, {}, launch.prerequisites);
  return add(lock, stream,
             {.work = {},
              .kernel = std::move(launch.work),
              .after = {},
              .ticket = ticket,
              .prerequisites = std::move(launch.prerequisites),
              .behind = behind});
}

void Scheduler::wait_for_release(const StreamRef& stream, const Ticket& kernel) {
  Lock lock(mutex_);
  progress_.wait(lock, [&] { return stream->queue.size() < kQueueDepth; });
  auto ticket = std::make_shared<Completion>();
  ticket->order = order_of(*stream, {kernel});
  stream->released_only.push_back(kernel);
  add(lock, stream, {.work = {}, .after = {}, .ticket = ticket, .prerequisites = {kernel}});
}

void Scheduler::run(const StreamRef& stream, Stream::Operation& operation) {
  if (operation.work || operation.kernel) tell(operation.ticket);
  if (operation.kernel) {
    Link link(*this, *stream, operation);
    operation.kernel(link);
    if (!operation.prerequisites.empty()) link.parks();  // whatever it did
  } else if (operation.work) {
    operation.work();
  }
  operation.work = nullptr;  // what they hold is released here, not under the lock
  operation.kernel = nullptr;
}

// On a stream that nobody else sees. All are there before the first begins.
void Scheduler::run_overlapping(std::vector<KernelLaunch> chain) {
  const auto stream = std::make_shared<Stream>();
  stream->kind = StreamKind::non_blocking;
  Lock lock(mutex_);
  for (KernelLaunch& launch : chain) add_kernel(lock, stream, std::move(launch));
  progress_.wait(lock, [&] { return stream->last->done; });
  stream->closed = true;
  stream->arrived.notify_all();
}

}  // namespace ridge::vm::cudart
