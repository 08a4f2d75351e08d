// A small drawing of the whole net with the part of it that is seen; shown when that is not all.

const [WIDTH, HEIGHT] = [150, 90]; // px at most

export class Minimap {
  constructor(view) {
    this.view = view;
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('class', 'minimap');
    this.svg.setAttribute('aria-hidden', 'true'); // the keyboard has its own ways
    this.svg.style.display = 'none';
    view.svg.parentElement?.append(this.svg);
    const go = (e) => {
      const box = this.svg.getBoundingClientRect();
      const [w, h] = view.size();
      const [x, y] = [(e.clientX - box.left) / this.scale, (e.clientY - box.top) / this.scale];
      view.panBy(w / 2 - x * view.zoom - view.at[0], h / 2 - y * view.zoom - view.at[1]);
    };
    this.svg.addEventListener('pointerdown', (e) => { this.svg.setPointerCapture(e.pointerId); go(e); });
    this.svg.addEventListener('pointermove', (e) => { if (e.buttons) go(e); });
  }

  draw(layout) {
    if (!this.svg.parentElement) this.view.svg.parentElement.append(this.svg);
    this.scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
    const parts = layout.nodes.filter((node) => node.kind !== 'frame')
      .map((node) => `<rect class="${node.kind}" x="${node.x}" y="${node.y}" width="${node.w}" height="${node.h}"/>`).join('');
    this.svg.setAttribute('viewBox', `0 0 ${layout.width} ${layout.height}`);
    this.svg.setAttribute('width', layout.width * this.scale);
    this.svg.setAttribute('height', layout.height * this.scale);
    this.svg.innerHTML = `${parts}<rect class="seen"/>`;
  }

  show() {
    const { view } = this;
    if (!view.layout || !this.scale) return;
    const [w, h] = view.size();
    const [x, y] = [-view.at[0] / view.zoom, -view.at[1] / view.zoom];
    const all = x <= 1 && y <= 1 && x + w / view.zoom >= view.layout.width - 1 && y + h / view.zoom >= view.layout.height - 1;
    this.svg.style.display = all ? 'none' : '';
    const seen = this.svg.querySelector('.seen');
    for (const [name, value] of [['x', x], ['y', y], ['width', w / view.zoom], ['height', h / view.zoom]]) seen.setAttribute(name, value);
    seen.setAttribute('stroke-width', 1.5 / this.scale);
  }
}
