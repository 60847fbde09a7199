// Sequences that join and leave a packed stream give the tokens they give alone, whatever the budget and the
// order, for both models of the bundled pair.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "buoy/base/random.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "buoy/decode/stream.h"
#include "support/golden.h"

namespace buoy {
namespace {

constexpr std::int32_t kMask = 2047, kEnd = 2046;

struct Request {
  std::vector<std::int32_t> prompt;
  std::int32_t slots, steps;
  double temperature, guidance;
};

// Lengths that share a batch in many ways; one is longer than most budgets.
std::vector<Request> requests() {
  const std::int32_t lengths[] = {5, 70, 1, 30, 310, 12, 64, 9};
  std::vector<Request> all;
  for (std::uint32_t n = 0; n < std::size(lengths); ++n) {
    Request request{{},
                    4 * (1 + static_cast<std::int32_t>(n % 2)),
                    n % 3 == 0 ? 4 : 2,
                    n % 2 == 0 ? 0.0 : 0.7,
                    n == 3 ? 0.5 : 0.0};
    for (std::int32_t i = 0; i < lengths[n]; ++i) {
      const double draw = uniform(3, {DrawStream::kWeights, n, 0, static_cast<std::uint32_t>(i)});
      request.prompt.push_back(static_cast<std::int32_t>(draw * 2000));
    }
    all.push_back(request);
  }
  return all;
}

class Stream : public ::testing::TestWithParam<bool> {
 protected:
  Stream() : model_(model::Model::load(testing::data_folder() / ".." / ".." / "models" / folder())) {}

  static std::string folder() { return GetParam() ? "planted-diffusion" : "planted-autoregressive"; }

  std::unique_ptr<decode::StepMachine> machine(const Request& request, std::uint64_t seed) const {
    if (GetParam()) {
      decode::LladaOptions options;
      options.max_new_tokens = options.block_length = request.slots;
      options.steps = request.steps;
      options.temperature = request.temperature;
      options.cfg_scale = request.guidance;
      options.mask_token = kMask;
      options.eos_token = kEnd;
      options.seed = seed;
      return std::make_unique<decode::LladaMachine>(request.prompt, options);
    }
    decode::AutoregressiveOptions options;
    options.max_new_tokens = request.slots * request.steps;
    options.temperature = request.temperature;
    options.eos_tokens = {kEnd};
    options.seed = seed;
    return std::make_unique<decode::AutoregressiveMachine>(request.prompt, options, model_.new_cache());
  }

  ThreadPool threads_{1};
  Context context_{threads_};
  model::Model model_;
};

TEST_P(Stream, AnyBudgetAndOrderGivesTheTokensOfEachAlone) {
  const auto all = requests();
  std::vector<std::vector<std::int32_t>> alone, revealed;
  for (size_t n = 0; n < all.size(); ++n) {
    const auto one = machine(all[n], n);
    decode::StepMachine* machines[] = {one.get()};
    decode::drive(context_, model_, machines, nullptr);
    alone.push_back(one->row());
    revealed.push_back(one->revealed_at());
  }
  for (const std::int64_t budget : {1, 64, 300, 4096}) {
    for (const bool backwards : {false, true}) {
      if (backwards && budget != 300) continue;
      SCOPED_TRACE(budget);
      std::vector<size_t> order;
      for (size_t n = 0; n < all.size(); ++n) order.push_back(backwards ? all.size() - 1 - n : n);
      size_t given = 0;
      std::map<size_t, int> finished;
      std::vector<size_t> order_of_ends;
      decode::stream(
          context_, model_, {.token_budget = budget},
          [&]() -> std::optional<decode::StreamJob> {
            if (given == order.size()) return std::nullopt;
            const size_t n = order[given++];
            return decode::StreamJob{n, machine(all[n], n)};
          },
          [&](size_t n, const decode::StepMachine& done) {
            EXPECT_TRUE(done.finished());
            EXPECT_EQ(done.row(), alone[n]) << "sequence " << n;
            EXPECT_EQ(done.revealed_at(), revealed[n]) << "sequence " << n;
            ++finished[n];
            order_of_ends.push_back(n);
          });
      EXPECT_EQ(given, all.size());
      EXPECT_EQ(finished.size(), all.size());
      for (const auto& [n, times] : finished) EXPECT_EQ(times, 1) << "sequence " << n;
      // One at a time ends in order; in a large batch the short ones leave the long ones behind.
      if (budget == 1) {
        EXPECT_EQ(order_of_ends, order);
      }
      if (budget == 4096) {
        EXPECT_NE(order_of_ends, order);
      }
    }
  }
}

TEST_P(Stream, TheBudgetAndTheNumberOfSequencesBoundWhatRunsTogether) {
  const Request request{std::vector<std::int32_t>(20, 7), 4, 2, 0, 0};
  const auto most_together = [&](const decode::StreamOptions& options) {
    size_t given = 0, ended = 0, most = 0;
    decode::stream(
        context_, model_, options,
        [&]() -> std::optional<decode::StreamJob> {
          if (given == 6) return std::nullopt;
          most = std::max(most, given - ended);
          return decode::StreamJob{given++, machine(request, 0)};
        },
        [&](size_t, const decode::StepMachine&) { ++ended; });
    EXPECT_EQ(ended, 6u);
    return most;
  };
  EXPECT_EQ(most_together({.token_budget = 1}), 1u) << "the one that runs while the next is asked for";
  EXPECT_EQ(most_together({.token_budget = 4096}), 5u);
  EXPECT_EQ(most_together({.token_budget = 4096, .most_sequences = 2}), 1u);
}

// What a probe is asked about, forward by forward.
class Asked final : public probe::Probe {
 public:
  std::map<std::int64_t, std::vector<std::vector<std::int32_t>>> rows;  // by sequence, in order
  std::map<std::int64_t, std::vector<std::int64_t>> steps;
  std::int64_t most = 0;  // tokens of a forward

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    if (address.layer != 0) now_ = 0;  // all of the forward were asked about
    if (address.layer != 0) return {};
    most = std::max(most, now_ += extent.query_rows);
    if (address.branch != 0) return {};
    rows[address.sequence].emplace_back(extent.tokens.begin(), extent.tokens.end());
    steps[address.sequence].push_back(address.step);
    return {};
  }
  void take(const probe::Address&, probe::LayerRecord&&) override {}

