// The residual stream read and changed in the fused pass, against the plain pass in double, under every
// family and mask.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "buoy/model/model_reference.h"
#include "model/golden_run.h"
#include "model/residual_probe.h"
#include "ops/error_ratio.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using probe::ResidualPoint;
using probe::ResidualRecord;
using testing::Bits;
using testing::ErrorRatio;
using testing::GoldenRun;
using testing::Ids;
using testing::ResidualProbe;

constexpr std::int64_t kTokens = 12, kPrefix = 5;

struct StreamCase {
  const char* label;
  Family family;
  const char* mask;  // null: not stated
};

std::vector<StreamCase> cases() {
  return {{"llada", Family::kLlada, nullptr}, {"llada_causal", Family::kLlada, "causal"},
          {"dream", Family::kDream, nullptr}, {"dream_causal", Family::kDream, "causal"},
          {"llama", Family::kLlama, nullptr}, {"llama_prefix", Family::kLlama, "prefix"},
          {"qwen2", Family::kQwen2, nullptr}, {"qwen2_prefix", Family::kQwen2, "prefix"},
          {"qwen3", Family::kQwen3, nullptr}, {"qwen3_prefix", Family::kQwen3, "prefix"}};
}

GoldenRun tiny(const StreamCase& c) {
  // The weights stay mapped when the folder is gone.
  const testing::TempFolder folder;
  testing::TinyCheckpoint checkpoint(c.family);
  if (c.mask != nullptr) checkpoint.config["attention_mask_kind"] = c.mask;
  checkpoint.write(folder.path());
  return GoldenRun(model::Model::load(folder.path()));
}

class Residual : public ::testing::TestWithParam<StreamCase> {
 protected:
  Residual() : run_(tiny(GetParam())) {}

  Bits forward(const Ids& ids, const Ids& logit_rows, probe::Probe* probe = nullptr) {
    return run_.forward({{ids, logit_rows, nullptr, {}, kPrefix}}, probe);
  }
  std::int64_t hidden() { return run_.model().config().hidden; }
  std::vector<float> vector(std::uint64_t seed, std::int64_t rows = 1) {
    return testing::normal_numbers(seed, rows * hidden());
  }

  // Every point of every layer, and the logits, under the changes of `probe`.
  void expect_as_the_reference(ResidualProbe& probe) {
    const model::Model& model = run_.model();
    const model::ModelReference exact(model.config(), model.weights());
    const model::PlainPass<float> plain(model.config(), model.weights());
    const Ids all = testing::all_rows(kTokens), rows = {0, 3, 4, 10, 11};
    probe.want_everything(rows);
    std::map<std::string, ErrorRatio> errors;
    for (std::uint64_t draw = 0; draw < 8; ++draw) {
      const Ids ids = run_.random_ids(kTokens, 100 + draw);
      const Bits logits = forward(ids, all, &probe);
      const model::SequenceInput input{ids, all, nullptr, {}, kPrefix};
      const auto truth = exact.forward(input, &probe);
      const auto rough = plain.forward(input, &probe);
      errors["logits"].add(logits.numbers, rough.logits, truth.logits);
      for (std::int64_t layer = 0; layer < model.config().layers; ++layer) {
        const auto& a = truth.layers[static_cast<size_t>(layer)];
        const auto& b = rough.layers[static_cast<size_t>(layer)];
        const ResidualRecord& ours = probe.layer(layer);
        const auto compare = [&](const char* what, const std::vector<float>& found,
                                 const std::vector<float>& float_pass,
                                 const std::vector<double>& double_pass) {
          const size_t width = double_pass.size() / kTokens;
          std::vector<float> of_float;
          std::vector<double> of_double;
          for (const auto row : rows) {
            const auto at = static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * width);
            of_float.insert(of_float.end(), float_pass.begin() + at,
                            float_pass.begin() + at + static_cast<std::ptrdiff_t>(width));
            of_double.insert(of_double.end(), double_pass.begin() + at,
                             double_pass.begin() + at + static_cast<std::ptrdiff_t>(width));
          }
          errors[what].add(found, of_float, of_double);
        };
        compare("pre", ours.pre, b.pre, a.pre);
        compare("head_out", ours.head_out, b.head_out, a.head_out);
        compare("attention_out", ours.attention_out, b.attention_out, a.attention_out);
        compare("mid", ours.mid, b.mid, a.mid);
        compare("mlp_out", ours.mlp_out, b.mlp_out, a.mlp_out);
        compare("post", ours.post, b.post, a.post);
      }
    }
    for (const auto& [what, error] : errors) {
      EXPECT_TRUE(error.enough()) << what;
      error.expect_at_most_twice(what);
    }
  }

  GoldenRun run_;
};

TEST_P(Residual, IsReadAtEveryPoint) {
  ResidualProbe probe;
  expect_as_the_reference(probe);
}

