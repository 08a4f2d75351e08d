// The record of a run: what the page carries of it, decoded segment by segment when it is needed.
//
//   const record = new Record(index, net, (k) => bytes of segment k, overview bytes)
//   await record.load(from, to); record.stateAt(t); record.between(from, to)
//
// Formats: lpnviz/README.md ("The record of a run"). Pure: no DOM.

import { lastUpTo, Reader } from '../base/numbers.js';

export const WAITS = ['', 'no token', 'no credit', 'guard', 'inhibited', 'no server', 'interval', 'clock'];

function readChanges(reader, begin, differences) {
  const before = reader.next();
  const count = reader.next();
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  for (let k = 0, t = begin; k < count; ++k) times[k] = t += reader.next();
  for (let k = 0, v = before; k < count; ++k) values[k] = differences ? (v += reader.signed()) : reader.next();
  return { before, times, values };
}

/** A segment's bytes, decoded: per transition its firings (those carried in first) and waits, per place levels. */
export function decodeSegment(bytes, begin, varying, places) {
  const reader = new Reader(bytes);
  let size = 0;
  const transitions = varying.map(([inputs, outputs]) => {
    const columns = inputs.length + outputs.length;
    const carried = reader.next();
    const early = [];
    for (let k = 0; k < carried; ++k) {
      const f = [begin - reader.next(), begin + reader.next(), reader.next()];
      for (let c = 0; c < columns; ++c) f.push(reader.next());
      early.push(f);
    }
    const first = reader.next();
    const fresh = reader.next();
    const n = carried + fresh;
    const start = new Float64Array(n);
    const due = new Float64Array(n);
    const number = new Float64Array(n);
    const counts = Array.from({ length: columns }, () => new Float64Array(n));
    early.forEach((f, k) => {
      [start[k], due[k], number[k]] = f;
      counts.forEach((column, c) => { column[k] = f[3 + c]; });
    });
    for (let k = 0, t = begin; k < fresh; ++k) {
      start[carried + k] = t += reader.next();
      number[carried + k] = first + k;
    }
    for (let k = 0, d = 0; k < fresh; ++k) due[carried + k] = start[carried + k] + (d += reader.signed());
    for (const column of counts) for (let k = 0; k < fresh; ++k) column[carried + k] = reader.next();
    const waits = readChanges(reader, begin, false);
    size += n * (3 + columns) + waits.times.length * 2;
    // How far the firings up to k reach, so that a search back can stop.
    const reach = new Float64Array(n);
    for (let k = 0, most = -1; k < n; ++k) reach[k] = most = Math.max(most, due[k]);
    return { carried, start, due, number, counts, waits, reach };
  });
  const levels = [];
  for (let p = 0; p < places; ++p) {
    levels.push(readChanges(reader, begin, true));
    size += levels[p].times.length * 2;
  }
  return { begin, transitions, places: levels, size: size * 8 };
}

export class Record {
  /** `index`: lpnviz's JSON; `bytesOf(k)`: a promise of the bytes of segment k; `overview`: bytes. */
  constructor(index, net, bytesOf, overview, budget = 48 << 20) {
    this.net = net;
    this.end = index.end;
    this.firings = index.firings;
    this.begins = index.segments.map((s) => s[0]);
    this.starts = index.segments.map((s) => s[1]);
    this.varying = index.varying;
    this.bytesOf = bytesOf;
    this.budget = budget;
    this.held = 0;
    this.segments = new Map(); // by number, least recently used first
    this.loading = new Map();
    this.readOverview(overview);
  }

  readOverview(bytes) {
    const reader = new Reader(bytes);
    this.binWidth = reader.next();
    this.bins = reader.next();
    const series = () => {
      if (!reader.next()) return null;
      const values = new Float64Array(this.bins);
      for (let k = 0; k < this.bins; ++k) values[k] = reader.next();
      return values;
    };
    this.overview = {
      transitions: this.net.transitions.map(() => ({ busy: series(), starts: series(),
        waits: [null, ...Array.from({ length: WAITS.length - 1 }, series)] })),
      places: this.net.places.map(() => ({ integral: series(), most: series() })),
    };
  }

  // ---- segments ----------------------------------------------------------------------------

  /** The number of the segment that has the instant t. */
  segmentOf(t) {
    return Math.max(0, lastUpTo(this.begins, t));
  }

  /** About how many firings start in [from, to]: those of its segments. */
  firingsBetween(from, to) {
    let sum = 0;
    for (let k = this.segmentOf(from); k <= this.segmentOf(to); ++k) sum += this.starts[k];
    return sum;
  }

  /** Whether all of [from, to] is decoded. */
  has(from, to) {
    for (let k = this.segmentOf(from); k <= this.segmentOf(to); ++k) if (!this.segments.has(k)) return false;
    return true;
  }

  async load(from, to) {
    const wanted = [];
    for (let k = this.segmentOf(from); k <= this.segmentOf(to); ++k) wanted.push(k);
    this.pinned = new Set(wanted);
    await Promise.all(wanted.map((k) => this.one(k)));
  }

