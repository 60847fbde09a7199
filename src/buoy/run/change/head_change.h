#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/probe/probe.h"

namespace buoy::run {

struct HeadId {
  std::int64_t layer = 0, head = 0;

  friend bool operator==(const HeadId&, const HeadId&) = default;
};

std::string describe(const std::vector<HeadId>& heads);  // "3.1 4.0"

// Switches heads off: their output is multiplied by zero.
class HeadChangeProbe final : public probe::Probe {
 public:
  HeadChangeProbe(const std::vector<HeadId>& off, std::int64_t layers, std::int64_t heads);

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
  void take(const probe::Address&, probe::LayerRecord&&) override {}
  bool takes_parts() const override { return true; }
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override;

 private:
  std::int64_t heads_;
  std::vector<float> scale_;  // [layers, heads]
};

// All heads of a trace's model by the strict retrieval score (strict_set), best first; ties by layer and
// head.
std::vector<HeadId> heads_by_retrieval(const std::filesystem::path& trace);

// `count` heads out of all but the first `count` of `ranked`: a control as large as the thing itself. Another
// `draw` draws others.
std::vector<HeadId> random_heads(const std::vector<HeadId>& ranked, std::size_t count, std::uint64_t draw);

}  // namespace buoy::run
