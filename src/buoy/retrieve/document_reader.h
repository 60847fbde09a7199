#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "buoy/retrieve/source_files.h"

namespace buoy::retrieve {

struct Document {
  std::string id;     // the record's, or else "file.jsonl:12"; of a text file its name
  std::string title;  // the record's; of Markdown the first heading; of a text file its name without folders
};

// The documents of one file, one after another, each as pieces of UTF-8 text. A text file of any size passes
// through in small pieces; of JSON Lines one line is held. InputError, with the line or byte, for what is no
// text.
class DocumentReader {
 public:
  static std::unique_ptr<DocumentReader> open(const SourceFile& file);
  virtual ~DocumentReader() = default;

  virtual std::optional<Document> next() = 0;
  // The next piece of the document last returned; nothing at its end. Holds until the next call.
  virtual std::optional<std::string_view> next_text() = 0;
  virtual std::uint64_t text_bytes_read() const = 0;
};

std::unique_ptr<DocumentReader> open_text_file(const SourceFile& file);
std::unique_ptr<DocumentReader> open_json_lines(const SourceFile& file);

}  // namespace buoy::retrieve
