/* cost(program) -> cycles: Apache VTA as a cost model for a compiler, in C.
 *
 *     lpn compile vta -o vta.so               the net, once (models/vta)
 *     cc search.c -I.../models/vta/native -llpn_vta_cost
 *
 * A program is its stream of 128-bit instructions, two little-endian words each, as it lies in
 * memory. Cycles count from launch to the finish pulse. models/vta/demo/cost.c shows its use.
 */
#ifndef LPN_VTA_COST_H
#define LPN_VTA_COST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lpn_vta lpn_vta;

/* What the answer is when it is not the number of cycles. */
enum lpn_vta_answer {
  LPN_VTA_REFUSED = -1, /* the hardware does not run this program: `why` names the instruction */
  LPN_VTA_STALLED = -2, /* it runs, and waits for ever */
  LPN_VTA_FAILED = -3   /* a run that met an error, or no memory */
};

typedef struct {
  /* Of uop, wgt, inp, acc, out: bytes of one element, number of elements. */
  int64_t bytes[5], depth[5];
  /* Cycles from a read's address to its first beat; from a write's last beat to its
     acknowledgement: 1 to 100000. */
  int64_t read_latency, write_ack_latency;
  /* 0: the bursts of a load are arithmetic also where a fetch of instructions may come between;
     off by 0.0002 % on average, and faster. */
  int32_t fetch;
} lpn_vta_options;

/* The default core, latencies of 20, fetch. */
void lpn_vta_defaults(lpn_vta_options* options);

/* The library that `lpn compile vta -o FILE.so` made. NULL when it is none: `why`, where not NULL,
   has the reason in so many bytes, cut if need be and ended by NUL. */
lpn_vta* lpn_vta_open(const char* library, char* why, size_t room);

/* Cycles of a program of so many bytes, or an lpn_vta_answer with its reason in `why`. `options`
   may be NULL for the defaults. May be called from several threads at once. */
int64_t lpn_vta_cost(const lpn_vta* vta, const void* program, size_t bytes,
                     const lpn_vta_options* options, char* why, size_t room);

/* The same for many programs, side by side in vector registers and on `threads` cores (0: all):
   cycles[k] is of programs[k]. */
void lpn_vta_costs(const lpn_vta* vta, size_t count, const void* const* programs,
                   const size_t* bytes, const lpn_vta_options* options, uint32_t threads,
                   int64_t* cycles);

void lpn_vta_close(lpn_vta* vta);

#ifdef __cplusplus
}
#endif

#endif
