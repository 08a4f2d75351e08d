/* Network functions and a memory benchmark, one process each, that say what they did.
 *
 *     cc -O2 -o nf nf.c -lz                                 regular expressions by regex(3)
 *     cc -O2 -DWITH_HYPERSCAN -o nf nf.c -lz -lhs           ... by Hyperscan or Vectorscan
 *
 *     nf FUNCTION [SECONDS [FLOWS [BYTES [MATCHES [WSS_KB [PACE]]]]]]
 *
 * FUNCTION: parse (headers and checksums of packets), flows (a table of FLOWS counters of 64 byte),
 * regex (BYTES of payload for patterns that occur MATCHES times per MB), deflate (payloads
 * compressed), memory (random lines of WSS_KB, two reads and a write in turns, PACE rounds of work
 * between two). It runs for SECONDS of its own processor time and prints one JSON object: packets
 * (of memory: accesses), processor and wall seconds, and the cache lines of its data that it
 * touched.
 */
static const char kProgram[] = "nf";
#include "payload.h"

enum { BATCH = 64 };
static uint64_t flows = 16384;
static volatile uint64_t sink;

static uint32_t word(const unsigned char* p) {
  uint32_t w;
  memcpy(&w, p, 4);
  return w;
}

static void parse(const unsigned char* p) {
  if (p[12] != 0x08 || p[13] != 0) return;
  uint32_t sum = 0;
  for (int i = 14; i < 34; i += 2) sum += (uint32_t)p[i] << 8 | p[i + 1];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  uint32_t payload = 0; /* and the checksum over the first 256 byte */
  const size_t end = bytes < 256 ? bytes : 256;
  for (size_t i = 34; i + 1 < end; i += 2) payload += (uint32_t)p[i] << 8 | p[i + 1];
  sink += sum + payload + (p[23] == 17);
  lines += (end + LINE - 1) / LINE;
}

struct flow {
  uint32_t key[3];
  uint32_t used;
  uint64_t count, size;
  unsigned char rest[LINE - 32];
};
static struct flow* table;

static void count_flow(const unsigned char* p) {
  const uint64_t id = (word(p + 26) ^ (uint64_t)draw()) % flows; /* any of the flows */
  uint64_t h = id * 0x9e3779b97f4a7c15u;
  struct flow* f = &table[h % (2 * flows)];
  for (int probes = 0; f->used == 2 && f->key[0] != (uint32_t)id && probes < 16; ++probes) {
    if (++f == table + 2 * flows) f = table;
    ++lines;
  }
  f->used = 2;
  f->key[0] = (uint32_t)id;
  ++f->count;
  f->size += bytes;
  lines += 3; /* the packet's, the entry read and written */
}

static unsigned char* memory;
static size_t memory_lines;
static unsigned pace;
static void touch(const unsigned char* unused) {
  (void)unused;
  uint64_t* at = (uint64_t*)(void*)(memory + draw() % memory_lines * LINE);
  if (++lines % 3 == 0)
    ++*at;
  else
    sink += *at;
  for (unsigned k = 0; k < pace; ++k) sink += draw();
}

static double given_or(int count, char** given, int k, double otherwise) {
  return k < count ? number(given[k]) : otherwise;
}

int main(int count, char** given) {
  if (count < 2) fail("nf parse|flows|regex|deflate|memory [SECONDS ...], see nf.c");
  const double limit = given_or(count, given, 2, 0.2);
  flows = (uint64_t)given_or(count, given, 3, 16384);
  bytes = (size_t)given_or(count, given, 4, 1024);
  const double matches = given_or(count, given, 5, 600);
  memory_lines = (size_t)(given_or(count, given, 6, 4096) * 1024 / LINE);
  pace = (unsigned)given_or(count, given, 7, 0);
  if (bytes < HEADERS + 10 || bytes > 9000) fail("BYTES are 64 to 9000");
  if (flows < 1 || flows > 1 << 26 || memory_lines < 1 || memory_lines > 1 << 25)
    fail("FLOWS or WSS_KB are too many");
  make_packets(matches);
  void (*work)(const unsigned char*) = 0;
  if (!strcmp(given[1], "parse")) work = parse;
  if (!strcmp(given[1], "flows")) work = count_flow, table = zeroed(2 * flows * sizeof(*table));
  if (!strcmp(given[1], "regex")) work = scan, make_patterns();
  if (!strcmp(given[1], "deflate")) work = squeeze, make_deflate();
  if (!strcmp(given[1], "memory")) work = touch, memory = zeroed(memory_lines * LINE);
  if (!work) fail("there is no such function: parse, flows, regex, deflate, memory");
  puts("ready");
  fflush(stdout);
  uint64_t done = 0;
  const double warm = seconds(CLOCK_PROCESS_CPUTIME_ID) + limit / 4;
  while (seconds(CLOCK_PROCESS_CPUTIME_ID) < warm)
    for (int k = 0; k < BATCH; ++k) work(packets + draw() % PACKETS * bytes);
  found = lines = 0;
  const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
  double spent;
  do {
    for (int k = 0; k < BATCH; ++k) work(packets + draw() % PACKETS * bytes);
    done += BATCH;
    spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  } while (spent < limit);
  printf(
      "{\"function\": \"%s\", \"packets\": %llu, \"cpu_seconds\": %.6f, \"wall_seconds\": %.6f, "
      "\"lines\": %llu, \"found\": %llu, \"regex\": \"%s\"}\n",
      given[1], (unsigned long long)done, spent, seconds(CLOCK_MONOTONIC) - wall,
      (unsigned long long)lines, (unsigned long long)found, kLibrary);
  return 0;
}
