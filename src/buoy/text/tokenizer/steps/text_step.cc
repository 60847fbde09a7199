#include "buoy/text/tokenizer/steps/text_step.h"

#include "buoy/text/code_points.h"
#include "buoy/text/tokenizer/steps/nfc.h"

namespace buoy::text {
namespace {

std::uint32_t to_offset(size_t value) {
  return static_cast<std::uint32_t>(value);
}

std::optional<RewrittenText> prepend(const PrependText& step, std::string_view piece, bool at_text_begin) {
  using When = PrependText::When;
  if (step.when != When::kAlways && piece.starts_with(step.text)) return std::nullopt;
  if (step.when == When::kUnlessThereAtTextBegin && !at_text_begin) return std::nullopt;
  RewrittenText result{step.text, {}};
  result.text += piece;
  const std::uint32_t first = to_offset(code_point_at(piece, 0).length);
  result.alignment.add({{0, to_offset(step.text.size()) + first}, {0, first}});
  return result;
}

std::optional<RewrittenText> replace(const ReplaceText& step, std::string_view piece) {
  size_t at = piece.find(step.from);
  if (at == std::string_view::npos) return std::nullopt;
  RewrittenText result;
  size_t copied = 0;
  for (; at != std::string_view::npos; at = piece.find(step.from, copied)) {
    result.text += piece.substr(copied, at - copied);
    copied = at + step.from.size();
    const std::uint32_t to = to_offset(result.text.size());
    result.text += step.to;
    result.alignment.add({{to, to_offset(result.text.size())}, {to_offset(at), to_offset(copied)}});
  }
  result.text += piece.substr(copied);
  return result;
}

}  // namespace

std::optional<RewrittenText> rewrite(const TextStep& step, std::string_view piece, bool at_text_begin) {
  if (std::holds_alternative<NormalFormC>(step)) return to_nfc(piece);
  if (const auto* prepended = std::get_if<PrependText>(&step))
    return prepend(*prepended, piece, at_text_begin);
  if (const auto* replaced = std::get_if<ReplaceText>(&step)) return replace(*replaced, piece);
  return std::nullopt;
}

}  // namespace buoy::text
