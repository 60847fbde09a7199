#include "buoy/analysis/core/state_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "buoy/base/error.h"
#include "buoy/base/sha256.h"

namespace buoy::analysis {
namespace {

// Rises when any analysis keeps something else.
constexpr std::uint8_t kVersion = 4;
constexpr std::size_t kSumBytes = 8;
constexpr std::size_t kHeaderBytes = 1 + kSumBytes;

constexpr double kMostCount = 1LL << 53;
constexpr std::uint64_t kMeasuredInteger = 1;  // most are small, or come in runs

// How a vector is written.
enum Form : std::uint8_t { kEach, kRuns };

std::string sum_of(std::span<const std::uint8_t> fields) {
  return sha256_hex(std::as_bytes(fields)).substr(0, 2 * kSumBytes);
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

std::size_t bytes_of(std::uint64_t number) {
  return static_cast<std::size_t>((std::bit_width(number | 1) + 6) / 7);
}

// Calls take(value, length) for every run of equal bits.
template <typename Number, typename Take>
void for_each_run(const std::vector<Number>& values, const Take& take) {
  for (std::size_t begin = 0, end; begin < values.size(); begin = end) {
    end = begin + 1;
    while (end < values.size() && std::memcmp(&values[begin], &values[end], sizeof(Number)) == 0) ++end;
    take(values[begin], end - begin);
  }
}

}  // namespace

StateArchive::StateArchive(std::span<const std::uint8_t> bytes, std::string where)
    : reads_(true), where_(std::move(where)) {
  if (bytes.size() < kHeaderBytes)
    refuse(fmt::format("at least {} bytes", kHeaderBytes), fmt::format("{}", bytes.size()));
  if (bytes[0] != kVersion)
    refuse(fmt::format("a state of version {}", kVersion),
           fmt::format("version {} (its Buoy reads it; or run again)", bytes[0]));
  rest_ = bytes.subspan(kHeaderBytes);
  std::string stored;
  for (const auto byte : bytes.subspan(1, kSumBytes)) stored += fmt::format("{:02x}", byte);
  if (const auto found = sum_of(rest_); found != stored)
    refuse(fmt::format("fields with the sum {}", stored), found + " (the state was changed)");
}

StateArchive StateArchive::measuring() {
  StateArchive archive;
  archive.reads_ = archive.measures_ = true;
  archive.measured_ = kHeaderBytes;
  return archive;
}

void StateArchive::refuse(const std::string& expected, const std::string& found) const {
  throw_input_error({where_, expected, found});
}

std::vector<std::uint8_t> StateArchive::sealed(std::span<const std::uint8_t> fields) {
  std::vector<std::uint8_t> out = {kVersion};
  const std::string sum = sum_of(fields);
  for (std::size_t i = 0; i < sum.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoi(sum.substr(i, 2), nullptr, 16)));
  out.insert(out.end(), fields.begin(), fields.end());
  return out;
}

std::vector<std::uint8_t> StateArchive::bytes() const {
  BUOY_CHECK(!reads_);
  return sealed(fields_);
}

void StateArchive::end() const {
  if (!rest_.empty()) refuse("no more fields", fmt::format("{} bytes behind them", rest_.size()));
}

void StateArchive::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) fields_.push_back(static_cast<std::uint8_t>(number | 0x80));
  fields_.push_back(static_cast<std::uint8_t>(number));
}

