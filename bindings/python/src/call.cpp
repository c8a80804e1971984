#include "call.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>

#include "arrays.h"
#include "in_use.h"
#include "library.h"
#include "memory.h"

namespace ridge::python {
namespace {

constexpr std::size_t kMost = 20;  // tensors, parameters or dimensions of an operator

PyObject* torch_path = nullptr;
PyObject* torch_start = nullptr;
PyObject* errors = nullptr;

std::deque<OperatorSpec>& operators() {
  static std::deque<OperatorSpec> all;
  return all;
}

bool truth(PyObject* function) {
  const Object result = or_throw(PyObject_CallNoArgs(function));
  if (PyLong_CheckExact(result.get())) return PyLong_AsLong(result.get()) != 0;
  return result.get() != Py_None && result.get() != Py_False;
}

// As many as an operator has, at most kMost: on the stack, and none made that nobody needs.
template <class T>
class Few {
 public:
  explicit Few(std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < count_; ++i) new (room_ + i * sizeof(T)) T();
  }
  ~Few() {
    for (std::size_t i = count_; i > 0; --i) std::destroy_at(&(*this)[i - 1]);
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  T& operator[](std::size_t i) { return *std::launder(reinterpret_cast<T*>(room_) + i); }
  const T& operator[](std::size_t i) const {
    return *std::launder(reinterpret_cast<const T*>(room_) + i);
  }
  T* data() { return &(*this)[0]; }

 private:
  std::size_t count_;
  alignas(T) std::byte room_[kMost * sizeof(T)];
};

class OneCall {
 public:
  OneCall(OperatorSpec& op, PyObject* parameters, PyObject* sizes)
      : op_(op),
        library_(library()),
        arrays_(op.tensors.size()),
        objects_(op.tensors.size()),
        present_(op.tensors.size()) {
    take_parameters(parameters);
    take_sizes(sizes);
  }

  PyObject* run(PyObject* given) {
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) take(t, PyTuple_GET_ITEM(given, t));
    if (needs_outputs_) allocate_outputs();
    check_devices();
    if (cuda_) run_on_gpu();
    else run_on_host_memory();
    return results();
  }

 private:
  std::string what(std::size_t t) const { return op_.name + ": " + op_.tensors[t].name; }
  [[noreturn]] void wrong(const std::string& why) const {
    throw Failure("ArgumentError", op_.name + ": " + why);
  }

  void take_parameters(PyObject* given) {
    if (std::size_t(PyTuple_GET_SIZE(given)) != op_.parameters) wrong("wrong number of parameters");
    for (std::size_t p = 0; p < op_.parameters; ++p) {
      parameters_[p] = PyFloat_AsDouble(PyTuple_GET_ITEM(given, p));
      if (parameters_[p] == -1 && PyErr_Occurred()) throw PythonError();
    }
  }
  void take_sizes(PyObject* given) {
    if (given == Py_None) return;
    has_sizes_ = true;
    for (std::size_t d = 0; d < op_.dimensions; ++d) {
      PyObject* const size = PyTuple_GET_ITEM(given, d);
      sizes_[d] = size == Py_None ? -1 : PyLong_AsLongLong(size);
      if (sizes_[d] == -1 && PyErr_Occurred()) throw PythonError();
    }
  }

  void take(std::size_t t, PyObject* object) {
    const TensorSpec& spec = op_.tensors[t];
    if (object == Py_None || object == Py_True) {
      if (object == Py_None && spec.optional) return;
      if (!spec.written) wrong(spec.name + " is missing");
      present_[t] = &arrays_[t].tensor;
      arrays_[t].tensor.rank = -1;
      needs_outputs_ = true;
      return;
    }
    arrays_[t].take(object, what(t), spec.written);
    if (spec.bytes_as) arrays_[t].see_as(*spec.bytes_as, what(t));
    objects_[t] = Object::of(object);
    present_[t] = &arrays_[t].tensor;
  }

  // The first array that the caller gave: outputs are made as it was.
  std::size_t model() const {
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      if (objects_[t]) return t;
    return kMost;
  }

  void allocate_outputs() {
    if (library_.outputs(op_.name.c_str(), present_.data(), int(op_.tensors.size()),
                         parameters_.data(), int(op_.parameters),
                         has_sizes_ ? sizes_.data() : nullptr,
                         has_sizes_ ? int(op_.dimensions) : 0))
      throw Failure("ArgumentError", library_.error());
    const std::size_t like = model();
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (!present_[t] || objects_[t]) continue;
      const RidgeTensor wanted = arrays_[t].tensor;
      objects_[t] = allocated(like, t, in_bytes(wanted));
      arrays_[t].take(objects_[t].get(), what(t), true);
      if (op_.tensors[t].bytes_as) {  // its own format; an odd number of 4-bit elements stays odd
        void* const data = arrays_[t].tensor.data;
        arrays_[t].tensor = wanted;
        arrays_[t].tensor.data = data;
      }
      if (op_.tensors[t].read) set_to_zero(t);
    }
  }

