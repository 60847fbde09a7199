#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"
#include "held_sample.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

py::dtype dtype_of(trace::DataType type) {
  switch (type) {
    case trace::DataType::kF32:
      return py::dtype("<f4");
    case trace::DataType::kF16:
      return py::dtype("<f2");
    case trace::DataType::kI32:
      return py::dtype("<i4");
    case trace::DataType::kU8:
      return py::dtype("u1");
  }
  throw InternalError("a type without a name");
}

// A view: the sample owns the memory, and the array keeps the sample.
py::array view_of(const std::shared_ptr<HeldSample>& held, const std::string& name) {
  for (auto& array : held->sample.arrays) {
    if (array.name != name) continue;
    return {dtype_of(array.dtype), array.shape, array.bytes.data(), py::cast(held)};
  }
  throw py::key_error(name);
}

py::str text(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void save(const HeldSample& held, const std::string& folder) {
  if (!held.manifest)
    throw_usage_error({"run", "one of generate() or steps() that was observed (observe=...)", "another"});
  py::gil_scoped_release released;
  auto manifest = *held.manifest;
  manifest.sample_ids = {held.sample.id};
  auto writer = trace::TraceWriter::create(folder, manifest);
  writer.write(held.sample);
  writer.finish();
}

}  // namespace

void bind_sample(py::module_& module) {
  py::class_<HeldSample, std::shared_ptr<HeldSample>>(module, "HeldSample")
      .def_property_readonly("id", [](const HeldSample& held) { return text(held.sample.id); })
      .def_property_readonly("metadata",
                             [](const HeldSample& held) {
                               py::dict out;
                               for (const auto& [key, value] : held.sample.metadata)
                                 out[text(key)] = text(value);
                               return out;
                             })
      .def_property_readonly("names",
                             [](const HeldSample& held) {
                               std::vector<std::string> out;
                               for (const auto& array : held.sample.arrays) out.push_back(array.name);
                               return out;
                             })
      .def("array", &view_of)
      .def("save", &save);
  // What of `observe` fills an array; nothing for a name that is none.
  module.def("observable_of", [](const std::string& name) -> std::optional<std::string> {
    const auto* schema = trace::find_array(name);
    if (schema == nullptr || schema->observe.empty()) return std::nullopt;
    return std::string(schema->observe);
  });
  module.def("array_schema", [] {
    py::list out;
    for (const auto& array : trace::array_schema())
      out.append(
          py::make_tuple(std::string(array.name), std::string(array.shape), std::string(array.observe)));
    return out;
  });
}

}  // namespace buoy::python
