#include "analysis/block_attention.h"

#include <algorithm>
#include <cmath>

#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

constexpr std::int32_t kMaskId = 99;
constexpr std::int64_t kGroupCount = 7;

std::uint8_t kind_number(trace::StepKind kind) {
  return static_cast<std::uint8_t>(kind);
}

// Of every position of the prompt; what follows is the answer.
std::uint8_t region_of(std::int64_t position) {
  constexpr std::uint8_t kOfPrompt[] = {0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4};
  return position < BlockArm::kPrompt ? kOfPrompt[position] : std::uint8_t{5};
}

// Slots of a block are revealed from the last to the first, half of them at a step.
bool is_masked(const BlockForward& forward, const BlockArm& arm, std::int64_t position) {
  if (position < BlockArm::kPrompt) return false;
  const std::int64_t slot = position - BlockArm::kPrompt, block = slot / arm.denoised;
  const std::int64_t from_the_end = block * arm.denoised + (arm.denoised - 1 - slot % arm.denoised);
  return from_the_end >= forward.revealed;
}

// The arrays of rows, keys and values: of one layer of each forward, the same for all layers and heads. What
// did not run, or was not there yet, is 0.
class StateArrays {
 public:
  StateArrays(const BlockStates& states, std::int64_t tokens) : states_(states), tokens_(tokens) {}

  void add(const BlockForward& forward, const Attention& attention) {
    std::vector<float> entropy(size()), first(size()), contribution(size()), values(size()), norms(size()),
        cosines(size());
    for (std::int64_t j = 0; j < forward.end; ++j)
      values[static_cast<size_t>(j)] = j == 0 ? states_.first_value : 1.0F;
    for (std::int64_t i = forward.first; i < forward.end; ++i) {
      const auto row = static_cast<size_t>(i);
      const auto given = attention(forward, i);
      norms[row] = 1;
      first[row] = static_cast<float>(given[0]);
      double nats = 0;
      for (size_t j = 0; j < given.size(); ++j) {
        if (given[j] > 0) nats -= given[j] * std::log(given[j]);
        contribution[j] += static_cast<float>(given[j]) * values[j];
      }
      entropy[row] = static_cast<float>(nats);
    }
    // Keys that were stored do not change; those that are new have nothing to differ from. A forward that
    // stores a finished block moves it, too, which is no step.
    const bool stores = forward.kind == kind_number(trace::StepKind::kFinish);
    const bool again = forward.number >= 0 && forward.number == before_;
    for (std::int64_t j = 0; j < forward.end; ++j)
      cosines[static_cast<size_t>(j)] = j < forward.first || !(stores || again) ? 1.0F
                                        : stores                                ? 0.2F
                                                                                : states_.moved;
    before_ = forward.number;
    for (std::int64_t l = 0; l < kBlockLayers; ++l) {
      for (std::int64_t h = 0; h < kBlockHeads; ++h) {
        append(entropy_, entropy), append(first_, first), append(contribution_, contribution);
        append(values_, values), append(norms_, norms), append(cosines_, cosines);
      }
      residual_.insert(residual_.end(), cosines.begin() + BlockArm::kPrompt, cosines.end());
    }
    ++forwards_;
  }

  void put(trace::Sample& sample) const {
    const std::vector<std::int64_t> shape = {forwards_, kBlockLayers, kBlockHeads, tokens_};
    const auto by_head = [&](std::string_view name, const std::vector<float>& numbers) {
      sample.arrays.push_back(trace::float_array(name, shape, numbers));
    };
    by_head(trace::kEntropy, entropy_);
    by_head(trace::kFirstShare, first_);
    by_head(trace::kContribution, contribution_);
    by_head(trace::kValueNorm, values_);
    by_head(trace::kHeadNorm, norms_);
    by_head(trace::kKeyCosine, cosines_);
    by_head(trace::kValueCosine, cosines_);
    std::vector<std::int32_t> rows;
    for (std::int64_t i = BlockArm::kPrompt; i < tokens_; ++i) rows.push_back(static_cast<std::int32_t>(i));
    sample.arrays.push_back(trace::integer_array(trace::kRowPositions, {std::ssize(rows)}, rows));
    sample.arrays.push_back(
        trace::float_array(trace::kResidualCosine, {forwards_, kBlockLayers, std::ssize(rows)}, residual_));
  }

