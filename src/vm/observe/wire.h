// Words of the profile's JSON that its writer and its readers share.
#pragma once

#include <cstdint>

namespace ridge::vm::observe {

// `bulk` is global memory by way of the copy engine, `cluster` shared memory of other blocks.
enum class Reach : uint8_t { none, global, shared, local, bulk, cluster, texture, surface };
// `operand`: what a product of matrices reads.
enum class Action : uint8_t { load, store, reduction, atomic, copy, prefetch, operand };
// What the tensor cores multiply.
enum class Source : uint8_t { none, f16, bf16, tf32, fp8, int8, int1, f64 };

constexpr const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::global: return "global";
    case Reach::shared: return "shared";
    case Reach::local: return "local";
    case Reach::bulk: return "bulk";
    case Reach::cluster: return "cluster";
    case Reach::texture: return "texture";
    case Reach::surface: return "surface";
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
    case Action::prefetch: return "prefetch";
    case Action::operand: return "operand";
  }
  return "";
}
constexpr const char* name_of(Source source) {
  switch (source) {
    case Source::f16: return "f16";
    case Source::bf16: return "bf16";
    case Source::tf32: return "tf32";
    case Source::fp8: return "fp8";
    case Source::int8: return "int8";
    case Source::int1: return "int1";
    case Source::f64: return "f64";
    case Source::none: break;
  }
  return "";
}

}  // namespace ridge::vm::observe
