// What Triton has made of the lines of a Python program (src/vm/driver/python/ridge_gpu/notes.py).
#pragma once

#include <istream>
#include <string>

#include <nlohmann/json.hpp>

namespace ridge::tools::profile {

nlohmann::json read_triton_notes(std::istream& wire);          // one object per kernel
std::string triton_notes_text(const nlohmann::json& kernels);  // empty: there are none

}  // namespace ridge::tools::profile