  // By the library of the array that the caller gave.
  Object allocated_as(std::size_t like, const RidgeTensor& wanted) const {
    dlpack::Tensor prototype;
    prototype.device = arrays_[like].device;
    prototype.dtype = dlpack_type(wanted.dtype);
    prototype.rank = wanted.rank;
    prototype.shape = const_cast<std::int64_t*>(wanted.shape);
    dlpack::ManagedTensor* made = nullptr;
    const auto set_error = [](void*, const char*, const char* message) {
      PyErr_SetString(PyExc_MemoryError, message);
    };
    if (arrays_[like].api->allocate(&prototype, &made, nullptr, set_error)) throw PythonError();
    void* object = nullptr;
    if (arrays_[like].api->to_object(made, &object)) throw PythonError();
    return Object::taken(static_cast<PyObject*>(object));
  }

  // NumPy's, or where NumPy is not installed, a memoryview of a bytearray.
  Object allocated_buffer(std::size_t like, std::size_t t, const RidgeTensor& wanted) const {
    static PyObject* const make = helper("empty");
    if (like < kMost && arrays_[like].device.type != dlpack::kCpu)
      wrong(op_.tensors[t].name + " has to be given: Ridge cannot allocate arrays of " +
            Py_TYPE(objects_[like].get())->tp_name);
    const Object shape = tuple_of(wanted.shape, wanted.rank);
    return or_throw(PyObject_CallFunction(make, "Os", shape.get(), name_of(wanted.dtype)));
  }

  // An output whose strides follow an input's is made with its dimensions in the order in which
  // they lie, and seen in the order that is wanted.
  Object allocated(std::size_t like, std::size_t t, const RidgeTensor& wanted) const {
    std::array<std::int64_t, RIDGE_MAX_RANK> lie = {}, seen = {};
    for (int d = 0; d < wanted.rank; ++d) lie[d] = d;
    std::stable_sort(lie.begin(), lie.begin() + wanted.rank, [&](std::int64_t a, std::int64_t b) {
      return wanted.strides[a] > wanted.strides[b];
    });
    RidgeTensor made = wanted;
    bool in_order = true;
    for (int d = 0; d < wanted.rank; ++d) {
      made.shape[d] = wanted.shape[lie[d]];
      seen[std::size_t(lie[d])] = d;
      in_order &= lie[d] == d;
    }
    const bool by_api = like < kMost && arrays_[like].api;
    Object object = by_api ? allocated_as(like, made) : allocated_buffer(like, t, made);
    if (in_order) return object;
    static PyObject* const permuted = helper("permuted");
    const Object order = tuple_of(seen.data(), wanted.rank);
    return or_throw(PyObject_CallFunctionObjArgs(permuted, object.get(), order.get(), nullptr));
  }

  static Object tuple_of(const std::int64_t* numbers, int count) {
    Object all = or_throw(PyTuple_New(count));
    for (int i = 0; i < count; ++i)
      PyTuple_SET_ITEM(all.get(), i, or_throw(PyLong_FromLongLong(numbers[i])).give());
    return all;
  }
  // A function of ridge._arrays.
  static PyObject* helper(const char* name) {
    const Object module = or_throw(PyImport_ImportModule("ridge._arrays"));
    return or_throw(PyObject_GetAttrString(module.get(), name)).give();
  }

  void set_to_zero(std::size_t t) {
    static PyObject* const fill = helper("set_to_zero");
    or_throw(PyObject_CallOneArg(fill, objects_[t].get()));
  }

  static bool is_cuda(const dlpack::Device& device) {
    return device.type == dlpack::kCuda || device.type == dlpack::kCudaManaged;
  }

