#include "profile/model.h"

#include <fmt/format.h>

namespace ridge::tools::profile {

const std::array<CounterName, 16> kCounterNames = {{
    {"warps", &Counters::warps},
    {"threads", &Counters::threads},
    {"requests", &Counters::requests},
    {"sectors", &Counters::sectors},
    {"lines", &Counters::lines},
    {"bytes_used", &Counters::bytes_used},
    {"shared_requests", &Counters::shared_requests},
    {"wavefronts", &Counters::wavefronts},
    {"ideal_wavefronts", &Counters::ideal_wavefronts},
    {"conflicts", &Counters::conflicts},
    {"probes", &Counters::probes},
    {"switched_off", &Counters::switched_off},
    {"fillers", &Counters::fillers},
    {"branches", &Counters::branches},
    {"divergent", &Counters::divergent},
    {"barriers", &Counters::barriers},
}};

Counters& Counters::operator+=(const Counters& other) {
  for (const CounterName& counter : kCounterNames) this->*counter.field += other.*counter.field;
  return *this;
}

const char* noun_of(Action action) {
  switch (action) {
    case Action::load: return "loads";
    case Action::store: return "stores";
    case Action::reduction: return "reductions";
    case Action::atomic: return "atomics";
    case Action::copy: return "copies";
  }
  return "";
}

std::string to_string(const Size& size) {
  if (size.z > 1) return fmt::format("{}×{}×{}", size.x, size.y, size.z);
  if (size.y > 1) return fmt::format("{}×{}", size.x, size.y);
  return fmt::format("{}", size.x);
}

}  // namespace ridge::tools::profile
