// The side panel's page about one transition, place or group: everything that is known of it.

import { h, code } from './base/dom.js';
import { capacityText, serversText } from './net/layout.js';
import { grouped } from './base/text.js';

const KINDS = { take: 'takes', peek: 'needs, and leaves', watch: 'looks at', empty: 'starts only when empty:' };

/** `choose(id)`: goes to another node. `sources`: file -> its lines, for those that were found. */
export function nodePage(net, id, { choose, sources, runPart, group, toggle }) {
  if (id === null) return overview(net);
  if (id.startsWith('g:')) return groupPage(id.slice(2), group, choose, toggle);
  const k = Number(id.slice(1));
  return id[0] === 't' ? transitionPage(net, k, { choose, sources, runPart }) : placePage(net, k, { choose, sources, runPart });
}

function pairs(rows) {
  return h('dl', { class: 'pairs' }, rows.filter((r) => r && r[1] !== null && r[1] !== undefined && r[1] !== '')
    .map(([word, what]) => [h('dt', {}, word), h('dd', {}, what)]));
}

function to(choose, id, name) {
  return h('button', { class: 'link', onclick: () => choose(id) }, name);
}

/** The author's lines around where something was written. */
export function sourceBlock(net, at, sources) {
  if (!at) return null;
  const [file, line] = at;
  const name = net.files[file];
  const lines = sources[name];
  const title = h('h3', {}, 'Source');
  if (!lines) return [title, h('p', { class: 'mono' }, `${name}:${line}`)];
  const first = Math.max(1, line - 4);
  const last = Math.min(lines.length, line + 14);
  const list = h('ol', { style: `--first: ${first - 1}` });
  for (let k = first; k <= last; ++k) list.append(h('li', { class: k === line ? 'here' : null }, lines[k - 1] || ' '));
  return [title, h('p', { class: 'mono quiet source-at' }, `${name}:${line}`),
    h('div', { class: 'source', tabindex: '0', 'aria-label': `${name} from line ${first}` }, list)];
}

function transitionPage(net, k, { choose, sources, runPart }) {
  const t = net.transitions[k];
  const inputs = t.inputs.map((arc) => h('li', {},
    h('div', {}, `${KINDS[arc.kind]} `, arc.kind === 'take' && arc.weight !== '1' ? [code(arc.weight), ' of '] : null,
      to(choose, `p${arc.place}`, net.places[arc.place].name), arc.kind === 'empty' ? '' : ' as ', arc.kind === 'empty' ? '' : code(arc.name)),
    arc.need ? h('div', { class: 'quiet' }, 'needs ', code(arc.need)) : null,
    arc.guard ? h('div', {}, 'when ', code(arc.guard)) : null));
  const outputs = t.outputs.map((arc) => {
    const fields = net.types[net.places[arc.place].type].fields;
    return h('li', {}, arc.emissions.map((e) => h('div', {}, 'puts ', e.count === '1' ? '' : [code(e.count), ' into '],
      e.count === '1' ? 'into ' : '', to(choose, `p${arc.place}`, net.places[arc.place].name),
      fields.map((f, i) => h('div', { class: 'quiet' }, code(`${f.name} = ${e.fields[i]}`))))));
  });
  return h('div', {}, h('h2', {}, t.name),
    runPart(`t${k}`),
    pairs([
      [t.clock ? 'delay, in periods' : 'delay', code(t.delay)],
      ['servers', t.servers ? [code(t.servers.text), t.servers.text === String(t.servers.value) ? '' : ` = ${t.servers.value}`] : 'any number'],
      ['interval', t.interval && code(t.interval)],
      ['order', t.ordered ? 'commits never overtake' : null],
      ['clock', t.clock && code(`period ${t.clock.period}, phase ${t.clock.phase}`)],
      ['priority', `${k + 1} of ${net.transitions.length}`],
    ]),
    h('h3', {}, 'Takes'), inputs.length ? h('ul', { class: 'arc-list' }, inputs) : h('p', { class: 'quiet' }, 'nothing'),
    h('h3', {}, 'Puts'), outputs.length ? h('ul', { class: 'arc-list' }, outputs) : h('p', { class: 'quiet' }, 'nothing'),
    sourceBlock(net, t.at, sources));
}

