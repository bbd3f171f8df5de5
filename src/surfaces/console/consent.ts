// The authorization page: a person decides on a client's request for access (RFC 6749 §4.1, RFC 9207; docs/contract.md#authorization-page).
// It is shown every time, because anybody can use a public client's id. The page never redirects to an untrusted URL.
import { z } from 'zod';
import {
  type AuthorizationRequest,
  codeAddress,
  denialAddress,
  errorAddress,
  type ReturnedError,
  readAuthorizationRequest,
} from '#domain/identity/oauth/authorization-request.ts';
import { isDocumentAddress } from '#domain/identity/oauth/client-documents.ts';
import { approve } from '#domain/identity/oauth/codes.ts';
import { OAuthError } from '#domain/identity/oauth/errors.ts';
import { isLoopbackRedirect } from '#domain/identity/oauth/redirect-uris.ts';
import { type Resource, resourceUri } from '#domain/identity/oauth/resources.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { createThrottle } from '#foundation/http/throttle.ts';
import { invalid, type Problem } from '#foundation/problem.ts';
import { plainText } from '#graph/validation.ts';
import { rates } from '#limits.ts';
import { accessFields, accessForm, type Chosen, chosenAccess, isFormError, selectedAccess } from './access-choice.ts';
import { answerPage, formError, type Visitor } from './layout.ts';
import { fieldsOf, personsForm, signInFirst, visitorOf } from './visitor.ts';

const address = '/oauth/authorize';

export function createConsent(): { showConsent: Handler; decideConsent: Handler } {
  const fetches = createThrottle(
    'client-documents',
    rates.clientDocumentsPerMinute,
    60,
    'Too many client metadata documents were requested from this address.',
  );

  /** An error that must not be sent to the client is shown on a page with status 400 (docs/contract.md#authorization-page). */
  async function read(exchange: Exchange, query: URLSearchParams): Promise<AuthorizationRequest | ReturnedError> {
    try {
      return await readAuthorizationRequest(query, () => fetches.take(exchange.address));
    } catch (error) {
      if (error instanceof OAuthError) throw invalid(`This sign-in cannot continue. ${error.description}`);
      throw error;
    }
  }

  return {
    async showConsent(exchange) {
      const query = new URLSearchParams(exchange.search);
      const visitor = await visitorOf(exchange);
      // Only a signed-in person may read the request, because reading it may fetch the client's document.
      if (!visitor && isDocumentAddress(query.get('client_id') ?? '')) return signInFirst(exchange);
      const request = await read(exchange, query);
      if ('error' in request) return sendBack(exchange, request.redirectUri, errorAddress(request));
      if (!visitor) return signInFirst(exchange);
      await answerConsent(exchange, visitor, { query, request });
    },

    decideConsent: personsForm(async (exchange, visitor, form) => {
      const { request: text, decision } = fieldsOf(form, decided);
      const query = new URLSearchParams(text);
      // The request is validated again, because the browser may have changed it.
      const request = await read(exchange, query);
      if ('error' in request) return sendBack(exchange, request.redirectUri, errorAddress(request));
      if (decision === 'deny') return sendBack(exchange, request.redirectUri, denialAddress(request));
      try {
        const code = await approve(request, { userId: visitor.person.id, ...selectedAccess(visitor, form) });
        await sendBack(exchange, request.redirectUri, codeAddress(request, code));
      } catch (error) {
        if (!isFormError(error)) throw error;
        await answerConsent(exchange, visitor, { query, request, chosen: chosenAccess(form) }, error);
      }
    }),
  };
}

const decided = z.object({ request: plainText(), decision: z.enum(['approve', 'deny']) });

interface ConsentPage {
  /** Parameters of the request as received, which the form sends again. */
  query: URLSearchParams;
  request: AuthorizationRequest;
  chosen?: Chosen;
}

async function answerConsent(
  exchange: Exchange,
  visitor: Visitor,
  { query, request, chosen }: ConsentPage,
  problem?: Problem,
): Promise<void> {
  const form = await accessForm(visitor, request.scopes, {
    action: address,
    hidden: html`<input type="hidden" name="request" value="${query.toString()}">`,
    fields: (offer) => html`${accessFields(offer, chosen)}
      ${!request.isOffline && html`<p class="hint">It did not request offline access, so its access expires in one hour.</p>`}`,
  });
  const name = request.client.name ?? 'A client without a name';
  const body = html`<section class="card">
    <h1><bdi>${name}</bdi> requests access</h1>
    ${aboutClient(request)}
    ${formError(problem?.body.description)}
    ${form}
  </section>`;
  const { sources: formTargets } = placeOf(request.redirectUri);
  await answerPage(exchange, problem?.status ?? 200, { title: 'Allow access', body, visitor, formTargets });
}

const resourceNames: Record<Resource, string> = {
  api: 'the API',
  mcp: 'the MCP server',
  a2a: 'the agent-to-agent endpoint',
};

function aboutClient({ client, redirectUri, resource }: AuthorizationRequest): Html {
  const isDocument = isDocumentAddress(client.id);
  return html`<dl class="facts">
      <dt>Client</dt><dd>${isDocument ? html`<strong>${new URL(client.id).host}</strong>` : 'Registered itself; the name is unverified'}
        <div class="muted small"><code>${client.id}</code></div></dd>
      ${
        client.clientUri &&
        html`<dt>Its page</dt><dd><a href="${client.clientUri}" rel="noreferrer noopener" target="_blank">${client.clientUri}</a>
        <div class="muted small">As stated by the client; unverified</div></dd>`
      }
      <dt>Redirects to</dt><dd><strong>${placeOf(redirectUri).name}</strong></dd>
      <dt>Access to</dt><dd>${resourceNames[resource]} <span class="muted small">${resourceUri(resource)}</span></dd>
    </dl>
    ${
      isLoopbackRedirect(redirectUri) &&
      html`<p class="note">It redirects to a program on your own machine. Allow it only if you started this sign-in there just now.</p>`
    }`;
}

/** The host of a redirect URI for display, and the sources that the Content-Security-Policy must allow for it. */
function placeOf(redirectUri: string): { name: string; sources: string[] } {
  const { protocol, host, origin } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol)) return { name: `an app on this device (${protocol})`, sources: [protocol] };
  // A policy cannot contain an IPv6 address, so the scheme is allowed instead. All https URLs are allowed too: the client may redirect the
  // browser from its own URL to another one, and Chromium checks every redirect against the policy.
  return { name: host, sources: [host.startsWith('[') ? protocol : origin, 'https:'] };
}

/**
 * Redirects to the client with a 303, so that the browser does not send the form again (RFC 9700 §4.12). The page contains a link for apps
 * that do not open automatically.
 */
const sendBack = (exchange: Exchange, redirectUri: string, location: string): Promise<void> =>
  answerPage(
    exchange,
    303,
    {
      title: 'Back to the client',
      body: html`<section class="card"><h1>Done</h1>
    <p><a href="${location}">Continue to ${placeOf(redirectUri).name}</a></p></section>`,
    },
    { location },
  );
