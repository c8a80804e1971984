// Writes what follows from the descriptions of all operators:
//   HEADERS/c_operators.h, SOURCES/c_operators.cpp   a C function for every operator
//   HEADERS/operators.h, SOURCES/operators.cpp       a C++ function for those without a hand-shaped
//                                                    one
//   PYTHON/_operators.py, PYTHON/operators.json      a Python function for every operator, and the
//                                                    descriptions as JSON
// A file whose text stays the same is left alone, so that nothing is compiled again.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "ladder/registry.h"
#include "python.h"
#include "text.h"

namespace ridge::generate {
namespace {

constexpr const char* kMade =
    "// Made from the descriptions of the operators; see tools/generate.\n";

const char* c_type(ParameterType type) {
  switch (type) {
    case ParameterType::number: return "double ";
    case ParameterType::integer: return "int64_t ";
    case ParameterType::flag:
    case ParameterType::choice: return "int ";
  }
  return "";
}
const char* cpp_type(ParameterType type) {
  switch (type) {
    case ParameterType::number: return "double ";
    case ParameterType::integer: return "std::int64_t ";
    case ParameterType::flag: return "bool ";
    case ParameterType::choice: return "int ";
  }
  return "";
}

std::string c_function(const OperatorDef& op, const char* tail) {
  std::vector<std::string> arguments;
  for (const TensorDef& t : op.tensors) arguments.push_back("const RidgeTensor* " + t.name);
  for (const ParameterDef& p : op.parameters) arguments.push_back(c_type(p.type) + p.name);
  arguments.push_back("const RidgeWorkspace* workspace");
  arguments.push_back("void* stream");
  return signature("int ridge_" + op.name + "(", arguments, tail);
}

// Whether all parameters from `first` on have a default.
bool all_have_defaults(const OperatorDef& op, size_t first) {
  for (size_t p = first; p < op.parameters.size(); ++p)
    if (op.parameters[p].required) return false;
  return true;
}
std::string default_of(const ParameterDef& p) {
  if (p.type == ParameterType::flag) return p.otherwise != 0 ? "true" : "false";
  return literal(p.otherwise);
}

std::string cpp_function(const OperatorDef& op, bool is_declaration) {
  std::vector<std::string> arguments;
  for (const TensorDef& t : op.tensors)
    arguments.push_back((t.optional ? "const Tensor* " : "const Tensor& ") + t.name);
  for (size_t p = 0; p < op.parameters.size(); ++p) {
    const ParameterDef& def = op.parameters[p];
    const bool has_default = is_declaration && all_have_defaults(op, p);
    arguments.push_back(cpp_type(def.type) + def.name +
                        (has_default ? " = " + default_of(def) : ""));
  }
  arguments.push_back(std::string("const Workspace& workspace") + (is_declaration ? " = {}" : ""));
  arguments.push_back(std::string("cudaStream_t stream") + (is_declaration ? " = nullptr" : ""));
  return signature((is_declaration ? "[[nodiscard]] Status " : "Status ") + op.name + "(",
                   arguments, is_declaration ? ");" : ") {");
}

// The tensors and parameters of a call, each list in braces.
std::string passed_on(const OperatorDef& op, bool to_c) {
  std::string tensors, parameters;
  for (const TensorDef& t : op.tensors)
    tensors += (tensors.empty() ? "" : ", ") + std::string(to_c || t.optional ? "" : "&") + t.name;
  for (const ParameterDef& p : op.parameters)
    parameters += (parameters.empty() ? "" : ", ") +
                  (p.type == ParameterType::number ? p.name : "int64_t(" + p.name + ")");
  return "(\"" + op.name + "\", {" + tensors + "}, {" + parameters + "}, workspace, stream);\n";
}

std::string dtypes() {
  std::string text = "enum RidgeDtype {\n";
  for (int i = 0; std::string(name_of(Dtype(i))) != "?"; ++i) {
    std::string name = name_of(Dtype(i));
    for (char& c : name) c = char(std::toupper(c));
    text += "  RIDGE_" + name + " = " + std::to_string(i) + ",\n";
  }
  return text + "};\n";
}

std::string c_header() {
  std::string text =
      "// The operators from C: see ridge/c.h. Every parameter has to be given; its default is "
      "what a\n"
      "// caller takes who has no other wish.\n//\n" +
      std::string(kMade) +
      "#pragma once\n\n#include <stdint.h>\n\n#include \"ridge/c.h\"\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += "// The formats of numbers.\n" + dtypes();
  for (const OperatorDef* op : all_operators())
    text += "\n" + comment_of(*op) + c_function(*op, ");");
  return text + "\n#ifdef __cplusplus\n}\n#endif\n";
}

std::string c_source() {
  std::string text =
      kMade + std::string("#include \"ops/c_call.h\"\n\nusing ridge::ops::c_call;\n");
  for (const OperatorDef* op : all_operators())
    text += "\n" + c_function(*op, ") {") + "  return c_call" + passed_on(*op, true) + "}\n";
  return text;
}

std::string cpp_header() {
  std::string text =
      "// Operators whose C++ functions follow from their descriptions. The others have headers "
      "of\n"
      "// their own; ridge/ridge.h includes all of them.\n//\n" +
      std::string(kMade) +
      "#pragma once\n\n#include <cuda_runtime_api.h>\n\n#include <cmath>\n#include <cstdint>\n\n"
      "#include \"ridge/status.h\"\n#include \"ridge/tensor.h\"\n#include \"ridge/workspace.h\"\n\n"
      "namespace ridge {\ninline namespace api {\n";
  for (const OperatorDef* op : all_operators())
    if (op->header.empty()) text += "\n" + comment_of(*op) + cpp_function(*op, true);
  return text + "\n}  // namespace api\n}  // namespace ridge\n";
}

std::string cpp_source() {
  std::string text = kMade + std::string(
                                 "#include \"ridge/operators.h\"\n\n"
                                 "#include \"ops/call.h\"\n\n"
                                 "namespace ridge {\ninline namespace api {\n");
  for (const OperatorDef* op : all_operators())
    if (op->header.empty())
      text +=
          "\n" + cpp_function(*op, false) + "  return ops::call" + passed_on(*op, false) + "}\n";
  return text + "\n}  // namespace api\n}  // namespace ridge\n";
}

bool write(const std::string& file, const std::string& text) {
  std::stringstream before;
  if (std::ifstream in(file); in) before << in.rdbuf();
  if (before.str() == text) return true;
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "cannot write %s\n", file.c_str());
  return bool(out);
}

}  // namespace
}  // namespace ridge::generate

int main(int argc, char** argv) {
  using namespace ridge::generate;
  if (argc != 4) {
    std::fprintf(stderr, "usage: ridge_generate HEADERS SOURCES PYTHON\n");
    return 2;
  }
  const std::string headers = argv[1], sources = argv[2], python = argv[3];
  const bool written = write(headers + "/c_operators.h", c_header()) &&
                       write(headers + "/operators.h", cpp_header()) &&
                       write(sources + "/c_operators.cpp", c_source()) &&
                       write(sources + "/operators.cpp", cpp_source()) &&
                       write(python + "/_operators.py", python_source()) &&
                       write(python + "/operators.json", descriptions());
  return written ? 0 : 1;
}
