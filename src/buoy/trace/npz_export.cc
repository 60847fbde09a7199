#include "buoy/trace/npz_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "buoy/base/container/npz.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::trace {
namespace {

std::vector<std::int64_t> to_int64(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

class Exporter {
 public:
  Exporter(const StoredSample& sample, NpzWriter& out)
      : sample_(sample), out_(out), steps_(sample.integers(kSteps)), layers_(sample.integers(kLayers)) {
    if (sample.has_text(kFinalStep)) final_step_ = sample.integer_text(kFinalStep);
    diffusion_ = sample.has_text(kMaskToken);
  }

  void run() {
    const std::vector<std::int64_t> tokens = to_int64(sample_.integers(kTokens));
    const std::int64_t prompt = sample_.integer_text(kPromptLength);
    const std::span<const std::int64_t> answer = std::span(tokens).subspan(static_cast<size_t>(prompt));
    const auto generated = static_cast<std::int64_t>(answer.size());
    out_.add_integer("input_length", prompt);
    out_.add_integer("num_generated_tokens", generated);
    out_.add_text("question", sample_.has_text(kQuestion) ? sample_.text(kQuestion) : "");
    out_.add("answer_tokens", answer, {generated});
    if (sample_.has(kRevealedAt)) {
      const auto revealed = to_int64(sample_.integers(kRevealedAt));
      out_.add("token_generation_step", std::span(revealed).subspan(static_cast<size_t>(prompt)),
               {generated});
    }
    for (const auto layer : layers_) export_layer(layer);
    // Which forward the matrices of each layer above are of.
    const auto layers = static_cast<std::int64_t>(full_layers_.size());
    out_.add("full_attention_layer", full_layers_, {layers});
    out_.add("full_attention_step", full_steps_, {layers});
    out_.add("full_attention_is_final_row", full_is_final_, {layers});
    export_forwards();
  }

 private:
  // The head mean of one layer and step, [T, T]; nothing when no matrix was traced there.
  std::optional<std::vector<float>> mean_matrix(std::int64_t step, std::int64_t layer) const {
    if (sample_.has(dense_mean_name(step, layer))) return sample_.floats(dense_mean_name(step, layer));
    const std::string name = dense_name(step, layer);
    if (!sample_.has(name)) return std::nullopt;
    const auto heads = sample_.shape(name)[0];
    std::vector<float> mean = sample_.floats_at(name, {0});
    for (std::int64_t h = 1; h < heads; ++h) {
      const auto weights = sample_.floats_at(name, {h});
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += weights[i];
    }
    for (float& value : mean) value /= static_cast<float>(heads);
    return mean;
  }

  // Whether the forward of a step saw the finished row. The one pass of an autoregressive model does.
  bool is_final(std::int64_t step) const { return step == final_step_ || !diffusion_; }

  // Matrices and states of the last step that has them: the final row, where it was traced.
  void export_layer(std::int64_t layer) {
    const auto T = sample_.shape(kTokens)[0];
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const auto mean = mean_matrix(*step, layer);
      if (!mean) continue;
      const std::string prefix = fmt::format("layer_{}_", layer);
      out_.add(prefix + "full_attention", *mean, {T, T});
      const std::string dense = dense_name(*step, layer);
      if (sample_.has(dense))
        out_.add(prefix + "full_attention_heads", sample_.floats(dense), sample_.shape(dense));
      export_states(prefix + "query_states", queries_name(*step, layer));
      export_states(prefix + "key_states", keys_name(*step, layer));
      full_steps_.push_back(*step);
      full_is_final_.push_back(is_final(*step) ? 1 : 0);
      full_layers_.push_back(layer);
      return;
    }
  }

  // [T, heads, D] as [heads, T, D].
  void export_states(const std::string& name, const std::string& array) {
    if (!sample_.has(array)) return;
    const auto& shape = sample_.shape(array);
    const auto values = sample_.floats(array);
    const std::int64_t tokens = shape[0], heads = shape[1], dim = shape[2];
    std::vector<float> turned(values.size());
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t h = 0; h < heads; ++h)
        std::copy_n(values.begin() + (t * heads + h) * dim, dim, turned.begin() + (h * tokens + t) * dim);
    }
    out_.add(name, turned, {heads, tokens, dim});
  }

  // A forward of block decoding that stores finished text and reveals nothing.
  bool stores(std::int64_t step) const {
    if (!sample_.has(kStepKinds)) return false;
    const auto index = std::find(steps_.begin(), steps_.end(), step) - steps_.begin();
    const auto kind = static_cast<StepKind>(sample_.integers(kStepKinds)[static_cast<size_t>(index)]);
    return kind == StepKind::kPrompt || kind == StepKind::kFinish;
  }

  // Decoding and the look at the final row apart: whoever draws every entry of step_attention_data draws
  // steps and nothing else.
  void export_forwards() {
    std::vector<std::int64_t> decoding, looks;
    for (const auto step : steps_) {
      const bool traced = std::any_of(layers_.begin(), layers_.end(), [&](std::int64_t layer) {
        return sample_.has(dense_mean_name(step, layer)) || sample_.has(dense_name(step, layer));
      });
      if (traced && !stores(step)) (step == final_step_ ? looks : decoding).push_back(step);
    }
    export_dictionaries("step_attention_data", decoding);
    export_dictionaries("final_attention_data", looks);
  }

  void export_dictionaries(const std::string& name, const std::vector<std::int64_t>& steps) {
    const auto rows = to_int64(sample_.integers(kTokensByStep));
    const std::int64_t T = sample_.shape(kTokens)[0];
    out_.add_objects(name, static_cast<std::int64_t>(steps.size()), [&](PickleWriter& pickle) {
      for (const auto step : steps) {
        const auto index = std::find(steps_.begin(), steps_.end(), step) - steps_.begin();
        pickle.begin_dictionary();
        pickle.text("step");
        pickle.integer(step);
        pickle.text("is_final_row");
        pickle.integer(is_final(step) ? 1 : 0);
        for (const auto layer : layers_) {
          const auto mean = mean_matrix(step, layer);
          if (!mean) continue;
          pickle.text(fmt::format("layer_{}_attention_avg", layer));
          pickle.array(*mean, {T, T});
        }
        pickle.text("sequence");
        pickle.array(std::span(rows).subspan(static_cast<size_t>(index * T), static_cast<size_t>(T)), {T});
        pickle.end_dictionary();
      }
    });
  }

  const StoredSample& sample_;
  NpzWriter& out_;
  std::vector<std::int32_t> steps_, layers_;
  std::int64_t final_step_ = -1;  // -1: there was no look at the final row
  bool diffusion_ = false;
  std::vector<std::int64_t> full_layers_, full_steps_, full_is_final_;  // of what export_layer wrote
};

}  // namespace

std::string npz_file_name(const std::string& id) {
  return id + "_attentions.npz";
}

void require_exportable(const StoredSample& sample) {
  for (const auto step : sample.integers(kSteps)) {
    for (const auto layer : sample.integers(kLayers)) {
      if (sample.has(dense_mean_name(step, layer)) || sample.has(dense_name(step, layer))) return;
    }
  }
  throw_input_error({"sample " + sample.id(), "attention matrices",
                     "none; trace again with dense-mean or dense among `observe`"});
}

void export_npz(const StoredSample& sample, const std::filesystem::path& file) {
  require_exportable(sample);
  NpzWriter out(file);
  Exporter(sample, out).run();
  out.finish();
}

}  // namespace buoy::trace
