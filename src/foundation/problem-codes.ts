// Every code of a problem: its status, its meaning and the remedy.

interface ProblemCodeEntry {
  status: number;
  meaning: string;
  remedy: string;
}

const entries = {
  invalid_request: {
    status: 400,
    meaning: 'The request cannot be read, has a value of a wrong type or out of bounds, or names an unknown value.',
    remedy: 'The description names each invalid field and its requirement. Correct the fields.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'The credential is missing, invalid, expired, revoked, or for another resource.',
    remedy:
      'Send `Authorization: Bearer <token>` with a token of the API. `WWW-Authenticate` leads to the metadata of the authorization server.',
  },
  credits_exhausted: {
    status: 402,
    meaning: 'The organization has no credits left, so it cannot start a mission.',
    remedy: 'An owner can buy credits on the billing page; a member can request them there.',
  },
  daily_cost_cap: {
    status: 402,
    meaning: "Today's missions have reached the daily cost cap of the organization.",
    remedy: 'Wait until midnight UTC, or have an admin raise the cap (`PATCH /orchestrator`).',
  },
  budget_exhausted: {
    status: 402,
    meaning: 'A budget of the organization, of the project or of the person who starts the mission is used up.',
    remedy: 'The description names the budget. Wait until its next day or month, UTC, or have an admin raise it.',
  },
  plan_limit: {
    status: 402,
    meaning: 'The plan of the organization allows no more projects, or no more missions at once.',
    remedy: 'Delete a project or end a mission, or have an owner choose a larger plan.',
  },
  forbidden: {
    status: 403,
    meaning: 'The credential is not allowed to do this, regardless of its scopes.',
    remedy: 'The description names the requirement. Some calls are only for people who are signed in to the console.',
  },
  missing_scope: {
    status: 403,
    meaning: 'The credential lacks a scope that the call needs, or requests one beyond its own grant.',
    remedy: 'The description names each scope. Use a credential with these scopes.',
  },
  address_not_allowed: {
    status: 403,
    meaning: 'The organization has a list of allowed networks, which does not contain the address of the request.',
    remedy:
      'The description names the address. Send the request from an allowed network, or have an owner add this one on the page Sign-in.',
  },
  agent_not_claimed: {
    status: 403,
    meaning: 'The agent has registered itself, and no person has claimed it.',
    remedy: 'Have a person claim it. Until then it can call only `/me` and `/scopes`.',
  },
  not_found: {
    status: 404,
    meaning: 'There is no such record or path, or the record belongs to another organization or is out of reach.',
    remedy: 'Check the id, and with `GET /me` which organization and project the credential is for.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but does not support this method.',
    remedy: '`Allow` lists the supported methods.',
  },
  not_acceptable: {
    status: 406,
    meaning: 'The answer is not available in a media type that `Accept` allows.',
    remedy: 'Send `Accept: application/json`, or `text/event-stream` for a subscription.',
  },
  conflict: {
    status: 409,
    meaning: 'Such a record already exists, or its state does not allow the change.',
    remedy:
      'The description names the cause. With `Retry-After`, the same call may succeed later, for example when the first call with this ' +
      '`Idempotency-Key` has ended.',
  },
  record_changed: {
    status: 409,
    meaning: 'The record was changed after you read it: its `updatedAt` is no longer the `ifUpdatedAt` of the call.',
    remedy: 'Read the record again, then repeat the change.',
  },
  model_required: {
    status: 409,
    meaning:
      'No agent that may work on the mission has a model: the organization has connected none, and no runtime has one.',
    remedy:
      'Connect a model on the page Integrations (`connectIntegration`). A prompt that is a shell script needs none: name an agent ' +
      'with the harness `shell`, such as `agn_builtin_shell`.',
  },
  read_only: {
    status: 409,
    meaning: 'The service serves an organization file: the organization can be read but not changed.',
    remedy: 'Join the file to an installation (`org:join`), and change the organization there.',
  },
  organization_closed: {
    status: 409,
    meaning: 'The organization is closed: until it is erased, it can be read but not changed.',
    remedy: 'A closed organization cannot be opened again. Use another organization.',
  },
  lease_lost: {
    status: 409,
    meaning: 'The runtime no longer holds the run: its lease expired, or the run has ended.',
    remedy: 'Stop working on the run, and claim the next one.',
  },
  gone: {
    status: 410,
    meaning: 'The claim of an agent has expired, was answered, or was replaced by a newer one.',
    remedy: 'Have the agent start a new claim.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body has more bytes than the endpoint accepts.',
    remedy: 'The description states the limit. Send less.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body has a media type that the endpoint does not accept.',
    remedy: 'Send JSON with `Content-Type: application/json`.',
  },
  misdirected_request: {
    status: 421,
    meaning: 'The `Host` of the request is not a name of this service.',
    remedy:
      'Use an address that is configured for the service. Its operator sets them with `PUBLIC_URL`, `ISSUER_URL`, `MCP_URL`, `A2A_URL`.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The `Idempotency-Key` was used for another request within 24 hours.',
    remedy: 'Use a new key for a new request, and the same body for a repeated one.',
  },
  rate_limited: {
    status: 429,
    meaning: 'The credential, the organization or the network has made too many requests.',
    remedy: 'Wait for the number of seconds in `Retry-After`.',
  },
  internal: {
    status: 500,
    meaning: 'The service failed. The request id identifies the failure in its log.',
    remedy: 'Report the request id to the operator.',
  },
  upstream_failed: {
    status: 502,
    meaning: 'A service that this one depends on, such as a tracker, failed.',
    remedy: 'Repeat the call later.',
  },
  unavailable: {
    status: 503,
    meaning: 'The database is unreachable or overloaded.',
    remedy: 'Repeat the call after `Retry-After` seconds, a POST with its `Idempotency-Key`.',
  },
  organization_moving: {
    status: 503,
    meaning: 'The organization is being moved to another cell. It can be read, but not changed.',
    remedy: 'Repeat the call after `Retry-After`. The address and the credential stay the same.',
  },
  too_busy: {
    status: 503,
    meaning: 'This process, or the share of it that the organization has, is at capacity. Nothing was executed.',
    remedy: 'Repeat the call after `Retry-After` seconds.',
  },
  upstream_busy: {
    status: 503,
    meaning: 'A service that this one depends on limits its rate.',
    remedy: 'Repeat the call after `Retry-After` seconds.',
  },
  upstream_unavailable: {
    status: 503,
    meaning: 'A service that this one depends on does not answer.',
    remedy: 'Repeat the call after `Retry-After` seconds.',
  },
  upstream_timeout: {
    status: 504,
    meaning: 'A service that this one depends on did not answer in time.',
    remedy: 'Repeat the call later.',
  },
} satisfies Record<string, ProblemCodeEntry>;

export type ProblemCode = keyof typeof entries;
export const problemCodes: Readonly<Record<ProblemCode, ProblemCodeEntry>> = entries;

/** Path of the page that lists all codes, below the public address. The page has an anchor for each code. */
export const errorsPath = '/reference/errors';
