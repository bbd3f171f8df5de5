// An organization that connects vendors through the API, with stand-ins for Linear, GitHub and model vendors.
import { bindCheckLog } from '#domain/projects/vendors/check.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { createOwner, createProject } from './callers.ts';
import { openGitHub } from './fake-github.ts';
import { openLinear } from './fake-linear.ts';
import { startModels } from './stand-in-models.ts';
import { openWorld } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
export const fields =
  '{ id vendor vendorKind displayName externalOrgId baseUrl hasCredentials brokenSince checkedAt checkFailure updatedAt }';

export async function openConnectorWorld() {
  const [linear, github] = await Promise.all([openLinear('lin_api_ofAcme'), openGitHub('ghp_ofAcme')]);
  const logged: string[] = [];
  const vendors = { linear: linear.address, github: github.address };
  const [world, models] = await Promise.all([openWorld({ vendors }), startModels()]);
  openOutbound({ allowLoopback: true });
  bindCheckLog((line) => logged.push(line));
  const [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  const projectId = await createProject(world, alice, 'Shop', { repoFullName: 'acme/shop' });

  const graphql = (query: string, variables: object, token = alice.token): Promise<Json> =>
    world.field(query, { token, variables: { ...variables } });
  const connectVendor = (args: object, token = alice.token) =>
    graphql(
      `mutation ($vendor: Vendor!, $vendorKind: VendorKind, $displayName: String!, $credentials: String, $baseUrl: String,
      $githubApp: GitHubAppRequest, $linearApp: LinearAppRequest) {
      connectIntegration(vendor: $vendor, vendorKind: $vendorKind, displayName: $displayName, credentials: $credentials,
        baseUrl: $baseUrl, githubApp: $githubApp, linearApp: $linearApp) ${fields} }`,
      args,
      token,
    );
  const act = (name: string, integrationId: string, token = alice.token, selection = fields) =>
    graphql(
      `mutation ($id: String!) { ${name}Integration(integrationId: $id) ${selection} }`,
      { id: integrationId },
      token,
    );
  const rotate = (id: string, credentials: string) =>
    graphql(
      `mutation ($id: String!, $credentials: String!) { rotateIntegration(integrationId: $id, credentials: $credentials) ${fields} }`,
      { id, credentials },
    );
  const disconnect = (id: string, detach = false) =>
    graphql(
      'mutation ($id: String!, $detach: Boolean) { disconnectIntegration(integrationId: $id, detachProjects: $detach) { ok id } }',
      {
        id,
        detach,
      },
    );
  const connectorOf = async () => (await world.rest('GET', `/projects/${projectId}`, { token: alice.token })).body;
  return {
    world,
    models,
    alice,
    mallory,
    logged,
    connectVendor,
    act,
    rotate,
    disconnect,
    connectorOf,
    linear,
    github,
    projectId,
    graphql,
    async close(): Promise<void> {
      openOutbound({ allowLoopback: false });
      bindCheckLog(() => {});
      await Promise.all([world.close(), models.close(), linear.close(), github.close()]);
    },
    async reset(): Promise<void> {
      await world.knex('projects').update({ llmConnectorId: null, trackerConnectorId: null, scmConnectorId: null });
      await world.knex('integrations').delete();
      models.settings.key = 'sk-right';
      models.seen.length = logged.length = 0;
      linear.clear();
      github.clear();
    },
  };
}
