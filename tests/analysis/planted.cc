#include "analysis/planted.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "buoy/base/random.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/array.h"
#include "buoy/trace/schema.h"
#include "support/temp_folder.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

constexpr std::int32_t kMask = 999;

trace::Manifest manifest_of(const PlantedSpec& spec) {
  trace::Manifest manifest;
  manifest.created_by = "buoy test";
  manifest.model = {.name = "planted",
                    .family = spec.causal ? "Llama" : "LLaDA",
                    .architecture = "planted",
                    .stored_dtype = "F32",
                    .layers = spec.layers,
                    .heads = spec.heads,
                    .kv_heads = spec.heads,
                    .head_dim = 4,
                    .hidden = 4,
                    .vocabulary = 1000,
                    .config_sha256 = sha256_hex("planted"),
                    .weights_sha256 = sha256_hex("planted")};
  return manifest;
}

// The step that reveals each position.
std::vector<std::int32_t> reveal_steps(const PlantedSpec& spec, std::int64_t sample) {
  const std::int64_t generated = spec.tokens - spec.prompt;
  std::vector<std::int64_t> order(static_cast<size_t>(generated));
  std::iota(order.begin(), order.end(), 0);
  if (spec.order == RevealOrder::kRandom) {
    const auto key = [&](std::int64_t p) {
      return uniform(77, {DrawStream::kRandomOrder, static_cast<std::uint32_t>(sample),
                          static_cast<std::uint32_t>(p), 0});
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  }
  std::vector<std::int32_t> steps(static_cast<size_t>(spec.tokens), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    steps[static_cast<size_t>(spec.prompt + order[i])] =
        static_cast<std::int32_t>(static_cast<std::int64_t>(i) * spec.steps / generated);
  }
  return steps;
}

// Arrays beside received attention, of every step, layer and head.
class MoreArrays {
 public:
  MoreArrays(const PlantedSpec& spec, std::int64_t steps)
      : spec_(spec), shape_{steps, spec.layers, spec.heads, spec.tokens} {}

  // `received`: of all groups.
  void add(const PlantedMap& map, std::span<const double> received) {
    std::vector<double> filled(received.size());
    const auto take = [&](const std::string& name, const PlantedSpec::Fill& fill) {
      fill(map, filled);
      arrays_[name].insert(arrays_[name].end(), filled.begin(), filled.end());
    };
    for (const auto& [name, fill] : spec_.by_token) take(name, fill);
    if (!spec_.values) return;
    take(std::string(trace::kValueNorm), spec_.values);
    auto& lengths = arrays_[std::string(trace::kContribution)];
    for (size_t j = 0; j < received.size(); ++j)
      lengths.push_back(static_cast<float>(received[j] * filled[j]));
  }
  void put(trace::Sample& sample) const {
    for (const auto& [name, numbers] : arrays_)
      sample.arrays.push_back(trace::float_array(name, shape_, numbers));
  }

 private:
  const PlantedSpec& spec_;
  std::vector<std::int64_t> shape_;
  std::map<std::string, std::vector<float>> arrays_;
};

void put_dense(const PlantedSpec& spec, PlantedMap map, trace::Sample& sample) {
  const auto tokens = static_cast<size_t>(spec.tokens);
  std::vector<double> weights(tokens * tokens);
  for (map.layer = 0; map.layer < spec.layers; ++map.layer) {
    spec.dense(map, weights);
    std::vector<float> rows;
    for (auto row = weights.begin(); row != weights.end(); row += spec.tokens) {
      const double total = std::accumulate(row, row + spec.tokens, 0.0);
      for (size_t j = 0; j < tokens; ++j)
        rows.push_back(static_cast<float>(row[static_cast<std::ptrdiff_t>(j)] / total));
    }
    sample.arrays.push_back(
        trace::float_array(trace::dense_mean_name(map.step, map.layer), {spec.tokens, spec.tokens}, rows));
  }
}

trace::Sample sample_of(const PlantedSpec& spec, std::int64_t n) {
  const std::int64_t S = spec.causal ? 1 : spec.steps, L = spec.layers, H = spec.heads, T = spec.tokens,
                     G = static_cast<std::int64_t>(spec.groups.size());
  const auto revealed = reveal_steps(spec, n);
  std::vector<std::int32_t> rows, steps, layers, final_row(static_cast<size_t>(T));
  for (std::int64_t j = 0; j < T; ++j)
    final_row[static_cast<size_t>(j)] = static_cast<std::int32_t>(1 + j % 900);
  std::vector<float> received;
  std::vector<double> weights(static_cast<size_t>(T));
  MoreArrays more(spec, S);
  for (std::int64_t s = 0; s < S; ++s) {
    steps.push_back(static_cast<std::int32_t>(s));
    for (size_t j = 0; j < final_row.size(); ++j)
      rows.push_back(!spec.causal && revealed[j] >= s ? kMask : final_row[j]);
    std::int64_t leading = 0;
    while (spec.prompt + leading < T && revealed[static_cast<size_t>(spec.prompt + leading)] < s) ++leading;
    for (std::int64_t l = 0; l < L; ++l) {
      std::vector<std::vector<double>> by_head(static_cast<size_t>(H),
                                               std::vector<double>(weights.size(), 0.0));
      for (std::int64_t g = 0; g < G; ++g) {
        for (std::int64_t h = 0; h < H; ++h) {
          spec.weights({n, s, l, h, g, leading}, weights);
          const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
          for (size_t j = 0; j < weights.size(); ++j) {
            const double sum = weights[j] / total * static_cast<double>(T) / static_cast<double>(G);
            received.push_back(static_cast<float>(sum));
            by_head[static_cast<size_t>(h)][j] += sum;
          }
        }
      }
      for (std::int64_t h = 0; h < H; ++h)
        more.add({n, s, l, h, 0, leading}, by_head[static_cast<size_t>(h)]);
    }
  }
  for (std::int64_t l = 0; l < L; ++l) layers.push_back(static_cast<std::int32_t>(l));
  trace::Sample sample{"sample-" + std::to_string(n), {}, {}};
  sample.arrays.push_back(trace::integer_array("tokens", {T}, final_row));
  sample.arrays.push_back(trace::integer_array("steps", {S}, steps));
  sample.arrays.push_back(trace::integer_array("layers", {L}, layers));
  sample.arrays.push_back(trace::integer_array("tokens_by_step", {S, T}, rows));
  sample.arrays.push_back(trace::integer_array("revealed_at", {T}, revealed));
  sample.arrays.push_back(trace::integer_array(
      "group_sizes", {S, G},
      std::vector<std::int32_t>(static_cast<size_t>(S * G), static_cast<std::int32_t>(T / G))));
  sample.arrays.push_back(trace::float_array("received", {S, L, G, H, T}, received));
  more.put(sample);
  if (spec.dense) put_dense(spec, {n, S - 1, 0, H, 0, 0}, sample);
  if (!spec.gold.empty()) sample.arrays.push_back(trace::byte_array("evidence", {T}, spec.gold));
  sample.metadata["prompt_length"] = std::to_string(spec.prompt);
  sample.metadata["attention"] = !spec.attention.empty() ? spec.attention
                                 : spec.causal           ? "causal"
                                                         : "bidirectional";
  sample.metadata["group_names"] = trace::format_text_list(spec.groups);
  if (!spec.causal) sample.metadata["mask_token"] = std::to_string(kMask);
  if (!spec.texts.empty()) sample.metadata["token_texts"] = trace::format_text_list(spec.texts);
  return sample;
}

}  // namespace

