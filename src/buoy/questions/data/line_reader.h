#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "buoy/questions/data/byte_source.h"

namespace buoy::questions {

// The lines of a text file, plain or gzip. Memory is that of the longest line, not of the file.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;  // the authors' lines have 0.2 MB

  explicit LineReader(const std::filesystem::path& path, std::size_t longest_line = kLongestLine);

  // The next line that is not blank, without its end (LF or CRLF) and, at the very beginning, without a byte
  // order mark; nothing at the end. The view holds until the next call. InputError for a line that is too
  // long (the next call goes on behind it) and for a damaged gzip stream.
  std::optional<std::string_view> next();

  std::size_t line_number() const { return number_; }  // of the line last returned, from 1
  std::string where() const;                           // "data.jsonl:12"
  bool compressed() const { return source_.compressed(); }

 private:
  std::optional<std::string_view> next_line();
  void skip_line();
  bool refill();

  std::string name_;
  ByteSource source_;
  std::size_t longest_line_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the next line in buffer_
  std::size_t scanned_ = 0;  // no line end between begin_ and here
  std::size_t number_ = 0;
  bool ended_ = false;
};

}  // namespace buoy::questions
