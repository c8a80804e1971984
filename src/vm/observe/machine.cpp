#include "vm/observe/machine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "vm/exec/decoder.h"
#include "vm/observe/address.h"

namespace ridge::vm::observe {
namespace {

constexpr uint32_t kWidest = 16;  // bytes a lane

const Match* match_of(const Instruction& ins) {
  std::string error;
  const bool hinted = ins.mnemonic.find("cache_hint") != std::string_view::npos;
  return find_instruction(ins.mnemonic, &error, int(ins.operands.size()) - hinted);
}

bool is_plain_form(const Form& form) {
  for (const char* word : {"volatile", "relaxed", "acquire", "release", "mmio", "unified"})
    if (form.has(word)) return false;
  return true;
}

// A load or store that may become a part of a wide one.
struct Piece {
  const Instruction* instruction;
  uint64_t begin;  // the constant of its address
  uint32_t elements;
};
struct Key {
  Space space;
  bool constant;     // ld.global.nc: nothing that the kernel stores disturbs it
  uint32_t element;  // bytes
  std::vector<std::pair<uint32_t, uint64_t>> unknowns;
  auto operator<=>(const Key&) const = default;
};
using Open = std::map<Key, std::vector<Piece>>;

class Merger {
 public:
  Merger(const Function& function, const std::unordered_map<const Variable*, uint32_t>& shared)
      : function_(function), addresses_(function, shared) {}

  MachineCode run(bool optimised) {
    find_reads();
    for (size_t i = 0; i < function_.instructions.size(); ++i) {
      if (addresses_.begins_block(i)) close_all();
      const Instruction& ins = function_.instructions[i];
      const std::string_view root = ins.mnemonic.substr(0, ins.mnemonic.find('.'));
      if (root == "bra" || root == "ret" || root == "exit" || root == "brx") continue;
      if (root == "call") {
        close_all();
        continue;
      }
      if (const Match* match = match_of(ins)) visit(ins, *match, optimised);
    }
    close_all();
    return std::move(code_);
  }

 private:
  void find_reads() {
    read_.resize(function_.registers.size());
    const auto note = [&](const auto& self, const Operand& op) -> void {
      if (op.reg >= 0) read_[size_t(op.reg)] = true;
      for (const Operand& e : op.elems) self(self, e);
    };
    for (const Instruction& ins : function_.instructions) {
      if (ins.guard >= 0) read_[size_t(ins.guard)] = true;
      const Match* match = match_of(ins);
      for (size_t k = 0; k < ins.operands.size(); ++k) {
        const auto* specs = match ? &operand_specs(*match->row) : nullptr;
        if (!specs || k >= specs->size() || !(*specs)[k].dest) note(note, ins.operands[k]);
      }
    }
  }
  bool is_read(const Operand& op) const {
    if (op.kind == Operand::Kind::vec)
      return std::any_of(op.elems.begin(), op.elems.end(),
                         [&](const Operand& e) { return is_read(e); });
    return op.reg >= 0 && read_[size_t(op.reg)];
  }

  void visit(const Instruction& ins, const Match& match, bool optimised) {
    const InstrDef& row = *match.row;
    const Space space = match.form.space();
    if (row.touches & kAtomic) {
      if (row.spelling.starts_with("atom") && !is_read(ins.operands[0])) code_.unread.insert(&ins);
      disturb(space);
      return;
    }
    if (!optimised) return;
    const bool plain = row.unit == Unit::memory &&
                       (row.spelling.starts_with("ld") || row.spelling.starts_with("st"));
    if (plain && row.touches == kReads) return load(ins, match);
    if (plain && row.touches == kWrites) return store(ins, match);
    if (row.spelling.starts_with("ldmatrix")) return close_stores(Space::shared);
    if (row.spelling.starts_with("stmatrix")) return disturb(Space::shared);
    if (row.touches & (kReads | kWrites | kFence) || row.unit == Unit::barrier) close_all();
  }

  // The load or store as a piece of something wider, if it can be one.
  std::optional<std::pair<Key, Piece>> piece(const Instruction& ins, const Match& match) {
    const Form& form = match.form;
    const Space space = form.space();
    const uint32_t element = uint32_t(size_of(form.type()));
    if (ins.guard >= 0 || !is_plain_form(form) || element < 2 || element > 8) return {};
    if (space != Space::shared && space != Space::global && space != Space::local) return {};
    // Registers of another width extend what is loaded.
    const Operand& data = ins.operands[match.row->touches == kReads ? 0 : 1];
    const auto fits = [&](const Operand& op) {
      return op.kind != Operand::Kind::reg ||
             lane_bytes(function_.registers[size_t(op.reg)].type) == int(element);
    };
    if (!fits(data) || !std::all_of(data.elems.begin(), data.elems.end(), fits)) return {};
    const Sum& at = addresses_.of(ins);
    return {{Key{space, form.has("nc"), element, at.terms},
             Piece{&ins, at.constant, uint32_t(form.vector())}}};
  }

