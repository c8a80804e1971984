// The software GPU's JSON lines, one per launch, as kernels and lines.
#pragma once

#include <filesystem>
#include <istream>

#include "core/status.h"
#include "profile/model.h"

namespace ridge::tools::profile {

// Fields that are not there count as 0. A last line that was cut off (the program was killed) is
// left out. `kernel` keeps only kernels whose name contains it.
Expected<Profile> read_profile(std::istream& wire, const std::string& kernel = "");

// The PTX that was loaded, for the text of its lines: every file of the folder.
void read_ptx(Profile& profile, const std::filesystem::path& folder);

// Sums instructions by line and fetches the lines' text from the source files, or from the PTX.
void make_lines(Profile& profile);

std::string short_name(const std::string& mangled);  // without namespaces and parameters

}  // namespace ridge::tools::profile
