// How often chance decides a claim: networks that were never trained, 40 per arm, traced live on questions of
// the world; studies of five of them per arm, each claim about kinds of models judged as a report judges it;
// then the same with effects planted into the numbers. docs/results/2026-11-18-null-studies.md.
//
//   null_studies MODELS NUMBERS.tsv [NETWORKS [QUESTIONS [STUDIES [FIRST [THREADS]]]]]
//
// MODELS is the folder of the bundled pair. Networks that NUMBERS.tsv has are not measured again. With 0
// studies it only measures networks FIRST to NETWORKS, so that several processes can share the work: their
// files joined are NUMBERS.tsv.

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

double share_for(const Verdicts& verdicts, const std::string& quantity, const Draw& draw) {
  const auto findings = verdicts.findings.find(quantity);
  if (findings == verdicts.findings.end()) return 0;
  const auto found = findings->second.find(Finding::kFor);
  return found == findings->second.end()
             ? 0.0
             : static_cast<double>(found->second) / static_cast<double>(draw.studies);
}

// Effects beyond the margins, and how often each quantity is found, corrected as in a report.
void print_planted(const std::vector<claims::NetworkQuantity>& numbers, const Draw& draw) {
  const std::string excess(claims::rules::kExcessOfFirst), largest(claims::rules::kExcessOfLargest);
  const std::vector<Planted> all = {
      {"0.3", "C1", true, {{"Spearman", 0.3}}},
      {"0.5", "C1", true, {{"Spearman", 0.5}}},
      {"margin + 0.5", "C2", true, {{"slope of set_size", -0.6}}},
      {"margin + 0.01", "C2", true, {{"slope of entropy", -0.03}}},
      {"margin + 0.002", "C2", true, {{"slope of top_share", 0.003}}},
      {"margin + 0.02", "C4", false, {{excess, 0.04}}},
      {"margin + 0.02, and what the arms differ by", "C4", false, {{largest, 0.07}}},
      {"margin + 0.05",
       "C5",
       true,
       {{"slope of the fraction due to angle", 0.1}, {"slope of the fraction due to scale", -0.1}}},
      {"margin + 0.1", "C6", true, {{"slope of the lift of structural tokens", -0.15}}},
      {"margin + 0.1", "C6", true, {{"slope of the lift of gold, of evidence: gold", 0.15}}}};
  fmt::print("\nplanted into the networks of one arm\nclaim  found  effect, quantity\n");
  for (const auto& planted : all) {
    const auto verdicts = judge_drawn(claims::rule_of(planted.claim), numbers, draw, &planted);
    const auto none = judge_drawn(claims::rule_of(planted.claim), numbers, draw);
    for (const auto& [quantity, findings] : verdicts.findings) {
      const double found = share_for(verdicts, quantity, draw);
      if (found != share_for(none, quantity, draw))
        fmt::print("{:5}  {:5.3f}  {}, {}\n", planted.claim, found, planted.name, quantity);
    }
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
  const auto first = number(6, 1);
  asked.threads = static_cast<int>(number(7, static_cast<std::uint64_t>(asked.threads)));
  auto numbers = read(file);
  for (std::uint64_t seed = first; seed <= networks; ++seed) {
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
  if (draw.studies == 0) return;
  fmt::print("\n{} studies of {} networks per arm, drawn from {} untrained ones per arm; rules {}\n",
             draw.studies, draw.per_arm, networks, claims::rules_hash());
  for (const std::size_t controls : {0, 1}) {
    draw.controls = controls;
    fmt::print("\n{}\n", controls == 0 ? "without controls" : "with one untrained control per arm");
    print_verdicts(numbers, draw);
  }
  print_planted(numbers, draw);
}

}  // namespace
}  // namespace buoy::null_studies

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "null_studies MODELS NUMBERS.tsv [NETWORKS [QUESTIONS [STUDIES [FIRST [THREADS]]]]]\n");
    return 2;
  }
  try {
    buoy::null_studies::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
