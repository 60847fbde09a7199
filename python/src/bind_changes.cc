#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/run/change/changes.h"
#include "model_handle.h"
#include "step_changes.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

using Numbers = py::array_t<float, py::array::c_style | py::array::forcecast>;

probe::ResidualPoint point_of(const std::string& name) {
  if (name == "pre") return probe::ResidualPoint::kPre;
  if (name == "mid") return probe::ResidualPoint::kMid;
  if (name == "post") return probe::ResidualPoint::kPost;
  throw_usage_error({"`at`", "one of pre, mid, post", '"' + name + '"'});
}

// A vector of Python's. `positions`: ascending, none: `where` names a region, or "all".
run::ResidualVectors vectors_of(const std::string& where, const std::vector<std::int64_t>& positions,
                                const std::string& layers, const std::string& steps, const std::string& at,
                                bool replace, const Numbers& values) {
  run::ResidualVectors out;
  out.replace = replace;
  out.where = where;
  out.positions = positions;
  out.layers = {layers, out.field()};
  if (!steps.empty()) {
    out.steps = {steps, out.field()};
    out.of_single_steps = true;
  }
  out.at = point_of(at);
  out.values.assign(values.data(), values.data() + values.size());
  for (const float value : out.values) {
    if (!std::isfinite(value)) throw_usage_error({out.field(), "finite numbers", fmt::format("{}", value)});
  }
  return out;
}

void add_vectors(run::Changes& changes, const std::string& where, const std::vector<std::int64_t>& positions,
                 const std::string& layers, const std::string& steps, const std::string& at, bool replace,
                 const Numbers& values) {
  changes.residual.push_back(vectors_of(where, positions, layers, steps, at, replace, values));
  // In the words of the program, with the shape in place of a file.
  const std::string text =
      fmt::format("{}@{}:{}{}=array[{}]", where, layers, at, steps.empty() ? "" : "/" + steps, values.size());
  changes.texts.push_back(run::stored_text(text, changes.residual.back()));
}

}  // namespace

void bind_changes(py::module_& module) {
  py::class_<run::Changes, std::shared_ptr<run::Changes>>(module, "Changes")
      .def(py::init<>())
      .def(py::init([](const std::vector<std::string>& heads, const std::vector<std::string>& keys,
                       const std::vector<std::string>& mlps, const std::string& top,
                       const std::string& top_of, const std::string& control) {
             return run::parse_changes(run::ChangeTexts{heads, keys, mlps, {}, {}, {top, top_of, control}});
           }),
           py::arg("scale_heads"), py::arg("scale_keys"), py::arg("scale_mlps"), py::arg("hide_top") = "",
           py::arg("hide_top_of") = "", py::arg("hide_control") = "")
      .def("add_vectors", &add_vectors)
      // As `--steer` and `--patch` have it, with a file.
      .def("add_file",
           [](run::Changes& changes, const std::string& text, bool replace) {
             run::ChangeTexts texts;
             (replace ? texts.patch : texts.steer).push_back(text);
             add(changes, run::parse_changes(texts));
           })
      .def("add", [](run::Changes& changes, const run::Changes& others) { add(changes, others); })
      // The rule that decodes is said later: where there is one that has steps, they may be named.
      .def("check",
           [](const run::Changes& changes, const ModelHandle& model) {
             const Family family = model.config().family;
             run::check_changes_of(changes, model.config(),
                                   is_masked_diffusion(family) || may_be_masked_diffusion(family));
           })
      .def_property_readonly("any", &run::Changes::any)
      .def_property_readonly("hides_top", [](const run::Changes& changes) { return changes.top.has_value(); })
      .def_readonly("texts", &run::Changes::texts);
}

}  // namespace buoy::python
