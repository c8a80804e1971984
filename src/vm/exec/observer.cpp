#include "vm/exec/observer.h"

#include <atomic>

namespace ridge::vm {
namespace {
std::atomic<Observer*> current{nullptr};
}

void set_observer(Observer* observer) { current = observer; }
Observer* observer() { return current; }

}  // namespace ridge::vm
