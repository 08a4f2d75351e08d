// What programs without a page use: layout and drawing.
export { readNet } from './net/net.js';
export { layoutNet, groupsOf, toElk, fromElk } from './net/layout.js';
export { drawNet, drawSvg, GRAPH_STYLE } from './net/draw.js';
export { THEMES } from './base/theme.js';
