// Artifacts: list, download.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { forTerminal, paint, plain, printError, printJson, printLine, printTable } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';

export async function list(options: CommonOptions & { run?: string; project?: string; limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const issueId = options.run && (await client.run({ runId: options.run })).issueId;
  const artifacts =
    issueId === null
      ? []
      : await client
          .artifacts({
            ...(issueId && { issueId }),
            ...(options.project && { projectId: (await findProject(client, options.project)).id }),
          })
          .take(options.limit);
  if (options.json) return printJson(artifacts);
  printTable(artifacts, {
    id: ({ id }) => id,
    kind: ({ kind }) => kind,
    type: ({ contentType }) => contentType,
    bytes: ({ sizeBytes }) => sizeBytes,
    caption: ({ caption }) => caption,
  });
}

export async function get(options: CommonOptions & { output?: string }, artifactId: string): Promise<void> {
  const artifact = await (await openClient(options.url)).artifact({ artifactId });
  if (options.json) return printJson(artifact);
  const isText = /^text\/|json|xml/.test(artifact.contentType);
  if (!options.output && process.stdout.isTTY && !isText) {
    throw new UserError(`${artifactId} is ${artifact.contentType}. Name a file with --output.`);
  }
  if (!artifact.url) throw new UserError(`${artifactId} no longer has content.`);
  const content = await download(artifact.url);
  if (!options.output || options.output === '-') {
    return pipeline(process.stdout.isTTY ? linesForTerminal(content) : content, process.stdout, { end: false });
  }
  await save(content, options.output);
}

/** Writes the file, which gets its name once it is complete. */
export async function save(content: Readable, file: string): Promise<void> {
  const draft = `${file}.part`;
  try {
    await pipeline(content, createWriteStream(draft));
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  printError(`Wrote ${file}.`);
}

/** The URL is signed, so no token is sent. */
export async function download(url: string): Promise<Readable> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new UserError(`The download failed with HTTP ${response.status}.`);
  return Readable.fromWeb(response.body as ReadableStream);
}

interface ChangeAnswer {
  run: { changeDiff: { id: string; caption: string | null; createdAt: string; url: string } | null };
}

export async function diff(options: CommonOptions, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const query = 'query ($runId: String!) { run(runId: $runId) { changeDiff { id caption createdAt url } } }';
  const { changeDiff } = (await client.graphql<ChangeAnswer>(query, { runId })).run;
  if (options.json) return printJson(changeDiff);
  if (!changeDiff) throw new UserError(`${runId} has no changes.`);
  const content = await download(changeDiff.url);
  if (!process.stdout.isTTY) return pipeline(content, process.stdout, { end: false });
  for await (const line of createInterface({ input: content, crlfDelay: Infinity })) printLine(paintChange(line));
}

function paintChange(line: string): string {
  const text = plain(line);
  if (/^(diff |index |\+\+\+ |--- )/.test(text)) return paint('bold', text);
  if (text.startsWith('@@')) return paint('cyan', text);
  return text.startsWith('+') ? paint('green', text) : text.startsWith('-') ? paint('red', text) : text;
}

/** Processes whole lines, so that no control sequence is split. */
async function* linesForTerminal(content: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: content, crlfDelay: Infinity })) yield `${forTerminal(line)}\n`;
}
