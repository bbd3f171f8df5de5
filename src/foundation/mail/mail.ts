// Email to people: over SMTP (RFC 5321) if a server is configured, else into the development mailbox in memory. Process-wide like the
// clock: bound once at start.
import type { Transporter } from 'nodemailer';
import { now, seconds } from '../clock.ts';
import { addresses, isLoopback } from '../http/addresses.ts';
import { enqueue } from '../jobs/background.ts';
import type { Transaction } from '../postgres/database.ts';
import { newSecret, sameBytes, seal, unseal } from '../secrets/secrets.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface DeliveredMail extends Mail {
  /** When the mail was sent, in epoch milliseconds. */
  at: number;
}

export interface MailSettings {
  /** The mail server, `smtp://user:secret@host:587`; null means the development mailbox. */
  smtpUrl?: string | undefined;
  /** The sender: an address, or `Name <address>`. */
  from: string;
  log: (line: string) => void;
}

type Deliver = (mail: Mail) => Promise<void>;

const mailboxSize = 100;
let deliver: Deliver | undefined;
let mailbox: { secret: string; mails: DeliveredMail[] } | null = null;

/** Binds the transport, which connects when the first mail is sent. */
export function openMail({ smtpUrl, from, log }: MailSettings): void {
  mailbox = smtpUrl ? null : { secret: newSecret(''), mails: [] };
  deliver = smtpUrl ? bySmtp(smtpUrl, from) : toMailbox(log);
}

/** A queued mail, sealed because it may contain a code. */
export interface QueuedMail {
  sealed: string;
  /** When the mail is dropped, in epoch milliseconds. */
  until: number;
}

/** Sends the mail in the background once the transaction is committed; after `until` it is dropped. */
export const queueMail = (trx: Transaction, mail: Mail, until: number): Promise<void> =>
  enqueue(trx, 'mail', { sealed: seal('mail', JSON.stringify(mail)), until } satisfies QueuedMail);

/** Handles jobs of `queueMail`. */
export async function deliverMail({ sealed, until }: QueuedMail): Promise<void> {
  if (now() < until) await sendMail(JSON.parse(unseal('mail', sealed)));
}

/** Sends the mail to the SMTP server or the mailbox. */
export async function sendMail(mail: Mail): Promise<void> {
  if (!deliver) throw new Error('the mail transport is not open');
  await deliver(mail);
}

/** The last hundred mails, newest first; null with SMTP. */
export const developmentMailbox = (): readonly DeliveredMail[] | null => mailbox?.mails ?? null;

/**
 * Whether the secret in a request opens the page of the mailbox. The page needs a secret, because other users of the machine can reach it
 * too.
 */
export const opensMailbox = (secret: string | null): boolean =>
  mailbox !== null && secret !== null && sameBytes(Buffer.from(secret), Buffer.from(mailbox.secret));

/** The URL of the mailbox page with its secret, for the operator's terminal; null without a mailbox. */
export function mailboxAddress(): string | null {
  const { issuer } = addresses();
  if (!mailbox || !isLoopback(new URL(issuer).hostname)) return null;
  return `${issuer}/development/mailbox?key=${mailbox.secret}`;
}

function bySmtp(url: string, from: string): Deliver {
  const waits = { connectionTimeout: seconds(5), greetingTimeout: seconds(5), socketTimeout: seconds(15) };
  // Access to files and URLs is disabled, because mails quote people's text, such as an organization's name.
  const settings = { url, ...waits, disableFileAccess: true, disableUrlAccess: true };
  let transport: Transporter | undefined;
  return async (mail) => {
    try {
      // nodemailer is loaded only here, because most processes send no mail.
      transport ??= (await import('nodemailer')).createTransport(settings);
      await transport.sendMail({ from, ...mail });
    } catch (error) {
      // The error contains only the message of the mail server. This message may contain the recipient, but not the text of the mail, in
      // which there may be codes and links.
      const { message } = error as Error;
      throw new Error(`mail ${JSON.stringify(mail.subject)} was rejected by the mail server: ${message}`);
    }
  };
}

function toMailbox(log: (line: string) => void): Deliver {
  return async (mail) => {
    mailbox?.mails.unshift({ ...mail, at: now() });
    mailbox?.mails.splice(mailboxSize);
    // The mail is logged without its text, which contains codes and sign-in links.
    log(`mail to ${mail.to} is in the development mailbox: ${mail.subject}`);
  };
}