  void check_devices() {
    std::size_t first = kMost;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (!present_[t] || op_.tensors[t].on_host) continue;
      const dlpack::Device& device = arrays_[t].device;
      if (!is_cuda(device) && device.type != dlpack::kCpu && device.type != dlpack::kCudaHost)
        wrong(op_.tensors[t].name + " is on a device that is neither the CPU nor a CUDA GPU");
      if (first == kMost) first = t;
      const dlpack::Device& other = arrays_[first].device;
      if (is_cuda(device) != is_cuda(other) || (is_cuda(device) && device.id != other.id))
        wrong(op_.tensors[t].name + " is on " + place(device) + ", but " + op_.tensors[first].name +
              " is on " + place(other));
      if (!is_cuda(device) && arrays_[t].maker == Maker::torch && !library_.software)
        wrong(op_.tensors[t].name + " is on the CPU, but the operators run on the GPU here (" +
              library_.device + "). Move it with " + op_.tensors[t].name +
              ".cuda(), or call ridge.use(\"vm\") first to take the software GPU");
    }
    if (first == kMost) {  // host memory alone
      for (std::size_t t = 0; t < op_.tensors.size() && first == kMost; ++t)
        if (present_[t]) first = t;
    }
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      if (present_[t] && op_.tensors[t].on_host && is_cuda(arrays_[t].device))
        wrong(op_.tensors[t].name + " is on " + place(arrays_[t].device) +
              "; this operator takes it from host memory");
    if (first == kMost || !is_cuda(arrays_[first].device)) return;
    if (library_.software)
      wrong(op_.tensors[first].name + " is on " + place(arrays_[first].device) +
            ", but the operators run on the software GPU here, which computes on host memory. Give "
            "it arrays of the CPU");
    cuda_ = &arrays_[first];
    cuda_object_ = objects_[first].get();
  }
  static std::string place(const dlpack::Device& device) {
    return is_cuda(device) ? "cuda:" + std::to_string(device.id) : "the CPU";
  }

  int run_operator(const RidgeWorkspace& workspace, void* stream) {
    return library_.run(op_.name.c_str(), const_cast<const RidgeTensor* const*>(present_.data()),
                        int(op_.tensors.size()), parameters_.data(), int(op_.parameters),
                        &workspace, stream);
  }
  std::size_t ask_workspace() {
    std::size_t wanted = 0;
    throw_if(run_operator({nullptr, 0, &wanted}, nullptr));
    return wanted;
  }

  // Shapes, formats and parameters as one number (FNV-1a).
  std::uint64_t shapes() const {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::uint64_t x) { hash = (hash ^ x) * 0x100000001b3; };
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) {
      if (!present_[t]) {
        add(~0ull);
        continue;
      }
      add(present_[t]->dtype);
      for (int d = 0; d < present_[t]->rank; ++d) {
        add(std::uint64_t(present_[t]->shape[d]));
        add(std::uint64_t(present_[t]->strides[d]));
      }
      add(std::uint64_t(present_[t]->rank));
    }
    for (std::size_t p = 0; p < op_.parameters; ++p)
      add(std::bit_cast<std::uint64_t>(parameters_[p]));
    return hash;
  }

  // Asking for the workspace costs as much as the call itself, so a call of the same shapes takes
  // as much as the last. If that was wrong, the call refuses it, and is asked after all.
  template <class Allocate>
  void run_in_workspace(Allocate allocate, void* stream) {
    const std::uint64_t now = shapes();
    bool asked = now != op_.last_shapes;
    std::size_t bytes = asked ? ask_workspace() : op_.last_workspace;
    for (;;) {
      const RidgeWorkspace workspace = {bytes ? allocate(bytes) : nullptr, bytes, nullptr};
      const int code = run_operator(workspace, stream);
      if (!code) break;
      const std::size_t wanted = asked ? bytes : ask_workspace();
      if (wanted <= bytes) throw_if(code);
      asked = true;
      bytes = wanted;
    }
    op_.last_shapes = now;
    op_.last_workspace = bytes;
  }
  // An error that the library tells in words, or one of the device's.
  void throw_if(int code) {
    if (!code) return;
    const std::string message = library_.error();
    throw Failure(code == cudaErrorInvalidValue ? "ArgumentError"
                  : code == 8                   ? "MissingError"
                                                : "Error",
                  message);
  }

  void run_on_gpu() {
    int current = 0;
    check(library_, library_.cudaGetDevice(&current), op_.name);
    const bool elsewhere = current != cuda_->device.id;
    if (elsewhere) check(library_, library_.cudaSetDevice(cuda_->device.id), op_.name);
    void* stream = nullptr;
    try {
      if (cuda_->api && cuda_->api->current_stream &&
          cuda_->api->current_stream(dlpack::kCuda, cuda_->device.id, &stream))
        throw PythonError();
      Object memory;
      Array view;
      const auto allocate = [&](std::size_t bytes) {
        // Of the framework's allocator, which knows what streams still use.
        if (!cuda_->api)
          wrong("it needs a workspace of " + std::to_string(bytes) + " bytes, which Ridge cannot " +
                "get from " + Py_TYPE(cuda_object_)->tp_name + "; give it tensors of PyTorch");
        RidgeTensor wanted = {};
        wanted.dtype = RIDGE_U8;
        wanted.rank = 1;
        wanted.shape[0] = std::int64_t(bytes);
        memory = allocated_as(std::size_t(cuda_ - arrays_.data()), wanted);
        view.take(memory.get(), "the workspace", true);
        return view.tensor.data;
      };
      run_in_workspace(allocate, stream);
    } catch (...) {
      if (elsewhere) library_.cudaSetDevice(current);
      throw;
    }
    if (elsewhere) library_.cudaSetDevice(current);
  }

  void run_on_host_memory() {
    const WithoutGil released;
    const std::lock_guard lock(device_in_use());
    library_.enter_thread();
    Placed placed(library_);
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      if (present_[t] && !op_.tensors[t].on_host)
        placed.add(*present_[t], op_.tensors[t].read, op_.tensors[t].written);
    placed.place(op_.name.c_str());
    void* const log = log_position(library_);
    run_in_workspace([&](std::size_t bytes) { return scratch(library_, bytes, op_.name.c_str()); },
                     nullptr);
    if (const cudaError_t e = library_.cudaDeviceSynchronize())
      throw_error(library_, e, op_.name, log);
    library_.flush();
    placed.copy_back(op_.name.c_str());
  }

  PyObject* results() {
    std::size_t count = 0, last = 0;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      if (op_.tensors[t].written && present_[t]) {
        ++count;
        last = t;
      }
    if (count == 0) Py_RETURN_NONE;
    if (count == 1) return objects_[last].give();
    Object all = or_throw(PyTuple_New(Py_ssize_t(count)));
    Py_ssize_t at = 0;
    for (std::size_t t = 0; t < op_.tensors.size(); ++t)
      if (op_.tensors[t].written && present_[t])
        PyTuple_SET_ITEM(all.get(), at++, objects_[t].give());
    return all.give();
  }

  OperatorSpec& op_;
  const Library& library_;
  std::array<double, kMost> parameters_;
  std::array<std::int64_t, kMost> sizes_;
  bool has_sizes_ = false, needs_outputs_ = false;
  Few<Array> arrays_;
  Few<Object> objects_;
  Few<RidgeTensor*> present_;
  const Array* cuda_ = nullptr;  // one that is on the GPU
  PyObject* cuda_object_ = nullptr;
};

