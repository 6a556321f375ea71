// Masks of sequences: which layers make them, pass them on and lose them, as in TF.js.
#include <algorithm>

#include "models/tfjs/layers.h"

namespace tessera::tfjs {

namespace {

const std::string several_masks = "?";  // joined by a layer in a way that only TF.js knows

}  // namespace

void LayersReader::make_masking(const Layer& layer) {
  Attributes{node("KerasMasking", layer.name, {layer.inputs[0]})}.number("mask_value",
                                                                         layer.number_or("mask_value", 0));
  masks_[layer.name] = layer.name + ":1";
}

void LayersReader::mask_zeros(const Layer& layer) {
  masks_[layer.name] = layer.name + "/mask";
  node("KerasNotZero", masks_[layer.name], {layer.inputs[0]});
}

void LayersReader::pass_mask(const Layer& layer) {
  static const std::set<std::string> passing{
      "Activation", "AlphaDropout",       "BatchNormalization", "Dense",
      "Dropout",    "GaussianDropout",    "GaussianNoise",      "PReLU",
      "ReLU",       "LayerNormalization", "SpatialDropout1D",   "TimeDistributed"};
  static const std::set<std::string> joining{"Add",     "Average", "Concatenate", "Dot",
                                             "Maximum", "Minimum", "Multiply",    "Subtract"};
  static const std::set<std::string> recurrent{"GRU", "LSTM", "SimpleRNN"};
  if (joining.contains(layer.kind) &&
      std::ranges::any_of(layer.inputs, [&](const std::string& input) { return masks_.contains(input); }))
    masks_[layer.name] = several_masks;
  const auto mask = masks_.find(layer.inputs[0]);
  if (mask == masks_.end()) return;
  bool passes = passing.contains(layer.kind);
  if (recurrent.contains(layer.kind)) passes = layer.is_set("return_sequences", false);
  if (layer.kind == "Bidirectional") {
    const Json* each = member(needed(needed(layer.config, "layer"), "config"), "return_sequences");
    passes = each && truth(*each, "return_sequences");
  }
  if (passes) masks_[layer.name] = mask->second;
}

std::string LayersReader::mask_of(const Layer& layer) const {
  const auto mask = masks_.find(layer.inputs[0]);
  if (mask == masks_.end()) return "";
  if (mask->second == several_masks) throw Error(ErrorCode::unsupported, "its input joins sequences with masks.");
  return mask->second;
}

}  // namespace tessera::tfjs
