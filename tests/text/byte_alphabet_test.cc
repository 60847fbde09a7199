#include "buoy/text/tokenizer/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

namespace buoy::text {
namespace {

TEST(ByteAlphabet, SpellsAllBytesDifferentlyAndBack) {
  std::set<std::string> spellings;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    const std::string spelling = spell_bytes(bytes);
    EXPECT_TRUE(spellings.insert(spelling).second);
    EXPECT_EQ(bytes_of_spelling(spelling), bytes);
  }
}

TEST(ByteAlphabet, KnownSpellings) {
  EXPECT_EQ(spell_bytes(" \n"), "\u0120\u010A");
  EXPECT_EQ(spell_bytes(std::string(1, '\0')), "\u0100");
  EXPECT_EQ(spell_bytes("\x7F"), "\u0121");
  EXPECT_EQ(spell_bytes("\xAD"), "\u0143");  // the last of the 68
  EXPECT_EQ(spell_bytes("az~"), "az~");
  EXPECT_EQ(spell_bytes("\u00E9"), "\u00C3\u00A9");
}

TEST(ByteAlphabet, CharactersOutsideHaveNoBytes) {
  EXPECT_FALSE(bytes_of_spelling("a b"));
  EXPECT_FALSE(bytes_of_spelling("\u0144"));
  EXPECT_FALSE(bytes_of_spelling("\u00AD"));
  EXPECT_FALSE(bytes_of_spelling("\u4E2D"));
  EXPECT_EQ(bytes_of_spelling(""), "");
}

}  // namespace
}  // namespace buoy::text
