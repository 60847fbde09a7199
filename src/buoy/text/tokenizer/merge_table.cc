#include "buoy/text/tokenizer/merge_table.h"

#include <fmt/format.h>

#include <bit>

#include "buoy/base/error.h"

namespace buoy::text {

MergeTable::MergeTable(size_t expected_merges) : slots_(std::bit_ceil(2 * expected_merges + 2)) {
  shift_ = 64 - std::countr_zero(slots_.size());
}

void MergeTable::add(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
                     const std::string& file) {
  const auto fail = [&](const std::string& expected, const std::string& found) {
    throw_input_error({fmt::format("{}: merge {} (\"{} {}\")", file, size_, left, right), expected, found});
  };
  const auto known = [&](std::string_view spelling) {
    const std::int32_t id = vocabulary.find_spelling(spelling);
    if (id < 0) fail("tokens of the vocabulary", fmt::format("\"{}\", which is not in it", spelling));
    return id;
  };
  BUOY_CHECK(2 * (size_ + 1) <= slots_.size());
  const std::int32_t left_id = known(left);
  const std::int32_t right_id = known(right);
  const std::int32_t result = known(std::string(left).append(right));
  const std::uint64_t key = pair_key(left_id, right_id);
  size_t slot = first_slot(key);
  for (; slots_[slot].key != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].key == key)
      fail("each merge once", fmt::format("the same as merge {}", slots_[slot].merge.rank));
  }
  slots_[slot] = {key, {static_cast<std::uint32_t>(size_), result}};
  ++size_;
}

}  // namespace buoy::text
