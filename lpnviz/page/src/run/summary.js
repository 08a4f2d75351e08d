// The tab "Run": the whole run in tables, or the part of it that the timeline shows.

import { h } from '../base/dom.js';
import { fixed, grouped } from '../base/text.js';
import { WAITS } from './record.js';
import { requestsOf } from './requests.js';
import { percent, ranking, sharesOf } from './verdict.js';
import { whySign } from './why.js';

/** What the picture leaves out of a long path, which the table has as a whole. */
export function partOfPath(run) {
  const shown = run.path?.index.length ?? 0;
  const all = run.about.critical_path.rows.reduce((sum, row) => sum + (row.what === 'delay' ? row.count : 0), 0);
  if (!shown || shown >= all) return [];
  const from = Math.min(run.path.start[0], run.path.start[shown - 1]);
  return [h('p', { class: 'quiet part-of-path' }, `The timeline has the last ${grouped(shown)} of these ${grouped(all)} firings, from cycle ${grouped(from)} on.`)];
}

export function runSign(i) {
  return h('span', { class: 'swatch', style: `background:var(--${i ? 'other' : 'accent'});margin-right:8px` });
}

/** Two runs: what is different first what differs most. */
export function comparison(net, [a, b]) {
  const row = (name, x, y, text, by) => h('tr', { class: x === y ? null : 'differs' }, h('td', { title: name }, name), h('td', {}, x === null ? '–' : text(x)),
    h('td', {}, y === null ? '–' : text(y)), h('td', {}, x === null || y === null || x === y ? '' : y > x ? `+${by(y - x)}` : `−${by(x - y)}`));
  const rows = Object.keys(a.about.parameters).map((name) => row(name, BigInt(a.about.parameters[name]), BigInt(b.about.parameters[name]), grouped, grouped));
  rows.push(row('latency', a.about.latency, b.about.latency, grouped, grouped), row('firings', a.about.firings, b.about.firings, grouped, grouped));
  const points = (share) => `${fixed(share * 100, 1)} pp`;
  const shares = net.transitions.map((t) => [t.name, a.stats.transitions[t.name].utilisation, b.stats.transitions[t.name].utilisation])
    .sort((p, q) => Math.abs(q[2] - q[1]) - Math.abs(p[2] - p[1]));
  for (const [name, x, y] of shares) if (percent(x) !== percent(y)) rows.push(row(`${name}, busy`, x, y, percent, points));
  return h('table', { class: 'of-runs' }, h('thead', {}, h('tr', {}, ['', 'A', 'B', 'B − A'].map((x) => (x ? h('th', { scope: 'col' }, x) : h('td', {}))))), h('tbody', {}, rows),
    h('caption', {}, 'busy: share of that run; pp: percentage points'));
}

