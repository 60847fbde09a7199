#include <pybind11/pybind11.h>

#include "bindings.h"
#include "buoy/base/version.h"
#include "buoy/tensor/device.h"
#include "errors.h"

// The compiled half of the package. Python's half (python/buoy) is what users see: it names arguments, makes
// arrays with named axes, and writes the documentation.
PYBIND11_MODULE(_buoy, module) {
  module.doc() = "The compiled half of buoy; use the package itself.";
  buoy::python::translate_errors();
  buoy::python::bind_sample(module);
  buoy::python::bind_tokenizer(module);
  buoy::python::bind_changes(module);
  buoy::python::bind_model(module);
  buoy::python::bind_forward(module);
  buoy::python::bind_decoding(module);
  buoy::python::bind_evaluation(module);
  buoy::python::bind_results(module);
  buoy::python::bind_world(module);
  module.def("version", [] { return std::string(buoy::version()); });
  module.def("commit", [] { return std::string(buoy::commit()); });
  module.def("has_cuda", &buoy::has_device_backend);
}
