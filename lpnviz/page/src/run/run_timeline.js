// The timeline: a row per transition with its firings and its reasons to wait, one per place with
// its tokens, over the window that is shown; on top the whole run with the window in it.
//
// Far away it draws the record's bins, near by its segments: whichever is no coarser than a pixel.

import { ROW, Timeline } from '../base/timeline.js';
import { lastUpTo } from '../base/numbers.js';
import { inFlight, valueAt } from './record.js';
import { LETTERS } from './why.js';
import { cut, grouped, sansWidth } from '../base/text.js';

const LANES = 4;
const TICK = 3; // height of firings that take no time, where they are drawn as a share
const FEW = 20000; // firings that are drawn one by one at any zoom

export class RunTimeline extends Timeline {
  /** `runs`: [{ record, title }]; `seek(t)`, `choose(id)`, `windowed()` are called. */
  constructor(box, net, runs, { order, ...calls }) {
    const names = [...net.transitions, ...net.places].map((x) => sansWidth(cut(x.name, 26), 11.5, 500));
    super(box, {
      end: Math.max(1, ...runs.map((r) => r.record.end)), gutter: Math.min(210, Math.max(110, 24 + Math.max(...names))),
      whole: 'whole run', label: 'Timeline of the run',
    }, calls);
    Object.assign(this, { net, runs });
    this.path = null; // { start, commit, index } of the critical path, when it is shown
    this.near = false; // only the chosen part and its neighbours
    this.all = [...net.transitions.map((t, k) => ({ id: `t${k}`, kind: 't', k, name: t.name })),
      ...net.places.map((p, k) => ({ id: `p${k}`, kind: 'p', k, name: p.name, quiet: true }))];
    this.order = order; // of the transitions: those that decide most first
    this.ordered = true;
    this.idleShown = false;
    this.rows = this.rowsNow();
  }

  /** Rows by what they decide, or as the net has them; parts in which nothing happens fold into one. */
  rowsNow() {
    const { net, all } = this;
    const transitions = this.order && this.ordered ? this.order.map((k) => all[k]) : all.slice(0, net.transitions.length);
    const rows = [...transitions, ...all.slice(net.transitions.length)];
    const happens = (row) => this.runs.some((r) => (row.kind === 't' ? r.stats.transitions[row.name].commits : r.stats.places[row.name].peak));
    const live = rows.filter(happens);
    const idle = rows.length - live.length;
    if (idle < 2 || !live.length) return rows;
    const fold = { id: 'fold', kind: 'fold', name: this.idleShown ? `hide ${idle} idle rows` : `${idle} idle rows` };
    return [...live, fold, ...(this.idleShown ? rows.filter((row) => !happens(row)) : [])];
  }

  setOrdered(on) {
    this.ordered = on;
    this.setNear(this.near);
  }

  toggleIdle() {
    this.idleShown = !this.idleShown;
    this.setNear(this.near);
  }

  /** Rows of all parts, or of the chosen one and those it shares arcs with. */
  setNear(on) {
    this.near = on;
    this.rows = this.rowsNow();
    if (on && this.chosen && !this.chosen.startsWith('g:')) {
      const k = Number(this.chosen.slice(1));
      const wanted = new Set([this.chosen]);
      this.net.transitions.forEach((t, i) => {
        const places = [...t.inputs, ...t.outputs].map((arc) => arc.place);
        if (this.chosen[0] === 't' ? i === k : places.includes(k)) {
          wanted.add(`t${i}`);
          if (this.chosen[0] === 't') for (const p of places) wanted.add(`p${p}`);
        }
      });
      // Of a transition also who is on the other side of its places.
      if (this.chosen[0] === 't') {
        this.net.transitions.forEach((t, i) => { if ([...t.inputs, ...t.outputs].some((arc) => wanted.has(`p${arc.place}`))) wanted.add(`t${i}`); });
      }
      this.rows = this.all.filter((row) => wanted.has(row.id));
    }
    this.setScroll(this.scroll);
  }

  reveal(id) {
    if (this.near) {
      this.chosen = id;
      this.setNear(true);
    }
    if (id && !id.startsWith('g:') && !this.rows.some((row) => row.id === id) && !this.near) {
      this.idleShown = true;
      this.rows = this.rowsNow();
    }
    return super.reveal(id);
  }

  // ---- drawing -----------------------------------------------------------------------------

