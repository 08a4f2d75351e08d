/* A regular expression or compression engine in software that several functions share, as they
 * share one of a SmartNIC: queues of requests, of which the engine serves one after the other in
 * turn.
 *
 *     cc -O2 -o engine engine.c -lz                              regular expressions by regex(3)
 *     cc -O2 -DWITH_HYPERSCAN -o engine engine.c -lz -lhs        ... by Hyperscan or Vectorscan
 *
 *     engine regex|deflate SECONDS CLIENT...
 *
 * CLIENT: BYTES:MATCHES:QUEUES:KPPS, a process that asks for packets of BYTES (of patterns that
 * occur MATCHES times per MB) on QUEUES queues of 128 requests in turn; KPPS thousand a second, or,
 * where that is 0, as many as the queues take. The engine runs on one core and is the clock: a
 * second is one of its processor time, so that what else runs there takes nothing from anybody.
 * Clients run on the other cores. After SECONDS (and a quarter of them before, which do not count)
 * it prints one JSON object: of each client its requests done per second and the share of the
 * engine's time they took.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kProgram[] = "engine";
#include "payload.h"

enum { CLIENTS = 8, QUEUES = 8, SLOTS = 128 };

struct queue {
  _Alignas(64) atomic_ullong asked;
  _Alignas(64) atomic_ullong done;
};
struct client {
  size_t bytes;
  double matches, kpps;
  int queues;
  unsigned char* packets;
  struct queue queue[QUEUES];
  _Alignas(64) atomic_ullong lost;
};
struct shared {
  _Alignas(64) atomic_ullong now; /* ns of the engine's processor time */
  struct client client[CLIENTS];
};
static struct shared* all;

static void read_client(struct client* c, char* text) {
  char* part[4];
  int parts = 0;
  for (char* p = strtok(text, ":"); p && parts < 4; p = strtok(NULL, ":")) part[parts++] = p;
  if (parts < 4 || strtok(NULL, ":")) fail("a client is BYTES:MATCHES:QUEUES:KPPS");
  const double size = number(part[0]), queues = number(part[2]);
  c->matches = number(part[1]);
  c->kpps = number(part[3]);
  if (size < HEADERS + 10 || size > 9000) fail("BYTES are 64 to 9000");
  if (queues < 1 || queues > QUEUES) fail("QUEUES are 1 to 8");
  c->bytes = (size_t)size;
  c->queues = (int)queues;
}

static int is_full(struct queue* q) {
  return atomic_load(&q->asked) - atomic_load(&q->done) >= SLOTS;
}

/* Asks as fast as the queues take it, or by the clock; what finds its queue full is lost then. */
static void ask(struct client* c) {
  const double gap = c->kpps > 0 ? 1e6 / c->kpps : 0;
  double due = (double)atomic_load(&all->now);
  for (int k = 0;; k = (k + 1) % c->queues) {
    struct queue* q = &c->queue[k];
    while (gap > 0 && (double)atomic_load(&all->now) < due) sched_yield();
    due += gap;
    while (gap <= 0 && is_full(q)) sched_yield();
    atomic_fetch_add(is_full(q) ? &c->lost : &q->asked, 1);
  }
}

/* To the first core, or to the others. */
static void pin(const cpu_set_t* usable, int first) {
  cpu_set_t own;
  CPU_ZERO(&own);
  int seen = 0;
  for (int k = 0; k < CPU_SETSIZE; ++k)
    if (CPU_ISSET(k, usable) && (seen++ == 0) == first) CPU_SET(k, &own);
  sched_setaffinity(0, sizeof own, &own);
}

static void serve(void (*work)(const unsigned char*), int clients, double until, double* busy,
                  uint64_t* served) {
  double now = seconds(CLOCK_PROCESS_CPUTIME_ID);
  while (now < until) {
    for (int k = 0; k < clients; ++k) {
      struct client* c = &all->client[k];
      for (int i = 0; i < c->queues; ++i) {
        const uint64_t done = atomic_load(&c->queue[i].done);
        if (atomic_load(&c->queue[i].asked) == done) continue;
        bytes = c->bytes;
        work(c->packets + draw() % PACKETS * bytes);
        atomic_store(&c->queue[i].done, done + 1);
        const double after = seconds(CLOCK_PROCESS_CPUTIME_ID);
        busy[k] += after - now;
        now = after;
        ++served[k];
      }
    }
    now = seconds(CLOCK_PROCESS_CPUTIME_ID);
    atomic_store(&all->now, (uint64_t)(now * 1e9));
  }
}

int main(int count, char** given) {
  if (count < 4 || count > 3 + CLIENTS)
    fail("engine regex|deflate SECONDS CLIENT..., see engine.c");
  const int clients = count - 3;
  const double limit = number(given[2]);
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) fail("no memory");
  size_t most = 0;
  for (int k = 0; k < clients; ++k) {
    struct client* c = &all->client[k];
    read_client(c, given[3 + k]);
    bytes = c->bytes;
    make_packets(c->matches);
    c->packets = packets;
    if (bytes > most) most = bytes;
  }
  bytes = most;
  void (*work)(const unsigned char*) = 0;
  if (!strcmp(given[1], "regex")) work = scan, make_patterns();
  if (!strcmp(given[1], "deflate")) work = squeeze, make_deflate();
  if (!work) fail("there is no such engine: regex, deflate");
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  if (CPU_COUNT(&usable) < 2) fail("it takes two cores");
  pid_t pids[CLIENTS];
  for (int k = 0; k < clients; ++k) {
    pids[k] = fork();
    if (pids[k] < 0) fail("no process");
    if (pids[k] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL); /* however the engine ends */
      pin(&usable, 0);
      ask(&all->client[k]);
    }
  }
  pin(&usable, 1);
  double busy[CLIENTS] = {0};
  uint64_t served[CLIENTS] = {0};
  for (int k = 0; k < clients; ++k) /* all have begun */
    while (atomic_load(&all->client[k].queue[0].asked) == 0) {
      sched_yield();
      atomic_store(&all->now, (uint64_t)(seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9));
    }
  serve(work, clients, seconds(CLOCK_PROCESS_CPUTIME_ID) + limit / 4, busy, served);
  memset(busy, 0, sizeof busy);
  memset(served, 0, sizeof served);
  const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
  serve(work, clients, begin + limit, busy, served);
  const double spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  printf("{\"engine\": \"%s\", \"cpu_seconds\": %.6f, \"wall_seconds\": %.6f, \"clients\": [",
         given[1], spent, seconds(CLOCK_MONOTONIC) - wall);
  for (int k = 0; k < clients; ++k) {
    kill(pids[k], SIGKILL);
    waitpid(pids[k], NULL, 0);
    printf("%s{\"kpps\": %.4f, \"busy\": %.6f, \"lost\": %llu}", k ? ", " : "",
           (double)served[k] / spent / 1e3, busy[k] / spent,
           (unsigned long long)atomic_load(&all->client[k].lost));
  }
  puts("]}");
  return 0;
}
