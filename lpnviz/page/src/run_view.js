// The run in the page: player, what the graph shows at an instant, timeline, summary.

import { carried, gunzip } from './data.js';
import { code, h } from './dom.js';
import { countText, fifoBox } from './draw.js';
import { drawMoment, edgesByArc, levelsAt, moved } from './moment.js';
import { inFlight, lastUpTo, Record, WAITS } from './record.js';
import { Timeline } from './timeline.js';
import { grouped, sansWidth, typedNumber } from './text.js';

const MOST_SEGMENTS = 24; // that a summary of a part goes through

const ICONS = {
  play: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 1.8v12.4L14 8z"/></svg>',
  stop: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 2h3.6v12H3zM9.4 2H13v12H9.4z"/></svg>',
  first: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 2h2.4v12H2zM14 2v12L5 8z"/></svg>',
  last: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M11.6 2H14v12h-2.4zM2 2v12l9-6z"/></svg>',
  back: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M10.8 2.6 5 8l5.8 5.4z"/></svg>',
  on: '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5.2 2.6 11 8l-5.8 5.4z"/></svg>',
};

/** The runs that the page carries; null when there is none. */
export async function startRun(page) {
  const runs = [];
  for (const prefix of ['run', 'other']) {
    const text = carried(prefix);
    if (text) runs.push(await readRun(page.net, prefix, JSON.parse(text)));
  }
  return runs.length ? new RunView(page, runs) : null;
}

async function readRun(net, prefix, about) {
  const record = new Record(about.record, net, (k) => gunzip(carried(`${prefix}-s${k}`)), await gunzip(carried(`${prefix}-overview`)));
  const run = { about, record, title: about.title, stats: about.stats,
    peaks: net.places.map((p) => about.stats.places[p.name].peak) };
  if (about.steps) run.path = readSteps(await gunzip(carried(`${prefix}-steps`)), about.steps.count);
  await record.load(0, 0);
  return run;
}

function readSteps(bytes, n) {
  const buffer = bytes.buffer;
  return { start: new Float64Array(buffer, 0, n), commit: new Float64Array(buffer, 8 * n, n),
    index: new Int32Array(buffer, 16 * n, n), toCommit: new Int32Array(buffer, 20 * n, n) };
}

/** What the picture leaves out of a long path, which the table has as a whole. */
function partOfPath(run) {
  const shown = run.path?.index.length ?? 0;
  const all = run.about.critical_path.rows.reduce((sum, row) => sum + (row.what === 'delay' ? row.count : 0), 0);
  if (!shown || shown >= all) return [];
  const from = Math.min(run.path.start[0], run.path.start[shown - 1]);
  return [h('p', { class: 'quiet part-of-path' }, `The timeline has the last ${grouped(shown)} of these ${grouped(all)} firings, from cycle ${grouped(from)} on.`)];
}

export class RunView {
  constructor(page, runs) {
    this.page = page;
    this.net = page.net;
    this.runs = runs;
    this.shown = 0; // which run the graph shows
    this.end = Math.max(...runs.map((r) => r.record.end));
    this.time = 0;
    this.playing = false;
    this.pathOn = false;
    this.build();
    this.summary();
    const window = page.about.window;
    if (window) this.timeline.setWindow(...window);
    this.setTime(window ? window[0] : 0);
  }

  get run() {
    return this.runs[this.shown];
  }

  // ---- the player --------------------------------------------------------------------------

