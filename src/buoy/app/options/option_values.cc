#include "buoy/app/options/option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace buoy::app {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

std::string expected_number(const std::string& kind, const ValueCheck& check, bool whole, double least) {
  const double from = std::max(whole && check.more_than_least ? check.least + 1 : check.least, least);
  if (!std::isinf(check.most)) return fmt::format("{} from {} to {}", kind, from, check.most);
  if (std::isinf(from)) return kind;
  return fmt::format("{}, {} {}", kind, check.more_than_least && !whole ? "more than" : "at least", from);
}

bool inside(const ValueCheck& check, double value) {
  return (check.more_than_least ? value > check.least : value >= check.least) && value <= check.most;
}

template <typename Integer>
std::string read_integer(const std::string& word, const ValueCheck& check, Integer& value) {
  const char* end = word.data() + word.size();
  const auto [stopped, failure] = std::from_chars(word.data(), end, value);
  if (failure == std::errc() && stopped == end && inside(check, static_cast<double>(value))) return {};
  if (failure == std::errc::result_out_of_range)
    return fmt::format("a whole number from {} to {}", std::numeric_limits<Integer>::min(),
                       std::numeric_limits<Integer>::max());
  constexpr bool kSigned = std::numeric_limits<Integer>::is_signed;
  return expected_number("a whole number", check, true, kSigned ? -kAny : 0);
}

}  // namespace

std::string read_value(const std::string& word, const ValueCheck& check, std::string& value) {
  value = word;
  if (check.words.empty() || std::find(check.words.begin(), check.words.end(), word) != check.words.end())
    return {};
  return fmt::format("one of {}", fmt::join(check.words, ", "));
}

std::string read_value(const std::string& word, const ValueCheck&, std::filesystem::path& value) {
  value = word;
  return {};
}

std::string read_value(const std::string& word, const ValueCheck& check, double& value) {
  const char* end = word.data() + word.size();
  const auto [stopped, failure] = std::from_chars(word.data(), end, value);
  if (failure == std::errc() && stopped == end && std::isfinite(value) && inside(check, value)) return {};
  return expected_number("a finite number", check, false, -kAny);
}

std::string read_value(const std::string& word, const ValueCheck& check, std::int32_t& value) {
  return read_integer(word, check, value);
}

std::string read_value(const std::string& word, const ValueCheck& check, std::int64_t& value) {
  return read_integer(word, check, value);
}

std::string read_value(const std::string& word, const ValueCheck& check, std::uint32_t& value) {
  return read_integer(word, check, value);
}

std::string read_value(const std::string& word, const ValueCheck& check, std::uint64_t& value) {
  return read_integer(word, check, value);
}

}  // namespace buoy::app
