#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/retrieve/description.h"

namespace buoy::retrieve {

// A passage found.
struct Hit {
  std::string document;      // its id
  std::int64_t passage = 1;  // its number in the document, from 1
  std::string title, text;
  double score = 0;  // BM25; larger is better

  friend bool operator==(const Hit&, const Hit&) = default;
};

struct SearchOptions {
  double title_weight = 1, text_weight = 1;  // what an occurrence there counts
};

// Whether this build has SQLite. Without it open() and build_index() are refused with a UsageError.
bool can_index();

// Passages on the disk that can be searched (docs/retrieval.md). Read only; searches may run at the same
// time.
class Index {
 public:
  // IoError when the file cannot be read; InputError when it is no database, that of another program, an
  // index of another version of Buoy, or damaged.
  static Index open(const std::filesystem::path& path);
  ~Index();
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;

  // The best `top` passages for the words of the question, best first, ties in the order they were indexed. A
  // question without a word finds nothing.
  std::vector<Hit> search(std::string_view question, std::size_t top,
                          const SearchOptions& options = {}) const;

  const Description& description() const;
  // Equal for indexes that answer every question alike: same passages, same reading of words. 64 hex digits.
  std::string identity() const;

 private:
  class Impl;
  explicit Index(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace buoy::retrieve
