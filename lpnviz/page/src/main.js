// The page: reads what it carries, and puts the parts together.

import { carried, gunzipText } from './base/data.js';
import { h } from './base/dom.js';
import { Frame } from './base/frame.js';
import { GRAPH_STYLE } from './net/draw.js';
import { startElk } from './net/elk.js';
import { GraphView } from './net/graph_view.js';
import { groupsOf } from './net/layout.js';
import { readNet } from './net/net.js';
import { nodePage } from './panel.js';
import { startRun } from './run/run_view.js';

const LARGE = 200; // nodes beyond which the groups are closed at first

class Page extends Frame {
  constructor(net, about) {
    super(GRAPH_STYLE);
    this.net = net;
    this.about = about;
    this.sources = {};
    this.run = null;
    this.build();
    this.graph = new GraphView(this.svg, net, startElk(carried('elk')), {
      onChoose: (id) => this.showNode(id),
      onHover: (id, event) => this.hover(id, event),
      onDrawn: () => this.drawn(),
      onMoved: () => this.refreshTip(),
      onArc: (edge) => this.pointAtArc(edge),
    });
    if (net.places.length + net.transitions.length > LARGE) {
      for (const g of this.graph.groups.values()) if (g.parent === null) this.graph.view.collapsed.add(g.path);
    }
  }

  async start() {
    const sources = carried('sources');
    if (sources) this.sources = JSON.parse(await gunzipText(sources));
    this.showNode(null);
    this.run = await startRun(this);
    await this.graph.draw();
  }

  drawn() {
    this.note.hidden = true;
    document.documentElement.dataset.drawn = 'yes';
    if (this.drawnAt === undefined) this.drawnAt = performance.now();
    this.run?.redraw();
    if (!this.graph.layout.nodes.length) {
      this.note.textContent = this.graph.failure === null ? 'This net has no places and no transitions.'
        : `The graph is too large to be laid out here (${this.graph.failure}); lpn viz -o FILE.svg draws it. All else of this page is there.`;
      this.note.hidden = false;
    }
    this.buttons.collapse.setAttribute('aria-pressed', String(this.graph.view.collapsed.size > 0));
    this.buttons.credits.setAttribute('aria-pressed', String(this.graph.view.credits));
  }

  setTheme(theme) {
    super.setTheme(theme);
    this.run?.themed();
  }

  // ---- the frame ---------------------------------------------------------------------------

