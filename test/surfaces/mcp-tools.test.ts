// The list of MCP tools: their names, inputs and hints, and the tools that a credential sees.
import { afterAll, describe, expect, test } from 'vitest';
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { schema } from '#schema.ts';
import { toolsOf } from '../../src/surfaces/mcp/tools.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { connectMcp, visibleTools } from '../support/mcp-client.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const owner = await createOwner(world, 'Alice', 'Acme');
const { token } = owner;
afterAll(() => world.close());

const connect = (bearer: string) => connectMcp(world, bearer);

describe('The list of MCP tools', () => {
  test('every field with a tool name is listed as a tool, always in the same order', async () => {
    const { client, names } = await connect(token);
    const listed = await names();
    const declared = visibleTools();
    for (const [name, { listed: one }] of toolsOf(schema))
      expect([name, one.outputSchema?.type]).toEqual([name, 'object']);
    expect(listed).toEqual(declared);
    expect(await names()).toEqual(listed);
    expect(client.getServerVersion()).toEqual({
      name: 'agent-engineering-platform',
      title: 'Agent Engineering Platform',
      version: '0.0.0',
    });
    expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {}, completions: {} });
  });

  test('an MCP tool accepts the path parameters, query and body fields of its REST call side by side, with the same limits as REST', async () => {
    const { tools } = await (await connect(token)).client.listTools();
    const tool = tools.find(({ name }) => name === 'update_project')!;
    expect(tool.description).toMatch(
      /^Changes a project\. Omitted fields keep their value; null clears optional fields\./,
    );
    expect(tool.inputSchema).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['projectId'],
      properties: {
        ...tool.inputSchema.properties,
        projectId: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          description: 'An unknown id, or an id of another organization, returns 404.',
        },
        name: { type: 'string', minLength: 1, maxLength: 120, description: 'The name, 1 to 120 characters.' },
        status: {
          description: 'Status of the project. Missions start only while the project is `active`.',
          type: 'string',
          enum: ['active', 'paused', 'archived'],
        },
      },
    });
  });

  // The hints that each field declares. Add new tools here: does the tool end or delete something, can it be repeated, does it have effects
  // outside the platform?
  test('annotations of each MCP tool are declared, not guessed from its name', () => {
    const words = { destructiveHint: 'destructive', idempotentHint: 'idempotent', openWorldHint: 'open world' };
    const said = [...toolsOf(schema).values()].map(({ listed: { name, annotations } }) => {
      expect(Object.keys(annotations!)).toEqual(['readOnlyHint', ...Object.keys(words)]);
      if (annotations!.readOnlyHint) return [name, 'reads'];
      const held = Object.entries(words).filter(([hint]) => annotations![hint as keyof typeof words]);
      return [name, held.map(([, word]) => word).join(', ') || 'adds'];
    });
    const table = Object.fromEntries(said);
    const writing = Object.fromEntries(said.filter(([, what]) => what !== 'reads'));
    expect(writing).toEqual({
      allow_host: 'idempotent',
      assign_issue: 'idempotent, open world',
      bind_chat_channel: 'idempotent, open world',
      comment_on_issue: 'open world',
      create_issue: 'open world',
      delete_issue_comment: 'destructive',
      end_agent_trial: 'adds',
      link_account: 'idempotent, open world',
      mark_inbox_item_done: 'idempotent',
      fork_mission: 'open world',
      rerun_mission: 'open world',
      restore_agent_version: 'idempotent',
      restore_inbox_item: 'idempotent',
      start_agent_trial: 'idempotent',
      unlink_account: 'destructive',
      merge_pull_request: 'idempotent, open world',
      set_run_limits: 'idempotent',
      submit_review: 'adds',
      unbind_chat_channel: 'destructive',
      update_issue: 'idempotent',
      update_issue_comment: 'idempotent',
      create_agent: 'adds',
      update_agent: 'idempotent',
      delete_agent: 'destructive, idempotent',
      create_budget: 'adds',
      update_budget: 'idempotent',
      delete_budget: 'destructive, idempotent',
      create_automation: 'adds',
      update_automation: 'idempotent',
      delete_automation: 'destructive, idempotent',
      run_automation: 'open world',
      destroy_environment: 'destructive, idempotent',
      create_invite: 'open world',
      revoke_invite: 'destructive, idempotent',
      create_membership: 'adds',
      update_membership: 'idempotent',
      delete_membership: 'destructive, idempotent',
      update_orchestrator: 'idempotent',
      update_organization: 'idempotent',
      update_project_mcp: 'idempotent',
      put_mcp_binding: 'idempotent',
      delete_mcp_binding: 'destructive, idempotent',
      refresh_mcp_tools: 'idempotent, open world',
      create_project: 'adds',
      update_project: 'idempotent',
      delete_project: 'destructive, idempotent',
      start_mission: 'open world',
      start_missions: 'open world',
      answer_host_thread: 'open world',
      resolve_host_thread: 'idempotent, open world',
      continue_run: 'adds',
      cancel_run: 'destructive, idempotent',
      send_message: 'adds',
      answer_elicitation: 'idempotent',
      approve_plan: 'idempotent',
      hand_over_run: 'idempotent',
      follow_run: 'idempotent',
      unfollow_run: 'idempotent',
      set_integration_models: 'idempotent',
      approve_outside_effects: 'idempotent, open world',
      reject_outside_effects: 'destructive, idempotent',
      set_project_effect_policy: 'idempotent',
      choose_attempt: 'destructive, idempotent, open world',
      close_attempts: 'destructive, idempotent, open world',
      set_project_connectors: 'idempotent',
      set_project_team: 'idempotent',
      set_pull_request_loop: 'idempotent',
      set_run_budget: 'idempotent',
      interrupt_run: 'idempotent',
      resume_run: 'idempotent',
      kill_sandbox: 'destructive, idempotent',
      request_credits: 'adds',
      create_sandbox_template: 'adds',
      delete_sandbox_template: 'destructive, idempotent',
      update_sandbox_template: 'idempotent',
      create_scheduled_task: 'adds',
      update_scheduled_task: 'idempotent',
      delete_scheduled_task: 'destructive, idempotent',
      run_scheduled_task: 'open world',
    });
    // Each read-only tool calls one query of the schema, so there are at most as many read-only tools as queries.
    const queries = Object.keys(schema.getQueryType()!.getFields()).length;
    expect(Object.keys(table).length - Object.keys(writing).length).toBeLessThanOrEqual(queries);
  });

  test('every time in the output of an MCP tool has a format from the instructions: milliseconds, seconds (if the field’s name ends in Sec) or ISO 8601', async () => {
    const { client } = await connect(token);
    expect(client.getInstructions()).toMatch(
      /milliseconds since 1970, or seconds where its name ends in Sec; .* ISO 8601/,
    );
    const { tools } = await client.listTools();
    const seen = new Set<string>();
    const look = (value: unknown, name = ''): void => {
      if (value === null || typeof value !== 'object') return;
      const { description, type } = value as { description?: string; type?: string | string[] };
      const unit = /^(Milliseconds|Seconds) since 1970|^A UTC time/.exec(description ?? '')?.[0];
      if (unit) {
        seen.add(unit);
        expect([name, [type].flat()[0]]).toEqual([name, unit === 'A UTC time' ? 'string' : 'integer']);
        expect([name, name.endsWith('Sec')]).toEqual([name, unit === 'Seconds since 1970']);
      } else expect([name, /(?:At|Sec)$/.test(name) && type !== 'object']).toEqual([name, false]);
      const { properties, items, anyOf } = value as Record<string, object | undefined>;
      for (const [key, member] of Object.entries(properties ?? {})) look(member, key);
      look(items, name);
      for (const one of (anyOf as unknown[] | undefined) ?? []) look(one);
    };
    for (const { outputSchema } of tools) look(outputSchema);
    expect([...seen].sort()).toEqual(['A UTC time', 'Milliseconds since 1970', 'Seconds since 1970']);
  });

  test('a credential sees only the tools that its scopes allow', async () => {
    const narrow = await world.token(owner.person, owner.organization, { scopes: ['projects:read'] });
    expect(await (await connect(narrow)).names()).toEqual(['list_projects', 'get_project', 'get_me', 'list_scopes']);
  });

  test('an unclaimed agent sees the two tools that any caller may use', () => {
    const agent: Caller = {
      principalType: 'agent',
      credentialId: 'reg_1',
      userId: null,
      orgId: null,
      role: null,
      scopes: new Set(),
      projectId: null,
    };
    const seen = [...toolsOf(schema).values()].filter(({ rule }) => admits(agent, rule));
    expect(seen.map(({ listed }) => listed.name)).toEqual(['get_me', 'list_scopes']);
  });

  test('a person who loses a role loses the tools of that role at once', async () => {
    const { person: bob } = await createMember(world, owner.organization, 'Bob', 'admin');
    const { names } = await connect(await world.token(bob, owner.organization));
    expect(await names()).toContain('create_project');
    await world.knex('memberships').where({ userId: bob.id }).update({ role: 'viewer' });
    expect(await names()).not.toContain('create_project');
  });
});
