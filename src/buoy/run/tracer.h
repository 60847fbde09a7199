#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "buoy/decode/drive.h"
#include "buoy/observe/plan.h"
#include "buoy/observe/subject.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/prompter.h"
#include "buoy/run/request.h"
#include "buoy/trace/sample.h"

namespace buoy::run {

// What is observed of a prompt whose row will have this many tokens. `tokenizer`: what else ends an answer.
// `blocks`: the forwards of a loop that decodes them; UsageError without, since nobody else can tell.
observe::Subject subject_of(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                            std::int64_t tokens,
                            const std::optional<text::Tokenizer>& tokenizer = std::nullopt,
                            std::shared_ptr<const observe::BlockRun> blocks = nullptr);

// The same of a loop of blocks that has not run: as many forwards and tokens as there can be.
observe::Subject longest_subject(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                                 const decode::StepMachine& machine,
                                 const std::optional<text::Tokenizer>& tokenizer);

// Decodes prompts while a probe looks on, and frames what it saw as samples of a trace.
class Tracer {
 public:
  Tracer(const Context& context, model::Model& model, Request request,
         std::optional<text::Tokenizer> tokenizer);

  // Decodes a prompt while a probe looks on: it is made when the sequence and its length are known. What is
  // observed before (where blocks are decoded) is held until then, and `plan` says what that is. `number` is
  // that of the prompt in the run: every prompt has its own random numbers.
  struct Watched {
    observe::Subject subject;
    std::unique_ptr<decode::StepMachine> machine;  // as it ended
  };
  using MakeProbe =
      std::function<probe::Probe&(const observe::Subject& subject, const decode::StepMachine& machine)>;
  Watched watch(const ItemPrompt& prompt, std::uint64_t number, const observe::Plan& plan,
                const MakeProbe& make_probe);
  Watched watch(const ItemPrompt& prompt, std::uint64_t number, const MakeProbe& make_probe) {
    return watch(prompt, number, plan_, make_probe);
  }

  // Where records lie that are held and too many for memory; see ScratchFile.
  void hold_in(std::filesystem::path folder) { held_in_ = std::move(folder); }

  // Called after every step of a prompt that is watched; what it throws ends the prompt.
  void between_steps(decode::StepCallback tell) { between_steps_ = std::move(tell); }

  // All of a sample but what was observed: tokens, regions, texts.
  trace::Sample frame(const ItemPrompt& prompt, const decode::StepMachine& machine,
                      const observe::Subject& subject) const;

  const Request& request() const { return request_; }
  const observe::Plan& plan() const { return plan_; }

 private:
  ChangedRow changed_row(const ItemPrompt& prompt, std::uint64_t seed) const;
  Watched watch_blocks(const ItemPrompt& prompt, const DecodeOptions& decode, const observe::Plan& plan,
                       const MakeProbe& make_probe);
  const Context& context_;
  model::Model& model_;
  Request request_;
  observe::Plan plan_;
  std::optional<text::Tokenizer> tokenizer_;
  decode::StepCallback between_steps_;
  std::filesystem::path held_in_;
};

}  // namespace buoy::run
