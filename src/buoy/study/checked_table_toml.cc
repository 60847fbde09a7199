#include "buoy/study/checked_table_toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/nearest.h"

namespace buoy::study {
namespace {

std::string describe(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("text \"{}\"", text->get());
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* list = node.as_array()) return fmt::format("a list of {}", list->size());
  return node.is_table() ? "a table" : "a date or time";
}

}  // namespace

CheckedTable::CheckedTable(const toml::table& table, const TomlSource& source, std::string name)
    : table_(&table), source_(source), name_(std::move(name)) {}

std::string CheckedTable::where(const std::string& key) const {
  const toml::node* node = table_->get(key);
  const auto line = node != nullptr ? node->source().begin.line : table_->source().begin.line;
  const std::string path = name_.empty() ? key : key.empty() ? name_ : name_ + "." + key;
  return fmt::format("{}:{}: {}", source_.file, line, path);
}

void CheckedTable::fail(const std::string& key, const std::string& expected, const std::string& found) const {
  source_.problems.push_back(describe(Mismatch{where(key), expected, found}));
}

const toml::node* CheckedTable::find(const std::string& key) {
  asked_.push_back(key);
  return table_->get(key);
}

std::optional<std::string> CheckedTable::without_nul(const std::string& key, const std::string& text) const {
  if (text.find('\0') == std::string::npos) return text;
  fail(key, "text without NUL, which would cut a path", "one");
  return std::nullopt;
}

std::optional<std::string> CheckedTable::text(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_string()) return without_nul(key, node->as_string()->get());
  fail(key, "text", describe(*node));
  return std::nullopt;
}

std::optional<std::int64_t> CheckedTable::whole_number(const std::string& key, const toml::node& node,
                                                       Range<std::int64_t> range) {
  if (!node.is_integer() || node.as_integer()->get() < range.least) {
    fail(key, fmt::format("a whole number, {} or more", range.least), describe(node));
  } else if (node.as_integer()->get() > range.most) {
    fail(key, fmt::format("a whole number, at most {}", range.most), describe(node));
  } else {
    return node.as_integer()->get();
  }
  return std::nullopt;
}

std::vector<std::int32_t> CheckedTable::integers(const std::string& key, Range<std::int32_t> range) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  std::vector<std::int32_t> out;
  const auto add = [&](const toml::node& element) {
    if (const auto number = whole_number(key, element, {range.least, range.most}))
      out.push_back(static_cast<std::int32_t>(*number));
  };
  if (const auto* list = node->as_array()) {
    for (const auto& element : *list) add(element);
  } else {
    add(*node);
  }
  return out;
}

std::optional<double> CheckedTable::number(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_integer()) return static_cast<double>(node->as_integer()->get());
  if (node->is_floating_point() && std::isfinite(node->as_floating_point()->get()))
    return node->as_floating_point()->get();
  fail(key, "a number", describe(*node));
  return std::nullopt;
}

std::optional<bool> CheckedTable::boolean(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_boolean()) return node->as_boolean()->get();
  fail(key, "true or false", describe(*node));
  return std::nullopt;
}

std::vector<std::string> CheckedTable::texts(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  std::vector<std::string> out;
  const auto add = [&](const toml::node& element, const char* expected) {
    if (!element.is_string()) return fail(key, expected, describe(element));
    if (auto text = without_nul(key, element.as_string()->get())) out.push_back(std::move(*text));
  };
  if (const auto* list = node->as_array()) {
    for (const auto& element : *list) add(element, "texts in the list");
  } else {
    add(*node, "text or a list of texts");
  }
  return out;
}

const toml::table* CheckedTable::table(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
  fail(key, "a table", describe(*node));
  return nullptr;
}

std::vector<const toml::table*> CheckedTable::tables(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  std::vector<const toml::table*> out;
  const std::string expected = fmt::format("tables, as in [[{}]]", key);
  const auto* list = node->as_array();
  if (list == nullptr) {
    fail(key, expected, describe(*node));
    return out;
  }
  for (const auto& element : *list) {
    if (element.is_table()) {
      out.push_back(element.as_table());
    } else {
      fail(key, expected, describe(element));
    }
  }
  return out;
}

std::string CheckedTable::required_text(const std::string& key) {
  const bool there = table_->get(key) != nullptr;
  const auto found = text(key);
  if (!there) fail("", fmt::format("the key \"{}\"", key), "none");
  if (found && found->empty()) fail(key, "some text", "none");
  return found.value_or("");
}

std::vector<std::string> CheckedTable::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : *table_) out.emplace_back(key.str());
  return out;
}

void CheckedTable::finish() const {
  for (const auto& key : keys()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string near = nearest(key, asked_);
    fail(key, near.empty() ? fmt::format("one of {}", fmt::join(asked_, ", ")) : fmt::format("\"{}\"?", near),
         "an unknown key");
  }
}

}  // namespace buoy::study
