#pragma once

#include <optional>
#include <string>

#include "app/decode_options.h"
#include "app/trace_prompt.h"
#include "observe/recorder.h"
#include "trace/sample.h"

namespace buoy::app {

struct TracerOptions {
  DecodeOptions decode;
  observe::Plan plan;
  std::string groups;     // --groups
  bool final_row = true;  // masked diffusion: one more forward over the row when all is revealed
};

// Decodes prompts and turns each into a sample of a trace.
class Tracer {
 public:
  Tracer(const Context& context, model::Model& model, TracerOptions options,
         std::optional<text::Tokenizer> tokenizer);

  // `number` is that of the prompt in the run: every prompt has its own random numbers.
  trace::Sample run(const TracePrompt& prompt, std::uint64_t number);
  // What a sample of this prompt will take, before it is run.
  observe::Recorder::Bytes expected_bytes(const TracePrompt& prompt) const;

 private:
  observe::Subject subject(const TracePrompt& prompt, std::int64_t tokens) const;
  trace::Sample sample_of(const TracePrompt& prompt, const decode::StepMachine& machine,
                          const observe::Subject& subject, std::vector<trace::Array> observed) const;

  const Context& context_;
  model::Model& model_;
  TracerOptions options_;
  std::optional<text::Tokenizer> tokenizer_;
};

}  // namespace buoy::app
