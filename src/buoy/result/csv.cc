#include "buoy/result/csv.h"

#include <fmt/format.h>

#include "buoy/base/error.h"

namespace buoy {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<CsvRecord> parse() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      if (skip_line_end()) continue;
      CsvRecord record{line_, {}};
      record.cells.push_back(cell());
      while (take(',')) record.cells.push_back(cell());
      if (at_ < text_.size() && !skip_line_end()) fail("a comma or the end of the line behind a quoted cell");
      if (!records.empty() && records[0].cells.size() != record.cells.size())
        throw_input_error({fmt::format("{}:{}", name_, record.line),
                           fmt::format("{} cells, as in the first line", records[0].cells.size()),
                           fmt::to_string(record.cells.size())});
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    const std::string found = at_ < text_.size() ? fmt::format("\"{}\"", text_.substr(at_, 1)) : "the end";
    throw_input_error({fmt::format("{}:{}", name_, line_), expected, found});
  }

  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool skip_line_end() {
    const std::size_t length = text_.substr(at_).starts_with("\r\n") ? 2
                               : text_.substr(at_, 1) == "\n"        ? 1
                                                                     : 0;
    at_ += length;
    line_ += length > 0 ? 1 : 0;
    return length > 0;
  }

  std::string cell() {
    if (take('"')) return quoted();
    const std::size_t end = text_.find_first_of(",\"\n", at_);
    std::string out(text_.substr(at_, end == std::string_view::npos ? end : end - at_));
    at_ += out.size();
    if (at_ < text_.size() && text_[at_] == '"') fail("no quote inside a cell without quotes");
    if (out.ends_with('\r')) {
      out.pop_back();
      --at_;
    }
    return out;
  }

  std::string quoted() {
    std::string out;
    while (true) {
      if (at_ >= text_.size()) fail("a quote at the end of the cell");
      if (take('"')) {
        if (!take('"')) return out;
        out += '"';
        continue;
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      out += text_[at_++];
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

std::vector<CsvRecord> parse_csv(std::string_view text, const std::string& name) {
  return CsvParser(text, name).parse();
}

}  // namespace buoy