 private:
  std::int64_t now_ = 0;
};

TEST_P(Stream, AFinishedRowIsLookedAtOnceMoreBeforeItsSequenceEnds) {
  const auto all = requests();
  for (const std::int64_t budget : {1, 300, 4096}) {
    SCOPED_TRACE(budget);
    Asked asked;
    size_t given = 0;
    std::map<size_t, std::vector<std::int32_t>> before, ends;
    std::map<size_t, std::int32_t> told, taken;
    decode::stream(
        context_, model_, {.token_budget = budget},
        [&]() -> std::optional<decode::StreamJob> {
          if (given == all.size()) return std::nullopt;
          const size_t n = given++;
          decode::StreamJob job{100 + n, machine(all[n], n)};
          job.on_step = [&told, n](const decode::StepRecord&) { ++told[100 + n]; };
          if (n % 4 != 3)
            job.look = {77, [&before, n](const decode::StepMachine& done) { before[100 + n] = done.row(); }};
          return job;
        },
        [&](size_t n, const decode::StepMachine& done) { ends[n] = done.row(), taken[n] = done.step(); },
        &asked);
    ASSERT_EQ(ends.size(), all.size());
    EXPECT_EQ(told, taken) << "looks are no steps";
    for (const auto& [n, row] : ends) {
      SCOPED_TRACE(n);
      const auto& steps = asked.steps.at(static_cast<std::int64_t>(n));
      const bool looked = (n - 100) % 4 != 3;
      EXPECT_EQ(std::count(steps.begin(), steps.end(), 77), looked ? 1 : 0);
      EXPECT_EQ(steps.back() == 77, looked) << "after all others";
      EXPECT_EQ(before.contains(n), looked);
      if (!looked) continue;
      EXPECT_EQ(before.at(n), row);
      EXPECT_EQ(asked.rows.at(static_cast<std::int64_t>(n)).back(), row)
          << "the whole row, whatever is cached";
    }
    // Finished rows wait for their turn: together they would be longer than the budget.
    if (budget == 300) {
      EXPECT_LE(asked.most, 310 + 32) << "the one that is longer by itself";
    }
  }
}

TEST_P(Stream, NothingToDoIsDoneAtOnce) {
  decode::stream(
      context_, model_, {}, []() -> std::optional<decode::StreamJob> { return std::nullopt; },
      [](size_t, const decode::StepMachine&) { FAIL(); });
}

INSTANTIATE_TEST_SUITE_P(Pair, Stream, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "diffusion" : "autoregressive"; });

}  // namespace
}  // namespace buoy
