// Writes a case as files, for rivals in other languages: case.json, and for each tensor
//   NAME.in                      what it holds before the operator runs (inputs and inouts)
//   NAME.truth, NAME.tolerance   doubles, of outputs: right is |result - truth| <= tolerance
// Cases that are too large for a reference have no truth, and only the start of those inputs that
// have no structure of their own: it is to be repeated.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "harness/inputs.h"
#include "harness/verify.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

Status write(const std::string& file, const void* data, size_t bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(data), std::streamsize(bytes));
  out.close();
  return out ? Status::ok() : Status(Error{8, "cannot write " + file});
}

Status write_doubles(const std::string& file, const std::vector<double>& values) {
  return write(file, values.data(), values.size() * sizeof(double));
}

Status write_inputs(const Ladder& ladder, const Case& c, const Workload& workload, bool whole,
                    const std::string& folder) {
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    const TensorSpec& spec = workload.tensors[t];
    if (spec.role == Role::out) continue;
    const int64_t all = count(spec.shape);
    const bool structured = all > 0 && ladder.input(c, t, 0).has_value();
    const int64_t elements = whole || structured ? all : std::min(all, kPattern);
    const auto bytes = harness::input_bytes(ladder, c, workload, t, elements);
    if (const Status s = write(folder + "/" + spec.name + ".in", bytes.data(), bytes.size()); !s)
      return s;
  }
  return Status::ok();
}

Status write_truth(const harness::Prepared& p, const std::string& folder) {
  for (const HostTensor& tensor : p.tensors) {
    if (tensor.spec.role == Role::in) continue;
    std::vector<double> tolerance(tensor.values.size());
    for (size_t i = 0; i < tolerance.size(); ++i)
      tolerance[i] = harness::tolerance_of(tensor, int64_t(i));
    const std::string file = folder + "/" + tensor.spec.name;
    if (const Status s = write_doubles(file + ".truth", tensor.values); !s) return s;
    if (const Status s = write_doubles(file + ".tolerance", tolerance); !s) return s;
  }
  return Status::ok();
}

// The arguments in the order of the description: tensors that the case leaves out are null.
json arguments_of(const Case& c, const Workload& workload) {
  json tensors = json::array(), parameters = json::array();
  for (const TensorDef& def : c.def->tensors) {
    tensors.push_back(nullptr);
    for (const TensorSpec& spec : workload.tensors) {
      if (spec.name != def.name) continue;
      tensors.back() = {{"name", spec.name},
                        {"dtype", name_of(spec.dtype)},
                        {"dtype_number", int(spec.dtype)},
                        {"shape", spec.shape},
                        {"read", spec.role != Role::out},
                        {"written", spec.role != Role::in},
                        {"on_host", spec.on_host}};
      if (!spec.same_as.empty()) tensors.back()["same_as"] = spec.same_as;
    }
  }
  for (const ParameterDef& p : c.def->parameters)
    parameters.push_back({{"name", p.name}, {"value", c.number(p.name)}});
  return {{"tensors", tensors}, {"parameters", parameters}};
}

// The rung that the library takes; of a call of several launches, the first one's. And how many
// calls the case is: more than one where they are served together, which C functions cannot.
Status describe_call(const Loaded& loaded, const Case& c, const Workload& workload, json& record) {
  const auto device = current_device();
  if (!device) return device.error();
  KeptCall kept;
  const auto call = call_of(loaded, c, workload, kept);
  if (!call) return call.error();
  const auto choices = loaded.ladder->choices(*call, *device);
  if (!choices) return choices.error();
  record["calls"] = std::max<size_t>(kept.group.size(), 1);
  record["rung"] = "";
  if (choices->empty() || choices->front().chosen < 0) return Status::ok();
  const Ladder::Choice& first = choices->front();
  record["rung"] = first.ladder->rungs[size_t(first.chosen)].name;
  return Status::ok();
}

Expected<json> exported(const std::string& name, const Request& request) {
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const Ladder& ladder = *loaded->ladder;
  const auto cases = cases_of(*loaded, request, {ladder.tour()});
  if (!cases) return cases.error();
  const Case& c = cases->front();
  const Workload workload = ladder.workload(c);
  for (const TensorSpec& spec : workload.tensors)
    if (spec.span != count(spec.shape))
      return Error{2, name + ": " + spec.name + " has gaps; only contiguous tensors are exported"};
  const bool has_truth = harness::reference_work(workload) <= harness::kMostReferenceWork;
  json record = describe(*loaded, c, workload);
  if (const Status s = describe_call(*loaded, c, workload, record); !s) return s.error();
  record["truth"] = has_truth;
  record["arguments"] = arguments_of(c, workload);
  if (const Status s = write_inputs(ladder, c, workload, has_truth, request.folder); !s)
    return s.error();
  if (has_truth) {
    const auto prepared = harness::prepare(ladder, c);
    if (!prepared) return prepared.error();
    if (const Status s = write_truth(*prepared, request.folder); !s) return s.error();
  }
  const std::string text = record.dump();
  if (const Status s = write(request.folder + "/case.json", text.data(), text.size()); !s)
    return s.error();
  return record;
}

}  // namespace

int export_case(const Request& request) {
  if (request.operators.size() != 1 || request.folder.empty())
    return fail(Error{2, "export takes one operator, and --folder"});
  const auto record = exported(request.operators.front(), request);
  if (!record) return fail(record.error());
  std::printf("%s\n", record->dump().c_str());
  return 0;
}

}  // namespace ridge::ladders
