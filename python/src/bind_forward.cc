#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/ops/sampling/sampling.h"
#include "buoy/probe/probe.h"
#include "buoy/run/change/changing_probe.h"
#include "model_handle.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

// An array that owns what it shows.
py::array_t<float> owning(std::vector<float>&& values, std::vector<std::int64_t> shape) {
  auto* owner = new std::vector<float>(std::move(values));
  const py::capsule free(owner, [](void* held) { delete static_cast<std::vector<float>*>(held); });
  return py::array_t<float>(std::move(shape), owner->data(), free);
}

void check_ids(const ModelHandle& model, const std::vector<std::int32_t>& ids) {
  if (ids.empty()) throw_usage_error({"tokens", "at least one id", "none"});
  for (const auto id : ids) {
    if (id < 0 || id >= model.config().vocabulary)
      throw_usage_error(
          {"tokens", fmt::format("ids from 0 to {}", model.config().vocabulary - 1), std::to_string(id)});
  }
}

struct Forwarded {
  std::vector<float> logits;                            // [rows, vocabulary]
  std::map<std::int64_t, std::vector<float>> patterns;  // by layer, [heads, queries, keys]
};

Forwarded forward(ModelHandle& model, const std::vector<std::int32_t>& ids,
                  const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& pattern_layers,
                  const run::Changes& changes) {
  check_ids(model, ids);
  const auto& config = model.config();
  for (const auto layer : pattern_layers) {
    if (layer < 0 || layer >= config.layers)
      throw_usage_error({"layer", fmt::format("0 to {}", config.layers - 1), std::to_string(layer)});
  }
  class Patterns final : public probe::Probe {
   public:
    Patterns(const std::vector<std::int64_t>& layers, Forwarded& out) : layers_(layers), out_(out) {}
    probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
      probe::LayerRequest request;
      request.dense = std::find(layers_.begin(), layers_.end(), address.layer) != layers_.end();
      return request;
    }
    void take(const probe::Address& address, probe::LayerRecord&& record) override {
      out_.patterns[address.layer] = std::move(record.dense);
    }

   private:
    const std::vector<std::int64_t>& layers_;
    Forwarded& out_;
  };
  Forwarded out;
  Patterns patterns(pattern_layers, out);
  const run::ChangedRow row{{}, std::ssize(ids), 1};
  ModelHandle::Use use(model);
  run::ChangingProbe changing(changes, config, row, &patterns);
  const model::SequenceInput input{.tokens = ids, .logit_rows = rows};
  const float* logits = use.model().forward(
      use.context(), {&input, 1}, changes.any() ? static_cast<probe::Probe*>(&changing) : &patterns);
  out.logits.assign(logits, logits + std::ssize(rows) * config.vocabulary);
  return out;
}

py::tuple run_forward(ModelHandle& model, const std::vector<std::int32_t>& ids,
                      const std::vector<std::int64_t>& pattern_layers, const std::vector<std::string>& heads,
                      const std::vector<std::string>& keys) {
  Forwarded out;
  {
    py::gil_scoped_release released;
    std::vector<std::int32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    out = forward(model, ids, rows, pattern_layers, run::parse_changes(heads, keys));
  }
  const auto tokens = std::ssize(ids);
  py::dict patterns;
  for (auto& [layer, values] : out.patterns)
    patterns[py::int_(layer)] = owning(std::move(values), {model.config().heads, tokens, tokens});
  return py::make_tuple(owning(std::move(out.logits), {tokens, model.config().vocabulary}), patterns);
}

// Log-probabilities of the tokens at these positions, each by the row that writes it.
std::vector<double> log_probabilities(ModelHandle& model, const std::vector<std::int32_t>& ids,
                                      const std::vector<std::int32_t>& positions,
                                      const std::vector<std::int32_t>& tokens, std::int32_t offset,
                                      const std::vector<std::string>& heads,
                                      const std::vector<std::string>& keys) {
  py::gil_scoped_release released;
  std::vector<std::int32_t> rows;
  for (const auto position : positions) {
    if (position - offset < 0 || position - offset >= std::ssize(ids))
      throw_usage_error({"continuation", "something before it", "no token"});
    rows.push_back(position - offset);
  }
  check_ids(model, tokens);
  const auto out = forward(model, ids, rows, {}, run::parse_changes(heads, keys));
  const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
  std::vector<double> values;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::span row(out.logits.data() + i * vocabulary, vocabulary);
    values.push_back(static_cast<double>(row[static_cast<size_t>(tokens[i])]) - ops::log_sum_exp(row));
  }
  return values;
}

// A matrix of the checkpoint as float32: "head" or "embedding", [vocabulary, hidden].
py::array_t<float> matrix(const ModelHandle& model, const std::string& which) {
  const auto& config = model.config();
  std::vector<float> values(static_cast<size_t>(config.vocabulary * config.hidden));
  {
    py::gil_scoped_release released;
    if (model.model().initialisation())
      throw_usage_error({"weights", "a network that was read from files", "one that was drawn (untrained)"});
    auto checkpoint = Checkpoint::open(model.folder());
    const auto& traits = model.model().traits();
    const bool head = which == "head" && !config.tied_head;
    const auto weight =
        checkpoint.weight(head ? traits.head : traits.embedding, {config.vocabulary, config.hidden});
    to_float(weight, 0, weight.size(), values.data());
  }
  return owning(std::move(values), {config.vocabulary, config.hidden});
}

}  // namespace

void bind_forward(py::module_& module) {
  module.def("forward", &run_forward, py::arg("model"), py::arg("ids"), py::arg("pattern_layers"),
             py::arg("scale_heads"), py::arg("scale_keys"));
  module.def("check_changes", [](const ModelHandle& model, const std::vector<std::string>& heads,
                                 const std::vector<std::string>& keys) {
    run::check_changes(run::parse_changes(heads, keys), model.config());
  });
  module.def("log_probabilities", &log_probabilities);
  module.def("matrix", &matrix);
}

}  // namespace buoy::python