std::uint64_t StateArchive::get() {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    std::uint8_t byte = 0;
    get_raw(&byte, 1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  refuse("a number of at most 64 bits", "a longer one");
}

void StateArchive::put_raw(const void* from, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  fields_.insert(fields_.end(), bytes, bytes + size);
}

void StateArchive::get_raw(void* to, std::size_t size) {
  if (measures_) {
    measured_ += size;
    return;
  }
  if (rest_.size() < size) refuse("more fields", "the end of the state");
  std::memcpy(to, rest_.data(), size);
  rest_ = rest_.subspan(size);
}

void StateArchive::flag(bool& value) {
  std::int64_t number = value ? 1 : 0;
  this->number(number, 0, 1);
  value = number != 0;
}

void StateArchive::number(double& value) {
  reads_ ? get_raw(&value, sizeof(value)) : put_raw(&value, sizeof(value));
}

void StateArchive::last_number_if_there(double& value) {
  if (reads_ && !measures_ && rest_.empty()) return;
  number(value);
}

void StateArchive::number(std::int64_t& value, std::int64_t least, std::int64_t most) {
  if (!reads_) return put(zigzag(value));
  if (measures_) {
    measured_ += kMeasuredInteger;
    value = std::clamp(value, least, most);
    return;
  }
  value = unzigzag(get());
  if (value < least || value > most)
    refuse(fmt::format("a number from {} to {}", least, most), fmt::format("{}", value));
}

template <typename Number>
void StateArchive::raw_numbers(std::vector<Number>& values) {
  if (!reads_) {
    std::size_t in_runs = 0;
    for_each_run(values, [&](Number, std::size_t length) { in_runs += sizeof(Number) + bytes_of(length); });
    const Form form = in_runs < values.size() * sizeof(Number) ? kRuns : kEach;
    put(form);
    if (form == kEach) return put_raw(values.data(), values.size() * sizeof(Number));
    for_each_run(values, [&](Number value, std::size_t length) {
      put(length);
      put_raw(&value, sizeof(value));
    });
    return;
  }
  if (measures_) {
    measured_ += 1 + values.size() * sizeof(Number);
    return;
  }
  const std::uint64_t form = get();
  if (form == kEach) {
    if (!values.empty()) get_raw(values.data(), values.size() * sizeof(Number));
    return;
  }
  if (form != kRuns) refuse("numbers or runs of them", fmt::format("form {}", form));
  for (std::size_t at = 0; at < values.size();) {
    const std::uint64_t length = get();
    if (length < 1 || length > values.size() - at)
      refuse(fmt::format("a run of at most {}", values.size() - at), fmt::format("{}", length));
    Number value{};
    get_raw(&value, sizeof(value));
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at), length, value);
    at += length;
  }
}

void StateArchive::numbers(std::vector<double>& values) {
  raw_numbers(values);
}

void StateArchive::numbers(std::vector<float>& values) {
  raw_numbers(values);
}

void StateArchive::singles(std::vector<double>& values) {
  std::vector<float> narrow(values.begin(), values.end());
  raw_numbers(narrow);
  if (reads_) std::copy(narrow.begin(), narrow.end(), values.begin());
}

void StateArchive::counts(std::vector<double>& values) {
  std::vector<std::int64_t> whole(values.size());
  if (!reads_) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      BUOY_CHECK(values[i] >= 0 && values[i] <= kMostCount && values[i] == std::floor(values[i]));
      whole[i] = static_cast<std::int64_t>(values[i]);
    }
  }
  wide_integers(whole, 0, static_cast<std::int64_t>(kMostCount));
  if (reads_) std::copy(whole.begin(), whole.end(), values.begin());
}

void StateArchive::wide_integers(std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) {
  if (!reads_) {
    std::size_t each = 0, in_runs = 0;
    for (const auto value : values) each += bytes_of(zigzag(value));
    for_each_run(values, [&](std::int64_t value, std::size_t length) {
      in_runs += bytes_of(zigzag(value)) + bytes_of(length);
    });
    const Form form = in_runs < each ? kRuns : kEach;
    put(form);
    if (form == kEach) {
      for (const auto value : values) put(zigzag(value));
    } else {
      for_each_run(values, [&](std::int64_t value, std::size_t length) {
        put(length);
        put(zigzag(value));
      });
    }
    return;
  }
  if (measures_) {
    measured_ += 1 + values.size() * kMeasuredInteger;
    return;
  }
  const std::uint64_t form = get();
  if (form != kEach && form != kRuns) refuse("integers or runs of them", fmt::format("form {}", form));
  for (std::size_t at = 0; at < values.size();) {
    const std::uint64_t length = form == kRuns ? get() : 1;
    if (length < 1 || length > values.size() - at)
      refuse(fmt::format("a run of at most {}", values.size() - at), fmt::format("{}", length));
    std::int64_t value = 0;
    number(value, least, most);
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at), length, value);
    at += length;
  }
}

}  // namespace buoy::analysis
