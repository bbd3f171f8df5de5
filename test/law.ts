// The law of imports (house.md, section 2) as functions: each reads a tree and gives a sentence for every breach in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Path → text. Paths are relative to the project: `src/domain/projects/model.ts`. */
export type Tree = Readonly<Record<string, string>>;
export type Rule = (tree: Tree) => string[];

/** The TypeScript files of those folders that are there. */
export function readTree(root: string, folders: readonly string[]): Tree {
  const names = folders
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.posix.join(folder, name),
      ),
    )
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(root, name), 'utf8')]));
}

/** What runs in people's browsers, not in the house: it has a law of its own. */
const dashboard = 'src/surfaces/console/dashboard/';
const isDashboard = (file: string): boolean => file.startsWith(dashboard);
/** Made by a script, as long as it comes out. */
const isMade = (file: string): boolean => file === `${dashboard}documents.ts`;

/** A program of its own, which the service starts as a child process. */
const isRunner = (file: string): boolean => file.startsWith('src/runner/');

const sourceFiles = (tree: Tree) =>
  Object.entries(tree).filter(([file]) => file.startsWith('src/') && !isDashboard(file) && !isRunner(file));

/** Every module that a file names, as it is written. */
function named(text: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'/gm,
    /^import\s+'([^']+)'/gm,
    /\bimport\('([^']+)'\)/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
}

/** The file of ours behind a written name; null for what comes from outside. */
function resolved(file: string, name: string): string | null {
  if (name.startsWith('#')) return `src/${name.slice(1)}`;
  if (name.startsWith('.')) return path.posix.join(path.posix.dirname(file), name);
  return null;
}

const importsOf = (file: string, text: string): string[] => named(text).flatMap((name) => resolved(file, name) ?? []);

/** `domain` for src/domain/projects/model.ts, `app.ts` for src/app.ts. */
const roomOf = (file: string): string => file.split('/')[1]!;

// From left to right: a room imports from rooms to its left.
const order = ['foundation', 'access', 'graph', 'domain', 'schema.ts', 'surfaces', 'app.ts', 'main.ts'];
// The other doors stand beside the main one: services.ts binds the foundation for both of them.
const beside: Record<string, string> = { 'services.ts': 'app.ts', 'admin.ts': 'main.ts' };
const placeOf = (room: string): number => order.indexOf(beside[room] ?? room);

export const roomsLookLeft: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    importsOf(file, text).flatMap((target) => {
      const [room, other] = [roomOf(file), roomOf(target)];
      if (room === 'limits.ts') {
        return target === 'src/foundation/clock.ts'
          ? []
          : [`${file} imports ${target}: limits are numbers, and know only their units.`];
      }
      if (other === 'limits.ts') return [];
      if (room === 'config.ts') {
        return other === 'foundation'
          ? []
          : [`${file} imports ${target}: the configuration stands on the foundation alone.`];
      }
      if (other === 'config.ts') {
        if (['main.ts', 'admin.ts', 'services.ts'].includes(room)) return [];
        return [`${file} imports ${target}: the configuration is read at the door and handed down.`];
      }
      if (placeOf(room) < 0) return [`${file} is in no room that the house knows: ${order.join(', ')}.`];
      if (placeOf(other) < 0) return [`${file} imports ${target}, which is in no room that the house knows.`];
      if (room === other || placeOf(other) < placeOf(room)) return [];
      return [`${file} reaches up to ${target}: ${room} does not know ${other}.`];
    }),
  );

/**
 * A browser has no house around it: what is imported is sent to it, and what it knows of the house it knows from the schema. So
 * the dashboard stays in its folder and takes along what it was built for; and clock and fetch are the browser's own there.
 */
export const theDashboardStandsAlone: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) => {
    if (!isDashboard(file)) {
      const reach = importsOf(file, text).filter(isDashboard);
      return reach.map((target) => `${file} imports ${target}: what runs in the browser does not run here.`);
    }
    return named(text).flatMap((name) => {
      const target = resolved(file, name);
      if (target ? isDashboard(target) : /^(preact|uplot)(\/|$)/.test(name)) return [];
      return [`${file} imports ${name}: the dashboard knows the house by its schema alone.`];
    });
  });

