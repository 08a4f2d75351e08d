// The page of a recording: its channels over time, who holds whom; or where two of them, or a model and
// a recording, part.

import { carried, gunzip } from '../base/data.js';
import { h } from '../base/dom.js';
import { Frame } from '../base/frame.js';
import { typedNumber } from '../base/text.js';
import { numbered } from '../base/timeline.js';
import { Lane, nextDifference, PHASES, TRANSFER } from './lane.js';
import { channelPage, channelTable, differences, heldBy, legend, phaseSign } from './tables.js';
import { WaveTimeline } from './wave_timeline.js';

const NEAR = 120; // cycles around the first difference that are shown at first

/** The lanes that a script element of the page carries. */
async function readLanes(id, { origins, periods }) {
  const bytes = await gunzip(carried(id));
  const view = new DataView(bytes.buffer);
  let at = 0;
  const next = () => {
    const size = view.getUint32(at, true);
    at += 4 + size;
    return bytes.subarray(at - size, at);
  };
  return origins.map((origin, k) => new Lane(next(), next(), origin, periods?.[k] ?? 1));
}

class WavePage extends Frame {
  constructor(about) {
    super();
    this.about = about;
    this.whole = true; // tables are of the whole recording
  }

  async start() {
    const { about } = this;
    const lanes = await Promise.all(about.runs.map((run, i) => readLanes(`lanes-${i}`, run)));
    this.lanes = lanes;
    this.channels = about.rows.map((row) => {
      const own = row.of.map((k, i) => lanes[i][k]);
      // Of a model: which of the recorded transfers are firings.
      const firings = row.firings === undefined ? null : lanes[0][row.firings];
      return { ...row, lanes: own, firings, judged: [own[0], firings ?? own[1]] };
    });
    const names = about.rows.map((row) => row.name);
    this.names = names;
    const number = (list) => list.map((name) => names.indexOf(name));
    this.chains = about.stalls ? about.stalls.chains.map(number) : [];
    const links = about.stalls ? about.stalls.links.map((l) => ({ ...l, victim: names.indexOf(l.victim), culprit: names.indexOf(l.culprit) })) : [];
    const of = this.channels.flatMap((row) => row.lanes.filter(Boolean));
    const begin = Math.min(0, ...of.map((lane) => -lane.origin));
    this.end = Math.max(begin + 1, ...about.runs.map((run) => run.end));
    this.build();
    this.timeline = new WaveTimeline(this.stage, this.channels, links, { begin, end: this.end, unit: about.unit }, {
      seek: (t, follow) => this.seek(t, follow), choose: (id) => this.choose(id), tip: (row, t, inside, e) => this.timelineTip(row, t, inside, e),
      windowed: () => { this.windowed(); this.writeHash(); },
    });
    this.channels = this.timeline.channels;
    this.slider.min = begin;
    this.fill();
    const first = about.first;
    if (first !== null && first !== undefined) {
      this.timeline.mark = first;
      this.timeline.setWindow(first - NEAR / 3, first + (NEAR * 2) / 3);
      const row = this.channels.find((r) => r.difference?.cycle === first);
      if (row) this.choose(row.id);
    }
    if (about.window) this.timeline.setWindow(...about.window);
    this.seek(first ?? about.window?.[0] ?? 0);
    this.readHash();
    addEventListener('hashchange', () => this.readHash());
    document.documentElement.dataset.drawn = 'yes';
  }

  // ---- the frame ---------------------------------------------------------------------------

