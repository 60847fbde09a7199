#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "buoy/questions/data/field_names.h"
#include "buoy/questions/data/item_ids.h"
#include "buoy/questions/data/line_reader.h"
#include "buoy/questions/item.h"

namespace buoy::questions {

struct ReadOptions {
  FieldNames fields = {};                                       // those left empty are detected
  bool require_answers = true;                                  // false: for tracing; see RecordRules
  bool require_passages = false;                                // an item without any is an error
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // items
  std::size_t longest_line = LineReader::kLongestLine;          // bytes
};

// The items of a JSON Lines file, plain or gzip, one at a time in the order of the file.
class ItemReader {
 public:
  explicit ItemReader(const std::filesystem::path& path, ReadOptions options = {});

  // Nothing at the end. InputErrors name file and line; after one about a single line, the next call goes on
  // behind it. A file without any item is an error at its end.
  std::optional<Item> next();

  const FieldNames& fields() const { return detector_.names(); }
  Layout layout() const { return layout_of(fields()); }
  const ItemIds& ids() const { return ids_; }
  bool compressed() const { return lines_.compressed(); }

 private:
  std::string name_;
  ReadOptions options_;
  LineReader lines_;
  FieldDetector detector_;
  ItemIds ids_;
  std::size_t items_ = 0;
};

std::vector<Item> read_items(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace buoy::questions
