#include "buoy/figure/chart/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "buoy/base/error.h"

namespace buoy::figure {
namespace {

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

std::string superscript(int number) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) text += kDigits[static_cast<size_t>(digit - '0')];
  return text;
}

int decimals_of(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
}

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-12));
}

// Numbers of one axis look alike: equal decimals, and one power of ten where they are tiny or huge.
std::string format_multiple(double value, double step, double largest) {
  if (value == 0) return "0";
  if (largest < 1e5 && step > 0.9e-4)
    return with_minus_sign(fmt::format("{:.{}f}", value, decimals_of(step)));
  const int exponent = exponent_of(largest);
  const double unit = std::pow(10.0, exponent);
  const auto digits = fmt::format("{:.{}f}", value / unit, decimals_of(step / unit));
  return with_minus_sign(digits) + "×10" + superscript(exponent);
}

double next_step(double step) {
  const double unit = std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  const double lead = step / unit;
  return unit * (lead < 1.5 ? 2 : lead < 3 ? 5 : 10);
}

std::vector<Tick> plain_log_ticks(const Range& range, int most) {
  std::vector<Tick> ticks;
  for (int exponent = exponent_of(range.low) - 1; exponent <= exponent_of(range.high); ++exponent) {
    for (const double lead : {1.0, 2.0, 5.0}) {
      const double value = lead * std::pow(10.0, exponent);
      if (value < range.low * (1 - 1e-9) || value > range.high * (1 + 1e-9)) continue;
      ticks.push_back({value, short_number(value)});
    }
  }
  if (ticks.size() < 2 || static_cast<int>(ticks.size()) > most) return linear_ticks(range, most);
  return ticks;
}

}  // namespace

std::vector<Tick> linear_ticks(const Range& range, int most, TickStep kind) {
  BUOY_CHECK(most >= 1 && std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high);
  const double span = range.high - range.low;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  // Equal as far as can be told; steps of less than 1e-290 would come near the end of the numbers.
  if (!(span > largest * 1e-12) || span < 1e-290) return {{range.low, short_number(range.low)}};
  double step = std::pow(10.0, std::floor(std::log10(span / most)));
  if (kind == TickStep::kWhole) step = std::max(step, 1.0);
  double first = 0, last = 0;
  for (;; step = next_step(step)) {
    first = std::ceil(range.low / step - 1e-9);
    last = std::floor(range.high / step + 1e-9);
    if (last - first + 1 <= most) break;
  }
  std::vector<Tick> ticks;
  for (double i = first; i <= last; ++i) {
    const double value = i == 0 ? 0 : i * step;
    ticks.push_back({value, format_multiple(value, step, largest)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(const Range& range, int most) {
  BUOY_CHECK(most >= 1 && range.low > 0 && std::isfinite(range.high) && range.low <= range.high);
  const int first = static_cast<int>(std::ceil(std::log10(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(range.high) + 1e-9));
  if (last - first < 1) return plain_log_ticks(range, most);
  const int stride = (last - first + most) / most;
  const bool plain = first >= -2 && last <= 3;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    // Multiples of the stride, so that 10⁰ stays when others go.
    if (exponent % stride != 0) continue;
    const double value = std::pow(10.0, exponent);
    ticks.push_back({value, plain ? fmt::format("{:g}", value) : "10" + superscript(exponent)});
  }
  return ticks;
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (std::isnan(value)) return "no data";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (std::abs(value) < 1e5 && std::abs(value) >= 0.995e-3) {
    const int decimals = std::clamp(2 - exponent_of(value), 0, 5);
    auto text = fmt::format("{:.{}f}", value, decimals);
    if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return with_minus_sign(text);
  }
  int exponent = exponent_of(value);
  auto digits = fmt::format("{:.3g}", value / std::pow(10.0, exponent));
  if (digits == "10" || digits == "-10") {  // rounded up to the next power
    digits.pop_back();
    ++exponent;
  }
  if (digits == "1" || digits == "-1") return (value < 0 ? "−10" : "10") + superscript(exponent);
  return with_minus_sign(digits) + "×10" + superscript(exponent);
}

}  // namespace buoy::figure
