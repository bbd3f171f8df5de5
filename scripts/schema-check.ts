// `npm run schema:check [-- REVISION]`: fails if schema.graphql differs from the code, or if it breaks clients of the schema in REVISION and
// the newest section of CHANGELOG.md does not announce this. REVISION is a tag or a merge base; by default it is the commit before the last
// change of schema.graphql.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { printGraph } from '#graph/print.ts';
import { schema } from '#schema.ts';
import { unannounced } from './breaking-changes.ts';
import { clientApi } from './client-api.ts';
import { readOpenApi } from './openapi-document.ts';
import { programs, typedOperations } from './typed-operations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The output of a git command; null for a new file, an empty history, or a copy without git. */
function attempt(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
const readHere = (name: string) => attempt(() => readFileSync(`${root}/${name}`, 'utf8'));
const git = (...args: string[]) =>
  attempt(() => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }));
const readAt = (revision: string) => git('show', `${revision}:schema.graphql`);

const after = printGraph(schema);
/** The revision to compare with: HEAD while the change is not committed, afterwards the commit before it. */
function beforeTheChange(): string {
  const last = git('log', '-1', '--format=%H', '--', 'schema.graphql')?.trim();
  return readAt('HEAD') === after && last ? `${last}^` : 'HEAD';
}

const revision = process.argv[2] ?? beforeTheChange();
const before = readAt(revision);
const complaints: string[] = [];
if (readHere('schema.graphql') !== after) {
  complaints.push('schema.graphql does not match the code: run `npm run schema` and review the diff.');
}
for (const program of programs) {
  if (readHere(program.file) === (await typedOperations(program, after))) continue;
  complaints.push(`The operations of the ${program.name} do not match the schema: run \`npm run console:types\`.`);
}
if (readHere('clients/typescript/src/api.ts') !== (await clientApi(await readOpenApi()))) {
  complaints.push('The operations of the typed client do not match the API: run `npm run client:types`.');
}
if (before === null) console.log(`No schema.graphql in ${revision}: nothing to compare with.`);
else {
  for (const change of await unannounced(before, after, readHere('CHANGELOG.md') ?? '')) {
    complaints.push(
      `${change}. This breaks clients: revert it, or name its path in a line "- Breaking: …" of the newest version in CHANGELOG.md.`,
    );
  }
}
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
