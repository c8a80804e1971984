#include "vm/decode/register_use.h"

#include <algorithm>
#include <string>

#include "vm/isa/form.h"

namespace ridge::vm {

void RegisterUse::add(const Instruction& ins) {
  const Sync sync = ins.match->facts().sync;
  if ((sync != Sync::registers_inc && sync != Sync::registers_dec) || ins.operands.empty()) return;
  const uint64_t count = ins.operands[0].bits;
  used_ = true;
  if (sync == Sync::registers_inc) {
    least_inc_ = std::min(least_inc_, count);
    most_inc_ = std::max(most_inc_, count);
  } else if (!largest_dec_ || count > largest_dec_->operands[0].bits) {
    largest_dec_ = &ins;
  }
}

void RegisterUse::add(const RegisterUse& other) {
  used_ |= other.used_;
  least_inc_ = std::min(least_inc_, other.least_inc_);
  most_inc_ = std::max(most_inc_, other.most_inc_);
  if (other.largest_dec_) add(*other.largest_dec_);
}

// ptxas gives the kernel as many as its bounds allow, but no more than the first raise asks for.
Expected<uint32_t> RegisterUse::at_entry(const KernelInfo& info, const Module& module) const {
  if (!used_ || !info.fixed_registers) return 0u;
  const uint64_t most = (uint64_t(info.max_registers) + kStep - 1) / kStep * kStep;
  const uint64_t count = std::min(most, least_inc_);
  const uint64_t ever = std::max(count, most_inc_);
  if (largest_dec_ && largest_dec_->operands[0].bits > ever)
    return Error{
        1, diagnostic(module, largest_dec_->line, largest_dec_->column,
                      "setmaxnreg.dec asks for " + std::to_string(largest_dec_->operands[0].bits) +
                          " registers per thread, but the kernel never has more than " +
                          std::to_string(ever))};
  return uint32_t(count);
}

}  // namespace ridge::vm
