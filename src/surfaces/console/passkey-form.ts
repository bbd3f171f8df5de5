// The forms in which a browser creates a passkey or signs in with a passkey (passkey-script.ts), and the data that they send.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { arePasskeysPossible } from '#domain/organization/people/passkeys.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { invalid } from '#foundation/problem.ts';
import { plainText } from '#graph/validation.ts';
import { fieldsOf } from './visitor.ts';

/** The option `script` of a page with a passkey form. */
export const passkeyPageScript = (): 'passkey.js' | undefined => (arePasskeysPossible() ? 'passkey.js' : undefined);

/**
 * The form for a passkey. It stays hidden until the script has found that the browser supports passkeys. @param fields Hidden fields that
 * are sent with the request for the options and with the form
 */
export const passkeyForm = (
  kind: 'create' | 'sign-in',
  action: string,
  button: string,
  fields: Html,
): Html => html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${action}/options">
      ${fields}<input type="hidden" name="credential">
      <p class="note error" role="status" hidden></p>
      <button${kind === 'sign-in' && html` class="quiet full"`}>${button}</button>
    </form>`;

const base64url = z.base64url().max(20_000);
const credential = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
});
const created = credential.extend({
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(50)).max(20).optional(),
  }),
});
const asserted = credential.extend({
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});

/** A new passkey in the browser's format (RegistrationResponseJSON). @throws 400 */
export const createdPasskey = (form: URLSearchParams): RegistrationResponseJSON => credentialOf(form, created);

/** A signed challenge (AuthenticationResponseJSON). @throws 400 */
export const assertedPasskey = (form: URLSearchParams): AuthenticationResponseJSON => credentialOf(form, asserted);

function credentialOf<S extends z.ZodType>(form: URLSearchParams, shape: S): z.output<S> {
  const { credential: text } = fieldsOf(form, z.object({ credential: plainText() }));
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw invalid.field('credential', 'must be the JSON of a public key credential');
  }
}
