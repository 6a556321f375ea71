// The page's WebGPU: its objects are numbers here, in a table of JavaScript's that counts references. The glue below
// webgpu.h is in webgpu_functions.cpp, which takes descriptors apart: JavaScript knows no offset of a struct.
#pragma once
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace tessera::webgpu {

using PageObject = int;  // 0: none

// Objects within descriptors, as JSON has them.
std::string reference(PageObject);

// Calls a method with the elements of `arguments`, and gives the object that it returns, or none.
PageObject call(PageObject, const char* method, const nlohmann::json& arguments);
nlohmann::json get(PageObject, const char* path);  // a property, such as "info.vendor"; null where there is none
bool has_feature(PageObject, const std::string& name);
void add_reference_to(PageObject);
void release_object(PageObject, bool destroy = false);

// The answer to a call that gives a promise: an object, or the reason for which there is none.
struct PageAnswer {
  bool is_called_off = false;  // by forget_answer()
  PageObject object = 0;
  std::string failure{};  // empty where the promise was kept
};
using PageCallback = std::function<void(const PageAnswer&)>;

// Calls a method that gives a promise. The callback is called by take_answer(), or where it is spontaneous by the page.
int call_later(PageObject, const char* method, const nlohmann::json& arguments, bool is_spontaneous, PageCallback);
int answer_at_once(PageCallback);                // for take_answer()
int when_lost(PageObject device, PageCallback);  // spontaneous
bool take_answer(int future);                    // false where there is none yet
void forget_answer(int future);                  // calls back now

// Whether the program can wait for the page: where it is linked with -sASYNCIFY or -sJSPI, no other call of it is
// suspended, and it is not called back by tessera.
bool can_suspend();
bool is_suspended();  // another call is
void suspend_until_answer(int future);

}  // namespace tessera::webgpu
