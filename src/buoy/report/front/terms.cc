#include "buoy/report/front/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "buoy/report/html.h"

namespace buoy::report {
namespace {

// In the order of the fold; none holds a character that HTML escapes.
constexpr std::array kTerms = {
    Term{"received attention", "the attention a position gets, averaged over the queries that look at it"},
    Term{"floating token",
         "a position whose received attention lies far above the others in one layer and step (the paper: "
         "more "
         "than the mean plus 3 standard deviations)"},
    Term{"anchor", "the position that receives most attention in a layer at a step"},
    Term{"sink", "a position that takes attention whatever the text says, mostly the first one"},
    Term{"excess share",
         "of the attention that the mask leaves free, what a position takes beyond uniform attention: 0 is "
         "chance, 1 is everything; the same for the same sink under every mask and at every length"},
    Term{"lift", "attention divided by what uniform attention under the same mask would give: 1 is chance"},
    Term{"step", "one forward of denoising, after which some masked tokens are revealed"},
    Term{"frontier", "how many tokens at the beginning of the answer are revealed already"},
    Term{"masked diffusion",
         "the model is trained to fill in masked tokens, and reveals the answer in any order over several "
         "steps"},
    Term{"autoregressive", "the model is trained to predict the next token, and writes from left to right"},
    Term{"structure",
         "special tokens, text of the template, white space and punctuation; the rest is content"},
    Term{"gold passage", "the passage that holds the answer; the others are distractors"},
    Term{"evidence", "the tokens of the gold passage that are the answer"},
    Term{"retrieval score", "how far a head looks at the very words of the passage that the answer copies"},
    Term{"exact match", "share of the answers that are a right one, word for word"},
    Term{"closed book", "asked without passages"},
    Term{"BOS", "the special token at the beginning of the row"},
    Term{"by angle", "a key draws attention because it points where the queries point"},
    Term{"by length", "a key draws attention because its vector, or that of the queries, is long"},
    Term{"rank correlation",
         "Spearman: 1 when one always rises with the other, 0 when they have no order in common"},
    Term{"correlation", "Pearson: 1 when the points lie on a rising line, 0 when no line tells anything"},
    Term{"entropy", "how widely attention is spread: 0 on one token, larger over many"},
    Term{"from first to last layer", "change along a straight line fitted through the layers"},
    Term{"interval",
         "the two numbers in brackets: values that fit the data, so that 95 of 100 such intervals hold the "
         "true "
         "one for questions of this kind"},
    Term{"margin", "how large an effect must be to count; smaller ones count as none"},
    Term{"network", "one training of a model; another seed gives another network"},
    Term{"arm", "networks with the same mask and objective that differ in their seeds"},
    Term{"sibling",
         "a network that was measured in another study, on the same questions and by the same rules"},
    Term{"prefix mask", "the prompt sees all of itself, the answer what stands before it"},
    Term{"open", "decided by the data neither for nor against the claim"},
    Term{"Holm",
         "a correction for several tests: the more quantities a claim rests on, the stricter each is"},
};

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Begin of the word in the text, as a whole word or its plural; npos where it does not stand.
size_t find_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool plural =
        end < text.size() && text[end] == 's' && (end + 1 == text.size() || !in_word(text[end + 1]));
    const bool ends = end == text.size() || !in_word(text[end]) || plural;
    if (ends && (at == 0 || !in_word(text[at - 1]))) return at;
  }
  return std::string_view::npos;
}

struct Found {
  size_t begin, end;
  const Term* term;
};

}  // namespace

std::span<const Term> terms() {
  return kTerms;
}

std::string sentence_html(std::string_view text) {
  const std::string html = prose_html(text);
  std::string searched = html;
  if (!searched.empty() && searched[0] >= 'A' && searched[0] <= 'Z' && !searched.starts_with("BOS"))
    searched[0] = static_cast<char>(searched[0] - 'A' + 'a');
  std::vector<const Term*> longest_first;
  for (const auto& term : kTerms) longest_first.push_back(&term);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto* a, const auto* b) { return a->word.size() > b->word.size(); });
  std::vector<Found> found;
  for (const auto* term : longest_first) {
    const size_t at = find_word(searched, term->word);
    if (at == std::string::npos) continue;
    found.push_back({at, at + term->word.size(), term});
    // What lies inside a longer term is no term of its own.
    for (size_t i = at; i < at + term->word.size(); ++i) searched[i] = '_';
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.begin < b.begin; });
  std::string out;
  size_t done = 0;
  for (const auto& [begin, end, term] : found) {
    out += html.substr(done, begin - done);
    out += fmt::format("<abbr title=\"{}\">{}</abbr>", escape_html(term->meaning),
                       html.substr(begin, end - begin));
    done = end;
  }
  return out + html.substr(done);
}

std::string terms_html() {
  std::string out = "<details class=\"terms\" id=\"terms\"><summary>Terms</summary>\n<dl>\n";
  for (const auto& [word, meaning] : kTerms)
    out += fmt::format("<dt>{}</dt><dd>{}.</dd>\n", escape_html(word), escape_html(meaning));
  return out + "</dl></details>\n";
}

}  // namespace buoy::report
