#include <fmt/format.h>
#include <fmt/ranges.h>

#include "buoy/base/version.h"
#include "buoy/report/front/first_screen.h"
#include "buoy/report/front/question_counts.h"
#include "buoy/report/html.h"
#include "buoy/report/networks/sibling_words.h"

namespace buoy::report {
namespace {

constexpr size_t kShownDigits = 12;  // of a sum

// 3543040 as "3,543,040"
std::string grouped(std::int64_t number) {
  std::string out = std::to_string(number);
  for (auto at = std::ssize(out) - 3; at > 0; at -= 3) out.insert(static_cast<size_t>(at), 1, ',');
  return out;
}

std::string model_words(const TraceSummary& trace) {
  const auto& card = trace.card;
  std::vector<std::string> facts;
  if (!card.family.empty()) facts.push_back(card.family + " family");
  facts.push_back(trace.kind.masked_diffusion ? "masked diffusion" : "autoregressive");
  if (!card.mask.empty()) facts.push_back(card.mask + " attention mask");
  if (card.parameters > 0) facts.push_back(grouped(card.parameters) + " parameters");
  if (card.layers > 0) facts.push_back(fmt::format("{} layers of {} heads", card.layers, card.heads));
  if (!card.stored_dtype.empty()) facts.push_back("weights in " + card.stored_dtype);
  if (!card.commit.empty()) facts.push_back("revision " + card.commit);
  if (!card.weights_sha256.empty())
    facts.push_back(fmt::format("weights_sha256 {}", card.weights_sha256.substr(0, kShownDigits)));
  return fmt::format("{} ({})", trace.model, fmt::join(facts, ", "));
}

std::string decoding_words(std::span<const TraceSummary> traces) {
  std::vector<std::string> out;
  for (const auto& trace : traces) {
    if (!trace.judged || trace.control || trace.decoding.empty()) continue;
    out.push_back(fmt::format("{} ({}; seed {})", trace.kind.label, trace.decoding, trace.seed));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string control_words(std::span<const TraceSummary> traces) {
  std::vector<std::string> out;
  for (const auto& trace : traces) {
    if (trace.control)
      out.push_back(fmt::format("{} ({}) {}", trace.kind.label, trace.model, trace.kind.samples));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

std::string methods_text(const ReportInput& input) {
  std::string out = fmt::format("Attention was measured with Buoy {} (commit {}).", version(), commit());
  std::vector<std::string> models, questions;
  for (const auto& model : models_of(input.traces)) {
    models.push_back(model_words(*model.trace));
    std::vector<std::string> asked;
    for (const auto& [what, count] : model.questions) asked.push_back(fmt::format("{} {}", what, count));
    questions.push_back(fmt::format("{}: {}", model.trace->model, fmt::join(asked, ", ")));
  }
  if (!models.empty()) out += fmt::format(" Models: {}.", fmt::join(models, "; "));
  if (const auto decoding = decoding_words(input.traces); !decoding.empty())
    out += fmt::format(" Decoding of traces: {}.", decoding);
  if (!questions.empty()) out += fmt::format(" Questions traced: {}.", fmt::join(questions, "; "));
  if (const auto words = control_words(input.traces); !words.empty())
    out += fmt::format(" Controls, never judged: {}.", words);
  if (const auto asked = asked_questions(input.analyses); !asked.empty())
    out += fmt::format(" Questions asked and scored: {}.", asked);
  const auto& intervals = input.intervals;
  if (intervals.resamples > 0) {
    out += fmt::format(
        " Intervals have a confidence of {:g}% and take questions as the unit: bootstraps with {} resamples "
        "(seed {}) for attention",
        100 * intervals.confidence, grouped(intervals.resamples), intervals.seed);
    out += intervals.score_resamples > 0
               ? fmt::format(
                     ", Wilson's and Newcombe's for shares, bootstraps with {} resamples for other scores.",
                     grouped(intervals.score_resamples))
               : std::string(".");
  }
  out += fmt::format(
      " Claims of arXiv 2601.07894 were judged by Buoy's rules {}; several quantities of one claim were "
      "corrected "
      "together (Holm, {:g}). Verdicts are about these models.",
      claims::rules_hash(), claims::kAlpha);
  const auto siblings = sibling_words(input.background.siblings);
  return out +
         (siblings.empty()
              ? fmt::format(" About kinds of models nothing is said with fewer than {} networks per arm.",
                            claims::kFewestNetworks)
              : fmt::format(
                    " Verdicts about kinds of models take networks as the unit (Student's t, from {} "
                    "per arm on): those of this study and, measured elsewhere on the same questions, {}.",
                    claims::kFewestNetworks, siblings));
}

std::string methods_html(const ReportInput& input) {
  return fmt::format(
      "<details class=\"methods\" id=\"methods\"><summary>Methods, to paste into a paper</summary>\n"
      "<button type=\"button\" class=\"copy\" data-copies=\"methods-text\">Copy</button>\n"
      "<p id=\"methods-text\">{}</p></details>\n",
      escape_html(methods_text(input)));
}

}  // namespace buoy::report
