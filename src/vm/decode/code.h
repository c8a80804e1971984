// A decoded function: what a warp executes, and what a report needs to talk about it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/status.h"
#include "vm/isa/form.h"
#include "vm/isa/inst.h"
#include "vm/mem/windows.h"
#include "vm/parse/module.h"

namespace ridge::vm {

struct Program;
struct KernelCode;

// Beside each Inst: where it came from, and how many PTX instructions it stands for: none for the
// auxiliary ones the decoder adds, several where it merged some.
struct InstMeta {
  const Instruction* source = nullptr;
  const Match* match = nullptr;
  uint8_t counts = 0;
  bool accesses = false;  // its operands are the addresses of the memory that `source` touches
  int32_t merged = -1;    // a merged load: where its words begin in Code::merged
};

struct CallSite;
// A function that the device provides (device_runtime.h), for the active lanes.
using DeviceFunction = const Inst* (*)(Warp&, const Inst*, const CallSite&);
// nullptr: the device has no function of that name.
DeviceFunction find_device_function(std::string_view name);

struct CallSite {
  const Function* function = nullptr;  // nullptr: indirect, through the register
  DeviceFunction provided = nullptr;
  // Offsets of the call's .param variables in the caller's local frame.
  std::vector<uint32_t> arguments, results;
};

// The operands of a texture or surface instruction, of which an Inst has no room for all. Fields
// that the instruction has not are kNoOperand.
struct ImageSite {
  uint32_t flags = 0;              // Handlers::flags: what the row's handler wants to know
  std::array<uint32_t, 4> data;    // results, or what is stored
  uint32_t resident = kNoOperand;  // a predicate: the texels were there
  uint32_t handle = kNoOperand;
  uint32_t layer = kNoOperand;
  std::array<uint32_t, 3> at, dx, dy, offset;
  uint32_t level = kNoOperand;
  ImageSite() {
    data.fill(kNoOperand);
    for (auto* fields : {&at, &dx, &dy, &offset}) fields->fill(kNoOperand);
  }
};

// The same for copies of tensors. An address is its base and its offset.
struct TensorSite {
  uint32_t flags = 0;
  std::array<uint32_t, 2> map, shared, barrier;
  std::array<uint32_t, 5> at;
  std::array<uint32_t, 3> offsets;  // im2col
  uint32_t receivers = kNoOperand;  // multicast: the blocks of the cluster
  TensorSite() {
    for (auto* fields : {&map, &shared, &barrier}) fields->fill(kNoOperand);
    at.fill(kNoOperand);
    offsets.fill(kNoOperand);
  }
};

struct Code {
  const Function* function = nullptr;
  const Module* module = nullptr;
  KernelCode* kernel = nullptr;
  std::vector<Inst> insts;
  std::vector<InstMeta> meta;              // parallel to insts
  std::vector<const Instruction*> merged;  // what each word of the merged loads came from
  std::vector<uint8_t> constant_storage;
  const uint8_t* constants = nullptr;  // 64-byte aligned, inside constant_storage
  // Which of them are addresses in shared memory. Those of a block of another rank than 0 are
  // others, so that such blocks have constants of their own, made when one first runs.
  struct SharedConstant {
    uint32_t offset, bytes;  // of one lane
  };
  std::vector<SharedConstant> shared_constants;
  mutable std::array<std::atomic<const uint8_t*>, kMostRanks> ranked_constants{};
  uint32_t frame_bytes = 0;  // registers of one activation
  uint32_t local_bytes = 0;  // per thread: parameters, results, call parameters, local variables
  struct Slot {
    uint32_t offset, bytes;
  };
  std::vector<Slot> params, results;  // of a function, in its local frame
  std::vector<CallSite> calls;
  std::vector<ImageSite> images;
  std::vector<TensorSite> tensors;
  std::vector<std::vector<uint32_t>> tables;  // brx: instruction indices
  uint32_t register_count = 0;  // 32-bit registers live at once, ptxas's measure, estimated
  // Instructions that the PTX text does not have (edit.h).
  std::deque<Instruction> inserted;
  std::deque<std::string> spellings;  // their mnemonics

  Code() = default;
  Code(const Code&) = delete;
  ~Code();
  const uint8_t* constants_of(uint32_t rank) const {
    if (!rank) return constants;
    const uint8_t* made = ranked_constants[rank].load(std::memory_order_acquire);
    return made ? made : make_constants(rank);
  }
  const uint8_t* make_constants(uint32_t rank) const;

  const InstMeta& meta_of(const Inst* inst) const { return meta[size_t(inst - insts.data())]; }
};

// A kernel with every function it can reach, decoded together because they share one layout of
// shared memory.
struct KernelCode {
  Program* program = nullptr;
  const Function* entry = nullptr;
  Code* code = nullptr;
  std::map<const Function*, std::unique_ptr<Code>> functions;
  std::unordered_map<const Variable*, uint32_t> shared_offsets;
  uint32_t static_shared = 0;
  uint32_t dynamic_shared_offset = 0;  // where unsized arrays start
  uint32_t local_bytes =
      0;  // per thread, for the whole call tree; an allowance when its stack grows
  bool stack_grows = false;  // it recurses, or uses alloca
  bool triggers = false;     // it may let dependent grids begin before it ends
  // Registers per thread that it starts with, where it changes them (setmaxnreg). 0: it does not,
  // or ptxas does not know the number and ignores the instruction.
  uint32_t entry_registers = 0;
  std::mutex mutex;  // functions reached through pointers are decoded when first called
};

// Finds the rows of a function's instructions (Instruction::match) where that was not done yet.
// What has none keeps a null, and is an error when it is decoded.
void find_rows(Function& function);
// Why an instruction has no row.
std::string missing_row(const Instruction& instruction);

// Decodes `function` (its body parsed by now) into kernel->functions. The error is a diagnostic
// with line and caret.
Expected<Code*> decode(KernelCode& kernel, Function& function);
// The same for a function known only by its address at run time; nullptr when no function has that
// address.
Code* decode_address(KernelCode& kernel, uint64_t address);

}  // namespace ridge::vm
