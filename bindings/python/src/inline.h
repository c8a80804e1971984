// Calls of functions that ridge.load_inline has compiled.
#pragma once

#include <Python.h>

#include <string>

namespace ridge::python {

// `letters`: what ridge_inline.h says of the parameters. `launch`: empty, or the seven numbers of a
// kernel's launch. Throws a Failure or a PythonError.
PyObject* call_inline(std::size_t address, const std::string& name, const std::string& letters,
                      PyObject* arguments, PyObject* launch);

}  // namespace ridge::python
