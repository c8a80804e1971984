// Arrays of other libraries, as the operators see them: anything that shows its memory through
// DLPack or the buffer protocol.
#pragma once

#include <Python.h>

#include <string>
#include <utility>

#include "dlpack.h"
#include "ridge/c.h"

namespace ridge::python {

// A reference to a Python object, given back at the end.
class Object {
 public:
  Object() = default;
  static Object taken(PyObject* object) { return Object(object); }  // a new reference; may be null
  static Object of(PyObject* object) { return Object(Py_XNewRef(object)); }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* give() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Python has an exception set already.
struct PythonError {};
// A tensor of PyTorch that only its dispatcher can make sense of: on another device, or without
// memory.
struct OnlyDispatched {};
// The object, or the exception that Python has set.
inline Object or_throw(PyObject* object) {
  if (!object) throw PythonError();
  return Object::taken(object);
}

enum class Maker : std::uint8_t { none, torch, exchange, buffer, dlpack };

// One array argument. The memory is its owner's, which lives as long as this.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  // `what` is how messages call it: "softmax: x". Throws a Failure, a PythonError
  // or OnlyDispatched.
  void take(PyObject* object, const std::string& what, bool written);
  // Bytes, or the signed format of the same bits, become a format that few array libraries have.
  // Elements of 4 bits lie two in a byte, so that the last dimension has twice as many of them.
  void see_as(std::uint8_t dtype, const std::string& what);

  RidgeTensor tensor = {};
  dlpack::Device device;
  Maker maker = Maker::none;
  const dlpack::ExchangeApi* api = nullptr;  // of torch and exchange
  bool was_bool = false;                     // u8 that stands for truth values

 private:
  bool take_exchange(PyObject* object, const std::string& what);
  bool take_buffer(PyObject* object, const std::string& what, bool written);
  bool take_renamed(PyObject* object, const std::string& what, bool written);
  bool take_dlpack(PyObject* object, const std::string& what, bool written);
  void take(const dlpack::Tensor& from, const std::string& what);

  Py_buffer buffer_ = {};
  Object owner_;
};

// Of the formats that arrays may have; 0 bits and "?" for all others.
std::size_t bits_of(std::uint8_t dtype);
const char* name_of(std::uint8_t dtype);
bool find_dtype(const std::string& name, std::uint8_t& dtype);
// What an array of this format is made as: its own format, or bytes for elements of 4 bits.
dlpack::DataType dlpack_type(std::uint8_t dtype);
RidgeTensor in_bytes(const RidgeTensor& tensor);

// What the type of an object offers for the exchange without Python calls; null if nothing.
const dlpack::ExchangeApi* exchange_api(PyTypeObject* type);

// PyTorch, once it has been imported.
struct Torch {
  PyTypeObject* tensor = nullptr;
  PyTypeObject* parameter = nullptr;
  PyObject* grad_enabled = nullptr;    // torch.is_grad_enabled
  PyObject* dispatch_modes = nullptr;  // torch._C._len_torch_dispatch_stack
  PyObject* function_modes = nullptr;  // torch._C._len_torch_function_stack
  PyObject* transforms = nullptr;      // torch._C._functorch.peek_interpreter_stack
  explicit operator bool() const { return tensor != nullptr; }
  bool is_tensor(PyObject* object) const { return tensor && PyObject_TypeCheck(object, tensor); }
  bool is_plain(PyObject* object) const {
    return Py_TYPE(object) == tensor || Py_TYPE(object) == parameter;
  }
};
Torch& torch();

}  // namespace ridge::python
