// Which one of the changes in this copy of the tree is switched on: the number in LPN_MUTANT, read
// once. With LPN_MUTANT_REACHED=FILE (as many bytes as there are changes, and one) the byte of each
// change that is come by becomes 1, also from a forked process and from code that is loaded.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace lpn_mutant {

struct Choice {
  int number = 0;
  unsigned char* reached = nullptr;
  long size = 0;

  Choice() {
    if (const char* const text = std::getenv("LPN_MUTANT")) number = std::atoi(text);
    const char* const file = std::getenv("LPN_MUTANT_REACHED");
    if (file == nullptr) return;
    const int opened = ::open(file, O_RDWR);
    struct stat about {};
    if (opened < 0 || ::fstat(opened, &about) != 0) std::abort();
    size = about.st_size;
    void* const bytes = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                               MAP_SHARED, opened, 0);
    if (bytes == MAP_FAILED) std::abort();
    reached = static_cast<unsigned char*>(bytes);
    ::close(opened);
  }
};

inline bool chosen(int number) {
  static const Choice choice;
  if (choice.reached != nullptr && number < choice.size) choice.reached[number] = 1;
  return choice.number == number;
}

// A constant expression keeps its original value.
constexpr bool on(int number) {
  if (std::is_constant_evaluated()) return false;
  return chosen(number);
}

}  // namespace lpn_mutant
