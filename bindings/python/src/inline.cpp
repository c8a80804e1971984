#include "inline.h"

#include <deque>
#include <mutex>

#include "arrays.h"
#include "in_use.h"
#include "library.h"
#include "memory.h"
#include "ridge_inline.h"

namespace ridge::python {
namespace {

using inlined::Argument;
using inlined::Call;
static_assert(sizeof(Tensor) == sizeof(RidgeTensor));

class InlineCall {
 public:
  InlineCall(const std::string& name, const std::string& letters)
      : name_(name), letters_(letters) {}

  PyObject* run(int (*function)(Call*), PyObject* arguments, PyObject* launch) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i)
      take(std::size_t(i), PyTuple_GET_ITEM(arguments, i));
    call_.arguments = arguments_.data();
    call_.count = std::int32_t(arguments_.size());
    if (PyTuple_GET_SIZE(launch)) take_launch(launch);
    const bool on_gpu = check_devices();
    if (on_gpu) run_on_gpu(function);
    else run_on_host_memory(function);
    if (call_.result == Call::Result::integer) return PyLong_FromLongLong(call_.integer);
    if (call_.result == Call::Result::number) return PyFloat_FromDouble(call_.number);
    Py_RETURN_NONE;
  }

 private:
  [[noreturn]] void wrong(const std::string& why) const {
    throw Failure("ArgumentError", name_ + ": " + why);
  }
  static std::string argument(std::size_t i) { return "argument " + std::to_string(i + 1); }

  void take(std::size_t i, PyObject* object) {
    if (i >= letters_.size())
      wrong(std::to_string(i + 1) + " arguments were given; it has " +
            std::to_string(letters_.size()));
    Argument made = {};
    if (letters_[i] == 'n') {
      if (PyBool_Check(object) || PyIndex_Check(object)) {
        made.kind = Argument::Kind::integer;
        const Object index = or_throw(PyNumber_Index(object));
        made.integer = PyLong_AsLongLong(index.get());
        made.number = double(made.integer);
      } else {
        made.kind = Argument::Kind::number;
        made.number = PyFloat_AsDouble(object);
      }
      if (PyErr_Occurred()) {
        PyErr_Clear();
        wrong(argument(i) + " is a " + Py_TYPE(object)->tp_name + "; it has to be a number");
      }
    } else {
      arrays_.emplace_back();
      try {
        arrays_.back().take(object, name_ + ": " + argument(i), letters_[i] == 'w');
      } catch (const OnlyDispatched&) {
        wrong(argument(i) + " shows no memory of a CPU or a CUDA GPU");
      }
      written_.push_back(letters_[i] == 'w');
      made.kind = Argument::Kind::tensor;
      made.tensor = reinterpret_cast<const Tensor*>(&arrays_.back().tensor);
    }
    arguments_.push_back(made);
  }

  void take_launch(PyObject* launch) {
    long long sizes[7];
    for (int i = 0; i < 7; ++i) {
      sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(launch, i));
      if (PyErr_Occurred()) throw PythonError();
      if (sizes[i] < 0 || sizes[i] > 0x7fffffff)
        wrong("the launch has a size of " + std::to_string(sizes[i]));
    }
    for (int i = 0; i < 3; ++i) {
      call_.grid[i] = unsigned(sizes[i]);
      call_.block[i] = unsigned(sizes[3 + i]);
    }
    call_.shared_bytes = std::size_t(sizes[6]);
  }

  bool check_devices() const {
    const Array* first = nullptr;
    for (const Array& array : arrays_) {
      const bool cuda =
          array.device.type == dlpack::kCuda || array.device.type == dlpack::kCudaManaged;
      if (cuda && library().software)
        wrong("an array is on a GPU, but this process runs on the software GPU");
      if (!cuda && array.maker == Maker::torch && !library().software)
        wrong("a tensor is on the CPU, but functions run on the GPU here; move it with .cuda()");
      if (first && (first->device.type != array.device.type || first->device.id != array.device.id))
        wrong("its arrays are on different devices");
      first = &array;
    }
    return first && first->device.type == dlpack::kCuda;
  }

  void run_on_gpu(int (*function)(Call*)) {
    const Array& array = arrays_.front();
    void* stream = nullptr;
    if (array.api && array.api->current_stream &&
        array.api->current_stream(dlpack::kCuda, array.device.id, &stream))
      throw PythonError();
    call_.stream = static_cast<cudaStream_t>(stream);
    int current = 0;
    check(library(), library().cudaGetDevice(&current), name_);
    check(library(), library().cudaSetDevice(array.device.id), name_);
    void* const log = log_position(library());
    const int code = function(&call_);
    library().cudaSetDevice(current);
    throw_if(code, log);
  }

  void run_on_host_memory(int (*function)(Call*)) {
    const Library& device = library();
    const WithoutGil released;
    const std::lock_guard lock(device_in_use());
    device.enter_thread();
    Placed placed(device);
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      placed.add(arrays_[i].tensor, true, written_[i]);
    placed.place(name_.c_str());
    void* const log = log_position(device);
    throw_if(function(&call_), log);
    if (const cudaError_t e = device.cudaDeviceSynchronize()) throw_error(device, e, name_, log);
    device.flush();
    placed.copy_back(name_.c_str());
  }

  void throw_if(int code, void* log) {
    if (code == inlined::kWrongArgument) wrong(call_.why);
    if (code) throw_error(library(), code, name_, log);
  }

  std::string name_, letters_;
  std::deque<Array> arrays_;  // arguments point to their tensors
  std::vector<bool> written_;
  std::vector<Argument> arguments_;
  Call call_ = {};
};

}  // namespace

PyObject* call_inline(std::size_t address, const std::string& name, const std::string& letters,
                      PyObject* arguments, PyObject* launch) {
  library();
  return InlineCall(name, letters)
      .run(reinterpret_cast<int (*)(Call*)>(address), arguments, launch);
}

}  // namespace ridge::python
