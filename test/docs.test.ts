// Documents of this repository: links and citations have targets, and the README stays short.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from './support/processes.ts';

const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8');

const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(path.join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name))
    .filter((name) => ending.test(name) && !name.includes('node_modules/') && !name.includes('/dist/'));

const documents = [
  ...filesOf('docs', /\.md$/),
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...['src', 'bench', 'clients', 'deploy', 'examples'].flatMap((folder) => filesOf(folder, /\.md$/)),
];
const sources = ['src', 'test', 'scripts', 'bench', 'examples', 'clients', 'migrations', 'deploy'].flatMap((folder) =>
  filesOf(folder, /\.(ts|tsx|mjs|sh|sql|css|json)$/),
);

/** Anchors of the headings, as GitHub creates them. */
function anchorsOf(file: string): Set<string> {
  const prose = read(file).replace(/^```[\s\S]*?^```/gm, '');
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function isThere(target: string): boolean {
  const [file, anchor] = target.split('#') as [string, string?];
  return existsSync(path.join(projectFolder, file)) && (anchor === undefined || anchorsOf(file).has(anchor));
}

test('every link of a document leads to a file and a heading', () => {
  const dead = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !isThere(link.startsWith('#') ? file + link : path.posix.join(path.dirname(file), link)))
      .map((link) => `${file}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test('every citation of docs/ in the code leads to a file and a heading', () => {
  const dead = sources.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/.-]+\.md(?:#[\w-]+)?/g)]
      .map(([target]) => target)
      .filter((target) => !isThere(target))
      .map((target) => `${file}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('every section sign follows the name of a public specification', () => {
  const bare = /(?<!(?:\b[A-Z\d][\w.]*,?|\band) )§/;
  const cited = [...sources, ...documents].filter((file) => file !== 'test/docs.test.ts');
  const textOf = (file: string) => read(file).replace(/\n\s*(?:\/\/|\*) /g, ' ');
  expect(cited.filter((file) => bare.test(textOf(file)))).toEqual([]);
});

test('no page has a line that sets the variable TOKEN, and console URLs contain the organization', () => {
  const other = /^TOKEN=.*|localhost:4000\/console\/(?!o\/)[\w/-]+/gm;
  const others = documents.flatMap((file) => (read(file).match(other) ?? []).map((found) => `${file}: ${found}`));
  expect(others).toEqual([]);
});

test('the code cites only docs/, RFCs and public specifications', () => {
  const foreign =
    /\b(?:specification, [A-Z]|design decisions|agent authentication §|(?:gaps|findings|house|review)\.md)/;
  expect(sources.filter((file) => file !== 'test/docs.test.ts' && foreign.test(read(file)))).toEqual([]);
});

test('the README has at most 10 KB, and contains the exact commands that start and test the service', () => {
  const readme = read('README.md');
  expect(Buffer.byteLength(readme)).toBeLessThan(10 * 1024);
  expect(readme).toContain('\nnpm ci && npm start\n');
  expect(readme).toContain('\nnpm ci && npm test\n');
});
