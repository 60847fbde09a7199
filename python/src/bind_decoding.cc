#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/run/decoding.h"
#include "decoding.h"
#include "request_json.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

std::unique_ptr<Decoding> begin(const std::shared_ptr<ModelHandle>& model, const std::string& text,
                                const run::Changes& changes, std::size_t number) {
  py::gil_scoped_release released;
  auto request = std::make_shared<run::TraceRequest>(read_trace_request(text, *model, changes));
  if (number >= request->items.size()) throw_usage_error({"prompt", "a text or token ids", "nothing"});
  auto prompt = run::prompts_of(*request, model->loaded())(number);
  auto out = std::make_unique<Decoding>(model, request, std::move(prompt), number);
  out->trace_as(std::move(request));
  return out;
}

py::list reveals_of(const decode::StepRecord& record) {
  py::list out;
  for (const auto& reveal : record.reveals)
    out.append(py::make_tuple(reveal.position, reveal.token, reveal.confidence));
  return out;
}

py::list advance(Decoding& decoding) {
  decode::StepRecord record;
  {
    py::gil_scoped_release released;
    record = decoding.advance();
  }
  return reveals_of(record);
}

py::list advance_edited(Decoding& decoding, const std::vector<std::tuple<int, int, double>>& edits) {
  decode::StepRecord record;
  {
    py::gil_scoped_release released;
    std::vector<decode::Edit> made;
    for (const auto& [position, token, confidence] : edits) made.push_back({position, token, confidence});
    record = decoding.advance_edited(made);
  }
  return reveals_of(record);
}

py::tuple proposals(Decoding& decoding) {
  const std::vector<ops::RowChoice>* choices = nullptr;
  {
    py::gil_scoped_release released;
    choices = &decoding.proposals();
  }
  const auto count = static_cast<py::ssize_t>(choices->size());
  py::array_t<std::int32_t> positions(count), tokens(count);
  py::array_t<double> confidence(count);
  for (py::ssize_t i = 0; i < count; ++i) {
    positions.mutable_at(i) = decoding.open()[static_cast<size_t>(i)];
    tokens.mutable_at(i) = (*choices)[static_cast<size_t>(i)].token;
    confidence.mutable_at(i) = (*choices)[static_cast<size_t>(i)].confidence;
  }
  return py::make_tuple(positions, tokens, confidence);
}

// A copy: the next step uses the memory again.
py::array_t<float> logits(Decoding& decoding) {
  std::span<const float> values;
  {
    py::gil_scoped_release released;
    values = decoding.logits();
  }
  const auto vocabulary = decoding.model()->config().vocabulary;
  py::array_t<float> out(
      {static_cast<py::ssize_t>(std::ssize(values) / vocabulary), static_cast<py::ssize_t>(vocabulary)});
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

trace::Array array_of(const std::string& name, const py::array& values) {
  trace::Array out{name, trace::DataType::kF32, {}, {}};
  const auto type = values.dtype();
  const auto is = [&](char kind, py::ssize_t size) { return type.kind() == kind && type.itemsize() == size; };
  if (is('f', 2)) {
    out.dtype = trace::DataType::kF16;
  } else if (is('i', 4)) {
    out.dtype = trace::DataType::kI32;
  } else if (is('u', 1)) {
    out.dtype = trace::DataType::kU8;
  } else if (!is('f', 4)) {
    throw InternalError("an array of a type that no trace has: " + name);
  }
  const auto dense = py::array::ensure(values, py::array::c_style);
  for (py::ssize_t i = 0; i < dense.ndim(); ++i) out.shape.push_back(dense.shape(i));
  const auto* bytes = static_cast<const std::byte*>(dense.data());
  out.bytes.assign(bytes, bytes + dense.nbytes());
  return out;
}

// The whole run: what steps showed is handed in, stacked.
std::shared_ptr<HeldSample> frame(const Decoding& decoding, const std::string& observe,
                                  const std::vector<std::pair<std::string, py::array>>& arrays) {
  std::vector<trace::Array> observed;
  for (const auto& [name, values] : arrays) observed.push_back(array_of(name, values));
  py::gil_scoped_release released;
  auto out = std::make_shared<HeldSample>(HeldSample{decoding.frame(), nullptr});
  if (observed.empty()) return out;
  add_observed(out->sample, std::move(observed));
  out->manifest = decoding.manifest(observe);
  return out;
}

}  // namespace

void bind_decoding(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<Decoding>(module, "Decoding")
      .def_static("begin", &begin, py::arg("model"), py::arg("request"), py::arg("changes"),
                  py::arg("number"))
      .def_property_readonly("finished", &Decoding::finished)
      .def_property_readonly("step", [](const Decoding& d) { return d.machine().step(); })
      .def_property_readonly("row", [](const Decoding& d) { return d.machine().row(); })
      .def_property_readonly("revealed_at", [](const Decoding& d) { return d.machine().revealed_at(); })
      .def_property_readonly("prompt_length", [](const Decoding& d) { return d.machine().prompt_length(); })
      .def_property_readonly("mask_token", &Decoding::mask_token)
      .def_property_readonly("ends", &Decoding::ends)
      .def_property_readonly("regions",
                             [](const Decoding& d) {
                               return py::make_tuple(d.prompt().regions.names,
                                                     std::vector<int>(d.prompt().regions.of_token.begin(),
                                                                      d.prompt().regions.of_token.end()));
                             })
      .def_property_readonly("ran", &Decoding::ran)
      .def("forward", &Decoding::forward, Released(), py::arg("observe"))
      .def("observed", &Decoding::observed)
      .def("observe_again", &Decoding::observe_again, Released())
      .def("proposals", &proposals)
      .def("logits", &logits)
      .def("advance", &advance)
      .def("advance_edited", &advance_edited)
      .def("back_to", &Decoding::back_to, Released())
      .def("branch", &Decoding::branch, Released())
      .def("scale_key", [](Decoding& d, std::int64_t layer, std::int64_t head, std::int64_t position,
                           double factor) { d.changes().scale_key(layer, head, position, factor); })
      .def("scale_head", [](Decoding& d, std::int64_t layer, std::int64_t head,
                            double factor) { d.changes().scale_head(layer, head, factor); })
      .def("change", &Decoding::change)
      .def("last_look", &Decoding::last_look, Released())
      .def("frame", &frame, py::arg("observe"), py::arg("arrays"));
}

}  // namespace buoy::python