function placePage(net, k, { choose, sources, runPart }) {
  const p = net.places[k];
  const type = net.types[p.type];
  const makers = net.transitions.flatMap((t, i) => (t.outputs.some((a) => a.place === k) ? [to(choose, `t${i}`, t.name)] : []));
  const users = net.transitions.flatMap((t, i) => t.inputs.filter((a) => a.place === k).map((a) => [KINDS[a.kind], to(choose, `t${i}`, t.name)]));
  const roles = [p.start && 'the workload fills it, and it must drain', p.done && 'what comes here is done: latency counts it',
    p.drain && 'must be empty at the end', p.sink && 'nothing has to take from it'].filter(Boolean).join('; ');
  const range = (r) => (r ? `${r[0]}..${r[1]}` : 'any');
  return h('div', {}, h('h2', {}, p.name),
    runPart(`p${k}`),
    pairs([
      ['capacity', p.capacity ? [code(p.capacity.text), p.capacity.text === String(p.capacity.value) ? '' : ` = ${grouped(p.capacity.value)}`]
        : p.bound ? `${p.bound.tokens}, by the credits of ${net.places[p.bound.credit].name}` : 'no bound'],
      ['at time 0', `${grouped(p.initial + p.tokens)} token${p.initial + p.tokens === 1 ? '' : 's'}`
        + (p.tokens && p.initial ? ` (${grouped(p.initial)} of the net, ${grouped(p.tokens)} of the input)` : p.tokens ? ' of the input' : '')],
      ['meaning', roles],
      ['tokens', type.fields.length ? h('div', {}, type.name, type.fields.map((f) => h('div', { class: 'quiet' }, code(`${f.name}: ${range(f.range)}`))))
        : 'only count'],
    ]),
    h('h3', {}, 'Filled by'), makers.length ? h('ul', { class: 'arc-list' }, makers.map((m) => h('li', {}, m))) : h('p', { class: 'quiet' }, 'nobody in the net'),
    h('h3', {}, 'Used by'), users.length ? h('ul', { class: 'arc-list' }, users.map(([what, who]) => h('li', {}, who, ` ${what}`))) : h('p', { class: 'quiet' }, 'nobody'),
    sourceBlock(net, p.at, sources));
}

function groupPage(path, { members, isOpen }, choose, toggle) {
  return h('div', {}, h('h2', {}, path), h('p', { class: 'quiet' }, `${members.length} parts`),
    h('p', { style: 'margin-top:10px' }, h('button', { onclick: () => toggle(path) }, isOpen ? 'Close the group' : 'Open the group')),
    h('h3', {}, 'Parts'), h('ul', { class: 'arc-list' }, members.map(([id, name]) => h('li', {}, to(choose, id, name)))));
}

function overview(net) {
  return h('div', {}, h('h2', {}, net.name),
    h('p', { class: 'quiet' }, [[net.places.length, 'place'], [net.transitions.length, 'transition']].map(([n, what]) => `${n} ${what}${n === 1 ? '' : 's'}`).join(', ')),
    net.params.length ? [h('h3', {}, 'Parameters'), pairs(net.params.map((p) => [p.name, code(p.value)
    ]))] : null,
    h('h3', {}, 'Reading the picture'),
    pairs([
      ['block', 'a transition: works on tokens for its delay'],
      ['queue', 'a place: first in, first out, tokens and most of them'],
      ['▶  ▌', 'a place that the input fills; one in which tokens are done'],
      ['→', 'takes or puts one token, or as many as are written there'],
      ['dashed', 'needs tokens and leaves them'],
      ['○', 'starts only while the place is empty'],
      ['2×', 'servers: so many firings at once; ∞ for any number'],
      ['left edge', 'of a block: why it does not start once more, by colour'],
      ['bar on top', 'its share of the critical path, or of the time that its servers are busy'],
      ['bar below', 'a firing in flight, and how far it is'],
    ]),
    h('p', { class: 'quiet', style: 'margin-top:12px' }, 'Choose a part to see all that is known of it.'));
}

export { capacityText, serversText };
