// Methods that name their object: given a pointer to a member, pybind11 hands None on as a null
// pointer.
#pragma once

#include <utility>

namespace lpn::python {

template <typename Class, typename Base, typename Result, typename... Args>
auto method(Result (Base::*f)(Args...)) {
  return [f](Class& object, Args... args) -> Result {
    return (object.*f)(std::forward<Args>(args)...);
  };
}
template <typename Class, typename Base, typename Result, typename... Args>
auto method(Result (Base::*f)(Args...) const) {
  return [f](const Class& object, Args... args) -> Result {
    return (object.*f)(std::forward<Args>(args)...);
  };
}

}  // namespace lpn::python
