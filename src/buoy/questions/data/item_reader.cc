#include "buoy/questions/data/item_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/lfs_pointer.h"
#include "buoy/questions/data/record.h"

namespace buoy::questions {
namespace {

// The parser counts lines too, and to it every record is line 1.
std::string without_inner_line(std::string message) {
  constexpr std::string_view kInner = "at line 1, column ";
  const std::size_t at = message.find(kInner);
  if (at != std::string::npos) message.replace(at, kInner.size(), "at column ");
  return message;
}

Json parse_line(std::string_view line, const std::string& where) {
  if (is_lfs_pointer(line)) {
    throw_input_error({where, "JSON Lines", "a Git LFS pointer in place of the data"});
  }
  if (line.starts_with('[')) {
    throw_input_error({where, "one JSON object per line", "a JSON list"});
  }
  try {
    return parse_json(line, where);
  } catch (const InputError& error) {
    throw InputError(without_inner_line(error.what()));
  }
}

}  // namespace

ItemReader::ItemReader(const std::filesystem::path& path, ReadOptions options)
    : name_(path.string()),
      options_(std::move(options)),
      lines_(path, options_.longest_line),
      detector_(options_.fields) {}

std::optional<Item> ItemReader::next() {
  if (items_ >= options_.limit) return std::nullopt;
  const auto line = lines_.next();
  if (!line) {
    if (items_ == 0) throw_input_error({name_, "at least one question", "none"});
    return std::nullopt;
  }
  ++items_;
  const std::string where = lines_.where();
  const Json record = parse_line(*line, where);
  if (record.is_object()) detector_.look_at(record);
  Item item = item_from_record(record, {detector_.names(), options_.require_answers}, where);
  if (options_.require_passages && item.passages.empty()) {
    const std::string& field = fields().passages;
    throw_input_error(
        {fmt::format("{}: {}", where, field.empty() ? "passages" : field), "at least one passage", "none"});
  }
  item.id = ids_.assign(item.id);
  return item;
}

std::vector<Item> read_items(const std::filesystem::path& path, const ReadOptions& options) {
  ItemReader reader(path, options);
  std::vector<Item> items;
  while (auto item = reader.next()) items.push_back(*std::move(item));
  return items;
}

}  // namespace buoy::questions
