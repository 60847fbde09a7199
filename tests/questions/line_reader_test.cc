#include "buoy/questions/data/line_reader.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "questions/questions_data.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::questions {
namespace {

using testing::fails_with;
using testing::TempFolder;

using Numbered = std::vector<std::pair<std::size_t, std::string>>;

Numbered read_all(LineReader reader) {
  Numbered lines;
  while (const auto line = reader.next()) lines.emplace_back(reader.line_number(), *line);
  return lines;
}

class LineReaderTest : public ::testing::Test {
 protected:
  Numbered lines_of(std::string_view bytes) const { return read_all(LineReader(temp_.write("f", bytes))); }

  const TempFolder temp_;
};

TEST_F(LineReaderTest, LinesWithTheirNumbers) {
  EXPECT_EQ(lines_of("one\ntwo\nthree\n"), (Numbered{{1, "one"}, {2, "two"}, {3, "three"}}));
  EXPECT_EQ(lines_of("one\ntwo"), (Numbered{{1, "one"}, {2, "two"}}));
  EXPECT_EQ(lines_of(""), Numbered{});
}

TEST_F(LineReaderTest, BlankLinesAreSkippedAndCounted) {
  EXPECT_EQ(lines_of("\n \t\none\n\r\n\ntwo\n\n"), (Numbered{{3, "one"}, {6, "two"}}));
  EXPECT_EQ(lines_of("\n\n"), Numbered{});
}

TEST_F(LineReaderTest, WindowsLineEndsAndAByteOrderMark) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBFone\r\ntwo\r\n"), (Numbered{{1, "one"}, {2, "two"}}));
  EXPECT_EQ(lines_of("one\n\xEF\xBB\xBFtwo"), (Numbered{{1, "one"}, {2, "\xEF\xBB\xBFtwo"}}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBF\r\none"), (Numbered{{2, "one"}}));
}

TEST_F(LineReaderTest, LinesAcrossManyChunks) {
  std::string bytes;
  Numbered expected;
  for (std::size_t i = 1; i < 40; ++i) {
    expected.emplace_back(i, std::string(i * 7919 % 200'000 + 1, static_cast<char>('a' + i % 26)));
    bytes += expected.back().second + "\n";
  }
  EXPECT_EQ(lines_of(bytes), expected);
}

TEST_F(LineReaderTest, GzipIsRecognisedByItsBytesAndReadToTheLastMember) {
  const auto plain = read_all(LineReader(data_file("buoy.jsonl")));
  ASSERT_EQ(plain.size(), 3U);
  EXPECT_EQ(read_all(LineReader(data_file("buoy.jsonl.gz"))), plain);
  EXPECT_EQ(read_all(LineReader(data_file("two_members.jsonl.gz"))), plain) << "two members, then zeros";
  std::filesystem::copy_file(data_file("buoy.jsonl.gz"), temp_.path() / "no_suffix");
  EXPECT_EQ(read_all(LineReader(temp_.path() / "no_suffix")), plain);
  EXPECT_TRUE(LineReader(temp_.path() / "no_suffix").compressed());
  EXPECT_FALSE(LineReader(data_file("buoy.jsonl")).compressed());
}

TEST_F(LineReaderTest, ALineLongerThanTheLimit) {
  const auto file = temp_.write("long", "short\n" + std::string(100, 'x') + "\nshort\n");
  EXPECT_EQ(read_all(LineReader(file, 100)).size(), 3U);
  EXPECT_TRUE(fails_with<InputError>([&] { read_all(LineReader(file, 99)); },
                                     {"long:2", "a line of at most 99 bytes", "a longer one"}));
  LineReader goes_on(file, 99);
  EXPECT_EQ(goes_on.next(), "short");
  EXPECT_THROW(goes_on.next(), InputError);
  EXPECT_EQ(goes_on.next(), "short");
  EXPECT_EQ(goes_on.line_number(), 3U);
  EXPECT_EQ(goes_on.next(), std::nullopt);
  const auto endless = temp_.write("endless", std::string(1'000'000, 'x'));
  EXPECT_TRUE(fails_with<InputError>([&] { read_all(LineReader(endless, 70'000)); }, {"endless:1", "70000"}));
}

TEST_F(LineReaderTest, DamagedGzipNamesFileAndLine) {
  const auto fails = [&](const std::string& name, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { read_all(LineReader(data_file("abuse/" + name))); }, parts);
  };
  EXPECT_TRUE(fails("cut_short.jsonl.gz", {"cut_short.jsonl.gz:", "a whole gzip stream", "cut short"}));
  EXPECT_TRUE(fails("head_only.jsonl.gz", {"head_only.jsonl.gz:1:", "a whole gzip stream", "cut short"}));
  EXPECT_TRUE(fails("corrupt.jsonl.gz", {"corrupt.jsonl.gz:", "an undamaged gzip stream", "invalid"}));
  EXPECT_TRUE(
      fails("wrong_checksum.jsonl.gz", {"wrong_checksum.jsonl.gz:401", "undamaged", "incorrect data check"}));
  EXPECT_TRUE(fails("more_behind.jsonl.gz", {"more_behind.jsonl.gz:2", "another gzip member", "0x61"}));
}

TEST_F(LineReaderTest, LinesBeforeTheDamageAreHandedOut) {
  LineReader reader(data_file("abuse/cut_short.jsonl.gz"));
  std::size_t lines = 0;
  EXPECT_THROW(
      {
        while (reader.next()) ++lines;
      },
      InputError);
  EXPECT_GT(lines, 50U);
  EXPECT_EQ(reader.line_number(), lines + 1);
}

TEST_F(LineReaderTest, FilesThatCannotBeRead) {
  EXPECT_TRUE(fails_with<InputError>([&] { LineReader(temp_.path() / "absent"); }, {"absent", "open"}));
  EXPECT_TRUE(fails_with<IoError>([&] { LineReader(temp_.path()).next(); }, {"read", "directory"}));
}

}  // namespace
}  // namespace buoy::questions
