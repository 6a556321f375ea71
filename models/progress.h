// Tells the caller of long work how far it is, and ends the work where the caller says so.
#pragma once
#include <string>
#include <utility>

#include <tessera/model.h>

namespace tessera::onnx {

class Progress {
 public:
  explicit Progress(ModelProgress callback = {}) : callback_(std::move(callback)) {}

  explicit operator bool() const { return callback_ != nullptr; }  // else nobody listens
  void tell(double share, const std::string& doing) const {
    if (callback_ && !callback_(share, doing)) throw Error(ErrorCode::cancelled, "cancelled while " + doing + ".");
  }

 private:
  ModelProgress callback_;
};

// Shares of the work, the rest of which comes after.
inline constexpr double share_of_reading = 0.9;   // in a load
inline constexpr double share_of_building = 0.9;  // in the making of a Program: planning comes after

}  // namespace tessera::onnx
