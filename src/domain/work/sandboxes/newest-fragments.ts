// The newest fragment of a kind that the agents of a run have shown.
import { sql } from '#foundation/postgres/database.ts';
import type { SandboxFragment } from './model.ts';

type Shown = Pick<SandboxFragment, 'sandboxId' | 'seq' | 'body' | 'action' | 'parameter' | 'items'>;

const newestSql = `select f.sandbox_id, f.seq, f.body, f.action, f.parameter, f.items
  from sandboxes s join sandbox_fragments f on f.sandbox_id = s.id and f.kind = $2
  where s.run_id = $1 order by f.at desc, f.seq desc limit 1`;

export const newestFragment = async (runId: string, kind: SandboxFragment['kind']): Promise<Shown | undefined> =>
  (await sql<Shown>(newestSql, [runId, kind]))[0];
