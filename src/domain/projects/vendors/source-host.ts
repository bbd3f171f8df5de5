// The interface to source hosts: files of a project's repository, access with git, and pull requests. Each vendor implements it in its
// folder (../vendors). Paths and refs are checked here: a path stays inside the repository, and a ref follows git's rules
// (git-check-ref-format).
import { type OutboundResponse, ResponseTooLarge } from '#foundation/http/outbound.ts';
import { invalid } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import type { Integration } from '../integrations/model.ts';
import type { Project } from '../projects/model.ts';
import type { RefusalOf, SendCall, VendorConnection } from './connection.ts';

export interface RepositoryFile {
  path: string;
  /** The ref; `HEAD` for the default branch. */
  ref: string;
  content: string;
}

/** Address and credentials of a repository for git. */
export interface RepositoryAccess {
  /** An https address, or the absolute path of a folder on the machine of the service. */
  url: string;
  /** User name for HTTP basic authentication; null for a folder. */
  username: string | null;
  password: string | null;
  defaultBranch: string;
  /** The repository as the server names it now; absent for a folder. */
  repository?: { id: number; fullName: string };
}

export interface PullRequest {
  number: number;
  url: string;
  state: 'open' | 'merged' | 'closed';
  headSha: string;
  /** Whether it conflicts with its base branch. */
  hasConflict: boolean;
  /** Whether the host is still comparing the branches, so that a conflict may follow. */
  isUndecided?: boolean;
  /** Whether the checks have passed and nothing else blocks the merge. */
  isReady: boolean;
}

/** A person's comment on a pull request. */
export interface ReviewComment {
  /** Permanent address, which identifies the comment. */
  url: string;
  author: string;
  text: string;
  /** Position in the change; null for a comment on the whole. */
  place: string | null;
}

/** A person's review of a change, written to its pull request. */
export interface WrittenReview {
  reviewId: string;
  /** The reviewed commit. */
  headSha: string;
  /** Markdown. */
  body: string;
  comments: readonly { id: string; path: string; side: 'old' | 'new'; startLine: number; line: number; body: string }[];
}

/** A thread of comments on lines of a pull request. */
export interface HostThread {
  /** The host's id. */
  key: string;
  /** Page of its first comment. */
  url: string;
  path: string;
  side: 'old' | 'new';
  /** The lines; null when the newest commit lacks them. */
  startLine: number | null;
  line: number | null;
  isResolved: boolean;
  /** Login of the person who resolved it. */
  resolvedBy: string | null;
  /** The id of the comment here that began the thread; null for a thread that began at the host. */
  commentId: string | null;
  /** The oldest is first. */
  comments: readonly { author: string; body: string; createdAt: number }[];
}

export interface ThreadAnswer {
  /** The id of a comment, by which it is found again. */
  id: string;
  /** Markdown. */
  body: string;
}

/** Bounds of what is read of a pull request: threads, comments of each, and characters of a comment. */
export const threadBounds = { threads: 100, comments: 20, body: 4_000 } as const;

export interface NewPullRequest {
  branch: string;
  baseBranch: string;
  title: string;
  body: string;
}

/** The name of a mission's status at a commit. */
export const statusContext = 'mission';

export interface CommitStatus {
  state: 'pending' | 'success' | 'failure';
  /** At most 140 characters. */
  description: string;
  /** Page of the mission. */
  url: string;
}

/** A check that shows a mission at a commit, for hosts that support more than a status. */
export interface CommitCheck {
  /** Identifies the check at the commit: a later call changes it. */
  runId: string;
  state: 'working' | 'success' | 'failure' | 'canceled';
  title: string;
  /** Markdown. */
  summary: string;
  url: string;
}

/** Each operation throws the problems of `Repository.readFile`. */
export interface PullRequests {
  /** Opens a pull request, or updates the open one of the branch with this title and text. */
  open(project: Project, wanted: NewPullRequest): Promise<PullRequest>;
  read(project: Project, number: number): Promise<PullRequest>;
  /** Reads the comments of people since a time, at most 100 of each kind, oldest first. */
  comments(project: Project, number: number, since: number): Promise<ReviewComment[]>;
  /** Writes a review, once however often it is called. Comments on lines that the host does not show are part of its text. */
  review(project: Project, number: number, review: WrittenReview): Promise<void>;
  /** Reads the threads on lines, oldest first, within `threadBounds`. */
  threads(project: Project, number: number): Promise<HostThread[]>;
  /** Resolves a thread, or opens it again. A repeated call changes nothing. @param key The key of the `HostThread` */
  resolveThread(project: Project, number: number, key: string, isResolved: boolean): Promise<void>;
  /** Writes a comment in a thread, once however often it is called with the same id. */
  answerThread(project: Project, number: number, key: string, comment: ThreadAnswer): Promise<void>;
  /** Sets the mission's status of a commit, in place of an earlier one. */
  setStatus(project: Project, sha: string, status: CommitStatus): Promise<void>;
  /**
   * Shows the mission as a check of the commit, one per run. Returns false when the credentials cannot create checks: a status is set
   * instead.
   */
  setCheck?(project: Project, sha: string, check: CommitCheck): Promise<boolean>;
  /**
   * Merges the pull request when this commit is still its head. A repeated call changes nothing. Returns the host's reason when its rules
   * refuse the merge, else null.
   */
  merge(project: Project, number: number, headSha: string): Promise<string | null>;
}

