#include "buoy/run/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/turn.h"
#include "buoy/model/family.h"
#include "buoy/observe/whole_rows.h"
#include "buoy/run/block_run.h"
#include "buoy/run/held/held_forwards.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

std::string_view attention_text(const observe::Subject& subject, AttentionMaskKind mask) {
  if (subject.blocks) return trace::kBlocksAttention;  // whatever the model's own mask is
  switch (mask) {
    case AttentionMaskKind::kCausal:
      return trace::kCausalAttention;
    case AttentionMaskKind::kPrefix:
      return trace::kPrefixAttention;
    case AttentionMaskKind::kFull:
      return trace::kBidirectionalAttention;
    case AttentionMaskKind::kBlocks:  // where nobody observes
      return trace::kBlocksAttention;
  }
  throw InternalError("a mask without a text");
}

// On a GPU a forward of a block takes a few milliseconds, less than writing its records to a file and reading
// them again: where they are too many for memory it is cheaper to decode first, and to observe then.
bool should_hold(const model::Model& model, observe::Plan plan, const observe::Subject& longest) {
  if (model.device() == Device::kCpu) return true;
  plan.steps = {};
  return observe::RecordLayout(plan, longest).expected_bytes().all <= RecordStore::most_in_memory();
}

observe::Plan nothing_of(observe::Plan plan) {
  plan.wanted.clear();
  return plan;
}

}  // namespace

observe::Subject subject_of(const ModelConfig& c, const Request& request, const ItemPrompt& prompt,
                            std::int64_t tokens, const std::optional<text::Tokenizer>& tokenizer,
                            std::shared_ptr<const observe::BlockRun> blocks) {
  if (!blocks && !request.observe.empty()) refuse_observing(c, request.decode);
  if (!c.experts && !request.observe.empty() && request.plan().has(observe::kRouting)) {
    throw_usage_error({field_name("observe"),
                       fmt::format("no {}: a {} has no experts", observe::kRouting, name_of(c.family)),
                       std::string(observe::kRouting)});
  }
  const bool diffusion = decode::decodes_masks(c, request.decode);
  const auto prompt_length = static_cast<std::int64_t>(prompt.prompt.ids.size());
  observe::Regions regions = prompt.regions;
  add_answer(regions, tokens - prompt_length);
  const observe::QueryGroups groups = observe::QueryGroups::parse(request.groups, regions);
  return {.tokens = tokens,
          .prompt_length = prompt_length,
          .steps = blocks      ? std::ssize(blocks->kinds)
                   : diffusion ? most_forwards(c, request.decode) + (request.final_row ? 1 : 0)
                               : 1,
          .layers = c.layers,
          .heads = c.heads,
          .kv_heads = c.kv_heads,
          .head_dim = c.head_dim,
          .hidden = c.hidden,
          .experts = c.experts ? c.experts->count : 0,
          .chosen = c.experts ? c.experts->chosen : 0,
          .prediction_offset = decode::prediction_offset(c, request.decode),
          .mask_token = diffusion ? request.decode.mask_token.value_or(*c.mask_token) : -1,
          .end_tokens = end_tokens(c, request.decode, tokenizer),
          .regions = std::move(regions),
          .groups = groups,
          .blocks = std::move(blocks)};
}

observe::Subject longest_subject(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                                 const decode::StepMachine& machine,
                                 const std::optional<text::Tokenizer>& tokenizer) {
  // A block may begin with the prompt's tail, and a token may stand behind the last one. bd3lm has no more
  // than was asked for: with shifted rows, the row that writes nothing is then known before.
  const std::int64_t more = is_a2d(config.family) ? 0 : 2 * machine.denoised_grid().value().block + 1;
  const std::int64_t tokens =
      machine.prompt_length() + std::max<std::int64_t>(request.decode.max_new_tokens, 0) + more;
  return subject_of(config, request, prompt, tokens, tokenizer, largest_block_run(config, request));
}

Tracer::Tracer(const Context& context, model::Model& model, Request request,
               std::optional<text::Tokenizer> tokenizer)
    : context_(context),
      model_(model),
      request_(std::move(request)),
      plan_(request_.plan()),
      tokenizer_(std::move(tokenizer)) {
  const ModelConfig& config = model_.config();
  if (!request_.changes.top) return;
  if (request_.changes.top->follows() && !decode::decodes_masks(config, request_.decode))
    throw_usage_error(
        {kTopOfField,
         "trace:FOLDER for a trace of a model that writes from left to right: it is one forward "
         "over the row, which has no step before it",
         "step-before or a rule"});
}