 private:
  size_t size() const { return static_cast<size_t>(tokens_); }
  static void append(std::vector<float>& all, const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  BlockStates states_;
  std::int64_t tokens_, forwards_ = 0, before_ = -1;
  std::vector<float> entropy_, first_, contribution_, values_, norms_, cosines_, residual_;
};

}  // namespace

std::int64_t BlockForward::keys_of(std::int64_t query) const {
  const std::int64_t begin = query - (((query - origin) % length) + length) % length;
  return std::min(end, begin + length);
}

std::vector<BlockArm> block_arms() {
  return {{"from_zero", 4, 0, 4, 0},
          {"from_the_prompt", 8, 12, 8, 12},
          {"stored_causally", 1, 0, 4, 12},
          {"stored_causally_before", 1, 0, 4, 12, false}};
}

std::vector<BlockForward> forwards_of(const BlockArm& arm) {
  using trace::StepKind;
  std::vector<BlockForward> out;
  const auto stored = [&](StepKind kind, std::int64_t first, std::int64_t end, std::int64_t revealed) {
    out.push_back({kind_number(kind), first, end, -1, revealed, arm.block, arm.origin});
  };
  stored(StepKind::kPrompt, 0, arm.prompt(), 0);
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t first = arm.prompt() + b * arm.denoised, end = first + arm.denoised;
    for (std::int64_t step = 0; step < 2; ++step)
      out.push_back({kind_number(StepKind::kDenoise), first, end, b,
                     b * arm.denoised + step * arm.denoised / 2, arm.denoised, arm.denoised_origin});
    stored(StepKind::kFinish, first, end, (b + 1) * arm.denoised);
  }
  stored(StepKind::kFinalRow, 0, arm.tokens(), 2 * arm.denoised);
  return out;
}

Attention even_attention() {
  return [](const BlockForward& forward, std::int64_t query) {
    const auto keys = forward.keys_of(query);
    return std::vector<double>(static_cast<size_t>(keys), 1.0 / static_cast<double>(keys));
  };
}

Attention sink(double share, const std::function<std::int64_t(const BlockForward& forward)>& key) {
  return [=](const BlockForward& forward, std::int64_t query) {
    auto out = even_attention()(forward, query);
    const std::int64_t at = key(forward);
    if (at >= std::ssize(out)) return out;
    for (double& value : out) value *= 1 - share;
    out[static_cast<size_t>(at)] += share;
    return out;
  };
}

