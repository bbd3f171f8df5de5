// Recordings of missions: download.
import { pipeline } from 'node:stream/promises';
import { printJson } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';
import { download, save } from './artifacts.ts';

export async function get(options: CommonOptions & { output?: string }, runId: string): Promise<void> {
  const recording = await (await openClient(options.url)).recording({ runId });
  if (options.json) return printJson(recording);
  const content = await download(recording.url);
  if (options.output && options.output !== '-') return save(content, options.output);
  await pipeline(content, process.stdout, { end: false });
}
