// A background job is part of the trace of the change that has written it: its payload contains the trace context.
import { asService } from '../postgres/origin.ts';
import { traced, tracing } from '../tracing/tracing.ts';

export function withTrace(payload: object): object {
  const traceparent = tracing()?.active()?.context().traceparent;
  return traceparent ? { ...payload, traceparent } : payload;
}

interface Attempt {
  queue: string;
  job: string;
  try: number;
}

export async function runJob(
  { queue, job, try: attempt }: Attempt,
  data: { traceparent?: string },
  handle: (payload: never) => Promise<void>,
): Promise<void> {
  const { traceparent, ...payload } = data;
  const attributes = { 'aep.queue': queue, 'aep.job_id': job, 'aep.attempt': attempt };
  const describe = () => ({ name: `process ${queue}`, kind: 'consumer', parent: { traceparent }, attributes }) as const;
  await traced(describe, () => asService('system', 'background', queue, () => handle(payload as never)));
}
