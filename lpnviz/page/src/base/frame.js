// What every page has: its themes, tabs in a side panel, a box of what is under the pointer, its keys.

import { h } from './dom.js';
import { variables } from './theme.js';

export class Frame {
  /** `style`: CSS of what the page draws, beside that of the theme. */
  constructor(style = '') {
    document.head.append(h('style', {}, `:root { ${variables('light')} color-scheme: light; }
      :root[data-theme='dark'] { ${variables('dark')} color-scheme: dark; }${style}`));
    this.setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Details' });
    this.tabPages = new Map();
    this.panel = h('aside', { 'aria-label': 'Details' }, this.tabs);
    this.tip = h('div', { class: 'tip-box', hidden: true, role: 'tooltip' });
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.theme = theme;
  }

  addTab(id, name) {
    const tab = h('button', { role: 'tab', id: `tab-${id}`, 'aria-controls': `page-${id}`, type: 'button', onclick: () => this.selectTab(id),
      onkeydown: (e) => {
        if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
        const ids = [...this.tabPages.keys()];
        const next = ids[(ids.indexOf(id) + (e.key === 'ArrowRight' ? 1 : ids.length - 1)) % ids.length];
        this.selectTab(next);
        this.tabs.querySelector(`#tab-${next}`).focus();
        e.preventDefault();
        e.stopPropagation();
      } }, name);
    const page = h('div', { class: 'tab', role: 'tabpanel', id: `page-${id}`, 'aria-labelledby': `tab-${id}`, hidden: true });
    this.tabs.append(tab);
    this.panel.append(page);
    this.tabPages.set(id, page);
    return page;
  }

  selectTab(id) {
    for (const [other, page] of this.tabPages) {
      page.hidden = other !== id;
      const tab = this.tabs.querySelector(`#tab-${other}`);
      tab.setAttribute('aria-selected', String(other === id));
      tab.setAttribute('tabindex', other === id ? '0' : '-1');
    }
  }

  /** `content`: elements, or null to hide it. */
  showTip(content, event) {
    this.tip.hidden = !content;
    if (!content) return;
    this.tip.replaceChildren(...content);
    const w = this.tip.offsetWidth;
    const height = this.tip.offsetHeight;
    this.tip.style.left = `${Math.min(event.clientX + 14, innerWidth - w - 8)}px`;
    this.tip.style.top = `${Math.min(event.clientY + 14, innerHeight - height - 8)}px`;
  }

  /** `keys`: [[key, what it does]]; `below`: a line in small print. */
  keysDialog(keys, below) {
    const dialog = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys'), h('dl', {}, keys.map(([k, what]) => [h('dt', {}, h('kbd', {}, k)), h('dd', {}, what)])),
      h('p', { style: 'margin-top:16px' }, h('button', { onclick: () => dialog.close(), type: 'button' }, 'Close')),
      h('p', { class: 'quiet', style: 'margin-top:12px;font-size:11px' }, below));
    return dialog;
  }
}
