// The layering rules as functions: each reads a source tree and returns one sentence per violation.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Texts of files by path. Paths are relative to the project: `src/domain/projects/projects/model.ts`. */
export type Tree = Readonly<Record<string, string>>;
export type Rule = (tree: Tree) => string[];

/** The TypeScript files of the folders; a folder that does not exist has none. */
export function readTree(root: string, folders: readonly string[]): Tree {
  const names = folders
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.posix.join(folder, name),
      ),
    )
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\/dist\//.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(root, name), 'utf8')]));
}

/** Code that runs in the browser; it has rules of its own. */
const consoleFolder = 'src/console/';
const isConsole = (file: string): boolean => file.startsWith(consoleFolder);
/** Whether a script generates the file. */
const isGenerated = (file: string): boolean =>
  file === `${consoleFolder}generated/documents.ts` ||
  /^(src\/runner\/generated\/|clients\/typescript\/src\/api\.ts$)/.test(file);

/** A separate program that the service starts as a child process. */
const runner = 'src/runner/';
const isRunner = (file: string): boolean => file.startsWith(runner);
const runnerFiles = (tree: Tree) => Object.entries(tree).filter(([file]) => isRunner(file));

const sourceFiles = (tree: Tree) =>
  Object.entries(tree).filter(([file]) => file.startsWith('src/') && !isConsole(file) && !isRunner(file));

/** Every module specifier of a file. */
function specifiersOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'/gm,
    /^import\s+'([^']+)'/gm,
    /\bimport\('([^']+)'\)/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
}

/** The file of this repository that an import specifier names; null if the specifier names an npm package or a module of Node.js. */
function resolve(file: string, name: string): string | null {
  if (name.startsWith('#')) return `src/${name.slice(1)}`;
  if (name.startsWith('.')) return path.posix.join(path.posix.dirname(file), name);
  return null;
}

const importsOf = (file: string, text: string): string[] =>
  specifiersOf(text).flatMap((name) => resolve(file, name) ?? []);

/** The layer of a file: `domain` for src/domain/projects/projects/model.ts, `app.ts` for src/app.ts. */
const layerOf = (file: string): string => file.split('/')[1]!;

// Layers, lowest first: each imports from the layers before it.
const order = ['foundation', 'access', 'graph', 'domain', 'schema.ts', 'demo', 'surfaces', 'app.ts', 'main.ts'];
// Each of these files has the same rank as another file. For example, services.ts has the rank of app.ts, so the entry points main.ts and
// admin.ts may import services.ts, and services.ts may import each layer that app.ts may import.
const rankAs: Record<string, string> = { 'services.ts': 'app.ts', 'admin.ts': 'main.ts', 'opened-file.ts': 'app.ts' };
const rankOf = (layer: string): number => order.indexOf(rankAs[layer] ?? layer);

export const layersImportDownwards: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    importsOf(file, text).flatMap((target) => {
      const [layer, other] = [layerOf(file), layerOf(target)];
      if (layer === 'limits.ts') {
        return target === 'src/foundation/clock.ts'
          ? []
          : [`${file} imports ${target}: limits.ts imports nothing but the units of clock.ts.`];
      }
      if (other === 'limits.ts') return [];
      if (layer === 'config.ts') {
        return other === 'foundation' ? [] : [`${file} imports ${target}: config.ts imports the foundation only.`];
      }
      if (other === 'config.ts') {
        if (['main.ts', 'admin.ts', 'services.ts'].includes(layer)) return [];
        return [`${file} imports ${target}: only an entry point reads the configuration; it is passed down.`];
      }
      if (rankOf(layer) < 0) return [`${file} is in no known layer: ${order.join(', ')}.`];
      if (rankOf(other) < 0) return [`${file} imports ${target}, which is in no known layer.`];
      if (layer === other || rankOf(other) < rankOf(layer)) return [];
      return [`${file} imports ${target}: ${layer} must not depend on ${other}.`];
    }),
  );

/** Modules that import nothing, so that both the server and the browser can load them. */
const sharedWithTheConsole = ['pages.ts', 'icons.ts', 'device.ts', 'models.ts'].map(
  (file) => `src/surfaces/console/${file}`,
);

/**
 * Browsers load every module that the console imports. The console therefore imports only its own files and its framework, and uses the
 * public schema for everything else.
 */
