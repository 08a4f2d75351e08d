// The side panel of a recording's page: channels in a table, who holds whom, one channel, differences.

import { h } from '../base/dom.js';
import { fixed, grouped } from '../base/text.js';
import { numbered } from '../base/timeline.js';
import { COLOURS } from './wave_timeline.js';
import { ACTIVE, IDLE, PHASES, RESET, STALLED, STARVED, TRANSFER, UNKNOWN } from './lane.js';

const percent = (part) => (Number.isFinite(part) ? `${fixed(part * 100, 1)}%` : '');

/** A phase's colour, as the timeline has it. */
export function phaseSign(phase, lane = 0) {
  const name = phase === TRANSFER ? (lane ? 'other' : 'accent') : COLOURS[phase] ?? 'line';
  return h('i', { class: 'swatch', style: `background:var(--${name})` });
}

export function legend() {
  return h('div', { class: 'legend' }, [TRANSFER, STALLED, STARVED, ACTIVE, UNKNOWN].map((phase) => h('span', {}, phaseSign(phase),
    { [STALLED]: 'back-pressure: valid without ready', [STARVED]: 'starvation: ready without valid', [ACTIVE]: 'an operation goes on', [UNKNOWN]: 'x or z decides' }[phase] ?? 'transfer')));
}

/** Cycles by phase, as `lpn wave stalls` counts them. */
function counted(row) {
  const cycles = PHASES.map(() => 0);
  const of = { [IDLE]: row.idle, [UNKNOWN]: row.unknown, [ACTIVE]: row.busy, [RESET]: row.in_reset, [STALLED]: row.back_pressure?.cycles, [STARVED]: row.starvation?.cycles };
  for (const [phase, n] of Object.entries(of)) cycles[phase] = n ?? 0;
  cycles[TRANSFER] = row.duration ? 0 : row.kind === 'count' ? row.cycles - row.idle - row.unknown : row.transfers;
  return { cycles, exact: true };
}

/** Of `part`, [a, b), or of the whole recording. `stalls`: what was counted of it, where it was; `choose(k)`: a row. */
export function channelTable(rows, lane, part, stalls, choose) {
  let exact = true;
  const body = rows.map((row, k) => {
    const own = row.lanes[lane];
    const whole = part === null && stalls?.channels.find((c) => c.channel === row.name);
    const tally = whole ? counted(whole) : own.tally(...(part ?? [-Infinity, Infinity]));
    exact &&= tally.exact;
    const { cycles } = tally;
    const seen = cycles.reduce((sum, n, phase) => (phase === RESET ? sum : sum + n), 0);
    const cell = (phase) => h('td', { 'data-cycles': cycles[phase], title: `${grouped(cycles[phase])} cycles` }, cycles[phase] ? percent(cycles[phase] / seen) : '');
    return h('tr', { 'data-channel': row.name }, h('td', { title: row.name }, h('button', { class: 'link', type: 'button', onclick: () => choose(k) }, row.name)),
      h('td', { 'data-transfers': whole ? whole.transfers : cycles[TRANSFER] }, row.operation || (row.counter && !whole) ? '' : grouped(whole ? whole.transfers : cycles[TRANSFER])), row.operation ? [h('td', {}, ''), h('td', {}, '')] : [cell(STALLED), cell(STARVED)],
      h('td', { class: 'bar-cell' }, h('div', { class: 'bar', role: 'img', 'aria-label': PHASES.filter((_, p) => cycles[p]).join(', ') },
        [TRANSFER, ACTIVE, STALLED, UNKNOWN, STARVED].filter((p) => cycles[p]).map((p) => h('span', { style: `background:var(--${p === TRANSFER ? 'accent' : COLOURS[p]});width:${(cycles[p] / seen) * 100}%`, title: `${PHASES[p]}: ${percent(cycles[p] / seen)}` })))));
  });
  return h('table', { class: 'of-channels', 'data-exact': String(exact) }, h('thead', {}, h('tr', {}, ['channel', 'transfers', 'back-pressure', 'starved', ''].map((x) => h('th', { scope: 'col' }, x)))),
    h('tbody', {}, body), exact ? null : h('caption', {}, 'about: from sums over stretches, since not every cycle of this part is in the page'));
}

