// The colours of a page and of its pictures.

// Text on its ground has a contrast of at least 4.5 : 1, lines and shapes that mean something 3 : 1
// (WCAG 2.1 AA); the browser test computes them. Busy (accent) and the reasons are told apart by those who
// see two primary colours too: at least 10 by CIEDE2000 as they see them (Machado 2009), which it computes too.
export const THEMES = {
  light: {
    ground: '#f7f8fa', panel: '#ffffff', raised: '#ffffff', line: '#d5dae1', strong: '#7b8594', ink: '#17202c',
    soft: '#566172', accent: '#0a62c4', accentInk: '#ffffff', accentSoft: '#dceafb', arc: '#6b7686', frame: '#eef1f5',
    fifo: '#ffffff', token: '#0a62c4', mark: '#b3261e', markSoft: '#fbe4e1', path: '#c4006b', other: '#17202c', heat: '#e08800',
    why1: '#818a99', why2: '#a43410', why3: '#262199', why4: '#7f507a', why5: '#048cec', why6: '#058c5a', why7: '#89901d',
  },
  dark: {
    ground: '#10151c', panel: '#171d26', raised: '#1e2631', line: '#303a48', strong: '#8491a3', ink: '#e9eef5',
    soft: '#a5b0bf', accent: '#6cb0ff', accentInk: '#08131f', accentSoft: '#1c3554', arc: '#8290a3', frame: '#151b24',
    fifo: '#121821', token: '#6cb0ff', mark: '#ff8a80', markSoft: '#43211f', path: '#ff5fb0', other: '#e9eef5', heat: '#e08800',
    why1: '#75808f', why2: '#e08800', why3: '#5c48fd', why4: '#feb3d3', why5: '#418cbf', why6: '#18e8a5', why7: '#f0e442',
  },
};

/** A theme as CSS variables. */
export function variables(theme) {
  return Object.entries(THEMES[theme]).map(([name, value]) => `--${name}: ${value};`).join(' ');
}
