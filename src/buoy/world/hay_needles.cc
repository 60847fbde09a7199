// Facts about people of the world as needles, in passages about others or in sentences of a file.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/utf8.h"
#include "buoy/questions/data/evidence.h"
#include "buoy/world/hay.h"
#include "buoy/world/world.h"
#include "buoy/world/world_draws.h"
#include "buoy/world/world_request.h"
#include "buoy/world/world_text.h"

namespace buoy::world {
namespace {

constexpr std::uint32_t kEndlessPeople = std::uint32_t{1} << 31;  // unknown people are numbered below this
constexpr std::uint32_t kFillerPart = 0;
constexpr std::size_t kLongestSentence = 60;  // words

std::string line_of(const std::string& instruction) {
  return instruction.empty() ? "" : instruction + "\n\n";
}

class NeedleHay : public Hay {
 public:
  NeedleHay(questions::Item asked, std::string instruction) : instruction_(std::move(instruction)) {
    needles = std::move(asked.passages);
    asked.passages.clear();
    asked.prompt.reset();
    item = std::move(asked);
  }

  std::string head() const override { return line_of(instruction_); }

 protected:
  bool holds_answer(const std::string& text) const {
    return !questions::find_evidence(text, item.answers).empty();
  }

 private:
  std::string instruction_;
};

// The prompt that the bundled networks were trained with; filler is about other people.
class PassageHay final : public NeedleHay {
 public:
  PassageHay(questions::Item asked, const HaystackRequest& request, std::uint32_t number)
      : NeedleHay(std::move(asked), request.instruction),
        world_({.version = request.version}),
        draws_(request.seed, WorldStream::kHaystack, number, kFillerPart) {}

  std::string lead(std::size_t number) const override {
    return fmt::format("{}Passage {}: ", number == 0 ? "" : "\n", number + 1);
  }
  std::string tail() const override { return fmt::format("\nQuestion: {}\nAnswer:", item.question); }

 private:
  // Somebody who shares no name with those asked about, and whose passage does not hold the answer.
  std::string next_filler() override {
    for (;;) {
      const Person person = world_.unknown(draws_.below(kEndlessPeople));
      std::string text = write_biography(person, {}, draws_);
      const auto& names = world_tables();
      const bool clash = std::any_of(needles.begin(), needles.end(), [&](const questions::Passage& needle) {
        return needle.text.find(names.first_names[person.first]) != std::string::npos ||
               needle.text.find(names.family_names[person.family]) != std::string::npos;
      });
      if (!clash && !holds_answer(text)) return text;
    }
  }

  World world_;
  WorldDraws draws_;
};

class SentenceHay final : public NeedleHay {
 public:
  SentenceHay(questions::Item asked, const HaystackRequest& request, std::uint32_t number,
              const std::vector<std::string>& sentences)
      : NeedleHay(std::move(asked), request.instruction) {
    for (const auto& sentence : sentences) {
      if (!holds_answer(sentence)) sentences_.push_back(sentence);
    }
    if (sentences_.empty())
      throw_input_error({field_name("filler"), "a sentence that holds no answer", "none"});
    WorldDraws draws(request.seed, WorldStream::kHaystack, number, kFillerPart);
    next_ = draws.below(static_cast<std::uint32_t>(sentences_.size()));
  }

  std::string lead(std::size_t number) const override { return number == 0 ? "" : " "; }
  std::string tail() const override { return fmt::format("\n\nQuestion: {}\nAnswer:", item.question); }
  bool cuts_words() const override { return true; }

 private:
  // A text that is too short begins again.
  std::string next_filler() override { return sentences_[next_++ % sentences_.size()]; }

  std::vector<std::string> sentences_;
  std::size_t next_ = 0;
};

bool is_white(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool ends_sentence(const std::string& word) {
  const std::size_t last = word.find_last_not_of("\"')]");
  return last != std::string::npos && (word[last] == '.' || word[last] == '!' || word[last] == '?');
}

}  // namespace

std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> out;
  std::string sentence, word;
  std::size_t words = 0;
  const auto end_word = [&] {
    if (word.empty()) return;
    sentence += (sentence.empty() ? "" : " ") + word;
    if (ends_sentence(word) || ++words == kLongestSentence) {
      out.push_back(std::exchange(sentence, ""));
      words = 0;
    }
    word.clear();
  };
  for (const char c : text) {
    if (is_white(c)) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  if (!sentence.empty()) out.push_back(sentence);
  return out;
}

std::vector<std::unique_ptr<Hay>> make_hays(const HaystackRequest& request) {
  WorldRequest asking{.version = request.version,
                      .count = request.per_cell,
                      .passages = request.needles,
                      .seed = request.seed};
  const bool two_hop = request.needles == 2;
  if (request.version == 1) {
    asking.two_hop = two_hop;
  } else {
    if (two_hop) asking.task = "two-hop";
    asking.label_style = "passage";
    asking.wording = "question";
  }
  std::vector<std::string> sentences;
  if (request.filler) {
    const std::size_t valid = first_invalid_utf8(*request.filler);
    if (valid < request.filler->size())
      throw_input_error(
          {field_name("filler"), "well-formed UTF-8", fmt::format("a stray byte at offset {}", valid)});
    sentences = sentences_of(*request.filler);
    if (sentences.empty()) throw_input_error({field_name("filler"), "text", "nothing but white space"});
  }
  std::vector<std::unique_ptr<Hay>> out;
  for (auto& item : make_questions(asking)) {
    const auto number = static_cast<std::uint32_t>(out.size());
    if (request.filler) {
      out.push_back(std::make_unique<SentenceHay>(std::move(item), request, number, sentences));
    } else {
      out.push_back(std::make_unique<PassageHay>(std::move(item), request, number));
    }
  }
  return out;
}

}  // namespace buoy::world
