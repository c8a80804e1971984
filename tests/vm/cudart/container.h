// Fat-binary containers made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vm/cudart/fatbin.h"

namespace ridge::vm::cudart::test {

struct Entry {
  std::string text = "text";
  uint32_t arch = 90;
  uint16_t kind = 1;
  char suffix = 0;
  FatImage::Packing packing = FatImage::Packing::none;
};

std::vector<uint8_t> container(const std::vector<Entry>& entries);

}  // namespace ridge::vm::cudart::test