// Whether a call has to go through PyTorch's dispatcher: gradients are wanted, somebody watches the
// operators (a mode, a transform), or a tensor is not an ordinary one.
bool needs_dispatcher(PyObject* tensors) {
  static bool started = false;
  Torch& known = torch();
  bool any = false, gradients = false;
  for (Py_ssize_t t = 0; t < PyTuple_GET_SIZE(tensors); ++t) {
    PyObject* const object = PyTuple_GET_ITEM(tensors, t);
    if (object == Py_None || object == Py_True) continue;
    if (!known && torch_start && !started && exchange_api(Py_TYPE(object))) {
      or_throw(PyObject_CallNoArgs(torch_start));  // sets torch(), if it is PyTorch
      started = bool(known);
    }
    if (!known.is_tensor(object)) continue;
    any = true;
    if (!known.is_plain(object)) return true;
    const Object wants = or_throw(PyObject_GetAttrString(object, "requires_grad"));
    gradients |= wants.get() == Py_True;
  }
  return any && ((gradients && truth(known.grad_enabled)) || truth(known.dispatch_modes) ||
                 truth(known.function_modes) || truth(known.transforms));
}

}  // namespace

std::size_t add_operator(OperatorSpec spec) {
  if (std::max({spec.tensors.size(), spec.parameters, spec.dimensions}) > kMost)
    throw Failure("Error", spec.name + " has more than " + std::to_string(kMost) +
                               " tensors, parameters or dimensions");
  operators().push_back(std::move(spec));
  return operators().size() - 1;
}

void set_torch_path(PyObject* function) { torch_path = Py_NewRef(function); }
void set_torch_start(PyObject* function) { torch_start = Py_NewRef(function); }
void set_errors(PyObject* module) { errors = Py_NewRef(module); }

void raise(const Failure& failure) noexcept {
  const Object type = Object::taken(PyObject_GetAttrString(errors, failure.kind));
  PyErr_SetString(type ? type.get() : PyExc_RuntimeError, failure.what());
}

PyObject* call_operator(std::size_t op, PyObject* tensors, PyObject* parameters, PyObject* sizes,
                        Path path) noexcept {
  try {
    OperatorSpec& spec = operators().at(op);
    if (std::size_t(PyTuple_GET_SIZE(tensors)) != spec.tensors.size())
      throw Failure("ArgumentError", spec.name + ": wrong number of tensors");
    const auto dispatched = [&] {
      return PyObject_CallFunction(torch_path, "nOOO", Py_ssize_t(op), tensors, parameters, sizes);
    };
    if (path == Path::any && needs_dispatcher(tensors)) return dispatched();
    try {
      OneCall call(spec, parameters, sizes);
      return call.run(tensors);
    } catch (const OnlyDispatched&) {
      if (path == Path::any) return dispatched();
      throw Failure("ArgumentError",
                    spec.name + ": a tensor shows no memory of a CPU or a CUDA GPU");
    }
  } catch (const Failure& failure) {
    raise(failure);
  } catch (const PythonError&) {
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

}  // namespace ridge::python
