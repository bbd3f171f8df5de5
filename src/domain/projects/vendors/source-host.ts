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
  /** Name of a branch, tag or commit; `HEAD` means the default branch. */
  ref: string;
  content: string;
}

/** URL and credentials with which git reaches a repository. */
export interface RepositoryAccess {
  /** An https URL, or the absolute path of a folder on the machine of the service. */
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
  /** Whether the pull request conflicts with its base branch. */
  hasConflict: boolean;
  /** Whether the host is still comparing the branches, so that a conflict may still be found. */
  isUndecided?: boolean;
  /** Whether the checks have passed and nothing else blocks the merge. */
  isReady: boolean;
}

/** A person's comment on a pull request. */
export interface ReviewComment {
  /** Permanent URL, which identifies the comment. */
  url: string;
  author: string;
  text: string;
  /** File and line of the comment; null for a comment on the whole change. */
  place: string | null;
}

/** A person's review of a change, written to its pull request. */
export interface WrittenReview {
  reviewId: string;
  /** The commit that the person has reviewed. */
  headSha: string;
  /** Text of the review in Markdown. */
  body: string;
  comments: readonly { id: string; path: string; side: 'old' | 'new'; startLine: number; line: number; body: string }[];
}

/** A thread of comments on lines of a pull request. */
export interface HostThread {
  /** The host's id of the thread. */
  key: string;
  /** Page of the thread's first comment. */
  url: string;
  path: string;
  side: 'old' | 'new';
  /** The commented lines; null when the newest commit does not contain them. */
  startLine: number | null;
  line: number | null;
  isResolved: boolean;
  /** Login of the person who resolved the thread. */
  resolvedBy: string | null;
  /** Id of the comment in this service from which the thread was created; null for a thread that began at the host. */
  commentId: string | null;
  /** Comments of the thread, oldest first. */
  comments: readonly { author: string; body: string; createdAt: number }[];
}

export interface ThreadAnswer {
  /** Id of the comment, which identifies it at the host. */
  id: string;
  /** Text of the comment in Markdown. */
  body: string;
}

/** Maximum number of threads that are read from a pull request, of comments in each thread, and of characters in each comment. */
export const threadBounds = { threads: 100, comments: 20, body: 4_000 } as const;

export interface NewPullRequest {
  branch: string;
  baseBranch: string;
  title: string;
  body: string;
}

/** Name of the commit status that shows a mission. */
export const statusContext = 'mission';

export interface CommitStatus {
  state: 'pending' | 'success' | 'failure';
  /** Text of the status, at most 140 characters. */
  description: string;
  /** URL of the mission's page. */
  url: string;
}

/** A check that shows a mission at a commit, for hosts that support more than a status. */
export interface CommitCheck {
  /** Identifies the check: a later call for the same commit changes it. */
  runId: string;
  state: 'working' | 'success' | 'failure' | 'canceled';
  title: string;
  /** Description of the check in Markdown. */
  summary: string;
  url: string;
}

/** Operations on pull requests. Each throws the problems of `Repository.readFile`. */
export interface PullRequests {
  /** Opens a pull request with this title and text, or updates the open pull request of the branch. */
  open(project: Project, wanted: NewPullRequest): Promise<PullRequest>;
  read(project: Project, number: number): Promise<PullRequest>;
  /** Reads the comments of people since a time, at most 100 of each kind, oldest first. */
  comments(project: Project, number: number, since: number): Promise<ReviewComment[]>;
  /** Writes a review; a repeated call writes nothing. Comments on lines that the host does not show become part of the review's text. */
  review(project: Project, number: number, review: WrittenReview): Promise<void>;
  /** Reads the threads on changed lines, oldest first, within `threadBounds`. */
  threads(project: Project, number: number): Promise<HostThread[]>;
  /** Resolves a thread, or opens it again. A repeated call changes nothing. @param key The key of the `HostThread` */
  resolveThread(project: Project, number: number, key: string, isResolved: boolean): Promise<void>;
  /** Writes a comment in a thread; a repeated call with the same id writes nothing. */
  answerThread(project: Project, number: number, key: string, comment: ThreadAnswer): Promise<void>;
  /** Sets the status that the mission shows on the commit. It replaces the status that the mission has set before. */
  setStatus(project: Project, sha: string, status: CommitStatus): Promise<void>;
  /**
   * Shows the mission as a check of the commit, one per run. Returns false when the credentials cannot create checks; the caller then sets
   * a status instead.
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
  /** Ids of the failed jobs, when the event contains them. */
  jobs: readonly string[];
}

/** An issue or pull request: a host may number both in one sequence, or in two separate sequences. */
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
  /**
   * Returns the URL and the credentials for git. @param isReadOnly Whether credentials that cannot push suffice. A host that cannot create such
   * credentials returns credentials that can push
   */
  access(project: Project, connector: Integration, isReadOnly?: boolean): Promise<RepositoryAccess>;
  /** Deletes a branch; a missing branch is not an error. @throws as `readFile` */
  deleteBranch(project: Project, connector: Integration, branch: string): Promise<void>;
  /** Whether an account may write to the repository; absent means the host has no accounts. @throws as `readFile` */
  mayWrite?(project: Project, login: string): Promise<boolean>;
  /** The person's account at the connector's host; null for an unknown login, and for the account of a program. @throws as `readFile` */
  findAccount?(connector: Integration, login: string): Promise<{ id: string; login: string } | null>;
  /** Adds a reaction to an issue or a comment, to show that the service has received the event about it. A repeated call changes nothing. */
  react?(project: Project, target: string): Promise<void>;
  /** Writes the comment of a run on an issue or pull request, or replaces the run's earlier comment. */
  comment?(project: Project, place: CommentPlace, comment: { runId: string; text: string }): Promise<void>;
  /** The failed jobs of a CI run as text, with the ends of their logs. */
  failedJobs?(project: Project, run: CiRun): Promise<string>;
  /** Operations on pull requests; absent for a host without pull requests. */
  pullRequests?: PullRequests;
}

/** Checks that the path stays inside the repository. @throws 400 that names the `field` */
export function checkPath(path: string, field = 'path'): void {
  const parts = path.split('/');
  if (path.startsWith('-') || hasControl(path) || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw invalid.field(field, 'must be a path relative to the root of the repository, without . and .. in it');
  }
}

/** Checks that the text is the name of a branch, tag or commit. @throws 400 */
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

/** Decodes a file. @throws 400 for content that is not text */
export function textOf(content: Buffer): string {
  try {
    if (!content.includes(0)) return utf8.decode(content);
  } catch {
    // Content that is not UTF-8 causes the same error as binary content.
  }
  throw invalid.field('path', 'the file is not a text file');
}

export const fileTooLarge = () => invalid.field('path', `the file has more than ${bytes.repositoryFile} bytes`);

/**
 * Downloads a file of at most `bytes.repositoryFile` bytes. Returns null for a 404, which a host also sends when the credentials do not give access
 * to the file. @throws Problems
 */
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
