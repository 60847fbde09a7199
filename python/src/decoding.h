#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/decode/turn.h"
#include "buoy/observe/plan.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/trace_request.h"
#include "buoy/run/tracer.h"
#include "held_sample.h"
#include "model_handle.h"
#include "step_changes.h"

namespace buoy::python {

// One prompt decoded step by step, by whoever holds this: forward(), look, advance(). Results are those of
// the loop that runs by itself, to the bit, as long as nobody edits.
class Decoding {
 public:
  Decoding(std::shared_ptr<ModelHandle> model, std::shared_ptr<const run::Request> request,
           run::ItemPrompt prompt, std::uint64_t number);

  bool finished() const;
  const decode::StepMachine& machine() const { return *machine_; }
  const run::ItemPrompt& prompt() const { return prompt_; }
  const std::shared_ptr<ModelHandle>& model() const { return model_; }
  std::optional<std::int32_t> mask_token() const;  // none: autoregressive
  std::vector<std::int32_t> ends() const;

  // Changes of the forward to come; UsageError when it is over.
  StepChanges& changes();
  // The same, of MLPs and the residual stream. UsageError for what the model has not.
  void change(const run::Changes& more);
  bool ran() const { return ran_; }
  // The forward of this step, if it has not run yet. `observe`: names, or "".
  void forward(const std::string& observe);
  // What was observed by it: arrays without the axis of steps. Null: nothing.
  std::shared_ptr<HeldSample> observed() const { return observed_; }
  // What the forward of an earlier step would have shown, had it been asked: it runs once more.
  std::shared_ptr<HeldSample> observe_again(std::int32_t step, const std::string& observe);

  // After the forward: positions that wait for a token, and what the rule would write there.
  const std::vector<std::int32_t>& open() const { return open_; }
  const std::vector<ops::RowChoice>& proposals();
  // [open, vocabulary], of the conditional pass; runs the forward again where the card kept the logits.
  std::span<const float> logits();

  // Runs the forward if need be, and takes the step by the loop's own rule, or by these edits.
  decode::StepRecord advance();
  decode::StepRecord advance_edited(std::span<const decode::Edit> edits);

  // To before a step that was taken, or out of this state into two. UsageError for a step there is none of.
  void back_to(std::int32_t step);
  std::unique_ptr<Decoding> branch() const;

  // When it is over: one more look at the row, where the request observes; all of a sample but what steps
  // showed.
  std::shared_ptr<HeldSample> last_look(const std::string& observe);
  trace::Sample frame() const;
  // Of the trace that holds this run, where these names are observed in it. Edits and changes of single steps
  // are among its changes. Null: no trace was asked for.
  std::shared_ptr<const trace::Manifest> manifest(const std::string& observe) const;
  void trace_as(std::shared_ptr<const run::TraceRequest> request) { traced_ = std::move(request); }

 private:
  struct Past {
    std::unique_ptr<decode::StepMachine> machine;  // before the step; none: autoregressive
    StepChanges changes;
    bool edited = false;
  };

  Decoding(const Decoding& other);
  observe::Plan plan_of(const std::string& observe) const;
  observe::Subject subject(std::int64_t steps) const;
  run::ChangedRow changed_row() const;
  void run(decode::StepMachine& machine, const StepChanges& changes, const std::string& observe, bool logits,
           std::shared_ptr<HeldSample>& observed);
  // Runs the step before once more where its states are wanted and others are kept: after going back.
  void keep_states_before(std::int32_t step, const observe::Plan& plan);
  void stepped();

  std::shared_ptr<ModelHandle> model_;
  std::shared_ptr<const run::Request> request_;
  std::shared_ptr<const run::TraceRequest> traced_;  // the same, of a run that can be saved
  run::ItemPrompt prompt_;
  std::unique_ptr<decode::StepMachine> machine_;
  std::vector<Past> past_;
  // States of a forward that was observed, for the next one to be compared with; the step it belongs to.
  std::shared_ptr<probe::PreviousStates> previous_;
  std::int32_t previous_step_ = -1;
  bool edited_ = false;  // at any time: it then ends when no mask is left

  // Of the step under way.
  bool ran_ = false;
  StepChanges changes_;
  std::shared_ptr<HeldSample> observed_;
  std::vector<std::int32_t> open_;
  std::vector<float> logits_;  // of all forwards of the step; none: chosen on the card
  std::vector<size_t> rows_;   // wanted rows of each forward
  std::vector<ops::RowChoice> choices_;
  bool chosen_ = false;
};

}  // namespace buoy::python