/** Chains from victim to culprit, and what speaks for each link. */
export function heldBy(names, stalls, choose) {
  const link = (name) => h('button', { class: 'link', type: 'button', onclick: () => choose(names.indexOf(name)) }, name);
  if (!stalls.links.length) return h('p', { class: 'quiet' }, 'No channel’s back-pressure follows that of another one.');
  const chain = (list) => h('p', { class: 'chain' }, list.flatMap((name, k) => (k ? [' ← ', link(name)] : [link(name)])));
  return h('div', {}, h('p', { class: 'quiet' }, 'From each channel that waits to the one that holds it.'), stalls.chains.map(chain), h('h3', {}, 'Evidence'),
    h('ul', { class: 'arc-list' }, stalls.links.map((l) => h('li', {}, link(l.victim), ': ', `${grouped(l.following)} of ${grouped(l.releases)} releases `,
      l.lag === 0 ? 'in the same cycle as' : `${grouped(l.lag)} cycle${l.lag === 1 ? '' : 's'} after`, ' one of ', link(l.culprit), `; begun after it in ${grouped(l.begun_before)} of ${grouped(l.episodes)} episode${l.episodes === 1 ? '' : 's'}`))));
}

/** What is known of a channel, and what it does at t. */
export function channelPage(row, runs, stalls, t, unit, go) {
  const own = stalls?.channels.find((c) => c.channel === row.name);
  const pairs = (list) => h('dl', { class: 'pairs' }, list.filter(([, what]) => what !== null && what !== undefined && what !== '').map(([word, what]) => [h('dt', {}, word), h('dd', {}, what)]));
  const now = row.lanes.map((lane, i) => {
    const at = lane?.at(t);
    const what = !lane ? null : !at ? 'not every cycle of this part is in the page' : [phaseSign(at.phase, i), ` ${PHASES[at.phase]} from ${numbered(at.since)} to ${numbered(at.until)} (${grouped(at.until - at.since)} ${unit}${unit === 'cycle' && at.until - at.since !== 1 ? 's' : ''})`];
    return what && h('p', {}, runs.length > 1 ? h('b', {}, `${'AB'[i]} `) : null, what);
  });
  const waits = (name, of) => of && [name, `${grouped(of.cycles)} cycles, ${percent(of.share)}, ${grouped(of.times)} times, longest ${grouped(of.longest)}`];
  return h('div', {}, h('h2', {}, row.name), h('div', { class: 'now' }, h('p', { class: 'quiet' }, `at ${unit} ${numbered(t)}`), now),
    own ? pairs([['kind', own.kind], ['transfers', grouped(own.transfers)], ['first, last', own.first === null ? '' : `${numbered(own.first)}, ${numbered(own.last)}`],
      ['per cycle', Number.isFinite(own.throughput) && fixed(own.throughput, 3)], ...[waits('back-pressure', own.back_pressure), waits('starvation', own.starvation)].filter(Boolean),
      ['bursts', own.bursts && `${grouped(own.bursts.count)}, longest ${grouped(own.bursts.longest)}`],
      ['duration', own.duration && own.duration.most !== null && `${grouped(own.duration.least)} to ${grouped(own.duration.most)}, mean ${fixed(own.duration.mean, 1)}`],
      ['x or z', own.unknown ? `${grouped(own.unknown)} cycles` : '']].filter(Boolean)) : null,
    row.difference ? [h('h3', {}, 'First difference'), difference(row, go)] : null);
}

function difference(row, go) {
  const d = row.difference;
  return h('p', {}, h('button', { class: 'link', type: 'button', onclick: () => go(row.k, d.cycle) }, `cycle ${numbered(d.cycle)}`), `: ${d.cause}`);
}

/** Where each channel or firing differs first, the earliest on top. */
export function differences(rows, columns, go) {
  const some = rows.filter((row) => row.difference).sort((p, q) => p.difference.cycle - q.difference.cycle);
  return h('div', {}, some.length ? h('ul', { class: 'arc-list' }, some.map((row) => h('li', { 'data-first': row.difference.cycle }, h('b', {}, row.name), ' ', difference(row, go))))
    : h('p', {}, 'No difference.'),
  h('h3', {}, columns.title), h('table', { class: 'of-differences' }, h('thead', {}, h('tr', {}, columns.names.map((x) => h('th', { scope: 'col' }, x)))),
    h('tbody', {}, rows.filter((row) => row.cells).map((row) => h('tr', { class: row.difference ? 'differs' : null }, [row.name, ...row.cells].map((x) => h('td', { title: x }, x)))))));
}
