#define PCRE2_CODE_UNIT_WIDTH 8
#include "buoy/text/tokenizer/pre_tokenizer.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/text/code_points.h"
#include "buoy/text/tokenizer/split_pattern.h"

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

struct PreTokenizer::Compiled {
  Code code;
  std::string where;
};

PreTokenizer::PreTokenizer(std::string_view pattern, const std::string& where) {
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
  compiled_.reset(new Compiled{std::move(code), where});
}

std::vector<std::uint32_t> PreTokenizer::piece_ends(std::string_view text) const {
  const MatchData data(pcre2_match_data_create(1, nullptr));
  const MatchContext context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw std::bad_alloc();
  const std::uint64_t steps = kStepsPerMatch + kStepsPerByte * text.size();
  pcre2_set_match_limit(context.get(), static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                           steps, std::numeric_limits<std::uint32_t>::max())));
  pcre2_set_heap_limit(context.get(), kHeapKib);

  std::vector<std::uint32_t> ends;
  size_t done = 0;  // end of the last piece
  const auto close_piece = [&](size_t end) {
    if (end > done) ends.push_back(static_cast<std::uint32_t>(end));
    done = end;
  };
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
    const PCRE2_SIZE* found = pcre2_get_ovector_pointer(data.get());
    close_piece(found[0]);
    close_piece(found[1]);
    const bool empty = found[0] == found[1];
    from = !empty                   ? found[1]
           : found[1] < text.size() ? found[1] + code_point_at(text, found[1]).length
                                    : text.size();
  }
  close_piece(text.size());
  return ends;
}

}  // namespace buoy::text
