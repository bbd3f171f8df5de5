// Server (b) of the bench: the same work, as a careful engineer would write it with Fastify 5 and pg. `fastify.ts PORT DATABASE_URL
// [--prepared]`.
import { createApp } from './app.ts';
import { createProject, findProject, listNested, listProjects, type NewProject } from './work.ts';

const app = createApp();

const text = (max: number) => ({ type: 'string', minLength: 1, maxLength: max }) as const;

app.get<{ Params: { projectId: string } }>(
  '/v1/projects/:projectId',
  { schema: { params: { type: 'object', properties: { projectId: text(200) } } } },
  async ({ caller, params }, reply) =>
    (await findProject(caller, params.projectId)) ?? reply.code(404).send({ title: 'Not found' }),
);

const page = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, cursor: text(500) },
} as const;
app.get<{ Querystring: { limit: number; cursor?: string } }>(
  '/v1/projects',
  { schema: { querystring: page } },
  ({ caller, query }) => listProjects(caller, query.limit, query.cursor),
);

const project = {
  type: 'object',
  required: ['name', 'repoFullName'],
  properties: {
    name: text(120),
    repoFullName: { type: 'string', maxLength: 200, pattern: '^[^\\s/]+/[^\\s/]+$' },
    tracker: { type: 'string', enum: ['builtin', 'linear', 'github'] },
  },
} as const;
app.post<{ Body: NewProject }>('/v1/projects', { schema: { body: project } }, async ({ caller, body }, reply) =>
  reply.code(201).send(await createProject(caller, body)),
);

app.post('/graphql', ({ caller }) => listNested(caller, 50));

await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