  build() {
    const { net, about } = this;
    const button = (text, title, onclick, more = {}) => h('button', { title, onclick, type: 'button', ...more }, text);
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('class', 'lpn');
    this.svg.setAttribute('role', 'group');
    this.svg.setAttribute('aria-label', `The net ${net.name} as a block diagram. Arrow keys go from part to part, Enter chooses.`);
    this.buttons = {
      collapse: button('Close groups', 'Close or open all groups (g)', () => this.graph.collapseAll(this.graph.view.collapsed.size === 0), { 'aria-pressed': 'false' }),
      credits: button('Credits', 'Draw credits as loops (c)', () => this.toggleCredits(), { 'aria-pressed': 'false' }),
      theme: button('Theme', 'Light or dark (t)', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark')),
      help: button('Keys', 'Keys (?)', () => this.help.showModal()),
    };
    const hasGroups = groupsOf(net).groups.size > 0;
    const hasCredits = net.places.some((p) => p.capacity) || net.loops.some((l) => l.credit !== null);
    this.facts = h('div', { class: 'facts' });
    this.search = this.makeSearch();
    const header = h('header', {},
      h('div', { class: 'who' }, h('h1', {}, about.title ?? net.name), h('span', { class: 'quiet' }, about.subtitle ?? '')),
      this.facts,
      h('div', { class: 'tools' }, this.search.box, hasGroups && this.buttons.collapse, hasCredits && this.buttons.credits,
        this.tools = h('span', { style: 'display:contents' }), this.buttons.theme, this.buttons.help));
    this.verdict = h('div', { class: 'verdict', role: 'status', hidden: true });
    this.note = h('div', { class: 'busy-note' }, 'Laying out …');
    this.stage = h('section', { class: 'stage', 'aria-label': 'Graph' }, this.svg, this.note,
      h('div', { class: 'zoom' }, button('+', 'Zoom in (+)', () => this.graph.zoomBy(1.3), { 'aria-label': 'Zoom in' }),
        button('−', 'Zoom out (-)', () => this.graph.zoomBy(1 / 1.3), { 'aria-label': 'Zoom out' }),
        button('Fit', 'The whole net (0)', () => this.graph.fit(), { class: 'wide' })));
    this.addTab('node', 'Details');
    this.footer = h('footer', { hidden: true });
    this.help = this.makeHelp();
    document.body.append(h('div', { class: 'top' }, header, this.verdict), h('main', {}, this.stage, this.panel), this.footer, this.tip, this.help);
    document.addEventListener('keydown', (e) => this.key(e));
    this.selectTab('node');
  }

  showNode(id) {
    this.chosen = id;
    const page = this.tabPages.get('node');
    const options = {
      choose: (next) => this.goTo(next), sources: this.sources, runPart: (of) => this.run?.nodePart(of) ?? null,
      toggle: (path) => this.graph.toggle(path),
    };
    if (id?.startsWith('g:')) {
      const path = id.slice(2);
      const { transitionGroup, placeGroup } = groupsOf(this.net);
      const inside = (g) => g !== null && (g === path || g.startsWith(path + '.'));
      options.group = {
        isOpen: !this.graph.view.collapsed.has(path),
        members: [...this.net.transitions.flatMap((t, k) => (inside(transitionGroup[k]) ? [[`t${k}`, t.name]] : [])),
          ...this.net.places.flatMap((p, k) => (inside(placeGroup[k]) ? [[`p${k}`, p.name]] : []))],
      };
    }
    page.replaceChildren(nodePage(this.net, id, options));
    if (id !== null) this.selectTab('node');
    this.run?.chose(id);
  }

  async goTo(id) {
    await this.graph.show(id);
    this.graph.moveFocus(id, false);
    this.graph.choose(id);
  }

  /** Marks the arc of the net on the page of its transition. */
  pointAtArc(edge) {
    if (edge.kind === 'bundle' || edge.arc === null) return;
    const list = this.tabPages.get('node').querySelectorAll('.arc-list')[edge.kind === 'put' ? 1 : 0];
    const item = list?.children[edge.arc];
    item?.classList.add('here');
    item?.scrollIntoView({ block: 'nearest' });
  }

  /** What is under the pointer may have changed, or something else may be there now. */
  refreshTip() {
    if (!this.hovered) return;
    const { x, y } = this.hovered;
    const id = this.graph?.nodeOf(document.elementFromPoint(x, y) ?? document.body);
    this.hover(id ?? null, { clientX: x, clientY: y });
  }

  hover(id, event) {
    this.hovered = id ? { x: event.clientX, y: event.clientY } : null;
    const content = id && (this.run ? this.run.tip(id) : this.plainTip(id));
    this.showTip(content, event);
  }

  /** What a part is, for a page without a run. */
  plainTip(id) {
    if (id.startsWith('g:')) return null;
    const k = Number(id.slice(1));
    const t = this.net.transitions[k];
    return id[0] === 't' ? [h('h3', {}, t.name), h('p', { class: 'mono' }, `delay ${t.delay}`)] : [h('h3', {}, this.net.places[k].name)];
  }

  toggleCredits() {
    this.graph.view.credits = !this.graph.view.credits;
    return this.graph.draw();
  }

  // ---- search ------------------------------------------------------------------------------

  makeSearch() {
    const input = h('input', { type: 'search', placeholder: 'Find a part  /', 'aria-label': 'Find a transition or place', role: 'combobox',
      'aria-expanded': 'false', 'aria-controls': 'results', autocomplete: 'off' });
    const list = h('ul', { class: 'results', id: 'results', role: 'listbox', 'aria-label': 'Found', hidden: true });
    let found = [];
    let at = 0;
    const close = () => {
      list.hidden = true;
      input.setAttribute('aria-expanded', 'false');
      input.removeAttribute('aria-activedescendant');
    };
    const take = (k) => {
      if (!found[k]) return;
      close();
      this.graph.markFound([]);
      this.goTo(found[k].id);
      input.blur(); // the keys are the page's again
    };
    const point = (k) => {
      at = k;
      [...list.children].forEach((li, i) => li.setAttribute('aria-selected', String(i === at)));
      list.children[at]?.scrollIntoView({ block: 'nearest' });
      if (list.children[at]) input.setAttribute('aria-activedescendant', list.children[at].id);
    };
    const update = () => {
      const text = input.value.trim().toLowerCase();
      const all = [...this.net.transitions.map((t, k) => ({ id: `t${k}`, name: t.name, what: 'transition' })),
        ...this.net.places.map((p, k) => ({ id: `p${k}`, name: p.name, what: 'place' }))];
      const rank = (name) => (name === text ? 0 : name.startsWith(text) ? 1 : name.split(/[._]/).some((w) => w.startsWith(text)) ? 2 : 3);
      found = text ? all.filter((x) => x.name.toLowerCase().includes(text))
        .sort((a, b) => rank(a.name.toLowerCase()) - rank(b.name.toLowerCase()) || a.name.length - b.name.length) : [];
      this.graph.markFound(found.map((x) => x.id));
      list.replaceChildren(...found.slice(0, 40).map((x, k) => h('li', { role: 'option', id: `result-${k}`, 'aria-selected': 'false',
        onpointerdown: (e) => { e.preventDefault(); take(k); } }, h('span', {}, x.name), h('span', { class: 'quiet' }, x.what))));
      if (text && !found.length) list.replaceChildren(h('li', { class: 'quiet', role: 'option', 'aria-selected': 'false' }, 'nothing of that name'));
      list.hidden = !text;
      input.setAttribute('aria-expanded', String(!list.hidden));
      point(0);
    };
    input.addEventListener('input', update);
    input.addEventListener('blur', close);
    input.addEventListener('focus', () => input.value && update());
    input.addEventListener('keydown', (e) => {
      if (e.key === 'ArrowDown') point(Math.min(at + 1, list.children.length - 1));
      else if (e.key === 'ArrowUp') point(Math.max(at - 1, 0));
      else if (e.key === 'Enter') take(at);
      else if (e.key === 'Escape') { input.value = ''; update(); close(); input.blur(); } else { e.stopPropagation(); return; }
      e.preventDefault();
      e.stopPropagation();
    });
    return { box: h('div', { class: 'search' }, input, list), input };
  }

  // ---- keys --------------------------------------------------------------------------------

  makeHelp() {
    const keys = [['/', 'find a part'], ['arrow keys', 'in the graph: from part to part'], ['Enter', 'choose'], ['Space', 'in the graph: open or close a group'],
      ['Shift + arrows', 'move the graph'], ['+  −  0', 'zoom; the whole net'], ['g', 'close or open all groups'], ['c', 'credits as loops'], ['t', 'light or dark'],
      ...(document.getElementById('run') ? [['p', 'play or stop'], [',  .', 'one event back or on'], ['[  ]', 'timeline: zoom out or in'],
        ['n', 'timeline: the chosen part and its neighbours'], ['o', 'timeline: rows by what they decide, or as the net has them'],
          ['Shift + drag', 'timeline: measure; z zooms to it, Esc ends it'], ['h', 'critical path'], ['Home  End', 'first or last cycle']] : [])];
    return this.keysDialog(keys, `Made by lpn viz. Contains ${this.about.notice}.`);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== 'range') return;
    const actions = {
      '/': () => this.search.input.focus(), '+': () => this.graph.zoomBy(1.3), '=': () => this.graph.zoomBy(1.3),
      '-': () => this.graph.zoomBy(1 / 1.3), 0: () => this.graph.fit(), g: () => this.buttons.collapse.click(),
      c: () => this.buttons.credits.click(), t: () => this.buttons.theme.click(), '?': () => this.help.showModal(),
    };
    const action = actions[e.key];
    if (action) action();
    else if (!this.run?.key(e)) return;
    e.preventDefault();
  }
}

const page = new Page(readNet(carried('net')), JSON.parse(carried('about')));
window.lpnviz = page; // for tests, and for whoever looks under the hood
page.ready = page.start();
