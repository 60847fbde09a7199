#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/questions/data/byte_source.h"
#include "buoy/retrieve/document_reader.h"

namespace buoy::retrieve {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestCharacter = 4;

std::string name_without_endings(const std::string& name) {
  std::filesystem::path path(name);
  if (path.extension() == ".gz") path = path.stem();
  return path.stem().string();
}

// The first line that begins with one "#", or "".
std::string first_heading(std::string_view text) {
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with("# ")) continue;
    line.remove_prefix(2);
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    return std::string(line.substr(begin, line.find_last_not_of(" \t\r#") + 1 - begin));
  }
  return "";
}

class TextFile : public DocumentReader {
 public:
  explicit TextFile(const SourceFile& file) : file_(file), source_(file.name) {}

  std::optional<Document> next() override {
    if (std::exchange(begun_, true)) return std::nullopt;
    read_piece();
    if (piece_.starts_with(kByteOrderMark)) piece_.erase(0, kByteOrderMark.size());
    first_ = true;
    std::string title = file_.kind == SourceKind::kMarkdown ? first_heading(piece_) : "";
    if (title.empty()) title = name_without_endings(file_.name);
    return Document{file_.name, std::move(title)};
  }

  std::optional<std::string_view> next_text() override {
    if (!std::exchange(first_, false)) read_piece();
    if (piece_.empty()) return std::nullopt;
    return piece_;
  }

  std::uint64_t text_bytes_read() const override { return read_; }

 private:
  // The next piece of whole characters: one that is cut by the end of the bytes at hand waits in cut_.
  void read_piece() {
    piece_ = std::exchange(cut_, "");
    const std::uint64_t begin = read_ - piece_.size();
    std::array<char, std::size_t{1} << 16> chunk;
    const std::size_t got = source_.read(chunk, file_.name);
    read_ += got;
    piece_.append(chunk.data(), got);
    std::size_t valid = first_invalid_utf8(piece_);
    valid = std::min(valid, piece_.find('\0'));
    if (valid == piece_.size()) return;
    const bool may_go_on = got > 0 && piece_.size() - valid < kLongestCharacter && piece_[valid] != '\0';
    if (!may_go_on) {
      throw_input_error({fmt::format("{}: byte {}", file_.name, begin + valid), "text in UTF-8",
                         fmt::format("0x{:02x}", static_cast<unsigned char>(piece_[valid]))});
    }
    cut_ = piece_.substr(valid);
    piece_.resize(valid);
    if (valid == 0) read_piece();
  }

  SourceFile file_;
  questions::ByteSource source_;
  std::string piece_, cut_;
  std::uint64_t read_ = 0;
  bool begun_ = false, first_ = false;
};

}  // namespace

std::unique_ptr<DocumentReader> open_text_file(const SourceFile& file) {
  return std::make_unique<TextFile>(file);
}

}  // namespace buoy::retrieve
