#pragma once

#include <string>

namespace buoy::claims {

// One training. Traces of the same network on several data sets have the same name.
struct Network {
  std::string name;
  bool masked_diffusion = true;
  std::string arm = {};        // of the study; "": networks of its kind
  std::string mask = {};       // causal, prefix or full; "": not known
  std::string objective = {};  // what it was trained to predict; "": not known
  std::string weights = {};    // their SHA-256; "": not known
  std::string control = {};    // "untrained": it is no network of the claims
  bool sibling = false;        // not measured here: from a table that was given

  // Kinds of models are masked diffusion with a full mask and autoregressive with a causal one. Networks that
  // mix these, and controls, are seen beside them.
  bool counts() const {
    return control.empty() && (mask.empty() || mask == (masked_diffusion ? "full" : "causal"));
  }
  std::string kind() const { return masked_diffusion ? "masked diffusion" : "autoregressive"; }
  // The same training: by weights where both are known.
  bool operator==(const Network& other) const {
    if (!weights.empty() && !other.weights.empty()) return weights == other.weights;
    return name == other.name && masked_diffusion == other.masked_diffusion;
  }
};

}  // namespace buoy::claims
