#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <numeric>

#include "arrays_out.h"
#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/score/answer_score.h"
#include "cached_activations.h"
#include "model_handle.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

void check_ids(const ModelHandle& model, const std::vector<std::int32_t>& ids) {
  if (ids.empty()) throw_usage_error({"tokens", "at least one id", "none"});
  for (const auto id : ids) {
    if (id < 0 || id >= model.config().vocabulary)
      throw_usage_error(
          {"tokens", fmt::format("ids from 0 to {}", model.config().vocabulary - 1), std::to_string(id)});
  }
}

// Logits [rows, vocabulary]; what is asked for besides goes into `kept`.
std::vector<float> forward(ModelHandle& model, const std::vector<std::int32_t>& ids,
                           const std::vector<std::int32_t>& rows, CachedActivations& kept,
                           const run::Changes& changes) {
  check_ids(model, ids);
  const auto& config = model.config();
  const run::ChangedRow row{{}, std::ssize(ids), 1};
  ModelHandle::Use use(model);
  run::ChangingProbe changing(changes, config, row, &kept);
  const model::SequenceInput input{.tokens = ids, .logit_rows = rows};
  const float* logits = use.model().forward(use.context(), {&input, 1},
                                            changes.any() ? static_cast<probe::Probe*>(&changing) : &kept);
  std::vector<float> out(logits, logits + std::ssize(rows) * config.vocabulary);
  kept.finish(use.context(), use.model());
  return out;
}

// Logits, {(name, layer): array}, and of those that lie on the card as well {(name, layer): DeviceArray}.
py::tuple run_forward(ModelHandle& model, const std::vector<std::int32_t>& ids,
                      const CachedActivations::Wanted& wanted, const run::Changes& changes) {
  std::vector<float> logits;
  CachedActivations kept(wanted, model.config());
  {
    py::gil_scoped_release released;
    std::vector<std::int32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    logits = forward(model, ids, rows, kept, changes);
  }
  py::dict arrays, on_card;
  for (auto& [key, array] : kept.arrays()) {
    const auto name = py::make_tuple(key.first, key.second);
    if (array.on_card != nullptr) on_card[name] = array.on_card;
    arrays[name] = owning(std::move(array.values), array.shape);
  }
  return py::make_tuple(owning(std::move(logits), {std::ssize(ids), model.config().vocabulary}), arrays,
                        on_card);
}

// Log-probabilities of the tokens at these positions, each by the row that writes it.
std::vector<double> log_probabilities(ModelHandle& model, const std::vector<std::int32_t>& ids,
                                      const std::vector<std::int32_t>& positions,
                                      const std::vector<std::int32_t>& tokens, std::int32_t offset,
                                      const run::Changes& changes) {
  py::gil_scoped_release released;
  std::vector<std::int32_t> rows;
  for (const auto position : positions) {
    if (position - offset < 0 || position - offset >= std::ssize(ids))
      throw_usage_error({"continuation", "something before it", "no token"});
    rows.push_back(position - offset);
  }
  check_ids(model, tokens);
  CachedActivations nothing({}, model.config());
  const auto logits = forward(model, ids, rows, nothing, changes);
  const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
  std::vector<double> values;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::span row(logits.data() + i * vocabulary, vocabulary);
    values.push_back(run::log_probability_of(row, tokens[i]));
  }
  return values;
}

// Of the tokens of an answer along the path of the decoding: each when the rule reveals its position.
std::vector<double> score_by_decoding(ModelHandle& model, const std::vector<std::int32_t>& prompt,
                                      const std::vector<std::int32_t>& answer, const std::string& rule,
                                      const run::Changes& changes) {
  py::gil_scoped_release released;
  check_ids(model, prompt);
  check_ids(model, answer);
  run::ScoreOptions options;
  options.form = run::ScoreForm::kPath;
  options.order = run::PathOrder::kDecoding;
  if (!rule.empty()) options.decode.decoding_rule = rule;
  const auto tokens = std::ssize(answer);
  const run::ChangedRow row{{}, std::ssize(prompt) + tokens, tokens};
  ModelHandle::Use use(model);
  run::ChangingProbe changing(changes, model.config(), row, nullptr);
  return run::score_tokens(use.context(), use.model(), options, prompt, answer,
                           changes.any() ? &changing : nullptr)
      .log_probability;
}

void require_read_weights(const ModelHandle& model) {
  if (model.model().initialisation())
    throw_usage_error({"weights", "a network that was read from files", "one that was drawn (untrained)"});
}

// A matrix of the checkpoint as float32: "head" or "embedding", [vocabulary, hidden].
py::array_t<float> matrix(const ModelHandle& model, const std::string& which) {
  const auto& config = model.config();
  std::vector<float> values(static_cast<size_t>(config.vocabulary * config.hidden));
  {
    py::gil_scoped_release released;
    require_read_weights(model);
    auto checkpoint = Checkpoint::open(model.folder());
    const auto& traits = model.model().traits();
    const bool head = which == "head" && !config.tied_head;
    const auto weight =
        checkpoint.weight(head ? traits.head : traits.embedding, {config.vocabulary, config.hidden});
    to_float(weight, 0, weight.size(), values.data());
  }
  return owning(std::move(values), {config.vocabulary, config.hidden});
}

// The logit lens on states [rows, hidden]: tokens and probabilities, [rows, top].
py::tuple lens(ModelHandle& model,
               const py::array_t<float, py::array::c_style | py::array::forcecast>& states,
               std::int64_t top) {
  const auto& config = model.config();
  if (states.ndim() != 2 || states.shape(1) != config.hidden || states.shape(0) == 0)
    throw_usage_error({"`states`", fmt::format("numbers of shape [..., {}]", config.hidden),
                       fmt::format("{} numbers in {} dimensions", states.size(), states.ndim())});
  if (top < 1 || top > config.vocabulary)
    throw_usage_error({"`top`", fmt::format("1 to {}", config.vocabulary), std::to_string(top)});
  if (model.model().device() == Device::kCuda) require_read_weights(model);  // the host holds no others
  const std::span<const float> values(states.data(), static_cast<size_t>(states.size()));
  const std::int64_t rows = states.shape(0);
  probe::ResidualRecord record;
  {
    py::gil_scoped_release released;
    ModelHandle::Use use(model);
    use.model().lens(use.context(), values, top, record);
  }
  return py::make_tuple(owning(std::move(record.lens_tokens), {rows, top}),
                        owning(std::move(record.lens_probabilities), {rows, top}));
}

}  // namespace

void bind_forward(py::module_& module) {
  py::class_<DeviceArray, std::shared_ptr<DeviceArray>>(module, "DeviceArray")
      .def_property_readonly("shape", [](const DeviceArray& a) { return py::tuple(py::cast(a.shape())); })
      .def_property_readonly("address", &DeviceArray::address)
      .def("dlpack", &DeviceArray::dlpack);
  module.def("forward", &run_forward, py::arg("model"), py::arg("ids"), py::arg("wanted"),
             py::arg("changes"));
  module.def("log_probabilities", &log_probabilities);
  module.def("score_by_decoding", &score_by_decoding);
  module.def("matrix", &matrix);
  module.def("lens", &lens);
}

}  // namespace buoy::python