  /** Whether to draw the bins: they are fine enough, and the window has many firings. */
  far() {
    return this.runs.some((r) => r.record.firingsBetween(this.from, this.to) > FEW) && (2 * (this.to - this.from)) / this.plot >= Math.max(...this.runs.map((r) => r.record.binWidth));
  }

  loaded() {
    if (this.far()) return null;
    const missing = this.runs.filter((r) => !r.record.has(this.from, this.to));
    return missing.length ? Promise.all(missing.map((r) => r.record.load(this.from, this.to))) : null;
  }

  // A line on top of a row wherever the two runs differ in it; `differing` counts its pixels per row.
  paintDifference(c, row, y) {
    const [a, b] = this.runs.map((r) => r.record);
    let different = 0;
    c.fillStyle = this.colour.mark;
    const mark = (x) => {
      c.fillRect(this.gutter + x, y, 1, 2);
      ++different;
    };
    if (this.far()) {
      const of = (record) => (row.kind === 't' ? record.overview.transitions[row.k].busy : record.overview.places[row.k].integral);
      const sums = [a, b].map((record) => {
        const series = of(record);
        const found = new Float64Array(this.plot);
        if (series) {
          this.columns(record, (x, from, to, cycles) => {
            for (let n = from; n <= to; ++n) found[x - this.gutter] += series[n] / cycles;
          });
        }
        return found;
      });
      // Bins of other widths see other parts of a firing: only what is more than that is a difference.
      const slack = a.binWidth === b.binWidth ? 1e-9 : 0.05 * Math.max(1, ...sums[0], ...sums[1]);
      for (let x = 0; x < this.plot; ++x) if (Math.abs(sums[0][x] - sums[1][x]) > slack) mark(x);
    } else {
      for (let x = 0; x < this.plot; ++x) {
        const t = Math.floor(this.timeAt(this.gutter + x));
        const [p, q] = [a, b].map((record) => this.valueAt(record, row, t));
        if (p !== q) mark(x);
      }
    }
    this.differing[row.id] = different;
  }

  // Tokens of a place or firings in flight of a transition; nothing after the run's end.
  valueAt(record, row, t) {
    const segment = record.segments.get(record.segmentOf(t));
    if (!segment) return 0;
    return row.kind === 'p' ? valueAt(segment.places[row.k], Math.min(t, record.end)) : inFlight(segment.transitions[row.k], t).length;
  }

  paintLane(c, row, y) {
    const lane = ROW / this.runs.length;
    if (this.runs.length > 1) this.paintDifference(c, row, y);
    this.runs.forEach((run, i) => {
      const top = y + i * lane;
      if (row.kind === 't') this.paintTransition(c, run, row.k, top, lane, i);
      else this.paintPlace(c, run, row.k, top, lane, i);
    });
  }

  fill(run, i) {
    return i === 0 ? this.colour.accent : this.colour.other;
  }

  paintTransition(c, run, k, y, height, i) {
    const strip = height > 20 ? 7 : 2;
    const top = y + (height > 20 ? 3 : 1);
    const tall = height - strip - (height > 20 ? 5 : 2);
    const paintBars = this.far() ? this.farBars : this.nearBars;
    c.fillStyle = this.fill(run, i);
    paintBars.call(this, c, run.record, k, top, tall);
    (this.far() ? this.farWaits : this.nearWaits).call(this, c, run.record, k, y + height - strip - 1, strip);
    if (this.path && i === (this.pathOf ?? 0)) this.paintPath(c, k, top, tall);
  }

  // Bins: how busy it was, as a height.
  farBars(c, record, k, top, tall) {
    const { busy, starts } = record.overview.transitions[k];
    if (!starts) return;
    this.columns(record, (x, a, b, cycles) => {
      let [sum, some] = [0, 0];
      for (let n = a; n <= b; ++n) {
        sum += busy ? busy[n] : 0;
        some += starts[n];
      }
      if (!sum && !some) return;
      const height = Math.max(some ? TICK : 1, (tall * sum) / cycles);
      c.fillRect(x, top + tall - height, 1, height);
    });
  }

  farWaits(c, record, k, top, tall) {
    const { waits } = record.overview.transitions[k];
    let [run, begin, end] = [0, 0, 0]; // columns of one reason are drawn as one
    const flush = () => { if (run) this.whyStrip(c, run, begin, end - begin, top, tall); };
    this.columns(record, (x, a, b) => {
      let [best, most] = [0, 0];
      for (let why = 1; why < waits.length; ++why) {
        if (!waits[why]) continue;
        let sum = 0;
        for (let n = a; n <= b; ++n) sum += waits[why][n];
        if (sum > most) [best, most] = [why, sum];
      }
      if (best !== run) {
        flush();
        [run, begin] = [best, x];
      }
      end = x + 1;
    });
    flush();
  }

