#include "buoy/study/read_models_toml.h"

#include <fmt/format.h>

#include <set>

namespace buoy::study {
namespace {

// The key of a decoding option, by the type of its field.
std::optional<bool> read_value(CheckedTable& table, const decode::DecodeOption& option, bool) {
  return table.boolean(std::string(option.key));
}
std::optional<double> read_value(CheckedTable& table, const decode::DecodeOption& option, double) {
  return table.number(std::string(option.key));
}
std::optional<std::string> read_value(CheckedTable& table, const decode::DecodeOption& option,
                                      const std::string&) {
  return table.text(std::string(option.key));
}
std::optional<std::vector<std::int32_t>> read_value(CheckedTable& table, const decode::DecodeOption& option,
                                                    const std::vector<std::int32_t>&) {
  const auto range = decode::whole_numbers<std::int32_t>(option.bounds);
  auto ids = table.integers(std::string(option.key), {range.least, range.most});
  return ids.empty() ? std::nullopt : std::optional(std::move(ids));
}
template <typename Integer>
std::optional<Integer> read_value(CheckedTable& table, const decode::DecodeOption& option, Integer) {
  const auto range = decode::whole_numbers<Integer>(option.bounds);
  return table.integer<Integer>(std::string(option.key), {range.least, range.most});
}
template <typename Value>
std::optional<Value> read_value(CheckedTable& table, const decode::DecodeOption& option,
                                const std::optional<Value>&) {
  return read_value(table, option, Value{});
}

// The networks of one name: one, or those of an arm.
void add_networks(CheckedTable& table, const std::string& key, const std::string& name,
                  const Decoding& decoding, bool is_list, std::vector<ModelEntry>& out) {
  if (!is_list) {
    const std::string path = table.required_text(key);
    if (!path.empty()) out.push_back({name, path, decoding});
    return;
  }
  const auto paths = table.texts(key);
  if (paths.empty()) table.fail(key, "at least one folder in the list", "none");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) table.fail(key, "folders in the list", "an empty text");
    if (!seen.insert(paths[i]).second)
      table.fail(key, "different networks in one arm", fmt::format("\"{}\" twice", paths[i]));
    out.push_back({fmt::format("{}.{}", name, i + 1), paths[i], decoding, name});
  }
}

constexpr double kMostGigabytes = 1e6;

std::optional<ExpectedModel> read_expected(CheckedTable& table, const TomlSource& source,
                                           const std::string& where) {
  const auto* expect = table.table("expect");
  if (expect == nullptr) return std::nullopt;
  CheckedTable inner(*expect, source, where + ".expect");
  ExpectedModel out;
  out.config = inner.required_text("config");
  out.gigabytes = inner.number("gigabytes");
  if (out.gigabytes && !(*out.gigabytes > 0 && *out.gigabytes <= kMostGigabytes))
    inner.fail("gigabytes", fmt::format("more than 0, at most {:g}", kMostGigabytes),
               fmt::format("{:g}", *out.gigabytes));
  inner.finish();
  return out;
}

}  // namespace

Decoding read_decoding(CheckedTable& table) {
  Decoding decoding;
  for (const auto& option : decode::kDecodeOptions) {
    std::visit(
        [&](const auto member) {
          const auto value = read_value(table, option, decoding.values.*member);
          if (!value) return;
          decoding.values.*member = *value;
          decoding.given.push_back(&option);
        },
        option.field);
  }
  return decoding;
}

std::vector<ModelEntry> read_models(const toml::table& models, const TomlSource& source) {
  CheckedTable list(models, source, "models");
  std::vector<ModelEntry> out;
  for (const auto& name : list.keys()) {
    if (name.empty()) list.fail("", "names for all models", "one without");
    const auto* node = models.get(name);
    if (node->is_string() || node->is_array()) {
      add_networks(list, name, name, {}, node->is_array(), out);
      continue;
    }
    const auto* own = list.table(name);
    if (own == nullptr) continue;
    CheckedTable table(*own, source, "models." + name);
    const auto decoding = read_decoding(table);
    const auto* path = own->get("path");
    const std::size_t first = out.size();
    add_networks(table, "path", name, decoding, path != nullptr && path->is_array(), out);
    const auto expected = read_expected(table, source, "models." + name);
    for (std::size_t i = first; i < out.size(); ++i) out[i].expected = expected;
    table.finish();
  }
  // TOML tables come sorted by name; the order of the file is the order of the study.
  const auto line = [&](const ModelEntry& entry) {
    return models.get(entry.arm.empty() ? entry.name : entry.arm)->source().begin.line;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const ModelEntry& a, const ModelEntry& b) { return line(a) < line(b); });
  return out;
}

}  // namespace buoy::study
