#include "buoy/run/live/live_sample.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/run/decoding.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

// As a trace would give them back.
std::vector<std::string> as_stored(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const auto& text : texts) out.push_back(replace_invalid_utf8(text));
  return out;
}

void list_arrays(const observe::RecordLayout& layout, analysis::SampleFacts& facts) {
  const std::int64_t S = layout.size_of('S'), L = layout.size_of('L'), T = layout.size_of('T');
  const auto add = [&](std::string_view name, std::vector<std::int64_t> shape) {
    facts.arrays.emplace(name, std::move(shape));
  };
  add(trace::kTokens, {T});
  add(trace::kRevealedAt, {T});
  add(trace::kRegionOfToken, {T});
  if (!facts.evidence.empty()) add(trace::kEvidence, {T});
  if (facts.has_texts) add(trace::kSpecial, {T});
  if (!facts.template_text.empty()) add(trace::kTemplateText, {T});
  add(trace::kEnds, {T});
  add(trace::kSteps, {S});
  add(trace::kLayers, {L});
  add(trace::kTokensByStep, {S, T});
  add(trace::kGroupSizes, {S, layout.size_of('G')});
  if (layout.looks_closely()) add(trace::kRowPositions, {layout.size_of('R')});
  if (const auto& run = layout.subject().blocks) {
    add(trace::kStepKinds, {S});
    add(trace::kRowsRun, {S, 2});
    add(trace::kReveals, {std::ssize(run->reveals) / 3, 3});
  }
  for (const auto& part : layout.parts()) {
    if (!part.large) {
      add(part.schema->name, layout.stacked_shape(part));
      continue;
    }
    for (const auto step : layout.steps()) {
      for (const auto layer : layout.layers())
        add(trace::array_name(part.schema->name, step, layer), part.cell);
    }
  }
}

// As a trace tells them.
std::shared_ptr<const analysis::BlockForwards> block_forwards_of(const observe::RecordLayout& layout) {
  const observe::BlockRun& run = *layout.subject().blocks;
  auto blocks = std::make_shared<analysis::BlockForwards>();
  blocks->length = run.denoised_block;
  blocks->origin = run.denoised_origin;
  blocks->reveals = run.reveals;
  for (const auto step : layout.steps()) {
    blocks->kinds.push_back(run.kinds[static_cast<size_t>(step)]);
    const auto rows = run.rows_run.begin() + 2 * step;
    blocks->rows_run.insert(blocks->rows_run.end(), rows, rows + 2);
  }
  return blocks;
}

}  // namespace

analysis::ObservedSample facts_of(const observe::RecordLayout& layout, const LivePrompt& live, bool texts) {
  const observe::Subject& subject = layout.subject();
  analysis::ObservedSample s;
  s.name = live.prompt.id;
  s.question = live.prompt.question;
  s.number = static_cast<std::int64_t>(live.number);
  if (live.mask == AttentionMaskKind::kCausal) s.mask = analysis::kCausalMask;
  if (live.mask == AttentionMaskKind::kPrefix) s.mask = analysis::prefix_mask(subject.prompt_length);
  if (subject.blocks) s.mask = analysis::block_mask(subject.blocks->block, subject.blocks->origin);
  if (subject.blocks) s.end_tokens = subject.end_tokens;
  s.masked_diffusion = live.masked_diffusion;
  s.has_texts = texts && subject.tokens > 0;
  s.tokens = subject.tokens;
  s.prompt_length = subject.prompt_length;
  s.heads = subject.heads;
  s.kv_heads = subject.kv_heads;
  s.head_dim = subject.head_dim;
  s.prediction_offset = subject.prediction_offset;
  s.mask_token = live.masked_diffusion ? subject.mask_token : -1;
  s.steps = to_int32(layout.steps());
  s.layers = to_int32(layout.layers());
  s.last_forward = std::ssize(s.steps) - 1;
  const bool looks_back =
      live.masked_diffusion && live.final_row && !s.steps.empty() && s.steps.back() == subject.steps - 1;
  s.sees_final_row = looks_back || !live.masked_diffusion;
  if (looks_back && s.steps.size() > 1) s.steps.pop_back();
  if (subject.blocks) {
    s.steps = to_int32(layout.steps());
    s.blocks = block_forwards_of(layout);
    show_denoising(s);
  }
  if (subject.blocks && !live.final_row)
    s.last_step = s.blocks->last_reveal();
  else if (live.masked_diffusion)
    s.last_step = static_cast<std::int32_t>(subject.steps) - (live.final_row ? 2 : 1);
  s.region_names = as_stored(subject.regions.names);
  s.region_of_token = {subject.regions.of_token.begin(), subject.regions.of_token.end()};
  s.gold_regions = as_stored(subject.regions.gold);
  s.answers = as_stored(live.prompt.answers);
  s.evidence = subject.regions.evidence;
  s.template_text = subject.regions.template_text;
  s.group_names = as_stored(subject.groups.names());
  if (layout.looks_closely()) s.row_positions = layout.rows();
  list_arrays(layout, s);
  return s;
}

