// Root may write everything: while this lives, the process is someone else. On Windows nobody may write a file that is
// to be read only.
#pragma once
#include <gtest/gtest.h>
#ifndef _WIN32
#include <unistd.h>
#endif

namespace tessera::test {

#ifdef _WIN32
struct WithoutRootsRights {
  ~WithoutRootsRights() {}
};
#else
class WithoutRootsRights {
 public:
  WithoutRootsRights() {
    constexpr uid_t nobody = 65534;
    EXPECT_EQ(user_ == 0 ? seteuid(nobody) : 0, 0);
  }
  ~WithoutRootsRights() { EXPECT_EQ(seteuid(user_), 0); }
  WithoutRootsRights(const WithoutRootsRights&) = delete;
  WithoutRootsRights& operator=(const WithoutRootsRights&) = delete;

 private:
  const uid_t user_ = geteuid();
};
#endif

}  // namespace tessera::test
