// An archive: logs and fragments of an ended run in the storage, instead of rows of the database
// (docs/decisions/0081-logs-are-archived.md). Its content is a sequence of compressed blocks, followed by their compressed directory.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import type { LogPart, PromptScope, Sandbox, SandboxFragment, SandboxLogPart } from './model.ts';

export class LogArchive extends table('log_archives', {
  orgId: column<Id<'organization'>>(),
  runId: column<Id<'run'>>(),
  /** Position among the archives of the run, from 0. Earlier archives contain earlier entries of each log. */
  number: column<number>(),
  projectId: column<Id<'project'>>(),
  contentKey: column<Id<'content'>>(),
  sizeBytes: column<number>(),
  /** Compressed length of the directory. */
  directoryBytes: column<number>(),
  directorySha256: column<string>(),
  /** When the run ended. */
  endedAt: column<number>(),
  createdAt: column<number>(),
}) {
  static override noun = 'log archive';
  static override idColumn = ['orgId', 'runId', 'number'];
}

/** Identifies one log of a session. */
export interface LogName {
  role: AgentRole;
  sessionId: string;
  part: LogPart;
}

export type LogEntry = Pick<SandboxLogPart, 'seq' | 'content' | 'spanId' | 'promptScope' | 'appendedAt'>;
export type FragmentEntry = Omit<SandboxFragment, 'sandboxId'>;

/** Describes a block of consecutive entries. The entries are either parts of one log or fragments of one sandbox. */
interface Described {
  sandboxId: Sandbox['id'];
  /** Number of the first entry, and number of entries. */
  seq: number;
  count: number;
  /** Earliest and latest time of an entry, 0 when unknown. */
  from: number;
  until: number;
}

export interface LogBlockHead extends Described, LogName {
  /** Length of the text in bytes. */
  bytes: number;
  /**
   * The sources of the texts of a prompt: the alphabetically first source and the alphabetically last one. The two are equal if all texts have the
   * same source.
   */
  scopes: [first: PromptScope, last: PromptScope];
}
export interface FragmentBlockHead extends Described {
  part: 'fragments';
  kinds: SandboxFragment['kind'][];
  /** Number of the last plan, -1 without one. */
  lastPlan: number;
}
export type BlockHead = LogBlockHead | FragmentBlockHead;

/** Position of a block in the content of its archive, and the digest of its compressed bytes. */
interface Placed {
  offset: number;
  length: number;
  /** Length after decompression. */
  rawBytes: number;
  sha256: string;
}
export type LogBlock = LogBlockHead & Placed;
export type FragmentBlock = FragmentBlockHead & Placed;
export type ArchiveBlock = LogBlock | FragmentBlock;

export const isOfLog =
  (sandboxId: string, { role, sessionId, part }: LogName) =>
  (block: ArchiveBlock): block is LogBlock =>
    block.part !== 'fragments' &&
    block.part === part &&
    block.sandboxId === sandboxId &&
    block.role === role &&
    block.sessionId === sessionId;

export const isOfFragments = (block: ArchiveBlock): block is FragmentBlock => block.part === 'fragments';
