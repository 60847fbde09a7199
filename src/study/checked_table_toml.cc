#include "study/checked_table_toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"

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

CheckedTable::CheckedTable(const toml::table& table, std::string file, std::string name)
    : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

std::string CheckedTable::where(const std::string& key) const {
  const toml::node* node = table_->get(key);
  const auto line = node != nullptr ? node->source().begin.line : table_->source().begin.line;
  const std::string path = name_.empty() ? key : key.empty() ? name_ : name_ + "." + key;
  return fmt::format("{}:{}: {}", file_, line, path);
}

void CheckedTable::fail(const std::string& key, const std::string& expected, const std::string& found) const {
  throw_input_error({where(key), expected, found});
}

const toml::node* CheckedTable::find(const std::string& key) {
  asked_.push_back(key);
  return table_->get(key);
}

const std::string& CheckedTable::without_nul(const std::string& key, const std::string& text) const {
  if (text.find('\0') != std::string::npos) fail(key, "text without NUL, which would cut a path", "one");
  return text;
}

std::optional<std::string> CheckedTable::text(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) fail(key, "text", describe(*node));
  return without_nul(key, node->as_string()->get());
}

std::optional<std::int64_t> CheckedTable::integer(const std::string& key, std::int64_t least) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_integer() || node->as_integer()->get() < least)
    fail(key, fmt::format("a whole number, {} or more", least), describe(*node));
  return node->as_integer()->get();
}

std::optional<double> CheckedTable::number(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_integer()) return static_cast<double>(node->as_integer()->get());
  if (!node->is_floating_point() || !std::isfinite(node->as_floating_point()->get()))
    fail(key, "a number", describe(*node));
  return node->as_floating_point()->get();
}

std::optional<bool> CheckedTable::boolean(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) fail(key, "true or false", describe(*node));
  return node->as_boolean()->get();
}

std::vector<std::string> CheckedTable::texts(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  if (const auto* one = node->as_string()) return {without_nul(key, one->get())};
  std::vector<std::string> out;
  const auto* list = node->as_array();
  if (list == nullptr) fail(key, "text or a list of texts", describe(*node));
  for (const auto& element : *list) {
    if (!element.is_string()) fail(key, "texts in the list", describe(element));
    out.push_back(without_nul(key, element.as_string()->get()));
  }
  return out;
}

const toml::table* CheckedTable::table(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) fail(key, "a table", describe(*node));
  return node->as_table();
}

std::vector<const toml::table*> CheckedTable::tables(const std::string& key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  std::vector<const toml::table*> out;
  const auto* list = node->as_array();
  if (list == nullptr) fail(key, fmt::format("tables, as in [[{}]]", key), describe(*node));
  for (const auto& element : *list) {
    if (!element.is_table()) fail(key, fmt::format("tables, as in [[{}]]", key), describe(element));
    out.push_back(element.as_table());
  }
  return out;
}

std::string CheckedTable::required_text(const std::string& key) {
  const auto found = text(key);
  if (!found) throw_input_error({where(""), fmt::format("the key \"{}\"", key), "none"});
  return *found;
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