  one(k) {
    if (this.segments.has(k)) {
      const segment = this.segments.get(k);
      this.segments.delete(k);
      this.segments.set(k, segment);
      return segment;
    }
    if (!this.loading.has(k)) {
      this.loading.set(k, this.bytesOf(k).then((bytes) => {
        const segment = decodeSegment(bytes, this.begins[k], this.varying, this.net.places.length);
        this.loading.delete(k);
        this.segments.set(k, segment);
        this.held += segment.size;
        for (const [old, other] of this.segments) {
          if (this.held <= this.budget) break;
          if (old === k || this.pinned?.has(old)) continue;
          this.segments.delete(old);
          this.held -= other.size;
        }
        return segment;
      }));
    }
    return this.loading.get(k);
  }

  // ---- reading; the segments must be there ---------------------------------------------------

  /** What is so after the instant t: null when its segment is not decoded. */
  stateAt(t) {
    const segment = this.segments.get(this.segmentOf(t));
    if (!segment) return null;
    return {
      time: t,
      tokens: segment.places.map((level) => valueAt(level, t)),
      waits: segment.transitions.map((actor) => valueAt(actor.waits, t)),
      inFlight: segment.transitions.map((actor) => inFlight(actor, t)),
    };
  }

  /** Segments that overlap [from, to], those that are decoded, with whether each is the first. */
  *between(from, to) {
    const first = this.segmentOf(from);
    for (let k = first; k <= this.segmentOf(to); ++k) {
      const segment = this.segments.get(k);
      if (segment) yield [segment, k === first];
    }
  }

  /** The instants around t at which something changes: [before, after], null where there is none. */
  async neighbours(t) {
    let [before, after] = [null, null];
    const look = (times) => {
      let k = lastUpTo(times, t);
      if (k + 1 < times.length && (after === null || times[k + 1] < after)) after = times[k + 1];
      if (k >= 0 && times[k] === t) while (k >= 0 && times[k] === t) --k;
      if (k >= 0 && (before === null || times[k] > before)) before = times[k];
    };
    const seek = async (k, step, done) => {
      for (; k >= 0 && k < this.begins.length; k += step) {
        const segment = await this.one(k);
        for (const actor of segment.transitions) {
          look(actor.start);
          look(actor.waits.times);
          look([...actor.due].sort((a, b) => a - b));
        }
        for (const level of segment.places) look(level.times);
        if (done()) break;
      }
    };
    const here = this.segmentOf(t);
    await seek(here, 1, () => after !== null);
    await seek(here, -1, () => before !== null);
    return [before, after !== null && after <= this.end ? after : null];
  }

  /** The places' tokens and transitions' cycles over [from, to), summed up from the detail or the bins. */
  totals(from, to) {
    const cycles = this.net.transitions.map(() => ({ busy: 0, starts: 0, waits: new Float64Array(WAITS.length) }));
    const places = this.net.places.map(() => ({ integral: 0, most: 0 }));
    const clip = (a, b) => Math.max(0, Math.min(b, to) - Math.max(a, from));
    const segments = [...this.between(from, to)];
    segments.forEach(([segment], s) => {
      const end = s + 1 < segments.length ? segments[s + 1][0].begin : this.end;
      const [a, b] = [Math.max(from, segment.begin), Math.min(to, end)];
      segment.transitions.forEach((actor, k) => {
        // Busy: the union of its firings, which are in the order of their starts.
        let reached = segment.begin;
        for (let f = 0; f < actor.start.length; ++f) {
          const begin = Math.max(actor.start[f], reached);
          const until = Math.min(actor.due[f], end);
          if (until > begin) {
            cycles[k].busy += clip(begin, until);
            reached = until;
          }
          if (f >= actor.carried && actor.start[f] >= from && actor.start[f] <= to) ++cycles[k].starts;
        }
        steps(actor.waits, segment.begin, end, (t0, t1, code) => { cycles[k].waits[code & 7] += Math.max(0, Math.min(t1, b) - Math.max(t0, a)); });
      });
      segment.places.forEach((level, p) => {
        steps(level, segment.begin, end, (t0, t1, tokens) => {
          const cycles = Math.min(t1, b) - Math.max(t0, a);
          if (cycles <= 0) return;
          places[p].integral += tokens * cycles;
          places[p].most = Math.max(places[p].most, tokens);
        });
      });
    });
    return { transitions: cycles, places };
  }
}

/** Calls each(from, until, value) for the pieces of a step function over [begin, end). */
export function steps(changes, begin, end, each) {
  let at = begin;
  let value = changes.before;
  for (let k = 0; k < changes.times.length; ++k) {
    if (changes.times[k] > at) each(at, changes.times[k], value);
    at = changes.times[k];
    value = changes.values[k];
  }
  if (end > at) each(at, end, value);
}

/** The value of a step function after the instant t. */
export function valueAt(changes, t) {
  const k = lastUpTo(changes.times, t);
  return k < 0 ? changes.before : changes.values[k];
}

/** Firings in flight after the instant t: indices into the actor's columns, in the order of their starts. */
export function inFlight(actor, t) {
  const found = [];
  for (let k = lastUpTo(actor.start, t); k >= 0 && actor.reach[k] > t; --k) if (actor.due[k] > t) found.push(k);
  return found.reverse();
}
