// Secrets of webhook endpoints, and the signature of Standard Webhooks (standardwebhooks.com, version 1.0.0).
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { seconds } from '#foundation/clock.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import type { WebhookEndpoint } from './model.ts';

export const endpointPurpose = (endpointId: string) => `webhook endpoint:${endpointId}`;

export function newSecretOf(endpointId: string): { secret: string; sealed: string } {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { secret, sealed: seal(endpointPurpose(endpointId), secret) };
}

export interface SealedSecrets extends Pick<WebhookEndpoint, 'id'> {
  sealedSecret: string;
  sealedPreviousSecret: string | null;
  previousSecretUntil: number | null;
}

/** Decrypts the current secret of the endpoint, and also the previous secret while the previous secret is still used for signing. */
export function unsealSecrets(endpoint: SealedSecrets, at: number): string[] {
  const { id, sealedSecret, sealedPreviousSecret, previousSecretUntil } = endpoint;
  const previous = (previousSecretUntil ?? 0) > at ? sealedPreviousSecret : null;
  return [sealedSecret, previous].flatMap((sealed) => (sealed === null ? [] : [unseal(endpointPurpose(id), sealed)]));
}

/** Headers of a message; `id` is the same in each attempt. */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / seconds(1))),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
  };
}
