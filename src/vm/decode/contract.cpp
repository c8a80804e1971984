// A product is an unrounded mul, and a sum an unrounded add or sub. Registers that hold a product,
// or a copy or negation of it, lead from sums back to products. A sum takes in one product and
// becomes an fma; a product whose readers have all taken it in is no longer computed.
//
// Code is read in stretches without branches. A stretch ends where ptxas has a basic block end when
// it contracts: at branches, and at instructions that it expands into some. A product goes into
// sums of its own stretch only, unless a factor is a constant, which is at hand everywhere.
#include "vm/decode/contract.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "vm/decode/edit.h"

namespace ridge::vm {
namespace {

constexpr uint32_t kNone = ~0u;

bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
bool is_contracted(Type type) { return type == Type::f32 || type == Type::f64 || is_half(type); }

uint64_t sign_bit(Type type) { return 1ull << (8 * size_of(type) - 1); }

// 1 as ptxas knows it: multiplying by a pair of them is a multiplication.
std::optional<uint64_t> one_of(Type type) {
  switch (type) {
    case Type::f64: return 0x3ff0000000000000;
    case Type::f32: return 0x3f800000;
    case Type::f16: return 0x3c00;
    case Type::bf16: return 0x3f80;
    default: return {};
  }
}

// Whether ptxas has replaced the instruction by branches and calls, or by a branch around it,
// before it contracts.
bool ends_stretch(const Item& item, bool constant_operands) {
  if (item.kind != Item::Kind::op) return true;
  if (!item.match) return false;
  if (item.guard >= 0 && !item.match->facts().only_registers()) return true;
  const Form& form = item.match->form;
  const std::string_view root = item.match->root;
  if (root == "div" || root == "rem")
    return is_contracted(form.type()) ? form.is_rounded() : form.type() != Type::u32;
  if (root == "rcp" || root == "sqrt") return form.is_rounded() && !constant_operands;
  if (root == "rsqrt") return form.type() == Type::f64 && !form.ftz;
  return root == "membar" ||
         (root == "fence" && (form.order == Order::sc || form.order == Order::acq_rel));
}

// Operations that ptxas evaluates when their operands are constants.
bool is_folded(const Item& item) {
  constexpr std::string_view kFolded[] = {"mov", "cvt", "add", "sub", "mul",
                                          "neg", "abs", "min", "max"};
  return std::find(std::begin(kFolded), std::end(kFolded), item.match->root) != std::end(kFolded);
}

class Contraction {
 public:
  Contraction(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
              std::vector<Register>& registers, Code& code)
      : items_(items),
        tables_(tables),
        registers_(registers),
        code_(code),
        editor_(items, tables, registers, code) {}
  void run() {
    find_stretches();
    find_crossing();
    find_constants();
    find_live_out();
    for (stretch_ = 0; stretch_ + 1 < stretches_.size(); ++stretch_) read_stretch();
    take_products();
    for (const Sum& sum : sums_) apply(sum);
    if (!changed_) return;
    drop_unread();
    editor_.finish();
  }

 private:
  // An instruction whose result is a product, or a product it got from another node.
  struct Node {
    uint32_t item;
    uint32_t product;       // the node of the mul
    uint32_t from = kNone;  // the node it copies or negates
    bool negated = false;
    bool taken = false;    // by a sum
    uint32_t readers = 0;  // of the register it wrote
    // Of a product:
    uint32_t uses = 0;    // before the first was taken
    uint32_t others = 0;  // uses that need the product itself
    uint32_t stretch = kNone;
    bool anywhere = false;        // goes into sums of other stretches, too
    int32_t saved[2] = {-1, -1};  // registers that keep its operands
  };
  struct Sum {
    uint32_t item;
    uint32_t term[2] = {kNone, kNone};                    // nodes that it may take
    bool stale[2][2] = {{false, false}, {false, false}};  // the product's operands were overwritten
    int taken = -1;
  };
  // What a register holds, in the stretch at hand.
  struct Held {
    uint32_t stretch = kNone;
    uint32_t node = kNone;
    bool constant = false;
    std::optional<uint64_t> value;  // of a constant, where it was moved here
  };

