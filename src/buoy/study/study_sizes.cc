#include "buoy/study/study_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/file/files.h"

namespace buoy::study {
namespace {

// Beside what is counted: headers, scores, names.
constexpr double kBytesOfAnswer = 700, kBytesOfSample = 4000, kBytesOfToken = 24;
constexpr std::uint64_t kBytesOfTables = std::uint64_t{1} << 19;  // and figures, of an evaluation
constexpr std::uint64_t kBytesOfReport = std::uint64_t{24} << 20;
constexpr std::size_t kTriedAnswers = 20;  // conditions are many, and their prompts much alike

// As many passages, without looking for noise.
run::Arrangement without_noise(run::Arrangement arrangement) {
  if (arrangement.noise) {
    arrangement.passages = static_cast<std::int64_t>(*arrangement.noise) + 1;
    arrangement.gold_position = 0;
    arrangement.noise.reset();
  }
  return arrangement;
}

}  // namespace

StudyPart StudySizes::data(const study::DataEntry& entry) const {
  const auto& data = facts_.data.at(entry.name);
  StudyPart part{"data " + entry.name};
  part.questions = data.count;
  part.bytes = data.bytes;
  const auto file = plan_.data_file(entry.name);
  if (entry.world && path_exists(file)) part.there = data.bytes;
  return part;
}

TriedPrompts StudySizes::try_prompts(const Asking& asking, const std::vector<questions::Item>& items,
                                     std::size_t most) const {
  TriedPrompts tried;
  const auto folder = plan_.model_folder(*asking.model.entry);
  const run::Prompter prompter(asking.request.prompt_template,
                               run::settle(plan_.chat_use(), plan_.chat(), folder), folder,
                               asking.model.tokenizer);
  const std::int64_t room = asking.model.config->context - asking.request.decode.max_new_tokens;
  double text = 0, trace = 0;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) {
    ++tried.tried;
    try {
      auto item = prompter.arranged(items[i], asking.request.arrangement);
      if (asking.cut_to_fit) prompter.fit(item, static_cast<std::size_t>(std::max<std::int64_t>(room, 1)));
      const auto prompt = prompter.prompt(item);
      const auto tokens =
          static_cast<std::int64_t>(prompt.prompt.ids.size()) + asking.request.decode.max_new_tokens;
      tried.longest = std::max(tried.longest, tokens);
      text += static_cast<double>(prompt.prompt.rendered.size());
      if (!asking.request.observe.empty()) {
        const auto bytes = run::expected_bytes(*asking.model.config, asking.request, prompt);
        trace += static_cast<double>(bytes.all);
      }
      ++tried.made;
    } catch (const Error& error) {
      if (tried.first_error.empty()) tried.first_error = error.what();
    }
  }
  if (tried.made == 0) return tried;
  tried.text_bytes = text / static_cast<double>(tried.made);
  tried.trace_bytes = trace / static_cast<double>(tried.made);
  return tried;
}

void StudySizes::note_failure(const std::string& part, const TriedPrompts& tried, std::size_t count) {
  if (tried.made == 0 && tried.tried > 0 && tried.tried == count)
    problems_.push_back(fmt::format("{}: no question can be asked: {}", part, tried.first_error));
}

StudyPart StudySizes::trace(const study::TraceEntry& entry, const study::ModelEntry& entry_of_model) {
  StudyPart part{fmt::format("trace {}, {}", entry.name, entry_of_model.name)};
  const auto& model = facts_.models.at(entry_of_model.name);
  const auto found = facts_.data.find(entry.data);
  part.known = model.config && found != facts_.data.end();
  if (!part.known) return part;
  const auto& data = found->second;
  const std::size_t count = std::min(data.count, entry.request.read.limit);
  auto request = plan_.trace_request(entry, entry_of_model);
  request.decode = run::fitting(model.config->family, request.decode);
  const auto tried = try_prompts({model, request}, data.sample, std::min(count, StudyData::kSample));
  note_failure(part.name, tried, count);
  longest_[entry_of_model.name] = std::max(longest_[entry_of_model.name], tried.longest);
  part.questions = count;
  part.forwards = count * (run::forwards_of(model.config->family, request.decode) + 1);
  const double each = tried.trace_bytes / (request.float16 ? 2 : 1) + 2 * tried.text_bytes + kBytesOfSample +
                      kBytesOfToken * static_cast<double>(tried.longest);
  part.bytes = static_cast<std::uint64_t>(each * static_cast<double>(count));
  part.there = bytes_in_folder(request.folder);
  return part;
}

StudyPart StudySizes::evaluation(const study::EvaluateEntry& entry) {
  StudyPart part{"evaluate " + entry.name};
  const auto spec = plan_.evaluation_spec(entry);
  const auto conditions = plan_.expected_conditions(entry);
  part.bytes = kBytesOfTables;
  for (const auto* entry_of_model : plan_.models_of(entry.models)) {
    const auto& model = facts_.models.at(entry_of_model->name);
    if (!model.config) {
      part.known = false;
      continue;
    }
    const Family family = model.config->family;
    for (const auto& name : entry.data) {
      const auto found = facts_.data.find(name);
      if (found == facts_.data.end()) {
        part.known = false;
        continue;
      }
      const auto& data = found->second;
      const std::size_t count = std::min(data.count, entry.request.read.limit);
      for (const auto& condition : conditions) {
        if (!run::applies(condition, is_masked_diffusion(family))) continue;
        run::Request request = spec;
        request.decode =
            run::fitting(family, run::decoding_of(condition, spec.decoding(entry_of_model->name)));
        request.prompt_template = run::template_for(spec, condition);
        request.arrangement = without_noise(condition);
        const auto tried = try_prompts({model, request, true}, data.sample, std::min(count, kTriedAnswers));
        note_failure(fmt::format("{}, {}, {}, {}", part.name, entry_of_model->name, name, condition.name),
                     tried, count);
        auto& longest = longest_[entry_of_model->name];
        longest = std::max(longest, tried.longest);
        part.questions += count;
        part.forwards +=
            count * (run::forwards_of(family, request.decode) + (request.observe.empty() ? 0 : 1));
        // Of what is observed a few numbers are kept, which the bytes of an answer allow for.
        const double each = 1.1 * tried.text_bytes + kBytesOfAnswer + 4.0 * request.decode.max_new_tokens;
        part.bytes += static_cast<std::uint64_t>(each * static_cast<double>(count));
      }
    }
  }
  part.there = bytes_in_folder(plan_.evaluation_folder(entry.name));
  return part;
}

StudyPart StudySizes::report(const StudyPlan& plan) {
  StudyPart part{"report"};
  part.bytes = kBytesOfReport;
  part.there = bytes_in_folder(plan.report_folder());
  return part;
}

std::int64_t StudySizes::longest(const std::string& model) const {
  const auto found = longest_.find(model);
  return found == longest_.end() ? 0 : found->second;
}

}  // namespace buoy::study
