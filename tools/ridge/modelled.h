// The times that the model of the software GPU gives a program's kernels (`ridge run --model`).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "process.h"

namespace ridge::tools {

// Has the software GPU ask ptxas how many registers kernels have, where there is a ptxas: they
// decide how many blocks an SM holds.
void ask_for_registers(Environment& environment);

// "kernels": one element per kernel and shape, in the order of their first launches; "copies": what
// was copied each way, and filled; "total_us": all of it on one timeline. From the lines that the
// software GPU wrote to `path`.
nlohmann::json read_modelled(const std::string& path);

// The same for people, "modelled for H200 …". What rests on unchecked figures says so.
std::string modelled_table(const nlohmann::json& modelled, const std::string& gpu);

}  // namespace ridge::tools
