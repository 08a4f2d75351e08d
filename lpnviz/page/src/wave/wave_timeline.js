// The timeline of a recording: a row per channel with its transfers, back-pressure and starvation; two
// lanes where two recordings, or a model and one, are compared.

import { ROW, Timeline } from '../base/timeline.js';
import { cut, sansWidth } from '../base/text.js';
import { ACTIVE, PHASES, RESET, STALLED, STARVED, TRANSFER, UNKNOWN } from './lane.js';

export const COLOURS = { [STARVED]: 'why1', [STALLED]: 'why2', [ACTIVE]: 'why5', [UNKNOWN]: 'why4', [RESET]: 'strong' };
const STACK = [TRANSFER, ACTIVE, STALLED, UNKNOWN, STARVED]; // from below, where a column has several
const MOST_ARROWS = 300;
const FEW_LINKS = 4; // that are drawn while no channel is chosen

export class WaveTimeline extends Timeline {
  /** `rows`: [{ name, lanes }]; `links`: [{ victim, culprit, lag }] as numbers of rows. */
  constructor(box, rows, links, { begin, end, unit }, calls) {
    const names = rows.map((r) => sansWidth(cut(r.name, 26), 11.5, 500));
    super(box, {
      begin, end, unit, gutter: Math.min(210, Math.max(110, 24 + Math.max(...names))), whole: 'whole recording', label: 'Timeline of the channels',
    }, calls);
    this.channels = rows.map((row, k) => ({ ...row, id: `c${k}`, kind: 'c', k }));
    this.links = links;
    this.chainsFirst = false;
    this.mark = null; // where two differ first
    this.rows = this.channels;
  }

  /** Rows in the map's order, or each victim before who holds it. */
  setChainsFirst(on, chains) {
    this.chainsFirst = on;
    const first = on ? [...new Set(chains.flat())] : [];
    this.rows = [...first.map((k) => this.channels[k]), ...this.channels.filter((row) => !first.includes(row.k))];
    this.setScroll(0);
  }

  fill(phase, lane) {
    if (phase === TRANSFER) return lane ? this.colour.other : this.colour.accent;
    const name = COLOURS[phase];
    return name?.startsWith('why') ? this.colour.why[Number(name.slice(3))] : this.colour[name];
  }

  paintLane(c, row, y) {
    const { lanes } = row;
    const height = ROW / lanes.length;
    lanes.forEach((lane, i) => {
      const top = y + i * height + (height > 20 ? 3 : 1);
      const tall = height - (height > 20 ? 6 : 2);
      const near = lane.has(Math.max(this.from, lane.from), Math.min(this.to, lane.to)) && (this.to - this.from) / this.plot < 0.5;
      if (near) this.paintNear(c, lane, i, top, tall);
      else this.paintFar(c, lane, i, top, tall);
    });
    if (row.firings) this.paintFirings(c, row.firings, y + height + 1, height - 2);
    if (lanes.length > 1) this.paintDifference(c, row, y);
  }

  // Each cycle is two pixels or more.
  paintNear(c, lane, i, top, tall) {
    const wide = this.plot / (this.to - this.from);
    lane.runs(this.from - 1, this.to + 1, (phase, a, b) => {
      c.fillStyle = this.fill(phase, i);
      const x = this.x(a);
      const w = this.x(b) - x;
      if (phase === TRANSFER && wide >= 4 && b - a < 4000) {
        for (let t = Math.ceil(a); t < b; ++t) c.fillRect(this.x(t) + 0.5, top, Math.max(1, wide - 1), tall);
      } else if (phase === STARVED) c.fillRect(x, top + tall - 3, w, 3);
      else if (phase === ACTIVE) c.fillRect(x, top + tall * 0.3, w, tall * 0.7);
      else if (phase === RESET) c.fillRect(x, top + tall / 2, w, 1);
      else if (COLOURS[phase] || phase === TRANSFER) c.fillRect(x, top, w, tall);
    });
  }

  // Among the transfers those that are firings of the model.
  paintFirings(c, lane, top, tall) {
    const sums = lane.columns(this.from, this.to, this.plot);
    c.fillStyle = this.colour.path;
    for (let x = 0; x < this.plot; ++x) if (sums[x * PHASES.length + TRANSFER] > 0) c.fillRect(this.gutter + x, top + tall - 3, 1, 3);
  }

