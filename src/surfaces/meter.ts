// Counts requests against the rates of their credential and of its organization, and reports the remaining allowance in the response.
import { createThrottle, rateLimitHeaders } from '#foundation/http/throttle.ts';
import { rates } from '#limits.ts';
import type { CallerSettings } from './frame.ts';

interface MeterSettings {
  /** Requests with one credential. */
  requestsPerMinute: number;
  requestsPerMinuteOrganization?: number | undefined;
}

export function createMeter({
  requestsPerMinute,
  requestsPerMinuteOrganization,
}: MeterSettings): CallerSettings['meter'] {
  const ofCredential = createThrottle('requests', requestsPerMinute, 60);
  const ofOrganization = createThrottle(
    'organization',
    requestsPerMinuteOrganization ?? rates.requestsPerMinuteOrganization,
    60,
    'The organization has made too many requests.',
  );
  return async ({ res }, { credentialId, orgId }, count) => {
    const headers = rateLimitHeaders(await ofCredential.take(credentialId, count));
    for (const name in headers) res.setHeader(name, headers[name]!);
    // Only requests within the credential's own rate count against its organization.
    if (orgId) await ofOrganization.take(orgId, count);
  };
}
