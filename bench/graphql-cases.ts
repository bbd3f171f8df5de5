// The GraphQL cases. Servers without GraphQL answer the nested query at a REST path.
import type { Request } from 'autocannon';
import { type Case, type Comparison, json, projectsOfOrdinary, type Servers } from './cases.ts';
import { ordinary } from './database.ts';
import type { Server } from './process.ts';

const project = `id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner
  scmRepo llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt`;
const flat = `{ projects(limit: 20) { data { ${project} } nextCursor } }`;
const nested = `{
  projects(limit: 50) {
    data {
      ${project}
      organization {
        id name slug createdByUserId createdAt namePending
        memberships { orgId userId role createdAt person { id email name createdAt } }
      }
    }
    nextCursor
  }
}`;

/** A page of a dashboard: five projects and five short lists. */
const widgets = [
  ...projectsOfOrdinary.slice(0, 5).map((id) => ({
    query: 'query One($id: String!) { project(projectId: $id) { id name slug status createdAt } }',
    variables: { id },
  })),
  ...[3, 4, 5, 6, 7].map((limit) => ({
    query:
      'query List($limit: Int!) { projects(limit: $limit) { data { id name status scmOwner scmRepo } nextCursor } }',
    variables: { limit },
  })),
];

const post = (body: unknown): Request => ({
  method: 'POST',
  path: '/graphql',
  headers: json,
  body: JSON.stringify(body),
});

export function graphqlComparisons({ bare, fastify, prepared, yoga, mercurius, service }: Servers): Comparison[] {
  const asking = (server: Server, requests: Request[], more: Partial<Case> = {}) => ({
    name: server.name,
    server,
    organization: ordinary,
    requests,
    ...more,
  });
  return [
    {
      name: 'GraphQL: 20 projects, flat',
      contenders: [yoga, mercurius, service].map((server) => asking(server, [post({ query: flat })])),
    },
    {
      name: 'GraphQL: 50 projects, three levels',
      contenders: [bare, fastify, prepared, yoga, mercurius, service].map((server) =>
        asking(server, [post({ query: nested })]),
      ),
    },
    {
      name: 'GraphQL: ten widgets in one batch',
      contenders: [
        asking(service, widgets.map(post), { name: 'the service, ten requests', together: widgets.length }),
        ...[yoga, mercurius, service].map((server) => asking(server, [post(widgets)])),
      ],
    },
  ];
}
