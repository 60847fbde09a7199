#include "buoy/run/live/stored_frame.h"

#include "buoy/trace/schema.h"

namespace buoy::run {

trace::Sample stored_frame(const trace::StoredSample& stored) {
  trace::Sample frame{stored.id(), {}, stored.metadata()};
  for (const auto own : {trace::kFormat, trace::kVersion, trace::kId}) frame.metadata.erase(std::string(own));
  for (const auto name :
       {trace::kTokens, trace::kRevealedAt, trace::kSteps, trace::kLayers, trace::kTokensByStep,
        trace::kGroupSizes, trace::kRowPositions, trace::kRowsRun, trace::kReveals}) {
    if (stored.has(name))
      frame.arrays.push_back(trace::integer_array(name, stored.shape(name), stored.integers(name)));
  }
  for (const auto name : {trace::kRegionOfToken, trace::kEvidence, trace::kSpecial, trace::kTemplateText,
                          trace::kEnds, trace::kStepKinds}) {
    if (!stored.has(name)) continue;
    const auto values = stored.integers(name);
    frame.arrays.push_back(
        trace::byte_array(name, stored.shape(name), std::vector<std::uint8_t>(values.begin(), values.end())));
  }
  return frame;
}

}  // namespace buoy::run
