#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace buoy::text {

// What the smallest tokens are: bytes, spelled as printable characters (byte-level models), or characters,
// spelled as themselves (models made with SentencePiece).
enum class Alphabet { kBytes, kCharacters };

// The base tokens, held as the bytes they stand for; those over characters as they are spelled.
class Vocabulary {
 public:
  // spellings[id] as in the file; an empty one marks an id that belongs to an added token. Every
  // spelling must be unique and over bytes every byte must have a token: InputError naming `file` otherwise.
  Vocabulary(const std::vector<std::string>& spellings, const std::string& file,
             Alphabet alphabet = Alphabet::kBytes);

  Alphabet alphabet() const { return alphabet_; }
  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  bool has(std::int32_t id) const { return id >= 0 && id < size() && entries_[id].length > 0; }
  std::string_view bytes(std::int32_t id) const {
    return std::string_view(arena_).substr(entries_[id].begin, entries_[id].length);
  }
  // The token of a byte, over characters the one spelled "<0x0A>"; -1 when there is none.
  std::int32_t byte_id(unsigned char byte) const { return byte_ids_[byte]; }

  // The token standing for exactly these bytes, or -1.
  std::int32_t find_bytes(std::string_view bytes) const;
  // The token spelled like this in the file, or -1.
  std::int32_t find_spelling(std::string_view spelling) const;

 private:
  struct Entry {
    size_t begin = 0;
    size_t length = 0;
  };

  void find_byte_tokens(const std::string& file);
  size_t first_slot(std::string_view bytes) const;
  bool insert(std::int32_t id);

  Alphabet alphabet_;
  std::string arena_;
  std::vector<Entry> entries_;       // [ids]
  std::vector<std::int32_t> slots_;  // open addressing by bytes; -1 is free
  // Spellings outside the byte alphabet stand for their own UTF-8 when decoding and are never encoded to.
  std::unordered_map<std::string, std::int32_t> outside_alphabet_;
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace buoy::text
