#include "buoy/run/score/answer_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/turn.h"
#include "buoy/model/block_grid.h"

namespace buoy::run {
namespace {

// The likeliest token's logit goes to the given one, and its own to that: the rule writes the given token
// where it would have written its own, as sure as it was of that.
void force(std::span<float> logits, std::int32_t token) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  std::swap(*largest, logits[static_cast<std::size_t>(token)]);
  float& given = logits[static_cast<std::size_t>(token)];
  // One that is as large and stands before it would be taken.
  if (std::max_element(logits.begin(), logits.end()) - logits.begin() != token)
    given = std::nextafter(given, std::numeric_limits<float>::infinity());
}

// One prompt and one answer.
class Scoring {
 public:
  Scoring(const Context& context, model::Model& model, const ScoreOptions& options,
          std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer, probe::Probe* probe)
      : context_(context),
        model_(model),
        probe_(probe),
        options_(options),
        prompt_(prompt),
        answer_(answer),
        mask_(options.decode.mask_token.value_or(config().mask_token.value_or(-1))),
        offset_(decode::prediction_offset(config(), options.decode)) {
    const auto tokens = std::ssize(answer);
    if (tokens == 0) throw_input_error({"answer", "at least one token", "none"});
    if (prompt.empty()) throw_input_error({"prompt", "at least one token before the answer", "none"});
    if (options.slots > 0 && tokens > options.slots)
      throw_input_error(
          {"answer", fmt::format("at most {} tokens, the canvas", options.slots), fmt::format("{}", tokens)});
    slots_ = std::max(options.slots, tokens);
    const auto length = std::ssize(prompt) + slots_;
    if (length > config().context && !options.decode.allow_long)
      throw_input_error(
          {"prompt", fmt::format("at most {} tokens with the answer, the model's context", config().context),
           std::to_string(length)});
  }

  AnswerScore next_token() {
    auto row = begin();
    row.insert(row.end(), answer_.begin(), answer_.end());
    row.pop_back();  // nothing is asked of it
    std::vector<std::int32_t> places(answer_.size());
    std::iota(places.begin(), places.end(), 0);
    return {look(row, places), std::vector<std::int32_t>(answer_.size(), 0)};
  }

  AnswerScore one_shot() {
    require_no_mask();
    std::vector<std::int32_t> places(answer_.size());
    std::iota(places.begin(), places.end(), 0);
    return {look(masked(0), places), std::vector<std::int32_t>(answer_.size(), 0)};
  }

  AnswerScore left_to_right() {
    require_no_mask();
    AnswerScore out;
    for (std::size_t n = 0; n < answer_.size(); ++n) {
      const auto place = static_cast<std::int32_t>(n);
      out.log_probability.push_back(look(masked(n), {place})[0]);
      out.step.push_back(place);
    }
    return out;
  }

  AnswerScore by_decoding() {
    require_no_mask();
    DecodeOptions decode = options_.decode;
    decode.max_new_tokens = static_cast<std::int32_t>(slots_);
    if (decode::decodes_blocks(config(), decode)) decode.max_new_tokens = whole_blocks(decode);
    const auto machine = make_machine(model_, decode, prompt_, std::nullopt);
    machine->store_apart();  // a step is one forward
    AnswerScore out{std::vector<double>(answer_.size(), 0), std::vector<std::int32_t>(answer_.size(), -1)};
    std::map<std::int64_t, double> seen;  // of the positions whose rows were asked for last
    for (std::size_t revealed = 0; revealed < answer_.size();) {
      if (machine->finished())
        throw_input_error({"answer", "an answer that the decoding does not end before",
                           fmt::format("{} of {} tokens revealed", revealed, answer_.size())});
      const auto record = take_step(*machine, seen);
      for (const auto& one : record.reveals) {
        const auto place = static_cast<std::size_t>(one.position) - prompt_.size();
        if (place >= answer_.size() || out.step[place] >= 0) continue;
        BUOY_CHECK(one.token == answer_[place]);
        out.log_probability[place] = seen.at(one.position);
        out.step[place] = record.step;
        ++revealed;
      }
    }
    return out;
  }

 private:
  const ModelConfig& config() const { return model_.config(); }
  std::vector<std::int32_t> begin() const { return {prompt_.begin(), prompt_.end()}; }

  void require_no_mask() const {
    if (mask_ < 0) throw_usage_error({field_name("mask_token"), "an id: config.json has none", "none"});
    if (std::find(answer_.begin(), answer_.end(), mask_) != answer_.end())
      throw_input_error({"answer", "tokens other than the mask", std::to_string(mask_)});
  }

