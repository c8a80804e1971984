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
#include <thread>
#include <vector>

#include "vm/exec/dependence.h"
#include "vm/exec/observer.h"
#include "vm/report/host_place.h"

namespace ridge::vm::cudart {

using Clock = std::chrono::steady_clock;

struct Completion {
  bool done = false;       // guarded by the scheduler's mutex, as are the next three
  bool released = false;   // of a kernel: dependent launches may begin
  bool parked = false;     // of a dependent launch: it has come as far as it can without the others
  bool is_kernel = false;  // one launch
  Clock::time_point time;  // when it became done
  WorkOrderRef order;      // while somebody watches
  size_t node = ~size_t(0);  // of an event that a graph records: the node that does
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
    std::function<void(Dependence&)> kernel = {};  // instead of `work`
    std::vector<Ticket> after;
    Ticket ticket;
    // Of a dependent launch: kernels that must have been released. The stream's own is `behind`;
    // with it, the operation may begin while that one runs.
    std::vector<Ticket> prerequisites = {};
    Ticket behind = {};
  };
  std::deque<Operation> queue;
  Ticket last;                        // of the newest operation; null before the first
  std::vector<Ticket> released_only;  // kernels that it waits for so far only to be released
  Ticket last_kernel;
  UnfinishedKernel kernel;  // that one
  uint64_t submitted = 0;
  std::vector<Ticket> running;  // operations, in order; several where launches overlap
  unsigned threads = 0, at_work = 0;
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
  // The same for a kernel. `early`: a kernel that stands directly before it in the stream only has
  // to let it begin; and so do the `prerequisites`. With `order`, it is not a piece of work of its
  // own, but part of one that runs.
  struct KernelLaunch {
    std::function<void(Dependence&)> work;
    bool early = false;
    std::vector<Ticket> prerequisites = {};
    WorkOrderRef order = {};
  };
  Ticket submit(const StreamRef& stream, KernelLaunch launch);
  // The stream's next kernel begins when `kernel` lets it; all else waits for the end of `kernel`.
  void wait_for_release(const StreamRef& stream, const Ticket& kernel);
  // Runs kernels that are parts of the piece of work that this thread runs; each but the first is
  // early.
  void run_overlapping(std::vector<KernelLaunch> chain);
  // `submit`, and waits for it; runs on the calling thread when nothing is in the way.
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
  // The same without the host knowing of it, and not forever.
  void settle();
  void drain();  // the same, forever
  // The order of the work that the calling thread runs; null while nobody watches.
  static WorkOrderRef running();
  // The node of a graph that the calling thread runs, while somebody watches; and who watches hears
  // of it.
  static size_t running_node();
  static void begin_node(size_t node);
  // Says that the newest operation of the stream is a kernel.
  void note_kernel(const StreamRef& stream, const Ticket& ticket, const std::string& name);
  // The newest kernel of each stream that is not over; while somebody watches, each that the host
  // has not waited for, because that it is over is luck.
  std::vector<UnfinishedKernel> unfinished();
  // Whether more than one thread of the program has given work to streams.
  bool has_several_hosts();
  void abandon();  // the process is ending: no queued operation starts any more

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr size_t kQueueDepth = 1024;  // launches before the host has to wait
  std::vector<Ticket> implicit_waits(const Stream& stream) const;
  std::vector<Ticket> last_of_all() const;
  class Link;  // dependent_launch.cpp
  bool ready(const Stream::Operation& operation) const;
  bool may_begin(const Stream& stream) const;  // the first of its queue
  Ticket add_kernel(Lock& lock, const StreamRef& stream, KernelLaunch launch);
  Ticket add(Lock& lock, const StreamRef& stream, Stream::Operation operation);
  void run(const StreamRef& stream, Stream::Operation& operation);
  void finish(Lock& lock, const Ticket& ticket);
  static void tell(const Ticket& ticket);  // who watches, what this thread begins
  WorkOrderRef order_of(Stream& stream, const std::vector<Ticket>& after,
                        const std::vector<Ticket>& prerequisites = {});
  void host_knows(const Ticket& ticket);
  void note_host();  // of the calling thread
  void tell_host();  // who watches, what host_ is now
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
  std::thread::id host_thread_;  // the first that gave work to a stream
  bool has_several_hosts_ = false;
};

}  // namespace ridge::vm::cudart
