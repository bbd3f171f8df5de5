// Uploads local changes to a mission that has ended. They become its newest checkpoint, from which the mission is
// continued.
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { topOf } from '../checkout.ts';
import { packWork, recordCheckpoint, refuseOutdated } from '../local-work.ts';
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { fetchCheckpoint, readPulled } from './pull.ts';

interface Reserved {
  contentKey: string;
  uploadUrl: string;
}

export async function push(options: CommonOptions & { directory: string }, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const folder = await topOf(options.directory);
  const { branch, finishedAt, step } = await readPulled(client, runId);
  if (finishedAt === null)
    throw new UserError(
      'The mission is still running and would overwrite your changes: wait until it ends, or cancel it.',
    );
  const bundle = await fetchCheckpoint(folder, step);
  const temporary = await mkdtemp(path.join(tmpdir(), 'aep-push-'));
  try {
    await refuseOutdated(folder, branch, bundle);
    const file = path.join(temporary, 'changes.bundle');
    const { commitSha, head, isKnown } = await packWork(folder, bundle, file);
    const pushed = { runId, branch, commitSha: isKnown ? step.checkpoint.commitSha : commitSha, headSha: head };
    if (!isKnown) {
      const reserve = 'mutation ($runId: String!) { createCheckpointUpload(runId: $runId) { contentKey uploadUrl } }';
      const { contentKey, uploadUrl } = (await client.graphql<{ createCheckpointUpload: Reserved }>(reserve, { runId }))
        .createCheckpointUpload;
      await upload(uploadUrl, file);
      const input = { runId, contentKey, commitSha, replacesCommitSha: step.checkpoint.commitSha };
      await client.graphql('mutation ($input: PushCheckpointRequest!) { pushCheckpoint(input: $input) { id } }', {
        input,
      });
      await recordCheckpoint(folder, branch, commitSha);
    }
    if (options.json) return printJson({ ...pushed, isChanged: !isKnown });
    printLine(
      isKnown
        ? 'The mission has these files already.'
        : `The mission has ${branch} at ${head.slice(0, 7)} and your uncommitted files.`,
    );
    printLine(`Continue the mission from there: aep continue ${runId} "…"`);
  } finally {
    await bundle.forget();
    await rm(temporary, { recursive: true, force: true });
  }
}

async function upload(url: string, file: string): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body: await openAsBlob(file) });
  if (!response.ok)
    throw new UserError(`The upload failed: ${response.status} ${(await response.text()).slice(0, 300)}`);
}
