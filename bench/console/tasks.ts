// Daily tasks of a team lead, once with the fewest clicks and once with the fewest keys. Typed words are not counted, but the key that
// submits them is.
import type { Page } from 'playwright-core';
import type { Seeded } from './organization.ts';

/** A page on which clicks and keys are counted. */
export interface Hands {
  page: Page;
  click(role: 'button' | 'link' | 'tab', name: string | RegExp): Promise<void>;
  press(...keys: string[]): Promise<void>;
  /** Resolves when an operation is sent. */
  sent(operation: string): Promise<unknown>;
}

export interface Task {
  name: string;
  /** The page on which the task begins. */
  from: string;
  /** Text that the page shows once it is ready. */
  ready: string;
  byMouse(hands: Hands, seeded: Seeded): Promise<void>;
  byKey?(hands: Hands, seeded: Seeded): Promise<void>;
}

const lines = (page: Page) => page.getByRole('region', { name: 'src/part-0/file-0.ts' }).locator('[data-line]');
const typed = (page: Page, text: string) => page.keyboard.insertText(text);
/** Waits until the item is selected. The page selects the first item of the list by itself. */
const isOpen = (page: Page, title: string) => page.getByRole('article', { name: title }).waitFor();

export const tasks: Task[] = [
  {
    name: 'approve a plan',
    from: '/inbox',
    ready: 'Show prices with tax',
    async byMouse({ page, click, sent }) {
      await isOpen(page, 'Show prices with tax');
      await Promise.all([sent('approvePlan'), click('button', /^Approve plan/)]);
    },
    async byKey({ page, press, sent }) {
      await isOpen(page, 'Show prices with tax');
      await Promise.all([sent('approvePlan'), press('a')]);
    },
  },
  {
    name: 'find out why a mission failed',
    from: '/inbox',
    ready: 'Mend the currency test',
    async byMouse({ page, click }) {
      await click('button', /Mend the currency test/);
      await page.locator('mark', { hasText: 'expected 2.50, was 2.49' }).waitFor();
    },
    async byKey({ page, press }) {
      while (!(await page.getByRole('article', { name: 'Mend the currency test' }).count())) await press('j');
      await page.locator('mark', { hasText: 'expected 2.50, was 2.49' }).waitFor();
    },
  },
  {
    name: 'request a change at two lines',
    from: 'changed',
    ready: 'localTime',
    async byMouse({ page, click, sent }) {
      for (const [i, [line, words]] of (
        [
          [1, 'Say why.'],
          [5, 'Which zone?'],
        ] as const
      ).entries()) {
        await lines(page).nth(line).click();
        (page as Counted).clicks++;
        await page
          .getByRole('textbox', { name: /^Comment on/ })
          .nth(i)
          .waitFor();
        await typed(page, words);
      }
      await Promise.all([sent('submitReview'), click('button', 'Request changes (2)')]);
    },
  },
  {
    name: 'merge',
    from: 'changed',
    ready: 'localTime',
    async byMouse({ click, sent }) {
      await click('button', 'Merge pull request #7');
      await Promise.all([sent('mergePullRequest'), click('button', 'Merge pull request #7')]);
    },
    async byKey({ press, sent }) {
      await press('m', 'Tab');
      await Promise.all([sent('mergePullRequest'), press('Enter')]);
    },
  },
  {
    name: 'compare two attempts',
    from: '/inbox',
    ready: 'Halve the start page',
    async byMouse({ page, click }) {
      await click('button', /Halve the start page/);
      await click('link', /^Compare attempts/);
      await page.getByText('Attempt 2').first().waitFor();
    },
  },
  {
    name: 'hand over',
    from: 'big',
    ready: 'Transcript',
    async byMouse({ page, sent, click }) {
      await page.getByText('Hand over', { exact: true }).click();
      (page as Counted).clicks++;
      await Promise.all([sent('handOverRun'), click('button', 'Hand over to Bob')]);
    },
  },
];

export type Counted = Page & { clicks: number; keys: number };
