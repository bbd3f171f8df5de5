// Every model against its table: each column that a model lists exists, and the model lists each column that is not internal.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#foundation/postgres/database.ts';
import { owners, snake } from '#foundation/postgres/reads.ts';
import { type FreshDatabase, freshDatabase } from './support/database.ts';
import { keysWithoutOrganization, tablesWithoutOrganization } from './support/keys-without-organization.ts';
import { readTree } from './support/layering-rules.ts';

interface ModelClass {
  tableName: string;
  columns: readonly string[];
}

/** Columns that no read of the model returns, each with its reason. */
const internalColumns: Record<string, Record<string, string>> = {
  access_tokens: { digest: 'identifies a secret' },
  audit_checkpoints: { hour: 'of each hour there is one' },
  audit_streams: { sealed_secret: 'a secret', last_checkpoint_hour: 'the position of the next delivery' },
  chat_threads: {
    claimed_until: 'the process that reports',
    follows: 'the report of the thread reads it',
    retry_at: 'the report of the thread reads it',
    state: 'the report of the thread reads it',
  },
  chat_connections: { paused_until: 'read by the previous release' },
  claim_attempts: { token_digest: 'identifies a secret', code_digest: 'identifies a secret' },
  agent_registrations: { claim_token_digest: 'identifies a secret' },
  directory_tokens: { digest: 'identifies a secret' },
  connections: { report_id: 'finds a repeated report' },
  inbound_hooks: { sealed_secret: 'a secret' },
  integrations: {
    sealed_credentials: 'a secret',
    sealed_token: 'a secret',
    token_until: 'the token is replaced by then',
  },
  mcp_bindings: {
    reviewed_definitions: 'large: the review alone reads it',
    sealed_credentials: 'a secret',
    sealed_headers: 'a secret',
  },
  identity_providers: { sealed_secret: 'a secret' },
  provider_sign_ins: {
    sealed_answer: 'the answer of the provider',
    sealed_verifier: 'a secret',
    used_at: 'reads return open sign-ins only',
  },
  webhook_endpoints: {
    claimed_until: 'the worker that sends',
    previous_secret_until: 'the signature alone reads it',
    sealed_previous_secret: 'a secret',
    sealed_secret: 'a secret',
  },
  reviews: { key: 'finds a repeated review' },
  outside_effects: { attempts: 'the job that commits it', lease_until: 'the job that commits it' },
  organizations: { allowed_networks: 'read as text, with the address of the request' },
  preparations: { lease_id: 'the lease of the runtime' },
  terminals: { lease_id: 'the lease of the runtime', seen_at: 'when the person who opened it was last connected' },
  secrets: { sealed_value: 'a secret' },
  run_calls: { key: 'finds a repeated report' },
  runs: {
    automation_id: 'read by the previous release',
    scheduled_task_id: 'read by the previous release',
    is_replaying: 'claims and the next step read it',
    agent_role: 'the gateway of MCP servers reads it',
    approved_sha: 'what may be merged; a run says mergeBlocker',
    chat_thread_id: 'the thread that the run is reported in',
    origin_number: 'the issue or pull request with the comment that answers an event',
    origin_delivery_id: 'the event that has started the run',
    origin_waits: 'the state of that comment',
    claimed_by: 'the lease of the runtime',
    claims: 'the lease of the runtime',
    issue_text: 'the prompts of its agents quote it',
    is_metered: 'the end of a run by its cost reads it',
    minute_until: 'the minutes that are charged',
    pauses_at: 'the end of the time to save before a pause',
    lease_id: 'the lease of the runtime',
    lease_until: 'the lease of the runtime',
    pr_check_at: 'when an open pull request is checked next',
    pr_ended_at: 'figures of quality read it',
    pr_reverted_at: 'figures of quality read it',
    changed_paths: 'the comparison of attempts reads it',
    effect_policy: 'the gateway of its outside effects reads it',
    pull_request_draft: 'the pull request of a chosen attempt is opened with it',
    rerun_as: 'a repeated rerun gets the same run',
    failure: 'the end of the run reads it',
    next_harness: 'the claim of a runtime reads it',
    claimed_with: 'the places of the runtime are counted with it',
    is_shared: 'claims of runtimes of all organizations count the runs',
    next_template_id: 'the claim of a runtime reads it',
    next_vendor: 'the claim of a runtime reads it',
    plan_approval: 'the end of a step reads it',
    silent_since: 'the lease of the runtime',
    team: 'the end of a step reads it',
    waiting_since: 'the lease of the runtime',
  },
  run_shares: { token_hash: 'identifies a secret' },
  run_messages: { key: 'finds a repeated message' },
  run_steps: {
    has_schema: 'the runtime of the step reads it',
    is_repeated: 'the runtime of the step reads it',
    lease_id: 'the lease of the runtime',
    outcome: 'the runtime of the step reads it',
    prompt: 'long: the runtime of the step reads it',
    resume_session_id: 'the runtime of the step reads it',
  },
  run_forks: {
    agent: 'the next step has it',
    source_seq: 'the position of `source_step_id`',
  },
  sandbox_sessions: { archived_parts: 'the names of its logs follow from it' },
  sandboxes: { lease_id: 'the lease of the runtime' },
  service_tokens: { digest: 'identifies a secret' },
  sessions: { digest: 'identifies a secret', ended_at: 'reads return open sessions only' },
  tokens: { digest: 'identifies a secret' },
};

