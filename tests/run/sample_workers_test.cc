// Samples that run side by side leave what they would have left one after the other.

#include "buoy/run/sample_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::TempFolder;

struct Broken {
  std::size_t number;
};

class Workers : public ::testing::TestWithParam<int> {
 protected:
  SampleWorkers workers() { return {context_, model_, GetParam()}; }

  // Some take longer than those behind them.
  static void dawdle(std::size_t number) {
    std::this_thread::sleep_for(std::chrono::microseconds(number * 7919 % 500));
  }

  ThreadPool threads_{GetParam()};
  Context context_{threads_};
  LoadedModel model_ = load_model(testing::pair_model(false).path);
};
INSTANTIATE_TEST_SUITE_P(Counts, Workers, ::testing::Values(1, 2, 5));

TEST_P(Workers, TasksRunInTheOrderOfTheirNumbersOneAtATime) {
  auto all = workers();
  std::vector<std::size_t> order;
  std::atomic<int> at_once = 0;
  std::atomic<std::size_t> prepared = 0;
  all.run_in_order(200, [&](std::size_t n, int worker) -> SampleWorkers::Task {
    EXPECT_LT(worker, all.count());
    dawdle(n);
    ++prepared;
    return [&, n] {
      EXPECT_EQ(++at_once, 1);
      // Those that are ready ahead of their turn are few.
      EXPECT_LE(prepared, n + 1 + 3 * static_cast<std::size_t>(all.count()));
      order.push_back(n);
      --at_once;
    };
  });
  ASSERT_EQ(order.size(), 200u);
  for (std::size_t n = 0; n < order.size(); ++n) EXPECT_EQ(order[n], n);
}

TEST_P(Workers, WhatIsThrownEndsTheRunBehindAllThatCameBefore) {
  for (const bool by_task : {false, true}) {
    std::vector<std::size_t> order;
    auto all = workers();
    try {
      all.run_in_order(100, [&](std::size_t n, int) -> SampleWorkers::Task {
        dawdle(n);
        if (n >= 20 && !by_task) throw Broken{n};
        return [&, n] {
          if (n >= 20) throw Broken{n};
          order.push_back(n);
        };
      });
      FAIL();
    } catch (const Broken& broken) {
      EXPECT_EQ(broken.number, 20u);
    }
    EXPECT_EQ(order.size(), 20u);
  }
}

TEST_P(Workers, EveryoneHasAModelWithTheSameWeightsThatGivesTheSameBits) {
  auto all = workers();
  const std::vector<std::int32_t> row = {5, 70, 1, 30, 310, 12, 64, 9};
  const std::vector<std::int32_t> last = {7};
  const auto logits_of = [&](const Context& context, model::Model& model) {
    const model::SequenceInput input{row, last};
    const float* logits = model.forward(context, std::span(&input, 1));
    return std::vector<float>(logits, logits + model.config().vocabulary);
  };
  const auto expected = logits_of(context_, model_.model);
  std::vector<std::vector<float>> found(static_cast<std::size_t>(all.count()));
  all.run([&](int worker) {
    for (int i = 0; i < 5; ++i)
      found[static_cast<std::size_t>(worker)] = logits_of(all.context(worker), all.model(worker).model);
  });
  for (const auto& logits : found) EXPECT_EQ(logits, expected);
  EXPECT_EQ(&all.model(0).model.checkpoint(), &model_.model.checkpoint()) << "loaded once";
}

TEST(SamplesAtOnce, AreAsManyAsThreadsWhereForwardsAreSmall) {
  const LoadedModel model = load_model(testing::pair_model(true).path);
  const auto tokens =
      static_cast<std::int64_t>(kSmallForward / static_cast<double>(model.model.checkpoint().parameters()));
  EXPECT_GT(tokens, 1024) << "the bundled models are small";
  EXPECT_EQ(samples_at_once(model.model, 16, 100, tokens), 16);
  EXPECT_EQ(samples_at_once(model.model, 16, 3, tokens), 3);
  EXPECT_EQ(samples_at_once(model.model, 16, 0, tokens), 1);
  EXPECT_EQ(samples_at_once(model.model, 1, 100, tokens), 1);
  EXPECT_EQ(samples_at_once(model.model, 16, 100, tokens + 1), 1);
}

class TracesSideBySide : public ::testing::TestWithParam<trace::Level> {
 protected:
  TracesSideBySide() : data_(testing::write_world(scratch_, {.count = 7, .passages = 2})) {
    request_.items = questions::read_items(data_, {});
    // One that is too long for the model.
    for (int i = 0; i < 400; ++i) request_.items[4].passages.front().text += " Shinia Subshaw wrote it.";
    request_.prompt_template = testing::pair_spec(data_, {}).prompt_template;
    request_.observe = "received,entropy,mass,top,row-mass";
    request_.groups = "regions";
    request_.float16 = true;
    request_.decode.max_new_tokens = 4;
    request_.decode.steps = 2;
    request_.keep = GetParam();
    if (GetParam() != trace::Level::kFull) request_.analyses.names = {"floating", "drift", "retrieval"};
  }

  // Its step ends the run after so many samples, if told to.
  TraceRunResult trace(const std::filesystem::path& folder, int threads, bool resume = false,
                       std::size_t most = 1000) {
    request_.folder = folder;
    request_.resume = resume;
    ThreadPool pool(threads);
    std::size_t steps = 0;
    return run_trace({pool}, model_, make_trace_run(request_, model_),
                     {[](const auto&) {},
                      [&] {
                        if (++steps == most) throw Broken{most};
                      }});
  }

  TempFolder scratch_;
  std::filesystem::path data_;
  TraceRequest request_;
  LoadedModel model_ = load_model(testing::pair_model(true).path);
};
INSTANTIATE_TEST_SUITE_P(Levels, TracesSideBySide,
                         ::testing::Values(trace::Level::kTables, trace::Level::kCompact,
                                           trace::Level::kFull));

TEST_P(TracesSideBySide, HaveTheBytesOfOnesThatWereMadeOneAfterTheOther) {
  const auto serial = trace(scratch_ / "1", 1);
  EXPECT_EQ(serial.samples, 6u);
  const auto expected = testing::files_of(scratch_ / "1");
  for (const int threads : {3, 16}) {
    SCOPED_TRACE(threads);
    const auto folder = scratch_ / std::to_string(threads);
    const auto result = trace(folder, threads);
    ASSERT_EQ(result.failed.size(), 1u);
    EXPECT_EQ(result.failed[0].id, serial.failed[0].id);
    EXPECT_EQ(result.failed[0].error, serial.failed[0].error);
    EXPECT_EQ(result.ids_without_text, serial.ids_without_text);
    EXPECT_TRUE(testing::same_files(testing::files_of(folder), expected));
  }
}

TEST_P(TracesSideBySide, GoOnWhereTheyWereInterrupted) {
  trace(scratch_ / "whole", 1);
  const auto expected = testing::files_of(scratch_ / "whole");
  for (const std::size_t samples : {1u, 6u}) {
    SCOPED_TRACE(samples);
    const auto folder = scratch_ / std::to_string(samples);
    EXPECT_THROW(trace(folder, 3, false, samples), Broken);
    EXPECT_FALSE(trace::TraceReader::open(folder).complete());
    trace(folder, 3, true);
    EXPECT_TRUE(testing::same_files(testing::files_of(folder), expected));
  }
}

}  // namespace
}  // namespace buoy::run
