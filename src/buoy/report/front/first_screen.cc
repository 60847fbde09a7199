#include "buoy/report/front/first_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "buoy/base/counted.h"
#include "buoy/claims/sentences.h"
#include "buoy/report/front/question_counts.h"
#include "buoy/report/front/terms.h"
#include "buoy/report/html.h"

namespace buoy::report {
namespace {

using claims::Verdict;

// The label of a verdict: a sign and words, so that it needs no colour.
struct Label {
  Verdict verdict;
  const char *style, *sign;
};
constexpr std::array kLabels = {
    Label{Verdict::kSupported, "supported", "&#10003;"},
    Label{Verdict::kContradicted, "contradicted", "&#10007;"},
    Label{Verdict::kNoDifference, "equal", "="},
    Label{Verdict::kMixed, "mixed", "&#177;"},
    Label{Verdict::kUndecided, "undecided", "?"},
    Label{Verdict::kNotTestable, "untestable", "&#8211;"},
};

const Label& label_of(Verdict verdict) {
  return *std::find_if(kLabels.begin(), kLabels.end(),
                       [&](const Label& label) { return label.verdict == verdict; });
}

enum class Group { kDecided, kOpen, kUntestable };

Group group_of(const claims::ClaimVerdict& claim) {
  if (claim.verdict == Verdict::kNotTestable) return Group::kUntestable;
  return claim.verdict == Verdict::kUndecided ? Group::kOpen : Group::kDecided;
}

std::string evidence_html(const claims::ClaimVerdict& claim) {
  std::string out;
  const auto row = [&](const char* what, const std::string& text) {
    if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", what, prose_html(text));
  };
  row("The claim", fmt::format("{}: {}", claim.id, claim.claim));
  row("The test", claim.test);
  row("Evidence", claim.evidence);
  row("Quantities", claim.parts);
  row("Lacking", claim.needs);
  row("About kinds of models", claim.kinds.words);
  return "<dl>\n" + out + "</dl>\n";
}

// Where nothing can be said about kinds of models, that is said once for all.
bool any_kinds(std::span<const claims::ClaimVerdict> claims) {
  return std::any_of(claims.begin(), claims.end(), [](const auto& claim) { return claim.kinds.enough; });
}

std::string finding_html(const claims::ClaimVerdict& claim, bool with_kinds) {
  const Label& label = label_of(claim.verdict);
  const std::string kinds = with_kinds ? fmt::format(" <span class=\"kinds\">Kinds of models: {}.</span>",
                                                     escape_html(claim.kinds.words))
                                       : "";
  return fmt::format(
      "<details class=\"finding\" id=\"{0}\"><summary><span class=\"verdict {1}\"><span "
      "aria-hidden=\"true\">{2}</span> {3}</span> <b>{4}.</b> {5}{6}</summary>\n{7}</details>\n",
      escape_html(claim.id), label.style, label.sign, name_of(claim.verdict),
      escape_html(claims::words_of_claim(claim.id).topic), sentence_html(claims::sentence_of(claim)), kinds,
      evidence_html(claim));
}

std::string group_html(std::span<const claims::ClaimVerdict> claims, Group group) {
  std::string out;
  for (const auto& claim : claims) {
    if (group_of(claim) == group) out += finding_html(claim, any_kinds(claims));
  }
  return out;
}

std::string with_heading(const char* heading, const std::string& findings) {
  return findings.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", heading, findings);
}

// What a study was not made for is no finding of it.
std::string folded(std::span<const claims::ClaimVerdict> claims) {
  const auto count = static_cast<std::size_t>(std::count_if(
      claims.begin(), claims.end(), [](const auto& claim) { return group_of(claim) == Group::kUntestable; }));
  if (count == 0) return "";
  return fmt::format(
      "<div class=\"folds\"><details class=\"untestable\"><summary>{} that this data cannot test, and what "
      "each "
      "takes</summary>\n{}</details></div>\n",
      buoy::counted(count, "claim"), group_html(claims, Group::kUntestable));
}

std::string size_of(std::int64_t parameters) {
  if (parameters >= 1'000'000'000)
    return fmt::format("{:.1f} billion", static_cast<double>(parameters) / 1e9);
  if (parameters >= 1'000'000) return fmt::format("{:.1f} million", static_cast<double>(parameters) / 1e6);
  return parameters > 0 ? fmt::format("{}", parameters) : "not known";
}

std::string mask_words(const std::string& mask) {
  if (mask == "causal") return "what stands before (causal mask)";
  if (mask == "full") return "everything (full mask)";
  if (mask == "blocks") return "what stands before, and its own block (block mask)";
  return mask == "prefix" ? "the prompt, and what stands before (prefix mask)" : "not known";
}

// What the names stand for: data sets, and the traces that are called otherwise.
std::string sets_html(std::span<const QuestionSet> sets) {
  std::string out;
  for (const auto& set : sets) {
    std::vector<std::string> traces = set.traces;
    std::erase(traces, set.name);
    const std::string traced =
        traces.empty()
            ? ""
            : fmt::format(" (traced as {})", escape_html(fmt::format("{}", fmt::join(traces, ", "))));
    out += fmt::format(" <b>{}</b>{}: {}", escape_html(set.name), traced, sentence_html(set.description));
  }
  return out.empty() ? out : fmt::format("<p class=\"lead sets\">What is asked.{}</p>\n", out);
}

}  // namespace

std::string models_html(const ReportInput& input) {
  std::string rows;
  for (const auto& model : models_of(input.traces)) {
    const auto& card = model.trace->card;
    std::vector<std::string> asked;
    for (const auto& [what, count] : model.questions) asked.push_back(fmt::format("{} ({})", count, what));
    rows += fmt::format(
        "<tr><th>{}</th><td data-is=\"Parameters\">{}</td><td data-is=\"Layers &#215; heads\">{}</td>"
        "<td data-is=\"Trained to predict\">{}</td><td data-is=\"A token sees\">{}</td>"
        "<td data-is=\"Questions traced\">{}</td></tr>\n",
        escape_html(model.trace->model), size_of(card.parameters),
        card.layers > 0 ? fmt::format("{} &#215; {}", card.layers, card.heads) : "not known",
        model.trace->kind.masked_diffusion ? sentence_html("masked tokens: masked diffusion")
                                           : sentence_html("the next token: autoregressive"),
        mask_words(card.mask), escape_html(fmt::format("{}", fmt::join(asked, ", "))));
  }
  std::string out;
  if (!rows.empty())
    out = fmt::format(
        "<div class=\"models scroll\"><table class=\"facts\"><thead><tr><th>Model</th><th>Parameters</th>"
        "<th>Layers &#215; heads</th><th>Trained to predict</th><th>A token sees</th><th>Questions "
        "traced</th>"
        "</tr></thead><tbody>\n{}</tbody></table></div>\n",
        rows);
  const std::string asked = asked_questions(input.analyses);
  if (!asked.empty())
    out += fmt::format("<p class=\"lead\">Questions asked and scored: {}.</p>\n", escape_html(asked));
  return out + sets_html(input.sets);
}

std::string findings_html(std::span<const claims::ClaimVerdict> claims) {
  std::vector<std::string> counts;
  for (const auto& label : kLabels) {
    const auto count = std::count_if(claims.begin(), claims.end(),
                                     [&](const auto& claim) { return claim.verdict == label.verdict; });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name_of(label.verdict)));
  }
  const std::string kinds = any_kinds(claims) || claims.empty()
                                ? ""
                                : fmt::format(" About kinds of models nothing can be said: {}.",
                                              escape_html(claims[0].kinds.words));
  return fmt::format(
             "<h2 id=\"claims\">Findings</h2>\n<p class=\"question\">{} of arXiv 2601.07894 about attention, "
             "tested on these models: {}.{} Numbers in brackets are 95% intervals; open a finding for its "
             "evidence.</p>\n",
             buoy::counted(claims.size(), "claim"), fmt::join(counts, ", "), kinds) +
         with_heading("Decided or mixed", group_html(claims, Group::kDecided)) +
         with_heading("Could not be decided, and why", group_html(claims, Group::kOpen)) + folded(claims);
}

}  // namespace buoy::report
