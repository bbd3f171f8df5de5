// Test cases of the layering rules: small source trees, and the expected message for each tree that violates a rule.
import * as layering from './layering-rules.ts';

type Case = [rule: layering.Rule, tree: layering.Tree, violation: string | null];

const organization = 'class Organization extends BaseModel {}';
/** Source trees that violate a rule, and source trees that do not, by the title of their test. */
export const cases: Record<string, Case> = {
  'the console must not import server code': [
    layering.theConsoleUsesTheSchemaOnly,
    { 'src/console/missions/run.tsx': "import { now } from '#foundation/clock.ts';" },
    'src/console/missions/run.tsx imports #foundation/clock.ts: the console uses the public schema, its own files and its framework only.',
  ],
  'the dashboard must not import other packages': [
    layering.theConsoleUsesTheSchemaOnly,
    { 'src/console/missions/run.tsx': "import { z } from 'zod';" },
    'src/console/missions/run.tsx imports zod: the console uses the public schema, its own files and its framework only.',
  ],
  'server code must not import the console': [
    layering.theConsoleUsesTheSchemaOnly,
    { 'src/surfaces/console/application.ts': "import { ask } from '../../console/kit/client.ts';" },
    'src/surfaces/console/application.ts imports src/console/kit/client.ts: server code must not import browser code.',
  ],
  'the console may read the clock of its machine, and fetch': [
    layering.clockNetworkAndEnvironmentHaveOneModule,
    { 'src/console/kit/client.ts': "const at = Date.now();\nawait fetch('/graphql');" },
    null,
  ],
  'an example uses the public interfaces only': [
    layering.examplesUsePublicInterfaces,
    { 'examples/client.ts': "import { now } from '#foundation/clock.ts';\nimport { a } from './call.ts';" },
    'examples/client.ts imports #foundation/clock.ts: an example uses the public interfaces only.',
  ],
  'the service does not import an example': [
    layering.examplesUsePublicInterfaces,
    { 'src/app.ts': "import { a } from '../examples/client.ts';" },
    'src/app.ts imports examples/client.ts: the service must not depend on an example.',
  ],
  'the typed client has no dependency': [
    layering.theClientsArePackagesOfTheirOwn,
    {
      'clients/typescript/src/client.ts': "import { a } from './api.ts';\nimport { z } from 'zod';",
    },
    'clients/typescript/src/client.ts imports zod: the typed client has no dependency.',
  ],
  'the command line imports only the exports of the typed client': [
    layering.theClientsArePackagesOfTheirOwn,
    {
      'clients/cli/src/main.ts':
        "import { Command } from 'commander';\nimport { a } from '../../typescript/src/exports.ts';\nimport { b } from '../../typescript/src/client.ts';",
    },
    'clients/cli/src/main.ts imports ../../typescript/src/client.ts: a client imports its own files, clients/typescript/src/exports.ts and packages.',
  ],
  'a vendor is named in its folder only': [
    layering.vendorsAreNamedInTheirFolders,
    {
      'src/domain/projects/vendors/acme/tracker.ts': "const name = 'acme';",
      'src/domain/work/runs/branch.ts': "if (vendor === 'acme') return;",
    },
    'src/domain/work/runs/branch.ts names acme: only src/domain/projects/vendors/acme/ does; other files ask the registry.',
  ],
  'a text for people may name a vendor': [
    layering.vendorsAreNamedInTheirFolders,
    {
      'src/domain/projects/vendors/acme/tracker.ts': "const name = 'acme';",
      'src/domain/work/runs/branch.ts': "// As at Acme.\nconst about = 'An issue at Acme.';",
    },
    null,
  ],
  'the service does not import a client': [
    layering.examplesUsePublicInterfaces,
    { 'src/app.ts': "import { a } from '../clients/typescript/src/exports.ts';" },
    'src/app.ts imports clients/typescript/src/exports.ts: the service must not depend on a client.',
  ],
  'the runner imports its own files and Node': [
    layering.theRunnerIsAProgramOfItsOwn,
    {
      'src/runner/runner.ts':
        "import { spawn } from 'node:child_process';\nimport { a } from './mission.ts';\nimport { now } from '../foundation/clock.ts';",
    },
    "src/runner/runner.ts imports ../foundation/clock.ts: the runner imports Node's modules and its own files only.",
  ],
  'the runner does not import a package': [
    layering.theRunnerIsAProgramOfItsOwn,
    { 'src/runner/runner.ts': "import { z } from 'zod';" },
    "src/runner/runner.ts imports zod: the runner imports Node's modules and its own files only.",
  ],
  'the service does not import the runner': [
    layering.theRunnerIsAProgramOfItsOwn,
    { 'src/main.ts': "import { connect } from './runner/protocol/platform.ts';" },
    'src/main.ts imports src/runner/protocol/platform.ts: the runner is a separate program, started by path.',
  ],
  'a folder of the runner imports only the folders before it': [
    layering.theRunnerImportsDownwards,
    {
      'src/runner/runner.ts': "import { connect } from './protocol/platform.ts';",
      'src/runner/isolation/place.ts':
        "import type { Step } from '../contract.ts';\nimport { git } from '../workspace/git.ts';",
    },
    'src/runner/isolation/place.ts imports src/runner/workspace/git.ts: isolation must not depend on workspace.',
  ],
  'a folder of the runner is a known one': [
    layering.theRunnerImportsDownwards,
    { 'src/runner/cellar/wine.ts': '' },
    'src/runner/cellar/wine.ts is in no known folder of the runner: generated, contract.ts, text.ts, settings.ts, network, isolation, harness, protocol, workspace, kubernetes.',
  ],
  'import cycles in the runner are found, also of types': [
    layering.importsHaveNoCycle,
    {
      'src/runner/mission.ts': "import { work } from './step.ts';",
      'src/runner/step.ts': "import type { Step } from './mission.ts';",
    },
    'src/runner/mission.ts → src/runner/step.ts → src/runner/mission.ts: an import cycle.',
  ],
  'cycles of the console and of the clients are found': [
    layering.importsHaveNoCycle,
    {
      'src/console/billing/billing.tsx': "import { Balance } from './balance.tsx';",
      'src/console/billing/balance.tsx': "import type { Summary } from './billing.tsx';",
      'clients/cli/src/main.ts': "import { a } from './program.ts';",
    },
    'src/console/billing/balance.tsx → src/console/billing/billing.tsx → src/console/billing/balance.tsx: an import cycle.',
  ],
  'the runner reads its settings in few files': [
    layering.theRunnerReadsSettingsAndSendsRequestsInFewFiles,
    {
      'src/runner/runner.ts': 'process.env.POLL_MS;',
      'src/runner/step.ts': 'const [a, b] = [process.env.PATH, process.env.TIMEOUT_MS];',
    },
    'src/runner/step.ts reads process.env: settings are read in runner.ts, capabilities.ts, pod-mission.ts, settings.ts, harness/install-command.ts, isolation/engine.ts, isolation/pod-programs.ts and passed on.',
  ],
  'the runner sends requests from few files': [
    layering.theRunnerReadsSettingsAndSendsRequestsInFewFiles,
    { 'src/runner/protocol/platform.ts': 'await fetch(url);', 'src/runner/mission.ts': 'await fetch(url);' },
    'src/runner/mission.ts sends requests: only protocol/platform.ts, protocol/gateway.ts, protocol/mcp-calls.ts, protocol/usage.ts, protocol/egress.ts, network/egress-proxy.ts, network/intercept.ts, network/dialer.ts, network/fetch-parser.ts, harness/opencode-connection.ts, kubernetes/relay.ts, kubernetes/waiting-pod.ts do.',
  ],
  'the foundation must not import a noun': [
    layering.layersImportDownwards,
    { 'src/foundation/http/http.ts': "import { Project } from '#domain/projects/projects/model.ts';" },
    'src/foundation/http/http.ts imports src/domain/projects/projects/model.ts: foundation must not depend on domain.',
  ],
  'imports of types and lazy imports count': [
    layering.layersImportDownwards,
    {
      'src/graph/page.ts': "import type { A } from '#access/roles.ts';\nconst b = () => import('#surfaces/bearer.ts');",
    },
    'src/graph/page.ts imports src/surfaces/bearer.ts: graph must not depend on surfaces.',
  ],
  'an import over several lines counts': [
    layering.layersImportDownwards,
    { 'src/access/gate.ts': "import {\n  a,\n  type B,\n} from '#graph/builder.ts';" },
    'src/access/gate.ts imports src/graph/builder.ts: access must not depend on graph.',
  ],
  'every layer may import the limits, which import only units of the clock': [
    layering.layersImportDownwards,
    {
      'src/foundation/http/http.ts': "import { bytes } from '#limits.ts';",
      'src/limits.ts': "import { seconds } from '#foundation/clock.ts';\nimport { roles } from '#access/roles.ts';",
    },
    'src/limits.ts imports src/access/roles.ts: limits.ts imports nothing but the units of clock.ts.',
  ],
  'only an entry point reads the configuration': [
    layering.layersImportDownwards,
    {
      'src/main.ts': "import { readConfig } from './config.ts';",
      'src/app.ts': "import { readConfig } from './config.ts';",
    },
    'src/app.ts imports src/config.ts: only an entry point reads the configuration; it is passed down.',
  ],
  'a file must be in a known layer': [
    layering.layersImportDownwards,
    { 'src/cellar/wine.ts': "import { now } from '#foundation/clock.ts';" },
    'src/cellar/wine.ts is in no known layer: foundation, access, graph, domain, schema.ts, demo, surfaces, app.ts, main.ts.',
  ],
  'operations never see GraphQL': [
    layering.nounFilesKeepTheirRoles,
    { 'src/domain/projects/projects/operations.ts': "import { GraphQLError } from 'graphql';" },
    'src/domain/projects/projects/operations.ts imports graphql: of a noun only schema.ts and schema-<part>.ts declare GraphQL.',
  ],
  'a model does not declare GraphQL': [
    layering.nounFilesKeepTheirRoles,
    { 'src/domain/projects/projects/model.ts': "import { builder } from '#graph/builder.ts';" },
    'src/domain/projects/projects/model.ts imports #graph/builder.ts: of a noun only schema.ts and schema-<part>.ts declare GraphQL.',
  ],
  'a model does not import operations': [
    layering.nounFilesKeepTheirRoles,
    { 'src/domain/projects/projects/model.ts': "import { listProjects } from './operations.ts';" },
    'src/domain/projects/projects/model.ts imports src/domain/projects/projects/operations.ts: a model must not import operations.',
  ],
  'a model imports only the model of another noun': [
    layering.nounFilesKeepTheirRoles,
    {
      'src/domain/projects/projects/model.ts':
        "import { a } from '../integrations/model.ts';\nimport { b } from '../../organization/people/session.ts';",
    },
    'src/domain/projects/projects/model.ts imports src/domain/organization/people/session.ts: a model imports of another noun its model only.',
  ],
  'operations do not import a schema': [
    layering.nounFilesKeepTheirRoles,
    { 'src/domain/projects/projects/operations.ts': "import { ProjectType } from './schema.ts';" },
    'src/domain/projects/projects/operations.ts imports src/domain/projects/projects/schema.ts: only schemas import a schema.',
  ],
  'a schema imports from another noun only its schema': [
    layering.nounFilesKeepTheirRoles,
    {
      'src/domain/projects/projects/schema.ts':
        "import { a } from './operations.ts';\nimport { b } from '../../organization/people/schema.ts';\nimport { c } from '../../organization/people/operations.ts';",
    },
    'src/domain/projects/projects/schema.ts imports src/domain/organization/people/operations.ts: a schema imports of another noun its schema only.',
  ],
  'a statement names the tables of its noun': [
    layering.tablesAreNamedByTheirNoun,
    {
      'src/domain/projects/projects/model.ts': "class Project extends table('projects', {",
      'src/domain/projects/projects/operations.ts': 'select id from projects',
      'src/domain/organization/invites/operations.ts':
        '// from projects\nselect i.id from invites i join projects p on true',
    },
    'src/domain/organization/invites/operations.ts names the table projects: call the operations of projects.',
  ],
  'a table as an argument counts as named': [
    layering.tablesAreNamedByTheirNoun,
    {
      'src/domain/projects/projects/model.ts': "class Project extends table('projects', {",
      'src/surfaces/console/home.ts': "await trx('projects').insert({});",
    },
    'src/surfaces/console/home.ts names the table projects: call the operations of projects.',
  ],
  'the table name of a model counts as named': [
    layering.tablesAreNamedByTheirNoun,
    {
      'src/domain/projects/projects/model.ts': "class Project extends table('projects', {",
      'src/domain/organization/invites/operations.ts': 'await trx(Project.tableName).insert({});',
    },
    'src/domain/organization/invites/operations.ts names the table projects: call the operations of projects.',
  ],
  'a table without a model is named in one folder': [
    layering.tablesWithoutAModelHaveOneHome,
    {
      'src/domain/money/credits/missions.ts': "sql('delete from credit_reviews where run_id = $1');",
      'src/domain/money/credits/reviews.ts': "sql('insert into credit_reviews (run_id) values ($1)');",
      'src/domain/lifecycle/billing-summary/settle.ts': "sql('select from credit_reviews limit 1');",
    },
    'credit_reviews is named in src/domain/lifecycle/billing-summary and src/domain/money/credits: call the functions of one.',
  ],
  'a schema holds no SQL': [
    layering.nounFilesKeepTheirRoles,
    { 'src/domain/projects/projects/schema.ts': "import { sql } from '#foundation/database.ts';" },
    'src/domain/projects/projects/schema.ts imports the database: a schema contains no SQL.',
  ],
  'the subscriptions of a noun are registered': [
    layering.schemasAreRegistered,
    {
      'src/schema.ts': "import './domain/work/sandboxes/schema.ts';",
      'src/domain/work/sandboxes/schema.ts': '',
      'src/domain/work/sandboxes/schema-live.ts': "import { builder } from '#graph/builder.ts';",
    },
    'src/domain/work/sandboxes/schema-live.ts is not imported in src/schema.ts, so it is not part of the graph.',
  ],
  'a surface does not import a schema': [
    layering.schemasAreImportedBySchemas,
    { 'src/surfaces/console/surface.ts': "import { ProjectType } from '#domain/projects/projects/schema.ts';" },
    'src/surfaces/console/surface.ts imports src/domain/projects/projects/schema.ts: outside the domain only src/schema.ts imports schemas.',
  ],
  'the schema of a noun is registered': [
    layering.schemasAreRegistered,
    {
      'src/schema.ts': "import './domain/organization/people/schema.ts';",
      'src/domain/organization/people/schema.ts': '',
      'src/domain/projects/projects/schema.ts': '',
    },
    'src/domain/projects/projects/schema.ts is not imported in src/schema.ts, so it is not part of the graph.',
  ],
  'surfaces do not import each other, except the shared modules': [
    layering.surfacesAreIndependent,
    {
      'src/surfaces/graphql/surface.ts':
        "import { a } from '../bearer.ts';\nimport { b } from './bounds.ts';\nimport { c } from '../rest/problems.ts';",
    },
    'src/surfaces/graphql/surface.ts imports src/surfaces/rest/problems.ts: a surface must not import another surface.',
  ],
  'a surface that projects the graph calls no operation': [
    layering.surfacesAreIndependent,
    {
      'src/surfaces/rest/surface.ts': "import { a } from '#domain/projects/projects/operations.ts';",
      'src/surfaces/console/surface.ts': "import { a } from '#domain/organization/people/operations.ts';",
      'src/surfaces/bearer.ts': "import { a } from '#domain/identity/tokens/operations.ts';",
    },
    'src/surfaces/rest/surface.ts imports src/domain/projects/projects/operations.ts: rest must go through the graph.',
  ],
  're-exports are refused': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': "export { type A } from './builder.ts';" },
    'src/graph/page.ts re-exports: import the symbol from its own module.',
  ],
  'default exports are refused': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': 'export default 1;' },
    'src/graph/page.ts has a default export: use a named export.',
  ],
  'ordinary exports are accepted': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': "export const from = 'x';\nexport function a() {\n  return 'from';\n}" },
    null,
  ],
  'inside a layer imports are relative': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': "import { a } from '#graph/builder.ts';" },
    "src/graph/page.ts imports '#graph/builder.ts': inside a layer write './' or '../'.",
  ],
  'across layers imports are not relative': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': "import { a } from '../access/gate.ts';" },
    "src/graph/page.ts imports '../access/gate.ts': across layers write '#layer/…', which shows the direction.",
  ],
  'an import names the file with its extension': [
    layering.importsAreWellFormed,
    { 'src/graph/page.ts': "import { a } from './builder';" },
    "src/graph/page.ts imports './builder': write the file name with its extension.",
  ],
  'the environment is read in one place': [
    layering.clockNetworkAndEnvironmentHaveOneModule,
    {
      'src/main.ts': 'readConfig(process.env);',
      'src/config.ts': 'process.env;',
      'src/foundation/log.ts': '// not process.env\nconst a = process.env.LOG;',
    },
    'src/foundation/log.ts reads process.env: only config.ts does.',
  ],
  'time is read in one place': [
    layering.clockNetworkAndEnvironmentHaveOneModule,
    { 'src/foundation/clock.ts': 'Date.now', 'src/graph/page.ts': 'new Date(0);', 'src/access/gate.ts': 'new Date();' },
    'src/access/gate.ts reads the system clock: call now() of foundation/clock.ts, which tests control.',
  ],
  'foreign addresses are fetched in one place': [
    layering.clockNetworkAndEnvironmentHaveOneModule,
    {
      'src/foundation/http/outbound.ts': 'fetch(url)',
      'src/app.ts': 'yoga.fetch(request)',
      'src/access/gate.ts': 'await fetch(url)',
    },
    'src/access/gate.ts makes a request: outbound requests go through foundation/http/outbound.ts, which guards against SSRF.',
  ],
  'node:http is a request too': [
    layering.clockNetworkAndEnvironmentHaveOneModule,
    { 'src/access/gate.ts': "import { request } from 'node:http';" },
    'src/access/gate.ts makes a request: outbound requests go through foundation/http/outbound.ts, which guards against SSRF.',
  ],
  'a surface does not query records': [
    layering.recordsAreQueriedByTheirNoun,
    {
      'src/domain/organization/organizations/model.ts': organization,
      'src/surfaces/console/surface.ts': 'Organization.query()',
    },
    'src/surfaces/console/surface.ts queries Organization directly: call the operations of organizations.',
  ],
  "another noun's record is touched only within a transaction": [
    layering.recordsAreQueriedByTheirNoun,
    {
      'src/domain/organization/organizations/model.ts': organization,
      'src/domain/organization/organizations/operations.ts': 'Organization.query()',
      'src/domain/organization/people/operations.ts': 'Organization.query(trx)',
      'src/domain/projects/projects/operations.ts': 'Organization.query()',
    },
    'src/domain/projects/projects/operations.ts queries Organization outside a transaction: call the operations of organizations.',
  ],
  'a run is written by functions of runs, also within a transaction': [
    layering.recordsAreQueriedByTheirNoun,
    {
      'src/domain/work/runs/model.ts': 'class Run extends BaseModel {}',
      'src/domain/work/runs/claim.ts': 'Run.query(trx)',
      'src/domain/execution/runtime/claim.ts': 'Run.query(trx).patch({ team })',
    },
    'src/domain/execution/runtime/claim.ts queries Run itself: call the operations of runs.',
  ],
  'a statement names its columns': [
    layering.columnsAreNamed,
    {
      'src/domain/projects/agents/operations.ts':
        "const a = `select count(*) from agents`;\n// select * from agents\nconst b = 'select * from agents';",
    },
    'src/domain/projects/agents/operations.ts has "select *": list the columns, because a later release may add some while this one runs.',
  ],
  'a statement names the columns of an alias': [
    layering.columnsAreNamed,
    { 'src/domain/work/runs/operations.ts': 'const a = `update runs r set b = 1 returning r.*`;' },
    'src/domain/work/runs/operations.ts has "r.*": list the columns, because a later release may add some while this one runs.',
  ],
  'a statement of a query builder names its columns': [
    layering.columnsAreNamed,
    {
      'src/domain/work/runs/operations.ts':
        "Run.query(trx).patch({ status }).returning('*');\nconst pattern = /^a.*b/;",
    },
    'src/domain/work/runs/operations.ts has ".returning(\'*": list the columns, because a later release may add some while this one runs.',
  ],
  'a cycle of three files is reported once': [
    layering.importsHaveNoCycle,
    {
      'src/graph/b.ts': "import './c.ts';",
      'src/graph/c.ts': "import './a.ts';",
      'src/graph/a.ts': "import './b.ts';",
      'src/graph/d.ts': "import './a.ts';",
    },
    'src/graph/a.ts → src/graph/b.ts → src/graph/c.ts → src/graph/a.ts: an import cycle.',
  ],
  'an area depends only on the areas before it': [
    layering.areasDependDownwards,
    {
      'src/domain/money/credits/ledger.ts':
        "import { a } from '../../organization/organizations/model.ts';\nimport { b } from '../../work/runs/model.ts';",
    },
    'src/domain/money/credits/ledger.ts imports src/domain/work/runs/model.ts: money must not depend on work.',
  ],
  'a folder of the domain is a known area': [
    layering.areasDependDownwards,
    { 'src/domain/projects.ts': '' },
    'src/domain/projects.ts is in no known area: organization, money, projects, identity, work, execution, lifecycle.',
  ],
  'noun folders depend in one direction': [
    layering.nounFoldersHaveNoCycle,
    {
      'src/domain/projects/projects/schema.ts': "import '../../organization/organizations/schema.ts';",
      'src/domain/organization/organizations/schema.ts': "import '../../projects/projects/slug.ts';",
    },
    'organizations → projects → organizations: these noun folders import each other.',
  ],
  'an exported name means one thing, except for types of a schema': [
    layering.exportedNamesMeanOneThing,
    {
      'src/domain/projects/agents/model.ts': 'export type Effort = string;\nexport interface Grant {}',
      'src/domain/projects/agents/schema-catalog.ts': 'export const Effort = 1;',
      'src/surfaces/oauth/grants.ts': 'interface Local {}\nexport type Grant = string;',
      'src/surfaces/oauth/keys.ts': 'interface Local {}',
    },
    'Grant is exported by src/domain/projects/agents/model.ts and src/surfaces/oauth/grants.ts: name what differs.',
  ],
  'folders and files have specific names': [
    layering.namesAreSpecific,
    { 'src/graph/utils/page.ts': '', 'src/domain/identity/tokens/service-tokens.ts': '' },
    'src/graph/utils/page.ts: "utils" does not say what it contains.',
  ],
  'a file opens with a comment': [
    layering.filesOpenWithAComment,
    { 'src/graph/page.ts': 'import a;', 'src/graph/context.ts': '// What a resolver is handed.\n' },
    'src/graph/page.ts does not open with a comment that says what it contains.',
  ],
  'a comment begins with a noun': [
    layering.commentsBeginWithTheirSubject,
    { 'src/graph/page.ts': '// Pages of a list.\n// What follows is a line of it.\n\n/** Those that come next. */\n' },
    'src/graph/page.ts:4 begins a comment with "Those": begin with the noun that it is about.',
  ],
  'no code parses a description': [
    layering.errorsCarryData,
    {
      'src/surfaces/rest/answers.ts': "if (problem.description.startsWith('name:')) answer();",
      'src/foundation/problem.ts': 'body.description.startsWith(marks);',
    },
    'src/surfaces/rest/answers.ts parses a description: read fields, missingScopes or the code of the problem.',
  ],
  'nobody compares a description': [
    layering.errorsCarryData,
    { 'src/surfaces/a2a/errors.ts': 'return description === unknownRun ? a : b;' },
    'src/surfaces/a2a/errors.ts parses a description: read fields, missingScopes or the code of the problem.',
  ],
  'a problem names its field in data': [
    layering.errorsCarryData,
    {
      'src/domain/agents/operations.ts': "throw invalid(\n  'name: is required.');",
      'src/domain/agents/model.ts': "throw invalid('The body is empty.'), conflict.field('name', 'is taken');",
    },
    'src/domain/agents/operations.ts names a field in a sentence: write invalid.field(path, message).',
  ],
  'a test has at most 100 lines': [
    layering.testsHaveAtMost100Lines,
    {
      'test/a.test.ts': `describe('a', () => {\n${'  x();\n'.repeat(200)}});\n`,
      'test/b.test.ts': `it('b', async () => {\n${'  x();\n'.repeat(101)}});\n`,
      'test/c.test.ts': `it('c', async () => {\n${'  x();\n'.repeat(100)}});\n`,
    },
    'test/b.test.ts:1 is a function of 101 lines: tell it in several tests or name its steps.',
  ],
  'a function fits on a page': [
    layering.functionsHaveAtMost60Lines,
    {
      'src/graph/page.ts': [
        'export async function readPage(',
        '  a: string,',
        '): Promise<void> {',
        ...Array(57).fill('  x();'),
        '}',
        'const table = wrap((t) => ({',
        ...Array(99).fill('  x: 1,'),
        '}));',
      ].join('\n'),
      'src/graph/context.ts': `export function createContext() {\n${'  x();\n'.repeat(58)}}\n`,
      'src/console/kit/note.tsx': `function Note() {\n  return (\n${'    <p>x</p>\n'.repeat(99)}  );\n}\n`,
    },
    'src/graph/page.ts readPage has 61 lines: cut functions of more than 60 lines by what they decide.',
  ],
  'a test file has at most 500 lines': [
    layering.testFilesHaveAtMost500Lines,
    {
      'test/a.test.ts': 'a\n'.repeat(501),
      'test/b.test.ts': 'a\n'.repeat(500),
      'test/support/c.ts': 'a\n'.repeat(999),
    },
    'test/a.test.ts has 501 lines: cut test files of more than 500 lines by story.',
  ],
  'a test waits as long as the suite lets it': [
    layering.testsWaitAsLongAsTheSuite,
    {
      'test/a.test.ts': 'await vi.waitUntil(isReady, { timeout: 15_000 });',
      'test/b.test.ts': "it('is slow', { timeout: 600_000 }, async () => {});",
      'test/engines/c.test.ts': 'await vi.waitUntil(isReady, { timeout: 15_000 });',
    },
    'test/a.test.ts waits at most 15_000 ms: a slow machine needs the limit of the suite.',
  ],
  'a wait with its limit as a number is no exception': [
    layering.testsWaitAsLongAsTheSuite,
    {
      'test/a.test.ts':
        'beforeAll(async () => {\n  await vi.waitFor(() => ask(), 20_000);\n  await world.grant(org, 1_000);\n});',
    },
    'test/a.test.ts waits at most 20_000 ms: a slow machine needs the limit of the suite.',
  ],
  'a test that starts programs is in test/programs': [
    layering.programsAreStartedInTestPrograms,
    {
      'test/support/cell-world.ts': "import { startService } from './processes.ts';",
      'test/support/processes.ts': "import { spawn } from 'node:child_process';",
      'test/docs.test.ts': "import { projectFolder } from './support/processes.ts';",
      'test/surfaces/cells.test.ts': "import { openCells } from '../support/cell-world.ts';",
      'test/programs/surfaces/moves.test.ts': "import { openCells } from '../../support/cell-world.ts';",
    },
    'test/surfaces/cells.test.ts starts programs: tests with programs are in test/programs.',
  ],
  'a file has at most 250 lines': [
    layering.filesHaveAtMost250Lines,
    {
      'src/graph/page.ts': 'a\n'.repeat(251),
      'src/graph/context.ts': 'a\n'.repeat(250),
      'test/long.test.ts': 'a\n'.repeat(999),
    },
    'src/graph/page.ts has 251 lines: split files of more than 250 lines by idea.',
  ],
};
