// The screen of a terminal: xterm.js in an element, with its size. The reported size follows the element at once; the screen changes
// its width only with the output for that size, because a shell redraws its prompt for the width of its device, and on a screen of
// another width the prompt would overwrite other lines.
import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';

export interface Size {
  width: number;
  height: number;
}

/** Time for which the element must have kept its size before the size is reported: a dragged window passes through many sizes. */
const settleMs = 100;
/** Number of the control sequence that the runner sends before the output for a new size of the device. */
const sizeSequence = 7790;

/**
 * The document for xterm.js, whose style elements the content security policy would refuse: their text goes into style sheets that scripts
 * may construct.
 */
function documentOf(page: Document): Document {
  const createElement = (name: string): HTMLElement => {
    if (name !== 'style') return page.createElement(name);
    const element = page.createElement('template');
    const sheet = new CSSStyleSheet();
    page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
    Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
    return element;
  };
  return new Proxy(page, {
    get: (target, name) => {
      if (name === 'createElement') return createElement;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function openScreen(element: HTMLElement, typed: (text: string) => void, resized: (size: Size) => void) {
  const screen = new Terminal({
    documentOverride: documentOf(document),
    fontSize: 14,
    scrollback: 10_000,
    screenReaderMode: true,
  });
  const fit = new FitAddon();
  screen.loadAddon(fit);
  screen.open(element);
  fit.fit();
  screen.onData(typed);
  screen.parser.registerOscHandler(sizeSequence, (text) => {
    const found = /^(\d{1,3})x(\d{1,3})$/.exec(text);
    if (found) screen.resize(Number(found[1]), Number(found[2]));
    return true;
  });
  const size = (): Size => ({ width: screen.cols, height: screen.rows });
  let settling: ReturnType<typeof setTimeout> | undefined;
  const watching = new ResizeObserver(() => {
    clearTimeout(settling);
    settling = setTimeout(() => {
      fit.fit();
      resized(size());
    }, settleMs);
  });
  watching.observe(element);
  screen.focus();
  return {
    size,
    write: (text: string) => screen.write(text),
    note: (text: string) => screen.write(`\r\n\x1b[2m${text}\x1b[0m\r\n`),
    close(): void {
      watching.disconnect();
      clearTimeout(settling);
      screen.dispose();
    },
  };
}
