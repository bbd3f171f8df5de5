// The rules of the house (house.md, section 2), asked of the tree itself; and each rule asked whether it can say no.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as law from './law.ts';

const rules = Object.entries(law).filter((entry): entry is [string, law.Rule] => entry[0] !== 'readTree');
const sentence = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

describe('in this house', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const tree = law.readTree(root, ['src', 'test', 'scripts', 'bench', 'examples']);
  test.each(rules.map(([name, rule]) => [sentence(name), rule] as const))('%s', (_name, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

/** A rule, a tree that breaks it, and what the rule must say; or nothing, where the tree keeps the law. */
type Case = [rule: law.Rule, tree: law.Tree, scolding: string | null];

const organization = 'class Organization extends Stored {}';
const cases: Record<string, Case> = {
  'the dashboard may not import from the house': [
    law.theDashboardStandsAlone,
    { 'src/surfaces/console/dashboard/run.tsx': "import { now } from '#foundation/clock.ts';" },
    'src/surfaces/console/dashboard/run.tsx imports #foundation/clock.ts: the dashboard knows the house by its schema alone.',
  ],
  'nor anything that it was not built for': [
    law.theDashboardStandsAlone,
    { 'src/surfaces/console/dashboard/run.tsx': "import { z } from 'zod';" },
    'src/surfaces/console/dashboard/run.tsx imports zod: the dashboard knows the house by its schema alone.',
  ],
  'the house may not import from the dashboard': [
    law.theDashboardStandsAlone,
    { 'src/surfaces/console/dashboard.ts': "import { ask } from './dashboard/client.ts';" },
    'src/surfaces/console/dashboard.ts imports src/surfaces/console/dashboard/client.ts: what runs in the browser does not run here.',
  ],
  'the dashboard may read the clock of its machine, and fetch': [
    law.worldIsTouchedOnce,
    { 'src/surfaces/console/dashboard/client.ts': "const at = Date.now();\nawait fetch('/graphql');" },
    null,
  ],
  'an example knows what everybody outside knows': [
    law.examplesStandOutside,
    { 'examples/client.ts': "import { now } from '#foundation/clock.ts';\nimport { a } from './call.ts';" },
    'examples/client.ts imports #foundation/clock.ts: an example knows the public surfaces alone.',
  ],
  'the service does not import an example': [
    law.examplesStandOutside,
    { 'src/app.ts': "import { a } from '../examples/client.ts';" },
    'src/app.ts imports examples/client.ts: the service does not depend on an example.',
  ],
  'the runner imports its own files and Node': [
    law.theRunnerStandsAlone,
    {
      'src/runner/runner.ts':
        "import { spawn } from 'node:child_process';\nimport { a } from './mission.ts';\nimport { now } from '../foundation/clock.ts';",
    },
    "src/runner/runner.ts imports ../foundation/clock.ts: the runner imports Node's own modules and its own files alone.",
  ],
  'nor does it import a package': [
    law.theRunnerStandsAlone,
    { 'src/runner/runner.ts': "import { z } from 'zod';" },
    "src/runner/runner.ts imports zod: the runner imports Node's own modules and its own files alone.",
  ],
  'and nobody imports the runner': [
    law.theRunnerStandsAlone,
    { 'src/main.ts': "import { connect } from './runner/platform.ts';" },
    'src/main.ts imports src/runner/platform.ts: the runner is another program, started by its path.',
  ],
  'the foundation may not import a noun': [
    law.roomsLookLeft,
    { 'src/foundation/http.ts': "import { Project } from '#domain/projects/model.ts';" },
    'src/foundation/http.ts reaches up to src/domain/projects/model.ts: foundation does not know domain.',
  ],
  'a type is an import too, and so is a lazy one': [
    law.roomsLookLeft,
    {
      'src/graph/page.ts': "import type { A } from '#access/roles.ts';\nconst b = () => import('#surfaces/bearer.ts');",
    },
    'src/graph/page.ts reaches up to src/surfaces/bearer.ts: graph does not know surfaces.',
  ],
  'an import over several lines is seen': [
    law.roomsLookLeft,
    { 'src/access/gate.ts': "import {\n  a,\n  type B,\n} from '#graph/builder.ts';" },
    'src/access/gate.ts reaches up to src/graph/builder.ts: access does not know graph.',
  ],
  'limits are read by anyone and read nobody': [
    law.roomsLookLeft,
    {
      'src/foundation/http.ts': "import { bytes } from '#limits.ts';",
      'src/limits.ts': "import { seconds } from '#foundation/clock.ts';\nimport { roles } from '#access/roles.ts';",
    },
    'src/limits.ts imports src/access/roles.ts: limits are numbers, and know only their units.',
  ],
  'the configuration is handed down': [
    law.roomsLookLeft,
    {
      'src/main.ts': "import { readConfig } from './config.ts';",
      'src/app.ts': "import { readConfig } from './config.ts';",
    },
    'src/app.ts imports src/config.ts: the configuration is read at the door and handed down.',
  ],
  'a room must be one that the house knows': [
    law.roomsLookLeft,
    { 'src/cellar/wine.ts': "import { now } from '#foundation/clock.ts';" },
    'src/cellar/wine.ts is in no room that the house knows: foundation, access, graph, domain, schema.ts, surfaces, app.ts, main.ts.',
  ],
  'operations never see GraphQL': [
    law.beatsKeepTime,
    { 'src/domain/projects/operations.ts': "import { GraphQLError } from 'graphql';" },
    'src/domain/projects/operations.ts imports graphql: a noun does not know how it is shown; only its schema.ts does.',
  ],
  'a model does not know how it is shown': [
    law.beatsKeepTime,
    { 'src/domain/projects/model.ts': "import { builder } from '#graph/builder.ts';" },
    'src/domain/projects/model.ts imports #graph/builder.ts: a noun does not know how it is shown; only its schema.ts does.',
  ],
  'a model does not import verbs': [
    law.beatsKeepTime,
    { 'src/domain/projects/model.ts': "import { listProjects } from './operations.ts';" },
    'src/domain/projects/model.ts imports src/domain/projects/operations.ts: a record does not know what is done with it.',
  ],
  'a model knows of another noun its model': [
    law.beatsKeepTime,
    {
      'src/domain/projects/model.ts':
        "import { a } from '../integrations/model.ts';\nimport { b } from '../people/session.ts';",
    },
    'src/domain/projects/model.ts imports src/domain/people/session.ts: a model knows of another noun its model alone.',
  ],
  'operations do not import a schema': [
    law.beatsKeepTime,
    { 'src/domain/projects/operations.ts': "import { ProjectType } from './schema.ts';" },
    'src/domain/projects/operations.ts imports src/domain/projects/schema.ts: a schema is imported by schemas alone.',
  ],
  'a schema knows of another noun its schema': [
    law.beatsKeepTime,
    {
      'src/domain/projects/schema.ts':
        "import { a } from './operations.ts';\nimport { b } from '../people/schema.ts';\nimport { c } from '../people/operations.ts';",
    },
    'src/domain/projects/schema.ts imports src/domain/people/operations.ts: a schema knows of another noun its schema alone.',
  ],
  'a schema holds no SQL': [
    law.beatsKeepTime,
    { 'src/domain/projects/schema.ts': "import { sql } from '#foundation/database.ts';" },
    'src/domain/projects/schema.ts reaches for the database: a schema holds no SQL.',
  ],
  'neither are its subscriptions hidden': [
    law.schemasAreAnnounced,
    {
      'src/schema.ts': "import './domain/sandboxes/schema.ts';",
      'src/domain/sandboxes/schema.ts': '',
      'src/domain/sandboxes/live.ts': "import { builder } from '#graph/builder.ts';",
    },
    'src/domain/sandboxes/live.ts is not imported in src/schema.ts: nobody will ever see this noun.',
  ],
  'a surface does not import a schema': [
    law.schemasStayInside,
    { 'src/surfaces/console/surface.ts': "import { ProjectType } from '#domain/projects/schema.ts';" },
    'src/surfaces/console/surface.ts imports src/domain/projects/schema.ts: outside of the domain only src/schema.ts does that.',
  ],
  'a noun is announced': [
    law.schemasAreAnnounced,
    {
      'src/schema.ts': "import './domain/people/schema.ts';",
      'src/domain/people/schema.ts': '',
      'src/domain/projects/schema.ts': '',
    },
    'src/domain/projects/schema.ts is not imported in src/schema.ts: nobody will ever see this noun.',
  ],
  'surfaces do not import surfaces, but who is asking': [
    law.surfacesStandAlone,
    {
      'src/surfaces/graphql/surface.ts':
        "import { a } from '../bearer.ts';\nimport { b } from './bounds.ts';\nimport { c } from '../rest/failures.ts';",
    },
    'src/surfaces/graphql/surface.ts imports src/surfaces/rest/failures.ts: surfaces do not lean on each other.',
  ],
  'a surface that projects the graph calls no operation': [
    law.surfacesStandAlone,
    {
      'src/surfaces/rest/surface.ts': "import { a } from '#domain/projects/operations.ts';",
      'src/surfaces/console/surface.ts': "import { a } from '#domain/people/operations.ts';",
      'src/surfaces/bearer.ts': "import { a } from '#domain/tokens/operations.ts';",
    },
    'src/surfaces/rest/surface.ts imports src/domain/projects/operations.ts: rest speaks through the graph, not past it.',
  ],
  'nothing is exported again': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': "export { type A } from './builder.ts';" },
    'src/graph/page.ts exports what it did not make: import it where it lives.',
  ],
  'exports have names': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': 'export default 1;' },
    'src/graph/page.ts has a default export: give it a name.',
  ],
  'an ordinary export is none of these': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': "export const from = 'x';\nexport function a() {\n  return 'from';\n}" },
    null,
  ],
  'inside a room imports are relative': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': "import { a } from '#graph/builder.ts';" },
    "src/graph/page.ts imports '#graph/builder.ts': inside a room write './' or '../'.",
  ],
  'across rooms they are not': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': "import { a } from '../access/gate.ts';" },
    "src/graph/page.ts imports '../access/gate.ts': across rooms write '#room/…', so that the direction can be seen.",
  ],
  'a file is named whole': [
    law.passportsAreInOrder,
    { 'src/graph/page.ts': "import { a } from './builder';" },
    "src/graph/page.ts imports './builder': write the file's whole name.",
  ],
  'the environment is read in one place': [
    law.worldIsTouchedOnce,
    {
      'src/main.ts': 'readConfig(process.env);',
      'src/config.ts': 'process.env;',
      'src/foundation/log.ts': '// not process.env\nconst a = process.env.LOG;',
    },
    'src/foundation/log.ts reads process.env: settings come from config.ts.',
  ],
  'time is read in one place': [
    law.worldIsTouchedOnce,
    { 'src/foundation/clock.ts': 'Date.now', 'src/graph/page.ts': 'new Date(0);', 'src/access/gate.ts': 'new Date();' },
    'src/access/gate.ts reads the clock of the machine: ask now() of foundation/clock.ts, which tests can turn.',
  ],
  'foreign addresses are fetched in one place': [
    law.worldIsTouchedOnce,
    {
      'src/foundation/outbound.ts': 'fetch(url)',
      'src/app.ts': 'yoga.fetch(request)',
      'src/access/gate.ts': 'await fetch(url)',
    },
    'src/access/gate.ts calls out: foreign addresses are fetched by foundation/outbound.ts, which knows the dangers.',
  ],
  'and by no other means': [
    law.worldIsTouchedOnce,
    { 'src/access/gate.ts': "import { request } from 'node:http';" },
    'src/access/gate.ts calls out: foreign addresses are fetched by foundation/outbound.ts, which knows the dangers.',
  ],
  'a schema and a surface query no record': [
    law.recordsAreWrittenAtHome,
    { 'src/domain/organizations/model.ts': organization, 'src/surfaces/console/surface.ts': 'Organization.query()' },
    'src/surfaces/console/surface.ts queries Organization itself: that is for the verbs of organizations.',
  ],
  "another noun's record is touched only within a transaction": [
    law.recordsAreWrittenAtHome,
    {
      'src/domain/organizations/model.ts': organization,
      'src/domain/organizations/operations.ts': 'Organization.query()',
      'src/domain/people/operations.ts': 'Organization.query(trx)',
      'src/domain/projects/operations.ts': 'Organization.query()',
    },
    'src/domain/projects/operations.ts queries Organization outside of a transaction: ask the verbs of organizations.',
  ],
  'a statement names its columns': [
    law.columnsAreNamed,
    {
      'src/domain/agents/operations.ts':
        "const a = `select count(*) from agents`;\n// select * from agents\nconst b = 'select * from agents';",
    },
    'src/domain/agents/operations.ts has "select *": name the columns, a later release adds some while this one runs.',
  ],
  'also of an alias': [
    law.columnsAreNamed,
    { 'src/domain/runs/operations.ts': 'const a = `update runs r set b = 1 returning r.*`;' },
    'src/domain/runs/operations.ts has "r.*": name the columns, a later release adds some while this one runs.',
  ],
  'also where a builder writes the statement': [
    law.columnsAreNamed,
    { 'src/domain/runs/operations.ts': "Run.query(trx).patch({ status }).returning('*');\nconst pattern = /^a.*b/;" },
    'src/domain/runs/operations.ts has ".returning(\'*": name the columns, a later release adds some while this one runs.',
  ],
  'three files in a circle are told once': [
    law.nothingGoesInCircles,
    {
      'src/graph/b.ts': "import './c.ts';",
      'src/graph/c.ts': "import './a.ts';",
      'src/graph/a.ts': "import './b.ts';",
      'src/graph/d.ts': "import './a.ts';",
    },
    'src/graph/a.ts → src/graph/b.ts → src/graph/c.ts → src/graph/a.ts: a circle. One of them is two ideas.',
  ],
  'two nouns are not each other’s parents': [
    law.childrenKnowParents,
    {
      'src/domain/projects/schema.ts': "import '../organizations/schema.ts';",
      'src/domain/organizations/schema.ts': "import '../projects/slug.ts';",
    },
    "organizations → projects → organizations: by their schema.ts these nouns are each other's parents. The child announces itself.",
  ],
  'a name says what is inside': [
    law.namesSaySomething,
    { 'src/graph/utils/page.ts': '', 'src/domain/tokens/service-tokens.ts': '' },
    'src/graph/utils/page.ts: "utils" says nothing about what is in there.',
  ],
  'a file introduces itself': [
    law.filesIntroduceThemselves,
    { 'src/graph/page.ts': 'import a;', 'src/graph/context.ts': '// What a resolver is handed.\n' },
    'src/graph/page.ts does not open with a comment: say what lives here, and under which law.',
  ],
  'a file fits on a page': [
    law.filesFitOnAPage,
    {
      'src/graph/page.ts': 'a\n'.repeat(251),
      'src/graph/context.ts': 'a\n'.repeat(250),
      'test/long.test.ts': 'a\n'.repeat(999),
    },
    'src/graph/page.ts has 251 lines: beyond 250 a file is asked whether it holds two ideas.',
  ],
};

describe('the law', () => {
  test.each(Object.entries(cases))('%s', (_title, [rule, tree, scolding]) => {
    expect(rule(tree)).toEqual(scolding === null ? [] : [scolding]);
  });

  test('has a case for every rule', () => {
    const tried = new Set(Object.values(cases).map(([rule]) => rule));
    expect(rules.filter(([, rule]) => !tried.has(rule)).map(([name]) => name)).toEqual([]);
  });
});
