// The email with an invite. The name of the organization is free text: it is quoted, and escaped so that no part becomes a link.
import { addresses } from '#foundation/http/addresses.ts';
import type { Mail } from '#foundation/mail/mail.ts';
import type { Invite } from './model.ts';

export function mailOf({ email, role }: Invite, organizationName: string): Mail {
  const name = quoted(organizationName);
  return {
    to: email,
    subject: `You are invited to ${name}`,
    text: `You are invited to join the organization ${name} as ${role}.

To accept, sign in with this email address within seven days:
${addresses().issuer}/console/account

If you do not know ${name}, ignore this mail.
`,
  };
}

/**
 * The name in quotation marks. Mail programs would turn domains and URLs into links, so `example.com` becomes `example[.]com`, and `://`
 * becomes `[:]//`.
 */
const quoted = (name: string): string =>
  `"${name
    .replaceAll('"', "'")
    .replace(/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, '[.]')
    .replaceAll('://', '[:]//')}"`;
