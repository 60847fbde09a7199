#include "experiment/answer_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace buoy::experiment {
namespace {

constexpr char kPartial[] = "answers.partial.jsonl";

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

AnswerFile::AnswerFile(std::filesystem::path folder)
    : partial_(folder / kPartial),
      final_(folder / kAnswersFile),
      complete_(path_exists(folder / kAnswersFile)) {
  std::uintmax_t whole = 0;
  if (complete_) {
    kept_ = next_ = count_lines(final_, whole);
    return;
  }
  if (path_exists(partial_)) {
    kept_ = next_ = count_lines(partial_, whole);
    std::filesystem::resize_file(partial_, whole);
  }
  file_ = std::fopen(partial_.c_str(), "ab");
  if (file_ == nullptr) throw_io_error("write", partial_.string(), errno);
}

AnswerFile::~AnswerFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void AnswerFile::write(const std::string& line) {
  const std::string text = line + '\n';
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    throw_io_error("write", partial_.string(), errno);
}

void AnswerFile::put(std::size_t number, const AnswerRecord& record) {
  BUOY_CHECK(number >= next_ && !ahead_.contains(number) && file_ != nullptr);
  ahead_[number] = to_line(record);
  while (!ahead_.empty() && ahead_.begin()->first == next_) {
    write(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
    ++next_;
  }
}

void AnswerFile::finish() {
  if (complete_) return;
  BUOY_CHECK(ahead_.empty());
  if (::fsync(::fileno(file_)) != 0 || std::fclose(std::exchange(file_, nullptr)) != 0)
    throw_io_error("write", partial_.string(), errno);
  std::filesystem::rename(partial_, final_);
  complete_ = true;
}

void read_answers(const std::filesystem::path& folder, const std::function<void(AnswerRecord&&)>& take) {
  const auto path = folder / kAnswersFile;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw_input_error({folder.string(), "answers.jsonl of a finished run of buoy eval",
                       path_exists(folder / kPartial) ? "one that is not finished (--resume)" : "none"});
  }
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number)
    take(parse_record(line, fmt::format("{}:{}", path.string(), number)));
}

}  // namespace buoy::experiment
