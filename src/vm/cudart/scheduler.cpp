#include "vm/cudart/scheduler.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace ridge::vm::cudart {
namespace {

constexpr size_t kMostRunning = 8;             // more than kernels that overlap
using Numbers = std::map<uint64_t, uint64_t>;  // by stream

void merge(Numbers& to, const Numbers& from) {
  for (const auto& [stream, number] : from) to[stream] = std::max(to[stream], number);
}
void merge(Numbers& to, const Ticket& ticket) {
  if (!ticket || !ticket->order) return;
  merge(to, ticket->order->after);
  uint64_t& number = to[ticket->order->stream];
  number = std::max(number, ticket->order->number);
}

// Touched only while somebody observes: its first use on a thread takes memory, and there is no way
// to say that there is none.
thread_local WorkOrderRef running_order;
thread_local size_t running_node_number = ~size_t(0);

}  // namespace

void Scheduler::tell(const Ticket& ticket) {
  Observer* const watching = observer();
  if (!watching) return;
  running_order = ticket->order;
  running_node_number = ~size_t(0);
  watching->work_begins(ticket->order);
}

WorkOrderRef Scheduler::running() { return observer() ? running_order : nullptr; }

size_t Scheduler::running_node() { return observer() ? running_node_number : ~size_t(0); }

void Scheduler::begin_node(size_t node) {
  Observer* const watching = observer();
  if (!watching) return;
  running_node_number = node;
  watching->node_begins(node);
}

// Work that is done is ordered before other work only if somebody has waited for it.
WorkOrderRef Scheduler::order_of(Stream& stream, const std::vector<Ticket>& after,
                                 const std::vector<Ticket>& prerequisites) {
  if (!observer()) return nullptr;
  auto order = std::make_shared<WorkOrder>();
  order->stream = stream.id;
  order->number = ++stream.submitted;
  order->alone = streams_.empty() && closing_.empty();
  order->after = host_;
  merge(order->after, stream.last);
  for (const Ticket& ticket : after) merge(order->after, ticket);
  for (const Ticket& ticket : prerequisites) {
    merge(order->after, ticket);
    order->prerequisites.push_back(ticket->order);
    order->alone = false;
  }
  if (stream.kind == StreamKind::blocking) merge(order->after, legacy_->last);
  if (stream.kind == StreamKind::legacy) {
    merge(order->after, closed_);
    for (const auto* list : {&streams_, &closing_})
      for (const StreamRef& other : *list)
        if (other->kind == StreamKind::blocking) merge(order->after, other->last);
  }
  return order;
}

void Scheduler::host_knows(const Ticket& ticket) {
  if (!ticket || !ticket->order) return;
  merge(host_, ticket);
  tell_host();
}

void Scheduler::tell_host() {
  if (Observer* watching = observer()) watching->host_waited(host_);
}

Scheduler::Scheduler() : legacy_(std::make_shared<Stream>()) { legacy_->kind = StreamKind::legacy; }

StreamRef Scheduler::create(StreamKind kind, uint32_t flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->kind = kind;
  stream->flags = flags;
  stream->priority = priority;
  const Lock lock(mutex_);
  stream->id = next_id_++;
  streams_.push_back(stream);
  return stream;
}

void Scheduler::close(const StreamRef& stream) {
  const Lock lock(mutex_);
  std::erase_if(closing_, [](const StreamRef& other) { return other->last->done; });
  if (stream->last && !stream->last->done) closing_.push_back(stream);
  if (stream->kind == StreamKind::blocking) merge(closed_, stream->last);
  std::erase(streams_, stream);
  stream->closed = true;
  stream->arrived.notify_all();
}

// The legacy stream and the blocking streams order themselves against each other; non-blocking
// streams stay out of it.
std::vector<Ticket> Scheduler::implicit_waits(const Stream& stream) const {
  std::vector<Ticket> waits;
  const auto add = [&](const Ticket& ticket) {
    if (ticket && !ticket->done) waits.push_back(ticket);
  };
  if (stream.kind == StreamKind::blocking) add(legacy_->last);
  if (stream.kind != StreamKind::legacy) return waits;
  for (const auto* list : {&streams_, &closing_})
    for (const StreamRef& other : *list)
      if (other->kind == StreamKind::blocking) add(other->last);
  return waits;
}

