// An X server for tests that open windows.
#pragma once
#include <sys/types.h>

#include <string>

namespace tessera::test {

// Where $DISPLAY is not set, starts Xvfb and sets it, for as long as this lives.
class VirtualDisplay {
 public:
  VirtualDisplay();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  bool is_there() const { return is_there_; }

 private:
  pid_t server_ = 0;
  bool is_there_ = false;
};

}  // namespace tessera::test
