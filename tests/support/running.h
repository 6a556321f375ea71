// Programs of this build that tests run.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace tessera::test {

// A sample that runs, with what it prints in files.
class Running {
 public:
  Running(const std::string& sample, std::vector<std::string> arguments, const std::vector<std::string>& environment) {
    const std::string program = (std::filesystem::path(TESSERA_SAMPLES) / sample).string();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = (folder_.path() / "out").string(), err = (folder_.path() / "err").string();
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  ~Running() {
    if (is_running()) {
      kill(pid_, SIGKILL);
      wait();
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool is_running() {
    if (!status_)
      if (int status = 0; waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return !status_;
  }
  int wait() {  // its exit code, or -1 where a signal ended it
    if (int status = 0; !status_ && waitpid(pid_, &status, 0) == pid_) status_ = status;
    return status_ && WIFEXITED(*status_) ? WEXITSTATUS(*status_) : -1;
  }
  std::string printed() const { return text_of("out"); }
  std::string errors() const { return text_of("err"); }

 private:
  std::string text_of(const char* name) const {
    std::ifstream file(folder_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  pid_t pid_ = 0;
  std::optional<int> status_;
};

}  // namespace tessera::test