  void find_stretches();
  void find_crossing();
  void find_live_out();
  std::vector<uint32_t> successors(uint32_t stretch) const;
  bool is_live_out(int32_t reg) const;
  void find_constants();
  void read_stretch();
  void read(uint32_t at);
  void write(uint32_t at);
  void read_sum(uint32_t at);
  void use(int32_t reg);
  uint32_t result_node(uint32_t at) const;
  bool is_product(const Item& item) const;
  bool goes_anywhere(uint32_t at) const;
  bool takes(const Item& sum, const Node& node) const;
  bool is_constant(const Item& item) const;
  std::optional<uint64_t> value_of(const Operand& op, Type type) const;
  std::optional<uint64_t> value_of(const Item& item) const;
  int unit_sign(const Operand& op, Type type) const;
  void take_products();
  void take(Sum& sum, int k);
  void apply(const Sum& sum);
  Operand save(Node& product, int k);
  Operand negated(Operand op, Type type, uint32_t before);
  Operand insert_unary(const std::string& mnemonic, Type type, const Operand& op, uint32_t before);
  void drop_unread();

  Held& held(int32_t reg) { return held_[size_t(reg)]; }
  uint32_t node_in(int32_t reg) const {
    const Held& h = held_[size_t(reg)];
    return h.stretch == stretch_ || (h.node != kNone && nodes_[h.node].anywhere) ? h.node : kNone;
  }
  bool is_constant(const Operand& op) const {
    if (op.kind == Operand::Kind::imm) return true;
    if (op.kind != Operand::Kind::reg) return false;
    const Held& h = held_[size_t(op.reg)];
    return h.stretch == stretch_ ? h.constant : constant_[size_t(op.reg)] == kImmediate;
  }

  std::vector<Item>& items_;
  std::vector<std::vector<uint32_t>>& tables_;
  std::vector<Register>& registers_;
  Code& code_;
  std::vector<uint32_t> stretches_;   // where each begins; the last is the end
  std::vector<uint32_t> stretch_of_;  // by item
  std::vector<uint8_t> crossing_;     // registers that some stretch reads before it writes them
  std::vector<uint8_t> writes_;       // to each register: none, one, or 2 for more
  std::vector<uint32_t> first_read_;  // of each register: an item
  // Registers with one write, of an immediate or of a kernel parameter or constant variable.
  enum : uint8_t { kVarying, kBank, kImmediate };
  std::vector<uint8_t> constant_;
  std::vector<std::optional<uint64_t>> value_;  // of those with an immediate
  std::vector<int32_t> column_;  // of a crossing register with several writes in live_out_, else -1
  size_t columns_ = 0;
  std::vector<uint8_t> live_out_;  // stretches by columns
  std::vector<uint32_t> written_;  // one more than the item of the latest write
  std::vector<Held> held_;
  uint32_t stretch_ = 0;
  std::vector<Node> nodes_;
  std::vector<Sum> sums_;
  ItemEditor editor_;
  bool changed_ = false;
};

void Contraction::find_stretches() {
  std::vector<uint8_t> begins(items_.size() + 1, 0);
  begins[0] = 1;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.kind == Item::Kind::jump || item.kind == Item::Kind::branch) {
      if (item.target == i + 1) continue;  // goes nowhere
      begins[item.target] = 1;
    }
    const bool immediate = item.source && item.source->operands.size() == 2 &&
                           item.source->operands[1].kind == Operand::Kind::imm;
    if (ends_stretch(item, immediate)) begins[i + 1] = 1;
  }
  for (const auto& table : tables_)
    for (uint32_t target : table) begins[target] = 1;
  begins[items_.size()] = 1;
  for (uint32_t i = 0; i < begins.size(); ++i) {
    if (begins[i]) stretches_.push_back(i);
    stretch_of_.push_back(uint32_t(stretches_.size()) - 1);
  }
}

void Contraction::find_crossing() {
  const size_t n = registers_.size();
  crossing_.assign(n, 0);
  writes_.assign(n, 0);
  first_read_.assign(n, kNone);
  written_.assign(n, 0);
  held_.assign(n, {});
  std::vector<uint32_t> written_in(n, kNone);
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    for (int32_t r : item.uses) {
      if (written_in[size_t(r)] != stretch_of_[i]) crossing_[size_t(r)] = 1;
      first_read_[size_t(r)] = std::min(first_read_[size_t(r)], uint32_t(i));
    }
    for (int32_t r : item.defs) {
      if (item.guard < 0) written_in[size_t(r)] = stretch_of_[i];
      writes_[size_t(r)] = uint8_t(std::min(2, writes_[size_t(r)] + 1));
    }
  }
}

