// The decoder's working state. decode.cpp reads PTX instructions into items and finds the flow;
// emit*.cpp write the executable form of each item.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "vm/decode/flow.h"
#include "vm/decode/program.h"
#include "vm/isa/internal.h"
#include "vm/isa/operands.h"

namespace ridge::vm {

// Thrown inside the decoder only; decode() turns it into the diagnostic.
struct DecodeError {
  uint32_t line, column;
  std::string message;
};

class Decoder {
 public:
  Decoder(KernelCode& kernel, Function& function, Code& code)
      : kernel_(kernel), function_(function), code_(code), registers_(function.registers) {}
  void run();

 private:
  // decode.cpp
  void read_items();
  void read_instruction(const Instruction& ins);
  void add(Item item) { items_.push_back(std::move(item)); }
  void find_registers(Item& item);
  void lay_out_locals();
  uint32_t read_table(const Instruction& ins);

  // emit.cpp
  void emit_all();
  void emit(const Item& item);
  void emit_op(const Item& item);
  void emit_general(const Item& item, const Match& match, Handlers handlers);
  void emit_memory(const Item& item);
  void emit_fragments(const Item& item);
  void emit_mov(const Item& item);
  void emit_call(const Item& item);
  void push(const Handlers& handlers, uint32_t d, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0,
            const std::vector<uint32_t>& more = {});
  // The same, for the one that touches the memory an instruction names.
  void push_access(const Handlers& handlers, uint32_t d, uint32_t a, uint32_t b, uint32_t c,
                   const std::vector<uint32_t>& more = {});
  void push_raw(const void* slot);

  // emit_memory.cpp
  void emit_copy(const Item& item);
  void emit_vector_atomic(const Item& item);
  void emit_wide_atomic(const Item& item);
  // emit_tensor.cpp
  void emit_tensor(const Item& item);
  // emit_image.cpp
  void emit_image(const Item& item);

  // emit_operands.cpp
  uint32_t source(const Operand& op, Type type);
  uint32_t destination(const Operand& op, Type type);
  uint32_t second_destination(const Operand& op);
  void flush_extensions();
  uint32_t predicate(int32_t reg, bool negated) const;
  uint32_t constant(int lane_bytes, uint64_t value, bool is_shared_address = false);
  uint32_t immediate(const Operand& op, Type type);
  uint64_t symbol_value(const Operand& op) const;
  uint32_t temporary(int lane_bytes);
  struct Address {
    uint32_t base, offset, frame_relative;
  };
  Address address(const Operand& op, Space space);
  bool is_frame_variable(const Variable* variable) const { return locals_.count(variable) != 0; }
  [[noreturn]] void fail(const std::string& message, uint32_t column = 0) const;

  KernelCode& kernel_;
  Function& function_;
  Code& code_;
  std::vector<Register> registers_;  // the function's, and those that contraction adds
  std::vector<Item> items_;
  std::vector<uint32_t> item_of_;               // first item of each PTX instruction
  std::vector<std::vector<uint32_t>> tables_;   // brx targets: PTX instruction indices, then items
  std::map<const Variable*, uint32_t> locals_;  // offsets in the thread's local frame
  std::map<const Variable*, uint32_t> params_;  // a kernel's parameters
  FlowGraph flow_;
  Slots slots_;
  std::map<std::tuple<int, uint64_t, bool>, uint32_t> constant_offsets_;
  std::vector<uint8_t> constants_;
  const Item* current_ = nullptr;
  uint32_t temporaries_used_[9] = {};
  struct Extension {
    uint32_t from, to;
    int from_bytes, to_bytes;
    bool is_signed;
  };
  std::vector<Extension> extensions_;
  struct Fixup {
    uint32_t inst;
    uint32_t block;  // target
    int32_t join;    // block or -1
  };
  std::vector<Fixup> fixups_;
  std::vector<uint32_t> block_inst_;
};

// The decoder's temporaries at the start of each frame: kTemporaries of each width.
inline constexpr uint32_t kTemporaries = 8;
inline constexpr uint32_t kReservedBytes = kTemporaries * kWarpSize * (2 + 4 + 8);

}  // namespace ridge::vm
