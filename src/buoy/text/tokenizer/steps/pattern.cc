#define PCRE2_CODE_UNIT_WIDTH 8
#include "buoy/text/tokenizer/steps/pattern.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/text/code_points.h"
#include "buoy/text/tokenizer/steps/split_pattern.h"

namespace buoy::text {
namespace {

// A pattern that backtracks without end must fail, a long run of spaces must not.
constexpr std::uint64_t kStepsPerMatch = 100'000;
constexpr std::uint64_t kStepsPerByte = 16;
constexpr std::uint32_t kHeapKib = 512 * 1024;

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>>;

std::string message(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

}  // namespace

struct Pattern::Compiled {
  Code code;
  std::string where;
};

Pattern Pattern::expression(std::string_view pattern, const std::string& where) {
  const std::string rewritten = pattern_for_pcre2(pattern, where);
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(units(rewritten), rewritten.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset,
                          context.get()));
  if (!code) {
    throw_input_error(
        {where, "a pattern PCRE2 compiles", fmt::format("\"{}\": {}", pattern, message(error))});
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without it, matching is slower but the same
  Pattern result;
  result.compiled_.reset(new Compiled{std::move(code), where});
  return result;
}

Pattern Pattern::literal(std::string text) {
  BUOY_CHECK(!text.empty());
  Pattern result;
  result.literal_ = std::move(text);
  return result;
}

std::vector<ByteSpan> Pattern::find_literal(std::string_view text) const {
  std::vector<ByteSpan> found;
  for (size_t at = text.find(literal_); at != std::string_view::npos;
       at = text.find(literal_, at + literal_.size())) {
    found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + literal_.size())});
  }
  return found;
}

std::vector<ByteSpan> Pattern::find_all(std::string_view text) const {
  if (!compiled_) return find_literal(text);
  const MatchData data(pcre2_match_data_create(1, nullptr));
  const MatchContext context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw std::bad_alloc();
  const std::uint64_t steps = kStepsPerMatch + kStepsPerByte * text.size();
  pcre2_set_match_limit(context.get(), static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                           steps, std::numeric_limits<std::uint32_t>::max())));
  pcre2_set_heap_limit(context.get(), kHeapKib);

  std::vector<ByteSpan> found;
  for (size_t from = 0; from < text.size();) {
    const auto match = [&](std::uint32_t options) {
      return pcre2_match(compiled_->code.get(), units(text), text.size(), from, PCRE2_NO_UTF_CHECK | options,
                         data.get(), context.get());
    };
    int result = match(0);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) {
      throw_input_error({compiled_->where, "a pattern that matches in reasonable time and memory",
                         fmt::format("at byte {} of the text: {}", from, message(result))});
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    const ByteSpan span{static_cast<std::uint32_t>(ends[0]), static_cast<std::uint32_t>(ends[1])};
    const bool empty = span.begin == span.end;
    if (!empty || found.empty() || found.back().end != span.begin) found.push_back(span);
    from = !empty                   ? span.end
           : span.end < text.size() ? span.end + code_point_at(text, span.end).length
                                    : text.size();
  }
  return found;
}

}  // namespace buoy::text
