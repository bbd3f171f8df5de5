// Missions of agents whose organization has connected a model. The tests cover the key of the organization, the prices that it has set, and the
// reasons that are shown when a mission fails.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { replaceCredentials, revokeCredentials } from '#domain/projects/integrations/operations.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import type { World } from '../../support/world.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let world: World;
let models: typeof missions.models;

beforeAll(async () => {
  missions = await openMissionWorld();
  ({ world, models } = missions);
});
afterAll(() => missions.close());

const team = (...roles: string[]) => missions.team('claude-code', ...roles);

describe('missions that an agent works on', () => {
  describe('with a model that their organization has connected', () => {
    const connect = async (credentials: string) => {
      const { id: orgId } = missions.alice.organization;
      const connector = { orgId, vendor: 'anthropic', vendorKind: 'llm', displayName: 'Our Claude' } as const;
      return (await connectIntegration({ ...connector, baseUrl: models.url, credentials })).id;
    };
    beforeEach(async () => {
      await missions.killRunners();
      models.seen.length = 0;
    });
    afterEach(async () => {
      models.settings.key = null;
      openOutbound({ allowLoopback: false });
      await world.knex('projects').update({ llmConnectorId: null });
      await world.knex('integrations').where({ vendorKind: 'llm' }).delete();
    });
    const keys = () => new Set(models.seen.map(({ headers }) => headers['x-api-key']));

    it('missions with a connected model run in a runner that has no key of its own; the key of the organization is neither logged nor leaked', async () => {
      await connect('sk-organization');
      await team('builder');
      const runner = missions.startRunner({ ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' });
      const runId = await missions.mission('Work.');
      expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null });
      expect(runner.output).toContain(
        'claude-code is offered to organizations that have connected a model: ANTHROPIC_API_KEY is not set.',
      );
      expect(keys()).toEqual(new Set(['sk-organization']));
      expect(runner.output + (await missions.shown(runId)).join()).not.toContain('sk-organization');
    });

    it('missions with a connected model use the key of the organization instead of the runner’s; a rotated key applies from the next heartbeat', async () => {
      const id = await connect('sk-organization');
      await team('builder');
      missions.startRunner();
      const runId = await missions.mission('[wait]');
      await missions.isShown(runId, 'I wait');
      expect(keys()).toEqual(new Set(['sk-organization']));
      await replaceCredentials(id, 'sk-rotated');
      for (let calls = 1; !keys().has('sk-rotated'); calls++) {
        await missions.say(runId, `Go on [wait] ${calls}`);
        await vi.waitUntil(() => models.seen.length > calls, { interval: 20 });
      }
      await missions.say(runId, 'That is enough');
      expect(await missions.ended(runId)).toMatchObject({ status: 'completed' });
      expect(keys()).toEqual(new Set(['sk-organization', 'sk-rotated']));
    });

    it('missions with a connected model are charged at the prices of the connector', async () => {
      const id = await connect('sk-organization');
      await team('builder');
      missions.startRunner();
      const costOf = async () => {
        const run = await missions.ended(await missions.mission('Work.'));
        expect(run).toMatchObject({ status: 'completed', steps: [{ inputTokens: 1_200, outputTokens: 50 }] });
        return run.missionCostUsd;
      };
      const listed = await costOf();
      const { model } = await world.knex('agents').where({ role: 'builder' }).first();
      const models = [
        { id: model, name: 'Ours', prices: { input: 1_000, output: 2_000, cacheRead: 0, cacheWrite: 0 } },
      ];
      await world
        .knex('integrations')
        .where({ id })
        .update({ models: JSON.stringify(models) });
      expect(await costOf()).toBeCloseTo(1_200 / 1_000 + 50 / 500, 6);
      expect(listed).toBeLessThan(0.1);
    });

    it('missions with a connected model fail with the reason when the connector is revoked', async () => {
      const id = await connect('sk-organization');
      await team('builder');
      missions.startRunner();
      const runId = await missions.mission('[wait]');
      await missions.isShown(runId, 'I wait');
      await revokeCredentials(id);
      const why = 'The model connector Our Claude was revoked.';
      expect(await missions.ended(runId)).toMatchObject({ status: 'failed', lastError: why, steps: [{ error: why }] });
      expect(keys()).toEqual(new Set(['sk-organization']));
    });

    it('missions with a connected model fail with the reason when the vendor rejects the key', async () => {
      const id = await connect('sk-organization');
      openOutbound({ allowLoopback: true });
      models.settings.key = 'sk-another';
      await team('builder');
      missions.startRunner();
      const why = 'The vendor rejected the credentials of the model connector Our Claude.';
      expect(await missions.ended(await missions.mission('Work.'))).toMatchObject({ status: 'failed', lastError: why });
      // The runner reports to the platform that the vendor rejected the key. The platform then asks the vendor itself whether the key is valid, and
      // marks the connector as broken.
      const broken = () => world.knex('integrations').where({ id }).whereNotNull('brokenSince').first();
      await vi.waitUntil(broken, { interval: 50 });
    });
  });
});
