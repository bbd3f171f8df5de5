// Pages of the console.
import { openBrowser } from '../browser.ts';
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, serviceUrl, UserError } from '../session.ts';

/** By the prefix of an id. */
const pages: Record<string, string> = {
  run: 'runs',
  prj: 'projects',
  sch: 'tasks',
  aut: 'automations',
  sbx: 'sandboxes',
  agn: 'agents',
  iss: 'issues',
};

export const pageOf = (url: string, id: string): string => {
  const page = pages[id.split('_', 1)[0]!];
  if (!page)
    throw new UserError(`${id} has no page of its own. Ids with one begin with ${Object.keys(pages).join(', ')}.`);
  return `${url}/console/${page}/${encodeURIComponent(id)}`;
};

export async function open(options: CommonOptions & { browser: boolean }, id?: string): Promise<void> {
  const url = await serviceUrl(options.url);
  const page = id ? pageOf(url, id) : `${url}/console`;
  if (options.json) return printJson({ url: page });
  printLine(page);
  if (options.browser && process.stdout.isTTY) openBrowser(page);
}
