// Streams: a queue each, and a host thread each, started when the first work arrives that cannot be
// done at once.
//
// Everything that orders work is one thing, a Ticket: it is done when its operation is. A stream
// runs its operations in order; an operation may also wait for tickets of other streams. Events,
// the legacy stream's implicit synchronisation and graph edges are lists of such tickets. A ticket
// can only name work submitted earlier, so the waits form no cycle.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vm/exec/observer.h"
#include "vm/report/host_place.h"

namespace ridge::vm::cudart {

using Clock = std::chrono::steady_clock;

struct Completion {
  bool done = false;       // guarded by the scheduler's mutex
  Clock::time_point time;  // when it became done
  WorkOrderRef order;      // while somebody watches
};

// A kernel that the host has not waited for.
struct UnfinishedKernel {
  std::string name;
  report::HostCall call;  // that launched it; known while somebody watches
};
using Ticket = std::shared_ptr<Completion>;

struct StreamCapture;     // capture.h
struct StreamAttributes;  // streams.cpp

enum class StreamKind : uint8_t { legacy, blocking, non_blocking };

struct Stream {
  StreamKind kind = StreamKind::blocking;
  uint32_t flags = 0;
  int priority = 0;
  uint64_t id = 0;
  std::shared_ptr<StreamCapture> capture;        // null while not capturing; capture.cpp guards it
  std::shared_ptr<StreamAttributes> attributes;  // null until one is set; streams.cpp guards it

 private:
  friend class Scheduler;
  struct Operation {
    std::function<void()> work;
    std::vector<Ticket> after;
    Ticket ticket;
  };
  std::deque<Operation> queue;
  Ticket last;  // of the newest operation; null before the first
  Ticket last_kernel;
  UnfinishedKernel kernel;  // that one
  uint64_t submitted = 0;
  bool busy = false;  // an operation of this stream is running
  bool has_thread = false;
  bool closed = false;  // its thread ends when the queue is empty
  std::condition_variable arrived;
};
using StreamRef = std::shared_ptr<Stream>;

class Scheduler {
 public:
  Scheduler();
  Scheduler(const Scheduler&) = delete;

  const StreamRef& legacy() const { return legacy_; }
  StreamRef create(StreamKind kind, uint32_t flags, int priority);
  void close(const StreamRef& stream);  // its submitted work still runs

  // Queues `work` (which may be empty: a marker) behind the stream's earlier work and `after`.
  // Blocks while the queue is full, as a device's does.
  Ticket submit(const StreamRef& stream, std::function<void()> work,
                std::vector<Ticket> after = {});
  // The same, and waits for it; runs on the calling thread when nothing is in the way.
  void run_now(const StreamRef& stream, const std::function<void()>& work);

  Ticket last(const StreamRef& stream);
  bool done(const Ticket& ticket);  // a null ticket is done
  Clock::time_point time(const Ticket& ticket);
  void wait(const Ticket& ticket);
  // A stream's own work; for the legacy stream that of all blocking ones, too.
  bool idle(const StreamRef& stream);
  void wait(const StreamRef& stream);
  bool all_idle();
  void wait_all();
  // The order of the work that the calling thread runs; null while nobody watches.
  static WorkOrderRef running();
  // Says that the newest operation of the stream is a kernel.
  void note_kernel(const StreamRef& stream, const Ticket& ticket, const std::string& name);
  // The newest kernel of each stream that is not over; while somebody watches, each that the host
  // has not waited for, because that it is over is luck.
  std::vector<UnfinishedKernel> unfinished();
  void abandon();  // the process is ending: no queued operation starts any more

 private:
  using Lock = std::unique_lock<std::mutex>;
  std::vector<Ticket> implicit_waits(const Stream& stream) const;
  std::vector<Ticket> last_of_all() const;
  bool ready(const Stream::Operation& operation) const;
  void finish(Lock& lock, const Ticket& ticket);
  WorkOrderRef order_of(Stream& stream, const std::vector<Ticket>& after);
  void host_knows(const Ticket& ticket);
  void start_thread(const StreamRef& stream);
  void run_stream(const StreamRef& stream);

  std::mutex mutex_;
  std::condition_variable progress_;  // some ticket became done
  StreamRef legacy_;
  std::vector<StreamRef> streams_;  // all but the legacy one, until closed
  std::vector<StreamRef> closing_;  // closed, with work still to do
  uint64_t next_id_ = 1;
  // While somebody watches: what the host has waited for, and what closed streams have done.
  std::map<uint64_t, uint64_t> host_, closed_;
  bool abandoned_ = false;
};

}  // namespace ridge::vm::cudart
