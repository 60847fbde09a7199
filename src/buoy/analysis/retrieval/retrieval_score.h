#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/retrieval/needle.h"

namespace buoy::analysis {

// One token of the answer and the attention row that committed it.
struct CommittedToken {
  std::int64_t position = 0;
  std::int32_t token = 0;
  std::int64_t step = 0;     // index into the observed steps
  std::int64_t query = 0;    // position of the row
  std::int64_t row = 0;      // index into row_positions
  std::int64_t keys = 0;     // visible to the row
  double strict_chance = 0;  // that an even arg-max is a strict hit
  double hit_chance = 0;     // that it lies in the needle; also the mass there if attention is even
};

struct LeftOut {
  std::int64_t behind_end = 0;    // at or behind the first end token
  std::int64_t not_revealed = 0;  // slots never revealed
  std::int64_t step_unseen = 0;   // revealed at a step that was not observed
  std::int64_t row_unseen = 0;    // their row is not among row_positions
};

// What one sample is asked: the tokens of its answer, cut at the first end token.
struct RetrievalTest {
  Needle needle;
  std::vector<CommittedToken> tokens;
  LeftOut left_out;
  double recall = 0;           // ROUGE-1 recall of the needle by the whole answer
  double set_chance = 0;       // expected set score of an even arg-max
  double added_chance = 0;     // expected additive score
  double strict_expected = 0;  // expected strict hits
  double hits_expected = 0;    // expected arg-maxes in the needle
};

RetrievalTest make_retrieval_test(const ObservedSample& sample);

// Where an arg-max lies, in the order in which it is decided.
enum class Target : std::uint8_t { kStrictHit, kNeedle, kFirst, kSelf, kMask, kOther, kCount };

// What one head did in one test.
struct HeadTest {
  double set_score = 0;    // distinct needle tokens copied / distinct needle tokens (Wu's text)
  double added_score = 0;  // strict hits / needle length (Wu's code)
  double mass = 0;         // mean attention on the needle
  std::int64_t targets[static_cast<size_t>(Target::kCount)] = {};

  std::int64_t strict_hits() const { return targets[0]; }
  std::int64_t hits() const { return targets[0] + targets[1]; }
};

// What is kept of a sample until it is known which row committed which token: of every step, layer, row that
// may write an answer token, and head the strongest key and the attention on the evidence. Then what each
// head did.
class RetrievalRows final : public SampleAnalysis {
 public:
  // Throws InputError when the sample has evidence and lacks the arrays.
  explicit RetrievalRows(const SampleFacts& sample);
  void take(const LayerView& layer) override;
  void finish_layer(const ObservedSample& sample, std::int64_t l) override;
  void state(StateArchive& archive) override;

  // What the heads of a layer that is not finished did, [heads]. The test must have tokens.
  std::vector<HeadTest> score_layer(const ObservedSample& sample, const RetrievalTest& test,
                                    std::int64_t l) const;
  // Of every observed layer when all are finished, [layers, heads]; nothing where the test has no tokens.
  const std::vector<HeadTest>& heads() const { return scored_; }

 private:
  std::span<const std::int32_t> strongest(std::int64_t s, std::int64_t l, std::int64_t row) const;  // [heads]
  std::span<const float> mass(std::int64_t s, std::int64_t l, std::int64_t row) const;              // [heads]

  struct Layer {
    std::vector<std::int32_t> strongest;  // [rows, heads], -1: none
    std::vector<float> mass;              // [rows, heads]
  };
  bool has_evidence_ = false;
  std::int64_t layers_, heads_, tokens_;
  std::vector<Layer> kept_;       // [steps, layers]
  std::vector<HeadTest> scored_;  // [layers, heads]
};

// Every head of every observed layer before they are finished, [layers, heads]. The test must have tokens.
std::vector<HeadTest> score_heads(const ObservedSample& sample, const RetrievalTest& test,
                                  const RetrievalRows& rows);

// P(X >= count) of a Poisson X with this mean. For counts of at least mean + 1 it bounds from above the
// chance that independent draws, with whatever chances that add up to the mean, hit as often (Hoeffding;
// Anderson and Samuels), so a test with it never errs more often than it says.
double poisson_tail(std::int64_t count, double mean);

}  // namespace buoy::analysis