ChangedRow Tracer::changed_row(const ItemPrompt& prompt, std::uint64_t seed) const {
  const auto slots = std::max<std::int64_t>(request_.decode.max_new_tokens, 0);
  ChangedRow row{prompt.regions, static_cast<std::int64_t>(prompt.prompt.ids.size()) + slots,
                 most_forwards(model_.config(), request_.decode) + (request_.final_row ? 1 : 0),
                 request_.decode};
  add_answer(row.regions, slots);
  row.id = prompt.id;
  row.prompt = prompt.prompt.ids;
  row.seed = seed;
  row.left_to_right = !decode::decodes_masks(model_.config(), request_.decode);
  return row;
}

Tracer::Watched Tracer::watch(const ItemPrompt& prompt, std::uint64_t number, const observe::Plan& plan,
                              const MakeProbe& make_probe) {
  DecodeOptions decode = request_.decode;
  decode.seed += number;
  if (decode::decodes_blocks(model_.config(), decode)) return watch_blocks(prompt, decode, plan, make_probe);
  auto machine = make_machine(model_, decode, prompt.prompt.ids, tokenizer_);
  decode::StepMachine* machines[] = {machine.get()};
  const bool diffusion = decode::decodes_masks(model_.config(), request_.decode);
  // What is written behind a prompt changes no row before it: one pass over the final row holds every step's
  // attention. Only then is its length known.
  const ChangedRow row = changed_row(prompt, decode.seed);
  if (!diffusion) {
    ChangingProbe changing(request_.changes, model_.config(), row, nullptr);
    decode::drive(context_, model_, machines, between_steps_, request_.changes.any() ? &changing : nullptr);
  }
  auto watched = subject_of(model_.config(), request_, prompt, std::ssize(machine->row()), tokenizer_);
  probe::Probe& watching = make_probe(watched, *machine);
  ChangingProbe changing(request_.changes, model_.config(), row, &watching);
  probe::Probe* const probe = request_.changes.any() ? static_cast<probe::Probe*>(&changing) : &watching;
  if (diffusion) decode::drive(context_, model_, machines, between_steps_, probe);
  if (!diffusion || request_.final_row) {
    std::vector<model::SequenceInput> inputs = {{machine->row(), {}}};
    inputs[0].address.step = watched.steps - 1;
    inputs[0].prefix = machine->prompt_length();
    inputs[0].grid = machine->row_grid();
    model_.forward(context_, inputs, probe);
  }
  changing.finish();
  return {std::move(watched), std::move(machine)};
}

Tracer::Watched Tracer::watch_blocks(const ItemPrompt& prompt, const DecodeOptions& decode,
                                     const observe::Plan& plan, const MakeProbe& make_probe) {
  const ModelConfig& config = model_.config();
  const auto fresh = [&] { return make_machine(model_, decode, prompt.prompt.ids, tokenizer_); };
  auto machine = fresh();
  require_observable(decode, *machine);
  ChangedRow row = changed_row(prompt, decode.seed);
  const auto longest = longest_subject(config, request_, prompt, *machine, tokenizer_);
  const bool holds = should_hold(model_, plan, longest);
  HeldForwards held(holds ? plan : nothing_of(plan), longest, *machine, held_in_);
  const auto note = [&](size_t sequence, const decode::StepMachine& of, const decode::StepRecord& record) {
    held.ran(record);
    if (holds && between_steps_) between_steps_(sequence, of, record);
  };
  std::optional<ChangingProbe> changing;
  const auto drive = [&](decode::StepMachine& one, const decode::StepCallback& on_step, probe::Probe& probe) {
    if (request_.changes.any()) changing.emplace(request_.changes, config, row, &probe);
    decode::StepMachine* machines[] = {&one};
    decode::drive(context_, model_, machines, on_step,
                  changing ? static_cast<probe::Probe*>(&*changing) : &probe);
  };
  drive(*machine, note, held);
  const std::int64_t tokens = machine->decoded_length();
  auto watched = subject_of(config, request_, prompt, tokens, tokenizer_,
                            std::make_shared<const observe::BlockRun>(held.run(request_.final_row)));
  row.steps = watched.steps;  // no more and no less
  probe::Probe& watching = make_probe(watched, *machine);
  const bool fits = holds && held.fits(watched);
  LookBehind behind(watching, held, watched);
  probe::Probe& looking = fits ? static_cast<probe::Probe&>(behind) : watching;
  if (changing)
    ChangingProbe(request_.changes, config, row, nullptr);  // steps that there are none of are refused
  if (fits) {
    held.hand_on(watched, watching);
  } else {
    const auto again = fresh();
    observe::WholeRows whole(watching, config.hidden, [&] {
      auto now = again->row();
      now.resize(static_cast<size_t>(tokens), watched.mask_token);
      return now;
    });
    drive(*again, holds ? nullptr : between_steps_, whole);  // steps are told once
    BUOY_CHECK(again->row() == machine->row());
  }
  if (request_.final_row) {
    const decode::Turn look = decode::final_look(*machine, 0, watched.steps - 1);
    if (changing) changing->observe_by(&looking);
    decode::take_turns(context_, model_, {&look, 1},
                       changing ? static_cast<probe::Probe*>(&*changing) : &looking);
  }
  if (changing) changing->finish();
  return {std::move(watched), std::move(machine)};
}

