#pragma once

#include <algorithm>
#include <cstdint>

namespace buoy::trace {

inline constexpr const char* kAnswerName = "answer";              // region of the generated slots
inline constexpr const char* kPaddingName = "padding";            // region and query group: see answer_end()
inline constexpr const char* kRevealedName = "answer, revealed";  // query groups of the answer
inline constexpr const char* kMaskedName = "answer, masked";

// Where the answer of a row ends and padding begins: at the first revealed end token behind the prompt, which
// is padding itself, as is all behind it, masked or not. The length of the row when it holds none.
template <typename IsEnd>
std::int64_t answer_end(std::int64_t prompt_length, std::int64_t tokens, const IsEnd& is_end) {
  std::int64_t at = prompt_length;
  while (at < tokens && !is_end(at)) ++at;
  return at;
}

// The query row that writes (predicts) the token at a position. `offset` is the model's: 0 for LLaDA, 1 for
// autoregressive models and Dream. The first token of an empty prompt has no row of its own.
constexpr std::int64_t row_that_writes(std::int64_t position, std::int64_t offset) {
  return std::max<std::int64_t>(0, position - offset);
}

enum class RowKind { kPrompt, kAnswer, kPadding };

// The parts of a row at one forward.
struct AnswerSpan {
  std::int64_t prompt_length, end, tokens;  // the answer is [prompt_length, end)
  std::int64_t offset;                      // see row_that_writes()
};

// What a query row is for: it goes by the token it writes. The last row of a shifted model writes nothing
// that was kept and counts as padding.
constexpr RowKind kind_of_row(std::int64_t row, const AnswerSpan& span) {
  const std::int64_t written = row + span.offset;
  if (span.prompt_length == span.tokens || written < span.prompt_length) return RowKind::kPrompt;
  return written < std::min(span.end, span.tokens) ? RowKind::kAnswer : RowKind::kPadding;
}

}  // namespace buoy::trace
