// What a simulator keeps besides the run itself, fixed when it is compiled, so that the plain one
// pays for none: LPNRT_TRACE=1 keeps token identities for an observer, LPNRT_STATS=1 keeps
// statistics, LPNRT_PATH=1 the causes of firings (path.h). Generated code writes what only one
// variant needs as the argument of a macro.
#pragma once

#ifndef LPNRT_TRACE
#define LPNRT_TRACE 0
#endif
#ifndef LPNRT_STATS
#define LPNRT_STATS 0
#endif
#ifndef LPNRT_PATH
#define LPNRT_PATH 0
#endif
// LPNRT_ONLY_RUNS=1 leaves out what only batches, hosts and coupled nets call: null in the table.
// For fuzzers, which compile nets by the million, run each some times and throw it away.
#ifndef LPNRT_ONLY_RUNS
#define LPNRT_ONLY_RUNS 0
#endif
#if LPNRT_ONLY_RUNS
#define LPNRT_OUTSIDE(...) nullptr
#else
#define LPNRT_OUTSIDE(...) __VA_ARGS__
#endif
#if LPNRT_PATH && LPNRT_STATS
#error "statistics and the critical path are variants of their own"
#endif

#if LPNRT_STATS
#define LPNRT_IF_STATS(...) __VA_ARGS__
#else
#define LPNRT_IF_STATS(...)
#endif
#if LPNRT_TRACE
#define LPNRT_IF_TRACE(...) __VA_ARGS__
#else
#define LPNRT_IF_TRACE(...)
#endif
// A delay that is not halved is told apart before it is narrowed (Iteration::add_ticks).
#if LPNRT_PATH
#define LPNRT_IF_PATH(...) __VA_ARGS__
#define LPNRT_DELAY(k, ...) lpnrt::halved_if(halved[k], __VA_ARGS__)
#define LPNRT_HALVED(mask, ...) (kHalved ? lpnrt::halved_by(mask, __VA_ARGS__) : (__VA_ARGS__))
#else
#define LPNRT_IF_PATH(...)
#define LPNRT_DELAY(k, ...) __VA_ARGS__
#define LPNRT_HALVED(mask, ...) __VA_ARGS__
#endif
// The streams of instants of each are written in blocks of its own.
#if LPNRT_PATH
#define LPNRT_LAYOUT(figures, causes) causes
#else
#define LPNRT_LAYOUT(figures, causes) figures
#endif
#if LPNRT_STATS || LPNRT_PATH
#define LPNRT_IF_STREAMS(...) __VA_ARGS__
#else
#define LPNRT_IF_STREAMS(...)
#endif
#if LPNRT_TRACE || LPNRT_PATH
#define LPNRT_IF_RECORD(...) __VA_ARGS__
#else
#define LPNRT_IF_RECORD(...)
#endif
