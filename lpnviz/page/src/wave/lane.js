// What one channel did: phases one by one where the page has them, and bins over all of the recording.
//
// Formats: lpnviz/README.md ("The page of a recording"). Positions count from cycle 0. Pure: no DOM.

import { lastUpTo, Reader } from '../base/numbers.js';

export const PHASES = ['idle', 'starvation', 'back-pressure', 'transfer', 'active', 'unknown', 'reset'];
export const [IDLE, STARVED, STALLED, TRANSFER, ACTIVE, UNKNOWN, RESET] = PHASES.keys();

export class Lane {
  /** `bins`, `phases`: bytes; `origin`: the position that is cycle 0; `period`: positions of a cycle. */
  constructor(bins, phases, origin, period = 1) {
    this.origin = origin;
    this.period = period;
    let reader = new Reader(bins);
    this.binWidth = reader.next();
    this.bins = reader.next();
    this.of = PHASES.map(() => (reader.next() ? Float64Array.from({ length: this.bins }, () => reader.next()) : null));
    const starts = [];
    const codes = [];
    this.from = this.to = 0; // of the phases one by one
    if (phases.length) {
      reader = new Reader(phases);
      let t = reader.next() - origin;
      this.from = t;
      this.to = t + reader.next();
      while (reader.at < phases.length && t < this.to) {
        const run = reader.next();
        starts.push(t);
        codes.push(run % 8);
        t += Math.floor(run / 8);
      }
    }
    this.starts = Float64Array.from(starts);
    this.codes = Uint8Array.from(codes);
  }

  until(k) {
    return k + 1 < this.starts.length ? this.starts[k + 1] : this.to;
  }

  /** Whether the phases of all of [a, b) are there one by one. */
  has(a, b) {
    return this.starts.length > 0 && a >= this.from && b <= this.to;
  }

  /** { phase, since, until } at t, or null where phases are not kept. */
  at(t) {
    if (t < this.from || t >= this.to) return null;
    const k = lastUpTo(this.starts, t);
    return k < 0 ? null : { phase: this.codes[k], since: this.starts[k], until: this.until(k) };
  }

  /** The nearest beginning of a phase before or after t, or null. */
  neighbour(t, direction) {
    const k = lastUpTo(this.starts, t);
    if (direction > 0) return k + 1 < this.starts.length ? this.starts[k + 1] : null;
    return k >= 0 && this.starts[k] < t ? this.starts[k] : k > 0 ? this.starts[k - 1] : null;
  }

  /** each(phase, a, b) for the phases in [from, to), cut to it. */
  runs(from, to, each) {
    for (let k = Math.max(0, lastUpTo(this.starts, from)); k < this.starts.length && this.starts[k] < to; ++k) {
      const [a, b] = [Math.max(from, this.starts[k]), Math.min(to, this.until(k))];
      if (a < b) each(this.codes[k], a, b);
    }
  }

  /** How much of each phase there is in each of `n` columns of [from, to): n x phases numbers. */
  columns(from, to, n) {
    const sums = new Float64Array(n * PHASES.length);
    const scale = n / (to - from);
    const add = (phase, a, b, amount) => {
      const [x, y] = [Math.max(0, (a - from) * scale), Math.min(n, (b - from) * scale)];
      for (let c = Math.floor(x); c < y; ++c) {
        sums[c * PHASES.length + phase] += (amount * (Math.min(y, c + 1) - Math.max(x, c))) / scale;
      }
    };
    if (this.has(Math.max(from, this.from), Math.min(to, this.to)) && (from >= this.from && to <= this.to || 1 / scale < this.binWidth)) {
      this.runs(from, to, (phase, a, b) => add(phase, a, b, 1));
      // Where they end, bins go on.
      if (to > this.to) this.eachBin(Math.max(from, this.to), to, add);
      if (from < this.from) this.eachBin(from, Math.min(to, this.from), add);
    } else this.eachBin(from, to, add);
    return sums;
  }

  eachBin(from, to, add) {
    const w = this.binWidth;
    const first = Math.max(0, Math.floor((from + this.origin) / w));
    for (let k = first; k < this.bins && k * w - this.origin < to; ++k) {
      const a = k * w - this.origin;
      const [x, y] = [Math.max(a, from), Math.min(a + w, to)];
      this.of.forEach((bin, phase) => { if (bin && bin[k]) add(phase, x, y, bin[k] / w); });
    }
  }

  /** Cycles of each phase in [a, b); `exact` is false where parts of bins or of cycles are in it. */
  tally(a, b) {
    const whole = a <= -this.origin && b >= this.bins * this.binWidth - this.origin;
    const cycles = PHASES.map(() => 0);
    if (whole) this.of.forEach((bin, phase) => { cycles[phase] = bin?.reduce((sum, x) => sum + x, 0) ?? 0; });
    else if (this.has(a, b)) this.runs(a, b, (phase, x, y) => { cycles[phase] += y - x; });
    else this.eachBin(a, b, (phase, x, y, amount) => { cycles[phase] += amount * (y - x); });
    return { cycles: cycles.map((x) => Math.round(x / this.period)), exact: this.period === 1 && (whole || this.has(a, b)) };
  }
}

/** The two lanes of a row do something else at t. */
export function differ(one, two, t) {
  const [p, q] = [one.at(t), two.at(t)];
  return p !== null && q !== null && (p.phase === TRANSFER) !== (q.phase === TRANSFER);
}

/** The nearest instant from t on at which one has a transfer and the other has none, or null. */
export function nextDifference(one, two, t, direction) {
  for (let at = t; ;) {
    const next = [one, two].map((lane) => lane.neighbour(at, direction)).filter((x) => x !== null);
    if (!next.length) return null;
    at = direction > 0 ? Math.min(...next) : Math.max(...next);
    if (differ(one, two, at)) return at;
  }
}
