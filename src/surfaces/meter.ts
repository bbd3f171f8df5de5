// Counts requests against the rate limits of their credential and of its organization, and reports the remaining allowance in the response.
// Runtimes have rate limits of their own: a runtime that executes more missions sends more requests, and these requests must not use up the
// allowance of people and programs. Heartbeats of runtimes are counted separately, so that a runtime does not lose its missions because it
// reports too often.
import { createThrottle, rateLimitHeaders } from '#foundation/http/throttle.ts';
import { rates } from '#limits.ts';
import type { CallerSettings } from './frame.ts';

interface MeterSettings {
  /** Maximum number of requests per minute with one credential of a person or program. */
  requestsPerMinute: number;
  requestsPerMinuteOrganization?: number | undefined;
  /**
   * Maximum number of requests per minute with one credential of a runtime. The same number is the maximum for all runtimes of an
   * organization together. Heartbeats are counted separately, with the same two maximums.
   */
  requestsPerMinuteRuntime?: number | undefined;
}

export function createMeter({
  requestsPerMinute,
  requestsPerMinuteOrganization = rates.requestsPerMinuteOrganization,
  requestsPerMinuteRuntime = rates.requestsPerMinuteRuntime,
}: MeterSettings): CallerSettings['meter'] {
  const others = createRates(
    { name: 'requests', perMinute: requestsPerMinute },
    { name: 'organization', perMinute: requestsPerMinuteOrganization },
    'The organization has made too many requests.',
  );
  const runtimes = createRates(
    { name: 'runtime-requests', perMinute: requestsPerMinuteRuntime },
    { name: 'runtimes-of-organization', perMinute: requestsPerMinuteRuntime },
    'The runtimes of the organization have made too many requests.',
  );
  const urgent = createRates(
    { name: 'runtime-heartbeats', perMinute: requestsPerMinuteRuntime },
    { name: 'runtime-heartbeats-of-organization', perMinute: requestsPerMinuteRuntime },
    'The runtimes of the organization have sent too many heartbeats.',
  );
  return async ({ res }, { credentialId, orgId, scopes }, count, isUrgent = false) => {
    const isRuntime = scopes.has('runtime:report');
    const { ofCredential, ofOrganization } = isRuntime ? (isUrgent ? urgent : runtimes) : others;
    const headers = rateLimitHeaders(await ofCredential.take(credentialId, count));
    for (const name in headers) res.setHeader(name, headers[name]!);
    // Requests above the credential's own rate do not count against its organization.
    if (orgId) await ofOrganization.take(orgId, count);
  };
}

interface Rate {
  name: string;
  perMinute: number;
}

/**
 * Creates the rate limit of each credential and the rate limit of each organization. `description` is the text of the problem when an
 * organization exceeds its limit.
 */
const createRates = (credential: Rate, organization: Rate, description: string) => ({
  ofCredential: createThrottle(credential.name, credential.perMinute, 60),
  ofOrganization: createThrottle(organization.name, organization.perMinute, 60, description),
});
