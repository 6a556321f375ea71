#include "core/kernel/pixel_kernel.h"

namespace tessera {

void PixelKernel::make_key() {
  const auto image = [](const auto& each) {
    return std::to_string(static_cast<int>(each.place)) + " " + std::string(to_string(each.dtype)) + " " +
           std::to_string(each.channels) + " " + each.host_type;
  };
  std::string text = "pixels " + std::to_string(words) + "\n";
  for (const PixelInput& input : inputs)
    text += "in " + image(input) + (input.is_volume ? " volume\n" : input.is_filtered ? " ~\n" : "\n");
  for (const PixelOutput& output : outputs)
    text += "out " + image(output) + " " + output.value + (output.is_rounded_freely ? " ~" : "") +
            (output.is_volume ? " volume\n" : "\n");
  text += body + constants.key();
  key = std::move(text);
}

}  // namespace tessera
