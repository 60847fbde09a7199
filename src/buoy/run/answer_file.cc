#include "buoy/run/answer_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/run/parts/answer_parts.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::run {
namespace {

std::size_t count_lines(const std::filesystem::path& path, std::uintmax_t& bytes_of_whole_lines) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_cannot_open(path.string(), errno);
  std::size_t lines = 0;
  std::uintmax_t at = 0;
  bytes_of_whole_lines = 0;
  std::vector<char> block(1 << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      ++at;
      if (block[static_cast<std::size_t>(i)] != '\n') continue;
      ++lines;
      bytes_of_whole_lines = at;
    }
  }
  return lines;
}

}  // namespace

AnswerFile::AnswerFile(std::filesystem::path folder) : final_(folder / kAnswersFile) {
  std::uintmax_t whole = 0;
  if (!path_exists(final_)) {
    file_.emplace(folder / kPartialAnswersFile, "a run");
    // Another process may have finished the run before we had the lock.
    if (path_exists(final_)) {
      file_->remove();
      file_.reset();
    }
  }
  kept_ = next_ = count_lines(file_ ? file_->path() : final_, whole);
  if (file_ && file_->size() > whole) file_->truncate(whole);
}

void AnswerFile::put(std::size_t number, const AnswerRecord& record) {
  BUOY_CHECK(number >= next_ && !ahead_.contains(number) && file_);
  ahead_[number] = to_line(record);
  while (!ahead_.empty() && ahead_.begin()->first == next_) {
    file_->append(ahead_.begin()->second + '\n');
    ahead_.erase(ahead_.begin());
    ++next_;
  }
}

void AnswerFile::finish() {
  if (complete()) return;
  BUOY_CHECK(ahead_.empty());
  file_->sync();
  file_->rename(final_);
  file_.reset();
}

bool is_begun_and_empty(const std::filesystem::path& file) {
  std::error_code failure;
  return file.filename() == kPartialAnswersFile && std::filesystem::file_size(file, failure) == 0 && !failure;
}

void read_answers(const std::filesystem::path& folder, const std::function<void(AnswerRecord&&)>& take) {
  const auto path = folder / kAnswersFile;
  if (!path_exists(path) && shard::read_facts(folder)) return AnswerParts::open(folder).read(take);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw_input_error(
        {folder.string(), "answers.jsonl of a finished run of buoy eval",
         path_exists(folder / kPartialAnswersFile) ? "one that is not finished (`resume`)" : "none"});
  }
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number)
    take(parse_record(line, fmt::format("{}:{}", path.string(), number)));
}

}  // namespace buoy::run
