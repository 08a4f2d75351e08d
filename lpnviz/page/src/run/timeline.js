// The timeline: a row per transition with its firings and its reasons to wait, one per place with
// its tokens, over the window that is shown; on top the whole run with the window in it.
//
// Far away it draws the record's bins, near by its segments: whichever is no coarser than a pixel.

import { h } from '../base/dom.js';
import { inFlight, lastUpTo, valueAt } from './record.js';
import { LETTERS } from './why.js';
import { cut, grouped, sansWidth } from '../base/text.js';

export const ROW = 26;
const RULER = 22;
const WHOLE = 20; // the strip of the whole run
const HEAD = WHOLE + RULER;
const LANES = 4;
const TICK = 3; // height of firings that take no time, where they are drawn as a share
const FEW = 20000; // firings that are drawn one by one at any zoom

export class Timeline {
  /** `runs`: [{ record, title }]; `seek(t)`, `choose(id)`, `windowed()` are called. */
  constructor(box, net, runs, { seek, choose, windowed, tip, order }) {
    Object.assign(this, { box, net, runs, seek, choose, windowed, tip });
    this.end = Math.max(1, ...runs.map((r) => r.record.end));
    this.from = 0;
    this.to = this.end;
    this.time = 0;
    this.chosen = null;
    this.path = null; // { start, commit, index } of the critical path, when it is shown
    this.gutter = Math.min(210, Math.max(110, 24 + Math.max(...[...net.transitions, ...net.places].map((x) => sansWidth(cut(x.name, 26), 11.5, 500)))));
    this.near = false; // only the chosen part and its neighbours
    this.all = [...net.transitions.map((t, k) => ({ id: `t${k}`, kind: 't', k, name: t.name })),
      ...net.places.map((p, k) => ({ id: `p${k}`, kind: 'p', k, name: p.name }))];
    this.order = order; // of the transitions: those that decide most first
    this.ordered = true;
    this.idleShown = false;
    this.rows = this.rowsNow();
    this.span = null; // [from, to] that is measured
    this.canvas = h('canvas', { tabindex: '0', role: 'img', 'aria-label': 'Timeline of the run. Left and right move the cursor, plus and minus zoom, up and down scroll.' });
    // The cursor moves without the canvas being drawn again.
    this.cursor = h('div', { class: 'cursor' });
    this.wholeCursor = h('div', { class: 'cursor whole' });
    box.append(this.canvas, this.cursor, this.wholeCursor);
    this.scroll = 0;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(box);
  }

  // ---- geometry ----------------------------------------------------------------------------

