#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace buoy::app {

// What the words of an option must be before they become a value.
struct ValueCheck {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool more_than_least = false;    // the least value itself is refused
  std::vector<std::string> words;  // not empty: one of these
};

// Reads one word of the command line. Numbers are read whole, keep their width and are finite. Returns "", or
// what was expected instead.
std::string read_value(const std::string& word, const ValueCheck& check, std::string& value);
std::string read_value(const std::string& word, const ValueCheck& check, std::filesystem::path& value);
std::string read_value(const std::string& word, const ValueCheck& check, double& value);
std::string read_value(const std::string& word, const ValueCheck& check, std::int32_t& value);
std::string read_value(const std::string& word, const ValueCheck& check, std::int64_t& value);
std::string read_value(const std::string& word, const ValueCheck& check, std::uint32_t& value);
std::string read_value(const std::string& word, const ValueCheck& check, std::uint64_t& value);

template <typename Value>
std::string read_value(const std::string& word, const ValueCheck& check, std::optional<Value>& value) {
  return read_value(word, check, value.emplace());
}

template <typename Value>
std::string read_value(const std::string& word, const ValueCheck& check, std::vector<Value>& values) {
  return read_value(word, check, values.emplace_back());
}

// Before the first word: values that were there by default make room for those that are given.
template <typename Value>
void forget_default(Value&) {}
template <typename Value>
void forget_default(std::vector<Value>& values) {
  values.clear();
}

// Whether an option takes one word or many, and what help calls a word.
template <typename Value>
struct ValueKind {
  static constexpr bool kMany = false;
  static constexpr const char* kName = "N";
};
template <>
struct ValueKind<std::string> {
  static constexpr bool kMany = false;
  static constexpr const char* kName = "TEXT";
};
template <>
struct ValueKind<std::filesystem::path> {
  static constexpr bool kMany = false;
  static constexpr const char* kName = "PATH";
};
template <>
struct ValueKind<double> {
  static constexpr bool kMany = false;
  static constexpr const char* kName = "X";
};
template <typename Value>
struct ValueKind<std::optional<Value>> : ValueKind<Value> {};
template <typename Value>
struct ValueKind<std::vector<Value>> {
  static constexpr bool kMany = true;
  static constexpr const char* kName = ValueKind<Value>::kName;
};

}  // namespace buoy::app
