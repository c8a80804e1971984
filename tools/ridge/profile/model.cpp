#include "profile/model.h"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::tools::profile {

const char* noun_of(Action action) {
  switch (action) {
    case Action::load: return "loads";
    case Action::store: return "stores";
    case Action::reduction: return "reductions";
    case Action::atomic: return "atomics";
    case Action::copy: return "copies";
    case Action::prefetch: return "prefetches";
    case Action::operand: return "operands";
  }
  return "";
}

std::string Kernel::short_name() const {
  constexpr size_t kLong = 44;
  const size_t arguments = name.find('<');
  const bool shorten = name.size() > kLong && arguments != std::string::npos && arguments > 0;
  return shorten ? name.substr(0, arguments) + "<…>" : name;
}

std::string to_string(const Size& size) {
  if (size.z > 1) return fmt::format("{}×{}×{}", size.x, size.y, size.z);
  if (size.y > 1) return fmt::format("{}×{}", size.x, size.y);
  return fmt::format("{}", size.x);
}

std::string widths_note(const Profile& profile) {
  if (!profile.nvdisasm)
    return "access widths: modelled; install nvdisasm (cuda-nvdisasm) to read them from the "
           "machine "
           "code";
  const Kernel* modelled = nullptr;  // the first of them
  size_t read = 0, unclear = 0;
  for (const Kernel& kernel : profile.kernels) {
    if (kernel.machine_code) ++read;
    else if (!modelled) modelled = &kernel;
    unclear += size_t(std::ranges::count_if(kernel.lines, &Line::unclear));
  }
  const std::string why = !modelled || modelled->no_machine_code.empty()
                              ? "there is no machine code"
                              : modelled->no_machine_code;
  if (!read) return fmt::format("access widths: modelled; {}", why);
  std::string note = "access widths: read from the machine code by nvdisasm";
  if (unclear)
    note += fmt::format("; modelled on {} line{}, where it leaves them open", unclear,
                        unclear == 1 ? "" : "s");
  if (modelled) {
    const size_t others = profile.kernels.size() - read - 1;
    note += fmt::format("; modelled for {}{}: {}", modelled->name,
                        others ? fmt::format(" and {} more", others) : "", why);
  }
  return note;
}

}  // namespace ridge::tools::profile
