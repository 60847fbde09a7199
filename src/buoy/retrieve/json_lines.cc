#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <span>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/file/lfs_pointer.h"
#include "buoy/questions/data/line_reader.h"
#include "buoy/retrieve/document_reader.h"

namespace buoy::retrieve {
namespace {

using Candidates = std::span<const std::string_view>;

// Where a record has several, the first counts.
constexpr std::string_view kIds[] = {"id", "docid", "_id"};
constexpr std::string_view kTitles[] = {"title", "wikipedia_title"};
constexpr std::string_view kTexts[] = {"text", "contents", "segment", "passage"};

// The parser counts lines too, and to it every record is line 1.
Json parse_line(std::string_view line, const std::string& where) {
  try {
    return parse_json(line, where);
  } catch (const InputError& error) {
    std::string message = error.what();
    constexpr std::string_view kInner = "at line 1, column ";
    const std::size_t at = message.find(kInner);
    if (at != std::string::npos) message.replace(at, kInner.size(), "at column ");
    throw InputError(message);
  }
}

class Record {
 public:
  Record(std::string_view line, std::string where) : where_(std::move(where)) {
    if (is_lfs_pointer(line)) {
      throw_input_error({where_, "JSON Lines", "a Git LFS pointer in place of the data"});
    }
    json_ = parse_line(line, where_);
    if (!json_.is_object()) throw_input_error({where_, "a JSON object per line", describe_json(json_)});
  }

  std::string id() const {
    const auto [name, value] = find(kIds);
    if (value == nullptr) return where_;
    if (value->is_number_integer()) return value->dump();
    return text_in(name, *value);
  }

  std::string title() const {
    const auto [name, value] = find(kTitles);
    return value == nullptr ? "" : text_in(name, *value);
  }

  // A text, or a list of paragraphs as in KILT's Wikipedia.
  std::string text() const {
    const auto [name, value] = find(kTexts);
    if (value == nullptr) {
      throw_input_error(
          {where_, fmt::format("a text in one of the fields {}", fmt::join(kTexts, ", ")), "none of them"});
    }
    if (!value->is_array()) return text_in(name, *value);
    std::string joined;
    for (const Json& paragraph : *value) joined += text_in(name, paragraph) + "\n";
    return joined;
  }

 private:
  std::pair<std::string_view, const Json*> find(Candidates names) const {
    for (const std::string_view name : names) {
      const auto found = json_.find(name);
      if (found != json_.end() && !found->is_null()) return {name, &*found};
    }
    return {"", nullptr};
  }

  std::string text_in(std::string_view name, const Json& value) const {
    if (value.is_string()) return value.get<std::string>();
    throw_input_error({fmt::format("{}: {}", where_, name), "a text", describe_json(value)});
  }

  std::string where_;
  Json json_;
};

class JsonLines : public DocumentReader {
 public:
  explicit JsonLines(const SourceFile& file) : lines_(file.name) {}

  std::optional<Document> next() override {
    const auto line = lines_.next();
    if (!line) return std::nullopt;
    read_ += line->size() + 1;
    const Record record(*line, lines_.where());
    text_ = record.text();
    unread_ = true;
    return Document{record.id(), record.title()};
  }

  std::optional<std::string_view> next_text() override {
    if (!unread_) return std::nullopt;
    unread_ = false;
    return text_;
  }

  std::uint64_t text_bytes_read() const override { return read_; }

 private:
  questions::LineReader lines_;
  std::string text_;
  std::uint64_t read_ = 0;
  bool unread_ = false;
};

}  // namespace

std::unique_ptr<DocumentReader> open_json_lines(const SourceFile& file) {
  return std::make_unique<JsonLines>(file);
}

}  // namespace buoy::retrieve
