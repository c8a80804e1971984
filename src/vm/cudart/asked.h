// Tells those who follow the host what it asks of streams.
#pragma once

#include <vector>

#include "vm/cudart/copy.h"
#include "vm/cudart/graph/exec.h"
#include "vm/cudart/work.h"
#include "vm/exec/observer.h"

namespace ridge::vm::cudart {

Observer::Asked asked_of(const Work& work);
// The nodes in the order of the steps, though a step may run several times or never.
Observer::Asked asked_of(const std::vector<GraphExec::Step>& steps);

// `what`: a piece of work or steps, which are looked at only if somebody follows the host.
template <class What>
void tell_asked(const WorkOrderRef& order, const What& what) {
  Observer* const watching = observer();
  if (watching && order && watching->follows_host()) watching->asked(order, asked_of(what));
}
// An event's record, or a wait for one.
void tell_asked(const WorkOrderRef& order, Observer::Asked::Kind kind);

}  // namespace ridge::vm::cudart
