#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::retrieve {

struct PassageOptions {
  std::size_t words = 100;  // about so many per passage; a word is what stands between white space
  std::size_t overlap = 0;  // words a passage repeats from the end of the one before
};

// UsageError for fewer than 10 words or an overlap of more than half a passage.
void check(const PassageOptions& options);

// Cuts text that arrives in pieces into passages. With N words asked for, a text of at most 5N/4 words stays
// whole; a longer one is cut at the sentence end nearest to N between 3N/4 and 5N/4 words, and behind word N
// where there is none. The last passage of a text that was cut has at least N/4 words of its own. Passages
// are verbatim pieces of the text; without overlap they hold every word exactly once. Memory is that of about
// two passages.
class PassageSplitter {
 public:
  using Sink = std::function<void(std::string_view passage)>;

  PassageSplitter(const PassageOptions& options, Sink sink);

  void add(std::string_view text);  // UTF-8; a piece may end anywhere
  void finish();                    // the text has ended; the splitter is ready for another

 private:
  struct Word {
    std::size_t begin, end;  // in buffer_
    bool ends_sentence;
  };

  void scan(std::size_t at);
  void begin_word(std::size_t at);
  void end_word(std::size_t at);
  std::size_t best_cut(std::size_t words) const;
  void cut(std::size_t words);  // of which so many are whole
  void emit(std::size_t words);

  PassageOptions options_;
  Sink sink_;
  std::string buffer_;
  std::vector<Word> words_;  // the last one is still growing while in_word_
  bool in_word_ = false;
  std::size_t line_ends_ = 0;  // since the last word
};

}  // namespace buoy::retrieve
