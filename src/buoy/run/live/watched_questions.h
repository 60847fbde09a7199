#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "buoy/decode/stream.h"
#include "buoy/observe/subject.h"
#include "buoy/run/live/live_stream.h"
#include "buoy/run/live/live_times.h"
#include "buoy/run/request.h"

namespace buoy::run {

// What came of watching a question.
struct WatchedOutcome {
  std::map<std::string, double> features;  // AttentionFeatures
  std::string error;                       // why its records could not be taken
  std::set<std::string> exceeding;         // arrays that F16 cannot hold: to be asked again with these as F32
  // To be asked again with these forwards, which had to be known before; null: not.
  std::shared_ptr<const observe::BlockRun> blocks;
};

// Watches questions that a packed stream answers, several at a time: the probe of that stream. Every question
// is a sample of its own, whose records go to its features on other threads.
class WatchedQuestions final : public probe::Probe {
 public:
  // In the thread of the model, in the order in which questions ended.
  using Settled = std::function<void(std::size_t number, WatchedOutcome outcome)>;

  WatchedQuestions(const Context& context, const ModelConfig& config, const Request& request,
                   const std::optional<text::Tokenizer>& tokenizer, Settled settled);
  ~WatchedQuestions() override;

  // A question that is about to run, and the look its job must have. `blocks`: its forwards, where blocks are
  // decoded and it ran before. UsageError for what cannot be observed.
  struct Beginning {
    std::size_t number;
    const ItemPrompt& prompt;
    const decode::StepMachine& machine;
    std::shared_ptr<const observe::BlockRun> blocks = nullptr;
  };
  std::optional<decode::FinalLook> begin(const Beginning& question, const std::set<std::string>& as_f32 = {});
  bool decodes_blocks() const { return blocks_; }
  // Where records lie that are held and too many for memory; see ScratchFile.
  void hold_in(std::filesystem::path folder) { held_in_ = std::move(folder); }
  // How many questions like this one may run at once, so that what so many hold side by side stays within
  // bounds.
  std::size_t most_at_once(const ItemPrompt& prompt, const decode::StepMachine& machine, int beside) const;
  // Behind every step of a question whose blocks are decoded.
  void ran(std::size_t number, const decode::StepRecord& record);
  // After its last forward, while its machine is there.
  void end(std::size_t number);
  // Forgets those that have begun and not ended.
  void drop();
  // Waits until all that ended are settled.
  void finish();

  const LiveTimes& times() const { return times_; }

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  // Forwards of some rows are shown as whole ones, which takes what was measured.
  bool takes_later() const override { return !blocks_; }
  bool takes_parts() const override { return blocks_; }
  void take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) override;

 private:
  class Watched;

  Watched* find(const probe::Address& address) const;
  void look_on(Watched& watched, const Beginning& question) const;
  void hand_on(Watched& watched) const;
  void settle_first();

  ModelConfig config_;
  Request request_;
  observe::Plan plan_;
  std::optional<text::Tokenizer> tokenizer_;
  Settled settled_;
  bool blocks_ = false;
  std::filesystem::path held_in_;
  mutable LiveTimes times_;
  std::map<std::int64_t, std::unique_ptr<Watched>> under_way_;  // by number
  std::deque<std::unique_ptr<Watched>> ended_;
  mutable LiveStream stream_;  // last: its threads use the others
};

}  // namespace buoy::run
