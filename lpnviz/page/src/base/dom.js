// Small helpers for making elements.

/** An element: h('button', { class: 'x', onclick: f }, 'text', other). */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'html') element.innerHTML = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** Text as code. */
export function code(text) {
  return h('span', { class: 'mono' }, text);
}
