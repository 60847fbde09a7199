#pragma once

#include <span>
#include <string>

#include "buoy/claims/claims.h"

// Findings in plain sentences, made of a verdict and its numbers. The words of every claim and verdict stand
// in sentences_words.cc, once.
namespace buoy::claims {

// How the sentence of a claim begins, by verdict.
struct ClaimWords {
  const char* id;
  const char* topic;  // "Drift"
  const char *supported, *contradicted, *no_difference, *mixed, *undecided, *not_testable;

  const char* lead(Verdict verdict) const;
};
std::span<const ClaimWords> claim_words();  // C1 to C10
const ClaimWords& words_of_claim(std::string_view id);

// What a quantity is called in a sentence; NotFound is an error of the program.
struct QuantityWords {
  std::string_view quantity;  // Measured::quantity
  const char* plain;
};
std::span<const QuantityWords> quantity_words();
const char* plain_words(std::string_view quantity);

// "Anchors move right as denoising goes on: rank correlation of anchor and step 0.41 [0.35, 0.47], 24
// questions."
std::string sentence_of(const ClaimVerdict& claim);

}  // namespace buoy::claims
