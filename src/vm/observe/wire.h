// Words of the profile's JSON that its writer and its readers share.
#pragma once

#include <cstdint>

namespace ridge::vm::observe {

enum class Reach : uint8_t { none, global, shared, local };
enum class Action : uint8_t { load, store, reduction, atomic, copy };

constexpr const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::global: return "global";
    case Reach::shared: return "shared";
    case Reach::local: return "local";
    case Reach::none: break;
  }
  return "";
}
constexpr const char* name_of(Action action) {
  switch (action) {
    case Action::load: return "ld";
    case Action::store: return "st";
    case Action::reduction: return "red";
    case Action::atomic: return "atom";
    case Action::copy: return "copy";
  }
  return "";
}

}  // namespace ridge::vm::observe
