// How often chance decides a claim: networks that were never trained, 40 per arm, traced live on questions of
// the world; studies of five of them per arm, each claim about kinds of models judged as a report judges it;
// then the same with effects planted into the numbers. docs/results/2026-11-18-null-studies.md.
//
//   null_studies MODELS NUMBERS.tsv [NETWORKS [QUESTIONS [STUDIES]]]
//
// MODELS is the folder of the bundled pair. Networks that NUMBERS.tsv has are not measured again.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>

#include "drawn_studies.h"
#include "untrained_numbers.h"

namespace buoy::null_studies {
namespace {

using claims::Finding;
using claims::Verdict;

void print_verdicts(const std::vector<claims::NetworkQuantity>& numbers, const Draw& draw) {
  fmt::print("claim  supported  contradicted  no difference  mixed  not decided  not testable\n");
  for (const auto& rule : claims::claim_rules()) {
    const auto verdicts = judge_drawn(rule, numbers, draw);
    const auto share = [&](Verdict verdict) { return verdicts.share(verdict, draw.studies); };
    fmt::print("{:5}  {:9.3f}  {:12.3f}  {:13.3f}  {:5.3f}  {:11.3f}  {:12.3f}\n", rule.id,
               share(Verdict::kSupported), share(Verdict::kContradicted), share(Verdict::kNoDifference),
               share(Verdict::kMixed), share(Verdict::kUndecided), share(Verdict::kNotTestable));
    for (const auto& [quantity, findings] : verdicts.findings) {
      const auto of = [&](Finding finding) {
        const auto found = findings.find(finding);
        return found == findings.end()
                   ? 0.0
                   : static_cast<double>(found->second) / static_cast<double>(draw.studies);
      };
      fmt::print("         for {:5.3f}  against {:5.3f}  equal {:5.3f}  open {:5.3f}  {}\n",
                 of(Finding::kFor), of(Finding::kAgainst), of(Finding::kEqual), of(Finding::kUndecided),
                 quantity);
    }
  }
}

void print_planted(const std::vector<claims::NetworkQuantity>& numbers, const Draw& draw) {
  const std::vector<Planted> all = {
      {"Spearman 0.3", "C1", true, {{"Spearman", 0.3}, {"the same given", 0.3}}},
      {"slopes twice their margins",
       "C2",
       true,
       {{"slope of set_size", -0.2}, {"slope of entropy", -0.04}, {"slope of top_share", 0.002}}},
      {"excess share 0.05", "C4", false, {{"excess share", 0.05}}},
      {"slopes 0.1",
       "C5",
       true,
       {{"slope of the fraction due to angle", 0.1}, {"slope of the fraction due to scale", -0.1}}}};
  fmt::print("\nplanted into one arm             claim  supported  contradicted\n");
  for (const auto& planted : all) {
    const auto verdicts = judge_drawn(claims::rule_of(planted.claim), numbers, draw, &planted);
    fmt::print("{:32} {:5}  {:9.3f}  {:12.3f}\n", planted.name, planted.claim,
               verdicts.share(Verdict::kSupported, draw.studies),
               verdicts.share(Verdict::kContradicted, draw.studies));
  }
}

void run(int argc, char** argv) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  Asked asked;
  asked.models = argv[1];
  const std::filesystem::path file = argv[2];
  const auto networks = number(3, 40);
  asked.questions = static_cast<std::uint32_t>(number(4, asked.questions));
  Draw draw;
  draw.studies = number(5, draw.studies);
  auto numbers = read(file);
  for (std::uint64_t seed = 1; seed <= networks; ++seed) {
    for (const auto& arm : untrained_arms()) {
      const auto has = [&](const auto& n) { return n.network.name == name_of(arm, seed); };
      if (std::any_of(numbers.begin(), numbers.end(), has)) continue;
      const auto begun = std::chrono::steady_clock::now();
      const auto of_network = measure(arm, seed, asked);
      append(file, of_network);
      numbers.insert(numbers.end(), of_network.begin(), of_network.end());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      fmt::print("{}: {} numbers, {:.1f} s\n", name_of(arm, seed), of_network.size(), took.count());
      std::fflush(stdout);
    }
  }
  fmt::print("\n{} studies of {} networks per arm, drawn from {} untrained ones per arm; rules {}\n",
             draw.studies, draw.per_arm, networks, claims::rules_hash());
  print_verdicts(numbers, draw);
  print_planted(numbers, draw);
}

}  // namespace
}  // namespace buoy::null_studies

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "null_studies MODELS NUMBERS.tsv [NETWORKS [QUESTIONS [STUDIES]]]\n");
    return 2;
  }
  try {
    buoy::null_studies::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