export class Summary {
  /** `view`: the RunView; `page`: the element to fill. */
  constructor(view, page) {
    Object.assign(this, { view, page });
    this.idleShown = false;
    const { net, runs } = view;
    const reasons = WAITS.map((w, k) => k).filter((k) => k && runs.some((r) => Object.values(r.stats.transitions).some((t) => t.waited[WAITS[k]].cycles)));
    const content = [];
    for (const [i, run] of runs.entries()) {
      const { about } = run;
      content.push(h('h2', {}, runs.length > 1 ? [runSign(i), `${'AB'[i]}: ${run.title.split('/').pop()}`] : 'The whole run'));
      const ended = about.latency === null ? 'no latency' : run.stats.end === about.latency ? '' : `latency ${grouped(about.latency)}`;
      content.push(h('p', { class: 'quiet' }, [`${grouped(run.stats.end)} cycles`, `${grouped(about.firings)} firing${about.firings === 1 ? '' : 's'}`, ended].filter(Boolean).join(', ')));
      if (about.stalled) {
        content.push(h('div', { class: 'stalled', role: 'note' }, h('p', {}, h('b', {}, 'Stalled'), `: ${about.undrained.map((u) => `${u.tokens} left in ${u.place}`).join(', ')}`),
          h('ul', {}, about.blocked.map((b) => h('li', {}, b.text)))));
      }
    }
    if (runs.length > 1) content.push(comparison(net, runs));
    this.whose = h('h2', { class: 'whose' });
    content.push(this.whose, h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'swatch', style: 'background:var(--accent)' }), 'busy'),
      reasons.map((k) => h('span', {}, whySign(k), WAITS[k]))));
    this.partOnly = h('input', { type: 'checkbox', onchange: () => this.fill() });
    this.partNote = h('span', { class: 'quiet' });
    this.tables = h('div');
    content.push(h('label', { class: 'part-only' }, this.partOnly, ' only the part that the timeline shows ', this.partNote), this.tables);
    page.replaceChildren(...content);
    this.fill();
  }

  windowChanged() {
    if (!this.partOnly.checked) return;
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.fill(), 120);
  }

  async fill() {
    const { view } = this;
    const { net, run } = view;
    let { stats } = run;
    const turn = (this.filling = (this.filling ?? 0) + 1);
    this.whose.replaceChildren(...(view.runs.length > 1 ? [runSign(view.shown), `Run ${'AB'[view.shown]}: ${run.title.split('/').pop()}`] : []));
    this.partNote.textContent = '';
    const part = this.partOnly.checked && view.timeline && view.timeline.part();
    if (part) {
      const found = await view.partStats(...part);
      if (turn !== this.filling) return;
      this.partNote.textContent = found ? `${grouped(part[0])} to ${grouped(part[1])}` : '(too long to count: zoom in)';
      stats = found ?? stats;
    }
    this.tables.replaceChildren(...this.ofTransitions(stats, stats === run.stats), ...this.ofPath(run), ...requestsOf(run), h('h3', {}, 'Places'), this.ofPlaces(stats));
  }

  link(id, name) {
    return h('button', { class: 'link', type: 'button', title: name, onclick: () => this.view.page.goTo(id) }, name);
  }

  ofTransitions(stats, whole) {
    const { net, run } = this.view;
    const shares = sharesOf(net, run);
    const bar = (t) => {
      const made = h('div', { class: 'bar', role: 'img', 'aria-label': WAITS.slice(1).filter((w) => t.waited[w].cycles).map((w) => `${w} ${percent(t.waited[w].share)}`).join(', ') });
      WAITS.forEach((w, k) => {
        if (k && t.waited[w].cycles) made.append(h('span', { style: `background:var(--why${k});width:${t.waited[w].share * 100}%`, title: `${w}: ${grouped(t.waited[w].cycles)} cycles, ${percent(t.waited[w].share)}`, 'data-why': w, 'data-cycles': t.waited[w].cycles }));
      });
      return made;
    };
    const row = (k) => {
      const t = net.transitions[k];
      const s = stats.transitions[t.name];
      const any = t.servers ? '' : '; any number of servers, so this says for how long one firing or more was under way, not how much they are used';
      return h('tr', { 'data-transition': t.name }, h('td', { title: t.name }, this.link(`t${k}`, t.name)), h('td', { 'data-commits': s.commits }, grouped(s.commits)),
        h('td', { 'data-busy': s.busy, title: `${grouped(s.busy)} cycles${any}`, class: any ? 'quiet' : null }, percent(s.utilisation)),
        whole && run.about.critical_path ? h('td', {}, shares[k] ? percent(shares[k]) : '') : null, h('td', {}, bar(s)));
    };
    const order = ranking(net, run);
    const idle = order.filter((k) => run.stats.transitions[net.transitions[k].name].commits === 0);
    const rest = order.filter((k) => run.stats.transitions[net.transitions[k].name].commits !== 0);
    const table = h('table', { class: 'of-transitions' }, h('thead', {}, h('tr', {}, ['transition', whole ? 'firings' : 'starts', 'busy', ...(whole && run.about.critical_path ? ['of path'] : []), 'waits for']
      .map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, rest.map(row)));
    if (!idle.length) return [table];
    const more = h('tbody', { class: 'idle', hidden: !this.idleShown && rest.length > 0 }, idle.map(row));
    table.append(more);
    if (!rest.length) return [table];
    const text = () => (more.hidden ? `${idle.length} more never started` : `hide the ${idle.length} that never started`);
    const button = h('button', { class: 'link fold', type: 'button', 'aria-expanded': String(!more.hidden), onclick: () => {
      this.idleShown = more.hidden;
      more.hidden = !more.hidden;
      button.textContent = text();
      button.setAttribute('aria-expanded', String(!more.hidden));
    } }, text());
    return [table, button];
  }

  ofPath(run) {
    const path = run.about.critical_path;
    if (!path) return [];
    const gains = path.rows.some((r) => r.gain !== undefined && r.gain !== null);
    const index = new Map(this.view.net.transitions.map((t, k) => [t.name, k]));
    const row = (r) => {
      const what = r.what === 'interval' || r.what === 'clock' ? ` (${r.what})` : '';
      return h('tr', {}, h('td', {}, r.transition === null ? `tokens from outside into ${r.place}` : [this.link(`t${index.get(r.transition)}`, r.transition + what)]),
        h('td', { 'data-count': r.count }, grouped(r.count)), h('td', { 'data-cycles': r.cycles }, grouped(r.cycles)), h('td', {}, percent(r.share)),
        gains ? h('td', {}, r.gain === undefined || r.gain === null ? '' : grouped(r.gain)) : null);
    };
    return [h('h3', {}, `Critical path, ${grouped(path.latency)} cycles`), ...partOfPath(run), h('table', { class: 'of-path' },
      h('thead', {}, h('tr', {}, ['transition', 'firings', 'cycles', 'share', ...(gains ? ['2× gains'] : [])].map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, path.rows.map(row)))];
  }

  ofPlaces(stats) {
    const { net } = this.view;
    const rows = net.places.map((p, k) => {
      const s = stats.places[p.name];
      return h('tr', { 'data-place': p.name }, h('td', { title: p.name }, this.link(`p${k}`, p.name)), h('td', { 'data-mean': s.mean }, mean(s.mean)), h('td', { 'data-peak': s.peak }, grouped(s.peak)));
    });
    return h('table', { class: 'of-places' }, h('thead', {}, h('tr', {}, ['place', 'mean tokens', 'peak'].map((x) => h('th', { scope: 'col' }, x)))), h('tbody', {}, rows));
  }
}

/** 2302.37 as "2 302.37". */
export function mean(value) {
  const [whole, rest] = fixed(value, 2).split('.');
  return `${grouped(whole)}.${rest}`;
}
