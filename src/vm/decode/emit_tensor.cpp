// Copies of tensors: a tensor map with coordinates, addresses in shared memory, offsets and the
// blocks that receive the copy to a TensorSite.
#include "vm/decode/decoder.h"

namespace ridge::vm {

void Decoder::emit_tensor(const Item& item) {
  const Match& match = *item.match;
  const auto& specs = operand_specs(*match.row);
  const auto& operands = item.source->operands;
  const auto check = [&](size_t have, size_t want, const char* what, const Operand& op) {
    if (have != want)
      fail("this copy has " + std::to_string(want) + " " + what + (want == 1 ? "" : "s"),
           op.column);
  };
  TensorSite site;
  site.flags = match.handlers.flags;
  bool first_shared = true;  // the second one is the mbarrier
  for (size_t k = 0; k < specs.size() && k < operands.size(); ++k) {
    const Operand& op = operands[k];
    if (specs[k].address) {
      const Address at = address(op, specs[k].space);
      auto& field = specs[k].tensor ? site.map : first_shared ? site.shared : site.barrier;
      field = {at.base, at.offset};
      if (!specs[k].tensor) {
        first_shared = false;
        continue;
      }
      check(op.elems.size(), match.handlers.fragments[0], "coordinate", op);
      for (size_t e = 0; e < op.elems.size(); ++e) site.at[e] = source(op.elems[e], Type::s32);
    } else if (!specs[k].fragment) {
      site.receivers = source(op, Type::u16);
    } else {
      check(op.kind == Operand::Kind::vec ? op.elems.size() : 0, match.handlers.fragments[1],
            "offset", op);
      for (size_t e = 0; e < op.elems.size(); ++e) site.offsets[e] = source(op.elems[e], Type::u16);
    }
  }
  code_.tensors.push_back(site);
  push_access(match.handlers, kNoOperand, uint32_t(code_.tensors.size()) - 1, 0, 0);
}

}  // namespace ridge::vm
