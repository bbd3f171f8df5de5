// Mail to people: SMTP (RFC 5321) when an address of a server is given, else the development mailbox, kept in memory.
// Process-wide like the clock: bound once at start.
import { createTransport } from 'nodemailer';
import { enqueue } from './background.ts';
import { now, seconds } from './clock.ts';
import type { Transaction } from './database.ts';
import { seal, unseal } from './secrets.ts';

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
let mailbox: DeliveredMail[] | null = null;

/** Binds the way mail leaves the process. No connection is made before the first mail. */
export function openMail({ smtpUrl, from, log }: MailSettings): void {
  mailbox = smtpUrl ? null : [];
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
export const developmentMailbox = (): readonly DeliveredMail[] | null => mailbox;

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
    mailbox?.unshift({ ...mail, at: now() });
    mailbox?.splice(mailboxSize);
    // Without a mail server the log is where the developer finds the code (design decisions, People).
    log(`mail to ${mail.to} was put into the development mailbox: ${mail.subject}\n\n${mail.text}`);
  };
}