TextTrace plant(const PlantedSpec& spec) {
  TextTrace trace{manifest_of(spec), {}};
  for (std::int64_t n = 0; n < spec.samples; ++n) {
    trace.samples.push_back(sample_of(spec, n));
    trace.manifest.sample_ids.push_back(trace.samples.back().id);
  }
  return trace;
}

Findings analyse(const PlantedSpec& spec, const std::vector<std::string>& names) {
  const TempFolder folder;
  write_trace(folder / "planted", plant(spec));
  return {analysis::run_analyses(names, {{folder / "planted", "planted"}}, {})};
}

double Findings::value(const std::string& table, const Where& where, const std::string& column) const {
  for (const auto& analysis : result.analyses) {
    for (const auto& candidate : analysis.tables) {
      if (candidate.name != table) continue;
      const std::vector<Cell>* found = nullptr;
      for (const auto& row : candidate.rows) {
        const bool wanted = std::all_of(where.begin(), where.end(), [&](const auto& pair) {
          return text_of(row[testing::column_named(candidate, pair.first)]) == pair.second;
        });
        if (!wanted) continue;
        if (found != nullptr) throw std::runtime_error(table + ": more than one row");
        found = &row;
      }
      if (found == nullptr) throw std::runtime_error(table + ": no such row");
      return number_of((*found)[testing::column_named(candidate, column)]);
    }
  }
  throw std::runtime_error("no table " + table);
}

double draw(const PlantedMap& map, std::uint32_t index) {
  const auto place =
      static_cast<std::uint32_t>(((map.sample * 64 + map.layer) * 64 + map.head) * 4 + map.group);
  return uniform(5, {DrawStream::kWeights, static_cast<std::uint32_t>(map.step), place, index});
}

}  // namespace buoy::testing
