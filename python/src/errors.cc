#include "errors.h"

#include <cstring>
#include <exception>

#include "buoy/base/error.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

// Bytes that are no UTF-8, as in names of files, must not hide the error.
py::object readable(const char* text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

void raise(const char* kind, const Error& error) {
  const auto type = py::module_::import("buoy.errors").attr(kind);
  PyErr_SetObject(type.ptr(), type(readable(error.what())).ptr());
}

}  // namespace

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      raise("InputError", error);
    } catch (const UsageError& error) {
      raise("UsageError", error);
    } catch (const IoError& error) {
      raise("IoError", error);
    } catch (const InternalError& error) {
      raise("InternalError", error);
    }
  });
}

}  // namespace buoy::python
