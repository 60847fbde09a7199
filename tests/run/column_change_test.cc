// Hidden columns: which are chosen, that nothing attends to them, and what is asked with them.
#include "buoy/run/change/column_change.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/analysis/core/depth.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/analysis/sample/token_type.h"
#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/identity.h"
#include "buoy/run/summary/summary.h"
#include "buoy/run/trace_request.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;

constexpr std::int64_t kLayers = 6;  // of the planted pair

// A trace of one model of the pair on two questions.
struct TracedModel {
  TracedModel(const TempFolder& scratch, bool masked_diffusion, const std::string& layers = "",
              trace::Level keep = trace::Level::kFull)
      : data(testing::write_world(scratch, {.count = 2, .passages = 3})),
        folder(scratch / (masked_diffusion ? "diffusion" : "autoregressive")),
        model(load_model(testing::pair_model(masked_diffusion).path)) {
    TraceRequest request;
    request.folder = folder;
    request.items = questions::read_items(data, {});
    request.prompt_template = testing::pair_spec(data, {}).prompt_template;
    request.observe = "received";
    request.layers = layers;
    request.keep = keep;
    request.decode.max_new_tokens = 8;
    if (masked_diffusion) request.decode.steps = 2;
    decode = request.decode;
    ThreadPool threads(1);
    run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
    const auto reader = trace::TraceReader::open(folder);
    id = reader.samples().front().id;
    sample = analysis::StoredSource(reader.manifest(), reader.read(id)).sample();
    prompt.assign(sample->final_row.begin(), sample->final_row.begin() + sample->prompt_length);
  }

  std::filesystem::path data, folder;
  LoadedModel model;
  DecodeOptions decode;
  std::string id;
  std::optional<analysis::ObservedSample> sample;
  std::vector<std::int32_t> prompt;
};

class ColumnMaskTest : public ::testing::TestWithParam<bool> {
 protected:
  ColumnMaskTest() : traced_(scratch_, GetParam()), book_(traced_.folder) {}

  ColumnSets choose(const ColumnChange& hidden, std::uint64_t seed = 1) const {
    return book_.choose(traced_.id, traced_.prompt, hidden, seed);
  }

  TempFolder scratch_;
  TracedModel traced_;
  ColumnBook book_;
};
INSTANTIATE_TEST_SUITE_P(Pair, ColumnMaskTest, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(ColumnMaskTest, ATraceOfAnotherModelIsRefused) {
  const auto folder = [](bool masked_diffusion) { return testing::pair_model(masked_diffusion).path; };
  require_trace_of(traced_.folder, folder(GetParam()));
  EXPECT_TRUE(
      fails_with<InputError>([&] { require_trace_of(traced_.folder, folder(!GetParam())); },
                             {traced_.folder.string(), folder(!GetParam()).string(), "another model"}));
}

TEST_P(ColumnMaskTest, ColumnsAreOfTheirThirdInThePromptAndNeverTheAnswer) {
  const auto& sample = *traced_.sample;
  const auto types = analysis::token_types(sample, {sample.token_texts, sample.special});
  std::size_t floating_columns = 0;
  for (std::int64_t third = 0; third < 3; ++third) {
    const auto floating = choose({ColumnKind::kFloating, third}),
               random = choose({ColumnKind::kRandom, third}),
               structural = choose({ColumnKind::kStructural, third});
    ASSERT_EQ(floating.size(), GetParam() ? 2u : 1u) << "steps";
    for (std::size_t s = 0; s < floating.size(); ++s) {
      for (std::int64_t l = 0; l < kLayers; ++l) {
        const auto at = static_cast<std::size_t>(l);
        const auto &f = floating[s][at], &r = random[s][at], &t = structural[s][at];
        if (analysis::third_of_layer(l, kLayers) != third) {
          EXPECT_TRUE(f.empty() && r.empty() && t.empty()) << l;
          continue;
        }
        floating_columns += f.size();
        EXPECT_EQ(r.size(), f.size()) << "as many";
        EXPECT_LE(t.size(), f.size());
        for (const auto* set : {&f, &r, &t}) {
          EXPECT_TRUE(std::is_sorted(set->begin(), set->end()));
          for (const auto p : *set) {
            EXPECT_LT(p, sample.prompt_length);
            EXPECT_EQ(sample.evidence[static_cast<std::size_t>(p)], 0) << p;
            EXPECT_EQ(std::count(f.begin(), f.end(), p), set == &f ? 1 : 0);
          }
        }
        for (const auto p : t) EXPECT_TRUE(analysis::is_structural(types[static_cast<std::size_t>(p)]));
      }
    }
  }
  EXPECT_GT(floating_columns, 0u) << "the rule finds some";
}

TEST_P(ColumnMaskTest, DrawsAreTheSameForASeedAndOthersForAnother) {
  for (std::int64_t third = 0; third < 3; ++third) {
    const ColumnChange hidden{ColumnKind::kRandom, third};
    EXPECT_EQ(choose(hidden), choose(hidden));
    const auto sets = choose(hidden);
    const bool any = std::any_of(sets[0].begin(), sets[0].end(), [](const auto& s) { return !s.empty(); });
    if (any) {
      EXPECT_NE(sets, choose(hidden, 2));
    }
  }
}

TEST_P(ColumnMaskTest, RefusesQuestionsThatTheTraceHasNot) {
  EXPECT_TRUE(fails_with<InputError>([&] { book_.choose("none", traced_.prompt, {}, 1); },
                                     {"a sample of question", "none"}));
  auto other = traced_.prompt;
  other.back() ^= 1;
  EXPECT_TRUE(
      fails_with<InputError>([&] { book_.choose(traced_.id, other, {}, 1); }, {"with the same prompt"}));
}

TEST_P(ColumnMaskTest, RefusesTracesOfSomeLayersOnly) {
  const TempFolder other;
  const TracedModel some(other, GetParam(), "0-3");
  EXPECT_TRUE(fails_with<InputError>([&] { ColumnBook(some.folder).choose(some.id, some.prompt, {}, 1); },
                                     {"every step and layer observed", "4 of 6 layers"}));
}

TEST_P(ColumnMaskTest, RefusesTracesThatKeepLess) {
  for (const auto level : {trace::Level::kTables, trace::Level::kCompact}) {
    const TempFolder other;
    const TracedModel less(other, GetParam(), "", level);
    EXPECT_TRUE(fails_with<InputError>([&] { ColumnBook{less.folder}; },
                                       {"`keep` full", "one that keeps " + std::string(name_of(level))}));
  }
}

// Looks at the attention received while columns are hidden.
class Watcher final : public probe::Probe {
 public:
  explicit Watcher(const ColumnSets& sets) : mask_(sets), sets_(sets) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.received = true;
    return request;
  }
  probe::Change change(const probe::Address& a, const probe::LayerExtent& extent) override {
    return mask_.change(a, extent);
  }
  void take(const probe::Address& a, probe::LayerRecord&& record) override {
    const auto step = std::min(static_cast<std::size_t>(a.step), sets_.size() - 1);
    const auto keys = static_cast<std::size_t>(record.states.key_rows);
    const auto& hidden = sets_[step][static_cast<std::size_t>(a.layer)];
    for (std::size_t i = 0; i < record.received.size(); ++i) {
      const auto key = static_cast<std::int32_t>(i % keys);
      const bool is_hidden = std::binary_search(hidden.begin(), hidden.end(), key);
      if (is_hidden) {
        EXPECT_EQ(record.received[i], 0) << a.layer << " " << key;
      }
      hidden_seen += is_hidden ? 1 : 0;
      seen += record.received[i] > 0 ? 1 : 0;
    }
  }

  std::size_t hidden_seen = 0, seen = 0;

 private:
  ColumnChangeProbe mask_;
  const ColumnSets& sets_;
};

