#include "buoy/claims/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "buoy/claims/claims_evidence.h"

namespace buoy::claims {
namespace {

std::vector<NetworkVerdict> by_network(const ClaimVerdict& claim, Arms arms) {
  std::vector<Network> networks;
  for (const auto& trace : claim.by_trace) {
    for (const auto& network : trace.networks) {
      if (arms == Arms::kDiffusion && !network.masked_diffusion) continue;
      if (std::find(networks.begin(), networks.end(), network) == networks.end()) networks.push_back(network);
    }
  }
  std::vector<NetworkVerdict> out;
  for (const auto& network : networks) {
    std::vector<TraceVerdict> with_it;
    for (const auto& trace : claim.by_trace) {
      if (std::find(trace.networks.begin(), trace.networks.end(), network) != trace.networks.end())
        with_it.push_back(trace);
    }
    out.push_back({network, combine(std::span<const TraceVerdict>(with_it))});
  }
  return out;
}

}  // namespace

KindsVerdict judge_kinds(const ClaimVerdict& claim, Arms arms) {
  KindsVerdict out;
  out.networks = by_network(claim, arms);
  const auto diffusion =
      static_cast<std::size_t>(std::count_if(out.networks.begin(), out.networks.end(),
                                             [](const auto& one) { return one.network.masked_diffusion; }));
  const std::size_t autoregressive = out.networks.size() - diffusion;
  const std::size_t fewest = arms == Arms::kBoth ? std::min(diffusion, autoregressive) : diffusion;
  const bool one_count = arms == Arms::kDiffusion || diffusion == autoregressive;
  const std::string counts =
      one_count ? fmt::format("{} per arm", fewest)
                : fmt::format("{} masked-diffusion, {} autoregressive", diffusion, autoregressive);
  out.enough = fewest >= kFewestNetworks;
  if (!out.enough) {
    out.words = fmt::format("too few networks ({}; from {} on)", counts, kFewestNetworks);
    return out;
  }
  std::map<std::string, std::size_t> verdicts;
  for (const auto& one : out.networks) ++verdicts[std::string(name_of(one.verdict))];
  out.words = fmt::format("networks one by one ({}):", counts);
  for (const auto& [verdict, count] : verdicts)
    out.words += fmt::format("{} {} {}", out.words.ends_with(":") ? "" : ",", count, verdict);
  out.words += "; not judged together: there are no intervals over networks yet";
  return out;
}

}  // namespace buoy::claims
