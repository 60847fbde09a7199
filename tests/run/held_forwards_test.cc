// Block decoding is observed while it runs the first time: records are held until its end is known, in memory
// or in a file, and what comes of them is the same.

#include "buoy/run/held/held_forwards.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <stdexcept>

#include "buoy/probe/record_numbers.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/live/watched_questions.h"
#include "run/block_trace_case.h"
#include "run/runs.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;

// As long as it lives, all stores together hold at most so many bytes in memory.
class BoundMemory {
 public:
  explicit BoundMemory(std::uint64_t bytes) : before_(RecordStore::bound_memory(bytes)) {}
  ~BoundMemory() { RecordStore::bound_memory(before_); }
  BoundMemory(const BoundMemory&) = delete;
  BoundMemory& operator=(const BoundMemory&) = delete;

 private:
  std::uint64_t before_;
};

// Every list of it has another length and other numbers.
probe::LayerRecord numbered(int number, std::vector<float>& states) {
  probe::LayerRecord record;
  size_t lists = 0;
  probe::for_each_list(record, [&](auto& list) {
    list.resize(++lists + static_cast<size_t>(number));
    for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int>(lists * 1000 + i) + number;
    // Zeros in front, behind and between, some of them short.
    if (lists % 3 == 0) list.insert(list.begin(), 300, 0);
    if (lists % 4 == 0) list.insert(list.end(), 129, 0);
    if (lists % 5 == 0) list.insert(list.begin() + 2, 1000, 0);
  });
  states.assign(64, static_cast<float>(number));
  record.states = {2, 3, 1, 2, 1, 4, true, 1, states.data(), states.data() + 16, nullptr};
  return record;
}

TEST(RecordStore, GivesBackWhatWasPutInItsOrder) {
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{60'000}, std::uint64_t{1} << 30}) {
    const BoundMemory bound(most);
    const testing::TempFolder scratch;
    RecordStore store(scratch.path());
    for (int n = 0; n < 20; ++n) {
      std::vector<float> states;
      store.put(numbered(n, states));
      EXPECT_LE(RecordStore::bytes_in_memory(), most);
    }
    EXPECT_EQ(store.bytes_in_file() > 0, most < (1 << 30));
    EXPECT_TRUE(fs::is_empty(scratch.path())) << "nobody finds the file";
    probe::LayerRecord found;
    for (int n = 0; n < 20; ++n) {
      std::vector<float> states;
      auto expected = numbered(n, states);
      store.take(found);
      std::vector<std::vector<double>> lists[2];
      for (auto* record : {&expected, &found}) {
        probe::for_each_list(*record, [&](const auto& list) {
          lists[record == &found].emplace_back(list.begin(), list.end());
        });
      }
      EXPECT_EQ(lists[0], lists[1]);
      EXPECT_EQ(found.states.key_rows, 3);
      EXPECT_TRUE(found.states.causal);
      ASSERT_NE(found.states.queries, nullptr);
      EXPECT_EQ(found.states.values, nullptr);
      EXPECT_EQ(std::vector<float>(found.states.queries, found.states.queries + 16),
                std::vector<float>(16, static_cast<float>(n)));
      EXPECT_EQ(found.states.keys[11], static_cast<float>(n));
    }
    EXPECT_EQ(RecordStore::bytes_in_memory(), 0u);
  }
}

TEST(RecordStore, KnowsEveryListOfARecord) {
  probe::LayerRecord record;
  size_t bytes = sizeof record.states + sizeof record.residual.on_device;
  probe::for_each_list(record, [&](const auto& list) { bytes += sizeof list; });
  EXPECT_EQ(bytes, sizeof record);
}

class HeldBlocks : public testing::BlockTraceCase {
 protected:
  std::int64_t passes_of(const auto& work) {
    const std::int64_t before = model_.model.passes();
    work();
    return model_.model.passes() - before;
  }
  std::int64_t forwards() {
    return passes_of([&] { unwatched(); });
  }
};

TEST_P(HeldBlocks, APromptIsDecodedOnce) {
  const std::int64_t once = forwards();
  for (const auto level : {trace::Level::kFull, trace::Level::kCompact, trace::Level::kTables}) {
    request_.keep = level;
    request_.observe = "received,entropy,mass,top,row-mass,rows";
    EXPECT_EQ(passes_of([&] { traced(); }), once + 1) << "with the look at the final row";
  }
  if (!is_a2d(model_.model.config().family)) return;
  request_.decode.shifted_rows = true;
  const std::int64_t shifted = forwards();
  EXPECT_EQ(passes_of([&] { traced(); }), shifted + 1) << "the last row is known before";
}

TEST_P(HeldBlocks, RecordsInAFileGiveTheSameTrace) {
  traced();
  const BoundMemory none(0);
  traced();
  EXPECT_TRUE(testing::same_files(testing::files_of(scratch_ / "0" / "samples"),
                                  testing::files_of(scratch_ / "1" / "samples")));
}

TEST_P(HeldBlocks, AnInterruptedRunGoesOn) {
  const BoundMemory none(0);
  const Context context{threads_};
  request_.items.resize(3);
  request_.items[1].id = "second", request_.items[2].id = "third";
  const auto run = [&](const fs::path& folder, const std::function<void()>& step) {
    request_.folder = folder;
    run_trace(context, model_, make_trace_run(request_, model_), {[](const auto&) {}, step});
  };
  run(scratch_ / "whole", [] {});
  const fs::path halted = scratch_ / "halted";
  int ended = 0;
  const auto halt = [&] {
    if (++ended == 2) throw std::runtime_error("halt");
  };
  EXPECT_THROW(run(halted, halt), std::runtime_error);
  EXPECT_TRUE(fs::exists(halted / "samples.jsonl")) << "unfinished";
  request_.resume = true;
  run(halted, [] {});
  EXPECT_TRUE(testing::same_files(testing::files_of(scratch_ / "whole" / "samples"),
                                  testing::files_of(halted / "samples")));
}

