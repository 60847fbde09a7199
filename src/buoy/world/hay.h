#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "buoy/world/haystack.h"

namespace buoy::world {

// One question with its needles, endless filler to hide them in, and the text around both.
class Hay {
 public:
  virtual ~Hay() = default;

  // The question, its answers and labels; the texts of `needles` become its gold passages.
  questions::Item item;
  std::vector<questions::Passage> needles;

  // Piece `number` of the filler. What is asked for once stays as it is.
  const std::string& filler(std::size_t number) {
    while (filler_.size() <= number) filler_.push_back(next_filler());
    return filler_[number];
  }

  virtual std::string head() const = 0;                    // before the first piece
  virtual std::string lead(std::size_t number) const = 0;  // before piece `number`, filler or needle
  virtual std::string tail() const = 0;                    // behind the last piece
  virtual bool cuts_words() const { return false; }        // the last piece may end behind any of its words

 private:
  virtual std::string next_filler() = 0;
  std::deque<std::string> filler_;  // pieces stay where they are
};

// Of every question of a request.
std::vector<std::unique_ptr<Hay>> make_hays(const HaystackRequest& request);
std::vector<std::unique_ptr<Hay>> make_pair_hays(const HaystackRequest& request);

// The sentences of a text, white space made even; those of more than 60 words in pieces.
std::vector<std::string> sentences_of(const std::string& text);

}  // namespace buoy::world
