#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

// Tables of several quantities, each beside its null. What quantities and nulls mean is said by who makes
// them.
struct QuantityText {
  std::string_view quantity, null;
};
inline constexpr std::string_view kAsByLayer = "as in the table by layer";

struct QuantityByLayer : TableSchema {
  constexpr QuantityByLayer(const TableText& text, const QuantityText& meaning)
      : TableSchema(text),
        quantity(*this, {"quantity", "name", meaning.quantity}),
        value(*this, {"value", "as the quantity", "mean over samples"}, kOverSamples),
        null(*this, {"null", "as the quantity", meaning.null}),
        excess(*this, {"excess", "as the quantity", "value less null, mean over samples"}, kOverSamples),
        samples(*this, {"samples", "samples", "samples with a value"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis quantity;
  Interval value;
  Value null;
  NamedInterval excess;
  Value samples;
};

struct QuantityByStep : TableSchema {
  constexpr explicit QuantityByStep(const TableText& text) : TableSchema(text) {}
  Axis quantity{*this, {"quantity", "name", kAsByLayer}};
  Axis step_bin{*this, {"step_bin", "number", kStepBinMeaning}};
  Interval value{*this, {"value", "as the quantity", "mean over samples"}, kOverSamples};
  Value null{*this, {"null", "as the quantity", kAsByLayer}};
  NamedInterval excess{
      *this, {"excess", "as the quantity", "value less null, mean over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};

struct QuantityByHead : TableSchema {
  constexpr explicit QuantityByHead(const TableText& text) : TableSchema(text) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", "attention head"}};
  Axis quantity{*this, {"quantity", "name", kAsByLayer}};
  Value value{*this, {"value", "as the quantity", "mean over samples of the mean over steps"}};
  Value deviation{*this, {"deviation", "as the quantity", "population standard deviation over samples"}};
  Value null{*this, {"null", "as the quantity", kAsByLayer}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};

}  // namespace buoy::schema
