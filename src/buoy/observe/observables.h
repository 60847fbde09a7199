#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/observe/subject.h"
#include "buoy/probe/probe.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {

// What an observable asks a layer for: the query rows that write the answer, and how many strongest keys.
struct Close {
  std::vector<std::int32_t> rows;
  std::int64_t top = 0;
  std::shared_ptr<const KeySets> sets;                        // key_sets() of the sequence
  std::shared_ptr<probe::PreviousStates> previous = nullptr;  // of the residual stream of these rows
  std::shared_ptr<probe::PreviousKeys> previous_keys = nullptr;
};

// One thing that can be observed. trace::array_schema() says which arrays it fills and their shapes, so what
// a sample takes on the disk follows from it; array_sources() says where the values come from.
struct Observable {
  std::string_view name;  // in `observe`
  bool in_all;            // part of "all": everything that is not large
  std::string_view help;  // a line
  void (*ask)(probe::LayerRequest& request, const Close& close);  // null: nothing of layers
};

inline constexpr std::string_view kPredictions = "predictions";
inline constexpr std::string_view kRouting = "routing";

// In the order of the help.
std::span<const Observable> observables();

// What weights are summed over: the regions, then the evidence where there is any.
std::shared_ptr<const KeySets> key_sets(const Regions& regions);

// What was handed over of one layer of one sequence, or of a forward as a whole.
struct Seen {
  const probe::LayerRecord& record;
  const Subject& subject;
};

// The floats of an array, kept by the record or computed from it.
class Values {
 public:
  Values(const std::vector<float>& kept) : view_(kept) {}  // NOLINT(google-explicit-constructor)
  Values(std::span<const float> kept) : view_(kept) {}     // NOLINT(google-explicit-constructor)
  Values(std::vector<float>&& made) : made_(std::move(made)), view_(made_) {}  // NOLINT
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  std::span<const float> view() const { return view_; }
  bool kept() const { return made_.empty(); }  // by the record, and there as long as it is

 private:
  std::vector<float> made_;
  std::span<const float> view_;
};

// Where the values of an array of the trace come from, for one step and layer.
struct ArraySource {
  std::string_view array;
  Values (*floats)(const Seen& seen);                                   // null: integers
  const std::vector<std::int32_t>& (*integers)(const Seen&) = nullptr;  // null: floats
  bool (*there)(const Subject& subject) = nullptr;  // null: always; else whether a sequence has any
};

std::span<const ArraySource> array_sources();

}  // namespace buoy::observe
