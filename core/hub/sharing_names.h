// Names of tensors as messages print them, and the names nearest to a misspelt one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quoting.h"
#include <tessera/sharing.h>

namespace tessera {

// The number of characters to insert, delete or replace. Only the beginnings of long texts count.
std::size_t edit_distance(std::string_view, std::string_view);

std::string text_of(const TensorRef&);  // "name" of "model", both in quotes

// ", but there is ..." with up to three of the names nearest to a misspelt one; empty where none is near.
std::string near_names(const TensorRef& typo, const std::vector<TensorRef>& known);
std::string near_names(std::string_view typo, const std::vector<std::string>& known);

// The name of a tensor in a file of a whole hub, and back: "model/name", with %2F for a / of the model and %25 for a %.
// Of a model without a name the tensors have their plain names.
std::string file_name_of(const TensorRef&);
TensorRef ref_of(std::string_view file_name);

}  // namespace tessera
