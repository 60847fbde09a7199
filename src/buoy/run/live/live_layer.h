#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/sample/layer_values.h"
#include "buoy/observe/record_layout.h"
#include "buoy/trace/storage.h"

namespace buoy::run {

// How the floats of a sample are stored, or would be.
struct StoredTypes {
  trace::Storage storage = trace::Storage::kF32;
  std::set<std::string> as_f32;  // arrays with values that F16 cannot hold

  bool halves(std::string_view array) const {
    return storage == trace::Storage::kF16 && !as_f32.contains(std::string(array));
  }
};

// What a model handed over of one layer, as the arrays a trace would hold: values are rounded to the type it
// would store. Throws trace::ExceedsF16.
class LiveLayer final : public analysis::LayerValues {
 public:
  LiveLayer(const observe::RecordLayout& layout, const StoredTypes& types) : layout_(layout), types_(types) {}

  // `record` must stay while values are asked for.
  void look_at(const probe::Address& address, const probe::LayerRecord& record);
  std::span<const float> floats(std::string_view array) override;
  std::span<const std::int32_t> integers(std::string_view array) override;

 private:
  const observe::RecordLayout::Part& part(std::string_view array) const;

  const observe::RecordLayout& layout_;
  const StoredTypes& types_;
  probe::Address address_;
  const probe::LayerRecord* record_ = nullptr;
  std::map<std::string, std::vector<float>, std::less<>> made_;
};

}  // namespace buoy::run
