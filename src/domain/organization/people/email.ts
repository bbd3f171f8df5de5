// Email addresses: the syntax that a browser's email field accepts (WHATWG HTML, "valid email address"), with length limits.
import { z } from 'zod';
import { text } from '#limits.ts';

export const emailAddress = z
  .email({ pattern: z.regexes.html5Email })
  .min(text.email.min)
  .max(text.email.max)
  .describe('An email address; case-insensitive.');

/** The form in which an address is stored and compared: lower case. */
export const normalizeEmail = (address: string): string => address.toLowerCase();

/** The domain of an address. @param email The address in lower case, as it is stored */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);
