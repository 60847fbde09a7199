#include "buoy/run/parts/answer_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
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
#include "buoy/tensor/thread_pool.h"

namespace buoy::run {

std::string_view AnswerParts::line(std::size_t number) const {
  const Found& found = found_[number];
  const auto bytes = parts_[static_cast<std::size_t>(found.part)].bytes->bytes();
  return {reinterpret_cast<const char*>(bytes.data()) + found.offset, found.length};
}

AnswerParts::Lines AnswerParts::lines_of(const File& file, const EvaluationPlan& plan) {
  Lines lines;
  const auto bytes = file.bytes->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t begin = 0, line = 1;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1, ++line) {
    const auto one = text.substr(begin, end - begin);
    lines.push_back({plan.number_of(parse_record(std::string(one), fmt::format("{}:{}", file.name, line))),
                     begin, static_cast<std::uint32_t>(one.size())});
  }
  return lines;
}

// Parts are read side by side, and taken in their order.
void AnswerParts::take_files(const EvaluationPlan& plan) {
  std::vector<Lines> lines(parts_.size());
  std::vector<std::exception_ptr> errors(parts_.size());
  ThreadPool threads(default_threads());
  threads.run(std::ssize(parts_), [&](std::int64_t part, int /*thread*/) {
    const auto p = static_cast<std::size_t>(part);
    try {
      lines[p] = lines_of(parts_[p], plan);
    } catch (...) {
      errors[p] = std::current_exception();
    }
  });
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (errors[p]) std::rethrow_exception(errors[p]);
    for (const auto& [number, offset, length] : lines[p]) {
      const Found before = found_[number];
      found_[number] = {static_cast<std::int32_t>(p), length, offset};
      if (before.part < 0) continue;
      const auto now = line(number);
      found_[number] = before;
      if (line(number) == now) continue;
      throw_input_error(
          {fmt::format("{}: answer {}", parts_[p].name, number),
           fmt::format("once, or the same as in {}", parts_[static_cast<std::size_t>(before.part)].name),
           "another"});
    }
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
    const auto file =
        part.folder / (path_exists(part.folder / kAnswersFile) ? kAnswersFile : kPartialAnswersFile);
    if (!path_exists(file) || std::filesystem::file_size(file) == 0) continue;
    all.parts_.push_back({file.string(), std::make_unique<MappedFile>(file)});
  }
  all.take_files(plan);
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
