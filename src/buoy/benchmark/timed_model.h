#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/model/packed_batch.h"
#include "buoy/probe/probe.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/device.h"

namespace buoy::benchmark {

// A model that takes steps to be timed: one forward in which every wanted row is chosen from.
class TimedModel {
 public:
  virtual ~TimedModel() = default;

  virtual const ModelConfig& config() const = 0;
  virtual void step(const Context& context, std::span<const model::SequenceInput> inputs,
                    probe::Probe* probe) = 0;
  virtual std::uint64_t weight_bytes() const = 0;
  virtual model::KvCache new_cache() const = 0;
  // The most memory beside the weights: what the pass holds on the device, or the process during a step.
  virtual std::uint64_t extra_bytes(const Context& context, std::span<const model::SequenceInput> inputs,
                                    probe::Probe* probe) = 0;
};

std::unique_ptr<TimedModel> open_model(const std::filesystem::path& folder, Device device);
// Random weights; for the CPU they pass through a temporary file. `timed_candidates`: see ops::DeviceLinear.
std::unique_ptr<TimedModel> random_model(const ShapeOfModel& shape, Device device, int timed_candidates = 0);

}  // namespace buoy::benchmark
