#include "buoy/questions/data/line_reader.h"

#include <fmt/format.h>

#include <array>

#include "buoy/base/error.h"
#include "buoy/questions/score/characters.h"

namespace buoy::questions {
LineReader::LineReader(const std::filesystem::path& path, std::size_t longest_line)
    : name_(path.string()), source_(path), longest_line_(longest_line) {}

std::string LineReader::where() const {
  return fmt::format("{}:{}", name_, number_);
}

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    auto line = next_line();
    if (!line) return std::nullopt;
    if (number_ == 1 && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
    if (line->ends_with('\r')) line->remove_suffix(1);
    if (line->find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

std::optional<std::string_view> LineReader::next_line() {
  ++number_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - begin_;
    if (length > longest_line_) {
      skip_line();
      throw_input_error({where(), fmt::format("a line of at most {} bytes", longest_line_), "a longer one"});
    }
    if (end != std::string::npos) {
      const auto line = std::string_view(buffer_).substr(begin_, length);
      begin_ = scanned_ = end + 1;
      return line;
    }
    scanned_ = buffer_.size();
    if (refill()) continue;
    if (length == 0) {
      --number_;
      return std::nullopt;
    }
    const auto line = std::string_view(buffer_).substr(begin_);
    begin_ = scanned_ = buffer_.size();
    return line;
  }
}

void LineReader::skip_line() {
  std::size_t end = buffer_.find('\n', begin_);
  while (end == std::string::npos) {
    begin_ = scanned_ = buffer_.size();  // nothing of it is kept
    if (!refill()) return;
    end = buffer_.find('\n');
  }
  begin_ = scanned_ = end + 1;
}

bool LineReader::refill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  std::array<char, std::size_t{1} << 16> chunk;
  const std::size_t got = source_.read(chunk, where());
  ended_ = got == 0;
  buffer_.append(chunk.data(), got);
  return !ended_;
}

}  // namespace buoy::questions