  // The canvas with the first `known` tokens of the answer.
  std::vector<std::int32_t> masked(std::size_t known) const {
    auto row = begin();
    row.insert(row.end(), answer_.begin(), answer_.begin() + static_cast<std::ptrdiff_t>(known));
    row.resize(prompt_.size() + static_cast<std::size_t>(slots_), mask_);
    return row;
  }

  // Blocks as the loop would decode them, all in one row.
  std::optional<model::BlockGrid> grid() const {
    const auto& decode = options_.decode;
    if (!decode::decodes_blocks(config(), decode)) {
      if (decode::loop_of(config(), decode) == decode::kOpenDcoder) return model::whole_sequence();
      return std::nullopt;
    }
    const auto block = decode::block_options(config(), with_mask(decode));
    const auto length = static_cast<std::int64_t>(prompt_.size());
    const std::int64_t origin = block.origin == decode::GridOrigin::kPromptEnd ? length
                                : block.before == ops::BeforeGrid::kCausal
                                    ? length / block.block_length * block.block_length
                                    : 0;
    return model::BlockGrid{block.block_length, origin, block.before};
  }

  DecodeOptions with_mask(DecodeOptions decode) const {
    decode.mask_token = mask_;
    return decode;
  }

  // Enough of them for the answer, also where its first tokens share a block with the prompt's last.
  std::int32_t whole_blocks(const DecodeOptions& decode) const {
    const auto block =
        static_cast<std::int64_t>(decode::block_options(config(), with_mask(decode)).block_length);
    return static_cast<std::int32_t>((slots_ + 2 * block - 1) / block * block);
  }

  // Log-probabilities of the answer's tokens at these places, in one forward over the row.
  std::vector<double> look(const std::vector<std::int32_t>& row, const std::vector<std::int32_t>& places) {
    std::vector<std::int32_t> rows;
    for (const auto place : places)
      rows.push_back(static_cast<std::int32_t>(std::ssize(prompt_) + place - offset_));
    model::SequenceInput input{row, rows};
    input.prefix = std::ssize(prompt_);
    input.grid = grid();
    const float* logits = model_.forward(context_, {&input, 1}, probe_);
    const auto vocabulary = static_cast<std::size_t>(config().vocabulary);
    std::vector<double> out;
    for (std::size_t i = 0; i < places.size(); ++i)
      out.push_back(log_probability_of({logits + i * vocabulary, vocabulary},
                                       answer_[static_cast<std::size_t>(places[i])]));
    return out;
  }

  decode::StepRecord take_step(decode::StepMachine& machine, std::map<std::int64_t, double>& seen) {
    const auto turn = decode::next_turn(machine, 0);
    BUOY_CHECK(turn.forwards.size() == 1);  // no guidance
    const auto& input = turn.forwards[0];
    const std::int64_t past = input.past();  // a forward may lengthen the cache
    const float* first = model_.forward(context_, turn.forwards, probe_);
    const auto vocabulary = static_cast<std::size_t>(config().vocabulary);
    std::vector<float> logits(first, first + input.logit_rows.size() * vocabulary);
    const auto open = machine.open_positions();
    for (std::size_t i = 0; i < input.logit_rows.size(); ++i) {
      // A forward that stores what precedes a block has the row of the block's first position.
      const std::int64_t row = past + input.logit_rows[i];
      const std::int64_t position = i < open.size() ? open[i] : row + 1;
      const auto place = position - std::ssize(prompt_);
      if (place < 0 || place >= std::ssize(answer_)) continue;
      const std::span<float> one(logits.data() + i * vocabulary, vocabulary);
      const auto token = answer_[static_cast<std::size_t>(place)];
      // Not a row that only stands in for the one that is kept.
      if (row == position - offset_ || i >= open.size() || !seen.contains(position))
        seen[position] = log_probability_of(one, token);
      force(one, token);
    }
    const decode::LogitRows rows{logits.data(), config().vocabulary};
    return machine.advance({&rows, 1});
  }

