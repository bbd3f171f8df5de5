// From a token to a mission that is done, with the typed client:
//
//   AEP_URL=http://localhost:4000 AEP_TOKEN=pat_… npx tsx examples/first-mission.ts
//
// The token is one that `npm start` prints. The program creates a project, starts a mission, follows it until a runtime has done it,
// and shows what it cost and what it left. Outside of this repository, import from 'agent-engineering-platform-client'.
import { ApiError, createClient, type Project } from '../clients/typescript/src/exports.ts';

const client = createClient({
  url: process.env.AEP_URL ?? 'http://localhost:4000',
  token: process.env.AEP_TOKEN ?? '',
});
const repository = 'demo/first-mission';

/** The project on the repository: a new one, or the one that has it already. */
async function openProject(): Promise<Project> {
  try {
    return await client.createProject({ name: 'First mission', repoFullName: repository });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.conflictingProjectId) throw error;
    return client.project({ projectId: error.conflictingProjectId });
  }
}

const { role } = await client.me();
const project = await openProject();
console.log(`You are ${role} here; the project is ${project.name}.`);

// This agent runs the prompt as a script, and the line ::cost says what it has cost.
const prompt = 'echo it works; echo ::cost 0.25';
const { id } = await client.startMission({ projectId: project.id, prompt, agentId: 'agn_builtin_shell' });
console.log(`Started ${id}.`);

for await (const run of client.runUpdated({ runId: id })) console.log(run.status);

const done = await client.run({ runId: id });
console.log(`It cost ${done.missionCostUsd} US dollars${done.reason ? `: ${done.reason}` : '.'}`);
if (done.issueId) {
  for await (const { kind, caption } of client.artifacts({ issueId: done.issueId }))
    console.log(`It left ${kind} ${caption ?? ''}`);
}
if (done.status !== 'completed') process.exitCode = 1;
