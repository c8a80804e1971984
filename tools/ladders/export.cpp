// Writes a case as files, for rivals in other languages: case.json, and each tensor's bytes as
// NAME.in (what it holds before), and of outputs NAME.truth and NAME.tolerance (doubles): a result
// is right where |result - truth| <= tolerance. Of cases that are too large for a reference only
// the start of the inputs is written, which is to be repeated.
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "harness/inputs.h"
#include "harness/verify.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

constexpr int64_t kPattern = 1 << 22;  // elements

Status write(const std::string& file, const void* data, size_t bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(data), std::streamsize(bytes));
  out.close();
  return out ? Status::ok() : Status(Error{8, "cannot write " + file});
}

Status write_truth(const harness::Prepared& p, const std::string& folder) {
  for (const HostTensor& tensor : p.tensors) {
    if (tensor.spec.role == Role::in) continue;
    std::vector<double> tolerance(tensor.values.size());
    for (size_t i = 0; i < tolerance.size(); ++i)
      tolerance[i] = harness::tolerance_of(tensor, int64_t(i));
    const size_t bytes = tolerance.size() * sizeof(double);
    if (const Status s =
            write(folder + "/" + tensor.spec.name + ".truth", tensor.values.data(), bytes);
        !s)
      return s;
    if (const Status s =
            write(folder + "/" + tensor.spec.name + ".tolerance", tolerance.data(), bytes);
        !s)
      return s;
  }
  return Status::ok();
}

}  // namespace

int export_case(const Options& options) {
  if (options.operators.size() != 1 || options.folder.empty())
    return fail(Error{2, "export takes one operator, and --folder"});
  const auto loaded = load_operator(options.operators.front());
  if (!loaded) return fail(loaded.error());
  const auto cases = cases_of(*loaded, options, {loaded->ladder->tour()});
  if (!cases) return fail(cases.error());
  const Case& c = cases->front();
  const Workload workload = loaded->ladder->workload(c);
  json record = describe(*loaded, c, workload);
  const bool with_truth = harness::reference_work(workload) <= harness::kMostReferenceWork;
  record["truth"] = with_truth;
  for (const ParameterDef& p : loaded->op->parameters)
    record["all_parameters"][p.name] = c.number(p.name);
  record["backward_of"] = nullptr;
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    const TensorSpec& spec = workload.tensors[t];
    record["tensors"].push_back({{"name", spec.name},
                                 {"dtype", name_of(spec.dtype)},
                                 {"shape", spec.shape},
                                 {"role", int(spec.role)},
                                 {"on_host", spec.on_host}});
    if (spec.role == Role::out) continue;
    const bool structured = spec.span > 0 && loaded->ladder->input(c, t, 0).has_value();
    const int64_t elements =
        structured || with_truth ? count(spec.shape) : std::min(count(spec.shape), kPattern);
    const auto bytes = harness::input_bytes(*loaded->ladder, c, workload, t, elements);
    if (const Status s =
            write(options.folder + "/" + spec.name + ".in", bytes.data(), bytes.size());
        !s)
      return fail(s);
  }
  if (with_truth)
    if (const Status s = write_truth(harness::prepare(*loaded->ladder, c), options.folder); !s)
      return fail(s);
  const std::string text = record.dump();
  if (const Status s = write(options.folder + "/case.json", text.data(), text.size()); !s)
    return fail(s);
  tell(record);
  return 0;
}

}  // namespace ridge::ladders