  const Context& context_;
  model::Model& model_;
  probe::Probe* probe_;
  const ScoreOptions& options_;
  std::span<const std::int32_t> prompt_, answer_;
  std::int32_t mask_;
  std::int64_t offset_, slots_ = 0;
};

// Whether every form heeds it, and not only the order of a decoding.
bool is_heeded(const ModelConfig& config, const DecodeOptions& decode, std::string_view key) {
  // Plain numbers are always there; no guidance was asked for.
  constexpr std::array<std::string_view, 4> kPlain = {"max_new_tokens", "seed", "temperature", "cfg_scale"};
  // What the row is that a form looks at.
  constexpr std::array<std::string_view, 5> kOfTheRow = {"allow_long", "decoding_rule", "mask_token",
                                                         "shifted_rows", "bidirectional_context"};
  if (key == "block_length") return decode::decodes_blocks(config, decode);
  return std::find(kPlain.begin(), kPlain.end(), key) != kPlain.end() ||
         std::find(kOfTheRow.begin(), kOfTheRow.end(), key) != kOfTheRow.end();
}

// What would be asked for in vain.
void require_used(const ModelConfig& config, const ScoreOptions& options, ScoreForm form) {
  decode::check_options(config, options.decode);
  if (form == ScoreForm::kNextToken && options.slots > 0)
    throw_usage_error(
        {field_name("slots"), "none: a model of next tokens has no canvas", std::to_string(options.slots)});
  if (form == ScoreForm::kPath && options.order == PathOrder::kDecoding) return;
  for (const auto& option : decode::kDecodeOptions) {
    if (is_heeded(config, options.decode, option.key) || !decode::is_given(option, options.decode)) continue;
    throw_usage_error({field_name(option.key),
                       form == ScoreForm::kNextToken
                           ? "none: nothing is decoded"
                           : fmt::format("none, or {} path with {} decoding: nothing else decodes",
                                         field_name("form"), field_name("path_order")),
                       fmt::format("it for {}", name_of(form))});
  }
}

}  // namespace

double log_probability_of(std::span<const float> logits, std::int32_t token) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - top);
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - (top + std::log(sum));
}

ScoreForm score_form_of(const std::string& name) {
  if (name == "one-shot") return ScoreForm::kOneShot;
  if (name == "path") return ScoreForm::kPath;
  throw_usage_error({field_name("form"), "one-shot or path", '"' + name + '"'});
}

PathOrder path_order_of(const std::string& name) {
  if (name.empty() || name == "left-to-right") return PathOrder::kLeftToRight;
  if (name == "decoding") return PathOrder::kDecoding;
  throw_usage_error({field_name("path_order"), "left-to-right or decoding", '"' + name + '"'});
}

std::string_view name_of(ScoreForm form) {
  if (form == ScoreForm::kOneShot) return "one-shot";
  return form == ScoreForm::kPath ? "path" : "next-token";
}

ScoreForm settled_form(const ModelConfig& config, const ScoreOptions& options) {
  const DecodeOptions& decode = options.decode;
  const bool filtered = decode.temperature > 0 || decode.cfg_scale.value_or(0) > 0;
  if (filtered)
    throw_usage_error({field_name(decode.temperature > 0 ? "temperature" : "cfg_scale"),
                       "0: log-probabilities are those of the model itself",
                       fmt::format("{:g}", decode.temperature > 0 ? decode.temperature : *decode.cfg_scale)});
  if (!decode::decodes_masks(config, decode)) {
    if (options.form)
      throw_usage_error({field_name("form"), "none: a model of next tokens has one log-probability",
                         std::string(name_of(*options.form))});
    require_used(config, options, ScoreForm::kNextToken);
    return ScoreForm::kNextToken;
  }
  if (!options.form)
    throw_usage_error(
        {field_name("form"),
         fmt::format("one-shot (all positions of the answer masked, every token at once) or path "
                     "(each token when it is revealed): a {} has both",
                     name_of(config.family)),
         "none"});
  decode::loop_of(config, decode);  // refuses a rule that is missing
  require_used(config, options, *options.form);
  return *options.form;
}

std::string name_of_form(const ModelConfig& config, const ScoreOptions& options) {
  const auto form = settled_form(config, options);
  if (form != ScoreForm::kPath) return std::string(name_of(form));
  return options.order == PathOrder::kDecoding ? "path decoding" : "path left-to-right";
}

double AnswerScore::sum() const {
  return std::accumulate(log_probability.begin(), log_probability.end(), 0.0);
}

AnswerScore score_tokens(const Context& context, model::Model& model, const ScoreOptions& options,
                         std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer,
                         probe::Probe* probe) {
  const auto form = settled_form(model.config(), options);
  Scoring scoring(context, model, options, prompt, answer, probe);
  if (form == ScoreForm::kNextToken) return scoring.next_token();
  if (form == ScoreForm::kOneShot) return scoring.one_shot();
  return options.order == PathOrder::kDecoding ? scoring.by_decoding() : scoring.left_to_right();
}

}  // namespace buoy::run
