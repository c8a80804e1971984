// How long a list of works takes, as our harness would measure it (src/harness/timing.cpp).
#pragma once

#include <vector>

#include "model/timeline.h"

namespace ridge::model {

// µs between two events in stream `stream` around the works. `flushed` bytes are filled before the
// first event, so that the L2 is cold; meanwhile the host asks for what comes next.
double between_events_us(const std::vector<Task>& works, const Figures& figures, double flushed,
                         uint64_t stream = 0);

// Whether a capture can hold them: the host waits for none of them.
bool can_capture(const std::vector<Task>& works);

// µs per launch of the works if a graph holds them so often, one behind the other.
double per_graph_launch_us(const std::vector<Task>& works, const Figures& figures, double flushed,
                           int launches = 32);

}  // namespace ridge::model