TEST_P(Residual, HasVectorsAddedAtEveryPoint) {
  ResidualProbe probe;
  probe.changes[0].residual = {{{2, 3}, vector(1), ResidualPoint::kPre},
                               {{0, 11}, vector(2, 2), ResidualPoint::kMid}};
  probe.changes[1].residual = {{{4}, vector(3), ResidualPoint::kPost},
                               {{4, 5, 6}, vector(4), ResidualPoint::kPre}};
  expect_as_the_reference(probe);
}

TEST_P(Residual, HasStatesReplacedAtEveryPoint) {
  ResidualProbe probe;
  probe.changes[0].residual = {{{1, 10}, vector(5, 2), ResidualPoint::kPre, true},
                               {{3}, vector(6), ResidualPoint::kMid, true},
                               {{4, 5}, vector(7, 2), ResidualPoint::kPost, true}};
  probe.changes[1].residual = {{{0, 11}, vector(8), ResidualPoint::kPost, true}};
  expect_as_the_reference(probe);
  EXPECT_EQ(std::vector<float>(probe.layer(1).post.begin(), probe.layer(1).post.begin() + hidden()),
            vector(8));
}

TEST_P(Residual, ComesWithoutAnMlpOrWithAPartOfIt) {
  ResidualProbe probe;
  probe.changes[0].mlp_scale = 0;
  probe.changes[1].mlp_scale = 0.5f;
  probe.changes[1].head_scale.assign(static_cast<size_t>(run_.model().config().heads), 1.0f);
  probe.changes[1].head_scale[1] = 0;
  expect_as_the_reference(probe);
  EXPECT_EQ(probe.layer(0).mlp_out, std::vector<float>(probe.layer(0).mlp_out.size(), 0.0f));
  EXPECT_EQ(probe.layer(0).mid, probe.layer(0).post);
  const auto dim = static_cast<size_t>(run_.model().config().head_dim);
  for (size_t d = 0; d < dim; ++d) EXPECT_EQ(probe.layer(1).head_out[dim + d], 0.0f);
}

TEST_P(Residual, OfALayerIsThatBeforeTheNext) {
  ResidualProbe probe;
  probe.want_everything({1, 7});
  forward(run_.random_ids(kTokens, 1), {0}, &probe);
  EXPECT_EQ(probe.layer(0).post, probe.layer(1).pre);
}

TEST_P(Residual, ReadOrNotTheLogitsAreTheSameBits) {
  const Ids ids = run_.random_ids(kTokens, 1);
  const std::vector<Ids> wanted = {testing::all_rows(kTokens), {3, 3, 11}, {5}, {}};
  ResidualProbe whole;
  whole.want_everything({2, 3, 9}, 4);
  forward(ids, wanted[0], &whole);
  for (const auto& logit_rows : wanted) {
    ResidualProbe probe;
    probe.want_everything({2, 3, 9}, 4);
    EXPECT_EQ(forward(ids, logit_rows, &probe), forward(ids, logit_rows));
    // Nor does what is read depend on which logits are wanted.
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(probe.layer(layer).mid, whole.layer(layer).mid);
      EXPECT_EQ(probe.layer(layer).mlp_out, whole.layer(layer).mlp_out);
      EXPECT_EQ(probe.layer(layer).post, whole.layer(layer).post);
      EXPECT_EQ(probe.layer(layer).lens_tokens, whole.layer(layer).lens_tokens);
      EXPECT_EQ(probe.layer(layer).lens_probabilities, whole.layer(layer).lens_probabilities);
    }
  }
}

TEST_P(Residual, ChangedByNothingOrByItsOwnStateKeepsItsBits) {
  const Ids ids = run_.random_ids(kTokens, 1), all = testing::all_rows(kTokens);
  const Bits plain = forward(ids, all);
  ResidualProbe read;
  read.want_everything({4, 8});
  forward(ids, all, &read);
  ResidualProbe own;
  own.changes[0].residual = {{{4, 8}, read.layer(0).pre, ResidualPoint::kPre, true},
                             {{4, 8}, read.layer(0).mid, ResidualPoint::kMid, true},
                             {{4, 8}, read.layer(0).post, ResidualPoint::kPost, true},
                             {{1, 2}, std::vector<float>(static_cast<size_t>(hidden()), 0.0f)}};
  EXPECT_EQ(forward(ids, all, &own), plain);
  own.changes[0].residual[3].values[0] = 1.0f;
  EXPECT_FALSE(forward(ids, all, &own) == plain);
  own.step = 1;  // another forward
  EXPECT_EQ(forward(ids, all, &own), plain);
}

TEST_P(Residual, OfAnotherRunPatchedEverywhereBringsItsLogits) {
  const Ids ids = run_.random_ids(kTokens, 1), other = run_.random_ids(kTokens, 2),
            all = testing::all_rows(kTokens);
  ResidualProbe read;
  read.want_everything(all);
  const Bits wanted = forward(other, all, &read);
  ResidualProbe patch;
  patch.changes[0].residual = {{all, read.layer(0).post, ResidualPoint::kPost, true}};
  EXPECT_EQ(forward(ids, all, &patch), wanted);
}

