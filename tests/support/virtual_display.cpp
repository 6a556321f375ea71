#include "support/virtual_display.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace tessera::test {

VirtualDisplay::VirtualDisplay() {
  if (std::getenv("DISPLAY")) {
    is_there_ = true;
    return;
  }
  int number_pipe[2];  // the server writes the number of its display there once it is ready
  if (pipe(number_pipe) != 0) return;
  server_ = fork();
  if (server_ == 0) {
    close(number_pipe[0]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // should the test crash
    const std::string descriptor = std::to_string(number_pipe[1]);
    execlp("Xvfb", "Xvfb", "-displayfd", descriptor.c_str(), "-screen", "0", "640x480x24", "-nolisten", "tcp", nullptr);
    _exit(127);
  }
  close(number_pipe[1]);
  std::string number;
  pollfd waiting{number_pipe[0], POLLIN, 0};
  constexpr int longest_start = 20000;  // milliseconds
  char next = 0;
  while (server_ > 0 && poll(&waiting, 1, longest_start) == 1 && read(number_pipe[0], &next, 1) == 1 && next != '\n')
    number += next;
  if (next == '\n') {
    setenv("DISPLAY", (":" + number).c_str(), 1);
    is_there_ = true;
  }
  close(number_pipe[0]);
}

VirtualDisplay::~VirtualDisplay() {
  if (server_ <= 0) return;
  unsetenv("DISPLAY");
  kill(server_, SIGTERM);
  waitpid(server_, nullptr, 0);
}

}  // namespace tessera::test
