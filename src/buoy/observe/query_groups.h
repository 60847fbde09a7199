#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace buoy::observe {

// The named parts of a row that keys are in: BOS, query, each document, answer, template; padding, which is
// what of the answer lies at or behind its end and is known at a forward (padded()).
struct Regions {
  std::vector<std::string> names;
  std::vector<std::uint8_t> of_token;  // [tokens], trace::kNoRegion for none
  std::vector<std::string> gold;       // those of `names` that hold the answer
  std::vector<std::uint8_t> evidence;  // [tokens], 1: part of the answer inside a gold document; may be empty
  // [tokens], 1: text of the template, inside documents too; may be empty.
  std::vector<std::uint8_t> template_text = {};
};

// What tells masked from revealed, prompt from answer.
struct RowState {
  std::span<const std::int32_t> tokens;
  std::int64_t prompt_length = 0;
  std::int32_t mask_token = -1;         // -1: none
  std::int64_t answer_end = INT64_MAX;  // see trace::answer_end()
  std::int64_t offset = 0;              // see trace::row_that_writes()
};

// The regions when the answer ends at `answer_end`: slots from there on are padding, if it is among the
// names.
Regions padded(Regions regions, std::int64_t prompt_length, std::int64_t answer_end);

// How the queries of a forward are put into groups by which received attention is split. By state and by
// region a query is of the answer, or of padding, if the token that it writes is.
class QueryGroups {
 public:
  // Prompt, answer already revealed, answer still masked, padding.
  static QueryGroups by_state();
  // Every region of the prompt, then the two states of the answer, padding. UsageError above
  // probe::kMostGroups.
  static QueryGroups by_region(const Regions& regions);
  // Positions with even and with odd numbers, for choosing keys on one half and measuring on the other.
  static QueryGroups by_parity();
  // "bos=0;question=1-20,25;rest=26-99": names and positions; what is not listed is in no group.
  static QueryGroups listed(const std::string& list);
  // "state", "regions", "parity" or a list: what a request means by `groups`.
  static QueryGroups parse(const std::string& option, const Regions& regions);

  const std::vector<std::string>& names() const { return names_; }
  std::int64_t count() const { return static_cast<std::int64_t>(names_.size()); }
  // The group of every position of a row, probe::kNoGroup for none.
  std::vector<std::uint8_t> assign(const RowState& row) const;

 private:
  enum class Kind { kState, kRegion, kParity, kListed };

  Kind kind_ = Kind::kState;
  std::vector<std::string> names_;
  std::vector<std::uint8_t> fixed_;  // kRegion: of prompt positions; kListed: of all listed positions
};

}  // namespace buoy::observe