TEST_P(ColumnMaskTest, NothingAttendsToHiddenColumns) {
  ThreadPool threads(1);
  std::size_t hidden = 0;
  for (std::int64_t third = 0; third < 3; ++third) {
    const auto sets = choose({ColumnKind::kFloating, third});
    Watcher watcher(sets);
    const auto machine =
        make_machine(traced_.model.model, traced_.decode, traced_.prompt, traced_.model.tokenizer);
    decode::StepMachine* const machines[] = {machine.get()};
    decode::drive(
        {threads}, traced_.model.model, machines, [](auto&&...) {}, &watcher);
    EXPECT_GT(watcher.seen, watcher.hidden_seen);
    hidden += watcher.hidden_seen;
  }
  EXPECT_GT(hidden, 0u) << "something was hidden at all";
}

TEST_P(ColumnMaskTest, EveryQuestionIsAskedTenWaysAndAgainTheSame) {
  const auto model = testing::pair_model(GetParam());
  auto spec = testing::pair_spec(traced_.data, column_conditions({{model.name, traced_.folder}}, {}));
  spec.models = {model};
  testing::run(spec, scratch_ / "one");
  testing::run_and_die(spec, scratch_ / "two", false, 5);
  testing::run(spec, scratch_ / "two", true);
  EXPECT_TRUE(testing::same_files(testing::files_of(scratch_ / "one"), testing::files_of(scratch_ / "two")));
  const auto book = read_scores(scratch_ / "one");
  ASSERT_EQ(book.cells.size(), 10u);
  EXPECT_EQ(book.conditions[0].name, "hidden=none");
  EXPECT_EQ(book.conditions[1].name, "hidden=floating-shallow");
  for (const auto& cell : book.cells) EXPECT_EQ(cell.answers.size(), 2u) << cell.condition;
  const auto tables = summarise(book, {.replicates = 100, .seed = 0});
  const auto table =
      std::find_if(tables.begin(), tables.end(), [](auto& t) { return t.name == "eval_columns"; });
  ASSERT_NE(table, tables.end());
  EXPECT_EQ(table->rows.size(), 6u) << "three thirds, against random and structural ones";
}

TEST(ColumnConditions, AreNotASweepAsWell) {
  ConditionRequest request;
  request.columns = {{"m", "trace"}};
  request.sweep = "gold-position=1-3";
  EXPECT_TRUE(
      fails_with<UsageError>([&] { make_conditions(request); }, {"columns to hide", "more than one"}));
}

}  // namespace
}  // namespace buoy::run