  // Shares of a column, one above the other.
  paintFar(c, lane, i, top, tall) {
    const sums = lane.columns(this.from, this.to, this.plot);
    const all = (this.to - this.from) / this.plot;
    for (let x = 0; x < this.plot; ++x) {
      let up = 0;
      for (const phase of STACK) {
        const share = Math.min(1, sums[x * PHASES.length + phase] / all);
        if (!share) continue;
        const height = phase === STARVED ? Math.min(3, tall - up) : Math.max(1, share * tall);
        c.fillStyle = this.fill(phase, i);
        c.fillRect(this.gutter + x, top + tall - up - height, 1, height);
        up = Math.min(tall, up + height);
      }
    }
  }

  // A red line on top wherever one has transfers that the other has not.
  paintDifference(c, row, y) {
    const sums = row.judged.map((lane) => lane.columns(this.from, this.to, this.plot));
    c.fillStyle = this.colour.mark;
    let different = 0;
    for (let x = 0; x < this.plot; ++x) {
      const [a, b] = sums.map((s) => s[x * PHASES.length + TRANSFER]);
      if (Math.abs(a - b) < 1e-6) continue;
      c.fillRect(this.gutter + x, y, 1, 2);
      ++different;
    }
    this.differing[row.id] = different;
  }

  paintNow() {
    super.paintNow();
    const c = this.canvas.getContext('2d');
    this.paintMark(c);
    this.paintArrows(c);
  }

  paintMark(c) {
    if (this.mark === null || this.mark < this.from || this.mark > this.to) return;
    c.strokeStyle = this.colour.mark;
    c.setLineDash([3, 3]);
    c.beginPath();
    c.moveTo(Math.round(this.x(this.mark)) + 0.5, 22);
    c.lineTo(Math.round(this.x(this.mark)) + 0.5, this.h);
    c.stroke();
    c.setLineDash([]);
  }

  /** Of the chosen channel: who holds it, and onward to the last one; and whom it holds. */
  linksShown() {
    if (this.unit !== 'cycle') return []; // lags are cycles
    const chosen = this.chosen === null ? null : Number(this.chosen.slice(1));
    if (chosen === null) return this.links.length > FEW_LINKS ? [] : this.links;
    const found = new Set(this.links.filter((link) => link.culprit === chosen));
    for (let at = chosen, link; (link = this.links.find((l) => l.victim === at)) && !found.has(link); at = link.culprit) found.add(link);
    return [...found];
  }

  // From the culprit's release to that of its victim.
  paintArrows(c) {
    this.arrows = 0;
    if (this.plot / (this.to - this.from) < 2) return;
    c.strokeStyle = this.colour.path;
    c.lineWidth = 1.2;
    c.save();
    c.beginPath();
    c.rect(this.gutter, 42, this.plot, this.h - 42);
    c.clip();
    for (const { victim, culprit, lag } of this.linksShown()) {
      const [own, other] = [this.channels[victim].lanes[0], this.channels[culprit].lanes[0]];
      const [y, z] = [victim, culprit].map((k) => 42 + (this.rows.findIndex((row) => row.k === k) + 0.5) * ROW - this.scroll);
      let before = -1;
      own.runs(this.from - 1, this.to + 1, (phase, a) => {
        const released = phase === TRANSFER && before === STALLED;
        before = phase;
        if (!released || this.arrows >= MOST_ARROWS || other.at(a - lag)?.phase !== TRANSFER || other.at(a - lag - 1)?.phase !== STALLED) return;
        const [x, from] = [this.x(a + 0.5), this.x(a - lag + 0.5)];
        const into = y + (z > y ? 1 : -1) * (ROW / 2 - 4);
        c.beginPath();
        c.moveTo(from, z);
        c.lineTo(x, into);
        c.moveTo(x - 3, into + (z > y ? 4 : -4));
        c.lineTo(x, into);
        c.lineTo(x + 3, into + (z > y ? 4 : -4));
        c.stroke();
        ++this.arrows;
      });
    }
    c.restore();
  }

  /** Transfers of all channels, over the whole recording. */
  strip() {
    const sums = new Float64Array(this.plot);
    for (const { lanes } of this.channels) {
      const of = lanes[lanes.length - 1].columns(this.begin, this.end, this.plot);
      for (let x = 0; x < this.plot; ++x) sums[x] += of[x * PHASES.length + TRANSFER] + of[x * PHASES.length + ACTIVE];
    }
    return sums;
  }
}
