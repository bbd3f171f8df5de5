// Mail to people: SMTP (RFC 5321) when an address of a server is given, else the development mailbox, kept in memory.
// Process-wide like the clock: bound once at start.
import { createTransport } from 'nodemailer';
import { addresses, isLoopback } from './addresses.ts';
import { enqueue } from './background.ts';
import { now, seconds } from './clock.ts';
import type { Transaction } from './database.ts';
import { newSecret, sameBytes, seal, unseal } from './secrets.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface DeliveredMail extends Mail {
  /** Epoch milliseconds. */
  at: number;
}

export interface MailSettings {
  /** `smtp://user:secret@host:587`; without it mail goes to the development mailbox. */
  smtpUrl?: string | undefined;
  /** Whom the mail is from: an address, or `Name <address>`. */
  from: string;
  log: (line: string) => void;
}

type Deliver = (mail: Mail) => Promise<void>;

const mailboxSize = 100;
let deliver: Deliver | undefined;
let mailbox: { secret: string; mails: DeliveredMail[] } | null = null;

/** Binds the way mail leaves the process. No connection is made before the first mail. */
export function openMail({ smtpUrl, from, log }: MailSettings): void {
  mailbox = smtpUrl ? null : { secret: newSecret(''), mails: [] };
  deliver = smtpUrl ? bySmtp(smtpUrl, from) : toMailbox(log);
}

/** A mail as it waits: nobody but us can read it, since it may hold a code. */
export interface QueuedMail {
  sealed: string;
  /** Epoch milliseconds. */
  until: number;
}

/** Sends the mail in the background once the transaction is committed. `until`: later it would be of no use, and is dropped. */
export const queueMail = (trx: Transaction, mail: Mail, until: number): Promise<void> =>
  enqueue(trx, 'mail', { sealed: seal('mail', JSON.stringify(mail)), until } satisfies QueuedMail);

/** The other end of `queueMail`. */
export async function deliverMail({ sealed, until }: QueuedMail): Promise<void> {
  if (now() < until) await sendMail(JSON.parse(unseal('mail', sealed)));
}

/** Hands the mail over: to the server's queue, or to the mailbox. */
export async function sendMail(mail: Mail): Promise<void> {
  if (!deliver) throw new Error('mail is not open');
  await deliver(mail);
}

/** The last hundred mails, newest first; null when mail leaves by SMTP. */
export const developmentMailbox = (): readonly DeliveredMail[] | null => mailbox?.mails ?? null;

/** Whether this opens the mailbox: other users of the machine reach its page too. */
export const opensMailbox = (secret: string | null): boolean =>
  mailbox !== null && secret !== null && sameBytes(Buffer.from(secret), Buffer.from(mailbox.secret));

/** The page of the mailbox with its secret, for the terminal of whoever started the service; null when there is no such page. */
export function mailboxAddress(): string | null {
  const { issuer } = addresses();
  if (!mailbox || !isLoopback(new URL(issuer).hostname)) return null;
  return `${issuer}/development/mailbox?key=${mailbox.secret}`;
}

function bySmtp(url: string, from: string): Deliver {
  const waits = { connectionTimeout: seconds(5), greetingTimeout: seconds(5), socketTimeout: seconds(15) };
  // What a person wrote (an organization's name) stands in our mails: it never makes nodemailer open a file or an address.
  const transport = createTransport({ url, ...waits, disableFileAccess: true, disableUrlAccess: true });
  return async (mail) => {
    try {
      await transport.sendMail({ from, ...mail });
    } catch (error) {
      // The server's own words may repeat the recipient, never the text: that holds codes and links.
      const { message } = error as Error;
      throw new Error(`mail ${JSON.stringify(mail.subject)} was not taken by the mail server: ${message}`);
    }
  };
}

function toMailbox(log: (line: string) => void): Deliver {
  return async (mail) => {
    mailbox?.mails.unshift({ ...mail, at: now() });
    mailbox?.mails.splice(mailboxSize);
    // Not its text: that holds codes and links that sign in.
    log(`mail to ${mail.to} was put into the development mailbox: ${mail.subject}`);
  };
}