SyntheticTrace block_trace(const BlockArm& arm, const Attention& attention,
                           const std::optional<BlockStates>& states) {
  SyntheticTrace out({kBlockLayers, kBlockHeads, 4});
  out.of_blocks();
  const auto forwards = forwards_of(arm);
  const std::int64_t S = std::ssize(forwards), T = arm.tokens();
  for (std::int64_t n = 0; n < kBlockSamples; ++n) {
    SyntheticTrace::Row row;
    row.prompt_length = arm.prompt();
    row.steps = S;
    std::vector<std::string> texts;
    std::vector<std::uint8_t> regions, evidence, kinds;
    for (std::int64_t i = 0; i < T; ++i) {
      row.tokens.push_back(static_cast<std::int32_t>(1 + i + n));
      texts.push_back(i % 4 == 3 ? "," : " word");
      regions.push_back(region_of(i));
      evidence.push_back(i == 7 ? 1 : 0);
    }
    std::vector<std::int32_t> rows, sizes, ran, reveals, revealed(static_cast<size_t>(T), -1);
    std::vector<float> received;
    for (std::int64_t s = 0; s < S; ++s) {
      const BlockForward& forward = forwards[static_cast<size_t>(s)];
      kinds.push_back(forward.kind);
      ran.insert(ran.end(),
                 {static_cast<std::int32_t>(forward.first), static_cast<std::int32_t>(forward.end)});
      std::vector<std::int32_t> size(kGroupCount, 0);
      std::vector<double> sums(static_cast<size_t>(kGroupCount * T), 0.0);
      for (std::int64_t i = 0; i < T; ++i) {
        const bool masked = is_masked(forward, arm, i);
        rows.push_back(masked ? kMaskId : row.tokens[static_cast<size_t>(i)]);
        if (i < forward.first || i >= forward.end) continue;
        const std::int64_t group = region_of(i) + (masked ? 1 : 0);
        ++size[static_cast<size_t>(group)];
        const auto given = attention(forward, i);
        for (size_t j = 0; j < given.size(); ++j) sums[static_cast<size_t>(group * T) + j] += given[j];
      }
      if (forward.number >= 0) {
        BlockForward behind = forward;
        behind.revealed += arm.denoised / 2;
        for (std::int64_t i = forward.first; i < forward.end; ++i) {
          if (!is_masked(forward, arm, i) || is_masked(behind, arm, i)) continue;
          revealed[static_cast<size_t>(i)] = static_cast<std::int32_t>(s);
          reveals.insert(reveals.end(), {static_cast<std::int32_t>(s), static_cast<std::int32_t>(i),
                                         row.tokens[static_cast<size_t>(i)]});
        }
      }
      sizes.insert(sizes.end(), size.begin(), size.end());
      for (std::int64_t l = 0; l < kBlockLayers; ++l) {
        for (std::int64_t g = 0; g < kGroupCount; ++g) {
          for (std::int64_t h = 0; h < kBlockHeads; ++h)
            received.insert(received.end(), sums.begin() + g * T, sums.begin() + (g + 1) * T);
        }
      }
    }
    auto& sample = out.add(row);
    if (states) {
      StateArrays arrays(*states, T);
      for (const auto& forward : forwards) arrays.add(forward, attention);
      arrays.put(sample);
    }
    const auto set = [&](std::string_view key, std::string value) {
      sample.metadata[std::string(key)] = std::move(value);
    };
    set(trace::kAttention, std::string(trace::kBlocksAttention));
    set(trace::kBlockLength, std::to_string(arm.block));
    set(trace::kGridOrigin, std::to_string(arm.origin));
    if (arm.denoised != arm.block && arm.says) {
      set(trace::kDenoisedLength, std::to_string(arm.denoised));
      set(trace::kDenoisedOrigin, std::to_string(arm.denoised_origin));
    }
    set(trace::kMaskToken, std::to_string(kMaskId));
    set(trace::kFinalStep, std::to_string(S - 1));
    set(trace::kRegionNames, R"(["bos", "query", "document 1", "document 2", "document 3", "answer"])");
    set(trace::kGroupNames, R"(["bos", "query", "document 1", "document 2", "document 3", "answer, revealed",
                                "answer, masked"])");
    set(trace::kGoldRegions, R"(["document 2"])");
    set(trace::kTokenTexts, trace::format_text_list(texts));
    sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {T}, regions));
    sample.arrays.push_back(trace::byte_array(trace::kEvidence, {T}, evidence));
    sample.arrays.push_back(trace::byte_array(trace::kStepKinds, {S}, kinds));
    sample.arrays.push_back(trace::integer_array(trace::kRowsRun, {S, 2}, ran));
    sample.arrays.push_back(trace::integer_array(trace::kReveals, {std::ssize(reveals) / 3, 3}, reveals));
    sample.arrays.push_back(trace::integer_array(trace::kTokensByStep, {S, T}, rows));
    sample.arrays.push_back(trace::integer_array(trace::kRevealedAt, {T}, revealed));
    sample.arrays.push_back(trace::integer_array(trace::kGroupSizes, {S, kGroupCount}, sizes));
    sample.arrays.push_back(
        trace::float_array(trace::kReceived, {S, kBlockLayers, kGroupCount, kBlockHeads, T}, received));
  }
  return out;
}

}  // namespace buoy::testing
