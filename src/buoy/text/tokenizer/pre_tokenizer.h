#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::text {

// Cuts text into the pieces that are encoded on their own: the matches of the file's pattern and the gaps
// between them.
class PreTokenizer {
 public:
  // `where` names file and field in errors.
  PreTokenizer(std::string_view pattern, const std::string& where);

  // Ends of the pieces, increasing, the last one being text.size(). The text must be well-formed UTF-8 of
  // less than 4 GiB.
  std::vector<std::uint32_t> piece_ends(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace buoy::text
