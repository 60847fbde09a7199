#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/ops/linear/linear.h"
#include "buoy/tensor/buffer.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/weight.h"

namespace buoy::ops {

// How a router turns the logits of E experts into k experts and their weights.
//
// kSoftmax:       p = softmax(logits) + bias; the k largest p; weights are those p, divided by their sum when
//                 `renormalise`. The bias stays in the weights. Without a bias the order of p is that of the
//                 logits, and the logits decide.
// kSigmoidGroups: s = sigmoid(logits), r = s + bias. The experts form `groups` of E / groups neighbours; a
//                 group's score is the sum of its two largest r; the `kept_groups` best groups stay, and
//                 among their experts the k largest r are chosen. The weights are their s, without bias,
//                 divided by (their sum + 1e-20) unless k is 1, times `scale`.
//
// Of equal values the lower expert (group) wins. NaN logits are the caller's to refuse.
enum class RouterKind { kSoftmax, kSigmoidGroups };

struct RouterRule {
  RouterKind kind = RouterKind::kSoftmax;
  std::int64_t experts = 0;  // E
  std::int64_t chosen = 0;   // k
  bool renormalise = false;
  std::int64_t groups = 1, kept_groups = 1;
  double scale = 1;
};

// What a router decides. The entropy (natural logarithm) is of its distribution over all experts before any
// bias: the softmax, or the sigmoids divided by their sum.
template <typename Number>
struct Routing {
  std::int32_t* experts = nullptr;  // [rows, k], best first, by the value that chooses
  Number* weights = nullptr;        // [rows, k], beside them
  Number* entropy = nullptr;        // [rows] or null
};

struct RouteArgs {
  const float* logits;  // [rows, E]
  std::int64_t rows;
  const float* bias;  // [E] or null
  Routing<float> out;
};

// A row depends on its own logits alone, to the bit.
void route(const Context& context, const RouterRule& rule, const RouteArgs& args);

// The same of one row, in double.
void route_reference(const RouterRule& rule, const double* logits, const float* bias,
                     const Routing<double>& out);

// Matrices of one expert, in any stored type. They may lie inside tensors that hold several experts.
struct ExpertWeights {
  Weight gate, up;  // [width, hidden]
  Weight down;      // [hidden, width]
};

// output = sum over the k chosen experts of weight * down(silu(gate x) * up x), added up by rising expert.
struct ExpertsArgs {
  const float* input;  // [rows, hidden]
  std::int64_t rows;
  std::span<const ExpertWeights> experts;
  std::int64_t chosen;          // k
  const std::int32_t* routed;   // [rows, k], different experts in a row
  const float* routed_weights;  // [rows, k]
  float* output;                // [rows, hidden]
};

// Rows by expert: pair row * k + slot of expert e stand at [first[e], first[e + 1]), rows rising.
struct RowsByExpert {
  std::vector<std::int64_t> first;  // [E + 1]
  std::vector<std::int64_t> pairs;  // [rows * k]
};
RowsByExpert rows_by_expert(std::span<const std::int32_t> routed, std::int64_t experts);

struct ExpertsScratch {
  Buffer<float> gathered;  // [rows of one expert, hidden], and what it returns
  Buffer<float> gate, up;  // [rows of one expert, width]
  LinearScratch linear;
};

// Row r of the output depends on row r of the input and of the routing alone, to the bit: what other rows
// chose, their number and the number of threads change nothing. An expert that no row chose is not read.
void experts(const Context& context, const ExpertsArgs& args, ExpertsScratch& scratch);

void experts_reference(const ExpertsArgs& args, double* output);

}  // namespace buoy::ops