void Contraction::find_constants() {
  constant_.assign(registers_.size(), kVarying);
  value_.assign(registers_.size(), {});
  for (const Item& item : items_) {
    if (item.kind != Item::Kind::op || item.guard >= 0) continue;
    const std::string_view root = item.match->root;
    const auto& ops = item.source->operands;
    if (ops.size() != 2) continue;
    uint8_t kind = kVarying;
    if (root == "mov" && ops[1].kind == Operand::Kind::imm) {
      kind = kImmediate;
    } else if ((root == "mov" || root == "neg") && ops[1].kind == Operand::Kind::reg) {
      kind = constant_[size_t(ops[1].reg)];
    } else if (root == "ld" && ops[1].variable && ops[1].reg < 0) {
      const Space space = item.match->form.space;
      if (space == Space::constant || (space == Space::param && code_.function->entry))
        kind = kBank;
    }
    for (int32_t r : item.defs)
      if (writes_[size_t(r)] == 1) {
        constant_[size_t(r)] = kind;
        value_[size_t(r)] = value_of(item);
      }
  }
}

std::optional<uint64_t> Contraction::value_of(const Operand& op, Type type) const {
  if (op.kind == Operand::Kind::imm) return immediate_bits(op, type);
  if (op.kind != Operand::Kind::reg) return {};
  const Held& h = held_[size_t(op.reg)];
  return h.stretch == stretch_ ? h.value : value_[size_t(op.reg)];
}

// What a move, or a negation, of a constant writes.
std::optional<uint64_t> Contraction::value_of(const Item& item) const {
  const auto& ops = item.source->operands;
  const Type type = item.match->form.type();
  const std::string_view root = item.match->root;
  if (ops.size() != 2 || (root != "mov" && (root != "neg" || !one_of(type)))) return {};
  auto value = value_of(ops[1], type);
  if (value && root == "neg") *value ^= sign_bit(type);
  return value;
}

// 1 or -1 for a constant of that value, else 0.
int Contraction::unit_sign(const Operand& op, Type type) const {
  const auto one = one_of(type), value = value_of(op, type);
  if (!one || !value) return 0;
  return *value == *one ? 1 : *value == (*one | sign_bit(type)) ? -1 : 0;
}

std::vector<uint32_t> Contraction::successors(uint32_t stretch) const {
  const Item& last = items_[stretches_[stretch + 1] - 1];
  std::vector<uint32_t> next;
  if (last.kind == Item::Kind::brx)
    for (uint32_t target : tables_[last.target]) next.push_back(stretch_of_[target]);
  if (last.kind == Item::Kind::jump || last.kind == Item::Kind::branch)
    next.push_back(stretch_of_[last.target]);
  const bool leaves = last.kind == Item::Kind::jump || last.kind == Item::Kind::brx ||
                      last.kind == Item::Kind::ret ||
                      (last.kind == Item::Kind::exit && last.guard < 0);
  if (!leaves) next.push_back(stretch + 1);
  return next;
}

// A crossing register with one write is live after it. Compilers write few others, so that liveness
// of the rest costs little.
void Contraction::find_live_out() {
  column_.assign(registers_.size(), -1);
  for (size_t r = 0; r < registers_.size(); ++r)
    if (crossing_[r] && writes_[r] > 1) column_[r] = int32_t(columns_++);
  if (!columns_) return;
  const size_t n = stretches_.size() - 1;
  enum : uint8_t { kUntouched, kRead, kWritten };
  std::vector<uint8_t> first(n * columns_, kUntouched);  // what a stretch does first
  for (size_t i = 0; i < items_.size(); ++i) {
    uint8_t* row = first.data() + stretch_of_[i] * columns_;
    const auto touch = [&](int32_t r, uint8_t how) {
      const int32_t c = column_[size_t(r)];
      if (c >= 0 && row[c] == kUntouched) row[c] = how;
    };
    for (int32_t r : items_[i].uses) touch(r, kRead);
    if (items_[i].guard < 0)
      for (int32_t r : items_[i].defs) touch(r, kWritten);
  }
  live_out_.assign(n * columns_, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = uint32_t(n); k-- > 0;)
      for (uint32_t next : successors(k))
        for (size_t c = 0; c < columns_; ++c) {
          uint8_t& live = live_out_[k * columns_ + c];
          const uint8_t does = first[next * columns_ + c];
          if (live || !(does == kRead || (does == kUntouched && live_out_[next * columns_ + c])))
            continue;
          live = 1;
          changed = true;
        }
  }
}

