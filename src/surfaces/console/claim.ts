// The claim page. An agent has named this person as its owner. The person types the code that the agent shows and selects the agent's
// access, or denies the claim (docs/contract.md#claims; docs/contract.md#claim-page). The agent's data about itself is marked as
// unverified.
import { z } from 'zod';
import { approveClaim, claimPageState, denyClaim, type OpenClaim } from '#domain/identity/agent-identities/approval.ts';
import { defaultScopes } from '#domain/identity/oauth/authorization-request.ts';
import { minutes, now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { Problem } from '#foundation/problem.ts';
import { plainText } from '#graph/validation.ts';
import { accessFields, accessForm, type Chosen, chosenAccess, isFormError, selectedAccess } from './access-choice.ts';
import { answerPage, answerProblemPage, formError, type Visitor } from './layout.ts';
import { ago } from './time.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

const address = '/claim';

interface ClaimPage {
  attemptToken: string;
  chosen?: Chosen;
}

export const showClaim: Handler = personsPage(async (exchange, visitor) => {
  const attemptToken = new URLSearchParams(exchange.search).get('claim_attempt_token') ?? '';
  await answerOrExplain(exchange, visitor, () => answerClaim(exchange, visitor, { attemptToken }));
});

const decided = z.object({ claim_attempt_token: plainText(), decision: z.enum(['approve', 'deny']) });
const approved = z.object({ user_code: plainText() });

export const decideClaim: Handler = personsForm(async (exchange, visitor, form) => {
  const { claim_attempt_token: attemptToken, decision } = fieldsOf(form, decided);
  const { person } = visitor;
  await answerOrExplain(exchange, visitor, async () => {
    if (decision === 'deny') {
      await denyClaim({ attemptToken, person });
      return answerDone(exchange, visitor, 'Denied', 'The agent gets no access. It can send a new request.');
    }
    try {
      const { user_code: userCode } = fieldsOf(form, approved);
      await approveClaim({ attemptToken, person, userCode, ...selectedAccess(visitor, form) });
    } catch (error) {
      if (!isFormError(error)) throw error;
      // The claim page is shown again with the error. If this attempt has ended the claim, `answerClaim` throws.
      return answerClaim(exchange, visitor, { attemptToken, chosen: chosenAccess(form) }, error);
    }
    await answerDone(exchange, visitor, 'Done', 'The agent has access. You can close this page.');
  });
});

/** Shows an error page, with the sign-out button, for a claim that this person cannot decide, or can no longer decide. */
async function answerOrExplain(exchange: Exchange, visitor: Visitor, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    await answerProblemPage(exchange, error, visitor);
  }
}

function answerDone(exchange: Exchange, visitor: Visitor, title: string, sentence: string): Promise<void> {
  const body = html`<section class="card"><h1>${title}</h1>
    <p>${sentence}</p>
    <p><a class="button quiet" href="/console/connected-agents">Connected agents</a></p></section>`;
  return answerPage(exchange, 200, { title, body, visitor });
}

async function answerClaim(
  exchange: Exchange,
  visitor: Visitor,
  { attemptToken, chosen }: ClaimPage,
  problem?: Problem,
): Promise<void> {
  const claim = await claimPageState(attemptToken, visitor.person);
  if (claim === 'claimed') return answerDone(exchange, visitor, 'Done', 'This agent is already claimed.');
  const form = await accessForm(visitor, defaultScopes, {
    action: `${address}/complete`,
    hidden: html`<input type="hidden" name="claim_attempt_token" value="${attemptToken}">`,
    fields: (offer) => html`<div class="field"><label for="user-code">Code shown by the agent</label>
        <input class="code" id="user-code" name="user_code" inputmode="numeric" autocomplete="off" maxlength="12" required autofocus${problem && html` aria-describedby="form-error"`}></div>
      ${accessFields(offer, chosen, claim.providerName ? undefined : isReading)}`,
  });
  const body = html`<section class="card">
    <h1>An agent requests access</h1>
    ${aboutAgent(claim)}
    ${formError(problem?.body.description)}
    ${form}
  </section>`;
  await answerPage(exchange, problem?.status ?? 200, { title: 'Claim an agent', body, visitor });
}

/** Whether the scope only allows reading; only such scopes are preselected for an agent that no provider vouches for. */
const isReading = (scope: string): boolean => scope.endsWith(':read');

const nameOf = ({ agentName }: OpenClaim): Html =>
  agentName
    ? html`<bdi>${agentName}</bdi> <span class="muted small">unverified</span>`
    : html`<span class="muted">No name</span>`;

const whoVouches: Record<Exclude<OpenClaim['kind'], 'identity_assertion'>, string> = {
  anonymous: 'Nobody. The agent registered itself and named your email address.',
  service_auth: 'Nobody. The agent registered itself for your email address.',
};

const aboutAgent = (claim: OpenClaim): Html => html`<dl class="facts">
      <dt>Name</dt><dd>${nameOf(claim)}</dd>
      <dt>Vouched for by</dt><dd>${claim.kind === 'identity_assertion' ? html`<strong>${claim.providerName}</strong>` : whoVouches[claim.kind]}</dd>
      <dt>Registered</dt><dd>${ago(claim.registeredAt)}</dd>
      <dt>Network address</dt><dd>${claim.address ?? 'Unknown'}</dd>
      <dt>Code expires in</dt><dd>${minutesUntil(claim.codeExpiresAt)}</dd>
    </dl>
    <p class="note">Allow this only if you are in touch with the agent right now and it shows you the code itself.</p>
    ${claim.isFirstAgent && html`<p class="note">This is the first agent on your account. It acts as you, within the scopes you select below.</p>`}
    ${claim.isFirstOfProvider && html`<p class="note">This is your first link with ${claim.providerName}. From now on, your agents for which it vouches get this access without asking again.</p>`}`;

const minutesUntil = (epochMs: number): string => {
  const left = Math.ceil((epochMs - now()) / minutes(1));
  return left === 1 ? '1 minute' : `${left} minutes`;
};
