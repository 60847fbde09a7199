#include "buoy/run/parts/answer_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <utility>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/run/answer_file.h"
#include "buoy/run/run_folder.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::run {

std::string_view AnswerParts::line(std::size_t number) const {
  const Found& found = found_[number];
  const auto bytes = parts_[static_cast<std::size_t>(found.part)].bytes->bytes();
  return {reinterpret_cast<const char*>(bytes.data()) + found.offset, found.length};
}

void AnswerParts::take_part(const std::filesystem::path& folder, const EvaluationPlan& plan) {
  const bool whole = path_exists(folder / kAnswersFile);
  const auto path = folder / (whole ? kAnswersFile : kPartialAnswersFile);
  if (!path_exists(path) || std::filesystem::file_size(path) == 0) return;
  const auto part = static_cast<std::int32_t>(parts_.size());
  parts_.push_back({path.string(), std::make_unique<MappedFile>(path)});
  const auto bytes = parts_.back().bytes->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t begin = 0, number_of_line = 1;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1, ++number_of_line) {
    const std::string where = fmt::format("{}:{}", path.string(), number_of_line);
    const auto one = text.substr(begin, end - begin);
    const auto number = plan.number_of(parse_record(std::string(one), where));
    Found& found = found_[number];
    if (found.part >= 0 && line(number) != one) {
      throw_input_error({where,
                         fmt::format("an answer once, or the same as in {}",
                                     parts_[static_cast<std::size_t>(found.part)].name),
                         "another"});
    }
    if (found.part < 0) found = {part, static_cast<std::uint32_t>(one.size()), begin};
  }
}

AnswerParts AnswerParts::open(const std::filesystem::path& out) {
  AnswerParts all;
  all.out_ = out.string();
  const auto plan = EvaluationPlan::read(out);
  const Json description = read_json_file(out / "run.json");
  all.found_.resize(plan.size());
  std::map<int, std::string> seen;
  for (const auto& part : shard::parts_of(out)) {
    if (!path_exists(part.folder / "run.json")) continue;  // begun, and no more
    require_same_description(part.folder / "run.json", description);
    if (path_exists(part.folder / shard::kPartFile)) {
      const auto said = shard::read_part_file(part.folder);
      const auto [other, is_new] = seen.emplace(said.index, part.folder.string());
      if (!is_new)
        throw_input_error({part.folder.string(), "every part once",
                           fmt::format("shard {} again, which is in {}", said.name(), other->second)});
      if (said.index != part.shard.index || said.count != part.shard.count)
        throw_input_error({part.folder.string(), "shard " + part.shard.name(), "shard " + said.name()});
    }
    all.take_part(part.folder, plan);
  }
  for (std::size_t number = 0; number < all.found_.size(); ++number) {
    if (all.found_[number].part < 0) all.missing_.push_back(number);
  }
  return all;
}

void AnswerParts::each_line(const std::function<void(std::string_view line)>& take) const {
  if (!missing_.empty())
    throw_input_error({out_, counted(planned(), "answer") + " in its parts",
                       fmt::format("{} missing (buoy merge {} says which)", missing_.size(), out_)});
  for (std::size_t number = 0; number < found_.size(); ++number) take(line(number));
}

void AnswerParts::read(const std::function<void(AnswerRecord&&)>& take) const {
  std::size_t number = 0;
  each_line([&](std::string_view line) {
    take(parse_record(std::string(line), fmt::format("{}: answer {}", out_, ++number)));
  });
}

void AnswerParts::write(const std::filesystem::path& out) const {
  AtomicFile file(out / kAnswersFile);
  std::string block;
  constexpr std::size_t kBlock = 1 << 20;
  each_line([&](std::string_view line) {
    block.append(line).push_back('\n');
    if (block.size() < kBlock) return;
    file.write(std::string_view(block));
    block.clear();
  });
  file.write(std::string_view(block));
  file.commit();
}

}  // namespace buoy::run
