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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#ifdef WITH_HYPERSCAN
#include <hs/hs.h>
#else
#include <regex.h>
#endif

enum { PACKETS = 2048, LINE = 64, BATCH = 64, HEADERS = 54 };

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned char* packets;
static size_t bytes = 1024;
static uint64_t flows = 16384, lines, found;
static volatile uint64_t sink;

static void fail(const char* what) {
  fprintf(stderr, "nf: %s\n", what);
  exit(2);
}

static void* zeroed(size_t size) {
  void* p = calloc(1, size);
  if (!p) fail("no memory");
  memset(p, 1, size); /* pages of their own */
  return p;
}

static void make_packets(double matches_per_MB) {
  packets = zeroed(PACKETS * bytes);
  for (size_t k = 0; k < PACKETS; ++k) {
    unsigned char* p = packets + k * bytes;
    for (size_t i = 0; i < bytes; ++i) p[i] = (unsigned char)("etaoinshrdlu"[draw() % 12]);
    p[12] = 0x08;
    p[13] = 0;
    p[14] = 0x45;
    p[23] = draw() % 2 ? 6 : 17;
    for (int i = 26; i < 38; ++i) p[i] = (unsigned char)draw();
    const double expected = matches_per_MB * (double)bytes * 1e-6;
    size_t count = (size_t)expected;
    if ((double)(draw() % 1000000) * 1e-6 < expected - (double)count) ++count;
    for (; count > 0 && bytes > HEADERS + 16; --count)
      memcpy(p + HEADERS + draw() % (bytes - HEADERS - 8), "SSH-2.0", 7);
  }
}

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

static const char* kPatterns[] = {"SSH-[0-9]\\.[0-9]", "GET /[a-z]*\\.php", "\\.torrent",
                                  "USER [a-z]+", "HTTP/1\\.[01] 40[0-9]"};
enum { PATTERNS = sizeof(kPatterns) / sizeof(kPatterns[0]) };
#ifdef WITH_HYPERSCAN
static const char kLibrary[] = "hyperscan";
static hs_database_t* database;
static hs_scratch_t* scratch;
static int matched(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                   void* context) {
  (void)id, (void)from, (void)to, (void)flags, (void)context;
  ++found;
  return 0;
}
static void make_patterns(void) {
  unsigned flags[PATTERNS] = {0}, ids[PATTERNS] = {0, 1, 2, 3, 4};
  hs_compile_error_t* error;
  if (hs_compile_multi(kPatterns, flags, ids, PATTERNS, HS_MODE_BLOCK, NULL, &database, &error) ||
      hs_alloc_scratch(database, &scratch))
    fail("the patterns cannot be compiled");
}
static void scan(const unsigned char* p) {
  hs_scan(database, (const char*)p + HEADERS, (unsigned)(bytes - HEADERS), 0, scratch, matched, 0);
  lines += (bytes + LINE - 1) / LINE;
}
#else
static const char kLibrary[] = "regex(3)";
static regex_t compiled[PATTERNS];
static char* text;
static void make_patterns(void) {
  for (int k = 0; k < PATTERNS; ++k)
    if (regcomp(&compiled[k], kPatterns[k], REG_EXTENDED)) fail("a pattern cannot be compiled");
  text = zeroed(bytes + 1);
}
static void scan(const unsigned char* p) {
  memcpy(text, p + HEADERS, bytes - HEADERS);
  text[bytes - HEADERS] = 0;
  for (int k = 0; k < PATTERNS; ++k) {
    regmatch_t at;
    for (const char* t = text; !regexec(&compiled[k], t, 1, &at, 0) && at.rm_eo > 0; t += at.rm_eo)
      ++found;
  }
  lines += 2 * ((bytes + LINE - 1) / LINE);
}
#endif

static z_stream stream;
static unsigned char* compressed;
static void make_deflate(void) {
  if (deflateInit(&stream, 1) != Z_OK) fail("zlib");
  compressed = zeroed(2 * bytes + 1024);
}
static void squeeze(const unsigned char* p) {
  deflateReset(&stream);
  stream.next_in = (unsigned char*)(uintptr_t)p;
  stream.avail_in = (unsigned)bytes;
  stream.next_out = compressed;
  stream.avail_out = (unsigned)(2 * bytes + 1024);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) fail("zlib");
  found += stream.total_out;
  lines += (bytes + stream.total_out + LINE - 1) / LINE + bytes / 8; /* and its hash chains */
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

static double number(int count, char** given, int k, double otherwise) {
  if (k >= count) return otherwise;
  char* end;
  const double value = strtod(given[k], &end);
  if (*end || !(value >= 0) || value > 1e12) fail("a number is none");
  return value;
}

int main(int count, char** given) {
  if (count < 2) fail("nf parse|flows|regex|deflate|memory [SECONDS ...], see nf.c");
  const double limit = number(count, given, 2, 0.2);
  flows = (uint64_t)number(count, given, 3, 16384);
  bytes = (size_t)number(count, given, 4, 1024);
  const double matches = number(count, given, 5, 600);
  memory_lines = (size_t)(number(count, given, 6, 4096) * 1024 / LINE);
  pace = (unsigned)number(count, given, 7, 0);
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
