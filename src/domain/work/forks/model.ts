// A fork: a run whose first calls are answered from the recording of another run (docs/decisions/0074-a-fork-restarts-its-session.md).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Run, type RunAgent } from '../runs/model.ts';

export class RunFork extends table('run_forks', {
  runId: column<Run['id']>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  sourceRunId: column<Run['id']>(),
  /** The step of the call at which the mission was forked; earlier steps are replayed as a whole. */
  sourceStepId: column<Id<'runStep'>>(),
  /** Number of the first call of the step that is sent to a model; the calls before it are replayed. */
  call: column<number>(),
  /** Number of replayed calls in this step and all earlier ones. */
  calls: column<number>(),
  /** Model and version of the agent after the replay; a null version means a built-in agent. */
  model: column<string>(),
  agentVersion: column<number | null>(),
  prompt: column<string | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'fork';
  static override idColumn = ['orgId', 'runId'];
  static override order = '"created_at", "run_id"';
  static override jsonAttributes = ['agent'];
  static visibleTo = withinReach;

  static {
    this.belongsTo('run', Run, 'runId');
    this.belongsTo('source', Run, 'sourceRunId');
  }

  /** Position of the forked step, the same in both runs. */
  declare sourceSeq: number;
  /** The agent after the replay. */
  declare agent: RunAgent;
}