  void load(const Instruction& ins, const Match& match) {
    const Space space = match.form.space();
    const auto it = piece(ins, match);
    if (it && !is_read(ins.operands[0])) {
      code_.changed[&ins] = {};
      return;
    }
    if (it && it->second.elements == 1 && last_store_ && last_store_->first == it->first &&
        last_store_->second == it->second.begin) {
      code_.changed[&ins] = {};  // the stored register has the value
      return;
    }
    close_stores(space);
    if (!it) return;
    std::vector<Piece>& open = loads_[it->first];
    for (const Piece& other : open)
      if (other.begin == it->second.begin && other.elements == it->second.elements) {
        code_.changed[&ins] = {};
        return;
      }
    open.push_back(it->second);
  }

  void store(const Instruction& ins, const Match& match) {
    const Space space = match.form.space();
    auto it = piece(ins, match);
    close_loads(space);
    if (!it) {
      close_stores(space);
      return;
    }
    for (auto& [key, pieces] : stores_)
      if (key.space == space && key != it->first) close(key, pieces, false);
    std::vector<Piece>& open = stores_[it->first];
    std::erase_if(open, [&](const Piece& other) {
      const bool again = other.begin == it->second.begin && other.elements == it->second.elements;
      if (again) code_.changed[other.instruction] = {};  // written over
      return again;
    });
    open.push_back(it->second);
    last_store_ = {it->first, it->second.begin};
    if (it->second.elements != 1) last_store_.reset();
  }

  void disturb(Space space) {
    close_loads(space);
    close_stores(space);
  }
  static bool same(Space a, Space b) {
    return a == b || a == Space::generic || b == Space::generic;
  }
  void close_loads(Space space) {
    for (auto& [key, pieces] : loads_)
      if (same(key.space, space) && !key.constant) close(key, pieces, true);
  }
  void close_stores(Space space) {
    for (auto& [key, pieces] : stores_)
      if (same(key.space, space)) close(key, pieces, false);
    if (last_store_ && same(last_store_->first.space, space)) last_store_.reset();
  }
  void close_all() {
    for (auto& [key, pieces] : loads_) close(key, pieces, true);
    for (auto& [key, pieces] : stores_) close(key, pieces, false);
    loads_.clear();
    stores_.clear();
    last_store_.reset();
  }

  // Fours first, then twos. A load of three neighbours in a place for four reads the fourth, too;
  // a store cannot.
  void close(const Key& key, std::vector<Piece>& pieces, bool is_load) {
    const uint64_t alignment = addresses_.alignment({key.unknowns, 0});
    for (const uint32_t count : {4u, 2u}) {
      const uint32_t bytes = count * key.element;
      if (bytes > kWidest || bytes > alignment) continue;
      std::map<uint64_t, std::vector<Piece>> places;
      for (const Piece& p : pieces) places[p.begin / bytes * bytes].push_back(p);
      for (const auto& [place, members] : places) {
        uint32_t elements = 0;
        for (const Piece& p : members) elements += p.elements;
        const uint32_t enough = count == 4 && is_load ? 3 : count;
        if (members.size() < 2 || elements < enough) continue;
        const auto first = std::min_element(
            members.begin(), members.end(),
            [](const Piece& a, const Piece& b) { return a.instruction < b.instruction; });
        for (const Piece& p : members)
          code_.changed[p.instruction] = {
              first->instruction, int32_t(int64_t(place) - int64_t(first->begin)), uint8_t(bytes)};
        std::erase_if(pieces, [&](const Piece& p) { return p.begin / bytes * bytes == place; });
      }
    }
    pieces.clear();
  }

  const Function& function_;
  const Addresses addresses_;
  std::vector<bool> read_;  // by register
  Open loads_, stores_;
  std::optional<std::pair<Key, uint64_t>> last_store_;
  MachineCode code_;
};

}  // namespace

MachineCode machine_code(const Function& function,
                         const std::unordered_map<const Variable*, uint32_t>& shared_offsets,
                         bool optimised) {
  return Merger(function, shared_offsets).run(optimised);
}

}  // namespace ridge::vm::observe