const tree = readTree(new URL('..', import.meta.url).pathname, ['src/domain']);
const declared = Object.entries(tree).flatMap(([file, text]) =>
  [...text.matchAll(/^export class (\w+) extends table\(/gm)].map(([, name]) => [name!, file] as const),
);

let fresh: FreshDatabase;
let knex: ReturnType<typeof openDatabase>;
beforeAll(async () => {
  fresh = await freshDatabase();
  knex = openDatabase({ connection: fresh.connection });
});
afterAll(async () => {
  await knex.destroy();
  await fresh.drop();
});

async function columnsOfTable(table: string): Promise<string[]> {
  const { rows } = await knex.raw(
    "select column_name as name from information_schema.columns where table_schema = 'public' and table_name = ?",
    [table],
  );
  return (rows as { name: string }[]).map(({ name }) => name).sort();
}

describe('models of tables', () => {
  test.each(declared)('%s lists the columns of its table (%s)', async (name, file) => {
    const model = ((await import(`../${file}`)) as Record<string, ModelClass>)[name]!;
    const internal = Object.keys(internalColumns[model.tableName] ?? {});
    expect([...model.columns.map(snake), ...internal].sort()).toEqual(await columnsOfTable(model.tableName));
  });

  // The service sends several reads of pages in one message if they filter only by owner columns (base-model.ts). These indexes keep such reads fast.
  test('each model that is listed in pages has, for each owner column, an index whose order is the order of the list', async () => {
    const texts = Object.values(tree).join('\n');
    const listed = declared.filter(([name]) => new RegExp(`\\b${name}\\.page\\(`).test(texts));
    expect(listed.map(([name]) => name)).toContain('Project');
    for (const [name, file] of [...listed, ['RecurringMission', 'src/domain/work/recurring/model.ts'] as const]) {
      const model = ((await import(`../${file}`)) as Record<string, ModelClass>)[name]!;
      const { rows } = await knex.raw('select indexdef from pg_indexes where tablename = ?', [model.tableName]);
      const indexes = (rows as { indexdef: string }[]).map(({ indexdef }) => indexdef).join('\n');
      for (const owner of model.columns.filter((column) => owners.has(column))) {
        expect(indexes).toMatch(new RegExp(`\\(${snake(owner)}, (kind, )?created_at DESC, id DESC\\)(\n|$)`));
      }
    }
  });

  test('these tests cover every model class', () => {
    const texts = Object.values(tree).join('\n');
    expect(declared.length).toBe([...texts.matchAll(/\bextends table\(/g)].length);
    expect(declared.length).toBeGreaterThan(25);
  });
});

// The rules of docs/decisions/0070-keys-contain-the-organization.md.
describe('the column `org_id` of tables', () => {
  const names = async (text: string): Promise<string[]> =>
    ((await knex.raw(text)).rows as { name: string }[]).map(({ name }) => name);
  const ofSchema = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  const organizationOf = (table: string) =>
    `exists (select 1 from pg_attribute where attrelid = ${table} and attname = 'org_id' and not attisdropped)`;

  test('the column `org_id` exists in every table and is never null, except in the tables that keys-without-organization.ts lists with a reason', async () => {
    const found = await names(
      `select c.relname as name from pg_class c where ${ofSchema} and c.relname !~ '^knex_' and not exists (
         select 1 from pg_attribute where attrelid = c.oid and attname = 'org_id' and attnotnull) order by 1`,
    );
    expect(found).toEqual(Object.values(tablesWithoutOrganization).flat().sort());
  });

  test('the column `org_id` is part of every unique key, and of every foreign key between two tables with `org_id`, except the keys that keys-without-organization.ts lists', async () => {
    const found = await names(
      `select distinct i.relname as name from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
         where ${ofSchema} and ${organizationOf('c.oid')} and x.indisunique and pg_get_indexdef(x.indexrelid) !~ '\\yorg_id\\y'
           and not (x.indisprimary and pg_get_indexdef(x.indexrelid) ~ '\\(id\\)$')
       union select k.conname from pg_constraint k join pg_class c on c.oid = k.conrelid
         where ${ofSchema} and k.contype = 'f' and ${organizationOf('c.oid')} and ${organizationOf('k.confrelid')}
           and pg_get_constraintdef(k.oid) !~ '\\yorg_id\\y'
       order by 1`,
    );
    expect(found.sort()).toEqual([...keysWithoutOrganization].sort());
  });
});
