#pragma once

#include <pybind11/pybind11.h>

// One file binds one class, or one group of functions (bind_x.cc); module.cc calls them all.
namespace buoy::python {

void bind_sample(pybind11::module_& module);
void bind_model(pybind11::module_& module);
void bind_tokenizer(pybind11::module_& module);
void bind_changes(pybind11::module_& module);
void bind_forward(pybind11::module_& module);
void bind_decoding(pybind11::module_& module);
void bind_evaluation(pybind11::module_& module);
void bind_results(pybind11::module_& module);
void bind_world(pybind11::module_& module);

}  // namespace buoy::python
