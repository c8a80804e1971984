// A software GPU for tests: PTX text in, memory out.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vm/exec/engine.h"
#include "vm/report/text.h"

namespace ridge::vm::testing {

// What the user would read of a fault.
inline std::string text_of(const Fault& fault) { return report::to_text(fault.finding, {}); }

class Machine {
 public:
  explicit Machine(unsigned threads = 2, double timeout = 0)
      : Machine({.gpu = *find_gpu("h200"), .threads = threads, .timeout_seconds = timeout}) {}
  explicit Machine(EngineOptions options) : engine_(std::move(options)) {}

  // A module of one kernel `k` with one pointer parameter, already in %out, and registers %p %r %rd
  // %f %h %d <0 … 31>.
  void load_body(const std::string& body, const std::string& declarations = "") {
    load(declarations + R"(
.visible .entry k(.param .u64 k_out)
{
  .reg .pred %p<32>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %rd<32>, %out;
  .reg .f32 %f<32>; .reg .f64 %d<32>;
  ld.param.u64 %out, [k_out];
)" + body +
         "\n  ret;\n}\n");
  }
  void load(const std::string& text) {
    auto program =
        engine_.load(".version 8.0\n.target sm_90a\n.address_size 64\n" + text, "test.ptx");
    ASSERT_TRUE(program) << program.error().message;
    program_ = *program;
  }

  template <class T>
  uint64_t allocate(const std::vector<T>& values) {
    const auto at = engine_.memory().allocate(std::max<size_t>(values.size() * sizeof(T), 1), 256,
                                              MemKind::device);
    std::memcpy(engine_.memory().place(*at), values.data(), values.size() * sizeof(T));
    return *at;
  }
  template <class T>
  std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), engine_.memory().place(address), count * sizeof(T));
    return values;
  }

  template <class... Args>
  Fault run(Dim3 grid, Dim3 block, Args... args) {
    return run_as(shape(grid, block), args...);
  }
  static Launch shape(Dim3 grid, Dim3 block, uint32_t dynamic_shared = 0,
                      bool cooperative = false) {
    Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared = dynamic_shared;
    launch.cooperative = cooperative;
    return launch;
  }
  template <class... Args>
  Fault run_as(Launch launch, Args... args) {
    launch.kernel = engine_.find_kernel(program_, "k");
    if (!launch.kernel) {
      Fault fault{FaultKind::unsupported, {}};
      fault.finding.message = "no kernel k";
      return fault;
    }
    (append(launch.params, args), ...);
    return engine_.run(launch);
  }
  // Runs k with an output array of `count` elements, all ones to begin with, and returns it;
  // expects no fault.
  template <class T>
  std::vector<T> output(Dim3 grid, Dim3 block, size_t count) {
    std::vector<T> poison(count);
    std::memset(poison.data(), 0xff, count * sizeof(T));
    const uint64_t out = allocate(poison);
    const Fault fault = run(grid, block, out);
    EXPECT_FALSE(fault) << text_of(fault);
    return read<T>(out, count);
  }

  Engine& engine() { return engine_; }
  Program* program() { return program_; }

 private:
  template <class T>
  static void append(std::vector<uint8_t>& params, T value) {
    params.resize((params.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    params.insert(params.end(), bytes, bytes + sizeof(T));
  }
  Engine engine_;
  Program* program_ = nullptr;
};

// out[global thread index] = %r1
inline const std::string kStoreR1 = R"(
  mov.u32 %r60, %ctaid.x; mov.u32 %r61, %ntid.x; mov.u32 %r62, %tid.x;
  mad.lo.s32 %r60, %r60, %r61, %r62;
  mul.wide.u32 %rd31, %r60, 4;
  add.s64 %rd31, %out, %rd31;
  st.global.u32 [%rd31], %r1;
)";

}  // namespace ridge::vm::testing
