// Keys that receive most, hidden in traces of models that decode blocks: what is watched is what is decoded
// unwatched, and every forward hides what the forward before says, whatever rows it ran.

#include <gtest/gtest.h>

#include "buoy/run/change/changing_probe.h"
#include "buoy/run/trace_run.h"
#include "run/block_trace_case.h"

namespace buoy::run {
namespace {

using testing::kinds_of;
using trace::StepKind;
using Ids = std::vector<std::int32_t>;

Changes hide(const std::string& keys, const std::string& of = "", const std::string& control = "") {
  ChangeTexts texts;
  texts.top = {keys, of, control};
  return parse_changes(texts);
}

class TopKeysOfBlocks : public testing::BlockTraceCase {
 protected:
  TopKeysOfBlocks() { request_.observe = "received"; }

  // As `buoy generate` decodes it.
  std::unique_ptr<decode::StepMachine> generated(const Changes& changes) {
    ChangedRow row;
    row.tokens = std::ssize(request_.ids->ids) + request_.decode.max_new_tokens;
    row.steps = most_forwards(model_.model.config(), request_.decode);
    row.decode = request_.decode;
    row.prompt = request_.ids->ids;
    row.seed = request_.decode.seed;
    ChangingProbe changing(changes, model_.model.config(), row, nullptr);
    auto machine = make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt);
    decode::StepMachine* machines[] = {machine.get()};
    const Context context{threads_};
    decode::drive(context, model_.model, machines, nullptr, &changing);
    return machine;
  }

  trace::StoredSample traced(const Changes& changes) {
    request_.changes = changes;
    return BlockTraceCase::traced();
  }

  std::string error_of(const Changes& changes) {
    request_.changes = changes;
    request_.folder = scratch_ / std::to_string(number_++);
    const Context context{threads_};
    try {
      const auto result =
          run_trace(context, model_, make_trace_run(request_, model_), {[](const auto&) {}, [] {}});
      return result.failed.empty() ? "" : result.failed.front().error;
    } catch (const Error& error) {
      return error.what();
    }
  }

  // Of every key, from all rows of a forward.
  std::vector<double> received(const trace::StoredSample& sample, std::int64_t s, std::int64_t layer,
                               std::int64_t head) const {
    const auto sums = sample.floats_at(trace::kReceived, {s, layer});
    const std::int64_t keys = sample.shape(trace::kTokens)[0], heads = model_.model.config().heads;
    std::vector<double> out(static_cast<size_t>(keys), 0.0);
    for (std::int64_t g = 0; g < std::ssize(sums) / (heads * keys); ++g) {
      for (std::int64_t k = 0; k < keys; ++k)
        out[static_cast<size_t>(k)] += sums[static_cast<size_t>((g * heads + head) * keys + k)];
    }
    return out;
  }

  // Keys of a forward that no row looks at are those that `expected` names, and those not there yet.
  void expect_hidden(const trace::StoredSample& sample, std::int64_t s, std::int64_t layer, std::int64_t head,
                     const Ids& expected) const {
    const auto now = received(sample, s, layer, head);
    const std::int64_t end = sample.integers(trace::kRowsRun)[static_cast<size_t>(2 * s + 1)];
    for (std::int64_t key = 0; key < std::ssize(now); ++key) {
      const bool hidden = std::find(expected.begin(), expected.end(), key) != expected.end();
      EXPECT_EQ(now[static_cast<size_t>(key)] == 0, hidden || key >= end)
          << "forward " << s << ", head " << layer << '.' << head << ", key " << key;
    }
  }
};

TEST_P(TopKeysOfBlocks, AreThoseOfTheForwardBefore) {
  const auto changes = hide("2");
  const auto sample = traced(changes);
  const auto kinds = kinds_of(sample);
  const ModelConfig& config = model_.model.config();
  ASSERT_EQ(kinds.back(), StepKind::kFinalRow);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (std::int64_t head = 0; head < config.heads; ++head) {
      expect_hidden(sample, 0, layer, head, {});
      for (std::int64_t s = 1; s < std::ssize(kinds); ++s)
        expect_hidden(sample, s, layer, head,
                      choose_top_keys(*changes.top, received(sample, s - 1, layer, head), {}));
    }
  }
}

