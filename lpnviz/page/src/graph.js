// What programs without a page use: layout and drawing.
export { readNet } from './net.js';
export { layoutNet, groupsOf, toElk, fromElk } from './layout.js';
export { drawNet, drawSvg, GRAPH_STYLE, THEMES } from './draw.js';