/** A failed run of the host's own CI. */
export interface CiRun {
  id: string;
  attempt: number;
  /** Ids of its failed jobs, when the event names them. */
  jobs: readonly string[];
}

/** An issue or pull request: a host may number both in one sequence, or each in its own. */
export interface CommentPlace {
  kind: 'issue' | 'pullRequest';
  number: number;
}

export interface Repository {
  /**
   * Reads a file; without a ref, from the default branch; null when the file or the ref does not exist.
   * @throws 400 for a file that is not text or too large, 409 for a problem that a person must correct, retryable 502 to 504
   */
  readFile(project: Project, connector: Integration, path: string, ref?: string): Promise<Buffer | null>;
  /** @param isReadOnly Whether credentials without the right to push suffice; a host that issues none such returns its own. */
  access(project: Project, connector: Integration, isReadOnly?: boolean): Promise<RepositoryAccess>;
  /** Deletes a branch; a missing one is not an error. @throws as `readFile` */
  deleteBranch(project: Project, connector: Integration, branch: string): Promise<void>;
  /** Whether an account may write to the repository; absent means the host has no accounts. @throws as `readFile` */
  mayWrite?(project: Project, login: string): Promise<boolean>;
  /** The account of a person at the host of the connector; null for an unknown login, and for a program. @throws as `readFile` */
  findAccount?(connector: Integration, login: string): Promise<{ id: string; login: string } | null>;
  /** Adds a reaction to an issue or a comment, which shows that its event was received. A repeated call changes nothing. */
  react?(project: Project, target: string): Promise<void>;
  /** Writes the one comment of a run on an issue or pull request, in place of an earlier one. */
  comment?(project: Project, place: CommentPlace, comment: { runId: string; text: string }): Promise<void>;
  /** The failed jobs of a CI run as text, with the ends of their logs. */
  failedJobs?(project: Project, run: CiRun): Promise<string>;
  /** The pull requests; absent for a host without any. */
  pullRequests?: PullRequests;
}

/** @throws 400 that names the `field` */
export function checkPath(path: string, field = 'path'): void {
  const parts = path.split('/');
  if (path.startsWith('-') || hasControl(path) || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw invalid.field(field, 'must be the path of a file from the top of its repository, without . and .. in it');
  }
}

/** @throws 400 */
export function checkRef(ref: string): void {
  const parts = ref.split('/');
  const odd = /^@$|^-|\.\.|@\{|[ ~^:?*[\\]|\.$/.test(ref) || hasControl(ref);
  if (odd || parts.some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))) {
    throw invalid.field('ref', 'must be the name of a branch, a tag or a commit');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them
const hasControl = (text: string): boolean => /[\0-\x1f\x7f]/.test(text);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws 400 for content that is not text */
export function textOf(content: Buffer): string {
  try {
    if (!content.includes(0)) return utf8.decode(content);
  } catch {
    // The content is not UTF-8.
  }
  throw invalid.field('path', 'the file is not a text file');
}

export const fileTooLarge = () => invalid.field('path', `the file has more than ${bytes.repositoryFile} bytes`);

/** Downloads a file of at most `bytes.repositoryFile`; null for a 404, which hosts also answer without access. @throws Problems */
export const openDownload =
  (send: SendCall, refusalOf: RefusalOf) =>
  async (connection: VendorConnection, path: string, accept: string): Promise<OutboundResponse | null> => {
    const request = { headers: { accept }, maxBytes: bytes.repositoryFile };
    const answered = await send(connection, path, request).catch((error) => {
      throw error instanceof ResponseTooLarge ? fileTooLarge() : error;
    });
    if (answered.status === 404) return null;
    if (answered.status !== 200) throw refusalOf(connection, path, answered);
    return answered;
  };
