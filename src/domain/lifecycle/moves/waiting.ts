// The background jobs of an organization, found by the record that their payload names.
import { openJobs, type StoredJob } from '#foundation/jobs/waiting-jobs.ts';
import { ChangeComment, ChangeReview } from '../../execution/reviews/model.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { AttemptGroup } from '../../work/attempts/model.ts';
import { ChatThread } from '../../work/chat-threads/model.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { Run } from '../../work/runs/model.ts';

type Find = (id: never) => Promise<{ orgId: string } | undefined>;

/** Finders of the records by the members of payloads that name them. */
const finders: readonly (readonly [member: string, find: Find])[] = [
  ['orgId', async (orgId: string) => ({ orgId })],
  ['runId', (id) => Run.find({ id })],
  ['threadId', (id) => ChatThread.find({ id })],
  ['groupId', (id) => AttemptGroup.find({ id })],
  ['deliveryId', (id) => InboundDelivery.find({ id })],
  ['projectId', (id) => Project.find({ id })],
  ['integrationId', (id) => Integration.find({ id })],
  ['reviewId', (id) => ChangeReview.find({ id })],
  ['commentId', (id) => ChangeComment.find({ id })],
];

async function organizationOf({ payload }: StoredJob): Promise<string | undefined> {
  const found = finders.find(([member]) => typeof payload[member] === 'string');
  return found && (await found[1](payload[found[0]] as never))?.orgId;
}

/** The jobs of an organization that have not ended. A mail is complete in its job, and is sent by the cell that has written it. */
export async function jobsOfOrganization(orgId: string): Promise<StoredJob[]> {
  const jobs: StoredJob[] = [];
  for await (const job of openJobs()) if ((await organizationOf(job)) === orgId) jobs.push(job);
  return jobs;
}
