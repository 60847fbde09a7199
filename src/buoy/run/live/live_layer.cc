#include "buoy/run/live/live_layer.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/float16.h"

namespace buoy::run {
namespace {

// False when a finite value does not fit.
bool round_to_f16(std::vector<float>& values) {
  bool fits = true;
  for (float& value : values) {
    const float rounded = f16_to_float(float_to_f16(value));
    fits &= std::isinf(value) || !std::isinf(rounded);
    value = rounded;
  }
  return fits;
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
  const bool halves = types_.halves(array);
  if (!halves && values.kept()) return values.view();
  auto& made = made_[std::string(array)];
  made.assign(values.view().begin(), values.view().end());
  if (halves && !round_to_f16(made)) throw ExceedsF16{std::string(array)};
  return made;
}

std::span<const std::int32_t> LiveLayer::integers(std::string_view array) {
  const auto& source = *part(array).source;
  BUOY_CHECK(source.integers != nullptr);
  return source.integers({*record_, layout_.subject()});
}

}  // namespace buoy::run
