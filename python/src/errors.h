#pragma once

#include <pybind11/pybind11.h>

namespace buoy::python {

// Buoy's errors become those of buoy/errors.py.
void translate_errors();

}  // namespace buoy::python