TEST_P(TopKeysOfBlocks, WatchedOrNotTheSameIsWritten) {
  for (const char* control : {"", "random", "mass"}) {
    const auto changes = hide("2", "", control);
    const auto sample = traced(changes);
    const auto machine = generated(changes);
    const Ids tokens = sample.integers(trace::kTokens);
    ASSERT_EQ(std::ssize(tokens), machine->decoded_length()) << control;
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), machine->row().begin())) << control;
    const auto kinds = kinds_of(sample);
    EXPECT_EQ(std::ssize(kinds), machine->forward() + 1) << control;  // and the look at the final row
  }
}

TEST_P(TopKeysOfBlocks, NoKeysChangeNoBit) {
  const auto plain = traced({}), same = traced(hide("0"));
  ASSERT_EQ(plain.names(), same.names());
  EXPECT_EQ(plain.integers(trace::kTokens), same.integers(trace::kTokens));
  EXPECT_EQ(plain.integers(trace::kReveals), same.integers(trace::kReveals));
  EXPECT_EQ(plain.floats(trace::kReceived), same.floats(trace::kReceived));
  EXPECT_NE(plain.floats(trace::kReceived), traced(hide("2")).floats(trace::kReceived));
}

TEST_P(TopKeysOfBlocks, OfNamedForwardsHideThereAlone) {
  const auto sample = traced(hide("1@1.0/2"));
  const auto count = std::ssize(kinds_of(sample));
  for (std::int64_t s = 0; s < count; ++s) {
    const auto before = s == 2 ? received(sample, 1, 1, 0) : std::vector<double>{};
    expect_hidden(sample, s, 1, 0, before.empty() ? Ids{} : choose_top_keys(*hide("1").top, before, {}));
    expect_hidden(sample, s, 1, 1, {});
    expect_hidden(sample, s, 0, 0, {});
  }
}

// The first forward is the same in both: what hides is what it says, and it hides from itself.
TEST_P(TopKeysOfBlocks, TakeThoseOfTheSameForwardOfAnotherTrace) {
  const auto plain = traced({});
  const auto folder = request_.folder;
  const auto changes = hide("2@0/0", "trace:" + folder.string());
  const auto sample = traced(changes);
  for (std::int64_t head = 0; head < model_.model.config().heads; ++head) {
    expect_hidden(sample, 0, 0, head, choose_top_keys(*changes.top, received(plain, 0, 0, head), {}));
    expect_hidden(sample, 0, 1, head, {});
    expect_hidden(sample, 1, 0, head, {});
  }
}

TEST_P(TopKeysOfBlocks, RefuseATraceWhoseForwardsRanOtherRows) {
  traced({});
  const auto folder = request_.folder;
  // Longer, its row is another at the last look.
  request_.decode.max_new_tokens *= 2;
  const auto error = error_of(hide("1", "trace:" + folder.string()));
  EXPECT_NE(error.find(folder.string()), std::string::npos) << error;
  EXPECT_NE(error.find("over rows"), std::string::npos) << error;
}

TEST_P(TopKeysOfBlocks, RefuseWhatTheRowDoesNotHave) {
  EXPECT_NE(error_of(hide("1/0")).find("from 1 on"), std::string::npos);
  EXPECT_NE(error_of(hide("1/4000")).find("steps below"), std::string::npos);
  EXPECT_NE(error_of(hide("25")).find("at most 24 of the 25 keys"), std::string::npos);
  EXPECT_NE(error_of(hide("1@0.99")).find("heads 0 to"), std::string::npos);
}

// Of ten keys none can be three standard deviations out.
TEST_P(TopKeysOfBlocks, RefuseARuleThatSelectsNothing) {
  request_.ids->ids.resize(2);
  request_.decode.max_new_tokens = 8;
  const auto error = error_of(hide("1/1", "rule:three_sigma"));
  EXPECT_NE(error.find("three_sigma: none in"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Families, TopKeysOfBlocks, ::testing::ValuesIn(testing::traced_families()),
                         [](const auto& test) { return testing::name_of(test.param); });

}  // namespace
}  // namespace buoy::run
