// Outside effects, which are actions of a mission in other systems, and the policy that decides which of them wait for approval.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/** Kinds of effects, in the order in which the effects of a run are carried out. */
export const effectKinds = ['push', 'pull_request', 'comment', 'tracker', 'mcp_call'] as const;
export type EffectKind = (typeof effectKinds)[number];

export interface EffectPolicy {
  /** Kinds of effects that need a person's approval. */
  waits: EffectKind[];
  /** Tools whose calls need no approval even if calls of other tools wait: `server` for all of its tools, or `server.tool`. */
  allowedTools: string[];
}

export const effectStates = ['staged', 'approved', 'committing', 'committed', 'rejected', 'failed'] as const;
export type EffectState = (typeof effectStates)[number];
/** States in which a person can decide about the effect. */
export const waitingEffectStates: readonly EffectState[] = ['staged', 'failed'];

/** The data with which an effect is carried out, by kind. */
export interface EffectPayloads {
  push: {
    branch: string;
    baseBranch: string;
    headSha: string;
    /** The commit of the branch at the host when the agent began; null for a new branch. */
    expectedSha: string | null;
    /** The git bundle with the commits. */
    artifactId: Id<'artifact'>;
    commits: number | null;
    files: number | null;
    insertions: number | null;
    deletions: number | null;
  };
  pull_request: { branch: string; baseBranch: string; title: string; body: string };
  comment: {
    /** The run that the comment reports on. */
    ofRunId: Id<'run'>;
    text: string;
    /** The issue of the tracker; null for a comment at the source host. */
    issueId: string | null;
    /** The issue or pull request that gets the comment; null for a comment in the tracker. */
    place: { kind: 'issue' | 'pullRequest'; number: number } | null;
  };
  tracker: { ofRunId: Id<'run'>; issueId: string };
  mcp_call: { serverName: string; tool: string; arguments: Record<string, unknown> };
}

export class OutsideEffect extends table('outside_effects', {
  id: column<Id<'outsideEffect'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Id<'run'>>(),
  kind: column<EffectKind>(),
  state: column<EffectState>(),
  /** Order in which the effects of a run are carried out. */
  position: column<number>(),
  /** Identifies the object in the other system, such as a branch. */
  key: column<string>(),
  payload: column<EffectPayloads[EffectKind]>(),
  digest: column<string>(),
  error: column<string | null>(),
  resultUrl: column<string | null>(),
  decidedByUserId: column<Id<'person'> | null>(),
  decidedBy: column<string | null>(),
  decidedAt: column<number | null>(),
  committedAt: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'outside effect';
  static override order = '"position", "created_at", "id"';
  static override jsonAttributes = ['payload'];
  static visibleTo = withinReach;

  /** Until this time only one process may carry out the effect. */
  declare leaseUntil: number | null;
  declare attempts: number;
}

export const payloadOf = <K extends EffectKind>(
  { payload }: Pick<OutsideEffect, 'payload'>,
  _kind: K,
): EffectPayloads[K] => payload as EffectPayloads[K];