bool Contraction::is_live_out(int32_t reg) const {
  const int32_t c = column_[size_t(reg)];
  return c < 0 ? crossing_[size_t(reg)] : live_out_[stretch_ * columns_ + size_t(c)];
}

bool Contraction::is_product(const Item& item) const {
  if (item.kind != Item::Kind::op || !item.match || item.guard >= 0 || item.match->root != "mul")
    return false;
  const Form& form = item.match->form;
  const auto& ops = item.source->operands;
  if (!is_contracted(form.type()) || form.is_rounded() || form.sat) return false;
  if (ops.size() != 3 || ops[0].kind != Operand::Kind::reg) return false;
  for (int k : {1, 2})
    if (ops[size_t(k)].kind != Operand::Kind::reg && ops[size_t(k)].kind != Operand::Kind::imm)
      return false;
  // Products with 1 and -1 are no multiplications, and those of constants are folded.
  if (unit_sign(ops[1], form.type()) || unit_sign(ops[2], form.type())) return false;
  return is_half(form.type()) || !(is_constant(ops[1]) && is_constant(ops[2]));
}

// A result that is written once, in front of its readers.
bool Contraction::goes_anywhere(uint32_t at) const {
  const auto& ops = items_[at].source->operands;
  const size_t result = size_t(ops[0].reg);
  if (writes_[result] != 1 || first_read_[result] <= at) return false;
  for (size_t k : {1, 2})
    if (is_constant(ops[k]) || (ops[k].kind == Operand::Kind::reg && constant_[size_t(ops[k].reg)]))
      return true;
  return false;
}

bool Contraction::takes(const Item& sum, const Node& node) const {
  const Form &product = items_[nodes_[node.product].item].match->form, &form = sum.match->form;
  return product.type() == form.type() && product.ftz == form.ftz;
}

bool Contraction::is_constant(const Item& item) const {
  if (!is_folded(item)) return false;
  const auto& ops = item.source->operands;
  return ops.size() > 1 && std::all_of(ops.begin() + 1, ops.end(),
                                       [&](const Operand& op) { return is_constant(op); });
}

// The node whose product, or its negation, this instruction copies.
uint32_t Contraction::result_node(uint32_t at) const {
  const Item& item = items_[at];
  if (item.guard >= 0 || item.defs.size() != 1) return kNone;
  const std::string_view root = item.match->root;
  const auto& ops = item.source->operands;
  const Form& form = item.match->form;
  size_t from = 1;
  if (root == "mul" && ops.size() == 3 && !form.is_rounded() && !form.sat) {
    if (unit_sign(ops[1], form.type())) from = 2;
    else if (!unit_sign(ops[2], form.type())) return kNone;
  } else if ((root != "mov" && root != "neg") || ops.size() != 2) {
    return kNone;
  }
  if (ops[0].kind != Operand::Kind::reg || ops[from].kind != Operand::Kind::reg) return kNone;
  const uint32_t node = node_in(ops[from].reg);
  if (node == kNone) return kNone;
  const Form& product = items_[nodes_[nodes_[node].product].item].match->form;
  if (root == "mov")
    return size_of(form.type()) == size_of(product.type()) &&
                   lane_bytes(registers_[size_t(ops[0].reg)].type) == lane_bytes(product.type())
               ? node
               : kNone;
  if (form.type() != product.type() || form.type() == Type::bf16x2) return kNone;
  if (form.ftz && (!product.ftz || is_half(form.type()))) return kNone;
  return node;
}

