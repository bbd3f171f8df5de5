// Sealed texts that a browser keeps for the service, in a cookie or a form, until they expire.
import type { z } from 'zod';
import { now } from '#foundation/clock.ts';
import { unseal } from '#foundation/secrets/secrets.ts';

/** The content of a sealed text; null for any other text, and for one that has expired. */
export function openSealed<Content extends { expiresAt: number }>(
  schema: z.ZodType<Content>,
  sealed: string | null,
  purpose: string,
): Content | null {
  if (!sealed) return null;
  try {
    const content = schema.parse(JSON.parse(unseal(purpose, sealed)));
    return content.expiresAt > now() ? content : null;
  } catch {
    return null;
  }
}
