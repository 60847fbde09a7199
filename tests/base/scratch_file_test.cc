// Temporary files that nobody finds: what was written is read again, and nothing is left behind.

#include "buoy/base/file/scratch_file.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "buoy/base/error.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

std::vector<std::byte> some(std::size_t count, int first) {
  std::vector<std::byte> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return out;
}

TEST(ScratchFile, IsReadAnywhereAndHasNoName) {
  const testing::TempFolder folder;
  std::optional<ScratchFile> file(std::in_place, folder.path());
  file->append(some(1000, 3));
  file->append(some(10, 90));
  EXPECT_EQ(file->bytes(), 1010u);
  std::vector<std::byte> found(4);
  file->read_at(1000, found);
  EXPECT_EQ(found, some(4, 90));
  file->read_at(1, found);
  EXPECT_EQ(found, some(4, 4));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  file.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, LiesWhereTemporaryFilesDoUnlessToldOtherwise) {
  ScratchFile file({});
  file.append(some(5, 1));
  std::vector<std::byte> found(5);
  file.read_at(0, found);
  EXPECT_EQ(found, some(5, 1));
}

TEST(ScratchFile, NamesTheFolderWhereItCannotBe) {
  EXPECT_TRUE(testing::fails_with<IoError>([] { ScratchFile file("/proc/nowhere"); },
                                           {"/proc/nowhere", "temporary file"}));
}

TEST(ScratchFile, DoesNotReadPastItsEnd) {
  const testing::TempFolder folder;
  ScratchFile file(folder.path());
  file.append(some(5, 1));
  std::vector<std::byte> found(6);
  EXPECT_TRUE(testing::fails_with<IoError>([&] { file.read_at(0, found); }, {"read a temporary file"}));
}

}  // namespace
}  // namespace buoy