/** The runner executes what missions say: it shares no module with the service, and knows the platform by its public API. */
export const theRunnerStandsAlone: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) => {
    if (!isRunner(file)) {
      const reach = file.startsWith('src/') ? importsOf(file, text).filter(isRunner) : [];
      return reach.map((target) => `${file} imports ${target}: the runner is another program, started by its path.`);
    }
    return named(text).flatMap((name) => {
      const target = resolved(file, name);
      if (target ? isRunner(target) : name.startsWith('node:')) return [];
      return [`${file} imports ${name}: the runner imports Node's own modules and its own files alone.`];
    });
  });

const beatOf = (file: string) => {
  const [, , noun, ...rest] = file.split('/');
  return { noun: noun!, beat: rest.join('/') };
};
/** The files of a noun that speak GraphQL; `live.ts`: its subscriptions, where they are too much for its schema.ts. */
const shows = (beat: string): boolean => beat === 'schema.ts' || beat === 'fields.ts' || beat === 'live.ts';
const domainFiles = (tree: Tree) => sourceFiles(tree).filter(([file]) => roomOf(file) === 'domain');

export const beatsKeepTime: Rule = (tree) =>
  domainFiles(tree).flatMap(([file, text]) => {
    const { noun, beat } = beatOf(file);
    const breaches = named(text).flatMap((name) => {
      if (shows(beat))
        return name === '#foundation/database.ts' ? [`${file} reaches for the database: a schema holds no SQL.`] : [];
      if (!/^(graphql|@pothos\/.*|dataloader|#graph\/.*)$/.test(name)) return [];
      return [`${file} imports ${name}: a noun does not know how it is shown; only its schema.ts does.`];
    });
    for (const target of importsOf(file, text).filter((target) => roomOf(target) === 'domain')) {
      const other = beatOf(target);
      if (!shows(beat) && shows(other.beat))
        breaches.push(`${file} imports ${target}: a schema is imported by schemas alone.`);
      if (beat === 'model.ts' && other.beat === 'operations.ts') {
        breaches.push(`${file} imports ${target}: a record does not know what is done with it.`);
      }
      if (other.noun === noun) continue;
      if (beat === 'model.ts' && other.beat !== 'model.ts') {
        breaches.push(`${file} imports ${target}: a model knows of another noun its model alone.`);
      }
      if (shows(beat) && (other.beat === 'model.ts' || other.beat === 'operations.ts')) {
        breaches.push(`${file} imports ${target}: a schema knows of another noun its schema alone.`);
      }
    }
    return breaches;
  });

export const schemasStayInside: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    importsOf(file, text)
      .filter((target) => /^src\/domain\/.*\/(schema|fields|live)\.ts$/.test(target))
      .filter(() => roomOf(file) !== 'domain' && file !== 'src/schema.ts')
      .map((target) => `${file} imports ${target}: outside of the domain only src/schema.ts does that.`),
  );

export const schemasAreAnnounced: Rule = (tree) => {
  const announced = new Set(importsOf('src/schema.ts', tree['src/schema.ts'] ?? ''));
  return Object.keys(tree)
    .filter((file) => /^src\/domain\/[^/]+\/(schema|live)\.ts$/.test(file) && !announced.has(file))
    .map((file) => `${file} is not imported in src/schema.ts: nobody will ever see this noun.`);
};

/** What every surface may use: who is asking. */
const shared = ['src/surfaces/bearer.ts', 'src/surfaces/cookie.ts'];
/** Surfaces whose protocol is not the graph: they call operations themselves. */
const ownProtocol = ['artifacts', 'oauth', 'agent-identity', 'console', 'operator', 'scheduler'];

export const surfacesStandAlone: Rule = (tree) =>
  sourceFiles(tree)
    .filter(([file]) => roomOf(file) === 'surfaces')
    .flatMap(([file, text]) => {
      const surface = file.split('/')[2]!;
      return importsOf(file, text).flatMap((target) => {
        if (roomOf(target) === 'surfaces' && target.split('/')[2] !== surface && !shared.includes(target)) {
          return [`${file} imports ${target}: surfaces do not lean on each other.`];
        }
        if (roomOf(target) === 'domain' && !shared.includes(file) && !ownProtocol.includes(surface)) {
          return [`${file} imports ${target}: ${surface} speaks through the graph, not past it.`];
        }
        return [];
      });
    });

export const passportsAreInOrder: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) => {
    const breaches: string[] = [];
    if (/^export\b[^;'"]*?\bfrom\s+'/m.test(text))
      breaches.push(`${file} exports what it did not make: import it where it lives.`);
    if (/^export default\b/m.test(text)) breaches.push(`${file} has a default export: give it a name.`);
    const room = roomOf(file);
    for (const name of named(text)) {
      const target = resolved(file, name);
      if (!target) continue;
      if (!name.endsWith('.ts')) breaches.push(`${file} imports '${name}': write the file's whole name.`);
      if (!file.includes('/', 4)) continue; // the files at the top stand before all doors
      if (name.startsWith('#') && roomOf(target) === room)
        breaches.push(`${file} imports '${name}': inside a room write './' or '../'.`);
      if (name.startsWith('.') && roomOf(target) !== room) {
        breaches.push(`${file} imports '${name}': across rooms write '#room/…', so that the direction can be seen.`);
      }
    }
    return breaches;
  });

