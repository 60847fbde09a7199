#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "buoy/probe/forwarding.h"

namespace buoy::observe {

// A loop with a cache runs some rows of its sequence alone. To who looks on, every forward is shown as one of
// the whole row: rows that did not run are in no group of queries, and what is measured of them, or of keys
// that were not there yet, is 0 (of strongest keys and tokens: -1).
class WholeRows final : public probe::ForwardingProbe {
 public:
  // `row` gives the whole row as it stands at the forward under way; `hidden` is the width of the residual
  // stream.
  WholeRows(probe::Probe& other, std::int64_t hidden, std::function<std::vector<std::int32_t>()> row);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  void take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) override;
  bool takes_parts() const override { return true; }

 private:
  // Chosen rows of the whole that are among those that run.
  struct Chosen {
    std::int64_t all = 0, first = 0, count = 0;
  };
  // What runs of the whole, and is asked of it; all layers of a forward have the same.
  struct Part {
    std::int64_t tokens = 0, first = 0, rows = 0, keys = 0, heads = 0, hidden = 0;
    Chosen close = {}, residual = {};
    std::vector<std::int64_t> predicted = {};  // places of predictions that are made
    std::int64_t all_predicted = 0;
    probe::LayerRequest asked = {};  // of the rows that run

    bool whole() const { return rows == tokens && keys == tokens; }
    // The record of a layer becomes one of the whole row, but for what its states point at.
    void widen(probe::LayerRecord& record) const;
    void widen(probe::PredictionRecord& record) const;
    // Of a record of the whole row, about, where one of the part takes so many.
    std::uint64_t widened_bytes(std::uint64_t bytes) const;

   private:
    void widen_close(probe::LayerRecord& record) const;
    void widen_residual(probe::LayerRecord& record) const;
    void widen_routing(probe::RoutingRecord& record) const;
  };
  // A record of a part that is on its way.
  class Widened;

  probe::LayerExtent shown_extent(const probe::Address& address, const probe::LayerExtent& extent);
  Chosen cut(std::vector<std::int32_t>& rows) const;
  // To be changed: records on their way keep the one they were asked with.
  Part& part();
  void widen_states(probe::LayerStates& states);

  std::int64_t hidden_;
  std::function<std::vector<std::int32_t>()> row_;
  std::int64_t step_ = -1;
  std::vector<std::int32_t> tokens_;  // of the whole row
  std::shared_ptr<Part> part_ = std::make_shared<Part>();
  bool on_its_way_ = false;                         // a record has part_
  std::shared_ptr<const KeySets> sets_, cut_sets_;  // those of the whole, and below the keys of the part
  std::int64_t cut_keys_ = -1;
  std::shared_ptr<probe::PreviousStates> previous_;  // of the rows that run
  std::int64_t previous_first_ = -1;
  std::vector<float> queries_, keys_, values_;
};

}  // namespace buoy::observe
