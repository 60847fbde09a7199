#include "buoy/analysis/tasks/task_samples.h"

#include <algorithm>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/base/sha256.h"

namespace buoy::analysis {
namespace {

// Its text, or else the ids of its prompt.
std::string question_of(const ObservedSample& sample) {
  if (!sample.question.empty()) return sample.question;
  const auto prompt = static_cast<size_t>(std::clamp<std::int64_t>(sample.prompt_length, 0, sample.tokens));
  return sha256_hex(std::as_bytes(std::span(sample.final_row).first(prompt)));
}

}  // namespace

void TaskAnchors::take(const LayerView& layer) {
  if (!layer.forward.is_final(layer.sample)) return;
  Detection& found = layer.detection();
  const std::int64_t position = found.top_lift(-1);
  const auto top = static_cast<size_t>(position);
  const double even = std::max(1.0 / static_cast<double>(layer.forward.reach.end), found.null()[top]);
  anchors_[static_cast<size_t>(layer.l)] = {
      position, found.received(-1)[top] / even, layer.forward.types[top], {}};
}

void TaskAnchors::state(StateArchive& archive) {
  for (auto& anchor : anchors_) {
    archive.number(anchor.position, 0, tokens_ - 1);
    archive.number(anchor.lift);
    archive.choice(anchor.type, kTokenTypes.size());
  }
}

TaskSample TaskAnchors::sample(const ObservedSample& sample) const {
  TaskSample out{sample.id(), question_of(sample), sample.tokens, anchors_, {}};
  const std::int64_t forward = sample.final_index();
  const auto types = token_types(sample, {sample.token_texts, sample.special});
  const std::int64_t end = answer_end_at(sample, forward);
  for (std::int64_t j = 0; j < sample.tokens; ++j) {
    const auto type = type_at_forward(types[static_cast<size_t>(j)], sample.masked_at(forward, j), j >= end);
    out.type_shares[static_cast<size_t>(type)] += 1.0 / static_cast<double>(sample.tokens);
  }
  for (auto& anchor : out.anchors) {
    const auto top = static_cast<size_t>(anchor.position);
    if (top < sample.token_texts.size()) anchor.token = sample.token_texts[top];
  }
  return out;
}

}  // namespace buoy::analysis
