#include "buoy/run/live/live_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/tensor/float16_spans.h"
#include "buoy/tensor/float_range.h"
#include "buoy/trace/sample_file.h"
#include "buoy/trace/sample_rules.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

// False when a finite value does not fit: by the rule that the writer of a trace goes by.
bool round_to_f16(std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  const bool exceeds = floats_to_f16(values, halves);
  f16_to_floats(std::as_bytes(std::span(halves)), values);
  return !exceeds;
}

// As a reader of a trace would: NaN, infinities, negative weights, shares above 1 are no observations.
void require_in_range(std::string_view array, std::span<const float> values) {
  const auto* schema = trace::find_array(array);
  const auto range = trace::float_range(schema != nullptr ? schema->name : array);
  if (!range) return;
  if (all_within(values, range->least, range->most)) return;
  const auto wrong = std::find_if_not(values.begin(), values.end(), [&](float value) {
    return value >= range->least && value <= range->most;
  });
  throw_input_error({std::string(array), fmt::format("values from {} to {}", range->least, range->most),
                     fmt::format("{}", *wrong)});
}

}  // namespace

void LiveLayer::look_at(const probe::Address& address, const probe::LayerRecord& record) {
  address_ = address;
  record_ = &record;
  made_.clear();
}

const observe::RecordLayout::Part& LiveLayer::part(std::string_view array) const {
  for (const auto& part : layout_.parts()) {
    if (part.large ? trace::array_name(part.schema->name, address_.step, address_.layer) == array
                   : part.schema->name == array)
      return part;
  }
  throw InternalError("an array that is not observed: " + std::string(array));
}

std::span<const float> LiveLayer::floats(std::string_view array) {
  const auto found = made_.find(array);
  if (found != made_.end()) return found->second;
  const auto& source = *part(array).source;
  BUOY_CHECK(source.floats != nullptr);
  const observe::Values values = source.floats({*record_, layout_.subject()});
  require_in_range(array, values.view());
  const bool halves = types_.halves(array);
  if (!halves && values.kept()) return values.view();
  auto& made = made_[std::string(array)];
  made.assign(values.view().begin(), values.view().end());
  if (halves && !round_to_f16(made)) throw trace::ExceedsF16("a record", {std::string(array)});
  return made;
}

std::span<const std::int32_t> LiveLayer::integers(std::string_view array) {
  const auto& source = *part(array).source;
  BUOY_CHECK(source.integers != nullptr);
  return source.integers({*record_, layout_.subject()});
}

}  // namespace buoy::run
