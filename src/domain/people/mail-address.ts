// What counts as a mail address: what a browser's own field takes (WHATWG HTML, "valid email address"), in bounds. Pure.
import { z } from 'zod';
import { text } from '#limits.ts';

export const mailAddress = z
  .email({ pattern: z.regexes.html5Email })
  .min(text.email.min)
  .max(text.email.max)
  .describe('A mail address; upper and lower case are the same.');

/** The one spelling under which an address is stored and compared. */
export const normalAddress = (address: string): string => address.toLowerCase();