bool Scheduler::ready(const Stream::Operation& operation) const {
  return std::ranges::all_of(operation.after,
                             [](const Ticket& ticket) { return !ticket || ticket->done; }) &&
         std::ranges::all_of(operation.prerequisites,
                             [](const Ticket& ticket) { return ticket->released; });
}

void Scheduler::finish(Lock&, const Ticket& ticket) {
  ticket->done = ticket->released = true;
  ticket->time = Clock::now();
  progress_.notify_all();
}

Ticket Scheduler::submit(const StreamRef& stream, std::function<void()> work,
                         std::vector<Ticket> after) {
  Lock lock(mutex_);
  progress_.wait(lock, [&] { return stream->queue.size() < kQueueDepth; });
  auto ticket = std::make_shared<Completion>();
  after.insert(after.end(), stream->released_only.begin(), stream->released_only.end());
  stream->released_only.clear();
  ticket->order = order_of(*stream, after);
  return add(lock, stream, {.work = std::move(work), .after = std::move(after), .ticket = ticket});
}

bool Scheduler::has_several_hosts() {
  const Lock lock(mutex_);
  note_host();
  return has_several_hosts_;
}

void Scheduler::note_host() {
  const std::thread::id self = std::this_thread::get_id();
  if (host_thread_ == std::thread::id()) host_thread_ = self;
  has_several_hosts_ |= host_thread_ != self;
}

Ticket Scheduler::add(Lock& lock, const StreamRef& stream, Stream::Operation operation) {
  note_host();
  const Ticket ticket = operation.ticket;
  const std::vector<Ticket> implicit = implicit_waits(*stream);
  operation.after.insert(operation.after.end(), implicit.begin(), implicit.end());
  const bool empty = !operation.work && !operation.kernel;
  if (empty && stream->queue.empty() && stream->running.empty() && ready(operation)) {
    stream->last = ticket;
    finish(lock, ticket);
    return ticket;
  }
  if (!stream->threads || (operation.behind && stream->at_work == stream->threads))
    start_thread(stream);
  stream->queue.push_back(std::move(operation));
  stream->last = ticket;  // what can fail has not
  stream->arrived.notify_all();
  return ticket;
}

void Scheduler::run_now(const StreamRef& stream, const std::function<void()>& work) {
  Lock lock(mutex_);
  note_host();
  const Stream::Operation operation{.work = {}, .after = implicit_waits(*stream), .ticket = {}};
  if (!stream->released_only.empty() || !stream->queue.empty() || !stream->running.empty() ||
      !ready(operation)) {
    lock.unlock();
    wait(submit(stream, work));
    return;
  }
  const auto ticket = std::make_shared<Completion>();
  ticket->order = order_of(*stream, {});
  stream->running.reserve(kMostRunning);  // what can fail comes first
  stream->last = ticket;
  stream->running.push_back(ticket);
  lock.unlock();
  struct Finish {  // whatever `work` does
    Scheduler& scheduler;
    Stream& stream;
    const Ticket& ticket;
    ~Finish() {
      Lock lock(scheduler.mutex_);
      std::erase(stream.running, ticket);
      scheduler.finish(lock, ticket);
      scheduler.host_knows(ticket);
    }
  } const finish{*this, *stream, ticket};
  tell(ticket);
  work();
}

Ticket Scheduler::last(const StreamRef& stream) {
  const Lock lock(mutex_);
  return stream->last;
}

bool Scheduler::done(const Ticket& ticket) {
  const Lock lock(mutex_);
  if (ticket && !ticket->done) return false;
  host_knows(ticket);
  return true;
}

Clock::time_point Scheduler::time(const Ticket& ticket) {
  const Lock lock(mutex_);
  return ticket->time;
}

void Scheduler::wait(const Ticket& ticket) {
  Lock lock(mutex_);
  progress_.wait(lock, [&] { return !ticket || ticket->done; });
  host_knows(ticket);
}

bool Scheduler::idle(const StreamRef& stream) {
  const Lock lock(mutex_);
  if (stream->last && !stream->last->done) return false;
  host_knows(stream->last);
  return stream->kind != StreamKind::legacy || implicit_waits(*stream).empty();
}