  build() {
    const { page } = this;
    const button = (name, title, onclick) => h('button', { class: 'icon', type: 'button', title, 'aria-label': title, html: ICONS[name], onclick });
    this.playButton = button('play', 'Play (p)', () => this.toggle());
    this.input = h('input', { type: 'text', inputmode: 'numeric', 'aria-label': 'Cycle', value: '0' });
    this.input.addEventListener('change', () => {
      const t = typedNumber(this.input.value);
      this.seek(t === null ? this.time : Math.min(this.end, t), true);
      this.input.value = grouped(Math.floor(this.time));
    });
    this.slider = h('input', { type: 'range', min: 0, max: this.end, step: 1, value: 0, 'aria-label': 'Cycle of the run' });
    this.slider.addEventListener('input', () => this.seek(Number(this.slider.value), true));
    this.speed = h('select', { 'aria-label': 'Speed', title: 'Speed' });
    const speeds = [];
    for (let power = 1; power <= Math.max(10, this.end / 4); power *= 10) speeds.push(power, 2 * power, 5 * power);
    const natural = speeds.reduce((best, s) => (Math.abs(Math.log(s / (this.end / 60 || 1))) < Math.abs(Math.log(best / (this.end / 60 || 1))) ? s : best), 1);
    for (const s of speeds) this.speed.append(h('option', { value: s, selected: s === natural }, `${grouped(s)} cycles/s`));
    const window_ = (text, title, f) => h('button', { type: 'button', title, onclick: f, 'aria-label': title }, text);
    const player = h('div', { class: 'player' }, button('first', 'First cycle (Home)', () => this.seek(0, true)),
      button('back', 'One event back (,)', () => this.step(-1)), this.playButton, button('on', 'One event on (.)', () => this.step(1)),
      button('last', 'Last cycle (End)', () => this.seek(this.end, true)),
      h('span', { class: 'clock' }, this.input, h('span', { class: 'quiet' }, `of ${grouped(this.end)}`)),
      h('span', { class: 'slide' }, this.slider), this.speed,
      window_('−', 'Timeline: zoom out ([)', () => this.timeline.zoom(0.5, this.timeline.anchor())),
      window_('+', 'Timeline: zoom in (])', () => this.timeline.zoom(2, this.timeline.anchor())),
      window_('All', 'Timeline: the whole run', () => this.timeline.setWindow(0, this.end)));
    this.nearButton = h('button', { type: 'button', 'aria-pressed': 'false', title: 'Timeline: only the chosen part and its neighbours (n)', onclick: () => this.toggleNear() }, 'Neighbours');
    player.append(this.nearButton);
    if (this.runs.length > 1) player.append(this.whichRun());
    this.area = h('section', { class: 'timeline', 'aria-label': 'Timeline' });
    this.splitter = h('div', { class: 'splitter', role: 'separator', tabindex: '0', 'aria-orientation': 'horizontal', 'aria-label': 'Height of the timeline' });
    page.footer.append(this.splitter, player, this.area);
    page.footer.hidden = false;
    this.setHeight(Math.round(Math.min(innerHeight * 0.42, 60 + 27 * (this.net.transitions.length + this.net.places.length))));
    this.listenSplitter();
    this.timeline = new Timeline(this.area, this.net, this.runs, {
      seek: (t, follow) => this.seek(t, follow), choose: (id) => page.goTo(id),
      windowed: () => this.windowChanged(), tip: (row, t, inside, e) => this.timelineTip(row, t, inside, e),
    });
    this.live = h('div', { class: 'sr', 'aria-live': 'polite' });
    page.footer.append(this.live);
    const about = this.runs[0].about;
    const fact = (word, value) => h('span', { class: 'fact' }, h('b', {}, value), h('span', { class: 'quiet' }, word));
    page.facts.append(fact('cycles latency', about.latency === null ? '–' : grouped(about.latency)), fact('firings', grouped(about.firings)),
      fact('', about.stalled ? 'stalled' : { quiet: 'ran to the end', done: 'done', limit: 'cut off', interrupted: 'interrupted' }[about.ending]));
    if (this.runs[0].path) {
      this.pathButton = h('button', { type: 'button', 'aria-pressed': 'false', title: 'Critical path (h)', onclick: () => this.togglePath() }, 'Critical path');
      page.tools.append(this.pathButton);
    }
  }

