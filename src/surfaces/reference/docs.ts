// The pages of docs/ as Markdown at /reference/docs, for installations without internet access.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '#foundation/package-folder.ts';

export const docsPath = '/reference/docs';

export interface DocsPage {
  /** Path below `docsPath`: `steer.md`, `decisions/0001-migrations-are-sql.md`. */
  name: string;
  title: string;
  text: string;
}

export function readDocs(): DocsPage[] {
  const folder = path.join(packageFolder, 'docs');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(folder, name), 'utf8');
      return { name: name.split(path.sep).join('/'), title: /^# (.+)$/m.exec(text)![1]!, text };
    });
}

/** A list of links; `base` is the prefix of their URLs. */
export const linksOf = (pages: readonly DocsPage[], base: string): string =>
  pages.map(({ name, title }) => `- [${title}](${base}/${name})\n`).join('');

/** True for every page except decision records, which have a folder in their name and are listed separately. */
export const isTask = ({ name }: DocsPage): boolean => !name.includes('/');

export const docsIndex = (pages: readonly DocsPage[]): string =>
  `# Documentation\n\n${linksOf(pages.filter(isTask), 'docs')}\n## Decisions\n\n${linksOf(
    pages.filter((page) => !isTask(page)),
    'docs',
  )}`;
