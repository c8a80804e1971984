// Status and Expected: what every function below the command line returns if it can fail. Nothing
// here prints or exits.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace ridge {

// An error in words a user can act on: what, where, and what to do. `code` is the caller's
// vocabulary (a CUDA error number in the runtime, an exit code in the tools); 0 is never used for
// an error.
struct Error {
  int code = 1;
  std::string message;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}
  static Status ok() { return {}; }

  explicit operator bool() const { return error_.code == 0; }
  int code() const { return error_.code; }
  const std::string& message() const { return error_.message; }
  const Error& error() const { return error_; }

 private:
  Error error_{0, {}};
};

template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace ridge
