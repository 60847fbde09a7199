#include "analysis/planted_qk.h"

#include <algorithm>
#include <cmath>

#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

double length(const std::vector<double>& a) {
  return std::sqrt(dot(a, a));
}

struct Arrays {
  std::vector<float> dot, cosine, norm, self, query_norm, key_norm, received;
};

void put(Arrays& to, const QkVectors& v, const std::string& attention) {
  const std::int64_t tokens = std::ssize(v.keys);
  for (std::int64_t j = 0; j < tokens; ++j) {
    const auto& key = v.keys[static_cast<size_t>(j)];
    double s = 0, c = 0, n = 0, seeing = 0;
    for (std::int64_t i = 0; i < tokens; ++i) {
      if (!sees_key(attention, i, j)) continue;
      const auto& query = v.queries[static_cast<size_t>(i)];
      s += dot(query, key);
      n += length(query) * length(key);
      c += dot(query, key) / length(query) / length(key);
      seeing += 1;
    }
    to.dot.push_back(static_cast<float>(s / seeing));
    to.cosine.push_back(static_cast<float>(c / seeing));
    to.norm.push_back(static_cast<float>(n / seeing));
    to.self.push_back(static_cast<float>(dot(v.queries[static_cast<size_t>(j)], key)));
    to.query_norm.push_back(static_cast<float>(length(v.queries[static_cast<size_t>(j)])));
    to.key_norm.push_back(static_cast<float>(length(key)));
  }
}

}  // namespace

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

bool sees_key(const std::string& attention, std::int64_t query, std::int64_t key) {
  return attention == "bidirectional" || key <= query || (attention == "prefix" && key < kQkPrompt);
}

QkVectors draw_vectors(Draws& draws, const PlantedKey& plant, std::int64_t floating, std::int64_t tokens) {
  QkVectors out;
  for (std::int64_t j = 0; j < tokens; ++j) {
    std::vector<double> query(kQkSize, 0.0), key(kQkSize, 0.0);
    query[0] = 2 + 0.2 * draws.bell();
    const bool floats = j == floating;
    const double norm = (floats ? plant.norm : 1) * (1 + 0.05 * draws.bell());
    const double cosine = std::min((floats ? plant.cosine : 0.3) * (1 + 0.05 * draws.bell()), 0.999);
    std::vector<double> aside(kQkSize, 0.0);
    for (size_t d = 1; d < kQkSize; ++d) aside[d] = draws.bell();
    const double scale = norm * std::sqrt(1 - cosine * cosine) / length(aside);
    for (size_t d = 1; d < kQkSize; ++d) key[d] = aside[d] * scale;
    key[0] = norm * cosine;
    out.queries.push_back(query);
    out.keys.push_back(key);
  }
  return out;
}

SyntheticTrace plant_qk(const std::vector<PlantedKey>& layers, int samples, std::uint64_t seed,
                        const QkDesign& design) {
  const std::int64_t tokens = design.tokens;
  const auto L = static_cast<std::int64_t>(layers.size());
  SyntheticTrace trace({L, kQkHeads, kQkSize});
  Draws draws(seed);
  for (int n = 0; n < samples; ++n) {
    SyntheticTrace::Row row;
    row.tokens.assign(static_cast<size_t>(tokens), 1);
    row.prompt_length = kQkPrompt;
    auto& sample = trace.add(row);
    sample.metadata[std::string(trace::kAttention)] = design.attention;
    const std::int64_t floating = draws.below(design.floating_below);
    Arrays arrays;
    for (const auto& layer : layers) {
      for (std::int64_t h = 0; h < kQkHeads; ++h) {
        put(arrays, draw_vectors(draws, layer, floating, tokens), design.attention);
        const auto all = static_cast<double>(tokens);
        for (std::int64_t j = 0; j < tokens; ++j)
          arrays.received.push_back(static_cast<float>(j == floating ? all * 0.5 : all * 0.5 / (all - 1)));
      }
    }
    const std::vector<std::int64_t> shape = {1, L, kQkHeads, tokens};
    for (const auto& [name, values] :
         {std::pair{trace::kQkAfterDot, &arrays.dot}, std::pair{trace::kQkAfterCosine, &arrays.cosine},
          std::pair{trace::kQkAfterNormProduct, &arrays.norm},
          std::pair{trace::kQkAfterSelfDot, &arrays.self}, std::pair{trace::kQkBeforeDot, &arrays.dot},
          std::pair{trace::kQkBeforeCosine, &arrays.cosine},
          std::pair{trace::kQkBeforeNormProduct, &arrays.norm},
          std::pair{trace::kQkBeforeSelfDot, &arrays.self}, std::pair{trace::kQueryNorm, &arrays.query_norm},
          std::pair{trace::kKeyNorm, &arrays.key_norm}})
      sample.arrays.push_back(trace::float_array(name, shape, *values));
    sample.arrays.push_back(
        trace::float_array(trace::kReceived, {1, L, 1, kQkHeads, tokens}, arrays.received));
    sample.arrays.push_back(trace::integer_array(
        trace::kGroupSizes, {1, 1}, std::vector<std::int32_t>{static_cast<std::int32_t>(tokens)}));
  }
  return trace;
}

}  // namespace buoy::testing
