// Colors syntax with highlight.js, which loads the definition of a language when a file needs it. The HTML that highlight.js returns is
// split into tokens of each line, so that no markup from file contents enters the page.

import type { LanguageFn } from 'highlight.js';
import hljs from 'highlight.js/lib/core';
import type { FileChange } from './diff-parse.ts';

/** A part of a line. `name` is the scope that highlight.js gave the text, such as `string`; it is empty for plain text. */
export type Token = [text: string, name: string];

type Load = () => Promise<{ default: LanguageFn }>;
const languages: Record<string, Load> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};

/** Languages by file extension, if the extension is not the name of the language. */
const endings: Record<string, string> = {
  ...{ sh: 'bash', zsh: 'bash', h: 'c', cc: 'cpp', cxx: 'cpp', hpp: 'cpp', cs: 'csharp', gql: 'graphql', toml: 'ini' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'javascript', kt: 'kotlin', md: 'markdown' },
  ...{
    py: 'python',
    rb: 'ruby',
    rs: 'rust',
    ts: 'typescript',
    mts: 'typescript',
    cts: 'typescript',
    tsx: 'typescript',
  },
  ...{ html: 'xml', svg: 'xml', vue: 'xml', yml: 'yaml', jsonc: 'json', webmanifest: 'json' },
};

function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (/^(dockerfile|containerfile)/.test(name)) return 'dockerfile';
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const language = endings[ending] ?? ending;
  return language in languages ? language : null;
}

/** Maximum number of characters of a file with syntax colors. */
const maxCharacters = 300_000;

/** Tokens of each line of the file, by the text of the line. */
export type Colors = Map<object, Token[]>;

/** Returns null for a file without a known language, and for a large one. */
export async function colorsOf(file: FileChange): Promise<Colors | null> {
  const language = languageOf(file.path);
  const size = file.hunks.reduce((sum, { lines }) => sum + lines.reduce((all, { text }) => all + text.length, 0), 0);
  if (language === null || size > maxCharacters) return null;
  if (!hljs.getLanguage(language)) hljs.registerLanguage(language, (await languages[language]!()).default);
  const colors: Colors = new Map();
  for (const { lines } of file.hunks) {
    // Each version is highlighted separately, so that a removed line cannot end a string of the new version.
    for (const gone of ['-', '+'] as const) {
      const version = lines.filter(({ kind }) => kind !== gone);
      const html = hljs.highlight(version.map(({ text }) => text).join('\n'), { language, ignoreIllegals: true }).value;
      for (const [i, tokens] of tokensOf(html).entries()) if (version[i]) colors.set(version[i], tokens);
    }
  }
  return colors;
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };

/** highlight.js writes `<span class="…">`, `</span>` and five entities, and nothing else. */
function tokensOf(html: string): Token[][] {
  const lines: Token[][] = [[]];
  const open: string[] = [];
  for (const [, name, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (name !== undefined) open.push(name.replace(/^hljs-/, '').split(' ')[0]!);
    else if (close) open.pop();
    else {
      const plain = text!.replace(/&(amp|lt|gt|quot|#x27);/g, (entity) => entities[entity]!);
      for (const [i, part] of plain.split('\n').entries()) {
        if (i > 0) lines.push([]);
        if (part !== '') lines.at(-1)!.push([part, open.at(-1) ?? '']);
      }
    }
  }
  return lines;
}
