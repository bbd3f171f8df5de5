// Opens the pages of a world in a browser and inspects each in light colors on a desktop and in dark colors on a phone. It records all
// problems: failed requests, requests to other machines, and serious findings of axe (WCAG 2.2). SCREENSHOTS=<folder> saves a picture of
// each inspected page.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Session } from './world.ts';

/** axe without the rules whose findings are never serious: a run takes a quarter less CPU time. */
const axe = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')};
  for (const rule of axe._audit.rules) if (rule.impact === 'minor' || rule.impact === 'moderate') rule.enabled = false`;
/**
 * A script that every document of a window contains. It lets the document load axe without axe's source being sent again. While a document
 * does not call `loadAxe`, the script costs hardly anything.
 */
const loader = `self.loadAxe = () => { ${axe} }`;
const pictures = process.env.SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

const looks = [
  { look: 'light', colorScheme: 'light', width: 1280, height: 720 },
  // The pages have the same elements here as above, and only their colors and sizes differ. Axe therefore runs only the rules that colors
  // and sizes can affect.
  {
    look: 'dark phone',
    colorScheme: 'dark',
    width: 360,
    height: 740,
    runOnly: ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-name'],
  },
] as const;

interface Found {
  violations: { id: string; impact: string; nodes: { target: string[] }[] }[];
  isTooWide: boolean;
}

export type PageInspector = ReturnType<typeof createPageInspector>;

/**
 * The window of the newest inspector, while no test uses the window. The next inspector opens its page there, because a new process would
 * compile all scripts again.
 */
let idle: Page | null = null;

export function createPageInspector(browser: Browser, baseURL: string) {
  const pages: Page[] = [];
  const problems: string[] = [];
  /** The window that tests use one after the other; null while there is none. */
  let shared: Page | null = null;
  void idle?.context().close();
  idle = null;

  /**
   * A browser window without cookies and stored data, signed in if `session` is set. Tests share one window and use it one after the other.
   * A test that changes its window permanently, for example by adding a script to all documents or by replacing the clock, gets a window of
   * its own by passing `options`, which may be empty.
   */
  async function open(session: Session | null = null, options?: BrowserContextOptions): Promise<Page> {
    const page = !options && idle && idle === shared ? idle : await openWindow(options);
    if (page === idle) idle = null;
    if (!options && !shared) shared = withoutChangesForGood(page);
    pages.push(page);
    if (session) await page.context().addCookies([{ name: 'session', value: session.secret, url: baseURL }]);
    return page;
  }

  async function openWindow(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(100_000);
    await context.addInitScript(loader);
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(`${message.page()?.url()}: ${message.text()}`);
    });
    context.on('weberror', (error) => problems.push(String(error.error())));
    context.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText;
      // Requests are aborted when the page is left while they are pending, and when their response becomes a download.
      if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
    });
    context.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (!/^(data|blob):$/.test(protocol) && !/^(127\.0\.0\.1|localhost)$/.test(hostname))
        problems.push(`asked ${request.url()}`);
    });
    return context.newPage();
  }

  /** Leaves the page, and removes what its test has left in the window. */
  async function empty(page: Page): Promise<void> {
    const context = page.context();
    page.removeAllListeners();
    // The browser leaves the page first. Otherwise the page could send requests after its session cookie is deleted, and an offline page
    // would send requests when it is online again. These requests would fail.
    await page.goto('about:blank');
    await Promise.all([
      ...context.pages().map((one) => one !== page && one.close()),
      page.unrouteAll({ behavior: 'ignoreErrors' }),
      context.unrouteAll({ behavior: 'ignoreErrors' }),
      context.setOffline(false),
      context.clearCookies(),
      context.clearPermissions(),
      page.emulateMedia({ colorScheme: 'light', media: null }),
      page.setViewportSize({ width: 1280, height: 720 }),
    ]);
    // A small document of the same origin.
    await page.goto('/livez');
    await page.evaluate('sessionStorage.clear(); localStorage.clear()');
  }

  /** Inspects the page in each color scheme and size. Records serious accessibility problems, and content that is wider than the screen. */
  async function inspect(page: Page, name: string): Promise<void> {
    const before = page.viewportSize();
    await loadAxe(page);
    for (const { look, colorScheme, width, height, ...asked } of looks) {
      const size = page.viewportSize();
      if (size?.width !== width || size.height !== height) await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      // Axe does not preload anything: the page's Content-Security-Policy would refuse the requests, and there is nothing to preload.
      const options = { ...asked, preload: false, resultTypes: ['violations'] };
      const { violations, isTooWide } = await page.evaluate<Found>(
        `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => (
          { violations, isTooWide: document.documentElement.scrollWidth > innerWidth }))`,
      );
      for (const { id, impact, nodes } of violations) {
        if (impact !== 'serious' && impact !== 'critical') continue;
        problems.push(`${name}, ${look}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
      }
      if (isTooWide) problems.push(`${name}, ${look}: is wider than the screen`);
      if (pictures)
        await page.screenshot({ path: path.join(pictures, `${name}-${look.replace(' ', '-')}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: 'light' });
    if (before) await page.setViewportSize(before);
  }

  return {
    open,
    inspect,
    /** Problems since the last call. */
    takeProblems: (): string[] => problems.splice(0),
    /** Closes all windows but the one that tests share, which becomes empty. */
    close: async (): Promise<void> => {
      await Promise.all(
        pages.splice(0).map(async (page) => {
          if (page === shared && page.isClosed()) shared = null;
          if (page !== shared) return page.context().close();
          await empty(page);
          idle = page;
        }),
      );
    },
  };
}

/** Makes some functions of the page throw an error: the functions whose changes to the window cannot be undone when a test ends. */
function withoutChangesForGood(page: Page): Page {
  const refuse = (): never => {
    throw new Error('The window is shared by tests: open(session, {}) opens one that may be changed like this.');
  };
  page.addInitScript = page.exposeFunction = page.clock.install = refuse;
  return page;
}

/**
 * Loads axe once per document, with the function `loadAxe` of the document. If scripts are disabled, the document does not have this
 * function. Then a debugging session sends axe's source, which takes half the time of sending the source with Playwright's `evaluate`.
 */
async function loadAxe(page: Page): Promise<void> {
  const isLoaded = "typeof axe === 'object'";
  if (await page.evaluate(`${isLoaded} || (self.loadAxe?.(), ${isLoaded})`)) return;
  // The debugging session ends with the page: ending it earlier would remove the page's virtual authenticators.
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Runtime.evaluate', { expression: axe });
}
