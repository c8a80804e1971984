// The profile as one page that needs nothing else: the template in this folder, with the record in
// it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profile/model.h"

namespace ridge::tools::profile {

std::string to_page(nlohmann::json record, const Profile& profile);

}  // namespace ridge::tools::profile
