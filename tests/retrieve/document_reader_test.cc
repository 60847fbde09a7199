#include "buoy/retrieve/document_reader.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "retrieve/retrieve_data.h"
#include "support/fails_with.h"

namespace buoy::retrieve {
namespace {

using testing::fails_with;
using testing::TempFolder;
namespace fs = std::filesystem;

std::vector<TestDocument> read_all(const fs::path& path) {
  std::vector<TestDocument> documents;
  const auto reader = DocumentReader::open(list_sources({path}).files.at(0));
  while (auto document = reader->next()) {
    documents.push_back({document->id, document->title, ""});
    while (const auto text = reader->next_text()) documents.back().text += *text;
  }
  return documents;
}

TEST(DocumentReader, TextFilesAreOneDocument) {
  const auto path = data_file("documents/lighthouse.txt");
  const auto documents = read_all(path);
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].id, path.string());
  EXPECT_EQ(documents[0].title, "lighthouse");
  EXPECT_TRUE(documents[0].text.ends_with("a café today.\n"));
}

TEST(DocumentReader, MarkdownIsTitledByItsFirstHeading) {
  const TempFolder temp;
  EXPECT_EQ(read_all(data_file("documents/harbour/tides.md"))[0].title, "Tides and currents");
  EXPECT_EQ(read_all(temp.write("plain.md", "no heading\n#hashtag\n"))[0].title, "plain");
  EXPECT_EQ(read_all(temp.write("late.md", "\xEF\xBB\xBFtext\r\n#  Late  #\r\n"))[0].title, "Late");
}

TEST(DocumentReader, JsonLinesInTheLayoutsPeopleHave) {
  const auto path = data_file("documents/harbour/boats.jsonl");
  const auto documents = read_all(path);
  ASSERT_EQ(documents.size(), 5U);
  EXPECT_EQ(documents[0].id, "boat-1");
  EXPECT_EQ(documents[0].title, "Heron");
  EXPECT_EQ(documents[1].id, "2");
  EXPECT_TRUE(documents[1].text.starts_with("The Tern carries"));
  EXPECT_EQ(documents[2].id, "boat-3");
  EXPECT_EQ(documents[2].title, "");
  EXPECT_EQ(documents[3].id, path.string() + ":4");
  EXPECT_EQ(documents[3].text, "The pilot boat has two engines.\nIt was painted red.\n");
  const auto unpacked = read_all(data_file("boats.jsonl.gz"));
  ASSERT_EQ(unpacked.size(), 5U);
  EXPECT_EQ(unpacked[1].text, documents[1].text);
}

// A character may be cut anywhere by the pieces in which the file is read.
TEST(DocumentReader, LargeTextsPassThroughUnchanged) {
  const TempFolder temp;
  for (int shift = 0; shift < 5; ++shift) {
    std::string text(static_cast<std::size_t>(shift), 'x');
    while (text.size() < 300'000) text += "😀é語 ";
    EXPECT_EQ(read_all(temp.write("large.txt", text))[0].text, text) << shift;
  }
}

TEST(DocumentReader, WhatIsNoText) {
  const TempFolder temp;
  const auto refused = [&](const std::string& bytes, std::initializer_list<std::string> parts) {
    const auto path = temp.write("bad.txt", bytes);
    return fails_with<InputError>([&] { read_all(path); }, parts);
  };
  EXPECT_TRUE(refused("caf\xE9 au lait", {"bad.txt: byte 3", "UTF-8", "0xe9"}));
  EXPECT_TRUE(refused("cut short \xE2\x82", {"bad.txt: byte 10", "0xe2"}));
  EXPECT_TRUE(refused(std::string("MZ\0\1\2", 5), {"bad.txt: byte 2", "0x00"}));
  EXPECT_TRUE(refused(std::string(70'000, 'a') + "\xFF", {"bad.txt: byte 70000", "0xff"}));
  EXPECT_TRUE(refused("\x1F\x8B broken gzip", {"bad.txt", "gzip"}));
}

TEST(DocumentReader, LinesThatAreNoDocument) {
  const TempFolder temp;
  const std::string good = "{\"id\": \"a\", \"text\": \"b\"}\n";
  const auto refused = [&](const std::string& line, std::initializer_list<std::string> parts) {
    const auto path = temp.write("bad.jsonl", good + "\n" + line + "\n");
    return fails_with<InputError>([&] { read_all(path); }, parts);
  };
  EXPECT_TRUE(refused("{\"id\": \"a\", \"text\": ", {"bad.jsonl:3", "valid JSON", "at column"}));
  EXPECT_TRUE(refused("[1]", {"bad.jsonl:3", "object", "a list of 1"}));
  EXPECT_TRUE(refused("{\"id\": \"a\"}", {"bad.jsonl:3", "text, contents, segment, passage", "none"}));
  EXPECT_TRUE(refused("{\"text\": 7}", {"bad.jsonl:3: text", "a text", "7"}));
  EXPECT_TRUE(refused("{\"text\": [\"a\", 7]}", {"bad.jsonl:3: text", "7"}));
  EXPECT_TRUE(refused("{\"id\": {}, \"text\": \"a\"}", {"bad.jsonl:3: id", "a text"}));
  EXPECT_TRUE(refused("{\"text\": \"\xFF\"}", {"bad.jsonl:3", "valid JSON"}));
  EXPECT_TRUE(refused("version https://git-lfs.github.com/spec/v1", {"bad.jsonl:3", "Git LFS"}));
  EXPECT_TRUE(
      refused("{\"text\": \"" + std::string((64U << 20) + 1, 'x') + "\"}", {"bad.jsonl:3", "at most"}));
}

TEST(SourceFiles, FoldersAreReadInOrderOfNames) {
  const auto list = list_sources({data_file("documents")});
  ASSERT_EQ(list.files.size(), 3U);
  EXPECT_TRUE(list.files[0].name.ends_with("harbour/boats.jsonl"));
  EXPECT_TRUE(list.files[1].name.ends_with("harbour/tides.md"));
  EXPECT_TRUE(list.files[2].name.ends_with("documents/lighthouse.txt"));
  EXPECT_EQ(list.files[0].bytes, fs::file_size(data_file("documents/harbour/boats.jsonl")));
  EXPECT_EQ(list.passed_over, 1U) << "map.png";
  EXPECT_EQ(expected_text_bytes(list_sources({data_file("boats.jsonl.gz")}).files[0]), list.files[0].bytes);
}

TEST(SourceFiles, WhatCannotBeRead) {
  const TempFolder temp;
  EXPECT_TRUE(fails_with<InputError>([&] { list_sources({temp / "no.txt"}); }, {"no.txt", "No such file"}));
  EXPECT_TRUE(fails_with<InputError>([&] { list_sources({temp.write("a.pdf", "x")}); }, {"a.pdf", ".txt"}));
  EXPECT_TRUE(fails_with<InputError>([&] { list_sources({temp.path()}); }, {temp.path().string(), "none"}));
  const auto file = temp.write("a.txt", "x");
  EXPECT_TRUE(fails_with<UsageError>([&] { list_sources({temp.path(), file}); }, {"a.txt", "once", "twice"}));
}

}  // namespace
}  // namespace buoy::retrieve