LiveSample::LiveSample(observe::RecordLayout layout, const LivePrompt& prompt,
                       const std::optional<text::Tokenizer>& tokenizer, HandOn hand_on)
    : layout_(std::move(layout)),
      tokenizer_(tokenizer),
      hand_on_(std::move(hand_on)),
      sample_(facts_of(layout_, prompt, tokenizer.has_value())) {}

// Only what changed since the last time is looked up.
void LiveSample::read_texts(std::span<const std::int32_t> row) {
  const bool first = types_.empty();
  read_.resize(row.size(), -1);
  if (tokenizer_) {
    sample_.token_texts.resize(row.size());
    sample_.special.resize(row.size());
  }
  for (size_t j = 0; j < row.size(); ++j) {
    if (read_[j] == row[j]) continue;
    read_[j] = row[j];
    if (!tokenizer_) continue;
    sample_.token_texts[j] = replace_invalid_utf8(tokenizer_->token_text(row[j]));
    sample_.special[j] = tokenizer_->is_special(row[j]) ? 1 : 0;
    if (!first) types_[j] = token_type(sample_, {sample_.token_texts, sample_.special}, j);
  }
  if (first) types_ = token_types(sample_, {sample_.token_texts, sample_.special});
}

// With the first record that comes back: by then a GPU is at work.
void LiveSample::note_forward(const probe::Address& address) {
  BUOY_CHECK(asked_step_ == address.step);
  if (forward_ && forward_->number() == address.step) return;
  analysis::ForwardFacts forward;
  forward.place = layout_.step_index(address);
  forward.index = sample_.index_of_place(forward.place);
  forward.number = static_cast<std::int32_t>(address.step);
  forward.is_step = forward.shown() && forward.index < sample_.step_count();
  forward.row = std::move(row_);
  forward.revealed_at = sample_.blocks ? sample_.blocks->revealed_before(sample_.tokens, forward.number)
                                       : machine_->revealed_at();
  forward.revealed_at.resize(forward.row.size(), -1);  // a row may grow while it is decoded
  // Texts are those of the finished row, which differs from this one where tokens are written again.
  const auto& run = layout_.subject().blocks;
  read_texts(run ? run->tokens : forward.row);
  forward.types = types_;
  forward.masked.assign(forward.row.size(), 0);
  for (size_t j = static_cast<size_t>(sample_.prompt_length); j < forward.row.size(); ++j)
    forward.masked[j] = sample_.mask_token >= 0 && forward.row[j] == sample_.mask_token ? 1 : 0;
  forward.answer_end = layout_.answer_end(forward.row);
  forward.group_sizes = layout_.group_sizes(asked_);
  BUOY_CHECK(forward.place == std::ssize(sample_.rows));
  sample_.rows.push_back(forward.row);
  sample_.group_sizes.push_back(forward.group_sizes);
  forward_ = std::make_shared<LiveForward>(sample_, std::move(forward));
}

probe::LayerRequest LiveSample::request(const probe::Address& address, const probe::LayerExtent& extent) {
  if (!layout_.observes(address)) return {};
  see(address, extent);
  return asked_;
}

probe::PredictionRequest LiveSample::predictions(const probe::Address& address,
                                                 const probe::LayerExtent& extent) {
  if (!layout_.predicts() || !layout_.observes(address)) return {};
  see(address, extent);
  return layout_.predictions(extent.tokens);
}

// The first question about a forward.
void LiveSample::see(const probe::Address& address, const probe::LayerExtent& extent) {
  if (asked_step_ == address.step) return;
  asked_step_ = address.step;
  asked_ = layout_.request(extent, sets_);
  row_.assign(extent.tokens.begin(), extent.tokens.end());
}

void LiveSample::take(const probe::Address& address, probe::LayerRecord&& record) {
  note_forward(address);
  ++records_;
  LiveRecord on{forward_, address, std::move(record)};
  hand_on_(on);
  record = std::move(on.record);
}

void LiveSample::take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) {
  note_forward(address);
  ++records_;
  LiveRecord on{forward_, address, {}, std::move(record)};
  hand_on_(on);
}

analysis::ObservedSample LiveSample::finish() {
  BUOY_CHECK(records_ == layout_.records());
  sample_.final_row = machine_->row();
  sample_.final_row.resize(static_cast<size_t>(sample_.tokens));
  const auto& run = layout_.subject().blocks;
  sample_.revealed_at = run ? run->revealed_at : machine_->revealed_at();
  read_texts(sample_.final_row);
  const auto& ends = layout_.subject().end_tokens;
  if (tokenizer_ && !sample_.answers.empty())
    sample_.right = is_right(answer_text(*tokenizer_, machine_->generated(), ends), sample_.answers) ? 1 : 0;
  for (const auto id : sample_.final_row)
    sample_.ends.push_back(std::find(ends.begin(), ends.end(), id) != ends.end() ? 1 : 0);
  return sample_;
}

}  // namespace buoy::run