trace::Sample Tracer::frame(const ItemPrompt& prompt, const decode::StepMachine& machine,
                            const observe::Subject& subject) const {
  // Blocks that somebody observed are shown as wholes, others as far as was asked for.
  const std::int64_t length =
      subject.blocks ? machine.decoded_length() : std::min(machine.decoded_length(), subject.tokens);
  const auto row = std::span(machine.row()).first(static_cast<size_t>(length));
  trace::Sample sample{prompt.id, {}, {}};
  sample.arrays.push_back(trace::integer_array(trace::kTokens, {length}, row));
  sample.arrays.push_back(trace::integer_array(
      trace::kRevealedAt, {length},
      std::span<const std::int32_t>(subject.blocks ? subject.blocks->revealed_at : machine.revealed_at())
          .first(static_cast<size_t>(length))));
  const auto& ends = subject.end_tokens;
  std::vector<std::uint8_t> is_end;
  for (const auto id : row) is_end.push_back(std::find(ends.begin(), ends.end(), id) != ends.end() ? 1 : 0);
  const auto end = trace::answer_end(machine.prompt_length(), length,
                                     [&](std::int64_t p) { return is_end[static_cast<size_t>(p)] != 0; });
  sample.arrays.push_back(
      trace::byte_array(trace::kRegionOfToken, {length},
                        observe::padded(subject.regions, machine.prompt_length(), end).of_token));
  sample.arrays.push_back(trace::byte_array(trace::kEnds, {length}, is_end));
  if (!subject.regions.evidence.empty())
    sample.arrays.push_back(trace::byte_array(trace::kEvidence, {length}, subject.regions.evidence));
  if (!subject.regions.template_text.empty())
    sample.arrays.push_back(trace::byte_array(trace::kTemplateText, {length}, subject.regions.template_text));
  const auto set = [&](std::string_view key, std::string value) {
    sample.metadata[std::string(key)] = std::move(value);
  };
  const bool diffusion = decode::decodes_masks(model_.config(), request_.decode);
  set(trace::kPromptLength, std::to_string(machine.prompt_length()));
  set(trace::kRegionNames, trace::format_text_list(subject.regions.names));
  set(trace::kGroupNames, trace::format_text_list(subject.groups.names()));
  set(trace::kGoldRegions, trace::format_text_list(subject.regions.gold));
  set(trace::kAttention,
      std::string(attention_text(subject, decode::mask_of(model_.config(), request_.decode))));
  if (subject.blocks) {
    set(trace::kBlockLength, std::to_string(subject.blocks->block));
    set(trace::kGridOrigin, std::to_string(subject.blocks->origin));
    if (subject.blocks->denoised_block != subject.blocks->block) {
      set(trace::kDenoisedLength, std::to_string(subject.blocks->denoised_block));
      set(trace::kDenoisedOrigin, std::to_string(subject.blocks->denoised_origin));
    }
    std::vector<std::string> end_ids;
    for (const auto id : subject.end_tokens) end_ids.push_back(std::to_string(id));
    set(trace::kEndTokens, trace::format_text_list(end_ids));
  }
  set(trace::kPredictionOffset, std::to_string(subject.prediction_offset));
  if (diffusion) set(trace::kMaskToken, std::to_string(subject.mask_token));
  if (diffusion && request_.final_row) set(trace::kFinalStep, std::to_string(subject.steps - 1));
  if (!prompt.question.empty()) set(trace::kQuestion, prompt.question);
  if (!prompt.answers.empty()) set(trace::kAnswers, trace::format_text_list(prompt.answers));
  if (!prompt.prompt.rendered.empty()) set(trace::kPromptText, prompt.prompt.rendered);
  if (tokenizer_) {
    std::vector<std::string> texts;
    std::vector<std::uint8_t> special;
    for (const auto id : row) {
      texts.push_back(tokenizer_->token_text(id));
      special.push_back(tokenizer_->is_special(id) ? 1 : 0);
    }
    sample.arrays.push_back(trace::byte_array(trace::kSpecial, {length}, special));
    set(trace::kTokenTexts, trace::format_text_list(texts));
    const std::string answer = answer_text(*tokenizer_, machine.generated(), ends);
    set(trace::kAnswerText, answer);
    if (!prompt.answers.empty()) set(trace::kRight, is_right(answer, prompt.answers) ? "1" : "0");
  }
  return sample;
}

}  // namespace buoy::run