const uncommented = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

export const worldIsTouchedOnce: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, whole]) => {
    const text = uncommented(whole);
    const breaches: string[] = [];
    const environment = text.replaceAll('readConfig(process.env)', '');
    if (file !== 'src/config.ts' && environment.includes('process.env')) {
      breaches.push(`${file} reads process.env: settings come from config.ts.`);
    }
    if (file !== 'src/foundation/clock.ts' && /\bDate\.now\b|\bnew Date\(\)/.test(text)) {
      breaches.push(`${file} reads the clock of the machine: ask now() of foundation/clock.ts, which tests can turn.`);
    }
    if (
      file !== 'src/foundation/outbound.ts' &&
      (/(?<![\w.])(?:globalThis\.)?fetch\(/.test(text) || reachesOut(text))
    ) {
      breaches.push(
        `${file} calls out: foreign addresses are fetched by foundation/outbound.ts, which knows the dangers.`,
      );
    }
    return breaches;
  });

const reachesOut = (text: string): boolean =>
  named(text).some((name) => name === 'undici' || name === 'node:https') ||
  /import \{[^}]*\b(?:request|get)\b[^}]*\} from 'node:http'/.test(text);

export const recordsAreWrittenAtHome: Rule = (tree) => {
  const homes = new Map(
    domainFiles(tree).flatMap(([file, text]) =>
      [...text.matchAll(/\bclass (\w+) extends\b/g)].map((match) => [match[1]!, beatOf(file).noun] as const),
    ),
  );
  return sourceFiles(tree).flatMap(([file, text]) =>
    [...uncommented(text).matchAll(/\b([A-Z]\w*)\.query\((\w*)/g)].flatMap(([, record, transaction]) => {
      const home = homes.get(record!);
      if (!home) return [];
      const { noun, beat } = roomOf(file) === 'domain' ? beatOf(file) : { noun: null, beat: '' };
      if (noun === null || shows(beat)) return [`${file} queries ${record} itself: that is for the verbs of ${home}.`];
      // Within its own transaction a verb may take a neighbour's row along; alone it asks the neighbour's verbs.
      return noun === home || transaction
        ? []
        : [`${file} queries ${record} outside of a transaction: ask the verbs of ${home}.`];
    }),
  );
};

const everyColumn =
  /\bselect\s+(?:distinct\s+(?:on\s*\([^)]*\)\s*)?)?\*|\b[a-z]\w*\.\*(?=[\s,`'"]|$)|\breturning\s+\*|\.(?:returning|select)\(\s*['"`](?:\w+\.)?\*/gim;

/** A table gets a column while the service runs: what a statement returns must not change with it. */
export const columnsAreNamed: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    [...uncommented(text).matchAll(everyColumn)].map(
      ([found]) => `${file} has "${found}": name the columns, a later release adds some while this one runs.`,
    ),
  );