  // Nothing to do is no news: a thin line.
  whyStrip(c, why, x, w, top, tall) {
    const height = why === 1 ? Math.min(1, tall) : tall;
    c.fillStyle = this.colour.why[why];
    c.fillRect(x, top + tall - height, w, height);
    if (w < 14 || height < 7) return; // its letter, for those whom colours tell little
    c.fillStyle = this.colour.panel;
    c.font = "700 7px 'Inter Variable', Arial, sans-serif";
    c.textBaseline = 'middle';
    const from = Math.max(x, this.gutter);
    if (x + w - from > 12) c.fillText(LETTERS[why], from + 4, top + tall - height / 2 + 0.5);
  }

  // For each pixel column: the bins a..b in it and the cycles they stand for.
  columns(record, each) {
    const w = record.binWidth;
    const last = Math.floor(record.end / w);
    for (let x = 0; x < this.plot; ++x) {
      const t = this.from + (x / this.plot) * (this.to - this.from);
      const u = this.from + ((x + 1) / this.plot) * (this.to - this.from);
      const a = Math.floor(t / w);
      if (a > last) break;
      const b = Math.min(last, Math.max(a, Math.ceil(u / w) - 1));
      each(this.gutter + x, a, b, Math.min((b + 1) * w, record.end) - a * w || 1);
    }
  }

  nearBars(c, record, k, top, tall) {
    const bars = []; // [x, w, lane, actor, firing]
    const ends = []; // of the lanes: as many as firings overlap
    for (const [segment, isFirst] of record.between(this.from, this.to)) {
      const actor = segment.transitions[k];
      let f = Math.max(0, lastUpTo(actor.start, this.from));
      while (f > 0 && actor.reach[f - 1] > this.from) --f;
      const last = lastUpTo(actor.start, this.to);
      if (last - f > this.plot / 2) {
        this.dense(c, actor, Math.max(f, isFirst ? 0 : actor.carried), last, top, tall);
        continue;
      }
      for (; f <= last; ++f) {
        if (f < actor.carried && !isFirst) continue;
        let lane = ends.findIndex((end) => end <= actor.start[f]);
        if (lane < 0) lane = Math.min(ends.length, LANES - 1);
        ends[lane] = actor.due[f];
        const x = this.x(actor.start[f]);
        bars.push([x, Math.max(1, this.x(actor.due[f]) - x - 0.6), lane, actor, f]);
      }
    }
    const each = tall / Math.max(1, ends.length);
    for (const [x, w, lane, actor, f] of bars) {
      c.fillRect(x, top + lane * each, w, Math.max(1, each - (ends.length > 1 ? 1 : 0)));
      if (w > 40 && each > 10) this.label(c, record, actor, f, x, top, w, each);
    }
  }

  label(c, record, actor, f, x, top, w, tall) {
    const colour = c.fillStyle;
    c.fillStyle = this.colour.panel;
    c.font = "500 10px 'Inter Variable', Arial, sans-serif";
    const from = Math.max(x, this.gutter);
    const text = `#${actor.number[f]} · ${grouped(actor.due[f] - actor.start[f])}`;
    if (x + w - from > c.measureText(text).width + 10) c.fillText(text, from + 5, top + tall / 2 + 0.5);
    c.fillStyle = colour;
  }

  // More firings than pixels: how much of each column is busy.
  dense(c, actor, first, last, top, tall) {
    const share = new Float32Array(this.plot + 1);
    const scale = this.plot / (this.to - this.from);
    for (let f = first; f <= last; ++f) {
      const a = Math.max(0, (actor.start[f] - this.from) * scale);
      const b = Math.min(this.plot, (actor.due[f] - this.from) * scale);
      for (let x = Math.floor(a); x <= b; ++x) share[x] += Math.max(0, Math.min(b, x + 1) - Math.max(a, x));
      if (actor.start[f] >= this.from) share[Math.floor(a)] = Math.max(share[Math.floor(a)], TICK / tall);
    }
    for (let x = 0; x < this.plot; ++x) {
      const height = Math.min(1, share[x]) * tall;
      if (height > 0.2) c.fillRect(this.gutter + x, top + tall - height, 1, Math.max(1, height));
    }
  }