  resize() {
    const box = this.box.getBoundingClientRect();
    this.w = Math.max(this.gutter + 50, Math.floor(box.width));
    this.h = Math.max(HEAD + 10, Math.floor(box.height));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.w * ratio;
    this.canvas.height = this.h * ratio;
    this.canvas.style.width = `${this.w}px`;
    this.canvas.style.height = `${this.h}px`;
    this.canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  get plot() {
    return this.w - this.gutter - 10;
  }

  x(t) {
    return this.gutter + ((t - this.from) / (this.to - this.from)) * this.plot;
  }

  timeAt(x) {
    return this.from + ((x - this.gutter) / this.plot) * (this.to - this.from);
  }

  rowAt(y) {
    return y < HEAD ? null : this.rows[Math.floor((y - HEAD + this.scroll) / ROW)] ?? null;
  }

  setWindow(from, to) {
    const least = Math.min(this.end, 8);
    const span = Math.min(this.end, Math.max(least, to - from));
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.draw();
    this.windowed(this.from, this.to);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = (this.to - this.from) / factor;
    const share = (at - this.from) / (this.to - this.from);
    this.setWindow(at - span * share, at + span * (1 - share));
  }

  setTime(t, follow) {
    this.time = t;
    if (follow && (t < this.from || t > this.to)) {
      const span = this.to - this.from;
      this.setWindow(t - span * 0.1, t + span * 0.9);
    }
    this.drawCursor();
  }

  setScroll(y) {
    const most = Math.max(0, this.rows.length * ROW - (this.h - HEAD));
    this.scroll = Math.max(0, Math.min(most, y));
    this.draw();
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

  /** Cycles [a, b] that are measured, or else those that are seen. */
  part() {
    const [a, b] = this.span ?? [this.from, this.to];
    return [Math.ceil(a), Math.floor(b)];
  }

  setSpan(a, b) {
    this.span = a === b ? null : [Math.min(a, b), Math.max(a, b)];
    this.draw();
    this.windowed(this.from, this.to);
  }

  zoomToSpan() {
    if (!this.span) return;
    const [a, b] = this.span;
    this.span = null;
    this.setWindow(a, b);
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
    this.chosen = id;
    if (id && !id.startsWith('g:') && !this.rows.some((row) => row.id === id) && !this.near) {
      this.idleShown = true;
      this.rows = this.rowsNow();
    }
    const k = this.rows.findIndex((row) => row.id === id);
    if (k >= 0) {
      const y = k * ROW;
      if (y < this.scroll) return this.setScroll(y);
      if (y + ROW > this.scroll + this.h - HEAD) return this.setScroll(y + ROW - (this.h - HEAD));
    }
    return this.draw();
  }

  // ---- drawing -----------------------------------------------------------------------------

  colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colour = Object.fromEntries(['ground', 'panel', 'line', 'strong', 'ink', 'soft', 'accent', 'accentSoft', 'path', 'mark', 'frame', 'other'].map((c) => [c, of(c)]));
    this.colour.why = ['', 1, 2, 3, 4, 5, 6, 7].map((k) => (k ? of(`why${k}`) : ''));
  }

  /** Whether to draw the bins: they are fine enough, and the window has many firings. */
  far() {
    return this.runs.some((r) => r.record.firingsBetween(this.from, this.to) > FEW) && (2 * (this.to - this.from)) / this.plot >= Math.max(...this.runs.map((r) => r.record.binWidth));
  }

  draw() {
    if (!this.w) return;
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.paint());
  }

  async paint() {
    if (!this.far()) {
      const missing = this.runs.filter((r) => !r.record.has(this.from, this.to));
      if (missing.length) {
        const turn = (this.turn = (this.turn ?? 0) + 1);
        await Promise.all(missing.map((r) => r.record.load(this.from, this.to)));
        if (turn !== this.turn) return;
      }
    }
    this.paintNow();
  }

  paintNow() {
    this.colours();
    const c = this.canvas.getContext('2d');
    const { colour } = this;
    c.clearRect(0, 0, this.w, this.h);
    c.fillStyle = colour.panel;
    c.fillRect(0, 0, this.w, this.h);
    c.save();
    c.beginPath();
    c.rect(0, HEAD, this.w, this.h - HEAD);
    c.clip();
    this.differing = {};
    const first = Math.floor(this.scroll / ROW);
    for (let r = first; r < this.rows.length && HEAD + r * ROW - this.scroll < this.h; ++r) {
      this.paintRow(c, this.rows[r], HEAD + r * ROW - this.scroll, r);
    }
    this.paintSpan(c);
    c.restore();
    this.paintWhole(c);
    this.paintRuler(c);
    this.drawCursor();
    this.painted = (this.painted ?? 0) + 1;
  }