// A use of a register's value that needs the value.
void Contraction::use(int32_t reg) {
  const uint32_t node = node_in(reg);
  if (node == kNone) return;
  ++nodes_[node].readers;
  Node& product = nodes_[nodes_[node].product];
  ++product.uses;
  ++product.others;
}

void Contraction::read_sum(uint32_t at) {
  const Item& item = items_[at];
  const auto& ops = item.source->operands;
  Sum sum{at};
  for (size_t k : {0, 1})
    if (ops[k + 1].kind == Operand::Kind::reg) sum.term[k] = node_in(ops[k + 1].reg);
  const auto product = [&](uint32_t node) { return node == kNone ? kNone : nodes_[node].product; };
  const bool twice = product(sum.term[0]) != kNone && product(sum.term[0]) == product(sum.term[1]);
  for (size_t k : {0, 1}) {
    if (sum.term[k] == kNone) continue;
    Node& node = nodes_[sum.term[k]];
    if (twice || !takes(item, node)) {
      use(ops[k + 1].reg);
      sum.term[k] = kNone;
      continue;
    }
    ++node.readers;
    ++nodes_[node.product].uses;
    const Node& product = nodes_[node.product];
    for (size_t j : {0, 1}) {
      const Operand& op = items_[product.item].source->operands[j + 1];
      if (op.kind != Operand::Kind::reg) continue;
      sum.stale[k][j] = product.stretch == stretch_ ? written_[size_t(op.reg)] > product.item
                                                    : writes_[size_t(op.reg)] > 1;
    }
  }
  if (sum.term[0] != kNone || sum.term[1] != kNone) sums_.push_back(sum);
}

void Contraction::read(uint32_t at) {
  const Item& item = items_[at];
  if (item.kind == Item::Kind::op && item.match) {
    const std::string_view root = item.match->root;
    const Form& form = item.match->form;
    if ((root == "add" || root == "sub") && is_contracted(form.type()) && !form.is_rounded() &&
        item.source->operands.size() == 3 && item.source->operands[0].kind == Operand::Kind::reg)
      return read_sum(at);
    if (const uint32_t node = result_node(at); node != kNone) {
      ++nodes_[node].readers;
      return;
    }
  }
  for (int32_t r : item.uses) use(r);
}

void Contraction::write(uint32_t at) {
  const Item& item = items_[at];
  Held result;
  result.stretch = stretch_;
  if (item.kind == Item::Kind::op && item.match && item.guard < 0 && item.defs.size() == 1) {
    result.constant = is_constant(item);
    result.value = value_of(item);
    if (const uint32_t from = result_node(at); from != kNone) {
      result.node = uint32_t(nodes_.size());
      const auto& ops = item.source->operands;
      const Type type = item.match->form.type();
      const bool negates = item.match->root == "neg" ||
                           (item.match->root == "mul" &&
                            (unit_sign(ops[1], type) < 0 || unit_sign(ops[2], type) < 0));
      nodes_.push_back({at, nodes_[from].product, from, nodes_[from].negated != negates});
    } else if (is_product(item)) {
      result.node = uint32_t(nodes_.size());
      nodes_.push_back({at, result.node});
      nodes_.back().stretch = stretch_;
      nodes_.back().anywhere = goes_anywhere(at);
    }
  }
  for (int32_t r : item.defs) {
    if (item.guard >= 0) use(r);  // lanes that the guard excludes keep the old value
    held(r) = result;
    written_[size_t(r)] = at + 1;
  }
}

void Contraction::read_stretch() {
  const uint32_t begin = stretches_[stretch_], end = stretches_[stretch_ + 1];
  for (uint32_t i = begin; i < end; ++i) {
    read(i);
    write(i);
  }
  for (uint32_t i = begin; i < end; ++i)
    for (int32_t r : items_[i].defs) {
      const uint32_t node = held(r).node;
      if (node == kNone || nodes_[node].anywhere) continue;
      if (is_live_out(r)) use(r);
      held(r).node = kNone;
    }
}

