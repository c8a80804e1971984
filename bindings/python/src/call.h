// One call of an operator from Python: arrays in, arrays out.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge::python {

// What the generated functions say about their operator, once.
struct TensorSpec {
  std::string name;
  bool read = false, written = false;
  bool optional = false, on_host = false;
  // The format that an array of bytes stands for, where few libraries have the format itself.
  std::optional<std::uint8_t> bytes_as = {};
};
struct OperatorSpec {
  std::string name;
  std::vector<TensorSpec> tensors;
  std::size_t parameters = 0;
  std::size_t dimensions = 0;
  // What the last call needed as workspace, and a number that says which shapes it had.
  std::uint64_t last_shapes = 0;
  std::size_t last_workspace = 0;
};
// Their number, by which calls name them. Throws a Failure.
std::size_t add_operator(OperatorSpec spec);

enum class Path {
  any,     // what needs PyTorch's dispatcher goes through it
  kernel,  // the dispatcher's own call: straight to the device
};

// `tensors`: one entry per tensor of the description. None: left out, or, of an output that has to
// be there, allocated. True: an optional output, allocated. `sizes` may be None. Returns what the
// operator has written: nothing (None), one array, or a tuple. Null: Python has an exception set.
PyObject* call_operator(std::size_t op, PyObject* tensors, PyObject* parameters, PyObject* sizes,
                        Path path) noexcept;

// What PyTorch's dispatcher is called through: a Python function of (op, tensors, parameters,
// sizes).
void set_torch_path(PyObject* function);
// Called once, when the first tensor of PyTorch is seen.
void set_torch_start(PyObject* function);

void set_errors(PyObject* module);  // with the classes that Failure::kind names
void raise(const struct Failure& failure) noexcept;

}  // namespace ridge::python
