// Routers from the model to the trace: what is stored is what each row's router decides, and to look at it
// changes nothing else.

#include <gtest/gtest.h>

#include <map>

#include "buoy/analysis/core/run.h"
#include "buoy/base/error.h"
#include "buoy/probe/watch.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::family_folder;
using Ids = std::vector<std::int32_t>;

class RoutedTrace {
 public:
  explicit RoutedTrace(const std::string& name) : model(load_model(family_folder(name))) {
    request.items.resize(1);
    request.items[0].id = "only";
    request.ids = Prompt{{5, 9, 2, 7, 11, 3, 8, 4, 6}, "", {}};
    request.decode.max_new_tokens = 6;
    if (is_masked_diffusion(model.model.config().family)) request.decode.mask_token = 50;
  }

  trace::StoredSample trace(const std::string& observe) {
    request.observe = observe;
    request.folder = scratch_ / std::to_string(number_++);
    run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
    return trace::TraceReader::open(request.folder).read("only");
  }

  // What every row of this sequence decides, by layer.
  std::map<std::int64_t, probe::RoutingRecord> decided(const Ids& tokens) {
    std::map<std::int64_t, probe::RoutingRecord> out;
    probe::LayerRequest wanted;
    wanted.routing = true;
    probe::Watch watch(wanted, [&](const probe::Address& at, const probe::LayerRecord& record) {
      out[at.layer] = record.routing;
    });
    const Ids rows = {0};
    const model::SequenceInput input{tokens, rows};
    model.model.forward({threads}, {&input, 1}, &watch);
    return out;
  }

  ThreadPool threads{2};
  LoadedModel model;
  TraceRequest request;

 private:
  testing::TempFolder scratch_;
  int number_ = 0;
};

// Sequences that run whole, and blocks over a cache: rows that ran, to the bit.
void expect_stored_is_decided(RoutedTrace& traced) {
  const auto sample = traced.trace("routing");
  const ModelConfig& config = traced.model.model.config();
  const auto& shape = sample.shape(trace::kRoutedExperts);
  const std::int64_t steps = shape.at(0), layers = shape.at(1), tokens = shape.at(2), chosen = shape.at(3);
  ASSERT_EQ(layers, config.layers);
  ASSERT_EQ(chosen, config.experts->chosen);
  ASSERT_EQ(sample.shape(trace::kExpertLoad).at(2), config.experts->count);
  const Ids rows = sample.integers(trace::kTokensByStep), experts = sample.integers(trace::kRoutedExperts),
            load = sample.integers(trace::kExpertLoad);
  const auto weights = sample.floats(trace::kRoutedWeights), entropy = sample.floats(trace::kRouterEntropy);
  std::int64_t ran = 0;
  for (std::int64_t s = 0; s < steps; ++s) {
    const Ids row(rows.begin() + s * tokens, rows.begin() + (s + 1) * tokens);
    auto decided = traced.decided(row);
    for (std::int64_t l = 0; l < layers; ++l) {
      const probe::RoutingRecord& expected = decided.at(l);
      std::vector<std::int32_t> counts(static_cast<size_t>(config.experts->count), 0);
      for (std::int64_t t = 0; t < tokens; ++t) {
        const auto at = static_cast<size_t>((s * layers + l) * tokens + t);
        if (experts[at * static_cast<size_t>(chosen)] < 0) {
          EXPECT_EQ(entropy[at], 0);
          continue;
        }
        ++ran;
        EXPECT_EQ(entropy[at], expected.entropy[static_cast<size_t>(t)]);
        for (std::int64_t n = 0; n < chosen; ++n) {
          const auto from = static_cast<size_t>(t * chosen + n);
          EXPECT_EQ(experts[at * static_cast<size_t>(chosen) + static_cast<size_t>(n)],
                    expected.experts[from]);
          EXPECT_EQ(weights[at * static_cast<size_t>(chosen) + static_cast<size_t>(n)],
                    expected.weights[from]);
          ++counts[static_cast<size_t>(expected.experts[from])];
        }
      }
      for (std::int64_t e = 0; e < config.experts->count; ++e)
        EXPECT_EQ(load[static_cast<size_t>((s * layers + l) * config.experts->count + e)],
                  counts[static_cast<size_t>(e)]);
    }
  }
  EXPECT_GT(ran, tokens);
}

TEST(RoutedTraces, HoldWhatRoutersDecide) {
  for (const char* name :
       {"llada-moe-f32", "llada-moe-bias-f32", "qwen3-moe-f32", "mixtral-f32", "sdar-moe-f32"}) {
    SCOPED_TRACE(name);
    RoutedTrace traced(name);
    expect_stored_is_decided(traced);
  }
}

TEST(RoutedTraces, WatchingRoutersChangesNothing) {
  for (const char* name : {"llada-moe-f32", "qwen3-moe-f32", "sdar-moe-f32"}) {
    RoutedTrace traced(name);
    const auto with = traced.trace("received,routing"), without = traced.trace("received");
    EXPECT_EQ(with.integers(trace::kTokens), without.integers(trace::kTokens));
    EXPECT_EQ(with.integers(trace::kRevealedAt), without.integers(trace::kRevealedAt));
    EXPECT_EQ(with.floats(trace::kReceived), without.floats(trace::kReceived));
    EXPECT_FALSE(without.has(trace::kRoutedExperts));
  }
}

TEST(RoutedTraces, TheAnalysisReadsThem) {
  for (const char* name : {"llada-moe-f32", "qwen3-moe-f32", "sdar-moe-f32"}) {
    RoutedTrace traced(name);
    traced.trace("routing");
    const auto tables =
        analysis::run_analyses({"routing"}, {{traced.request.folder, "a"}}, {}).analyses.at(0).tables;
    ASSERT_EQ(tables.size(), 3u);
    EXPECT_FALSE(tables[0].rows.empty()) << name;
    EXPECT_FALSE(tables[2].rows.empty()) << name;
  }
}

TEST(RoutedTraces, AModelWithoutExpertsIsRefused) {
  RoutedTrace traced("sdar-f32");
  EXPECT_TRUE(fails_with<UsageError>([&] { traced.trace("routing"); },
                                     {"`observe`", "a SDAR has no experts", "found routing"}));
}

}  // namespace
}  // namespace buoy::run