export const theConsoleUsesTheSchemaOnly: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) => {
    // Tests and the bench may import files of the console: tests run the parts that need no browser, and the bench sends the requests of
    // the console's pages.
    if (/^(test|bench)\//.test(file)) return [];
    if (!isConsole(file)) {
      const reach = importsOf(file, text).filter(isConsole);
      return reach.map((target) => `${file} imports ${target}: server code must not import browser code.`);
    }
    return specifiersOf(text).flatMap((name) => {
      const target = resolve(file, name);
      if (
        target
          ? isConsole(target) || sharedWithTheConsole.includes(target)
          : /^(preact|preact-iso|uplot|marked|diff|highlight\.js|@xterm\/(xterm|addon-fit))(\/|$)/.test(name)
      )
        return [];
      return [`${file} imports ${name}: the console uses the public schema, its own files and its framework only.`];
    });
  });

const clients = 'clients/';
/** Exports of the typed client. */
const typedClient = `${clients}typescript/src/exports.ts`;

/**
 * Each client is a separate package, which shares no module with the service. The typed client also imports no other package, so it needs
 * nothing but the JavaScript runtime.
 */
export const theClientsArePackagesOfTheirOwn: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) => {
    const own = file.startsWith(clients) && file.split('/').slice(0, 2).join('/');
    return specifiersOf(text).flatMap((name) => {
      const target = resolve(file, name);
      if (!own) {
        const reachesInside = target?.startsWith(clients) && target !== typedClient && !file.startsWith('test/');
        return reachesInside ? [`${file} imports ${target}: of the clients import ${typedClient} only.`] : [];
      }
      if (own === `${clients}typescript`)
        return target?.startsWith(`${own}/`) ? [] : [`${file} imports ${name}: the typed client has no dependency.`];
      if (!target || target.startsWith(`${own}/`) || target === typedClient) return [];
      return [`${file} imports ${name}: a client imports its own files, ${typedClient} and packages.`];
    });
  });

/** The runner executes missions: it shares no module with the service and uses its public API. */
export const theRunnerIsAProgramOfItsOwn: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) => {
    if (!isRunner(file)) {
      const reach = file.startsWith('src/') ? importsOf(file, text).filter(isRunner) : [];
      return reach.map((target) => `${file} imports ${target}: the runner is a separate program, started by path.`);
    }
    return specifiersOf(text).flatMap((name) => {
      const target = resolve(file, name);
      if (target ? isRunner(target) : name.startsWith('node:')) return [];
      return [`${file} imports ${name}: the runner imports Node's modules and its own files only.`];
    });
  });

// Parts of the runner, lowest first: each imports from itself and the parts before it. Other files at the top, such as runner.ts, import
// all of them.
const runnerParts = [
  ...['generated', 'contract.ts', 'text.ts', 'settings.ts', 'network', 'isolation', 'harness', 'protocol', 'workspace'],
  'kubernetes',
];
const partOf = (file: string): string => file.slice(runner.length).split('/')[0]!;
const partRankOf = (file: string): number =>
  runnerParts.includes(partOf(file)) ? runnerParts.indexOf(partOf(file)) : runnerParts.length;

export const theRunnerImportsDownwards: Rule = (tree) =>
  runnerFiles(tree).flatMap(([file, text]) => {
    if (partRankOf(file) === runnerParts.length && file.slice(runner.length).includes('/'))
      return [`${file} is in no known folder of the runner: ${runnerParts.join(', ')}.`];
    return importsOf(file, text)
      .filter((target) => isRunner(target) && partRankOf(target) > partRankOf(file))
      .map((target) => `${file} imports ${target}: ${partOf(file)} must not depend on ${partOf(target)}.`);
  });

/** The areas of the domain (folders of `src/domain`), lowest first. No area may import from an area that follows it in this list. */
const areas = ['organization', 'money', 'projects', 'identity', 'work', 'execution', 'lifecycle'];
const roleOf = (file: string) => {
  const [, , area, noun, ...rest] = file.split('/');
  return { area: area!, noun: noun!, role: rest.join('/') };
};
/**
 * Whether a file in the folder of a noun declares GraphQL: the file is `schema.ts`, or one of several files `schema-<part>.ts` if one file
 * would be too long.
 */
const declaresGraph = (role: string): boolean => /^schema(-\w+)*\.ts$/.test(role);
const domainFiles = (tree: Tree) => sourceFiles(tree).filter(([file]) => layerOf(file) === 'domain');

