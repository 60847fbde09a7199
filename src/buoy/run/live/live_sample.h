#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "buoy/analysis/sample/forward_facts.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/checkpoint/config.h"
#include "buoy/decode/step_machine.h"
#include "buoy/observe/record_layout.h"
#include "buoy/run/prompter.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::run {

// What is said of a sample that runs; see SampleFacts.
struct LivePrompt {
  const ItemPrompt& prompt;
  std::size_t number = 0;
  bool masked_diffusion = false;
  AttentionMaskKind mask = AttentionMaskKind::kCausal;
  bool final_row = false;  // the finished row is looked at once more
};

// What is known of a sample before it runs; `texts`: its tokens will have texts.
analysis::ObservedSample facts_of(const observe::RecordLayout& layout, const LivePrompt& live, bool texts);

// What is known of a forward. The model waits while it is noted, so what can be made of it later is: by the
// first who asks.
class LiveForward {
 public:
  LiveForward(const analysis::SampleFacts& sample, analysis::ForwardFacts noted)
      : sample_(sample), facts_(std::move(noted)) {}

  std::int32_t number() const { return facts_.number; }
  const analysis::ForwardFacts& facts() {
    std::call_once(classified_, [this] { classify(sample_, facts_); });
    return facts_;
  }

 private:
  const analysis::SampleFacts& sample_;
  analysis::ForwardFacts facts_;
  std::once_flag classified_;
};

// One record on its way to whoever takes it.
struct LiveRecord {
  std::shared_ptr<LiveForward> forward;
  probe::Address address;
  probe::LayerRecord record;
  std::unique_ptr<probe::PendingRecord> pending = nullptr;  // in place of `record`: not there yet
};

// A sample while its model runs: asks for what the layout says, notes what is known at each forward, and
// hands every record on.
class LiveSample final : public probe::Probe {
 public:
  // It may keep the record and leave a used one in its place, whose memory is then used again.
  using HandOn = std::function<void(LiveRecord& record)>;

  LiveSample(observe::RecordLayout layout, const LivePrompt& prompt,
             const std::optional<text::Tokenizer>& tokenizer, HandOn hand_on);

  const observe::RecordLayout& layout() const { return layout_; }
  const analysis::SampleFacts& facts() const { return sample_; }

  // Before the first forward: what is revealed when is asked of it.
  void follow(const decode::StepMachine& machine) { machine_ = &machine; }
  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  bool takes_later() const override { return true; }
  void take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) override;

  // After the last forward. Every planned step and layer must have been seen.
  analysis::ObservedSample finish();

 private:
  void see(const probe::Address& address, const probe::LayerExtent& extent);
  void note_forward(const probe::Address& address);
  void read_texts(std::span<const std::int32_t> row);

  const observe::RecordLayout layout_;  // read by other threads while this one asks
  observe::SetsOfEnd sets_;             // asked for last
  std::optional<text::Tokenizer> tokenizer_;
  HandOn hand_on_;
  const decode::StepMachine* machine_ = nullptr;
  analysis::ObservedSample sample_;
  std::vector<std::int32_t> read_;          // the row whose texts are in sample_
  std::vector<analysis::TokenType> types_;  // of its tokens
  std::shared_ptr<LiveForward> forward_;
  std::int64_t asked_step_ = -1;
  probe::LayerRequest asked_;           // of every layer of that forward
  std::vector<std::int32_t> row_ = {};  // that it sees
  std::int64_t records_ = 0;
};

}  // namespace buoy::run
