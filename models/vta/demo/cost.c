/* Cycles of VTA programs, as a compiler that searches for schedules asks for them:
 *
 *     cost vta.so PROGRAM...
 *
 * vta.so is the net, made once by `lpn compile vta -o vta.so`; a PROGRAM is a binary stream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "vta_cost.h"

static void* read_file(const char* name, size_t* bytes) {
  FILE* file = fopen(name, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*bytes + 1);
  if (data != NULL) *bytes = fread(data, 1, *bytes, file);
  fclose(file);
  return data;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: cost vta.so PROGRAM...\n");
    return 2;
  }
  char why[256];
  lpn_vta* vta = lpn_vta_open(argv[1], why, sizeof why);
  if (vta == NULL) {
    fprintf(stderr, "%s\n", why);
    return 2;
  }
  const size_t count = (size_t)argc - 2;
  void** programs = calloc(count, sizeof *programs);
  size_t* bytes = calloc(count, sizeof *bytes);
  int64_t* cycles = calloc(count, sizeof *cycles);
  if (programs == NULL || bytes == NULL || cycles == NULL) return 2;
  for (size_t i = 0; i < count; ++i) {
    programs[i] = read_file(argv[2 + i], &bytes[i]);
    if (programs[i] == NULL) {
      fprintf(stderr, "cannot read %s\n", argv[2 + i]);
      return 2;
    }
  }

  /* All at once, as a search does; without the rare wait for a fetch of instructions. */
  lpn_vta_options quick;
  lpn_vta_defaults(&quick);
  quick.fetch = 0;
  lpn_vta_costs(vta, count, (const void* const*)programs, bytes, &quick, 0, cycles);

  /* One by one and exactly, with the reason where there is no answer. */
  for (size_t i = 0; i < count; ++i) {
    const int64_t exact = lpn_vta_cost(vta, programs[i], bytes[i], NULL, why, sizeof why);
    if (exact < 0) {
      printf("%s: %s\n", argv[2 + i], why);
    } else {
      printf("%s: %" PRId64 " cycles, %" PRId64 " without fetch\n", argv[2 + i], exact, cycles[i]);
    }
    free(programs[i]);
  }
  free(programs);
  free(bytes);
  free(cycles);
  lpn_vta_close(vta);
  return 0;
}