void Scheduler::wait(const StreamRef& stream) {
  Lock lock(mutex_);
  std::vector<Ticket> all = {stream->last};
  if (stream->kind == StreamKind::legacy)
    std::ranges::copy(implicit_waits(*stream), std::back_inserter(all));
  if (stream->kind == StreamKind::legacy && observer()) {  // those that are done, too
    merge(host_, closed_);
    for (const auto* list : {&streams_, &closing_})
      for (const StreamRef& other : *list)
        if (other->kind == StreamKind::blocking) all.push_back(other->last);
  }
  for (const Ticket& ticket : all) {
    progress_.wait(lock, [&] { return !ticket || ticket->done; });
    host_knows(ticket);
  }
}

std::vector<Ticket> Scheduler::last_of_all() const {
  std::vector<Ticket> all = {legacy_->last};
  for (const auto* list : {&streams_, &closing_})
    for (const StreamRef& stream : *list) all.push_back(stream->last);
  return all;
}

bool Scheduler::all_idle() {
  const Lock lock(mutex_);
  return std::ranges::all_of(last_of_all(),
                             [](const Ticket& ticket) { return !ticket || ticket->done; });
}

void Scheduler::wait_all() {
  Lock lock(mutex_);
  for (const Ticket& ticket : last_of_all()) {
    progress_.wait(lock, [&] { return !ticket || ticket->done; });
    host_knows(ticket);
  }
  merge(host_, closed_);
  tell_host();
}

void Scheduler::settle() {
  constexpr auto kPatience = std::chrono::seconds(2);  // a kernel may wait for the host
  Lock lock(mutex_);
  progress_.wait_for(lock, kPatience, [&] {
    return std::ranges::all_of(last_of_all(),
                               [](const Ticket& ticket) { return !ticket || ticket->done; });
  });
}

void Scheduler::drain() {
  Lock lock(mutex_);
  for (const Ticket& ticket : last_of_all())
    progress_.wait(lock, [&] { return !ticket || ticket->done; });
}

void Scheduler::note_kernel(const StreamRef& stream, const Ticket& ticket,
                            const std::string& name) {
  Observer* const watching = observer();
  const bool wants_call = watching && watching->wants_host_calls();
  UnfinishedKernel kernel{name, wants_call ? report::host_call() : report::HostCall{}};
  const Lock lock(mutex_);
  stream->last_kernel = ticket;
  stream->kernel = std::move(kernel);
}

std::vector<UnfinishedKernel> Scheduler::unfinished() {
  const Lock lock(mutex_);
  std::vector<StreamRef> all = {legacy_};
  for (const auto* list : {&streams_, &closing_}) all.insert(all.end(), list->begin(), list->end());
  std::vector<UnfinishedKernel> found;
  for (const StreamRef& stream : all) {
    const Ticket& ticket = stream->last_kernel;
    if (!ticket) continue;
    const bool waited_for =
        ticket->order ? ticket->order->number <= host_[ticket->order->stream] : ticket->done;
    if (!waited_for) found.push_back(stream->kernel);
  }
  return found;
}

void Scheduler::abandon() {
  const Lock lock(mutex_);
  abandoned_ = true;
}

void Scheduler::start_thread(const StreamRef& stream) {
  stream->running.reserve(kMostRunning);
  std::thread([this, stream] { run_stream(stream); }).detach();  // this object is never destroyed
  ++stream->threads;
}

// One thread runs all operations of a stream, unless launches overlap.
void Scheduler::run_stream(const StreamRef& stream) {
  Lock lock(mutex_);
  while (true) {
    stream->arrived.wait(lock, [&] { return !stream->queue.empty() || stream->closed; });
    if (stream->queue.empty()) break;
    progress_.wait(lock, [&] { return stream->queue.empty() || may_begin(*stream); });
    if (stream->queue.empty()) continue;  // another thread has taken it
    Stream::Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->running.push_back(operation.ticket);
    ++stream->at_work;
    if (!stream->queue.empty() && stream->queue.front().behind &&
        stream->at_work == stream->threads)
      try {
        start_thread(stream);
      } catch (const std::exception&) {  // then the next one begins later
      }
    lock.unlock();
    run(stream, operation);
    lock.lock();
    // In order: what follows relies on all that was before.
    progress_.wait(lock, [&] { return stream->running.front() == operation.ticket; });
    stream->running.erase(stream->running.begin());
    --stream->at_work;
    finish(lock, operation.ticket);
  }
  --stream->threads;
}

}  // namespace ridge::vm::cudart
