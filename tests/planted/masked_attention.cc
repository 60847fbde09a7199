#include "planted/masked_attention.h"

#include <numeric>
#include <stdexcept>

#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

constexpr std::int32_t kMask = 99, kEnd = 7;

struct Forwards {
  std::int64_t steps, all;  // without and with the look at the finished row
};

// Regions, query groups and arrays of one sample.
class SampleMaker {
 public:
  SampleMaker(const MaskedAttention& given, std::int64_t number)
      : given_(given), number_(number), tokens_(given.tokens()), prompt_(given.prompt()) {
    for (const auto& [name, length] : given.pieces) {
      size_t region = 0;
      while (region < regions_.size() && regions_[region] != name) ++region;
      if (region == regions_.size()) regions_.push_back(name);
      region_of_token_.insert(region_of_token_.end(), static_cast<size_t>(length),
                              static_cast<std::uint8_t>(region));
    }
    answer_ = static_cast<std::int64_t>(regions_.size()) - 1;
    regions_.emplace_back("padding");
    for (std::int64_t p = end(); p < tokens_; ++p)
      region_of_token_[static_cast<size_t>(p)] = static_cast<std::uint8_t>(answer_ + 1);
    groups_.assign(regions_.begin(), regions_.begin() + answer_);
    groups_.insert(groups_.end(), {"answer, revealed", "answer, masked", "padding"});
    const std::int64_t steps = given.arm.masked_diffusion ? given.steps : 1;
    forwards_ = {steps, steps + (given.arm.masked_diffusion ? 1 : 0)};
    for (std::int64_t p = prompt_; p < tokens_; ++p) {
      const std::int64_t row = p - given.arm.offset;
      if (row >= 0) rows_.push_back(static_cast<std::int32_t>(row));
    }
  }

  void add_to(SyntheticTrace& trace) {
    SyntheticTrace::Row row;
    row.prompt_length = prompt_;
    row.steps = forwards_.all;
    for (std::int64_t i = 0; i < tokens_; ++i)
      row.tokens.push_back(i >= end() ? kEnd : static_cast<std::int32_t>(100 + i % 800));
    trace::Sample& sample = trace.add(row);
    put_texts(sample);
    put_states(sample, row.tokens);
    put_attention(sample);
  }

 private:
  std::int64_t end() const { return tokens_ - given_.padding; }

  // The step at which a position is revealed; -1 for the prompt.
  std::int32_t revealed_at(std::int64_t position) const {
    if (position < prompt_) return -1;
    return static_cast<std::int32_t>((position - prompt_) * forwards_.steps / (tokens_ - prompt_));
  }
  bool masked(std::int64_t forward, std::int64_t position) const {
    return given_.arm.masked_diffusion && position >= prompt_ && revealed_at(position) >= forward;
  }
  // Where padding begins, as far as a forward can know.
  std::int64_t known_end(std::int64_t forward) const {
    std::int64_t at = end();
    while (at < tokens_ && masked(forward, at)) ++at;
    return at;
  }

  std::int64_t group_of(std::int64_t forward, std::int64_t row) const {
    const std::int64_t written = row + given_.arm.offset;
    if (written < prompt_) return region_of_token_[static_cast<size_t>(row)];
    if (written >= known_end(forward)) return answer_ + 2;
    return answer_ + (masked(forward, written) ? 1 : 0);
  }

