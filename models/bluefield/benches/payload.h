/* What the programs here do to packets, and their packets: regular expressions and compression.
 *
 * Includers define kProgram, which errors begin with, first. WITH_HYPERSCAN: see nf.c.
 */
#pragma once

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

enum { PACKETS = 2048, LINE = 64, HEADERS = 54 };

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
static uint64_t lines, found;

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", kProgram, what);
  exit(2);
}

static double number(const char* text) {
  char* end;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value >= 0) || value > 1e12) fail("a number is none");
  return value;
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