// Where rows are shifted, the last row of all is padding. An answer that ends inside a block makes a row the
// last one of which that was not known: that alone is decoded once more.
TEST_P(HeldBlocks, AnAnswerThatEndsInsideABlockIsTracedAsIfItHadBeenKnown) {
  const auto whole = unwatched();
  const auto prompt = request_.ids->ids.size();
  request_.decode.eos_tokens = {whole->row()[prompt + 5]};
  const std::int64_t once = forwards();
  const auto machine = unwatched();
  std::int64_t passes = 0;
  const auto sample = [&] {
    const std::int64_t before = model_.model.passes();
    auto out = traced();
    passes = model_.model.passes() - before;
    return out;
  }();
  const bool shifted = sample.integer_text(trace::kPredictionOffset) != 0;
  EXPECT_TRUE(passes == once + 1 || (shifted && passes == 2 * once + 1)) << passes << " of " << once;
  // The groups of every forward are those of its row.
  const std::int64_t tokens = machine->decoded_length();
  ASSERT_EQ(sample.shape(trace::kTokens)[0], tokens);
  const auto rows = sample.integers(trace::kTokensByStep), ran = sample.integers(trace::kRowsRun),
             sizes = sample.integers(trace::kGroupSizes);
  const auto groups = observe::QueryGroups::by_state();
  const std::int32_t end = request_.decode.eos_tokens.front();
  for (std::int64_t s = 0; s < sample.shape(trace::kSteps)[0]; ++s) {
    const std::vector<std::int32_t> row(rows.begin() + s * tokens, rows.begin() + (s + 1) * tokens);
    const auto stop =
        std::find(row.begin() + static_cast<std::ptrdiff_t>(prompt), row.end(), end) - row.begin();
    const auto of_row = groups.assign({row, static_cast<std::int64_t>(prompt), mask_, stop, shifted ? 1 : 0});
    std::vector<std::int32_t> expected(4, 0);
    for (auto r = ran[static_cast<size_t>(2 * s)]; r < ran[static_cast<size_t>(2 * s + 1)]; ++r)
      ++expected[of_row[static_cast<size_t>(r)]];
    EXPECT_EQ(std::vector<std::int32_t>(sizes.begin() + 4 * s, sizes.begin() + 4 * s + 4), expected) << s;
  }
}

// What a trace observes besides changes nothing of what the model expects: neither the rows, nor their
// numbers.
TEST_P(HeldBlocks, PredictionsAloneAreThoseOfATraceThatObservesMore) {
  request_.predicted_tokens = 20;  // more than a block has rows
  request_.decode.eos_tokens = {unwatched()->row()[request_.ids->ids.size() + 5]};
  const auto all = traced();
  request_.observe = "predictions";
  const auto alone = traced();
  EXPECT_EQ(alone.shape(trace::kTokens), all.shape(trace::kTokens));
  for (const auto name : {trace::kPredictedConfidence, trace::kPredictedEntropy, trace::kPredictedMargin,
                          trace::kPredictedProbabilities}) {
    EXPECT_EQ(alone.floats(name), all.floats(name)) << name;
  }
  EXPECT_EQ(alone.integers(trace::kPredictedTokens), all.integers(trace::kPredictedTokens));
}

// The same of a question in a packed stream: it is asked again, with its forwards.
TEST_P(HeldBlocks, AQuestionThatMustBeAskedAgainSaysSo) {
  const Context context{threads_};
  request_.decode.eos_tokens = {unwatched()->row()[request_.ids->ids.size() + 5]};
  request_.observe = kFeatureObservables;
  traced();
  const auto reader = trace::TraceReader::open(request_.folder);
  const auto expected = attention_features(analysis::StoredSource(reader.manifest(), reader.read("only")));
  WatchedOutcome found;
  WatchedQuestions watched(context, model_.model.config(), request_, std::nullopt,
                           [&](std::size_t, WatchedOutcome outcome) { found = std::move(outcome); });
  const auto prompt = prompts_of(request_, model_)(0);
  int asked = 0;
  do {
    bool given = false;
    const auto blocks = std::exchange(found.blocks, nullptr);
    decode::stream(
        context, model_.model, {},
        [&]() -> std::optional<decode::StreamJob> {
          if (std::exchange(given, true)) return std::nullopt;
          decode::StreamJob job{7,
                                make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt)};
          job.look = watched.begin({7, prompt, *job.machine, blocks});
          job.on_step = [&](const decode::StepRecord& record) { watched.ran(7, record); };
          return job;
        },
        [&](std::size_t number, const decode::StepMachine&) { watched.end(number); }, &watched);
    watched.finish();
    ++asked;
  } while (found.blocks && asked < 3);
  EXPECT_LE(asked, reader.read("only").integer_text(trace::kPredictionOffset) != 0 ? 2 : 1);
  EXPECT_EQ(found.features, expected);
}

INSTANTIATE_TEST_SUITE_P(Families, HeldBlocks, ::testing::ValuesIn(testing::traced_families()),
                         [](const auto& test) { return testing::name_of(test.param); });

}  // namespace
}  // namespace buoy::run
