#include "buoy/observe/recorder.h"

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {
Recorder::Recorder(const Plan& plan, const Subject& subject)
    : layout_(plan, subject),
      tokens_by_step_(layout_.steps().size() * static_cast<size_t>(subject.tokens), 0),
      group_sizes_(layout_.steps().size() * static_cast<size_t>(subject.groups.count()), 0),
      taken_(static_cast<size_t>(layout_.addresses() + layout_.size_of('S')), false) {}

probe::LayerRequest Recorder::request(const probe::Address& address, const probe::LayerExtent& extent) {
  if (!layout_.observes(address)) return {};
  auto r = layout_.request(extent, sets_);
  note(address, extent, r);
  return r;
}

probe::PredictionRequest Recorder::predictions(const probe::Address& address,
                                               const probe::LayerExtent& extent) {
  if (!layout_.predicts() || !layout_.observes(address)) return {};
  note(address, extent, layout_.request(extent, sets_));
  return layout_.predictions(extent.tokens);
}

void Recorder::note(const probe::Address& address, const probe::LayerExtent& extent,
                    const probe::LayerRequest& r) {
  const std::int64_t step = layout_.step_index(address);
  std::copy(extent.tokens.begin(), extent.tokens.end(),
            tokens_by_step_.begin() + step * layout_.subject().tokens);
  const auto sizes = layout_.group_sizes(r);
  std::copy(sizes.begin(), sizes.end(), group_sizes_.begin() + step * std::ssize(sizes));
}

void Recorder::put(Stack& stack, const probe::Address& address, const Seen& seen) {
  const auto& part = *stack.part;
  const auto each = static_cast<size_t>(part.cell_size());
  const std::int64_t at = layout_.cell_index(part, address);
  const auto fill = [&](auto& to, const auto& values) {
    BUOY_CHECK(values.size() == each);
    to.resize(static_cast<size_t>(layout_.cells(part)) * each);
    std::copy(values.begin(), values.end(), to.begin() + at * static_cast<std::int64_t>(each));
  };
  if (part.source->integers != nullptr) return fill(stack.integers, part.source->integers(seen));
  const Values values = part.source->floats(seen);
  if (!part.large) return fill(stack.floats, values.view());
  large_.push_back(trace::float_array(trace::array_name(part.schema->name, address.step, address.layer),
                                      part.cell, values.view()));
}

void Recorder::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (stacks_.empty()) {
    for (const auto& part : layout_.parts()) stacks_.push_back({&part, {}, {}});
  }
  const bool of_forward = address.layer == probe::kWholeForward;
  const std::int64_t step = layout_.step_index(address);
  const std::int64_t at =
      of_forward ? layout_.addresses() + step : step * layout_.size_of('L') + layout_.layer_index(address);
  BUOY_CHECK(!taken_[static_cast<size_t>(at)]);
  taken_[static_cast<size_t>(at)] = true;
  for (auto& stack : stacks_) {
    if (stack.part->of_forward == of_forward) put(stack, address, {record, layout_.subject()});
  }
}

trace::Array Recorder::stacked(const Stack& stack) const {
  const auto shape = layout_.stacked_shape(*stack.part);
  const std::string name(stack.part->schema->name);
  return stack.part->source->integers != nullptr ? trace::integer_array(name, shape, stack.integers)
                                                 : trace::float_array(name, shape, stack.floats);
}

std::vector<trace::Array> Recorder::arrays() {
  BUOY_CHECK(std::count(taken_.begin(), taken_.end(), true) == layout_.records());
  std::vector<trace::Array> out = layout_.frame(tokens_by_step_, group_sizes_);
  for (const auto* part : layout_.stacked_parts()) {
    auto& stack = stacks_[static_cast<size_t>(part - layout_.parts().data())];
    out.push_back(stacked(stack));
    stack.floats = {}, stack.integers = {};
  }
  std::move(large_.begin(), large_.end(), std::back_inserter(out));
  stacks_.clear();
  large_.clear();
  taken_.assign(taken_.size(), false);
  return out;
}

}  // namespace buoy::observe