  void put_texts(trace::Sample& sample) const {
    const auto set = [&](std::string_view key, std::string value) {
      sample.metadata[std::string(key)] = std::move(value);
    };
    set(trace::kAttention, given_.arm.attention);
    set(trace::kPredictionOffset, std::to_string(given_.arm.offset));
    if (given_.arm.masked_diffusion) {
      set(trace::kMaskToken, std::to_string(kMask));
      set(trace::kFinalStep, std::to_string(forwards_.steps));
    }
    set(trace::kRegionNames, trace::format_text_list(regions_));
    set(trace::kGroupNames, trace::format_text_list(groups_));
    if (!given_.gold.empty())
      set(trace::kGoldRegions, trace::format_text_list(std::vector<std::string>{given_.gold}));
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < tokens_; ++i)
      texts.push_back(i >= end() ? "<|end|>" : given_.text ? given_.text(i) : " word");
    set(trace::kTokenTexts, trace::format_text_list(texts));
  }

  void put_states(trace::Sample& sample, const std::vector<std::int32_t>& tokens) const {
    std::vector<std::uint8_t> evidence, ends;
    std::vector<std::int32_t> revealed, rows;
    for (std::int64_t i = 0; i < tokens_; ++i) {
      evidence.push_back(regions_[region_of_token_[static_cast<size_t>(i)]] == given_.gold ? 1 : 0);
      ends.push_back(i >= end() ? 1 : 0);
      revealed.push_back(revealed_at(i));
    }
    for (std::int64_t s = 0; s < forwards_.all; ++s) {
      for (std::int64_t i = 0; i < tokens_; ++i)
        rows.push_back(masked(s, i) ? kMask : tokens[static_cast<size_t>(i)]);
    }
    const auto put = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
    put(trace::byte_array(trace::kRegionOfToken, {tokens_}, region_of_token_));
    put(trace::byte_array(trace::kEvidence, {tokens_}, evidence));
    put(trace::byte_array(trace::kEnds, {tokens_}, ends));
    put(trace::byte_array(trace::kSpecial, {tokens_}, ends));
    put(trace::integer_array(trace::kRevealedAt, {tokens_}, revealed));
    put(trace::integer_array(trace::kTokensByStep, {forwards_.all, tokens_}, rows));
    put(trace::integer_array(trace::kRowPositions, {std::ssize(rows_)}, rows_));
  }

  void put_attention(trace::Sample& sample) const {
    const std::int64_t S = forwards_.all, L = given_.layers, H = given_.heads, G = std::ssize(groups_),
                       R = std::ssize(regions_), P = std::ssize(rows_);
    std::vector<std::int32_t> sizes(static_cast<size_t>(S * G), 0);
    std::vector<double> received(static_cast<size_t>(S * L * G * H * tokens_), 0.0);
    std::vector<float> row_mass(static_cast<size_t>(S * L * P * H * R), 0.0F);
    for (std::int64_t s = 0; s < S; ++s) {
      for (std::int64_t i = 0; i < tokens_; ++i) {
        const std::int64_t group = group_of(s, i);
        ++sizes[static_cast<size_t>(s * G + group)];
        const std::int64_t at = i - rows_.front();
        for (std::int64_t l = 0; l < L; ++l) {
          for (std::int64_t h = 0; h < H; ++h) {
            const auto row = given_.row({number_, s, l, h, i, s == forwards_.all - 1});
            double* sum = &received[static_cast<size_t>((((s * L + l) * G + group) * H + h) * tokens_)];
            for (size_t j = 0; j < row.size(); ++j) sum[j] += row[j];
            if (at < 0 || at >= P) continue;
            float* mass = &row_mass[static_cast<size_t>((((s * L + l) * P + at) * H + h) * R)];
            for (size_t j = 0; j < row.size(); ++j) {
              const auto position = static_cast<std::int64_t>(j);
              const std::int64_t region =
                  position >= prompt_ && position < known_end(s) ? answer_ : region_of_token_[j];
              mass[region] += static_cast<float>(row[j]);
            }
          }
        }
      }
    }
    const auto put = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
    put(trace::integer_array(trace::kGroupSizes, {S, G}, sizes));
    put(trace::float_array(trace::kReceived, {S, L, G, H, tokens_},
                           std::vector<float>(received.begin(), received.end())));
    put(trace::float_array(trace::kRowMass, {S, L, P, H, R}, row_mass));
  }

  const MaskedAttention& given_;
  std::int64_t number_, tokens_, prompt_, answer_ = 0;
  std::vector<std::string> regions_, groups_;
  std::vector<std::uint8_t> region_of_token_;
  std::vector<std::int32_t> rows_;
  Forwards forwards_{};
};

}  // namespace

std::int64_t Arm::keys_of(std::int64_t query, std::int64_t prompt, std::int64_t tokens) const {
  const std::string mask = attention;
  if (mask == "bidirectional") return tokens;
  return mask == "prefix" && query < prompt ? prompt : query + 1;
}

std::int64_t MaskedAttention::tokens() const {
  return std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& piece) { return sum + piece.second; });
}

std::int64_t MaskedAttention::prompt() const {
  return tokens() - pieces.back().second;
}

std::pair<std::int64_t, std::int64_t> MaskedAttention::span_of(const std::string& region) const {
  std::int64_t begin = 0;
  for (const auto& [name, length] : pieces) {
    if (name == region) return {begin, begin + length};
    begin += length;
  }
  throw std::runtime_error("no region " + region);
}

SyntheticTrace MaskedAttention::trace() const {
  SyntheticTrace trace({layers, heads, 4});
  for (std::int64_t n = 0; n < samples; ++n) SampleMaker(*this, n).add_to(trace);
  return trace;
}

std::vector<double> MaskedAttention::row(const AttentionRow& at) const {
  std::vector<double> row(static_cast<size_t>(arm.keys_of(at.query, prompt(), tokens())), 0.0);
  weights(at, row);
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= sum;
  return row;
}

void lift_keys(const Lifted& lifted, std::span<double> weights) {
  const auto is = [](const std::function<bool(std::int64_t)>& set, size_t j) {
    return set && set(static_cast<std::int64_t>(j));
  };
  double chosen = 0, kept = 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    chosen += is(lifted.chosen, j);
    kept += !is(lifted.chosen, j) && is(lifted.kept, j);
  }
  const double keys = static_cast<double>(weights.size()), others = keys - chosen - kept;
  const double rest = 1 - (lifted.lift * chosen + kept) / keys;
  const bool room = others > 0 && rest > 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    weights[j] = !room                  ? 1 / keys
                 : is(lifted.chosen, j) ? lifted.lift / keys
                 : is(lifted.kept, j)   ? 1 / keys
                                        : rest / others;
  }
}

}  // namespace buoy::testing