  nearWaits(c, record, k, top, tall) {
    const parts = [...record.between(this.from, this.to)];
    parts.forEach(([segment], s) => {
      const end = s + 1 < parts.length ? parts[s + 1][0].begin : record.end;
      const { waits } = segment.transitions[k];
      let n = lastUpTo(waits.times, this.from);
      let code = n < 0 ? waits.before : waits.values[n];
      let x = this.x(n < 0 ? segment.begin : waits.times[n]);
      let painted = -1; // the last pixel: of many short reasons in one, the first is shown
      for (++n; n <= waits.times.length; ++n) {
        const t = n < waits.times.length ? waits.times[n] : end;
        const until = this.x(Math.min(t, end));
        if (code & 7 && until > x && (until - x >= 1 || Math.floor(x) !== painted)) {
          painted = Math.floor(x);
          this.whyStrip(c, code & 7, x, Math.max(0.5, until - x), top, tall);
        }
        if (t > this.to) break;
        x = until;
        code = waits.values[n];
      }
    });
  }

  paintPath(c, k, top, tall) {
    const { index, start, commit } = this.path;
    const first = Math.max(0, lastUpTo(commit, this.from));
    const last = Math.min(index.length - 1, lastUpTo(start, this.to));
    c.strokeStyle = this.colour.path;
    c.lineWidth = 2;
    const most = 4000;
    const step = Math.max(1, Math.floor((last - first) / most));
    for (let s = first; s <= last; s += step) {
      if (index[s] !== k) continue;
      const x = this.x(start[s]);
      c.strokeRect(x, top, Math.max(1, this.x(commit[s]) - x), tall);
    }
  }

  paintPlace(c, run, k, y, height, i) {
    const { record } = run;
    const most = Math.max(1, run.peaks[k]);
    const [top, tall] = [y + 3, height - 5];
    const up = (tokens) => (tall * Math.min(tokens, most)) / most;
    c.fillStyle = this.fill(run, i);
    if (this.far()) {
      const { integral, most: highest } = record.overview.places[k];
      if (!highest) return;
      c.globalAlpha = 0.35;
      this.columns(record, (x, a, b) => {
        let top_ = 0;
        for (let n = a; n <= b; ++n) top_ = Math.max(top_, highest[n]);
        if (top_) c.fillRect(x, top + tall - up(top_), 1, up(top_));
      });
      c.globalAlpha = 0.8;
      this.columns(record, (x, a, b, cycles) => {
        let sum = 0;
        for (let n = a; n <= b; ++n) sum += integral[n];
        if (sum) c.fillRect(x, top + tall - up(sum / cycles), 1, up(sum / cycles));
      });
      c.globalAlpha = 1;
      return;
    }
    c.globalAlpha = 0.6;
    const parts = [...record.between(this.from, this.to)];
    parts.forEach(([segment], s) => {
      const end = s + 1 < parts.length ? parts[s + 1][0].begin : record.end;
      const level = segment.places[k];
      let n = lastUpTo(level.times, this.from);
      let tokens = n < 0 ? level.before : level.values[n];
      let x = this.x(n < 0 ? segment.begin : level.times[n]);
      let [pixel, highest] = [-1, 0]; // of many changes in one pixel, the most tokens are shown
      const flush = () => {
        if (highest) c.fillRect(pixel, top + tall - up(highest), 1, up(highest));
        highest = 0;
      };
      for (++n; n <= level.times.length; ++n) {
        const t = n < level.times.length ? level.times[n] : end;
        const until = this.x(Math.min(t, end));
        if (until - x < 1) {
          if (Math.floor(x) !== pixel) flush();
          pixel = Math.floor(x);
          if (until > x) highest = Math.max(highest, tokens);
        } else if (tokens) c.fillRect(x, top + tall - up(tokens), until - x, up(tokens));
        if (t > this.to) break;
        x = until;
        tokens = level.values[n];
      }
      flush();
    });
    c.globalAlpha = 1;
  }

  /** How many transitions are busy, over the whole run. */
  strip() {
    const { record } = this.runs[0];
    const sums = new Float64Array(this.plot);
    for (const { busy } of record.overview.transitions) {
      if (!busy) continue;
      for (let x = 0; x < this.plot; ++x) {
        const a = Math.floor(((x / this.plot) * this.end) / record.binWidth);
        const b = Math.max(a, Math.floor((((x + 1) / this.plot) * this.end) / record.binWidth) - 1);
        let sum = 0;
        for (let n = a; n <= b && n < busy.length; ++n) sum += busy[n];
        sums[x] += sum / ((b - a + 1) * record.binWidth);
      }
    }
    return sums;
  }
}
