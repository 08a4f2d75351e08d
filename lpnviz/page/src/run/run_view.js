// The run in the page: player, what the graph shows at an instant, timeline, summary.

import { carried, gunzip } from '../base/data.js';
import { h } from '../base/dom.js';
import { countText, drawHeat, fifoBox } from '../net/draw.js';
import { drawMoment, edgesByArc, levelsAt } from './moment.js';
import { Record, WAITS } from './record.js';
import { mean, runSign, Summary } from './summary.js';
import { RunTimeline } from './run_timeline.js';
import { TokenValues } from './values.js';
import { percent, ranking, sharesOf, verdictOf } from './verdict.js';
import { freeLines, heldTokens, holders, reasonOf, takenLines, timelineTip, tipOf, whySign } from './why.js';
import { duration, grouped, sansWidth, typedNumber } from '../base/text.js';

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
  const values = carried(`${prefix}-values`);
  if (values) run.values = new TokenValues(await gunzip(values), net);
  if (about.steps) run.path = readSteps(await gunzip(carried(`${prefix}-steps`)), about.steps.count);
  await record.load(0, 0);
  return run;
}

function readSteps(bytes, n) {
  const buffer = bytes.buffer;
  return { start: new Float64Array(buffer, 0, n), commit: new Float64Array(buffer, 8 * n, n),
    index: new Int32Array(buffer, 16 * n, n), toCommit: new Int32Array(buffer, 20 * n, n) };
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
    this.summary = new Summary(this, page.addTab('summary', 'Run'));
    page.selectTab('summary');
    this.say();
    const window = page.about.window;
    if (window) this.timeline.setWindow(...window);
    this.setTime(window ? window[0] : 0);
    this.readHash();
    addEventListener('hashchange', () => this.readHash());
  }

  // ---- a link to this moment -----------------------------------------------------------------

  /** Goes where the address says: #t=CYCLE&window=A-B&part=NAME&run=B. */
  readHash() {
    if (location.hash === this.hash) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (text) => (/^\d+$/.test(text ?? '') ? Math.min(this.end, Number(text)) : null);
    const [a, b] = (asked.get('window') ?? '').split('-').map(number);
    if (asked.get('run') === 'B' && this.runs.length > 1) this.showRun(1);
    if (a !== null && b > a) this.timeline.setWindow(a, b);
    const t = number(asked.get('t'));
    if (t !== null) this.seek(t, true);
    const name = asked.get('part');
    const [i, k] = [this.net.transitions, this.net.places].map((list) => list.findIndex((x) => x.name === name));
    if (i >= 0 || k >= 0) this.linked = i >= 0 ? `t${i}` : `p${k}`; // when the graph is there
  }

  writeHash() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      const { from, to } = this.timeline;
      const now = new URLSearchParams({ t: Math.floor(this.time) });
      if (from > 0 || to < this.timeline.end) now.set('window', `${Math.floor(from)}-${Math.ceil(to)}`);
      if (this.chosen && !this.chosen.startsWith('g:')) now.set('part', (this.chosen[0] === 't' ? this.net.transitions : this.net.places)[this.chosen.slice(1)].name);
      if (this.shown) now.set('run', 'B');
      this.hash = `#${now}`;
      try {
        history.replaceState(null, '', this.hash);
      } catch { /* a browser that allows too few of these: the next one will do */ }
    }, 250);
  }

  // ---- what decided the run ------------------------------------------------------------------

  /** The sentence on top; its quoted names are links. */
  say() {
    const names = new Map([...this.net.places.map((p, k) => [p.name, `p${k}`]), ...this.net.transitions.map((t, k) => [t.name, `t${k}`])]);
    const linked = (text) => text.split(/'([^']+)'/).map((part, k) => (k % 2 === 0 ? part
      : names.has(part) ? h('button', { class: 'link', type: 'button', onclick: () => this.page.goTo(names.get(part)) }, part) : `'${part}'`));
    this.page.verdict.replaceChildren(...this.runs.map((run, i) => h('p', {}, this.runs.length > 1 ? [runSign(i), h('b', {}, `${'AB'[i]} `)] : null, linked(verdictOf(this.net, run)))));
    this.page.verdict.hidden = false;
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
      h('span', { class: 'clock' }, this.input, this.at = h('span', { class: 'quiet' }), h('span', { class: 'quiet' }, `of ${grouped(this.end)}${this.inTime(this.end)}`)),
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
    this.wanted = 0.36; // of the window's height
    this.resize();
    addEventListener('resize', () => this.resize());
    this.listenSplitter();
    this.timeline = new RunTimeline(this.area, this.net, this.runs, {
      seek: (t, follow) => this.seek(t, follow), choose: (id) => page.goTo(id),
      windowed: () => { this.summary?.windowChanged(); this.writeHash(); }, tip: (row, t, inside, e) => this.timelineTip(row, t, inside, e),
      order: ranking(this.net, this.runs[0]),
    });
    this.live = h('div', { class: 'sr', 'aria-live': 'polite' });
    page.footer.append(this.live);
    this.facts();
    if (this.runs.some((r) => r.path)) {
      this.pathButton = h('button', { type: 'button', 'aria-pressed': 'false', title: 'Critical path (h)', onclick: () => this.togglePath() }, 'Critical path');
      page.tools.append(this.pathButton);
    }
  }

  /** Of the run that is shown. */
  facts() {
    const { about } = this.run;
    const fact = (word, value) => h('span', { class: 'fact' }, h('b', {}, value), h('span', { class: 'quiet' }, word));
    const whole = about.ending === 'quiet' || about.ending === 'done';
    const ended = about.error ? 'ended in an error' : about.stalled ? 'stalled'
      : { quiet: 'ran to the end', done: 'done', limit: 'cut off', interrupted: 'interrupted', budget: 'cut off' }[about.ending];
    this.page.facts.replaceChildren(...[this.runs.length > 1 ? fact('', [runSign(this.shown), 'AB'[this.shown]]) : null,
      whole && about.latency !== null ? fact(`cycles latency${this.inTime(about.latency)}`, grouped(about.latency))
        : fact(`cycles${this.inTime(this.run.record.end)}, ${about.latency === null ? 'no latency' : `latency ${grouped(about.latency)} so far`}`, grouped(this.run.record.end)),
      fact(about.firings === 1 ? 'firing' : 'firings', grouped(about.firings)), fact('', ended)].filter(Boolean));
  }

  /** " = 1.69 ms" where the net states its clock, else ''. */
  inTime(cycles) {
    const hz = this.run.about.frequency;
    return hz ? ` = ${duration(cycles, hz)}` : '';
  }

  toggleNear() {
    this.timeline.setNear(!this.timeline.near);
    this.nearButton.setAttribute('aria-pressed', String(this.timeline.near));
  }

  whichRun() {
    this.runButtons = this.runs.map((r, k) => h('button', { type: 'button', 'aria-pressed': String(k === 0), title: r.title, onclick: () => this.showRun(k) }, runSign(k), 'AB'[k]));
    return h('span', { style: 'display:inline-flex;gap:4px', role: 'group', 'aria-label': 'Which run graph, path and tables show' }, this.runButtons);
  }

  showRun(k) {
    this.shown = k;
    this.runButtons.forEach((b, i) => b.setAttribute('aria-pressed', String(i === k)));
    this.drawn = null;
    this.facts();
    this.refresh();
    this.showPath();
    this.summary?.fill();
    this.writeHash();
  }

  resize() {
    this.setHeight(Math.round(Math.min(innerHeight * this.wanted, 60 + 27 * (this.net.transitions.length + this.net.places.length))));
  }

  setHeight(height) {
    this.height = Math.max(Math.min(110, innerHeight / 3), Math.min(innerHeight - 220, height));
    this.area.style.height = `${this.height}px`;
    this.splitter.setAttribute('aria-valuenow', String(Math.round(this.height)));
  }

  /** By hand: a share of the window from then on. */
  chooseHeight(height) {
    this.setHeight(height);
    this.wanted = this.height / innerHeight;
  }

  listenSplitter() {
    const s = this.splitter;
    s.addEventListener('pointerdown', (e) => {
      s.setPointerCapture(e.pointerId);
      const [y, height] = [e.clientY, this.height];
      s.onpointermove = (m) => this.chooseHeight(height + y - m.clientY);
      s.onpointerup = () => { s.onpointermove = s.onpointerup = null; };
    });
    s.addEventListener('keydown', (e) => {
      const by = { ArrowUp: 24, ArrowDown: -24 }[e.key];
      if (!by) return;
      this.chooseHeight(this.height + by);
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
    this.at.textContent = this.inTime(at);
    this.slider.setAttribute('aria-valuetext', `cycle ${at}`);
    this.refresh();
    if (!this.playing) this.writeHash();
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
      n: () => this.toggleNear(), o: () => this.timeline.setOrdered(!this.timeline.ordered), z: () => this.timeline.zoomToSpan(), h: () => this.pathButton && this.togglePath(),
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
    if (this.linked) {
      const id = this.linked;
      this.linked = null;
      this.page.goTo(id);
    }
  }

  /** How much of the whole run each transition decides, in the graph. */
  drawShares() {
    const { graph } = this.page;
    const shares = sharesOf(this.net, this.run);
    shares.forEach((share, k) => {
      const element = graph.elements.get(`t${k}`);
      if (!element) return;
      element.querySelector('.heat')?.remove();
      if (share > 0.005) element.querySelector('.box').insertAdjacentHTML('afterend', drawHeat(graph.byId.get(`t${k}`), share));
    });
  }

  refresh() {
    const { graph } = this.page;
    const at = Math.floor(this.time);
    this.states = this.runs.map((r) => r.record.stateAt(Math.min(at, r.record.end)));
    this.state = this.states[this.shown];
    if (!this.state || !graph?.layout) return;
    if (!this.drawn) this.drawShares();
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
      text.innerHTML = differs ? `<tspan class="run-${'AB'[this.shown]}">${'AB'[this.shown]} ${grouped(level.tokens)}</tspan><tspan class="most"> ≠ </tspan><tspan class="run-${'BA'[this.shown]}">${'BA'[this.shown]} ${grouped(other.tokens[p])}</tspan>` : countText(this.net.places[p], level.tokens);
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
    this.page.refreshTip();
  }

  // ---- why it waits --------------------------------------------------------------------------

  /** What is under the pointer: elements, or null. */
  tip(id) {
    return this.state && !id.startsWith('g:') ? tipOf(this.net, this.run, this.state, id) : null;
  }

  timelineTip(row, t, inside, e) {
    const { page } = this;
    const record = this.run.record;
    const state = row && inside ? record.stateAt(Math.min(t, record.end)) : null;
    page.tip.hidden = !state;
    if (!state) return;
    page.tip.replaceChildren(...timelineTip(this.net, this.run, row, state));
    page.tip.style.left = `${Math.min(e.clientX + 14, innerWidth - page.tip.offsetWidth - 8)}px`;
    page.tip.style.top = `${Math.min(e.clientY - page.tip.offsetHeight - 10, innerHeight - 120)}px`;
  }

  // ---- the chosen part -----------------------------------------------------------------------

  chose(id) {
    this.chosen = id;
    this.timeline?.reveal(id);
    this.fillNodePart();
    if (this.timeline) this.writeHash();
    if (this.nearButton) this.nearButton.disabled = !id || id.startsWith('g:');
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
      const { why, text } = reasonOf(this.net, run, state, k);
      rows.push(h('p', { class: 'why' }, why ? whySign(why) : null, text));
      rows.push(h('p', { class: 'quiet' }, open.length ? `${open.length} in flight: ${open.slice(0, 3).map((f) => `#${actor.number[f]} until ${grouped(actor.due[f])}`).join(', ')}${open.length > 3 ? ', …' : ''}` : 'nothing in flight'));
      for (const f of open.slice(0, 3)) rows.push(...takenLines(this.net, run, actor, k, f, 8));
      const s = run.stats.transitions[name];
      const share = sharesOf(this.net, run)[k];
      rows.push(h('p', { class: 'quiet' }, `whole run: ${grouped(s.commits)} firing${s.commits === 1 ? '' : 's'}, busy ${percent(s.utilisation)}`
        + (run.about.critical_path && share ? `, ${percent(share)} of the critical path` : '')));
    } else {
      const name = this.net.places[k].name;
      const s = run.stats.places[name];
      rows.push(h('p', { class: 'why' }, `${grouped(state.tokens[k])} token${state.tokens[k] === 1 ? '' : 's'}, ${grouped(state.tokens[k] - heldTokens(this.net, run.record, state, k).total)} free`), ...holders(this.net, run, state, k), ...freeLines(this.net, run, k, state.time, 64));
      rows.push(h('p', { class: 'quiet' }, `whole run: mean ${mean(s.mean)}, peak ${grouped(s.peak)}`));
    }
    part.replaceChildren(h('p', { class: 'quiet now-at' }, `cycle ${grouped(state.time)}${this.inTime(state.time)}`), ...rows);
  }

  // ---- critical path -------------------------------------------------------------------------

  togglePath() {
    this.pathOn = !this.pathOn;
    this.pathButton.setAttribute('aria-pressed', String(this.pathOn));
    this.showPath();
  }

  /** That of the run that is shown. */
  showPath() {
    this.timeline.path = this.pathOn ? this.run.path ?? null : null;
    this.timeline.pathOf = this.shown;
    this.timeline.draw();
    this.markPath();
  }

  markPath() {
    const { graph } = this.page;
    if (!graph?.layout) return;
    if (!this.pathOn || !this.run.path) {
      graph.markPath([], []);
      return;
    }
    const { index } = this.run.path;
    const all = this.run.about.critical_path.rows.map((row) => row.transition);
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
