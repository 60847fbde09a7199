// What a reader sees first.

#include "buoy/report/front/first_screen.h"

#include <gtest/gtest.h>

#include "buoy/base/version.h"
#include "buoy/report/front/terms.h"
#include "claims/claims_support.h"

namespace buoy::report {
namespace {

using claims::ClaimVerdict;
using claims::table;
using claims::Verdict;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TraceSummary trace_of(const std::string& label, const std::string& model, bool diffusion,
                      std::int64_t samples) {
  TraceSummary trace;
  trace.kind = {label, diffusion, samples};
  trace.model = model;
  trace.card = {model,
                "LLaDA",
                "F32",
                diffusion ? "" : "0123abc",
                std::string(64, 'a'),
                diffusion ? "full" : "causal",
                3543040,
                8,
                4};
  trace.decoding = "max_new_tokens 8";
  trace.seed = 7;
  return trace;
}

ReportInput two_models() {
  ReportInput input;
  input.traces = {trace_of("d", "small", true, 24), trace_of("c", "other", false, 24),
                  trace_of("recall", "small", true, 16)};
  input.intervals = {0.95, 1000, 2000, 1};
  return input;
}

TEST(FirstScreen, NamesModelsWithSizeKindMaskAndQuestions) {
  const std::string html = models_html(two_models());
  EXPECT_TRUE(has(html, "<th>small</th><td data-is=\"Parameters\">3.5 million</td>")) << html;
  EXPECT_TRUE(has(html, ">8 &#215; 4</td>")) << html;
  EXPECT_TRUE(has(html, "masked tokens")) << html;
  EXPECT_TRUE(has(html, "the next token")) << html;
  EXPECT_TRUE(has(html, "everything (full mask)")) << html;
  EXPECT_TRUE(has(html, "what stands before (causal mask)")) << html;
  EXPECT_TRUE(has(html, "24 (d), 16 (recall)")) << "one row for both traces of a model: " << html;
}

TEST(FirstScreen, SaysWhatTheNamesOfQuestionsStandFor) {
  auto input = two_models();
  EXPECT_FALSE(has(models_html(input), "What is asked"));
  input.sets = {{"unknown", "Facts about <people>.", {"d", "c"}},
                {"recall", "Without passages.", {"recall"}}};
  const std::string html = models_html(input);
  EXPECT_TRUE(has(html, "<b>unknown</b> (traced as d, c): Facts about &lt;people&gt;.")) << html;
  EXPECT_TRUE(has(html, "<b>recall</b>: Without passages.")) << "a trace of the same name is not named again";
}

TEST(FirstScreen, SaysHowManyQuestionsWereScored) {
  ReportInput input;
  input.analyses.push_back({"evaluation",
                            "",
                            {table("eval_scores", {"trace", "set", "items"},
                                   {{"passages", "known", 16.0},
                                    {"passages", "known", 15.0},
                                    {"passages", "unknown", 24.0},
                                    {"position", "similar", 12.0}})}});
  EXPECT_TRUE(has(models_html(input), "passages: known 16, unknown 24; position: similar 12."))
      << models_html(input);
}

ClaimVerdict claim_of(const std::string& id, Verdict verdict) {
  ClaimVerdict claim;
  claim.id = id;
  claim.verdict = verdict;
  claim.claim = "What <they> claim.";
  claim.evidence = "All numbers.";
  claim.kinds.words = "too few networks";
  claim.by_trace.push_back({"d", verdict, {}, {}, {}, {}, {}});
  return claim;
}

TEST(FirstScreen, LabelsEveryFindingInWordsAndFoldsItsEvidence) {
  const std::string html = findings_html(
      std::vector<ClaimVerdict>{claim_of("C1", Verdict::kUndecided), claim_of("C4", Verdict::kSupported)});
  EXPECT_TRUE(has(html, "2 claims of arXiv 2601.07894")) << html;
  EXPECT_TRUE(has(html, "1 supported, 1 not decided")) << html;
  EXPECT_TRUE(has(
      html, "<span class=\"verdict supported\"><span aria-hidden=\"true\">&#10003;</span> supported</span>"))
      << html;
  EXPECT_TRUE(has(html, "About kinds of models nothing can be said: too few networks.")) << "once: " << html;
  EXPECT_FALSE(has(html, "Kinds of models: ")) << html;
  auto judged = claim_of("C4", Verdict::kSupported);
  judged.kinds.words = "supported";
  judged.kinds.enough = true;
  EXPECT_TRUE(
      has(findings_html(std::vector<ClaimVerdict>{judged}), "Kinds of models: supported.</span></summary>"));
  EXPECT_TRUE(has(html, "<dd>C4: What &lt;they&gt; claim.</dd>")) << html;
  EXPECT_LT(html.find("id=\"C4\""), html.find("Could not be decided, and why"))
      << "what was decided comes first";
  EXPECT_GT(html.find("id=\"C1\""), html.find("Could not be decided, and why"));
}

// A study may be made for something else: then it does not begin with what it cannot say.
TEST(FirstScreen, FoldsWhatTheDataCannotTest) {
  const std::string html = findings_html(std::vector<ClaimVerdict>{claim_of("C1", Verdict::kNotTestable),
                                                                   claim_of("C4", Verdict::kSupported),
                                                                   claim_of("C2", Verdict::kUndecided)});
  const auto fold = html.find("<summary>1 claim that this data cannot test");
  ASSERT_NE(fold, std::string::npos) << html;
  EXPECT_GT(html.find("id=\"C1\""), fold);
  EXPECT_LT(html.find("id=\"C4\""), fold);
  EXPECT_LT(html.find("id=\"C2\""), fold);
  EXPECT_FALSE(has(findings_html(std::vector<ClaimVerdict>{claim_of("C4", Verdict::kMixed)}), "cannot test"));
}

TEST(Methods, NameWhatAPaperMustSay) {
  const std::string text = methods_text(two_models());
  for (const std::string& words :
       {std::string("Buoy ") + std::string(version()), std::string("3,543,040 parameters"),
        std::string("full attention mask"), std::string("revision 0123abc"),
        std::string("weights_sha256 aaaaaaaaaaaa"), std::string("max_new_tokens 8; seed 7"),
        std::string("small: d 24, recall 16; other: c 24"), std::string("1,000 resamples (seed 1)"),
        std::string("95%"), claims::rules_hash()})
    EXPECT_TRUE(has(text, words)) << words << "\nin " << text;
  EXPECT_EQ(text.find('<'), std::string::npos) << "plain text";
}

TEST(Methods, NameTheSiblings) {
  auto input = two_models();
  EXPECT_TRUE(
      has(methods_text(input), "About kinds of models nothing is said with fewer than 5 networks per arm."));
  for (const char* name : {"full-masked.2", "full-masked.3", "causal-next.2"}) {
    claims::NetworkQuantity number;
    number.network.name = name;
    number.network.arm = std::string(name).substr(0, std::string(name).find('.'));
    input.background.siblings.insert(input.background.siblings.end(), 2,
                                     number);  // two numbers of one network
  }
  EXPECT_TRUE(has(methods_text(input),
                  "measured elsewhere on the same questions, 3 networks: causal-next (1), full-masked (2)."))
      << methods_text(input);
  claims::NetworkQuantity control;
  control.network.name = "untrained-prefix-next.1";
  control.network.control = "untrained";
  input.background.siblings.push_back(control);
  EXPECT_TRUE(has(methods_text(input),
                  "3 networks: causal-next (1), full-masked (2); 1 untrained control of their configs."))
      << methods_text(input);
}

TEST(Terms, TellTheirMeaningWhereTheyAreFirstUsed) {
  EXPECT_EQ(
      sentence_html("A lift of 2, a lift."),
      "A <abbr title=\"attention divided by what uniform attention under the same mask would give: 1 is "
      "chance\">lift</abbr> of 2, a lift.");
  EXPECT_TRUE(has(sentence_html("Anchors move"), ">Anchor</abbr>s move")) << sentence_html("Anchors move");
  EXPECT_TRUE(has(sentence_html("rank correlation of"), ">rank correlation</abbr> of"))
      << "the longer term wins: " << sentence_html("rank correlation of");
  EXPECT_EQ(sentence_html("lifted <b>"), "lifted &lt;b&gt;");
}

// What sentences are made of uses no term that the fold lacks.
TEST(Terms, AreAllInTheFold) {
  const std::string fold = terms_html();
  for (const auto& term : terms()) EXPECT_TRUE(has(fold, "<dt>" + std::string(term.word) + "</dt>"));
  EXPECT_GT(terms().size(), 20u);
}

}  // namespace
}  // namespace buoy::report
