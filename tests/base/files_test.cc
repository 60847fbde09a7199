// Reading whole files and replacing them atomically. The tests may run as root, whom permission bits do
// not stop; so refusals come from places that refuse root too: files used as folders, /proc, /sys, and a
// limit on file size standing in for a full disk.

#include "buoy/base/file/files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>
#include <thread>

#include "buoy/base/error.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::fails_with;
using testing::TempFolder;

const std::string kBinary("\0\xFF\r\nbytes\0", 10);

// Writes past `bytes` fail with EFBIG, for root too, as they would with ENOSPC on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit small{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int);
};

auto writing(const fs::path& path, const std::string& bytes = "new") {
  return [path, bytes] { write_file_atomically(path, bytes); };
}

TEST(PathExists, TellsFilesFoldersAndNothingApart) {
  const TempFolder folder;
  const auto file = folder.write("file", "x");
  EXPECT_TRUE(path_exists(file));
  EXPECT_FALSE(is_folder(file));
  EXPECT_TRUE(path_exists(folder.path()));
  EXPECT_TRUE(is_folder(folder.path()));
  for (const auto& nothing : {folder.path() / "missing", file / "inner", fs::path()}) {
    EXPECT_FALSE(path_exists(nothing)) << nothing;
    EXPECT_FALSE(is_folder(nothing)) << nothing;
  }
}

TEST(PathExists, FollowsLinks) {
  const TempFolder folder;
  fs::create_directory_symlink(folder.path(), folder.path() / "link");
  fs::create_symlink("missing", folder.path() / "dangling");
  EXPECT_TRUE(is_folder(folder.path() / "link"));
  EXPECT_TRUE(fails_with<InputError>([&] { path_exists(folder.path() / "dangling"); },
                                     {"dangling", "a file or a folder", "a link to missing"}));
}

TEST(PathExists, NamesThePathTheSystemRefuses) {
  const TempFolder folder;
  const auto loop = folder.path() / "loop";
  fs::create_symlink("loop", loop);
  EXPECT_TRUE(
      fails_with<IoError>([&] { path_exists(loop); }, {loop.string(), "cannot inspect", "symbolic links"}));
  EXPECT_TRUE(
      fails_with<IoError>([&] { is_folder(loop); }, {loop.string(), "cannot inspect", "symbolic links"}));
  const auto long_name = folder.path() / std::string(300, 'n');
  EXPECT_TRUE(fails_with<IoError>([&] { path_exists(long_name); },
                                  {long_name.string(), "cannot inspect", "too long"}));
}

TEST(ReadFile, GivesEveryByte) {
  const TempFolder folder;
  EXPECT_EQ(read_file(folder.write("binary", kBinary)), kBinary);
  EXPECT_EQ(read_file(folder.write("empty", "")), "");
  const std::string large(300'000, 'x');
  EXPECT_EQ(read_file(folder.write("large", large)), large);
}

TEST(ReadFile, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_NE(read_file("/proc/self/status"), "");
}

TEST(ReadFile, StopsAtTheLimit) {
  const TempFolder folder;
  const auto path = folder.write("ten", std::string(10, 'x'));
  EXPECT_EQ(read_file(path, 10).size(), 10u);
  EXPECT_TRUE(fails_with<InputError>([&] { read_file(path, 9); },
                                     {path.string(), "expected at most 9 bytes", "found 10 bytes"}));
}

TEST(ReadFile, RefusesAnEndlessDevice) {
  EXPECT_TRUE(fails_with<InputError>([] { read_file("/dev/full", 1 << 20); },
                                     {"/dev/full", "expected a regular file", "found a device"}));
}

TEST(ReadFile, NamesThePathThatCannotBeRead) {
  const TempFolder folder;
  const auto missing = folder.path() / "missing";
  EXPECT_TRUE(
      fails_with<InputError>([&] { read_file(missing); }, {missing.string(), "cannot open", "No such file"}));
  const auto through_file = folder.write("file", "x") / "inner";
  EXPECT_TRUE(
      fails_with<IoError>([&] { read_file(through_file); }, {through_file.string(), "Not a directory"}));
  EXPECT_TRUE(fails_with<IoError>([&] { read_file(folder.path()); },
                                  {folder.path().string(), "cannot read", "Is a directory"}));
}

TEST(WriteFileAtomically, WritesEveryByteAndNothingElse) {
  const TempFolder folder;
  write_file_atomically(folder.path() / "binary", kBinary);
  write_file_atomically(folder.path() / "empty", "");
  EXPECT_EQ(read_file(folder.path() / "binary"), kBinary);
  EXPECT_EQ(read_file(folder.path() / "empty"), "");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(WriteFileAtomically, ReplacesTheWholeOldFile) {
  const TempFolder folder;
  const auto path = folder.write("file", "a long old content");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFileAtomically, MakesAFileOthersMayRead) {
  const TempFolder folder;
  const mode_t mask = ::umask(022);
  write_file_atomically(folder.path() / "file", "x");
  ::umask(mask);
  EXPECT_EQ(fs::status(folder.path() / "file").permissions(), fs::perms{0644});
}

TEST(WriteFileAtomically, ReadersSeeTheOldFileOrTheNewOne) {
  const TempFolder folder;
  const std::string one(100'000, '1'), two(100'000, '2');
  const auto path = folder.write("file", one);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) write_file_atomically(path, i % 2 == 0 ? two : one);
  });
  int torn = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(path);
    torn += seen != one && seen != two;
  }
  writer.join();
  EXPECT_EQ(torn, 0);
}

TEST(WriteFileAtomically, OnAFullDiskKeepsTheOldFileAndLeavesNoPartialOne) {
  const TempFolder folder;
  const auto path = folder.write("file", "old");
  ::testing::AssertionResult failed = ::testing::AssertionFailure();
  {
    const FileSizeLimit full(4096);
    failed = fails_with<IoError>(writing(path, std::string(10'000, 'x')),
                                 {path.string(), "cannot write", "File too large"});
  }
  EXPECT_TRUE(failed);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFileAtomically, OntoAFolderFailsAndLeavesNoPartialFile) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "taken");
  EXPECT_TRUE(fails_with<IoError>(writing(folder.path() / "taken"),
                                  {(folder.path() / "taken").string(), "cannot rename onto", "directory"}));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFileAtomically, NamesThePathItCannotCreate) {
  const TempFolder folder;
  const auto missing = folder.path() / "missing" / "file";
  EXPECT_TRUE(fails_with<IoError>(writing(missing), {missing.string(), "cannot create", "No such file"}));
  const auto through_file = folder.write("file", "x") / "inner";
  EXPECT_TRUE(
      fails_with<IoError>(writing(through_file), {through_file.string(), "cannot create", "Not a dir"}));
  const auto long_name = folder.path() / std::string(300, 'n');
  EXPECT_TRUE(fails_with<IoError>(writing(long_name), {long_name.string(), "cannot create", "too long"}));
}

TEST(WriteFileAtomically, NamesThePathInAFolderThatRefusesEvenRoot) {
  EXPECT_TRUE(fails_with<IoError>(writing("/proc/buoy"), {"/proc/buoy", "cannot create"}));
  EXPECT_TRUE(fails_with<IoError>(writing("/sys/buoy"), {"/sys/buoy", "cannot create"}));
  EXPECT_FALSE(fs::exists("/proc/buoy"));
}

}  // namespace
}  // namespace buoy
