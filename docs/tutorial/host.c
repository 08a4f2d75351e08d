/* A C program that runs a compiled net: host FILE.so
 *
 * Two instances side by side, one stepped in time and fed while it runs. Errors end the program;
 * a real host would look at the status.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lpnrt/abi.h"

static void check(int32_t status, const char *what) {
  if (status == LPN_OK) return;
  fprintf(stderr, "%s: status %d\n", what, (int)status);
  exit(1);
}

/* The number of a place: names lie one after the other, net first, then parameters, then places. */
static uint32_t place(const lpn_sim_api *api, const char *name) {
  const char *at = api->names;
  for (uint32_t skip = 0; skip < 1 + api->params; ++skip) at += strlen(at) + 1;
  for (uint32_t k = 0; k < api->places; ++k, at += strlen(at) + 1) {
    if (strcmp(at, name) == 0) return k;
  }
  fprintf(stderr, "no place '%s'\n", name);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: host FILE.so\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const lpn_sim_api *(*entry)(void);
  *(void **)&entry = dlsym(library, "lpn_sim_entry");
  if (entry == NULL || entry()->abi != LPN_SIM_ABI) {
    fprintf(stderr, "%s is no simulator of this version\n", argv[1]);
    return 2;
  }
  const lpn_sim_api *api = entry();
  printf("net %s: %" PRIu32 " places, %" PRIu32 " transitions\n", api->names, api->places,
         api->transitions);

  const uint32_t lines = place(api, "lines");
  const int64_t pixels[] = {640, 640, 320};

  /* To the end, once per number of buffer slots. */
  for (int64_t slots = 1; slots <= 3; ++slots) {
    int32_t status;
    lpn_sim *sim = api->create(&slots, &status);
    check(status, "create");
    check(api->load(sim, lines, 3, pixels), "load");
    lpn_result result;
    check(api->run(sim, INT64_MAX, &result), "run");
    printf("slots %" PRId64 ": latency %" PRId64 ", %" PRIu64 " firings\n", slots, result.latency,
           result.commits);
    api->destroy(sim);
  }

  /* In steps of 100 cycles, with a line that arrives from outside at 350. */
  int32_t status;
  lpn_sim *sim = api->create(NULL, &status); /* NULL: the net's own parameters */
  check(status, "create");
  check(api->load(sim, lines, 2, pixels), "load");
  check(api->push(sim, lines, &pixels[2], 350), "push");
  lpn_result result = {0};
  for (int64_t limit = 100; ; limit += 100) {
    check(api->run(sim, limit, &result), "run");
    printf("until %" PRId64 ": %" PRIu64 " lines done\n", limit, result.done_tokens);
    if (result.ending != LPN_LIMIT) break;
  }
  printf("latency %" PRId64 "%s\n", result.latency, result.stalled ? ", stalled" : "");
  api->destroy(sim);

  /* What a net forbids comes back as a status: no line has 9000 pixels. */
  const int64_t wrong = 9000;
  sim = api->create(NULL, &status);
  check(status, "create");
  printf("9000 pixels: %s\n", api->load(sim, lines, 1, &wrong) == LPN_BAD_VALUE ? "refused" : "taken");
  api->destroy(sim);
  return 0;
}
