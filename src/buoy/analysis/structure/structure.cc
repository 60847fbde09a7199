#include <memory>
#include <optional>
#include <span>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/uniform.h"
#include "buoy/analysis/structure/structure_state.h"
#include "buoy/analysis/structure/structure_tables.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

std::vector<std::int64_t> answer_groups(const ObservedSample& sample) {
  std::vector<std::int64_t> groups;
  const auto names = sample.group_names();
  for (size_t g = 0; g < names.size(); ++g) {
    if (names[g].starts_with("answer")) groups.push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

class Structure final : public Analysis {
 public:
  Structure(const TraceFacts& facts, const AnalysisOptions& options)
      : rule_options_{options.epsilon, options.share_factor, options.mad_factor},
        options_(options),
        axis_(facts.manifest) {}

  void add(const ObservedSample& sample) override {
    require_array(sample.stored(), trace::kReceived);
    if (static_cast<std::int64_t>(sample.token_texts.size()) != sample.tokens) {
      throw_input_error({"sample " + sample.id(), "the text token_texts, one per token",
                         "none; trace prompts that are text, with the model's tokenizer"});
    }
    axis_.take(sample);
    if (!state_) state_.emplace(axis_, options_);
    if (!detector_ || !detector_->fits(sample.causal, sample.tokens))
      detector_.emplace(sample.causal, sample.tokens, rule_options_);
    PositionClasses classes(sample);
    StructureClasses sums(sample);
    const auto answer_null = uniform_received_from(sample.causal, sample.tokens, sample.prompt_length);
    const auto groups = answer_groups(sample);
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      classes.at_step(s);
      sums.at_step(classes);
      const auto base = sums.mass(detector_->null()), answer_base = sums.mass(answer_null);
      for (std::int64_t l = 0; l < axis_.size(); ++l) {
        const Received received = sample.received(s, l);
        add_mass(state_->cells.at({l, kAllQueries, 0}), sums.mass(received.mean), base);
        for (std::int64_t h = 0; h < sample.heads; ++h)
          add_head(state_->head_cells.at({l, h, 0}), sums.mass(head_of(received, h)), base);
        count_floating(l, received, classes);
        if (groups.empty() || sample.prompt_length == sample.tokens) continue;
        add_mass(state_->cells.at({l, kAnswerQueries, 0}), sums.mass(sample.received(s, l, groups).mean),
                 answer_base);
      }
    }
    state_->add_sample(sample.id(), axis_);
  }

  std::vector<Table> tables() const override {
    return structure_tables(axis_, rule_options_, state_ ? &*state_ : nullptr);
  }

 private:
  using Masses = std::array<double, kStructureCount>;

  static std::span<const double> head_of(const Received& received, std::int64_t h) {
    return {received.head(h), static_cast<size_t>(received.tokens)};
  }

  void add_mass(std::int64_t first_cell, const Masses& share, const Masses& base) {
    for (std::int64_t c = 0; c < kStructureCount; ++c) {
      state_->sample_share.add(first_cell + c, share[static_cast<size_t>(c)]);
      state_->sample_base.add(first_cell + c, base[static_cast<size_t>(c)]);
    }
  }

  void add_head(std::int64_t first_cell, const Masses& share, const Masses& base) {
    for (std::int64_t c = 0; c < kLiftClasses; ++c) {
      state_->head_shares.add(first_cell + c, share[static_cast<size_t>(kStructural + c)]);
      state_->head_bases.add(first_cell + c, base[static_cast<size_t>(kStructural + c)]);
    }
  }

  void count_floating(std::int64_t l, const Received& received, const PositionClasses& classes) {
    for (std::int64_t h = -1; h < received.heads; ++h) {
      detector_->look(h < 0 ? std::span<const double>(received.mean) : head_of(received, h));
      for (size_t r = 0; r < kStructureRules.size(); ++r) {
        detector_->find(kStructureRules[r], anchors_);
        state_->composition.count(
            state_->sets.at({l, static_cast<std::int64_t>(r), h < 0 ? kHeadMean : kPerHead}), classes,
            anchors_.positions);
      }
    }
  }

  RuleOptions rule_options_;
  AnalysisOptions options_;
  LayerAxis axis_;
  std::optional<AnchorDetector> detector_;
  Anchors anchors_;
  std::optional<StructureState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_structure(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Structure>(facts, options);
}

}  // namespace buoy::analysis
