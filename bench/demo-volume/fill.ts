// Fills the demo organization with past runs, sandboxes and artifacts, to try pages and lists with many rows.
import { findDemo } from '#demo/seed.ts';
import { sql } from '#foundation/postgres/database.ts';
import { fillArtifacts } from './artifacts.ts';
import { type Filled, fillRuns, fillSandboxes, projectsWithMissions } from './runs.ts';

export interface DemoVolume {
  runs: number;
  sandboxes: number;
  artifacts: number;
  /** Samples per sandbox. */
  metrics: number;
}

/** Fills the demo with records. @throws when the demo has no project */
export async function fillDemo(volume: DemoVolume): Promise<Record<'runs' | 'sandboxes' | 'artifacts', Filled>> {
  const demo = await findDemo();
  const text = 'select id from projects where org_id = $1 order by created_at desc, id desc limit $2';
  const projects = await sql<{ id: string }>(text, [demo?.organization.id, projectsWithMissions]);
  if (!demo || projects.length === 0) throw new Error('the demo has no projects: seed them with the command demo:seed');
  const parties = { orgId: demo.organization.id, ownerId: demo.owner.id, projects: projects.map(({ id }) => id) };
  return {
    runs: await fillRuns(parties, volume.runs),
    sandboxes: await fillSandboxes(parties, volume.sandboxes, volume.metrics),
    artifacts: await fillArtifacts(parties, volume.artifacts),
  };
}
