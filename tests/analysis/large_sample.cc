#include "analysis/large_sample.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "buoy/analysis/core/sample_run.h"
#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kMask = 99, kDocuments = 10;

// Numbers between 0 and 1, most small, a few large; another sequence for each array, layer and step.
class Values final : public analysis::LayerValues {
 public:
  explicit Values(const analysis::SampleFacts& sample) : sample_(sample) {}

  void at(std::uint64_t record) { record_ = record; }

  std::span<const float> floats(std::string_view array) override {
    const auto count = elements(array);
    auto& values = floats_[std::string(array)];
    values.resize(static_cast<size_t>(count));
    std::uint64_t state = record_ * 1'000'003 + std::hash<std::string_view>{}(array) % 1000;
    for (auto& value : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const float even = static_cast<float>(state >> 40) / static_cast<float>(1 << 24);
      value = even * even * even * even;
    }
    return values;
  }
  std::span<const std::int32_t> integers(std::string_view array) override {
    integers_.resize(static_cast<size_t>(elements(array)));
    for (size_t i = 0; i < integers_.size(); ++i)
      integers_[i] =
          static_cast<std::int32_t>((i * 37 + record_) % static_cast<std::uint64_t>(sample_.tokens));
    if (array == trace::kRoutedExperts) {
      for (auto& expert : integers_) expert %= 128;
    }
    return integers_;
  }

 private:
  std::int64_t elements(std::string_view array) const {
    const auto& shape = sample_.shape(array);
    const bool of_layer = trace::find_array(array)->shape.starts_with("S L");
    return std::accumulate(shape.begin() + (of_layer ? 2 : 1), shape.end(), std::int64_t{1},
                           std::multiplies<>());
  }

  const analysis::SampleFacts& sample_;
  std::uint64_t record_ = 0;
  std::map<std::string, std::vector<float>> floats_;
  std::vector<std::int32_t> integers_;
};

}  // namespace

LargeSample::LargeSample(const Shape& shape) {
  const std::int64_t L = shape.layers, H = shape.heads, T = shape.tokens, S = shape.steps + 1;
  auto& model = manifest_.model;
  manifest_.level = trace::Level::kTables;  // large arrays are not made up
  model.layers = L, model.heads = model.kv_heads = H, model.head_dim = 128;
  auto& s = sample_;
  s.name = "large";
  s.masked_diffusion = s.has_texts = s.sees_final_row = true;
  s.tokens = T, s.prompt_length = T - shape.answer;
  s.heads = s.kv_heads = H, s.head_dim = 128;
  s.mask_token = kMask;
  for (std::int64_t i = 0; i < shape.steps; ++i) s.steps.push_back(static_cast<std::int32_t>(i));
  for (std::int64_t l = 0; l < L; ++l) s.layers.push_back(static_cast<std::int32_t>(l));
  s.last_step = static_cast<std::int32_t>(shape.steps - 1), s.last_forward = shape.steps;
  s.region_names = {"bos", "template", "query"};
  for (std::int64_t d = 0; d < kDocuments; ++d) s.region_names.push_back("document " + std::to_string(d + 1));
  s.region_names.emplace_back("answer");
  s.gold_regions = {"document 3"};
  s.group_names = {"bos", "template", "query"};
  for (std::int64_t d = 0; d < kDocuments; ++d) s.group_names.push_back("document " + std::to_string(d + 1));
  s.group_names.insert(s.group_names.end(), {"answer, revealed", "answer, masked"});
  const auto C = std::ssize(s.region_names), G = std::ssize(s.group_names);
  for (std::int64_t j = 0; j < T; ++j) {
    const bool answer = j >= s.prompt_length;
    s.region_of_token.push_back(static_cast<std::int32_t>(answer  ? C - 1
                                                          : j < 3 ? j
                                                                  : 3 + (j - 3) * kDocuments / (T - 3)));
    s.evidence.push_back(j >= 300 && j < 310 ? 1 : 0);
    s.final_row.push_back(static_cast<std::int32_t>(j % 90));
    s.token_texts.push_back(j % 3 == 0 ? "." : " word" + std::to_string(j));
    s.special.push_back(0);
    s.revealed_at.push_back(answer ? static_cast<std::int32_t>((j - s.prompt_length) % shape.steps) : -1);
    if (answer) s.row_positions.push_back(static_cast<std::int32_t>(j));
  }
  for (std::int64_t f = 0; f < S; ++f) {
    auto row = s.final_row;
    std::int32_t masked = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      if (s.revealed_at[j] < f) continue;
      row[j] = kMask;
      ++masked;
    }
    s.rows.push_back(row);
    std::vector<std::int32_t> sizes(static_cast<size_t>(G), 1);
    sizes[static_cast<size_t>(G) - 2] = static_cast<std::int32_t>(shape.answer) - masked;
    sizes[static_cast<size_t>(G) - 1] = masked;
    s.group_sizes.push_back(sizes);
  }
  const std::map<char, std::int64_t> sizes = {{'S', S},  {'L', L},
                                              {'G', G},  {'H', H},
                                              {'V', H},  {'C', C},
                                              {'T', T},  {'R', shape.answer},
                                              {'K', 8},  {'A', shape.answer},
                                              {'P', 5},  {'X', 8},
                                              {'E', 128}};
  for (const auto& array : trace::array_schema()) {
    if (array.name.ends_with('}')) continue;
    std::vector<std::int64_t> dimensions;
    bool known = true;
    for (const char letter : array.shape) {
      if (letter == ' ') continue;
      known &= sizes.contains(letter);
      dimensions.push_back(known ? sizes.at(letter) : 0);
    }
    if (known) s.arrays.emplace(array.name, dimensions);
  }
}

std::uint64_t LargeSample::state_of(const analysis::AnalysisKind& kind, std::int64_t drawn) const {
  analysis::AnalysisOptions options;
  options.sample = drawn;
  options.bootstrap.replicates = 1;
  std::vector<std::unique_ptr<analysis::Analysis>> analyses;
  analyses.push_back(kind.make({"large", manifest_}, options));
  analysis::SampleRun run(analyses, sample_);
  Values values(sample_);
  analysis::LayerScratch scratch;
  const auto types = token_types(sample_, {sample_.token_texts, sample_.special});
  for (std::int64_t f = 0; f < sample_.forward_count(); ++f) {
    analysis::ForwardFacts forward;
    forward.index = forward.place = f;
    forward.number = static_cast<std::int32_t>(f);
    forward.is_step = f < sample_.step_count();
    forward.row = sample_.row_at(f);
    forward.revealed_at = sample_.revealed_at;
    forward.types = types;
    for (std::int64_t j = 0; j < sample_.tokens; ++j) {
      forward.masked.push_back(sample_.masked_at(f, j) ? 1 : 0);
      if (forward.masked.back() != 0) forward.types[static_cast<size_t>(j)] = analysis::TokenType::kMask;
    }
    forward.group_sizes = sample_.group_sizes[static_cast<size_t>(f)];
    classify(sample_, forward);
    for (std::int64_t l = 0; l < sample_.layer_count(); ++l) {
      values.at(static_cast<std::uint64_t>(f * 1000 + l));
      run.take({sample_, forward, l, values, {}, scratch});
    }
    run.take_forward({sample_, forward, values});
  }
  for (std::int64_t l = 0; l < sample_.layer_count(); ++l) run.finish_layer(sample_, l);
  run.end(sample_);
  return run.states()[0].size();
}

}  // namespace buoy::testing
