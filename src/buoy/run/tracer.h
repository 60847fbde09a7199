#pragma once

#include <memory>
#include <optional>
#include <string>

#include "buoy/observe/recorder.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/decoding.h"
#include "buoy/run/prompter.h"
#include "buoy/trace/sample.h"

namespace buoy::run {

struct TracerOptions {
  DecodeOptions decode;
  observe::Plan plan;
  std::string groups;     // --groups
  bool final_row = true;  // masked diffusion: one more forward over the row when all is revealed
  Changes changes;        // made to the model while it decodes and is observed
};

struct Traced {
  trace::Sample sample;
  std::unique_ptr<decode::StepMachine> machine;  // as it ended
};

// What a sample of this prompt will take, before it is run and without any weights.
observe::Recorder::Bytes expected_bytes(const ModelConfig& config, const TracerOptions& options,
                                        const ItemPrompt& prompt);

// Decodes prompts and turns each into a sample of a trace.
class Tracer {
 public:
  Tracer(const Context& context, model::Model& model, TracerOptions options,
         std::optional<text::Tokenizer> tokenizer);

  // `number` is that of the prompt in the run: every prompt has its own random numbers.
  Traced run(const ItemPrompt& prompt, std::uint64_t number);

 private:
  ChangedRow changed_row(const ItemPrompt& prompt) const;
  trace::Sample sample_of(const ItemPrompt& prompt, const decode::StepMachine& machine,
                          const observe::Subject& subject, std::vector<trace::Array> observed) const;

  const Context& context_;
  model::Model& model_;
  TracerOptions options_;
  std::optional<text::Tokenizer> tokenizer_;
};

}  // namespace buoy::run