  build() {
    const { about } = this;
    const button = (text, title, onclick, more = {}) => h('button', { type: 'button', title, 'aria-label': title, onclick, ...more }, text);
    const fact = (word, value) => h('span', { class: 'fact' }, h('b', {}, value), h('span', { class: 'quiet' }, word));
    this.help = this.keysDialog([[',  .', 'the chosen channel: one phase back or on'], ['↑  ↓', 'in the timeline: scroll'], ['←  →', 'in the timeline: move the cursor'], ['[  ]', 'zoom out or in'],
      ['0', 'in the timeline: the whole recording'], ['o', 'victims before who holds them, or the map’s order'], ...(about.compared ? [['n  p', 'next or previous difference']] : []),
      ['Shift + drag', 'measure; z zooms to it, Esc ends it'], ['Home  End', 'first or last cycle'], ['t', 'light or dark']], `Made by lpn wave. Contains ${about.notice}.`);
    const header = h('header', {}, h('div', { class: 'who' }, h('h1', {}, about.title), h('span', { class: 'quiet' }, about.subtitle)),
      h('div', { class: 'facts' }, about.facts.map(([word, value]) => fact(word, value))),
      h('div', { class: 'tools' }, button('Theme', 'Light or dark (t)', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark')), button('Keys', 'Keys (?)', () => this.help.showModal())));
    this.verdict = h('div', { class: 'verdict', role: 'status' }, about.verdict.map((line) => h('p', {}, line)));
    this.stage = h('section', { class: 'stage timeline', 'aria-label': 'Timeline' });
    if (about.compared) this.differencePage = this.addTab('differences', 'Differences');
    this.tablePage = this.addTab('channels', 'Channels');
    if (about.stalls) this.heldPage = this.addTab('held', 'Held by');
    this.detailPage = this.addTab('details', 'Details');
    this.input = h('input', { type: 'text', inputmode: 'numeric', 'aria-label': about.unit, value: '0' });
    this.input.addEventListener('change', () => {
      const text = this.input.value.replace('−', '-').trim();
      const t = typedNumber(text.replace(/^-/, ''));
      this.seek(t === null ? this.time : text.startsWith('-') ? -t : t, true);
    });
    this.slider = h('input', { type: 'range', min: 0, max: this.end, step: 1, value: 0, 'aria-label': `${about.unit} of the recording` });
    this.slider.addEventListener('input', () => this.seek(Number(this.slider.value), true));
    this.orderButton = button('Chains', 'Victims before who holds them (o)', () => this.toggleChains(), { 'aria-pressed': 'false' });
    const player = h('div', { class: 'player' }, h('span', { class: 'clock' }, h('span', { class: 'quiet' }, about.unit), this.input),
      button('‹', 'One phase of the chosen channel back (,)', () => this.step(-1)), button('›', 'One phase of the chosen channel on (.)', () => this.step(1)),
      about.compared && [button('‹ difference', 'Previous difference (p)', () => this.nextDifference(-1)), button('difference ›', 'Next difference (n)', () => this.nextDifference(1))],
      h('span', { class: 'slide' }, this.slider), button('−', 'Zoom out ([)', () => this.timeline.zoom(0.5, this.timeline.anchor())), button('+', 'Zoom in (])', () => this.timeline.zoom(2, this.timeline.anchor())),
      button('All', 'The whole recording', () => this.timeline.setWindow(this.timeline.begin, this.end)), this.chains.length ? this.orderButton : null);
    this.live = h('div', { class: 'sr', 'aria-live': 'polite' });
    document.body.append(h('div', { class: 'top' }, header, this.verdict), h('main', {}, this.stage, this.panel), h('footer', {}, player, this.live), this.tip, this.help);
    document.addEventListener('keydown', (e) => this.key(e));
    this.selectTab(about.compared ? 'differences' : 'channels');
  }

  setTheme(theme) {
    super.setTheme(theme);
    this.timeline?.draw();
  }

  // ---- the side panel ----------------------------------------------------------------------

  fill() {
    const { about } = this;
    const choose = (k) => this.choose(`c${k}`);
    this.partOnly = h('input', { type: 'checkbox', onchange: () => this.fillTables() });
    this.tables = h('div');
    this.tablePage.replaceChildren(legend(), h('label', { class: 'part-only' }, this.partOnly, ' only the part that the timeline shows'), this.tables,
      h('p', { class: 'quiet', style: 'margin-top:12px' }, about.kept));
    this.fillTables();
    this.heldPage?.replaceChildren(heldBy(this.names, about.stalls, choose));
    this.differencePage?.replaceChildren(differences(this.channels, about.columns, (k, t) => this.goTo(k, t)));
    this.showDetails();
  }

  fillTables() {
    const part = this.partOnly.checked ? this.timeline.part() : null;
    const choose = (k) => this.choose(`c${k}`);
    const { runs, stalls } = this.about;
    this.tables.replaceChildren(...runs.flatMap((run, i) => (run.recorded ? [runs.length > 1 ? h('h3', {}, phaseSign(TRANSFER, i), ` ${'AB'[i]}: ${run.title}`) : null,
      channelTable(this.channels, i, part, stalls, choose)] : [])).filter(Boolean));
  }

  windowed() {
    if (!this.partOnly?.checked) return;
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.fillTables(), 120);
  }

  showDetails() {
    const row = this.channels.find((r) => r.id === this.chosen);
    this.detailPage.replaceChildren(row ? channelPage(row, this.about.runs, this.about.stalls, this.time ?? 0, this.about.unit, (k, t) => this.goTo(k, t)) : h('p', { class: 'quiet' }, 'Choose a channel to see all that is known of it.'));
  }

  timelineTip(row, t, inside, e) {
    if (!row || !inside) return this.showTip(null);
    const lines = row.lanes.map((lane, i) => {
      const at = lane?.at(t);
      return at && h('p', {}, row.lanes.length > 1 ? `${'AB'[i]}: ` : '', phaseSign(at.phase, i), ` ${PHASES[at.phase]}, ${numbered(at.since)} to ${numbered(at.until)}`);
    });
    return this.showTip([h('h3', {}, row.name), h('p', { class: 'quiet' }, `${this.about.unit} ${numbered(t)}`), ...lines.filter(Boolean)], e);
  }

  // ---- moving ------------------------------------------------------------------------------

  choose(id) {
    this.chosen = id;
    this.timeline.reveal(id);
    this.showDetails();
    this.writeHash();
  }

  goTo(k, t) {
    this.choose(`c${k}`);
    const { from, to } = this.timeline;
    if (to - from > 4 * NEAR) this.timeline.setWindow(t - NEAR / 3, t + (NEAR * 2) / 3);
    this.seek(t, true);
  }

  seek(t, follow = false) {
    this.time = Math.max(this.timeline.begin, Math.min(this.end, t));
    this.timeline.setTime(this.time, follow);
    this.input.value = numbered(this.time);
    this.slider.value = this.time;
    this.live.textContent = `${this.about.unit} ${this.time}`;
    this.showDetails();
    this.writeHash();
  }

  step(direction) {
    const rows = this.chosen ? this.channels.filter((r) => r.id === this.chosen) : this.channels;
    const found = rows.flatMap((r) => r.lanes.filter(Boolean).map((lane) => lane.neighbour(this.time, direction))).filter((t) => t !== null);
    if (found.length) this.seek(direction > 0 ? Math.min(...found) : Math.max(...found), true);
  }

  nextDifference(direction) {
    const rows = this.chosen ? this.channels.filter((r) => r.id === this.chosen) : this.channels;
    const found = rows.map((r) => nextDifference(...r.judged, this.time, direction)).filter((t) => t !== null);
    if (found.length) this.seek(direction > 0 ? Math.min(...found) : Math.max(...found), true);
  }

  toggleChains() {
    this.timeline.setChainsFirst(!this.timeline.chainsFirst, this.chains);
    this.orderButton.setAttribute('aria-pressed', String(this.timeline.chainsFirst));
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== 'range') return;
    const { timeline } = this;
    const actions = {
      ',': () => this.step(-1), '.': () => this.step(1), '[': () => timeline.zoom(0.5, timeline.anchor()), ']': () => timeline.zoom(2, timeline.anchor()),
      Home: () => this.seek(timeline.begin, true), End: () => this.seek(this.end, true), o: () => this.chains.length && this.toggleChains(), z: () => timeline.zoomToSpan(),
      t: () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'), '?': () => this.help.showModal(), ...(this.about.compared ? { n: () => this.nextDifference(1), p: () => this.nextDifference(-1) } : {}),
    };
    if (!actions[e.key]) return;
    actions[e.key]();
    e.preventDefault();
  }

  // ---- a link to this moment -----------------------------------------------------------------

  /** Goes where the address says: #t=CYCLE&window=A..B&channel=NAME. */
  readHash() {
    if (location.hash === this.hash) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (text) => (/^-?\d+$/.test(text ?? '') ? Number(text) : null);
    const [a, b] = (asked.get('window') ?? '').split('..').map(number);
    if (a !== null && b > a) this.timeline.setWindow(a, b);
    const row = this.channels.find((r) => r.name === asked.get('channel'));
    if (row) this.choose(row.id);
    const t = number(asked.get('t'));
    if (t !== null) this.seek(t);
  }

  writeHash() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      const { from, to, begin, end } = this.timeline;
      const now = new URLSearchParams({ t: Math.floor(this.time) });
      if (from > begin || to < end) now.set('window', `${Math.floor(from)}..${Math.ceil(to)}`);
      const row = this.channels.find((r) => r.id === this.chosen);
      if (row) now.set('channel', row.name);
      this.hash = `#${now}`;
      try {
        history.replaceState(null, '', this.hash);
      } catch { /* a browser that allows too few of these: the next one will do */ }
    }, 250);
  }
}

const page = new WavePage(JSON.parse(carried('about')));
window.lpnviz = page; // for tests, and for whoever looks under the hood
page.ready = page.start();
