#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Only the files that read TOML include this header, and through it toml++.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace buoy::study {

// What is wrong with a file: all of it, so that one run of the check of a study tells it. Every problem is
// one line that names file, line, key, expected and found.
using Problems = std::vector<std::string>;

// The file that tables are read from, and what was found wrong with it.
struct TomlSource {
  std::string file;
  Problems& problems;
};

// Whole numbers from `least` to `most`.
template <typename Integer>
struct Range {
  Integer least, most = std::numeric_limits<Integer>::max();
};

// One table of a TOML file whose keys are read by name and type. A key of another type or out of its range
// is a problem and counts as not given; what was not asked for until finish() is unknown and a problem too.
class CheckedTable {
 public:
  CheckedTable(const toml::table& table, const TomlSource& source, std::string name);

  std::optional<std::string> text(const std::string& key);
  // A number keeps its value or is refused: one that `Integer` cannot hold is out of range.
  template <typename Integer>
  std::optional<Integer> integer(const std::string& key, Range<Integer> range) {
    // TOML has no larger ones.
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const auto most = std::cmp_less(range.most, kMost) ? static_cast<std::int64_t>(range.most) : kMost;
    const auto* node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto found = whole_number(key, *node, {static_cast<std::int64_t>(range.least), most});
    return found ? std::optional<Integer>(static_cast<Integer>(*found)) : std::nullopt;
  }
  // A list, or one number.
  std::vector<std::int32_t> integers(const std::string& key, Range<std::int32_t> range);
  std::optional<double> number(const std::string& key);
  std::optional<bool> boolean(const std::string& key);
  std::vector<std::string> texts(const std::string& key);  // a list, or one text
  const toml::table* table(const std::string& key);
  std::vector<const toml::table*> tables(const std::string& key);
  std::string required_text(const std::string& key);  // "" when there is none
  std::vector<std::string> keys() const;

  void finish() const;

  void fail(const std::string& key, const std::string& expected, const std::string& found) const;
  const TomlSource& source() const { return source_; }

 private:
  std::optional<std::int64_t> whole_number(const std::string& key, const toml::node& node,
                                           Range<std::int64_t> range);
  const toml::node* find(const std::string& key);
  std::optional<std::string> without_nul(const std::string& key, const std::string& text) const;
  std::string where(const std::string& key) const;

  const toml::table* table_;
  TomlSource source_;
  std::string name_;
  std::vector<std::string> asked_;
};

}  // namespace buoy::study