  toggleNear() {
    this.timeline.setNear(!this.timeline.near);
    this.nearButton.setAttribute('aria-pressed', String(this.timeline.near));
  }

  whichRun() {
    const buttons = this.runs.map((r, k) => h('button', { type: 'button', 'aria-pressed': String(k === 0), title: r.title, onclick: () => {
      this.shown = k;
      buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(i === k)));
      this.refresh();
      this.fillTables();
    } }, h('span', { class: 'swatch', style: `background:var(--${k ? 'why2' : 'accent'});margin-right:6px` }), 'AB'[k]));
    return h('span', { style: 'display:inline-flex;gap:4px', role: 'group', 'aria-label': 'Which run the graph shows' }, buttons);
  }

  setHeight(height) {
    this.height = Math.max(110, Math.min(innerHeight - 220, height));
    this.area.style.height = `${this.height}px`;
    this.splitter.setAttribute('aria-valuenow', String(this.height));
    if (this.page.graph?.layout) this.page.graph.fit();
  }

  listenSplitter() {
    const s = this.splitter;
    s.addEventListener('pointerdown', (e) => {
      s.setPointerCapture(e.pointerId);
      const [y, height] = [e.clientY, this.height];
      s.onpointermove = (m) => this.setHeight(height + y - m.clientY);
      s.onpointerup = () => { s.onpointermove = s.onpointerup = null; };
    });
    s.addEventListener('keydown', (e) => {
      const by = { ArrowUp: 24, ArrowDown: -24 }[e.key];
      if (!by) return;
      this.setHeight(this.height + by);
      e.preventDefault();
    });
  }

  toggle(on = !this.playing) {
    if (on === this.playing) return;
    this.playing = on;
    this.playButton.innerHTML = ICONS[on ? 'stop' : 'play'];
    this.playButton.setAttribute('aria-label', on ? 'Stop (p)' : 'Play (p)');
    if (!on) {
      this.seek(Math.round(this.time));
      return;
    }
    if (this.time >= this.end) this.time = 0;
    let last = performance.now();
    const frame = async (now) => {
      if (!this.playing) return;
      const t = Math.min(this.end, this.time + (Number(this.speed.value) * (now - last)) / 1000);
      last = now;
      await this.setTime(t, true);
      if (t >= this.end) this.toggle(false);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  async step(direction) {
    this.toggle(false);
    const found = await Promise.all(this.runs.map((r) => r.record.neighbours(Math.floor(this.time))));
    const times = found.map((pair) => pair[direction < 0 ? 0 : 1]).filter((t) => t !== null);
    if (times.length) await this.seek(direction < 0 ? Math.max(...times) : Math.min(...times), true);
  }

  /** Goes to cycle t; resolves when everything shows it. */
  seek(t, follow = false) {
    return this.setTime(t, follow);
  }

  async setTime(t, follow = false) {
    t = Math.max(0, Math.min(this.end, t));
    this.time = t;
    const at = Math.floor(t);
    const missing = this.runs.filter((r) => !r.record.has(Math.max(0, at - this.trail()), at));
    if (missing.length) {
      await Promise.all(missing.map((r) => r.record.load(Math.max(0, at - this.trail()), at)));
      if (this.time !== t) return;
    }
    this.timeline.setTime(t, follow);
    if (document.activeElement !== this.input) this.input.value = grouped(at);
    this.slider.value = at;
    this.slider.setAttribute('aria-valuetext', `cycle ${at}`);
    this.refresh();
    // What comes next, so that playing does not wait for it.
    const next = this.run.record.segmentOf(at) + 1;
    if (this.playing && next < this.run.record.begins.length) this.run.record.one(next);
  }

  /** For how many cycles a token is seen on its arc. */
  trail() {
    // The time between two starts of one transition, on average: more would crowd the arcs.
    const apart = (this.end * this.net.transitions.length) / Math.max(1, this.run.record.firings);
    if (this.playing) return Math.max(0.5, Math.min(Number(this.speed.value) * 0.45, 2 * apart));
    return Math.max(0.5, Math.min(apart / 6, (this.timeline ? this.timeline.to - this.timeline.from : this.end) / 60));
  }

  key(e) {
    const actions = {
      p: () => this.toggle(), ',': () => this.step(-1), '.': () => this.step(1), '[': () => this.timeline.zoom(0.5, this.timeline.anchor()),
      ']': () => this.timeline.zoom(2, this.timeline.anchor()), Home: () => this.seek(0, true), End: () => this.seek(this.end, true),
      n: () => this.toggleNear(), h: () => this.pathButton && this.togglePath(),
    };
    if (!actions[e.key]) return false;
    actions[e.key]();
    return true;
  }

  // ---- the graph at an instant ---------------------------------------------------------------

  redraw() { // after a layout
    this.drawn = null;
    this.refresh();
    this.markPath();
  }

  refresh() {
    const { graph } = this.page;
    const at = Math.floor(this.time);
    this.states = this.runs.map((r) => r.record.stateAt(Math.min(at, r.record.end)));
    this.state = this.states[this.shown];
    if (!this.state || !graph?.layout) return;
    this.drawn ??= { places: [], waits: [] };
    const levels = levelsAt(this.net, this.state.tokens, this.run.peaks);
    const other = this.states[1 - this.shown];
    levels.forEach((level, p) => {
      const element = graph.elements.get(`p${p}`);
      if (!element) return;
      const differs = this.runs.length > 1 && other && other.tokens[p] !== level.tokens;
      const key = `${level.tokens} ${differs ? other.tokens[p] : ''}`;
      if (this.drawn.places[p] === key) return;
      this.drawn.places[p] = key;
      const box = fifoBox(graph.byId.get(`p${p}`));
      const text = element.querySelector('.count');
      text.innerHTML = differs ? `${grouped(level.tokens)}<tspan class="other"> ≠ ${grouped(other.tokens[p])}</tspan>` : countText(this.net.places[p], level.tokens);
      const wide = sansWidth(text.textContent, 11, 600) + (this.net.places[p].start ? 28 : 10);
      text.style.fontSize = wide > box.w ? `${((11 * box.w) / wide).toFixed(1)}px` : '';
      element.classList.toggle('differs', differs);
      const w = Math.max(level.tokens ? 2 : 0, (box.w - 2) * level.share);
      const fill = element.querySelector('.level');
      fill.setAttribute('x', (box.x + box.w - 1 - w).toFixed(1));
      fill.setAttribute('width', w.toFixed(1));
    });
    this.state.waits.forEach((wait, k) => {
      const why = wait & 7;
      if (this.drawn.waits[k] === why) return;
      this.drawn.waits[k] = why;
      graph.elements.get(`t${k}`)?.setAttribute('data-wait', String(why));
    });
    graph.moment.innerHTML = drawMoment(this.net, graph.layout, this.run.record, this.time, this.trail());
    this.fillNodePart();
  }

  // ---- why it waits --------------------------------------------------------------------------

  /** Tokens of a place that no firing holds. */
  freeTokens(p, state = this.state, record = this.run.record) {
    const segment = record.segments.get(record.segmentOf(state.time));
    let held = 0;
    this.net.transitions.forEach((t, k) => {
      if (!t.inputs.some((arc) => arc.place === p)) return;
      for (const f of state.inFlight[k]) {
        moved(this.net, record, k, segment.transitions[k], f, 0).forEach((count, a) => { if (t.inputs[a].place === p) held += count; });
      }
    });
    return state.tokens[p] - held;
  }

  /** { why, text } of a transition now; why 0: it does not wait. */
  reason(k, run = this.run, state = this.state) {
    const wait = state.waits[k];
    const why = wait % 8;
    const what = Math.floor(wait / 8);
    const t = this.net.transitions[k];
    const count = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;
    const place = (p) => this.net.places[p].name;
    if (why === 0) return { why, text: 'it could start once more, were there anything to do' };
    if (why === 1 || why === 3 || why === 4) {
      const arc = t.inputs[what];
      const there = this.freeTokens(arc.place, state, run.record);
      if (why === 1) {
        const needs = arc.need && arc.need !== '0' ? arc.need : arc.weight;
        return { why, arc: what, place: arc.place, text: `waits for tokens over arc '${arc.name}': place '${place(arc.place)}' has ${there} free, it needs ${needs}` };
      }
      if (why === 3) {
        return { why, arc: what, place: arc.place, text: `is kept by the guard of arc '${arc.name}' (place '${place(arc.place)}', ${count(state.tokens[arc.place], 'token')}): ${arc.guard ?? 'it'} does not hold` };
      }
      return { why, arc: what, place: arc.place, text: `may start only when place '${place(arc.place)}' is empty (arc '${arc.name}'), but it has ${count(state.tokens[arc.place], 'token')}` };
    }
    if (why === 2) {
      const slots = this.net.places[what].capacity?.value;
      return { why, place: what, text: `waits for room in place '${place(what)}', which is full: ${count(state.tokens[what], 'token')}`
        + (state.tokens[what] < slots ? `, and ${grouped(slots - state.tokens[what])} on the way,` : '') + ` in ${count(slots, 'slot')}` };
    }
    if (why === 5) {
      const segment = run.record.segments.get(run.record.segmentOf(state.time));
      const actor = segment.transitions[k];
      const next = Math.min(...state.inFlight[k].map((f) => actor.due[f]));
      return { why, text: `waits for a free server: ${state.inFlight[k].length} of ${t.servers?.value ?? '∞'} busy, the next is free at ${grouped(next)}` };
    }
    return { why, text: why === 6 ? 'waits for its interval to pass' : "waits for its clock's edge" };
  }

  /** What is under the pointer: elements, or null. */
  tip(id) {
    if (!this.state || id.startsWith('g:')) return null;
    const k = Number(id.slice(1));
    if (id[0] === 'p') {
      const p = this.net.places[k];
      return [h('h3', {}, p.name), h('p', {}, `${grouped(this.state.tokens[k])} tokens, ${grouped(this.freeTokens(k))} of them free`)];
    }
    const { why, text } = this.reason(k);
    const n = this.state.inFlight[k].length;
    return [h('h3', {}, this.net.transitions[k].name),
      n ? h('p', {}, `${n} firing${n === 1 ? '' : 's'} in flight`) : null,
      h('p', {}, why ? h('span', { class: 'swatch', style: `background:var(--why${why});margin-right:6px` }) : null, text)].filter(Boolean);
  }

  timelineTip(row, t, inside, e) {
    const { page } = this;
    const record = this.run.record;
    const state = row && inside ? record.stateAt(t) : null;
    page.tip.hidden = !state;
    if (!state) return;
    const content = [h('h3', {}, row.name), h('p', { class: 'quiet' }, `cycle ${grouped(t)}`)];
    if (row.kind === 'p') content.push(h('p', {}, `${grouped(state.tokens[row.k])} tokens`));
    else {
      const segment = record.segments.get(record.segmentOf(t));
      for (const f of state.inFlight[row.k].slice(0, 4)) {
        const actor = segment.transitions[row.k];
        content.push(h('p', {}, `firing #${actor.number[f]}: ${grouped(actor.start[f])} to ${grouped(actor.due[f])}`));
      }
      const why = state.waits[row.k] % 8;
      if (why) content.push(h('p', {}, h('span', { class: 'swatch', style: `background:var(--why${why});margin-right:6px` }), WAITS[why]));
    }
    page.tip.replaceChildren(...content);
    page.tip.style.left = `${Math.min(e.clientX + 14, innerWidth - page.tip.offsetWidth - 8)}px`;
    page.tip.style.top = `${Math.min(e.clientY - page.tip.offsetHeight - 10, innerHeight - 120)}px`;
  }

  // ---- the chosen part -----------------------------------------------------------------------

  chose(id) {
    this.chosen = id;
    this.timeline?.reveal(id);
    this.fillNodePart();
  }

  /** Where the node's page says how it is now and was over the run. */
  nodePart(id) {
    this.part = h('div', { class: 'now', 'data-of': id });
    queueMicrotask(() => this.fillNodePart());
    return this.part;
  }

  fillNodePart() {
    const part = this.part;
    if (!part?.isConnected || !this.state) return;
    const id = part.dataset.of;
    const k = Number(id.slice(1));
    const { run, state } = this;
    const rows = [];
    if (id[0] === 't') {
      const name = this.net.transitions[k].name;
      const actor = run.record.segments.get(run.record.segmentOf(state.time)).transitions[k];
      const open = state.inFlight[k];
      const { why, text } = this.reason(k);
      rows.push(h('p', { class: 'why' }, why ? h('span', { class: 'swatch', style: `background:var(--why${why});margin-right:7px` }) : null, text));
      rows.push(h('p', { class: 'quiet' }, open.length ? `${open.length} in flight: ${open.slice(0, 3).map((f) => `#${actor.number[f]} until ${grouped(actor.due[f])}`).join(', ')}${open.length > 3 ? ', …' : ''}` : 'nothing in flight'));
      const s = run.stats.transitions[name];
      rows.push(h('p', { class: 'quiet' }, `whole run: ${grouped(s.commits)} firings, busy ${percent(s.utilisation)}`));
    } else {
      const name = this.net.places[k].name;
      const s = run.stats.places[name];
      rows.push(h('p', { class: 'why' }, `${grouped(state.tokens[k])} token${state.tokens[k] === 1 ? '' : 's'}, ${grouped(this.freeTokens(k))} free`));
      rows.push(h('p', { class: 'quiet' }, `whole run: mean ${s.mean.toFixed(2)}, most ${grouped(s.peak)}`));
    }
    part.replaceChildren(h('p', { class: 'quiet now-at' }, `cycle ${grouped(state.time)}`), ...rows);
  }

  // ---- summary -------------------------------------------------------------------------------

  summary() {
    const page = this.page.addTab('summary', 'Run');
    const { net } = this;
    const reasons = WAITS.map((w, k) => k).filter((k) => k && this.runs.some((r) => Object.values(r.stats.transitions).some((t) => t.waited[WAITS[k]].cycles)));
    const content = [];
    for (const [i, run] of this.runs.entries()) {
      const { about } = run;
      content.push(h('h2', {}, this.runs.length > 1 ? [h('span', { class: 'swatch', style: `background:var(--${i ? 'why2' : 'accent'});margin-right:8px` }), `${'AB'[i]}: ${run.title.split('/').pop()}`] : 'The whole run'));
      content.push(h('p', { class: 'quiet' }, `${grouped(run.stats.end)} cycles, ${grouped(about.firings)} firings, latency ${about.latency === null ? 'none' : grouped(about.latency)}`));
      if (about.stalled) {
        content.push(h('div', { class: 'stalled', role: 'note' }, h('p', {}, h('b', {}, 'Stalled'), `: ${about.undrained.map((u) => `${u.tokens} left in ${u.place}`).join(', ')}`),
          h('ul', {}, about.blocked.map((b) => h('li', {}, b.text)))));
      }
    }
    if (this.runs.length > 1) content.push(this.comparison());
    content.push(h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'swatch', style: 'background:var(--accent)' }), 'busy'),
      reasons.map((k) => h('span', {}, h('i', { class: 'swatch', style: `background:var(--why${k})` }), WAITS[k]))));
    this.partOnly = h('input', { type: 'checkbox', onchange: () => this.fillTables() });
    this.partNote = h('span', { class: 'quiet' });
    this.tables = h('div');
    content.push(h('label', { class: 'part-only' }, this.partOnly, ' only the part that the timeline shows ', this.partNote), this.tables);
    page.replaceChildren(...content);
    this.fillTables();
    this.page.selectTab('summary');
  }

  async fillTables() {
    const { net, run } = this;
    let { stats } = run;
    const turn = (this.filling = (this.filling ?? 0) + 1);
    this.partNote.textContent = '';
    const part = this.partOnly.checked && this.timeline && [Math.ceil(this.timeline.from), Math.floor(this.timeline.to)];
    if (part) {
      const found = await this.partStats(...part);
      if (turn !== this.filling) return;
      this.partNote.textContent = found ? `${grouped(part[0])} to ${grouped(part[1])}` : '(too long to count: zoom in)';
      stats = found ?? stats;
    }
    const whole = stats === run.stats;
    const link = (id, name) => h('button', { class: 'link', type: 'button', onclick: () => this.page.goTo(id) }, name);
    const waits = (t) => {
      const bar = h('div', { class: 'bar', role: 'img', 'aria-label': WAITS.slice(1).filter((w) => t.waited[w].cycles).map((w) => `${w} ${percent(t.waited[w].share)}`).join(', ') });
      WAITS.forEach((w, k) => {
        if (k && t.waited[w].cycles) bar.append(h('span', { style: `background:var(--why${k});width:${t.waited[w].share * 100}%`, title: `${w}: ${grouped(t.waited[w].cycles)} cycles, ${percent(t.waited[w].share)}`, 'data-why': w, 'data-cycles': t.waited[w].cycles }));
      });
      return bar;
    };
    const rows = net.transitions.map((t, k) => {
      const s = stats.transitions[t.name];
      return h('tr', { 'data-transition': t.name }, h('td', { title: t.name }, link(`t${k}`, t.name)), h('td', { 'data-commits': s.commits }, grouped(s.commits)),
        h('td', { 'data-busy': s.busy, title: `${grouped(s.busy)} cycles` }, percent(s.utilisation)), h('td', {}, waits(s)));
    });
    const places = net.places.map((p, k) => {
      const s = stats.places[p.name];
      return h('tr', { 'data-place': p.name }, h('td', { title: p.name }, link(`p${k}`, p.name)), h('td', { 'data-mean': s.mean }, s.mean.toFixed(2)), h('td', { 'data-peak': s.peak }, grouped(s.peak)));
    });
    const path = run.about.critical_path;
    this.tables.replaceChildren(
      h('table', { class: 'of-transitions' }, h('thead', {}, h('tr', {}, ['transition', whole ? 'firings' : 'starts', 'busy', 'why not once more'].map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, rows)),
      ...(path ? [h('h3', {}, `Critical path, ${grouped(path.latency)} cycles`), ...partOfPath(run), h('table', { class: 'of-path' },
        h('thead', {}, h('tr', {}, ['transition', 'firings', 'cycles', 'share'].map((x) => h('th', { scope: 'col' }, x)))),
        h('tbody', {}, path.rows.map((r) => h('tr', {}, h('td', {}, (r.transition ?? `tokens from outside into ${r.place}`) + (r.what === 'interval' || r.what === 'clock' ? ` (${r.what})` : '')),
          h('td', { 'data-count': r.count }, grouped(r.count)), h('td', { 'data-cycles': r.cycles }, grouped(r.cycles)), h('td', {}, percent(r.share))))))] : []),
      h('h3', {}, 'Places'),
      h('table', { class: 'of-places' }, h('thead', {}, h('tr', {}, ['place', 'mean tokens', 'most'].map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, places)));
  }

  comparison() {
    const [a, b] = this.runs;
    const rows = [];
    const add = (name, x, y, text = grouped) => rows.push(h('tr', { class: x === y ? null : 'differs' }, h('td', {}, name), h('td', {}, x === null ? '–' : text(x)), h('td', {}, y === null ? '–' : text(y)),
      h('td', {}, x === null || y === null || x === y ? '' : `${y > x ? '+' : '−'}${text(Math.abs(y - x))}`)));
    for (const name of Object.keys(a.about.parameters)) add(name, Number(a.about.parameters[name]), Number(b.about.parameters[name]));
    add('latency', a.about.latency, b.about.latency);
    add('firings', a.about.firings, b.about.firings);
    for (const t of this.net.transitions) {
      const [x, y] = [a.stats.transitions[t.name], b.stats.transitions[t.name]];
      if (percent(x.utilisation) !== percent(y.utilisation) || x.busy !== y.busy || x.commits !== y.commits) add(`${t.name}, busy`, x.utilisation, y.utilisation, percent);
    }
    return h('table', { class: 'of-runs' }, h('thead', {}, h('tr', {}, ['', 'A', 'B', 'B − A'].map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, rows));
  }

  // ---- critical path -------------------------------------------------------------------------

  togglePath() {
    this.pathOn = !this.pathOn;
    this.pathButton.setAttribute('aria-pressed', String(this.pathOn));
    this.timeline.path = this.pathOn ? this.runs[0].path : null;
    this.timeline.draw();
    this.markPath();
  }

  markPath() {
    const { graph } = this.page;
    if (!graph?.layout) return;
    if (!this.pathOn) {
      graph.markPath([], []);
      return;
    }
    const { index } = this.runs[0].path;
    const all = this.runs[0].about.critical_path.rows.map((row) => row.transition);
    const nodes = new Set(this.net.transitions.flatMap((t, k) => (all.includes(t.name) ? [`t${k}`] : [])));
    const edges = new Set();
    const byArc = edgesByArc(graph.layout);
    const pairs = new Set();
    for (let s = 0; s < index.length; ++s) {
      nodes.add(`t${index[s]}`);
      if (s) pairs.add(`${index[s - 1]} ${index[s]}`);
    }
    for (const pair of pairs) {
      const [from, to] = pair.split(' ').map(Number);
      this.net.transitions[from].outputs.forEach((out, o) => {
        this.net.transitions[to].inputs.forEach((into, i) => {
          if (out.place !== into.place || into.kind !== 'take' && into.kind !== 'peek') return;
          nodes.add(`p${out.place}`);
          for (const arc of [`o${from}.${o}`, `i${to}.${i}`]) if (byArc.has(arc)) edges.add(byArc.get(arc).id);
        });
      });
    }
    graph.markPath([...nodes], [...edges]);
  }

  // ---- the part that the timeline shows --------------------------------------------------------

  windowChanged() {
    if (!this.partOnly?.checked) return;
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.fillTables(), 120);
  }

  /** Statistics of [from, to), as those of the whole run; null when it has too many segments to count. */
  async partStats(from, to) {
    const { record } = this.run;
    const until = Math.min(to, record.end);
    if (record.segmentOf(until) - record.segmentOf(from) >= MOST_SEGMENTS) return null;
    await record.load(from, until);
    const { transitions, places } = record.totals(from, until);
    const span = Math.max(1, until - from);
    return {
      transitions: Object.fromEntries(this.net.transitions.map((t, k) => [t.name, { commits: transitions[k].starts, busy: transitions[k].busy,
        utilisation: transitions[k].busy / span, waited: Object.fromEntries(WAITS.slice(1).map((w, i) => [w, { cycles: transitions[k].waits[i + 1], share: transitions[k].waits[i + 1] / span }])) }])),
      places: Object.fromEntries(this.net.places.map((p, k) => [p.name, { mean: places[k].integral / span, peak: places[k].most }])),
    };
  }

  themed() {
    this.timeline.draw();
  }
}

export function percent(share) {
  return `${(share * 100).toFixed(1)}%`;
}

export { code, inFlight, lastUpTo };
