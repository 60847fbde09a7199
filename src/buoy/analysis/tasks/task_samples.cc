#include "buoy/analysis/tasks/task_samples.h"

#include <algorithm>

#include "buoy/base/sha256.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Its text, or else the ids of its prompt.
std::string question_of(const ObservedSample& sample) {
  if (sample.stored().has_text(trace::kQuestion)) return sample.stored().text(trace::kQuestion);
  const auto prompt = static_cast<size_t>(std::clamp<std::int64_t>(sample.prompt_length, 0, sample.tokens));
  return sha256_hex(std::as_bytes(std::span(sample.final_row).first(prompt)));
}

}  // namespace

TaskSample task_sample(const ObservedSample& sample, AnchorDetector& detector) {
  TaskSample out{sample.id(), question_of(sample), sample.tokens, {}, {}};
  const std::int64_t forward = sample.final_index();
  auto types = token_types(sample);
  for (std::int64_t j = 0; j < sample.tokens; ++j) {
    TokenType& type = types[static_cast<size_t>(j)];
    if (sample.masked_at(forward, j)) type = TokenType::kMask;
    out.type_shares[static_cast<size_t>(type)] += 1.0 / static_cast<double>(sample.tokens);
  }
  for (std::int64_t l = 0; l < sample.layer_count(); ++l) {
    const Received received = sample.received(forward, l);
    detector.look(received.mean);
    const auto top = static_cast<size_t>(detector.top_lift());
    const double even = std::max(1.0 / static_cast<double>(sample.tokens), detector.null()[top]);
    out.anchors.push_back({static_cast<std::int64_t>(top), received.mean[top] / even, types[top],
                           top < sample.token_texts.size() ? sample.token_texts[top] : std::string()});
  }
  return out;
}

}  // namespace buoy::analysis
