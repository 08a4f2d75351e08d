// A timeline to look at: rows over the window that is shown, a ruler, and on top a strip of the whole
// with the window in it; zoom, scroll, a cursor, a span that is measured.
//
// What the rows are, and what stands in them, says who extends it: rows, paintLane(c, row, y), strip(),
// loaded(), toggleIdle().

import { h } from './dom.js';
import { cut, grouped } from './text.js';

export const ROW = 26;
const RULER = 22;
const WHOLE = 20; // the strip of the whole
export const HEAD = WHOLE + RULER;
const NAME = 26; // characters of a row's name

export class Timeline {
  /** From `begin` to `end`; `seek(t)`, `choose(id)`, `windowed()`, `tip(row, t, inside, event)` are called. */
  constructor(box, { begin = 0, end, gutter, unit = 'cycle', whole, label }, calls) {
    Object.assign(this, { box, begin, end, gutter, unit, units: unit === 'cycle' ? 'cycles' : unit, wholeName: whole }, calls);
    this.from = begin;
    this.to = end;
    this.time = begin;
    this.chosen = null;
    this.rows = [];
    this.span = null; // [from, to] that is measured
    this.canvas = h('canvas', { tabindex: '0', role: 'img', 'aria-label': `${label}. Left and right move the cursor, plus and minus zoom, up and down scroll.` });
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

  /** Where t is in the whole, 0 to 1. */
  share(t) {
    return (t - this.begin) / (this.end - this.begin);
  }

  setWindow(from, to) {
    const all = this.end - this.begin;
    const span = Math.min(all, Math.max(Math.min(all, 8), to - from));
    this.from = Math.max(this.begin, Math.min(from, this.end - span));
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

  /** Scrolls to the row of that id. */
  reveal(id) {
    this.chosen = id;
    const k = this.rows.findIndex((row) => row.id === id);
    if (k >= 0) {
      const y = k * ROW;
      if (y < this.scroll) return this.setScroll(y);
      if (y + ROW > this.scroll + this.h - HEAD) return this.setScroll(y + ROW - (this.h - HEAD));
    }
    return this.draw();
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

  // ---- drawing -----------------------------------------------------------------------------

  colours(names = []) {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colour = Object.fromEntries(['ground', 'panel', 'line', 'strong', 'ink', 'soft', 'accent', 'accentSoft', 'path', 'mark', 'frame', 'other', ...names].map((c) => [c, of(c)]));
    this.colour.why = ['', 1, 2, 3, 4, 5, 6, 7].map((k) => (k ? of(`why${k}`) : ''));
  }

  draw() {
    if (!this.w) return;
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.paint());
  }

  async paint() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const waiting = this.loaded();
    if (waiting) {
      await waiting;
      if (turn !== this.turn) return;
    }
    this.paintNow();
  }

  /** A promise of what has to be there before it can be drawn, or null. */
  loaded() {
    return null;
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

  paintRow(c, row, y, r) {
    const { colour } = this;
    c.textBaseline = 'middle';
    if (row.kind === 'fold') {
      c.fillStyle = colour.accent;
      c.font = "400 11.5px 'Inter Variable', Arial, sans-serif";
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
    c.fillStyle = row.quiet ? colour.soft : colour.ink;
    c.font = `${row.quiet ? 400 : 500} 11.5px 'Inter Variable', Arial, sans-serif`;
    c.fillText(cut(row.name, NAME), 16, y + ROW / 2 + 0.5);
    c.save();
    c.beginPath();
    c.rect(this.gutter, y, this.plot, ROW);
    c.clip();
    this.paintLane(c, row, y);
    c.restore();
  }

  // The whole, and the window in it.
  paintWhole(c) {
    const { colour } = this;
    c.fillStyle = colour.panel;
    c.fillRect(0, 0, this.w, WHOLE);
    if (!this.whole || this.whole.w !== this.plot) this.whole = { w: this.plot, of: this.strip() };
    const most = Math.max(1e-9, ...this.whole.of);
    c.fillStyle = colour.strong;
    this.whole.of.forEach((share, x) => {
      const height = (share / most) * (WHOLE - 6);
      if (height > 0) c.fillRect(this.gutter + x, WHOLE - 2 - height, 1, height);
    });
    const x = this.gutter + this.share(this.from) * this.plot;
    const w = Math.max(3, (this.share(this.to) - this.share(this.from)) * this.plot);
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
    c.fillText(this.wholeName, 16, WHOLE / 2 + 1);
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
    const text = `${grouped(b - a)} ${this.units}, ${numbered(a)} to ${numbered(b)}; z zooms`;
    c.font = "500 11px 'Inter Variable', Arial, sans-serif";
    const w = c.measureText(text).width + 12;
    const left = Math.max(this.gutter, Math.min(this.w - w - 4, (x + to - w) / 2));
    c.fillRect(left, this.h - 22, w, 18);
    c.fillStyle = colour.panel;
    c.textBaseline = 'middle';
    c.fillText(text, left + 6, this.h - 12.5);
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
    c.fillText(this.unit, 16, WHOLE + RULER / 2);
    const step = niceStep((this.to - this.from) / (this.plot / 110));
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.strokeStyle = colour.strong;
      c.beginPath();
      c.moveTo(x, HEAD - 6);
      c.lineTo(x, HEAD);
      c.stroke();
      const text = numbered(t);
      const w = c.measureText(text).width;
      c.fillText(text, Math.min(Math.max(x - w / 2, this.gutter), this.w - w - 4), WHOLE + RULER / 2 - 1);
    }
  }

  drawCursor() {
    if (!this.w) return;
    this.wholeCursor.style.transform = `translateX(${(this.gutter + this.share(this.time) * this.plot).toFixed(1)}px)`;
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
    const clamp = (t) => Math.max(this.begin, Math.min(this.end, Math.round(t)));
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
        0: () => this.setWindow(this.begin, this.end), Escape: () => this.setSpan(0, 0),
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
    const t = this.begin + ((x - this.gutter) / this.plot) * (this.end - this.begin);
    const span = this.to - this.from;
    this.setWindow(t - span / 2, t + span / 2);
  }
}

/** A whole number, which may be negative, in groups of three digits. */
export function numbered(t) {
  return t < 0 ? `−${grouped(-t)}` : grouped(t);
}

/** The least 1, 2 or 5 times a power of ten that is not below x, and not below 1. */
export function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, x)));
  return Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((k) => k >= x));
}