/** Every circle of a graph once, named from its first member in the alphabet. */
function circles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (at: string, trail: string[]) => {
    const seen = trail.indexOf(at);
    if (seen >= 0) {
      const circle = trail.slice(seen);
      const first = circle.indexOf([...circle].sort()[0]!);
      found.add([...circle.slice(first), ...circle.slice(0, first + 1)].join(' → '));
    }
    if (seen >= 0 || done.has(at)) return;
    for (const next of edges.get(at) ?? []) visit(next, [...trail, at]);
    done.add(at);
  };
  for (const start of edges.keys()) visit(start, []);
  return [...found];
}

/** What is written against the public surfaces shows that they suffice. */
export const examplesStandOutside: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) =>
    named(text).flatMap((name) => {
      const target = resolved(file, name);
      if (file.startsWith('examples/') && target?.startsWith('src/'))
        return [`${file} imports ${name}: an example knows the public surfaces alone.`];
      if (file.startsWith('src/') && target?.startsWith('examples/'))
        return [`${file} imports ${target}: the service does not depend on an example.`];
      return [];
    }),
  );

export const nothingGoesInCircles: Rule = (tree) => {
  const files = new Map(sourceFiles(tree).map(([file, text]) => [file, importsOf(file, text)]));
  return circles(files).map((circle) => `${circle}: a circle. One of them is two ideas.`);
};

/** Child knows parent, never the reverse: in models, and in schemas. */
export const childrenKnowParents: Rule = (tree) =>
  ['model.ts', 'schema.ts'].flatMap((beat) => {
    const nouns = new Map<string, string[]>();
    for (const [file, text] of domainFiles(tree).filter(([file]) => beatOf(file).beat === beat)) {
      const { noun } = beatOf(file);
      const parents = importsOf(file, text)
        .filter((target) => roomOf(target) === 'domain')
        .map((target) => beatOf(target).noun);
      nouns.set(
        noun,
        parents.filter((parent) => parent !== noun),
      );
    }
    return circles(nouns).map(
      (circle) => `${circle}: by their ${beat} these nouns are each other's parents. The child announces itself.`,
    );
  });

const emptyWords = /^(utils?|helpers?|common|misc|index|manager|service|types|constants)$/;

export const namesSaySomething: Rule = (tree) =>
  Object.keys(tree).flatMap((file) =>
    file
      .split('/')
      .map((part) => part.replace(/(\.test)?\.tsx?$/, ''))
      .filter((word) => emptyWords.test(word))
      .map((word) => `${file}: "${word}" says nothing about what is in there.`),
  );

export const filesIntroduceThemselves: Rule = (tree) =>
  Object.entries(tree)
    .filter(([, text]) => !/^(#!.*\n)?\/\/ \S/.test(text))
    .map(([file]) => `${file} does not open with a comment: say what lives here, and under which law.`);

/** Files of one idea that is longer than a page, with the reason. */
const longOnes: Record<string, string> = {
  'src/limits.ts': 'a list that is looked things up in: every limit stands once, and here',
};
const page = 250;

export const filesFitOnAPage: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => file.startsWith('src/') && !isMade(file))
    .map(([file, text]) => [file, text.trimEnd().split('\n').length] as const)
    .filter(([file, lines]) => lines > page && !longOnes[file])
    .map(([file, lines]) => `${file} has ${lines} lines: beyond ${page} a file is asked whether it holds two ideas.`);