  /** What is measured: from, to, and how long that is. */
  paintSpan(c) {
    if (!this.span) return;
    const { colour } = this;
    const [x, to] = this.span.map((t) => Math.max(this.gutter, Math.min(this.gutter + this.plot, this.x(t))));
    c.fillStyle = colour.accent;
    c.globalAlpha = 0.13;
    c.fillRect(x, HEAD, to - x, this.h - HEAD);
    c.globalAlpha = 1;
    const [a, b] = this.span;
    const text = `${grouped(b - a)} cycles, ${grouped(a)} to ${grouped(b)}; z zooms`;
    c.font = "500 11px 'Inter Variable', Arial, sans-serif";
    const w = c.measureText(text).width + 12;
    const left = Math.max(this.gutter, Math.min(this.w - w - 4, (x + to - w) / 2));
    c.fillRect(left, this.h - 22, w, 18);
    c.fillStyle = colour.panel;
    c.textBaseline = 'middle';
    c.fillText(text, left + 6, this.h - 12.5);
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

  paintRow(c, row, y, r) {
    const { colour } = this;
    if (row.kind === 'fold') {
      c.fillStyle = colour.accent;
      c.font = "400 11.5px 'Inter Variable', Arial, sans-serif";
      c.textBaseline = 'middle';
      c.fillText(row.name, 16, y + ROW / 2 + 0.5);
      return;
    }
    if (row.id === this.chosen) {
      c.fillStyle = colour.accentSoft;
      c.fillRect(0, y, this.w, ROW);
    } else if (r % 2) {
      c.fillStyle = colour.frame;
      c.fillRect(0, y, this.w, ROW);
    }
    c.fillStyle = row.kind === 't' ? colour.ink : colour.soft;
    c.font = `${row.kind === 't' ? 500 : 400} 11.5px 'Inter Variable', Arial, sans-serif`;
    c.textBaseline = 'middle';
    c.fillText(cut(row.name, 26), 16, y + ROW / 2 + 0.5);
    c.save();
    c.beginPath();
    c.rect(this.gutter, y, this.plot, ROW);
    c.clip();
    const lane = ROW / this.runs.length;
    if (this.runs.length > 1) this.paintDifference(c, row, y);
    this.runs.forEach((run, i) => {
      const top = y + i * lane;
      if (row.kind === 't') this.paintTransition(c, run, row.k, top, lane, i);
      else this.paintPlace(c, run, row.k, top, lane, i);
    });
    c.restore();
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

  // The whole run: how many transitions are busy, and the window.
  paintWhole(c) {
    const { colour } = this;
    c.fillStyle = colour.panel;
    c.fillRect(0, 0, this.w, WHOLE);
    if (!this.whole || this.whole.w !== this.plot) this.whole = { w: this.plot, of: this.activity() };
    const most = Math.max(1e-9, ...this.whole.of);
    c.fillStyle = colour.strong;
    this.whole.of.forEach((share, x) => {
      const height = (share / most) * (WHOLE - 6);
      if (height > 0) c.fillRect(this.gutter + x, WHOLE - 2 - height, 1, height);
    });
    const x = this.gutter + (this.from / this.end) * this.plot;
    const w = Math.max(3, ((this.to - this.from) / this.end) * this.plot);
    c.fillStyle = colour.accent;
    c.globalAlpha = 0.14;
    c.fillRect(x, 1, w, WHOLE - 2);
    c.globalAlpha = 1;
    c.strokeStyle = colour.accent;
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, 1.5, w - 1, WHOLE - 3);
    c.fillStyle = colour.soft;
    c.font = "400 11px 'Inter Variable', Arial, sans-serif";
    c.textBaseline = 'middle';
    c.fillText('whole run', 16, WHOLE / 2 + 1);
  }

  activity() {
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

  paintRuler(c) {
    const { colour } = this;
    c.fillStyle = colour.panel;
    c.fillRect(0, WHOLE, this.w, RULER);
    c.strokeStyle = colour.line;
    c.beginPath();
    c.moveTo(0, HEAD - 0.5);
    c.lineTo(this.w, HEAD - 0.5);
    c.stroke();
    c.fillStyle = colour.soft;
    c.font = "400 11px 'Inter Variable', Arial, sans-serif";
    c.textBaseline = 'middle';
    c.fillText('cycle', 16, WHOLE + RULER / 2);
    const step = niceStep((this.to - this.from) / (this.plot / 110));
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.strokeStyle = colour.strong;
      c.beginPath();
      c.moveTo(x, HEAD - 6);
      c.lineTo(x, HEAD);
      c.stroke();
      const text = grouped(t);
      const w = c.measureText(text).width;
      c.fillText(text, Math.min(Math.max(x - w / 2, this.gutter), this.w - w - 4), WHOLE + RULER / 2 - 1);
    }
  }

  drawCursor() {
    if (!this.w) return;
    this.wholeCursor.style.transform = `translateX(${(this.gutter + (this.time / this.end) * this.plot).toFixed(1)}px)`;
    const x = this.x(this.time);
    this.cursor.hidden = x < this.gutter - 1 || x > this.gutter + this.plot + 1;
    this.cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  // ---- pointer and keyboard ----------------------------------------------------------------

  listen() {
    const { canvas } = this;
    const at = (e) => {
      const box = canvas.getBoundingClientRect();
      return [e.clientX - box.left, e.clientY - box.top];
    };
    const clamp = (t) => Math.max(0, Math.min(this.end, Math.round(t)));
    let drag = null;
    canvas.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      const [x, y] = at(e);
      canvas.setPointerCapture(e.pointerId);
      drag = { x, y, from: this.from, to: this.to, scroll: this.scroll, what: y < WHOLE ? 'whole' : e.shiftKey ? 'span' : y < HEAD ? 'time' : 'rows', moved: false };
      if (drag.what === 'whole') this.centre(x);
      if (drag.what === 'time') this.seek(clamp(this.timeAt(x)));
    });
    canvas.addEventListener('pointermove', (e) => {
      const [x, y] = at(e);
      if (!drag) {
        this.tip(this.rowAt(y)?.kind === 'fold' ? null : this.rowAt(y), clamp(this.timeAt(x)), x >= this.gutter, e);
        return;
      }
      if (Math.hypot(x - drag.x, y - drag.y) > 3) drag.moved = true;
      if (drag.what === 'whole') this.centre(x);
      else if (drag.what === 'span') this.setSpan(clamp(this.timeAt(drag.x)), clamp(this.timeAt(x)));
      else if (drag.what === 'time') this.seek(clamp(this.timeAt(x)));
      else if (drag.moved) {
        const dt = ((x - drag.x) / this.plot) * (drag.to - drag.from);
        this.scroll = Math.max(0, Math.min(Math.max(0, this.rows.length * ROW - (this.h - HEAD)), drag.scroll - (y - drag.y)));
        this.setWindow(drag.from - dt, drag.to - dt);
      }
    });
    canvas.addEventListener('pointerleave', (e) => this.tip(null, 0, false, e));
    canvas.addEventListener('pointerup', (e) => {
      const [x, y] = at(e);
      if (drag?.what === 'span' && !drag.moved) this.setSpan(0, 0);
      if (drag && drag.what === 'rows' && !drag.moved) {
        const row = this.rowAt(y);
        if (x >= this.gutter && row?.kind !== 'fold') this.seek(clamp(this.timeAt(x)));
        if (row?.kind === 'fold') this.toggleIdle();
        else if (row) this.choose(row.id);
      }
      drag = null;
    });
    canvas.addEventListener('dblclick', (e) => {
      const [x, y] = at(e);
      if (y >= WHOLE) this.zoom(4, this.timeAt(x));
    });
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const [x] = at(e);
      const scale = e.deltaMode === 1 ? 16 : 1;
      const overflow = this.rows.length * ROW > this.h - HEAD;
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) {
        const dt = (((e.deltaX || e.deltaY) * scale) / this.plot) * (this.to - this.from);
        this.setWindow(this.from + dt, this.to + dt);
      } else if (e.ctrlKey || e.metaKey || !overflow || x < this.gutter === false && e.altKey) {
        this.zoom(Math.exp(-e.deltaY * scale * 0.002), Math.max(this.from, Math.min(this.to, this.timeAt(x))));
      } else {
        this.setScroll(this.scroll + e.deltaY * scale);
      }
    }, { passive: false });
    canvas.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const pixel = Math.max(1, Math.round((this.to - this.from) / this.plot));
      const actions = {
        ArrowLeft: () => this.seek(clamp(this.time - (e.shiftKey ? 20 * pixel : pixel)), true),
        ArrowRight: () => this.seek(clamp(this.time + (e.shiftKey ? 20 * pixel : pixel)), true),
        ArrowUp: () => this.setScroll(this.scroll - ROW), ArrowDown: () => this.setScroll(this.scroll + ROW),
        '+': () => this.zoom(2, this.anchor()), '=': () => this.zoom(2, this.anchor()), '-': () => this.zoom(0.5, this.anchor()),
        0: () => this.setWindow(0, this.end), Escape: () => this.setSpan(0, 0),
      };
      if (!actions[e.key]) return;
      actions[e.key]();
      e.preventDefault();
      e.stopPropagation();
    });
  }

  /** Where zooming by keys stays: the cursor when it is seen. */
  anchor() {
    return this.time >= this.from && this.time <= this.to ? this.time : (this.from + this.to) / 2;
  }

  centre(x) {
    const t = ((x - this.gutter) / this.plot) * this.end;
    const span = this.to - this.from;
    this.setWindow(t - span / 2, t + span / 2);
  }
}

/** The least 1, 2 or 5 times a power of ten that is not below x, and not below 1. */
export function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, x)));
  return Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((k) => k >= x));
}
