#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/random.h"
#include "bench/measure.h"
#include "bench/random_checkpoint.h"
#include "model/model.h"
#include "ops/attention_statistics.h"
#include "ops/qk_moments.h"

namespace buoy::bench {
namespace {

// Received attention by 13 groups, entropy, 32 whole rows, QK decomposition on both sides of the rotation.
class WatchEverything final : public probe::Probe {
 public:
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    r.received = r.entropy = r.log_sum_exp = r.first_share = r.row_weights = true;
    r.qk_after = r.qk_before = r.norms = true;
    r.groups = 13;
    for (std::int64_t i = 0; i < extent.query_rows; ++i) {
      r.group_of_row.push_back(static_cast<std::uint8_t>(i * 13 / extent.query_rows));
    }
    for (std::int64_t i = std::max<std::int64_t>(0, extent.query_rows - 32); i < extent.query_rows; ++i) {
      r.rows.push_back(static_cast<std::int32_t>(i));
    }
    return r;
  }
  void take(const probe::Address&, probe::LayerRecord&&) override {}
};

std::vector<float> numbers(std::uint64_t seed, size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(normal(seed, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)}));
  }
  return out;
}

// Attention alone, 4 heads of 128, beside the second pass and the QK moments.
std::vector<Result> attention_alone(const Context& context, std::int64_t tokens) {
  const std::int64_t heads = 4, dim = 128;
  const auto size = static_cast<size_t>(tokens * heads * dim), rows = static_cast<size_t>(tokens * heads);
  const auto queries = numbers(1, size), keys = numbers(2, size), values = numbers(3, size);
  std::vector<float> output(size), top(rows), sum(rows), received(13 * rows), entropy(rows), qk(rows),
      cosine(rows), product(rows);
  std::vector<std::uint8_t> groups(static_cast<size_t>(tokens));
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<std::uint8_t>(i * 13 / groups.size());
  const ops::AttentionShape shape{heads, heads, dim, {ops::MaskKind::kBidirectional, 0}};
  const ops::AttentionSequence sequence{.queries = queries.data(),
                                        .query_rows = tokens,
                                        .first_position = 0,
                                        .keys = keys.data(),
                                        .values = values.data(),
                                        .key_rows = tokens,
                                        .key_bias = nullptr,
                                        .output = output.data(),
                                        .row_top = top.data(),
                                        .row_sum = sum.data()};
  ops::AttentionScratch scratch;
  ops::AttentionStatistics statistics;
  statistics.groups = 13;
  statistics.group_of_row = groups.data();
  statistics.received = received.data();
  statistics.entropy = entropy.data();
  ops::QkMoments moments;
  moments.dot = qk.data();
  moments.cosine = cosine.data();
  moments.norm_product = product.data();
  const double plain = median_seconds([&] { ops::attention(context, shape, {&sequence, 1}, scratch); });
  const double second =
      median_seconds([&] { ops::attention_statistics(context, shape, sequence, statistics); });
  const double linear = median_seconds([&] { ops::qk_moments(context, shape, sequence, moments); });
  return {{fmt::format("attention alone, 4 heads of 128, T = {}", tokens), plain, 1, "x", 0},
          {fmt::format("  received by 13 groups + entropy, T = {}", tokens), second, second / plain, "x", 0},
          {fmt::format("  QK moments, T = {}", tokens), linear, linear / plain, "x", 0}};
}

}  // namespace

std::vector<Result> bench_observe(const Context& context, bool long_run) {
  namespace fs = std::filesystem;
  ShapeOfModel block = llada_8b();
  block.layers = 1;
  block.vocabulary = 1024;
  const fs::path folder = fs::temp_directory_path() / fmt::format("buoy-bench-observe-{}", ::getpid());
  write_random_checkpoint(folder, block, 1);
  model::Model model = model::Model::load(folder);
  std::vector<Result> results;
  std::vector<int> lengths = {256, 1024};
  if (long_run) lengths.push_back(4096);
  for (const int tokens : lengths) {
    std::vector<std::int32_t> ids(static_cast<size_t>(tokens));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 1000);
    const std::vector<model::SequenceInput> inputs = {{ids, {}}};
    WatchEverything watch;
    const double plain = median_seconds([&] { model.forward(context, inputs); });
    const double watched = median_seconds([&] { model.forward(context, inputs, &watch); });
    results.push_back({fmt::format("LLaDA-8B block, unobserved, T = {}", tokens), plain, 1, "x", 0});
    results.push_back(
        {fmt::format("  everything observed but dense, T = {}", tokens), watched, watched / plain, "x", 0});
  }
  fs::remove_all(folder);
  for (const int tokens : long_run ? std::vector<int>{1024, 4096, 8192} : std::vector<int>{1024}) {
    for (auto& result : attention_alone(context, tokens)) results.push_back(std::move(result));
  }
  return results;
}

}  // namespace buoy::bench
