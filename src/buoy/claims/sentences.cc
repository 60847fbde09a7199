#include "buoy/claims/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "buoy/claims/claims_evidence.h"

namespace buoy::claims {
namespace {

// Kinds of numbers, as a sentence tells them apart.
enum class Says { kAsClaimed, kNotSo, kOpen };

Says says_of(Finding finding) {
  if (finding == Finding::kFor) return Says::kAsClaimed;
  return finding == Finding::kUndecided || finding == Finding::kLacking ? Says::kOpen : Says::kNotSo;
}

const char* name_of(Says says) {
  return says == Says::kAsClaimed ? "as claimed" : says == Says::kNotSo ? "not so" : "open";
}

const Measured* first(std::span<const Measured> measured, Says says) {
  const auto found = std::find_if(measured.begin(), measured.end(), [&](const Measured& one) {
    return one.finding != Finding::kLacking && says_of(one.finding) == says;
  });
  return found == measured.end() ? nullptr : &*found;
}

std::string number(const Measured& one) {
  return fmt::format("{} {}", plain_words(one.quantity), one.value);
}

// "24 questions", "12 to 24 questions"
std::string questions(std::span<const Measured* const> chosen) {
  const auto [least, most] = std::minmax_element(
      chosen.begin(), chosen.end(), [](const auto* a, const auto* b) { return a->samples < b->samples; });
  if ((*least)->samples != (*most)->samples)
    return fmt::format("{} to {} questions", (*least)->samples, (*most)->samples);
  return fmt::format("{} question{}", (*most)->samples, (*most)->samples == 1 ? "" : "s");
}

// Where verdicts have one reason, its number; where they have several, one of each kind.
std::string numbers(Verdict verdict, std::span<const Measured> measured, std::size_t most = 3) {
  std::vector<Says> order = {Says::kAsClaimed, Says::kNotSo, Says::kOpen};
  if (verdict == Verdict::kSupported) order = {Says::kAsClaimed};
  if (verdict == Verdict::kContradicted || verdict == Verdict::kNoDifference) order = {Says::kNotSo};
  if (verdict == Verdict::kUndecided) order = {Says::kOpen, Says::kAsClaimed, Says::kNotSo};
  std::vector<const Measured*> chosen;
  std::vector<std::string> words;
  for (const Says says : order) {
    const Measured* one = first(measured, says);
    if (one == nullptr || chosen.size() == most) continue;
    chosen.push_back(one);
    const char* name = one->finding == Finding::kEqual ? "too small to count" : name_of(says);
    std::string text = order.size() > 1 ? fmt::format("{}, {}", name, number(*one)) : number(*one);
    if (says == Says::kOpen && !one->why.empty()) text += fmt::format(" ({})", one->why);
    words.push_back(text);
  }
  if (chosen.empty()) return "";
  return fmt::format("{}{} {}", join(words, "; "), words.size() == 1 ? "," : ";", questions(chosen));
}

std::string untestable(std::span<const Measured> measured, const std::string& needs) {
  std::vector<std::string> words;
  for (const auto& one : measured) words.push_back(number(one));
  const std::string seen = join(words, ", ");
  return seen.empty() ? "this takes " + needs : fmt::format("{}; this takes {}", seen, needs);
}

// By one number: "long.diffusion: contradicted, slope 0.31 [0.2, 0.42], 24 questions"
std::string in_short(const TraceVerdict& trace) {
  const std::string why =
      trace.verdict == Verdict::kNotTestable ? "" : numbers(trace.verdict, trace.measured, 1);
  return fmt::format("{}: {}{}{}", trace.trace, claims::name_of(trace.verdict), why.empty() ? "" : ", ", why);
}

}  // namespace

std::string sentence_of(const ClaimVerdict& claim) {
  const std::string lead = words_of_claim(claim.id).lead(claim.verdict);
  if (!claim.failure.empty()) return fmt::format("{}: {}.", lead, claim.failure);
  // Of several traces the first that says what all say together.
  const auto same = [&](const TraceVerdict& one) { return one.verdict == claim.verdict; };
  auto shown = std::find_if(claim.by_trace.begin(), claim.by_trace.end(), same);
  if (shown == claim.by_trace.end()) shown = claim.by_trace.begin();
  const bool any = shown != claim.by_trace.end();
  const std::span<const Measured> measured = any ? std::span(shown->measured) : std::span<const Measured>{};
  std::string because;
  if (claim.verdict == Verdict::kNotTestable) {
    const std::string needs = any && !shown->needs.empty() ? shown->needs : claim.needs;
    because = needs.empty() ? claim.evidence : untestable(measured, needs);
  } else {
    because = numbers(claim.verdict, measured);
  }
  std::string out = because.empty() ? lead : lead + ": " + because;
  if (!out.ends_with('.')) out += '.';
  if (!claim.remark.empty()) out += fmt::format(" {}", claim.remark);
  if (claim.by_trace.size() == 2) {
    const auto& other = claim.by_trace[shown == claim.by_trace.begin() ? 1 : 0];
    out += fmt::format(" These are numbers of {}. {}.", shown->trace, in_short(other));
  } else if (claim.by_trace.size() > 2) {
    out += fmt::format(" These are numbers of {}; {}.", shown->trace, claim.parts);
  }
  return out;
}

}  // namespace buoy::claims