// The choice. First the products that are used once; a sum of two takes its first operand. ptxas
// leaves this step out for halves. Then those that only sums use; of two, the one with fewer uses,
// else the first operand. What a sum did not take it needs as its addend.
void Contraction::take_products() {
  for (Sum& sum : sums_) {
    if (is_half(items_[sum.item].match->form.type())) continue;
    for (int k : {0, 1})
      if (sum.taken < 0 && sum.term[k] != kNone && nodes_[nodes_[sum.term[k]].product].uses == 1)
        take(sum, k);
  }
  for (Sum& sum : sums_) {
    if (sum.taken >= 0) continue;
    const Node* candidates[2] = {nullptr, nullptr};
    for (int k : {0, 1})
      if (sum.term[k] != kNone && !nodes_[nodes_[sum.term[k]].product].others)
        candidates[k] = &nodes_[nodes_[sum.term[k]].product];
    if (candidates[0] && candidates[1])
      take(sum, candidates[1]->uses < candidates[0]->uses ? 1 : 0);
    else if (candidates[0] || candidates[1]) take(sum, candidates[0] ? 0 : 1);
  }
}

void Contraction::take(Sum& sum, int k) {
  sum.taken = k;
  Node& node = nodes_[sum.term[k]];
  node.taken = true;
  --node.readers;
  if (sum.term[1 - k] != kNone) ++nodes_[nodes_[sum.term[1 - k]].product].others;
}

// `mnemonic` of op into a new register, before an item.
Operand Contraction::insert_unary(const std::string& mnemonic, Type type, const Operand& op,
                                  uint32_t before) {
  Operand result = editor_.new_register(type);
  result.column = op.column;
  editor_.insert(before, mnemonic, {result, op});
  return result;
}

// The product's operand as it was when the product was computed.
Operand Contraction::save(Node& product, int k) {
  const Item& mul = items_[product.item];
  const Operand& op = mul.source->operands[size_t(k) + 1];
  const Type type = mul.match->form.type();
  if (product.saved[k] < 0)
    product.saved[k] =
        insert_unary("mov." + std::string(name_of(bits_like(type))), type, op, product.item).reg;
  Operand saved = op;
  saved.reg = product.saved[k];
  return saved;
}

Operand Contraction::negated(Operand op, Type type, uint32_t before) {
  if (op.kind == Operand::Kind::imm && op.is_float) {
    op.bits ^= op.is_f64 ? 1ull << 63 : 1ull << 31;
    return op;
  }
  return insert_unary("neg." + std::string(name_of(type)), type, op, before);
}

void Contraction::apply(const Sum& sum) {
  if (sum.taken < 0) return;
  Item& item = items_[sum.item];
  const size_t k = size_t(sum.taken);
  const Node& node = nodes_[sum.term[k]];
  Node& product = nodes_[node.product];
  const Form& form = item.match->form;
  const Type type = form.type();
  const bool subtracts = item.match->root == "sub";

  std::string mnemonic = "fma.rn";
  if (form.ftz) mnemonic += ".ftz";
  if (form.sat) mnemonic += ".sat";
  mnemonic += '.' + std::string(name_of(type));

  Operand factors[2];
  for (int j : {0, 1})
    factors[j] =
        sum.stale[k][j] ? save(product, j) : items_[product.item].source->operands[size_t(j) + 1];
  Operand addend = item.source->operands[2 - k];
  if (node.negated != (subtracts && k == 1)) {
    Operand& cheaper = factors[factors[1].kind == Operand::Kind::imm ? 1 : 0];
    cheaper = negated(cheaper, type, sum.item);
  }
  if (subtracts && k == 0) addend = negated(addend, type, sum.item);

  editor_.replace(sum.item, mnemonic, {item.source->operands[0], factors[0], factors[1], addend});
  changed_ = true;
}

// Products, copies and negations that nothing reads any more.
void Contraction::drop_unread() {
  for (size_t k = nodes_.size(); k-- > 0;) {
    const Node& node = nodes_[k];
    if (node.readers || !node.taken) continue;
    editor_.drop(node.item);
    if (node.from == kNone) continue;
    --nodes_[node.from].readers;
    nodes_[node.from].taken = true;
  }
}

}  // namespace

void contract(std::vector<Item>& items, std::vector<std::vector<uint32_t>>& tables,
              std::vector<Register>& registers, Code& code) {
  Contraction(items, tables, registers, code).run();
}

}  // namespace ridge::vm
