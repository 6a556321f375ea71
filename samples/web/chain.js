// The chain of filters, as chips: those of the palette are added by a click, by a key or by dragging them into the chain;
// in the chain they are dragged to another place or out of it, or moved with the arrow keys.
const keys = '1234567890qwertyuiop';

export class Chain {
  #palette; #list; #drag = null;
  names = [];
  onChange = () => {};

  constructor(palette, list, filters, names) {
    this.#palette = palette;
    this.#list = list;
    this.filters = filters;
    filters.forEach(({ name, what }, i) => {
      const chip = this.#chip(name, what);
      if (keys[i]) chip.append(Object.assign(document.createElement('kbd'), { textContent: keys[i] }));
      chip.addEventListener('click', () => this.change([...this.names, name]));
      this.#makeDraggable(chip, name, null);
      palette.append(chip);
    });
    addEventListener('keydown', (event) => this.#handleKey(event));
    this.change(names.filter((name) => filters.some((filter) => filter.name == name)), false);
  }

  change(names, tell = true) {
    this.names = names;
    this.#list.replaceChildren(...names.map((name, i) => this.#link(name, i)));
    if (names.length == 0)
      this.#list.append(Object.assign(document.createElement('li'), { className: 'empty', textContent: 'no filter: the source itself' }));
    if (tell) this.onChange(names);
  }

  #chip(name, what) {
    return Object.assign(document.createElement('button'), { type: 'button', className: 'chip', textContent: name, title: what });
  }

  #link(name, i) {
    const link = document.createElement('li');
    const what = this.filters.find((filter) => filter.name == name).what;
    const chip = this.#chip(name, `${what}; arrow keys move it, Delete takes it away`);
    const away = Object.assign(document.createElement('button'), { type: 'button', className: 'away', textContent: '×', ariaLabel: `take ${name} away` });
    away.addEventListener('click', () => this.change(this.names.toSpliced(i, 1)));
    chip.addEventListener('keydown', (event) => {
      const to = { ArrowLeft: i - 1, ArrowRight: i + 1 }[event.key];
      if (event.key == 'Delete' || event.key == 'Backspace') this.change(this.names.toSpliced(i, 1));
      else if (to >= 0 && to < this.names.length) this.change(this.names.toSpliced(i, 1).toSpliced(to, 0, name));
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.#list.querySelectorAll('.chip')[to ?? i]?.focus();
    });
    link.append(chip, away);
    this.#makeDraggable(chip, name, i);
    return link;
  }

  #handleKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input')) return;
    const filter = this.filters[keys.indexOf(event.key)];
    if (filter) this.change([...this.names, filter.name]);
    else if (event.key == 'Backspace') this.change(this.names.slice(0, -1));
    else if (event.key == 'Escape') this.change([]);
  }

  // Where in the chain a point is, or null outside of it.
  #placeAt(x, y) {
    const box = this.#list.getBoundingClientRect(), margin = 24;
    if (x < box.left - margin || x > box.right + margin || y < box.top - margin || y > box.bottom + margin) return null;
    const links = [...this.#list.querySelectorAll('li:not(.empty)')];
    const after = links.findIndex((link) => {
      const place = link.getBoundingClientRect();
      return y < place.bottom && x < place.left + place.width / 2;
    });
    return after < 0 ? links.length : after;
  }

  // With pointer events, for fingers too. `from` is the place in the chain, or null for a chip of the palette.
  #makeDraggable(chip, name, from) {
    chip.addEventListener('pointerdown', (event) => {
      if (event.button != 0) return;
      const begin = { x: event.clientX, y: event.clientY };
      const move = (moved) => {
        if (!this.#drag && Math.hypot(moved.clientX - begin.x, moved.clientY - begin.y) < 8) return;
        if (!this.#drag) {
          this.#drag = Object.assign(chip.cloneNode(true), { className: 'chip dragged' });
          document.body.append(this.#drag);
          this.#list.classList.add('target');
        }
        this.#drag.style.transform = `translate(${moved.clientX}px, ${moved.clientY}px) translate(-50%, -50%)`;
        this.#drag.classList.toggle('leaves', from !== null && this.#placeAt(moved.clientX, moved.clientY) === null);
      };
      const end = (ended) => {
        for (const [type, listener] of Object.entries(listeners)) removeEventListener(type, listener);
        this.#list.classList.remove('target');
        if (!this.#drag) return;
        this.#drag.remove();
        this.#drag = null;
        if (ended.type == 'pointercancel') return;
        addEventListener('click', (click) => click.stopPropagation(), { capture: true, once: true }); // the chip's own
        setTimeout(() => document.body.click()); // where no click follows, this one is stopped
        const to = this.#placeAt(ended.clientX, ended.clientY);
        const rest = from === null ? this.names : this.names.toSpliced(from, 1);
        if (to === null) { if (from !== null) this.change(rest); }
        else this.change(rest.toSpliced(from !== null && from < to ? to - 1 : to, 0, name));
      };
      const listeners = { pointermove: move, pointerup: end, pointercancel: end };
      for (const [type, listener] of Object.entries(listeners)) addEventListener(type, listener);
    });
  }
}
