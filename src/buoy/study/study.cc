#include "buoy/study/study.h"

#include <fmt/format.h>

#include "buoy/base/error.h"

namespace buoy::study {

void Decoding::apply_to(decode::DecodeOptions& options) const {
  for (const auto* option : given) decode::copy_option(*option, values, options);
}

void refuse(const std::filesystem::path& file, const std::vector<std::string>& problems) {
  constexpr std::size_t kShown = 100;
  if (problems.empty()) return;
  if (problems.size() == 1) throw InputError(problems.front());
  std::string text = fmt::format("{}: {} problems", file.string(), problems.size());
  for (std::size_t i = 0; i < problems.size() && i < kShown; ++i) text += "\n  " + problems[i];
  if (problems.size() > kShown) text += fmt::format("\n  and {} more", problems.size() - kShown);
  throw InputError(text);
}

Study read_study(const std::filesystem::path& file) {
  auto reading = read_study_and_problems(file);
  refuse(file, reading.problems);
  return std::move(reading.study);
}

}  // namespace buoy::study
