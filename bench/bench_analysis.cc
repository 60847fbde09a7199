#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <numeric>

#include "bench/measure.h"
#include "buoy/analysis/core/run.h"
#include "buoy/base/progress.h"
#include "buoy/base/sha256.h"
#include "buoy/benchmark/peak_memory.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"

namespace buoy::bench {
namespace {

namespace fs = std::filesystem;

// A sample of the size of the paper's models: 32 layers, 32 heads, T = 512, 32 steps.
struct Extent {
  std::int64_t steps = 32, layers = 32, heads = 32, tokens = 512, prompt = 480, groups = 5, regions = 5;
};

std::vector<float> noise(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) * 0x1p-24f + 0.01f;
  }
  return values;
}

std::vector<std::int32_t> counting(std::int64_t count) {
  std::vector<std::int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

trace::Sample large_sample(const std::string& id, const Extent& e, std::uint32_t seed) {
  const auto S = e.steps, L = e.layers, H = e.heads, T = e.tokens, R = e.tokens - e.prompt;
  trace::Sample sample{id, {}, {}};
  const auto floats = [&](std::string_view name, std::vector<std::int64_t> shape) {
    const std::int64_t count = trace::element_count(name, shape);
    sample.arrays.push_back(trace::float_array(name, std::move(shape), noise(count, ++seed)));
  };
  const auto integers = [&](std::string_view name, std::vector<std::int64_t> shape,
                            const std::vector<std::int32_t>& values) {
    sample.arrays.push_back(trace::integer_array(name, std::move(shape), values));
  };
  std::vector<std::int32_t> row(static_cast<size_t>(T)), rows, revealed(static_cast<size_t>(T), -1), sizes,
      top;
  for (std::int64_t p = 0; p < T; ++p) row[static_cast<size_t>(p)] = static_cast<std::int32_t>(10 + p % 90);
  for (std::int64_t p = e.prompt; p < T; ++p)
    revealed[static_cast<size_t>(p)] = static_cast<std::int32_t>(p - e.prompt);
  for (std::int64_t s = 0; s < S; ++s) {
    for (std::int64_t p = 0; p < T; ++p) rows.push_back(p >= e.prompt + s ? 1 : row[static_cast<size_t>(p)]);
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{19}, e.prompt - 20, s, R - s})
      sizes.push_back(static_cast<std::int32_t>(size));
  }
  std::vector<std::uint8_t> regions(static_cast<size_t>(T), 2), evidence(static_cast<size_t>(T), 0);
  for (std::int64_t p = 0; p < T; ++p)
    regions[static_cast<size_t>(p)] = p == 0 ? 0 : p < 20 ? 1 : p < 250 ? 2 : p < e.prompt ? 3 : 4;
  for (size_t p = 100; p < 104; ++p) evidence[p] = 1;
  top.resize(static_cast<size_t>(S * L * R * H));
  for (size_t i = 0; i < top.size(); ++i)
    top[i] = static_cast<std::int32_t>(i * 7919 % static_cast<size_t>(T));
  integers(trace::kTokens, {T}, row);
  integers(trace::kTokensByStep, {S, T}, rows);
  integers(trace::kRevealedAt, {T}, revealed);
  integers(trace::kSteps, {S}, counting(S));
  integers(trace::kLayers, {L}, counting(L));
  integers(trace::kGroupSizes, {S, e.groups}, sizes);
  std::vector<std::int32_t> writing(static_cast<size_t>(R));
  std::iota(writing.begin(), writing.end(), static_cast<std::int32_t>(e.prompt));
  integers(trace::kRowPositions, {R}, writing);
  integers(trace::kTopKeys, {S, L, R, H, 1}, top);
  sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {T}, regions));
  sample.arrays.push_back(trace::byte_array(trace::kEvidence, {T}, evidence));
  floats(trace::kReceived, {S, L, e.groups, H, T});
  floats(trace::kMass, {S, L, e.groups, H, e.regions});
  floats(trace::kEvidenceMass, {S, L, R, H});
  for (const auto name :
       {trace::kQkAfterDot, trace::kQkAfterCosine, trace::kQkAfterNormProduct, trace::kQkAfterSelfDot,
        trace::kQkBeforeDot, trace::kQkBeforeCosine, trace::kQkBeforeNormProduct, trace::kQkBeforeSelfDot,
        trace::kQueryNorm, trace::kKeyNorm}) {
    floats(name, {S, L, H, T});
  }
  std::vector<std::string> texts;
  for (const auto token : row) texts.push_back(fmt::format("w{}", token));
  sample.metadata = {{std::string(trace::kPromptLength), fmt::format("{}", e.prompt)},
                     {std::string(trace::kAttention), "bidirectional"},
                     {std::string(trace::kMaskToken), "1"},
                     {std::string(trace::kPredictionOffset), "0"},
                     {std::string(trace::kTokenTexts), trace::format_text_list(texts)}};
  const auto names = [&](std::string_view key, const std::vector<std::string>& list) {
    sample.metadata[std::string(key)] = trace::format_text_list(list);
  };
  names(trace::kRegionNames, {"bos", "query", "document 1", "document 2", "answer"});
  names(trace::kGroupNames, {"bos", "query", "documents", "answer, revealed", "answer, masked"});
  names(trace::kGoldRegions, {"document 1"});
  names(trace::kAnswers, {"w10"});
  return sample;
}

trace::Manifest manifest_of(const Extent& e, int samples) {
  trace::Manifest manifest;
  manifest.created_by = "buoy bench";
  manifest.model = {.name = "bench",
                    .family = "LLaDA",
                    .architecture = "LLaDAModelLM",
                    .stored_dtype = "BF16",
                    .layers = e.layers,
                    .heads = e.heads,
                    .kv_heads = e.heads,
                    .head_dim = 128,
                    .hidden = 4096,
                    .vocabulary = 1000,
                    .config_sha256 = sha256_hex("bench"),
                    .weights_sha256 = sha256_hex("bench")};
  manifest.storage = trace::Storage::kF16;
  for (int i = 0; i < samples; ++i) manifest.sample_ids.push_back(fmt::format("sample-{}", i));
  return manifest;
}

}  // namespace

void bench_analysis(bool long_run, const Report& report) {
  const Extent extent;
  const int samples = long_run ? 8 : 2;
  const fs::path folder = fs::temp_directory_path() / fmt::format("buoy-bench-analysis-{}", ::getpid());
  const trace::Manifest manifest = manifest_of(extent, samples);
  auto writer = trace::TraceWriter::create(folder, manifest);
  for (int i = 0; i < samples; ++i)
    writer.write(large_sample(manifest.sample_ids[static_cast<size_t>(i)], extent,
                              static_cast<std::uint32_t>(i * 100)));
  writer.finish();
  for (const auto& kind : analysis::analysis_kinds()) {
    for (const std::int64_t limit : {std::int64_t{2}, std::int64_t{samples}}) {
      analysis::RunOptions options;
      options.limit = limit;
      double seconds = 0;
      const std::uint64_t peak = benchmark::peak_extra_bytes([&] {
        const auto start = std::chrono::steady_clock::now();
        run_analyses({std::string(kind.producer.name)}, {{folder, "bench"}}, options);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      });
      report({fmt::format("analyze {}, {} samples: peak {}", kind.producer.name, limit, describe_bytes(peak)),
              seconds / static_cast<double>(limit), seconds / static_cast<double>(limit), "s/sample", 0});
      if (samples == 2) break;
    }
  }
  fs::remove_all(folder);
}

}  // namespace buoy::bench
