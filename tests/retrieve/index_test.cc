#include "buoy/retrieve/index.h"

#include <gtest/gtest.h>

#include <thread>

#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "retrieve/retrieve_data.h"

namespace buoy::retrieve {
namespace {

using testing::TempFolder;
using Words = std::vector<std::string>;

class IndexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_index()) GTEST_SKIP() << "a build without SQLite";
  }

  const TempFolder temp_;
};

TEST_F(IndexTest, RawDocumentsAreEnough) {
  const auto result = build_index({data_file("documents")}, temp_ / "harbour.db", {});
  EXPECT_EQ(result.passed_over, 1U);
  const Index index = Index::open(temp_ / "harbour.db");
  const auto hits = index.search("Who built the lighthouse at Gull Point?", 3);
  ASSERT_EQ(hits.size(), 3U);
  EXPECT_EQ(hits[0].title, "lighthouse");
  EXPECT_EQ(hits[0].passage, 1);
  EXPECT_TRUE(hits[0].document.ends_with("documents/lighthouse.txt"));
  EXPECT_NE(hits[0].text.find("engineer Mara O'Brien"), std::string::npos);
  EXPECT_GT(hits[0].score, hits[1].score);
  EXPECT_EQ(index.search("captain of the heron", 1)[0].document, "boat-1");
}

TEST_F(IndexTest, SaysWhatItIsMadeOf) {
  build_index({data_file("documents")}, temp_ / "harbour.db", {{20, 5}, true, false, {}});
  const Index index = Index::open(temp_ / "harbour.db");
  const Description& made = index.description();
  EXPECT_EQ(made.tokenizer, "porter unicode61 remove_diacritics 2");
  EXPECT_EQ(made.passage_options.words, 20U);
  EXPECT_EQ(made.passage_options.overlap, 5U);
  EXPECT_EQ(made.documents, 7);
  EXPECT_EQ(made.blank_documents, 1);
  ASSERT_EQ(made.sources.size(), 3U);
  EXPECT_EQ(made.sources[0].documents, 5);
  EXPECT_EQ(made.sources[0].passages, 4);
  EXPECT_EQ(made.sources[2].sha256, sha256_of_file(data_file("documents/lighthouse.txt")));
  EXPECT_GT(made.sources[2].passages, 1);
  EXPECT_EQ(made.passages, made.sources[0].passages + made.sources[1].passages + made.sources[2].passages);
}

TEST_F(IndexTest, LongDocumentsKeepTitleAndNumber) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += (i == 333 ? "kittiwake. " : "gull. ");
  const Index index = index_of(temp_, {{"first", "A", "tern"}, {"second", "Birds", text}});
  EXPECT_EQ(index.description().passages, 6);
  const auto hits = index.search("kittiwake", 5);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].document, "second");
  EXPECT_EQ(hits[0].title, "Birds");
  EXPECT_EQ(hits[0].passage, 4);
}

TEST_F(IndexTest, CaseAndDiacriticsDoNotCount) {
  const Index index = index_of(temp_, {{"a", "", "Ein Café in ZÜRICH"}, {"b", "", "walking dogs"}});
  EXPECT_EQ(documents_of(index.search("cafe zurich", 5)), Words{"a"});
  EXPECT_EQ(documents_of(index.search("CAFÉ", 5)), Words{"a"});
  EXPECT_EQ(documents_of(index.search("cafe\xCC\x81", 5)), Words{"a"}) << "the accent as a mark of its own";
  EXPECT_TRUE(index.search("walked", 5).empty());
  const TempFolder other;
  const Index stemmed = index_of(other, {{"b", "", "walking dogs"}}, {{}, true, false, {}});
  EXPECT_EQ(documents_of(stemmed.search("walked", 5)), Words{"b"});
}

TEST_F(IndexTest, AnyQuestionIsSafe) {
  const Index index =
      index_of(temp_, {{"a", "near", "AND OR NOT near text title"}, {"b", "", "plain words"}});
  for (const std::string& question :
       {std::string(), std::string("   "), std::string("\"'; DROP TABLE passage; --"),
        std::string("title:near"), std::string("NEAR(a b, 3)"), std::string("^*(){}[]:+-\\/\"\""),
        std::string("a\0b", 3), std::string("\xFF\xFE\xC0"), std::string("№ 😀 語"), std::string("AND OR NOT"),
        std::string("words*"), std::string(100'000, '"'), std::string(100'000, 'x'),
        std::string("\xCC\x81")}) {
    EXPECT_NO_THROW(index.search(question, 5)) << question.substr(0, 40);
  }
  EXPECT_TRUE(index.search("", 5).empty());
  EXPECT_TRUE(index.search("?", 5).empty());
  EXPECT_TRUE(index.search("words", 0).empty());
  EXPECT_EQ(index.search("words", std::size_t(-1)).size(), 1U);
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "word" + std::to_string(i) + " ";
  EXPECT_EQ(documents_of(index.search(many + "plain", 5)), Words{"b"});
  EXPECT_EQ(index.search("text:plain", 5).size(), 2U) << "words, not a column filter";
}

TEST_F(IndexTest, IndexingTwiceGivesTheSameIndex) {
  build_index({data_file("documents")}, temp_ / "one.db", {});
  build_index({data_file("documents")}, temp_ / "two.db", {});
  const Index one = Index::open(temp_ / "one.db"), two = Index::open(temp_ / "two.db");
  EXPECT_EQ(one.identity(), two.identity());
  for (const char* question : {"gull point", "boat", "Who kept the light?", "current tide 1931"})
    EXPECT_EQ(one.search(question, 20), two.search(question, 20));
  EXPECT_EQ(read_file(temp_ / "one.db"), read_file(temp_ / "two.db"));
}

TEST_F(IndexTest, IdentityFollowsTheContent) {
  const std::vector<TestDocument> documents = {{"a", "t", "one two"}};
  const auto identity = [](const std::vector<TestDocument>& all, const BuildOptions& options) {
    const TempFolder folder;
    return index_of(folder, all, options).identity();
  };
  const auto plain = identity(documents, {});
  EXPECT_TRUE(is_sha256_hex(plain));
  EXPECT_EQ(identity(documents, {}), plain) << "in another folder";
  EXPECT_NE(identity(documents, {{}, true, false, {}}), plain) << "stemmed";
  EXPECT_NE(identity({{"a", "t", "one three"}}, {}), plain);
  EXPECT_NE(identity({{"a", "t one", "two"}}, {}), plain);
  EXPECT_NE(identity({{"b", "t", "one two"}}, {}), plain);
}

TEST_F(IndexTest, SearchesAtTheSameTime) {
  build_index({data_file("documents")}, temp_ / "harbour.db", {});
  const Index index = Index::open(temp_ / "harbour.db");
  const auto expected = index.search("gull point boat", 9);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) count += index.search("gull point boat", 9) != expected;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(IndexTest, ProgressEndsAtTheWhole) {
  std::uint64_t last = 0, whole = 0;
  BuildOptions options;
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(last, done);
    EXPECT_LE(done, total);
    last = done, whole = total;
  };
  build_index({data_file("documents"), data_file("boats.jsonl.gz")}, temp_ / "a.db", options);
  EXPECT_GT(last, 0U);
  EXPECT_GE(last + 16, whole) << "line ends and rounding";
}

}  // namespace
}  // namespace buoy::retrieve
