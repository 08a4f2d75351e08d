// libjpeg's errors without exit(): every error, and every warning, jumps back to the caller.
//
// libjpeg is C, so no C++ exception may pass through it. Level -1 messages are warnings: libjpeg
// repaired damaged data. The core repairs nothing, so a warning is an error here.
#pragma once

#include <jpeglib.h>

#include <csetjmp>
#include <cstddef>
#include <cstdio>

namespace lpn::jpeg {

struct Failure {
  jpeg_error_mgr manager;  // first, so that cinfo->err points at the whole
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

// Makes `failure` the error manager; the caller then sets `failure.back` with setjmp.
inline jpeg_error_mgr* install(Failure& failure) {
  jpeg_std_error(&failure.manager);
  failure.manager.error_exit = [](j_common_ptr cinfo) {
    auto* failed = reinterpret_cast<Failure*>(cinfo->err);
    failed->manager.format_message(cinfo, failed->text);
    std::longjmp(failed->back, 1);
  };
  failure.manager.emit_message = [](j_common_ptr cinfo, int level) {
    if (level < 0) cinfo->err->error_exit(cinfo);
  };
  failure.manager.output_message = [](j_common_ptr) {};
  return &failure.manager;
}

}  // namespace lpn::jpeg
