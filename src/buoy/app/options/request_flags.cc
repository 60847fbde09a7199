#include "buoy/app/options/request_flags.h"

#include "buoy/base/error.h"
#include "buoy/observe/plan.h"
#include "buoy/run/attention_features.h"

namespace buoy::app {
namespace {

constexpr double kMostPredictedTokens = 1000;

}  // namespace

run::Request read_request(const RequestFlags& flags) {
  run::Request request = flags.request;
  request.arrangement.closed_book = request.arrangement.passages == 0;
  request.chat = flags.chat.choice;
  request.chat_use = chat_use(flags.chat);
  if (request.observe == "features") request.observe = run::kFeatureObservables;
  request.changes = run::parse_changes(flags.changes);
  if (flags.fields) request.read.fields = parse_fields(*flags.fields);
  if (!flags.keep.empty()) request.keep = trace::level_from_name(flags.keep);
  if (flags.limit > 0) request.read.limit = static_cast<std::size_t>(flags.limit);
  return request;
}

const Option* add_observed_part_options(Command& command, run::Request& request, bool& no_final) {
  command.add_option("--layers", request.layers, "only these layers, as in 0-3,31");
  command.add_option("--steps-observed", request.steps_observed,
                     "only these denoising steps, as in 0,8,16-31");
  command.add_option("--groups", request.groups,
                     "query groups, at most 16: state (default; watch: regions), regions, parity, or a list "
                     "as in bos=0;question=1-20");
  const auto* predicted =
      command
          .add_option("--predicted-tokens", request.predicted_tokens,
                      "with predictions observed: how many of the most probable tokens to name (default 5)")
          ->range(1, kMostPredictedTokens);
  command.add_flag("--no-final", no_final, "masked diffusion: no last forward over the fully revealed row");
  command.add_flag("--float16", request.float16,
                   "store in half the space (watch: analyse what would be stored so)");
  return predicted;
}

void require_predictions(const Option& predicted_tokens, const std::string& observe) {
  if (!predicted_tokens.given() || observe::parse_plan(observe, "", "").has(observe::kPredictions)) return;
  throw_usage_error({predicted_tokens.name(), "predictions observed with it", '"' + observe + '"'});
}

}  // namespace buoy::app
