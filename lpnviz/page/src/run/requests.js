// How long requests took, from birth to done: figures, a histogram and the run of time.

import { h } from '../base/dom.js';
import { fixed, grouped } from '../base/text.js';

const FIGURES = ['mean', 'p50', 'p90', 'p99', 'p99.9', 'greatest'];

function figure(value) {
  return value >= 1000 || Number.isInteger(value) ? grouped(fixed(value, 0)) : fixed(value, value >= 10 ? 1 : 2);
}

/** [[from, to, count]] by ranges that grow by powers of two, at least 8 of them in so many requests' span. */
export function ranges(cells) {
  const [least, greatest] = [cells[0][0], cells[cells.length - 1][1]];
  const doubling = (greatest + 1) / (least + 1) > 64;
  const width = doubling ? 0 : Math.max(1, Math.ceil((greatest - least + 1) / 16));
  const slot = (v) => (doubling ? Math.floor(Math.log2(v + 1)) : Math.floor((v - least) / width));
  const first = slot(least);
  const found = Array.from({ length: slot(greatest) - first + 1 }, (_, k) => (doubling
    ? [2 ** (first + k) - 1, 2 ** (first + k + 1) - 2, 0] : [least + k * width, least + (k + 1) * width - 1, 0]));
  for (const [from, , count] of cells) found[slot(from) - first][2] += count;
  return found;
}

function histogram(row) {
  const bars = ranges(row.cells);
  const most = Math.max(...bars.map(([, , count]) => count));
  return h('table', { class: 'of-latencies' }, h('caption', {}, `${row.place}: how many requests took how many cycles`),
    h('tbody', {}, bars.map(([from, to, count]) => h('tr', {}, h('th', { scope: 'row' }, from === to ? grouped(from) : `${grouped(from)} – ${grouped(to)}`), h('td', { 'data-count': count }, grouped(count)),
      h('td', { class: 'bar-cell' }, h('div', { class: 'latency-bar', style: `width:${((100 * count) / most).toFixed(2)}%` }))))));
}

/** Requests done and mean latency by windows of time, as two small curves. */
function overTime({ cycles, requests, mean }) {
  if (requests.length < 2) return null;
  const curve = (name, values) => {
    const most = Math.max(1e-9, ...values.map((v) => v ?? 0));
    const x = (k) => ((k / values.length) * 300).toFixed(1);
    const bars = values.map((v, k) => (v ? `M${x(k)} 30V${(30 - (28 * v) / most).toFixed(1)}H${x(k + 1)}V30` : '')).join('');
    return h('div', { class: 'curve' }, h('span', { class: 'quiet' }, `${name}, at most ${figure(most)}`),
      h('div', { html: `<svg viewBox="0 0 300 31" preserveAspectRatio="none" role="img" aria-label="${name} over time"><path d="${bars}"/></svg>` }));
  };
  return h('div', {}, h('p', { class: 'quiet' }, `over time, ${grouped(cycles)} cycles a column`), curve('requests done', requests), curve('mean latency', mean));
}

/** All of it for a run: elements. */
export function requestsOf(run) {
  const rows = run.about.requests ?? [];
  if (!rows.length) return [];
  const name = (r) => (r.class === null ? r.place : String(r.class));
  return [h('h3', {}, 'Requests: cycles from birth to done'),
    h('table', { class: 'of-requests' }, h('thead', {}, h('tr', {}, h('td', {}), rows.map((r) => h('th', { scope: 'col', title: r.class === null ? r.place : `${r.place}, class ${r.class}` }, name(r))))),
      h('tbody', {}, ['requests', ...FIGURES].map((what) => h('tr', {}, h('th', { scope: 'row' }, what), rows.map((r) => h('td', { 'data-figure': what, 'data-value': r[what] }, figure(r[what]))))))),
    ...rows.filter((r) => r.class === null).flatMap((r) => [histogram(r), overTime(r.over_time)])].filter(Boolean);
}