export const nounFilesKeepTheirRoles: Rule = (tree) =>
  domainFiles(tree).flatMap(([file, text]) => {
    const { noun, role } = roleOf(file);
    const breaches = specifiersOf(text).flatMap((name) => {
      if (declaresGraph(role))
        return name === '#foundation/database.ts' ? [`${file} imports the database: a schema contains no SQL.`] : [];
      if (!/^(graphql|@pothos\/.*|dataloader|#graph\/.*)$/.test(name)) return [];
      return [`${file} imports ${name}: of a noun only schema.ts and schema-<part>.ts declare GraphQL.`];
    });
    for (const target of importsOf(file, text).filter((target) => layerOf(target) === 'domain')) {
      const other = roleOf(target);
      if (!declaresGraph(role) && declaresGraph(other.role))
        breaches.push(`${file} imports ${target}: only schemas import a schema.`);
      if (role === 'model.ts' && other.role === 'operations.ts') {
        breaches.push(`${file} imports ${target}: a model must not import operations.`);
      }
      if (other.noun === noun) continue;
      if (role === 'model.ts' && other.role !== 'model.ts') {
        breaches.push(`${file} imports ${target}: a model imports of another noun its model only.`);
      }
      if (declaresGraph(role) && (other.role === 'model.ts' || other.role === 'operations.ts')) {
        breaches.push(`${file} imports ${target}: a schema imports of another noun its schema only.`);
      }
    }
    return breaches;
  });

export const schemasAreImportedBySchemas: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    importsOf(file, text)
      .filter((target) => /^src\/domain\/.*\/schema(-\w+)*\.ts$/.test(target))
      .filter(() => layerOf(file) !== 'domain' && file !== 'src/schema.ts')
      .map((target) => `${file} imports ${target}: outside the domain only src/schema.ts imports schemas.`),
  );

export const schemasAreRegistered: Rule = (tree) => {
  const announced = new Set(importsOf('src/schema.ts', tree['src/schema.ts'] ?? ''));
  const parts = new Set(domainFiles(tree).flatMap(([file, text]) => importsOf(file, text)));
  return domainFiles(tree)
    .filter(([file]) => declaresGraph(roleOf(file).role) && !announced.has(file))
    .filter(([file]) => roleOf(file).role === 'schema.ts' || !parts.has(file))
    .map(([file]) => `${file} is not imported in src/schema.ts, so it is not part of the graph.`);
};

/** Modules that every surface may import: authentication of the caller, the frame around a handler, MCP over HTTP, styles, open streams. */
const shared = ['bearer.ts', 'cookie.ts', 'frame.ts', 'mcp-http.ts', 'style-sheet.ts', 'subscription-slots.ts'].map(
  (file) => `src/surfaces/${file}`,
);
/** Surfaces with their own protocol, which call operations directly. */
const ownProtocol = [
  'a2a',
  'artifacts',
  'billing-events',
  'cells',
  'events',
  'inbound',
  'oauth',
  'agent-identity',
  'console',
  'mcp-gateway',
  'operator',
  'scheduler',
  'scim',
];

export const surfacesAreIndependent: Rule = (tree) =>
  sourceFiles(tree)
    .filter(([file]) => layerOf(file) === 'surfaces')
    .flatMap(([file, text]) => {
      const surface = file.split('/')[2]!;
      return importsOf(file, text).flatMap((target) => {
        if (layerOf(target) === 'surfaces' && target.split('/')[2] !== surface && !shared.includes(target)) {
          return [`${file} imports ${target}: a surface must not import another surface.`];
        }
        if (layerOf(target) === 'domain' && !shared.includes(file) && !ownProtocol.includes(surface)) {
          return [`${file} imports ${target}: ${surface} must go through the graph.`];
        }
        return [];
      });
    });

export const importsAreWellFormed: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) => {
    const breaches: string[] = [];
    if (/^export\b[^;'"]*?\bfrom\s+'/m.test(text))
      breaches.push(`${file} re-exports: import the symbol from its own module.`);
    if (/^export default\b/m.test(text)) breaches.push(`${file} has a default export: use a named export.`);
    const layer = layerOf(file);
    for (const name of specifiersOf(text)) {
      const target = resolve(file, name);
      if (!target) continue;
      if (!name.endsWith('.ts')) breaches.push(`${file} imports '${name}': write the file name with its extension.`);
      if (!file.includes('/', 4)) continue; // files at the top level may import by `#layer` or by a relative path
      if (name.startsWith('#') && layerOf(target) === layer)
        breaches.push(`${file} imports '${name}': inside a layer write './' or '../'.`);
      if (name.startsWith('.') && layerOf(target) !== layer) {
        breaches.push(`${file} imports '${name}': across layers write '#layer/…', which shows the direction.`);
      }
    }
    return breaches;
  });

const uncommented = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Files of the runner that read its settings; all other files read only PATH, for the programs that they start. */
const runnerSettings = [
  'runner.ts',
  'capabilities.ts',
  'pod-mission.ts',
  'settings.ts',
  'harness/install-command.ts',
  'isolation/engine.ts',
  // Contains the source code of programs that run in other containers and read the environment there.
  'isolation/pod-programs.ts',
];
/**
 * Files of the runner that send requests: to the platform, to models and MCP servers, to the hosts that network policies allow, and to
 * harnesses in cells.
 */
