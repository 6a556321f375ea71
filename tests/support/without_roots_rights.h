// Root may write everything: while this lives, the process is someone else.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

namespace tessera::test {

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

}  // namespace tessera::test
