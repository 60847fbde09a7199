#include "buoy/retrieve/passage_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/retrieve/sentence_end.h"

namespace buoy::retrieve {
namespace {

constexpr std::size_t kFewestWords = 10;
constexpr std::size_t kMostWords = 100'000;
constexpr std::size_t kPiece = 4096;       // bytes taken up at a time, so that the buffer stays small
constexpr std::size_t kLongestWord = 512;  // bytes; text without white space is cut into words of this size

bool is_white(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

void check(const PassageOptions& options) {
  if (options.words < kFewestWords || options.words > kMostWords) {
    throw_usage_error({"words of a passage", fmt::format("{} to {}", kFewestWords, kMostWords),
                       std::to_string(options.words)});
  }
  if (options.overlap > options.words / 2) {
    throw_usage_error({"overlap of passages",
                       fmt::format("at most {}, half of their {} words", options.words / 2, options.words),
                       std::to_string(options.overlap)});
  }
}

PassageSplitter::PassageSplitter(const PassageOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)) {
  check(options);
}

void PassageSplitter::add(std::string_view text) {
  while (!text.empty()) {
    const auto piece = text.substr(0, kPiece);
    text.remove_prefix(piece.size());
    const std::size_t at = buffer_.size();
    buffer_ += piece;
    scan(at);
    if (words_.empty()) buffer_.clear();
    // Behind the scan, whose offsets a cut would move. Half a passage and more stays for the next one.
    for (;;) {
      const std::size_t whole = words_.size() - (in_word_ ? 1 : 0);
      if (whole * 4 <= options_.words * 7) break;
      cut(whole);
    }
  }
}

void PassageSplitter::finish() {
  if (in_word_) end_word(buffer_.size());
  while (words_.size() * 4 > options_.words * 5) cut(words_.size());
  if (!words_.empty()) emit(words_.size());
  buffer_.clear();
  words_.clear();
  line_ends_ = 0;
}

void PassageSplitter::scan(std::size_t at) {
  for (; at < buffer_.size(); ++at) {
    const char c = buffer_[at];
    if (is_white(c)) {
      if (in_word_) end_word(at);
      if (c == '\n') ++line_ends_;
      continue;
    }
    if (in_word_ && at - words_.back().begin >= kLongestWord && !continues_character(c)) end_word(at);
    if (!in_word_) begin_word(at);
  }
}

void PassageSplitter::begin_word(std::size_t at) {
  if (!words_.empty()) {
    Word& last = words_.back();
    const auto text = std::string_view(buffer_).substr(last.begin, last.end - last.begin);
    last.ends_sentence = line_ends_ > 1 || ends_sentence(text, buffer_[at]);
  }
  words_.push_back({at, at, false});
  in_word_ = true;
  line_ends_ = 0;
}

void PassageSplitter::end_word(std::size_t at) {
  words_.back().end = at;
  in_word_ = false;
}

std::size_t PassageSplitter::best_cut(std::size_t words) const {
  const std::size_t wanted = options_.words;
  const std::size_t shortest = (wanted * 3 + 3) / 4;
  const std::size_t longest = std::min(wanted * 5 / 4, words - wanted / 4);
  std::size_t best = 0;
  const auto distance = [&](std::size_t count) { return count > wanted ? count - wanted : wanted - count; };
  for (std::size_t count = shortest; count <= longest; ++count) {
    if (words_[count - 1].ends_sentence && (best == 0 || distance(count) < distance(best))) best = count;
  }
  return best != 0 ? best : wanted;
}

void PassageSplitter::cut(std::size_t words) {
  const std::size_t count = best_cut(words);
  emit(count);
  const std::size_t dropped = count - options_.overlap;
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(dropped));
  const std::size_t shift = words_.front().begin;
  buffer_.erase(0, shift);
  for (Word& word : words_) word.begin -= shift, word.end -= shift;
}

void PassageSplitter::emit(std::size_t words) {
  const std::size_t begin = words_.front().begin;
  sink_(std::string_view(buffer_).substr(begin, words_[words - 1].end - begin));
}

}  // namespace buoy::retrieve
