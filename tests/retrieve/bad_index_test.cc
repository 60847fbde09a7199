// What can go wrong between an index and the disk: refused with the file, what was expected and what was
// found, and nothing half made is left behind.

#include <gtest/gtest.h>
#include <unistd.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "retrieve/retrieve_data.h"
#include "support/fails_with.h"

namespace buoy::retrieve {
namespace {

using testing::fails_with;
using testing::TempFolder;
namespace fs = std::filesystem;

class BadIndex : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_index()) GTEST_SKIP() << "a build without SQLite";
  }

  ::testing::AssertionResult open_fails(const fs::path& path,
                                        std::initializer_list<std::string> parts) const {
    return fails_with<InputError>([&] { Index::open(path).search("boat gull the", 5); }, parts);
  }

  // A whole index, as bytes to be spoiled.
  std::string index_bytes() const {
    build_index({data_file("documents")}, temp_ / "whole.db", {{}, false, true, {}});
    return read_file(temp_ / "whole.db");
  }

  static void put_big_endian(std::string& bytes, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
  }

  const TempFolder temp_;
};

TEST_F(BadIndex, NotAnIndex) {
  EXPECT_TRUE(open_fails(temp_.write("a.db", "some text, and more of it, no database at all"),
                         {"a.db", "SQLite database", "another kind"}));
  EXPECT_TRUE(open_fails(temp_.write("b.db", ""), {"b.db", "Buoy index", "an empty file"}));
  EXPECT_TRUE(open_fails(temp_.write("c.db", std::string(10'000, '\0')), {"c.db", "SQLite", "another kind"}));
  const auto missing = temp_ / "no.db";
  EXPECT_TRUE(fails_with<InputError>([&] { Index::open(missing); }, {"no.db", "No such file"}));
  EXPECT_TRUE(fails_with<IoError>([&] { Index::open(temp_.path()); }, {"directory"}));
}

// Offsets in the header of an SQLite file: 60 user_version, 68 application_id.
TEST_F(BadIndex, OfAnotherProgramOrVersion) {
  auto other = index_bytes();
  put_big_endian(other, 68, 0);
  EXPECT_TRUE(open_fails(temp_.write("other.db", other), {"other.db", "a Buoy index", "another program"}));
  auto newer = index_bytes();
  put_big_endian(newer, 60, 9);
  EXPECT_TRUE(open_fails(temp_.write("newer.db", newer), {"newer.db", "format 1", "format 9"}));
}

TEST_F(BadIndex, Truncated) {
  const auto whole = index_bytes();
  for (const std::size_t size :
       {whole.size() - 1, whole.size() / 2, std::size_t{4096}, std::size_t{100}, std::size_t{50}})
    EXPECT_TRUE(open_fails(temp_.write("cut.db", whole.substr(0, size)), {"cut.db"})) << size;
}

// Damage anywhere is found or harmless; it never crashes and never becomes another kind of error.
TEST_F(BadIndex, DamagedPages) {
  const auto whole = index_bytes();
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 512) {
    auto bytes = whole;
    for (std::size_t i = at; i < std::min(at + 64, bytes.size()); ++i)
      bytes[i] = static_cast<char>(bytes[i] ^ 0xA5);
    const auto path = temp_.write("damaged.db", bytes);
    try {
      Index::open(path).search("boat gull the", 5);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(BadIndex, AnExistingFileIsKeptUnlessItIsToBeReplaced) {
  const auto out = temp_.write("mine.db", "precious");
  const auto build = [&](bool replace) {
    build_index({data_file("documents")}, out, {{}, false, replace, {}});
  };
  EXPECT_TRUE(fails_with<UsageError>([&] { build(false); }, {"mine.db", "`force`", "exists"}));
  EXPECT_EQ(read_file(out), "precious");
  build(true);
  EXPECT_NO_THROW(Index::open(out));
  EXPECT_EQ(temp_.entries(), 1U);
}

TEST_F(BadIndex, AFailedBuildLeavesWhatWasThere) {
  const auto out = temp_.write("mine.db", "precious");
  const auto bad = temp_.write("bad.jsonl", "{\"text\": \"fine\"}\n{\"text\": \n");
  const auto build = [&] { build_index({data_file("documents"), bad}, out, {{}, false, true, {}}); };
  EXPECT_TRUE(fails_with<InputError>(build, {"bad.jsonl:2", "JSON"}));
  EXPECT_EQ(read_file(out), "precious");
  EXPECT_EQ(temp_.entries(), 2U) << "no partial file";
}

TEST_F(BadIndex, NothingToIndex) {
  const auto blank = temp_.write("blank.txt", " \n ");
  const auto empty = temp_.write("empty.jsonl", "");
  const auto fails = [&](const std::vector<fs::path>& documents, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { build_index(documents, temp_ / "out.db", {}); }, parts);
  };
  EXPECT_TRUE(fails({blank, empty}, {"blank.txt", "at least one document", "none"}));
  EXPECT_TRUE(fails({temp_.write("junk.txt",
                                 "\x7F"
                                 "ELF\x02\x01\x01" +
                                     std::string(90, '\0'))},
                    {"junk.txt: byte 7"}));
  EXPECT_FALSE(fs::exists(temp_ / "out.db"));
}

TEST_F(BadIndex, PlacesThatCannotBeWritten) {
  const auto build = [&](const fs::path& out) { build_index({data_file("documents")}, out, {}); };
  EXPECT_TRUE(
      fails_with<IoError>([&] { build(temp_ / "no/such/folder.db"); }, {"folder.db", "No such file"}));
  EXPECT_TRUE(fails_with<IoError>([&] { build(temp_.path()); }, {"directory"}));
  EXPECT_TRUE(fails_with<IoError>([&] { build("/dev/full/x.db"); }, {"x.db"}));
  if (::geteuid() == 0) return;  // root may write anywhere
  fs::permissions(temp_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(fails_with<IoError>([&] { build(temp_ / "out.db"); }, {"out.db", "Permission"}));
  fs::permissions(temp_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace buoy::retrieve
