// Finds sessions of Claude Code and Codex in a checkpoint, and writes them to the folders of the local user in which these programs look for
// their sessions.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { gitBytes } from './checkout.ts';

export interface AgentSession {
  harness: 'claude' | 'codex';
  id: string;
  /** The file, relative to the folder of its harness; null for Claude Code, which names files by folder and session. */
  name: string | null;
  blob: string;
}

export async function readSessions(folder: string, sessions: string): Promise<AgentSession[]> {
  const listed = String(await gitBytes(folder, 'ls-tree', '-r', '-z', sessions));
  return listed.split('\0').flatMap((line) => {
    const [, blob, file] = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
    const session = file && sessionOf(file);
    return session ? [{ ...session, blob: blob! }] : [];
  });
}

/** Other files in these folders belong to the agent and are left out. */
function sessionOf(file: string): Omit<AgentSession, 'blob'> | null {
  const claude = /^\.claude\/projects\/[^/]+\/(\w[\w-]*)\.jsonl$/.exec(file)?.[1];
  if (claude) return { harness: 'claude', id: claude, name: null };
  const [, name, codex] =
    /^\.codex\/(sessions\/(?:\d+\/)*rollout-[\w:.-]*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl)$/.exec(
      file,
    ) ?? [];
  return codex ? { harness: 'codex', id: codex, name: name! } : null;
}

export interface WrittenSession {
  file: string;
  /**
   * `written` means that the session was written to the file. In the other two cases, the existing file was kept. `newer` means that the user
   * has continued the session in the existing file. `differs` means that the existing file is neither an
   * earlier nor a later state of the session.
   */
  state: 'written' | 'newer' | 'differs';
}

/**
 * Writes a session to the folder where its program looks for it. @param folder The top of the checkout, as a real path,
 * because Claude Code finds the sessions of a working folder by the path of that folder
 */
export async function writeSession(folder: string, session: AgentSession): Promise<WrittenSession> {
  const file = fileOf(folder, session);
  const content = await gitBytes(folder, 'cat-file', 'blob', session.blob);
  const before = await readFile(file).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  });
  if (before.length > content.length && before.subarray(0, content.length).equals(content))
    return { file, state: 'newer' };
  if (!content.subarray(0, before.length).equals(before)) return { file, state: 'differs' };
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return { file, state: 'written' };
}

function fileOf(folder: string, { harness, id, name }: AgentSession): string {
  if (harness === 'codex') return path.join(process.env.CODEX_HOME || path.join(homedir(), '.codex'), name!);
  const home = process.env.CLAUDE_CONFIG_DIR || path.join(homedir(), '.claude');
  return path.join(home, 'projects', folder.replace(/[^a-zA-Z0-9]/g, '-'), `${id}.jsonl`);
}

export const resumeCommand = (session: AgentSession | undefined): string | null =>
  session ? `${session.harness === 'claude' ? 'claude --resume' : 'codex resume'} ${session.id}` : null;
