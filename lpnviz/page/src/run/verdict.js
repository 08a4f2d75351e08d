// What decided a run, in a sentence; which parts matter most. Pure, but for the sentence's links.

import { fixed, grouped } from '../base/text.js';

export function percent(share) {
  return `${fixed(share * 100, 1)}%`;
}

/** Per transition its share of the run: of the critical path where there is one, else of the time that
 * servers of a limited number are busy; one that has any number of them is no bottleneck by that. */
export function sharesOf(net, run) {
  const path = run.about.critical_path;
  const shares = net.transitions.map((t) => (path || !t.servers ? 0 : run.stats.transitions[t.name].utilisation));
  if (!path) return shares;
  const index = new Map(net.transitions.map((t, k) => [t.name, k]));
  for (const row of path.rows) if (row.transition !== null) shares[index.get(row.transition)] += row.share;
  return shares;
}

/** Transitions, those that decide most first. */
export function ranking(net, run) {
  const shares = sharesOf(net, run);
  const busy = (k) => run.stats.transitions[net.transitions[k].name].utilisation;
  return net.transitions.map((_, k) => k).sort((a, b) => shares[b] - shares[a] || busy(b) - busy(a) || a - b);
}

/** The run in a sentence. */
export function verdictOf(net, run) {
  const { about } = run;
  if (about.error) return `The run ended in an error at cycle ${grouped(about.error.time)}: ${about.error.message} [${about.error.code}]`;
  if (about.stalled) {
    const left = about.undrained.map((u) => `${u.place} (${grouped(u.tokens)})`).join(', ');
    const why = about.blocked[0]?.text ?? (left ? `tokens are left in ${left}, from which no transition takes` : 'fewer done tokens than declared');
    return `Stalled at cycle ${grouped(run.stats.end)}: ${why}.`;
  }
  if (about.firings === 0) return 'Nothing happened: no transition had its tokens.';
  if (about.critical_path?.bottleneck) return `${about.critical_path.bottleneck.text}.`;
  const first = ranking(net, run)[0];
  const t = net.transitions[first];
  const s = run.stats.transitions[t.name];
  const hint = 'What decided the latency is said with --critical-path.';
  if (!t.servers) return `No transition has a limited number of servers. ${hint}`;
  const waiting = s.waited['no server'].share;
  return `'${t.name}' is the busiest: ${t.servers.value === 1 ? 'it works' : 'it works, with one server or more,'} ${percent(s.utilisation)} of the run`
    + `${waiting ? `, and ${percent(waiting)} of the run more work waits for it` : ''}. ${hint}`;
}
