// The module ridge._core: what the Python files of the package stand on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "call.h"
#include "inline.h"
#include "library.h"

namespace nb = nanobind;
using namespace ridge::python;

namespace {

// The functions that every call of an operator goes through take their arguments as they come.
template <Path path>
PyObject* run(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "an operator's number, tensors, parameters and sizes");
    return nullptr;
  }
  return call_operator(PyLong_AsSize_t(arguments[0]), arguments[1], arguments[2], arguments[3],
                       path);
}

PyMethodDef kFast[] = {
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run<Path::any>)), METH_FASTCALL,
     "run(operator, tensors, parameters, sizes): calls an operator"},
    {"run_kernel", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run<Path::kernel>)),
     METH_FASTCALL, "The same without PyTorch's dispatcher, which calls it"},
    {nullptr, nullptr, 0, nullptr}};

// f: on an exception of ours, the Python one that it stands for.
template <class F>
auto guarded(F f) {
  try {
    return f();
  } catch (const Failure& failure) {
    raise(failure);
  } catch (const PythonError&) {
  }
  throw nb::python_error();
}

}  // namespace

NB_MODULE(_core, m) {
  PyModule_AddFunctions(m.ptr(), kFast);

  m.def("set_errors", [](nb::handle module) { set_errors(module.ptr()); });
  m.def("set_torch_start", [](nb::handle function) { set_torch_start(function.ptr()); });
  m.def("set_torch_path", [](nb::handle function) { set_torch_path(function.ptr()); });
  m.def("set_torch",
        [](nb::handle tensor, nb::handle parameter, nb::handle grad_enabled,
           nb::handle dispatch_modes, nb::handle function_modes, nb::handle transforms) {
          const auto type = [](nb::handle h) {
            return reinterpret_cast<PyTypeObject*>(Py_NewRef(h.ptr()));
          };
          torch() = {type(tensor),
                     type(parameter),
                     Py_NewRef(grad_enabled.ptr()),
                     Py_NewRef(dispatch_modes.ptr()),
                     Py_NewRef(function_modes.ptr()),
                     Py_NewRef(transforms.ptr())};
        });

  m.def("set_wishes", [](const std::string& libridge, const std::string& software_gpu,
                         const std::vector<std::string>& runtimes) {
    wishes().libridge = libridge;
    wishes().software_gpu = software_gpu;
    wishes().runtimes = runtimes;
  });
  m.def("set_device", [](const std::string& device) { wishes().device = device; });
  m.def("is_loaded", [] { return is_loaded(); });
  m.def("is_software", [] { return guarded([] { return library().software; }); });
  m.def("device_name", [] { return guarded([] { return library().device; }); });
  m.def("compute_capability", [] {  // 90 is 9.0
    return guarded([] {
      int device = 0, major = 0, minor = 0;
      library().cudaGetDevice(&device);
      library().cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      library().cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
      return major * 10 + minor;
    });
  });

  // Libraries that load_inline has compiled.
  m.def("open_library", [](const std::string& file) {
    return guarded([&] { return reinterpret_cast<std::size_t>(library().open(file)); });
  });
  m.def("symbol", [](std::size_t handle, const std::string& name) {
    return guarded([&] {
      void* const at = library().symbol(reinterpret_cast<void*>(handle), name.c_str());
      if (!at) throw Failure("MissingError", "the compiled library has no " + name);
      return reinterpret_cast<std::size_t>(at);
    });
  });
  m.def("text_at",
        [](std::size_t address) { return std::string(reinterpret_cast<const char*>(address)); });
  m.def("call_inline", [](std::size_t address, const std::string& name, const std::string& letters,
                          nb::tuple arguments, nb::tuple launch) {
    return guarded([&] {
      return nb::steal(call_inline(address, name, letters, arguments.ptr(), launch.ptr()));
    });
  });

  m.def("operator_names", [] {
    return guarded([] {
      std::vector<std::string> names;
      for (int i = 0; i < library().operator_count(); ++i)
        names.emplace_back(library().operator_name(i));
      return names;
    });
  });
  m.def("operator_json", [](const std::string& name) {
    return guarded([&] { return std::string(library().operator_json(name.c_str())); });
  });

  // tensors: (name, role, optional, on_host, the format that bytes stand for or "")
  m.def("add_operator", [](const std::string& name, nb::tuple tensors, std::size_t parameters,
                           std::size_t dimensions) {
    OperatorSpec spec = {
        .name = name, .tensors = {}, .parameters = parameters, .dimensions = dimensions};
    for (nb::handle tensor : tensors) {
      const auto role = nb::cast<std::string>(tensor[1]);
      std::uint8_t dtype = 0;
      const bool may_be_bytes = find_dtype(nb::cast<std::string>(tensor[4]), dtype);
      spec.tensors.push_back({.name = nb::cast<std::string>(tensor[0]),
                              .read = role != "out",
                              .written = role != "in",
                              .optional = nb::cast<bool>(tensor[2]),
                              .on_host = nb::cast<bool>(tensor[3]),
                              .bytes_as = may_be_bytes ? std::optional(dtype) : std::nullopt});
    }
    return guarded([&] { return add_operator(std::move(spec)); });
  });
}
