#include "transcode.h"

#include <cstdlib>
#include <string>

#include "libjpeg_errors.h"
#include "refused.h"

namespace lpn::jpeg {
namespace {

struct Output {
  unsigned char* data = nullptr;  // malloc'ed by libjpeg
  unsigned long size = 0;
};

// Whether libjpeg did it. A longjmp may land in here, so everything that changes belongs to the
// caller and nothing here has a destructor.
bool rewrite(jpeg_decompress_struct& from, jpeg_compress_struct& to, Bytes file,
             const Coding& coding, Failure& failure, Output& out) {
  if (setjmp(failure.back) != 0) return false;
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  jpeg_mem_src(&from, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&from);
  jpeg_copy_critical_parameters(&from, &to);
  if (coding.progressive) jpeg_simple_progression(&to);
  to.optimize_coding = coding.optimise ? TRUE : FALSE;
  to.arith_code = coding.arithmetic ? TRUE : FALSE;
  to.restart_interval = static_cast<unsigned>(coding.restart_mcus);
  jpeg_mem_dest(&to, &out.data, &out.size);
  jpeg_write_coefficients(&to, arrays);
  jpeg_finish_compress(&to);
  jpeg_finish_decompress(&from);
  return true;
}

}  // namespace

std::vector<std::uint8_t> transcode(Bytes file, const Coding& coding) {
  jpeg_decompress_struct from{};
  jpeg_compress_struct to{};
  Failure failure{};
  Output written;
  from.err = to.err = install(failure);
  const bool done = rewrite(from, to, file, coding, failure, written);
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  std::vector<std::uint8_t> out;
  if (done) out.assign(written.data, written.data + written.size);
  std::free(written.data);
  if (!done) {
    throw Refused(std::string("cannot rewrite the file: libjpeg says \"") + failure.text + '"');
  }
  return out;
}

}  // namespace lpn::jpeg
