// JPEG files of any bytes: refused with a reason, or an image whose columns belong together, and
// which both builds of the core find the same size of.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "reader.h"
#include "refused.h"
#include "require.h"
#include "transcode.h"

namespace {

using lpn::fuzz::require;
using lpn::jpeg::Image;

std::optional<Image> read(lpn::jpeg::Bytes file, bool writable_tables) {
  try {
    return lpn::jpeg::read_image(file, writable_tables);
  } catch (const lpn::jpeg::Refused& refused) {
    require(*refused.what() != 0, "refused without a reason");
    return {};
  }
}

void check(const Image& image) {
  const std::size_t blocks = image.blocks.component.size();
  require(image.width > 0 && image.height > 0, "an image without pixels");
  require(image.blocks.symbols.size() == blocks && image.blocks.nonzero.size() == blocks &&
              image.blocks.bits.size() == blocks && image.blocks.waits.size() == blocks &&
              image.completes.size() == blocks,
          "columns of different lengths");
  for (std::size_t k = 0; k < blocks; ++k) {
    require(image.blocks.bits[k] >= 0 && image.blocks.symbols[k] >= 0 &&
                image.blocks.waits[k] >= 0 && image.blocks.nonzero[k] >= 0 &&
                image.blocks.nonzero[k] <= 64,
            "a block of less than nothing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const lpn::jpeg::Bytes file{data, size};
  const std::optional<Image> written = read(file, true);
  const std::optional<Image> fixed = read(file, false);
  if (written) check(*written);
  if (fixed) check(*fixed);
  if (written && fixed) {
    require(written->width == fixed->width && written->height == fixed->height &&
                written->blocks.bits == fixed->blocks.bits,
            "the two builds read different images");
  }
  if (!written || written->blocks.bits.size() > 4096) return 0;
  try {
    lpn::jpeg::transcode(file, {.optimise = true});
  } catch (const lpn::jpeg::Refused&) {
  }
  return 0;
}