TEST_P(Residual, OfPackedSequencesIsThatOfEachAlone) {
  const Ids a = run_.random_ids(kTokens, 1), b = run_.random_ids(7, 2);
  const Ids of_a = {11}, of_b = {0, 6};
  const auto input = [&](std::int64_t sequence) {
    return model::SequenceInput{
        sequence == 0 ? a : b, sequence == 0 ? of_a : of_b, nullptr, {sequence}, kPrefix};
  };
  ResidualProbe packed, alone;
  for (ResidualProbe* probe : {&packed, &alone}) {
    probe->want_everything({0, 3, 6}, 3);
    probe->sequence = 1;
    probe->changes[0] = {{{{3, 5}, vector(9, 2), ResidualPoint::kMid}}, 0.25f};
    probe->changes[1].mlp_scale = 0;
  }
  const Bits together = run_.forward({input(0), input(1)}, &packed);
  Bits apart = run_.forward({input(0)}, &alone);
  apart.append(run_.forward({input(1)}, &alone));
  EXPECT_EQ(together, apart);
  for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(packed.layer(layer, sequence).post, alone.layer(layer, sequence).post);
      EXPECT_EQ(packed.layer(layer, sequence).mlp_out, alone.layer(layer, sequence).mlp_out);
      EXPECT_EQ(packed.layer(layer, sequence).head_out, alone.layer(layer, sequence).head_out);
      EXPECT_EQ(packed.layer(layer, sequence).lens_probabilities,
                alone.layer(layer, sequence).lens_probabilities);
    }
  }
}

TEST_P(Residual, BehindACacheIsThatOfTheWholeRow) {
  if (mask_of(run_.model().config()) == AttentionMaskKind::kFull)
    GTEST_SKIP() << "no cache under a full mask";
  const Ids ids = run_.random_ids(kTokens, 1), first(ids.begin(), ids.begin() + 8),
            rest(ids.begin() + 8, ids.end());
  ResidualProbe whole, cached;
  whole.want_everything({8, 11});
  forward(ids, {11}, &whole);
  auto cache = run_.model().new_cache();
  run_.forward({{first, {}, &cache, {}, kPrefix}});
  cached.want_everything({0, 3});
  const Ids last = {3};
  run_.forward({{rest, last, &cache, {}, kPrefix}}, &cached);
  EXPECT_EQ(cached.layer(0).mid, whole.layer(0).mid);
  EXPECT_EQ(cached.layer(1).post, whole.layer(1).post);
}

TEST_P(Residual, LensShowsTheLikeliestTokensOfEveryLayer) {
  const Ids ids = run_.random_ids(kTokens, 1), rows = {2, 9, 11};
  constexpr std::int64_t kTop = 5;
  ResidualProbe probe;
  probe.want_everything(rows, kTop);
  const Bits logits = forward(ids, {9}, &probe);
  const model::Model& model = run_.model();
  const model::ModelReference reference(model.config(), model.weights());
  for (std::int64_t layer = 0; layer < model.config().layers; ++layer) {
    const ResidualRecord& seen = probe.layer(layer);
    ASSERT_EQ(seen.lens_tokens.size(), rows.size() * kTop);
    const auto exact = reference.lens({seen.post.begin(), seen.post.end()});
    const std::int64_t width = model.config().vocabulary;
    for (size_t r = 0; r < rows.size(); ++r) {
      const double* row = exact.data() + static_cast<std::int64_t>(r) * width;
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += std::exp(row[i]);
      Ids order = testing::all_rows(static_cast<size_t>(width));
      std::sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
      for (size_t k = 0; k < kTop; ++k) {
        EXPECT_EQ(seen.lens_tokens[r * kTop + k], order[k]) << "layer " << layer << ", row " << rows[r];
        // The logits are sums of 16 products of numbers below 4.
        EXPECT_NEAR(seen.lens_probabilities[r * kTop + k], std::exp(row[order[k]]) / sum,
                    64 * testing::kEpsilon);
      }
    }
  }
  // Behind the last layer stands the prediction itself.
  const auto best = std::max_element(logits.numbers.begin(), logits.numbers.end()) - logits.numbers.begin();
  EXPECT_EQ(probe.layer(1).lens_tokens[kTop], best);
}

TEST_P(Residual, RowsThatComeTwiceAreRefused) {
  const Ids ids = run_.random_ids(kTokens, 3);
  ResidualProbe probe;
  probe.want_everything({4, 4});
  EXPECT_THROW(forward(ids, {}, &probe), InternalError);
  probe.want_everything({4});
  probe.changes[0].residual = {{{2, 2}, vector(1)}};
  EXPECT_THROW(forward(ids, {}, &probe), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Cases, Residual, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.label); });

}  // namespace
}  // namespace buoy
