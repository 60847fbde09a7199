#include "buoy/base/file/mapped_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "buoy/base/error.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::fails_with;
using testing::TempFolder;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsEveryByte) {
  const TempFolder folder;
  std::string bytes("\0\xFF", 2);
  bytes.append(10'000, 'x');
  EXPECT_EQ(text_of(MappedFile(folder.write("file", bytes))), bytes);
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TempFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("file", "")).bytes().empty());
}

TEST(MappedFile, OutlivesTheNameOfTheFile) {
  const TempFolder folder;
  const auto path = folder.write("file", "content");
  const MappedFile file(path);
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(file), "content");
}

TEST(MappedFile, MovesWithoutMovingItsBytes) {
  const TempFolder folder;
  MappedFile first(folder.write("first", "first")), second(folder.write("second", "second"));
  const std::byte* bytes = first.bytes().data();
  MappedFile moved(std::move(first));
  EXPECT_EQ(moved.bytes().data(), bytes);
  EXPECT_EQ(text_of(moved), "first");
  moved = std::move(second);
  EXPECT_EQ(text_of(moved), "second");
}

TEST(MappedFile, NamesThePathItCannotMap) {
  const TempFolder folder;
  const auto missing = folder.path() / "missing";
  EXPECT_TRUE(fails_with<InputError>([&] { MappedFile file(missing); },
                                     {missing.string(), "cannot open", "No such"}));
  EXPECT_TRUE(fails_with<IoError>([&] { MappedFile file(folder.path()); },
                                  {folder.path().string(), "cannot read", "Is a directory"}));
}

TEST(MappedFile, ReleasedBytesReadTheSameAgain) {
  const TempFolder folder;
  std::string content(100'000, 'a');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31);
  const MappedFile file(folder.write("f", content));
  const auto whole = [&] {
    return std::string(reinterpret_cast<const char*>(file.bytes().data()), content.size());
  };
  EXPECT_EQ(whole(), content);
  file.release(file.bytes().subspan(1, 70'001));
  file.release(file.bytes().subspan(5, 0));
  EXPECT_EQ(whole(), content);
}

}  // namespace
}  // namespace buoy
