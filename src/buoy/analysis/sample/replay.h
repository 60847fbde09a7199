#pragma once

#include <functional>

#include "buoy/analysis/sample/forward_view.h"
#include "buoy/analysis/sample/layer_view.h"
#include "buoy/analysis/sample/stored_source.h"
#include "buoy/tensor/thread_pool.h"

namespace buoy::analysis {

struct ReplayTo {
  std::function<void(const LayerView& layer)> take;
  std::function<void(std::int64_t l)> layer_done;                          // may be empty
  std::function<void(const ForwardView& forward)> take_forward = nullptr;  // likewise
};

// Hands out the records of a stored sample as a model would: layers side by side, the forwards of each in
// their order, those that analyses pass over among them.
void replay(const StoredSource& source, const RuleOptions& rules, ThreadPool& threads, const ReplayTo& to);

}  // namespace buoy::analysis