const runnerRequests = [
  'protocol/platform.ts',
  'protocol/gateway.ts',
  'protocol/mcp-calls.ts',
  'protocol/usage.ts',
  'protocol/egress.ts',
  'network/egress-proxy.ts',
  'network/intercept.ts',
  'network/dialer.ts',
  'network/fetch-parser.ts',
  'harness/opencode-connection.ts',
  'kubernetes/relay.ts',
  'kubernetes/waiting-pod.ts',
];

/**
 * Unlike the service, the runner may read the machine's clock in any file, because tests start it as a separate process, whose clock they
 * do not control.
 */
export const theRunnerReadsSettingsAndSendsRequestsInFewFiles: Rule = (tree) =>
  runnerFiles(tree).flatMap(([file, whole]) => {
    const text = uncommented(whole);
    const name = file.slice(runner.length);
    const breaches: string[] = [];
    if (!runnerSettings.includes(name) && text.replaceAll('process.env.PATH', '').includes('process.env'))
      breaches.push(`${file} reads process.env: settings are read in ${runnerSettings.join(', ')} and passed on.`);
    if (!runnerRequests.includes(name) && (/(?<![\w.])(?:globalThis\.)?fetch\(/.test(text) || importsHttpClient(text)))
      breaches.push(`${file} sends requests: only ${runnerRequests.join(', ')} do.`);
    return breaches;
  });

const vendorsFolder = 'src/domain/projects/vendors/';
/** Folders in the vendors folder whose name is not the name of a vendor. */
const unnamed = ['builtin', 'language-models'];
/** Files outside a vendor's own folder that may name the vendor, each with the reason. */
const vendorsAreNamedIn: Record<string, string> = {
  'src/domain/projects/integrations/profiles.ts': 'lists the vendors as data',
  [`${vendorsFolder}registry.ts`]: 'lists their behavior',
  [`${vendorsFolder}schema.ts`]: 'has arguments of the graph for one vendor',
  'src/config.ts': 'reads the settings of addresses',
  'src/demo/seed.ts': 'seeds examples',
  'src/console/integrations/access.tsx': 'has fields for those arguments',
  'src/console/kit/vendors.tsx': 'has the texts of forms',
};
/** The code without comments and without strings of several words. Such strings are read by people, so the rule lets them name a vendor. */
const codeOf = (text: string): string =>
  uncommented(text).replace(/(['"`])((?:(?!\1)[^\\]|\\.)*?)\1/g, (whole, _, words) => (/\s/.test(words) ? '' : whole));

/**
 * The code for a vendor of trackers, source hosts or events is in one folder. No file outside this folder contains the vendor's name,
 * except the files above.
 */
export const vendorsAreNamedInTheirFolders: Rule = (tree) => {
  const names = new Set(
    Object.keys(tree)
      .filter((file) => file.startsWith(vendorsFolder) && file.split('/').length > vendorsFolder.split('/').length)
      .map((file) => file.split('/')[vendorsFolder.split('/').length - 1]!),
  );
  for (const name of unnamed) names.delete(name);
  return Object.entries(tree).flatMap(([file, text]) => {
    if (!file.startsWith('src/') || isGenerated(file) || file in vendorsAreNamedIn) return [];
    const code = codeOf(text);
    return [...names]
      .filter((name) => !file.startsWith(`${vendorsFolder}${name}/`))
      .filter((name) => new RegExp(`(?<![A-Za-z])${name}(?![a-z_-])`, 'i').test(code.replaceAll(/from '[^']*'/g, '')))
      .map((name) => `${file} names ${name}: only ${vendorsFolder}${name}/ does; other files ask the registry.`);
  });
};

const factories = 'invalid|conflict|forbidden|unprocessable|unsupportedMediaType';
const fieldInSentence = new RegExp(`\\b(${factories})\\(\\s*['\`]([\\w.-]|\\$\\{[^}]*\\})+: `);
/** Here, `invalid` is a local function. Its messages describe a configuration file instead of a request, so the rule does not apply. */
const textsOfItsOwn = 'src/domain/execution/mcp-servers/declared.ts';

/**
 * An error has a field for everything that programs need to know about it. Its description is for people: one module composes it, and no
 * code parses it.
 */
export const errorsCarryData: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => /^(src|clients)\//.test(file) && file !== 'src/foundation/problem.ts' && !isGenerated(file))
    .flatMap(([file, whole]) => {
      const text = uncommented(whole);
      const breaches: string[] = [];
      if (
        /description\.(startsWith|endsWith|includes|match|matchAll|replace|search|slice|split)\(|\/missing-scope/.test(
          text,
        ) ||
        /\.split\('; '\)|\bdescription [!=]== (?!undefined|null)/.test(text)
      )
        breaches.push(`${file} parses a description: read fields, missingScopes or the code of the problem.`);
      if (fieldInSentence.test(text) && file !== textsOfItsOwn)
        breaches.push(`${file} names a field in a sentence: write invalid.field(path, message).`);
      return breaches;
    });

/**
 * The two modules that send requests: outbound.ts to addresses that callers may have chosen, and cells.ts to the cells that the settings
 * list.
 */
const requestModules = ['src/foundation/http/outbound.ts', 'src/foundation/http/cells.ts'];

export const clockNetworkAndEnvironmentHaveOneModule: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, whole]) => {
    const text = uncommented(whole);
    const breaches: string[] = [];
    const environment = text.replaceAll('readConfig(process.env)', '');
    // v8-flags.ts reads the environment itself, because it is loaded before the configuration.
    if (!['src/config.ts', 'src/foundation/v8-flags.ts'].includes(file) && environment.includes('process.env')) {
      breaches.push(`${file} reads process.env: only config.ts does.`);
    }
    if (file !== 'src/foundation/clock.ts' && /\bDate\.now\b|\bnew Date\(\)/.test(text)) {
      breaches.push(`${file} reads the system clock: call now() of foundation/clock.ts, which tests control.`);
    }
    if (
      !requestModules.includes(file) &&
      (/(?<![\w.])(?:globalThis\.)?fetch\(/.test(text) || importsHttpClient(text))
    ) {
      breaches.push(
        `${file} makes a request: outbound requests go through foundation/http/outbound.ts, which guards against SSRF.`,
      );
    }
    return breaches;
  });

const importsHttpClient = (text: string): boolean =>
  specifiersOf(text).some((name) => name === 'undici' || name === 'node:https') ||
  /import \{[^}]*\b(?:request|get)\b[^}]*\} from 'node:http'/.test(text);

const recordCall = /\b([A-Z]\w*)\.(?:query|lock|insert|insertMany|insertNew|patch|patchReturning)\(\s*(\w*)/g;

export const recordsAreQueriedByTheirNoun: Rule = (tree) => {
  const homes = new Map(
    domainFiles(tree).flatMap(([file, text]) =>
      [...text.matchAll(/\bclass (\w+) extends\b/g)].map((match) => [match[1]!, roleOf(file).noun] as const),
    ),
  );
  return sourceFiles(tree).flatMap(([file, text]) =>
    [...uncommented(text).matchAll(recordCall)].flatMap(([, record, argument]) => {
      const home = homes.get(record!);
      if (!home) return [];
      const transaction = argument !== 'undefined' && argument;
      const { noun, role } = layerOf(file) === 'domain' ? roleOf(file) : { noun: null, role: '' };
      if (noun === null || declaresGraph(role))
        return [`${file} queries ${record} directly: call the operations of ${home}.`];
      // Within its own transaction, an operation may lock or write a row of another noun, but not a run.
      return noun === home || (transaction && home !== 'runs')
        ? []
        : [
            `${file} queries ${record} ${transaction ? 'itself' : 'outside a transaction'}: call the operations of ${home}.`,
          ];
    }),
  );
};

/**
 * Exceptions from the rule that an SQL statement names only tables of its own folder: the folder, the tables of other folders that its
 * statements may name, and the reason. An entry for a table that the folder no longer names is a violation, so that the list only shrinks.
 */
const tablesOfOtherNouns: Record<string, { tables: string[]; because: string }> = {
  'src/domain/organization/memberships': {
    tables: ['people'],
    because: 'locks a membership and its account in one statement',
  },
  'src/demo': {
    tables: ['projects'],
    because: 'seeds the projects of the demo in bulk',
  },
};
const folderOf = (file: string): string =>
  path.posix
    .dirname(file)
    .split('/')
    .slice(0, layerOf(file) === 'domain' ? 4 : 3)
    .join('/');

const namedTable =
  /\b(?:from|join|into|update)\s+(?:only\s+)?"?([a-z_]+)\b|\b(?:trx|knex)(?:<[^>]*>)?\(\s*(?:'([a-z_]+)'|(\w+)\.tableName)/g;

/** If a table has no model, all statements that name the table must be in the same folder of src. */
export const tablesWithoutAModelHaveOneHome: Rule = (tree) => {
  const models = new Set(
    Object.values(tree).flatMap((text) => [...text.matchAll(/\bextends table\('(\w+)'/g)].map((match) => match[1]!)),
  );
  const texts = sourceFiles(tree).map(([file, text]) => ({ file, text: uncommented(text) }));
  const written = texts.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:insert into|delete from) ([a-z_]+)\b/g)].map((match) => match[1]!),
  );
  return [...new Set(written)]
    .filter((table) => !models.has(table))
    .flatMap((table) => {
      const names = ({ text }: { text: string }) =>
        [...text.matchAll(namedTable)].some(([, plain, quoted]) => (plain ?? quoted) === table);
      const folders = [...new Set(texts.filter(names).map(({ file }) => folderOf(file)))].sort();
      return folders.length > 1 ? [`${table} is named in ${folders.join(' and ')}: call the functions of one.`] : [];
    });
};

/**
 * Only code in the folder that declares a table's model reads and writes the table. Other modules call the functions and finders of that
 * folder.
 */
export const tablesAreNamedByTheirNoun: Rule = (tree) => {
  const models = domainFiles(tree).flatMap(([file, text]) =>
    [...text.matchAll(/\bclass (\w+) extends table\('(\w+)'/g)].map(([, model, table]) => ({
      model: model!,
      table: table!,
      home: roleOf(file).noun,
      folder: folderOf(file),
    })),
  );
  const found = sourceFiles(tree).flatMap(([file, text]) => {
    const named = [...uncommented(text).matchAll(namedTable)].flatMap(([, table, quoted, name]) =>
      models.filter((one) => (name ? one.model === name : one.table === (table ?? quoted))),
    );
    return [...new Set(named)]
      .filter(({ folder }) => folderOf(file) !== folder)
      .map(({ table, home }) => ({ file, table, home }));
  });
  const isFound = (folder: string, table: string) =>
    found.some((one) => folderOf(one.file) === folder && one.table === table);
  return [
    ...found
      .filter(({ file, table }) => !tablesOfOtherNouns[folderOf(file)]?.tables.includes(table))
      .map(({ file, table, home }) => `${file} names the table ${table}: call the operations of ${home}.`),
    // Unused exceptions are reported for the whole tree only, because the rule is also tested with a few files.
    ...Object.entries(tablesOfOtherNouns)
      .filter(() => 'src/main.ts' in tree)
      .flatMap(([folder, { tables }]) =>
        tables
          .filter((table) => !isFound(folder, table))
          .map((table) => `${folder} no longer names the table ${table}: remove it from the exceptions.`),
      ),
  ];
};

const everyColumn =
  /\bselect\s+(?:distinct\s+(?:on\s*\([^)]*\)\s*)?)?\*|\b[a-z]\w*\.\*(?=[\s,`'"]|$)|\breturning\s+\*|\.(?:returning|select)\(\s*['"`](?:\w+\.)?\*/gim;

/** A migration may add a column while the service runs; the result of a statement must not change with it. */
export const columnsAreNamed: Rule = (tree) =>
  sourceFiles(tree).flatMap(([file, text]) =>
    [...uncommented(text).matchAll(everyColumn)].map(
      ([found]) =>
        `${file} has "${found}": list the columns, because a later release may add some while this one runs.`,
    ),
  );

/** Returns each cycle of a graph once, beginning with its alphabetically first member. */
function cyclesOf(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (at: string, trail: string[]) => {
    const seen = trail.indexOf(at);
    if (seen >= 0) {
      const cycle = trail.slice(seen);
      const first = cycle.indexOf([...cycle].sort()[0]!);
      found.add([...cycle.slice(first), ...cycle.slice(0, first + 1)].join(' → '));
    }
    if (seen >= 0 || done.has(at)) return;
    for (const next of edges.get(at) ?? []) visit(next, [...trail, at]);
    done.add(at);
  };
  for (const start of edges.keys()) visit(start, []);
  return [...found];
}

/** Examples use the public interfaces only, which proves that these suffice. */
export const examplesUsePublicInterfaces: Rule = (tree) =>
  Object.entries(tree).flatMap(([file, text]) =>
    specifiersOf(text).flatMap((name) => {
      const target = resolve(file, name);
      if (file.startsWith('examples/') && target?.startsWith('src/'))
        return [`${file} imports ${name}: an example uses the public interfaces only.`];
      if (file.startsWith('src/') && target?.startsWith(clients))
        return [`${file} imports ${target}: the service must not depend on a client.`];
      if (file.startsWith('src/') && target?.startsWith('examples/'))
        return [`${file} imports ${target}: the service must not depend on an example.`];
      return [];
    }),
  );

export const importsHaveNoCycle: Rule = (tree) => {
  const files = new Map(
    Object.entries(tree)
      .filter(([file]) => file.startsWith('src/') || file.startsWith(clients))
      .map(([file, text]) => [file, importsOf(file, text)]),
  );
  return cyclesOf(files).map((cycle) => `${cycle}: an import cycle.`);
};

/** The areas of the domain depend on each other in one direction, so that they can be read one after another. */
export const areasDependDownwards: Rule = (tree) =>
  domainFiles(tree).flatMap(([file, text]) => {
    const { area } = roleOf(file);
    if (!areas.includes(area)) return [`${file} is in no known area: ${areas.join(', ')}.`];
    return importsOf(file, text)
      .filter((target) => layerOf(target) === 'domain' && areas.indexOf(roleOf(target).area) > areas.indexOf(area))
      .map((target) => `${file} imports ${target}: ${area} must not depend on ${roleOf(target).area}.`);
  });

/** The imports between the folders of nouns form no cycle: the folder of a child imports the folder of its parent, never the reverse. */
export const nounFoldersHaveNoCycle: Rule = (tree) => {
  const nouns = new Map<string, string[]>();
  for (const [file, text] of domainFiles(tree)) {
    const { noun } = roleOf(file);
    const others = importsOf(file, text).filter((target) => layerOf(target) === 'domain');
    nouns.set(noun, [
      ...(nouns.get(noun) ?? []),
      ...others.map((target) => roleOf(target).noun).filter((other) => other !== noun),
    ]);
  }
  return cyclesOf(nouns).map((cycle) => `${cycle}: these noun folders import each other.`);
};

const exported =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
/**
 * Whether a file declares the types of a schema. Each of these types is named after what it describes, as in GraphQL and OpenAPI, so the
 * same name may occur in several files.
 */
const namesTypesOfASchema = (file: string): boolean =>
  (layerOf(file) === 'domain' && declaresGraph(roleOf(file).role)) || /^src\/surfaces\/[^/]+\/records\.ts$/.test(file);

/** An exported name has one meaning, so that a search for it finds one thing. */
export const exportedNamesMeanOneThing: Rule = (tree) => {
  const homes = new Map<string, string[]>();
  for (const [file, text] of sourceFiles(tree)) {
    if (namesTypesOfASchema(file)) continue;
    for (const name of new Set([...text.matchAll(exported)].map((match) => match[1]!)))
      homes.set(name, [...(homes.get(name) ?? []), file]);
  }
  return [...homes]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name} is exported by ${files.join(' and ')}: name what differs.`);
};

const emptyWords = /^(utils?|helpers?|common|misc|index|manager|service|types|constants)$/;

export const namesAreSpecific: Rule = (tree) =>
  Object.keys(tree).flatMap((file) =>
    file
      .split('/')
      .map((part) => part.replace(/(\.test)?\.tsx?$/, ''))
      .filter((word) => emptyWords.test(word))
      .map((word) => `${file}: "${word}" does not say what it contains.`),
  );

export const filesOpenWithAComment: Rule = (tree) =>
  Object.entries(tree)
    .filter(([, text]) => !/^(#!.*\n)?\/\/ \S/.test(text))
    .map(([file]) => `${file} does not open with a comment that says what it contains.`);

const clauseForNoun = /^(What|Of|Those|Whoever|Whatever|Whose|Who|So many|So much|For so long)\b/;

/** A comment begins with its subject, a noun, and not with a clause in its place. */
export const commentsBeginWithTheirSubject: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => !isGenerated(file))
    .flatMap(([file, text]) =>
      text.split('\n').flatMap((line, index, lines) => {
        const begun = /^\s*(?:\/\/|\/\*\*) (.*)/.exec(line)?.[1];
        const clause = clauseForNoun.exec(begun ?? '')?.[0];
        if (!clause || /^\s*\/\/ /.test(lines[index - 1] ?? '')) return [];
        return [`${file}:${index + 1} begins a comment with "${clause}": begin with the noun that it is about.`];
      }),
    );

/** Files that may be longer than the limit, each with its reason. */
const longFiles: Record<string, string> = {};
const maxLines = 250;

export const filesHaveAtMost250Lines: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => (file.startsWith('src/') || file.startsWith(clients)) && !isGenerated(file))
    .map(([file, text]) => [file, text.trimEnd().split('\n').length] as const)
    .filter(([file, lines]) => lines > maxLines && !longFiles[file])
    .map(([file, lines]) => `${file} has ${lines} lines: split files of more than ${maxLines} lines by idea.`);

const maxLinesOfTestFiles = 500;

export const testFilesHaveAtMost500Lines: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => file.endsWith('.test.ts'))
    .map(([file, text]) => [file, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines > maxLinesOfTestFiles)
    .map(
      ([file, lines]) =>
        `${file} has ${lines} lines: cut test files of more than ${maxLinesOfTestFiles} lines by story.`,
    );

/** Tests with a limit that is shorter than those of all tests, each with its reason. */
const shorterLimits: Record<string, string> = {
  'test/programs/runner/kubernetes-pods.test.ts': 'the pod must not wait for the limit of its request, a minute',
};

/** A test that gives up sooner than the suite does depends on the speed of its machine (vitest.config.ts, test/support/wait-timeouts.ts). */
export const testsWaitAsLongAsTheSuite: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => file.endsWith('.test.ts') && !/^test\/(engines|harnesses)\//.test(file) && !shorterLimits[file])
    .flatMap(([file, text]) =>
      [...text.matchAll(/(?:\btimeout: |^ *\}, |^.*\bwait(?:For|Until)\(.*, )(\d{1,2}_?\d{3})\b/gm)].map(
        ([, ms]) => `${file} waits at most ${ms} ms: a slow machine needs the limit of the suite.`,
      ),
    );

/** An import of a function that starts a browser, a database server, or a process that lives as long as a test needs it. */
const startsPrograms =
  /^import \{[^}]*\b(openBrowser|startEmbeddedDatabase|startService|startRunner|programArguments|spawn|fork)\b[^}]*\} from/m;
/** Modules that tests also import for paths and addresses. */
const startsOnRequest = new Set(['test/support/processes.ts', 'test/support/global-setup.ts']);

/** Tests that start programs are a separate suite, so that `npm test` takes only three minutes (docs/decisions/0065-two-suites.md). */
export const programsAreStartedInTestPrograms: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => file.endsWith('.test.ts') && !/^test\/(programs|engines|harnesses)\//.test(file))
    .filter(([file, text]) =>
      [file, ...importsOf(file, text)].some(
        (name) => name.startsWith('test/') && !startsOnRequest.has(name) && startsPrograms.test(tree[name] ?? ''),
      ),
    )
    .map(([file]) => `${file} starts programs: tests with programs are in test/programs.`);

const maxLinesOfTests = 100;

/**
 * Limits the length of functions in test files, including callbacks of `it` and of hooks such as `beforeAll`. Callbacks of `describe` may be
 * longer, because they only group tests. A function ends at the next line that is not indented more than its first line.
 */
export const testsHaveAtMost100Lines: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => file.endsWith('.test.ts'))
    .flatMap(([file, text]) => {
      const lines = text.split('\n');
      return lines.flatMap((line, start) => {
        if (!/(=>|\)) \{$/.test(line) || /^\s*(for|if|while|switch|describe|\}\)?\()/.test(line)) return [];
        const indentation = line.search(/\S/);
        const length = lines.slice(start + 1).findIndex((next) => next !== '' && next.search(/\S/) <= indentation);
        if (length <= maxLinesOfTests) return [];
        return [`${file}:${start + 1} is a function of ${length} lines: tell it in several tests or name its steps.`];
      });
    });

const maxLinesOfFunctions = 60;

/**
 * The functions of a file, each with its number of lines. The formatter indents every file, so a function ends at the next line that is not
 * indented more than its first line.
 */
function functionsOf(text: string): { name: string; lines: number }[] {
  // Tables of declarations (`=> ({`) and the markup that a component returns do not count as lines of a function.
  const lines = text.replace(/^( *)return \(\n[\s\S]*?^\1\);$/gm, '$1return markup;').split('\n');
  return lines.flatMap((line, start) => {
    if (!/(=>|\)(: [^=]+)?) \{$/.test(line) || /^\s*(\} )?(else|for|if|while|switch|catch)\b/.test(line)) return [];
    const indentation = line.search(/\S/);
    // If this line only closes a list of parameters, the function begins above, on the nearest line with the same indentation.
    let first = start;
    if (/^\s*[)}]/.test(line))
      do first -= 1;
      while (first > 0 && (lines[first] === '' || lines[first]!.search(/\S/) > indentation));
    if (lines[first]!.includes(' extends table(')) return [];
    const length = lines.slice(start + 1).findIndex((next) => next !== '' && next.search(/\S/) <= indentation);
    const name = /(?:function\*?|const|let) (\w+)|(\w+)[(:]/.exec(lines[first]!);
    return [{ name: name?.[1] ?? name?.[2] ?? 'function', lines: start - first + length + 2 }];
  });
}

/** A function makes one decision, and leaves further decisions to other functions. */
export const functionsHaveAtMost60Lines: Rule = (tree) =>
  Object.entries(tree)
    .filter(([file]) => (file.startsWith('src/') || file.startsWith(clients)) && !isGenerated(file))
    .flatMap(([file, text]) =>
      functionsOf(text)
        .filter(({ lines }) => lines > maxLinesOfFunctions)
        .map(
          ({ name, lines }) =>
            `${file} ${name} has ${lines} lines: cut functions of more than 60 lines by what they decide.`,
        ),
    );
