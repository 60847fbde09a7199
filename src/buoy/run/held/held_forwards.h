#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "buoy/observe/record_layout.h"
#include "buoy/observe/whole_rows.h"
#include "buoy/run/block_run.h"
#include "buoy/run/held/record_store.h"

namespace buoy::run {

// Observes a loop of blocks of which nobody knows yet how many forwards it takes and how long its row gets:
// asks as if the row were as long as it can be, holds the records, and hands them on when the loop has ended,
// to who could not be made before.
class HeldForwards final : public probe::Probe {
 public:
  // What is asked of `longest`, a row that is at least as long as this one gets. `machine` stays until the
  // end. `folder`: where records lie that are too many for memory, see RecordStore.
  HeldForwards(observe::Plan plan, const observe::Subject& longest, const decode::StepMachine& machine,
               const std::filesystem::path& folder);

  // Behind every forward.
  void ran(const decode::StepRecord& record) { notes_.ran(record); }
  // When the machine has finished.
  observe::BlockRun run(bool looks) const { return notes_.finish(looks); }

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  bool takes_parts() const override { return true; }

  // Whether the same would have been asked had the end been known. Not where the last row of all turned out
  // to write nothing: then it belongs to another group of queries, and predicts nothing.
  bool fits(const observe::Subject& subject) const;
  // Hands on what was held, once, as forwards of the whole row of `subject`, to who asks for what was asked.
  void hand_on(const observe::Subject& subject, probe::Probe& to);

  // What the look at the final row is asked compares with the forwards before.
  void go_on(const observe::Subject& subject, probe::LayerRequest& request) const;

 private:
  struct Forward {
    probe::Address address;
    std::int64_t query_rows = 0, key_rows = 0, heads = 0;
    std::vector<std::int32_t> row = {};           // the whole one
    std::vector<std::uint8_t> group_of_row = {};  // that was asked for, like the others
    std::vector<std::int32_t> rows = {}, residual_rows = {};
    bool predicts = false;
    std::vector<std::int32_t> predicted = {};

    probe::LayerExtent extent() const;
  };
  struct Held {
    std::size_t forward;
    std::int64_t layer;
  };

  Forward& note(const probe::Address& address, const probe::LayerExtent& extent);

  observe::Plan plan_;
  observe::NumberSet steps_;
  const decode::StepMachine& machine_;
  std::int64_t hidden_;
  std::int32_t mask_;
  BlockNotes notes_;
  std::unique_ptr<probe::Probe> asking_;
  observe::WholeRows whole_;
  std::vector<Forward> forwards_;  // that are observed
  std::vector<Held> held_;
  RecordStore records_;
  std::shared_ptr<probe::PreviousStates> previous_;
  std::shared_ptr<probe::PreviousKeys> previous_keys_;
};

// The look at the final row, behind forwards that were held.
class LookBehind final : public probe::ForwardingProbe {
 public:
  LookBehind(probe::Probe& other, const HeldForwards& held, const observe::Subject& subject)
      : ForwardingProbe(&other), held_(held), subject_(subject) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    auto r = ForwardingProbe::request(address, extent);
    held_.go_on(subject_, r);
    return r;
  }

 private:
  const HeldForwards& held_;
  const observe::Subject& subject_;
};

}  // namespace buoy::run
