// Failed pipelines and jobs in GitLab. The source host has the logs of the jobs.
import type { InboundEvent, UnusedEvent } from '../event.ts';
import { noDetails, type ReadPayload, readerOf, textOfCheck } from '../event-reader.ts';
import { statusContext } from '../source-host.ts';
import { repositoryOf } from './api.ts';
import { JobEvent, PipelineEvent } from './event-shapes.ts';

export const checkReaders: Readonly<Record<'pipeline' | 'build', ReadPayload>> = {
  pipeline: readerOf(PipelineEvent, ({ object_attributes: one, merge_request, project, builds }) => {
    const failedJobs = (builds ?? []).filter(({ status, allow_failure }) => status === 'failed' && !allow_failure);
    if (failedJobs.length > 0 && failedJobs.every(({ name }) => name === statusContext))
      return { reason: 'The status was set by a mission.' };
    const names = failedJobs.map(({ name }) => name).join(', ');
    return failedCheck(project.path_with_namespace, `pipeline ${one.id}`, {
      name: `${one.name ?? 'Pipeline'}${names && `: ${names}`}`,
      status: one.status,
      url: one.url,
      sha: one.sha,
      branch: merge_request?.source_branch ?? (one.tag ? null : one.ref),
      jobs: failedJobs.filter(({ name }) => name !== statusContext).map(({ id }) => String(id)),
    });
  }),

  build: readerOf(JobEvent, (job) => {
    const path = job.project?.path_with_namespace ?? pathIn(job.repository?.homepage);
    if (!path) return { reason: 'The payload lacks project.' };
    if (job.build_name === statusContext) return { reason: 'The status was set by a mission.' };
    if (job.build_allow_failure) return { reason: `The job ${job.build_name} is allowed to fail.` };
    return failedCheck(path, `job ${job.build_id}`, {
      name: job.build_name,
      status: job.build_status,
      url: null,
      sha: job.sha,
      branch: job.tag ? null : job.ref,
      jobs: [String(job.build_id)],
    });
  }),
};

const pathIn = (homepage: string | null | undefined): string | undefined =>
  /^https?:\/\/[^/]+\/([^?#]+)/.exec(homepage ?? '')?.[1];

interface Check {
  name: string;
  status: string;
  url: string | null | undefined;
  sha: string;
  branch: string | null | undefined;
  jobs: readonly string[];
}

function failedCheck(
  path: string,
  key: string,
  { name, status, url, sha, branch = null, jobs }: Check,
): Omit<InboundEvent, 'payload'> | UnusedEvent {
  if (status !== 'failed') return { reason: `The check has not failed: ${status}.` };
  const at = branch ? ` on ${branch}` : '';
  const text = textOfCheck(`Check: ${name}: failed${at}, commit ${sha}`, url, '');
  return {
    ...noDetails,
    kind: 'check',
    action: 'failed',
    repository: repositoryOf(path),
    title: `${name} failed${at}`,
    author: null,
    issue: null,
    branch,
    ciRun: jobs.length > 0 ? { id: key, attempt: 1, jobs } : null,
    remark: { number: null, sha, key: `${name} ${sha}`, text, approves: null, isReview: false },
    text,
    key: `${path} ${key}`,
  };
}
