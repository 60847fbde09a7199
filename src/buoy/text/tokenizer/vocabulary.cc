#include "buoy/text/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <bit>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/byte_alphabet.h"

namespace buoy::text {

Vocabulary::Vocabulary(const std::vector<std::string>& spellings, const std::string& file, Alphabet alphabet)
    : alphabet_(alphabet) {
  entries_.resize(spellings.size());
  slots_.assign(std::bit_ceil(2 * spellings.size() + 1), -1);
  for (size_t i = 0; i < spellings.size(); ++i) {
    if (spellings[i].empty()) continue;
    const auto id = static_cast<std::int32_t>(i);
    const auto bytes =
        alphabet == Alphabet::kBytes ? bytes_of_spelling(spellings[i]) : std::optional(spellings[i]);
    const std::string& held = bytes ? *bytes : spellings[i];
    entries_[i] = {arena_.size(), held.size()};
    arena_ += held;
    const bool is_new = bytes ? insert(id) : outside_alphabet_.emplace(held, id).second;
    if (!is_new) {
      throw_input_error({fmt::format("{}: vocabulary", file), "each token once",
                         fmt::format("token \"{}\" a second time, with id {}", spellings[i], id)});
    }
  }
  find_byte_tokens(file);
}

void Vocabulary::find_byte_tokens(const std::string& file) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_ids_[byte] =
        alphabet_ == Alphabet::kBytes ? find_bytes({&c, 1}) : find_bytes(fmt::format("<0x{:02X}>", byte));
    if (byte_ids_[byte] < 0 && alphabet_ == Alphabet::kBytes) {
      throw_input_error({fmt::format("{}: vocabulary", file), "a token for each of the 256 bytes",
                         fmt::format("none for byte {} (\"{}\")", byte, spell_bytes({&c, 1}))});
    }
  }
}

size_t Vocabulary::first_slot(std::string_view bytes) const {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return (hash ^ hash >> 32) & (slots_.size() - 1);
}

bool Vocabulary::insert(std::int32_t id) {
  size_t slot = first_slot(bytes(id));
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (bytes(slots_[slot]) == bytes(id)) return false;
  }
  slots_[slot] = id;
  return true;
}

std::int32_t Vocabulary::find_bytes(std::string_view wanted) const {
  for (size_t slot = first_slot(wanted); slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (bytes(slots_[slot]) == wanted) return slots_[slot];
  }
  return -1;
}

std::int32_t Vocabulary::find_spelling(std::string_view spelling) const {
  if (alphabet_ == Alphabet::kCharacters) return find_bytes(spelling);
  if (const auto bytes = bytes_of_spelling(spelling)) return find_bytes(*bytes);
  const auto found = outside_alphabet_.find(std::string(spelling));
  return found == outside_alphabet_.end() ? -1 : found->second;
}

}  // namespace buoy::text
