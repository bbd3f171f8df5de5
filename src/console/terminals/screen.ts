// Shows a terminal with xterm.js in an element. When the element has kept a new size for a moment, the screen takes this size, and the page
// sends it to the shell. The runner sends the size of the shell's terminal before the output for this size, and the screen takes that size
// too: a shell draws its prompt for the width of its own terminal, and on a screen of another width the prompt would overwrite other lines.
import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';

export interface Size {
  width: number;
  height: number;
}

/** Time for which the element must have kept its size before the size is reported: a dragged window passes through many sizes. */
const settleMs = 100;
/**
 * Number of a control sequence that contains a size. The runner sends the sequence when the shell's terminal gets this size, before the
 * output for this size.
 */
const sizeSequence = 7790;

/**
 * Returns a document in which xterm.js can create its style elements. The content security policy would refuse real style elements. So the
 * returned document creates another element in place of each, and puts the text of this element into a style sheet, which a script may
 * construct.
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
