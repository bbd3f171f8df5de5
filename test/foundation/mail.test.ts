// Mail is sent by a real SMTP server (RFC 5321), or kept in the development mailbox.
import { afterEach, describe, expect, it } from 'vitest';
import { setClock } from '#foundation/clock.ts';
import { developmentMailbox, openMail, sendMail } from '#foundation/mail/mail.ts';
import { closeSmtpServers, smtpServer } from '../support/smtp-server.ts';

const mail = { to: 'alice@example.com', subject: 'Your sign-in code', text: 'Your code is 042917.\n' };

afterEach(async () => {
  setClock();
  await closeSmtpServers();
});

describe('mail by SMTP', () => {
  it('an email is delivered to the SMTP server, and not stored', async () => {
    const { url, taken } = await smtpServer();
    const lines: string[] = [];
    openMail({ smtpUrl: url, from: 'Console <console@example.com>', log: (line) => lines.push(line) });
    await sendMail({ ...mail, subject: 'Zürich\r\nBcc: eve@example.com' });
    expect(taken).toHaveLength(1);
    expect(taken[0]).toMatchObject({ from: 'console@example.com', to: ['alice@example.com'] });
    const [head = '', body = ''] = taken[0]!.source.split('\r\n\r\n');
    expect(head).toContain('From: Console <console@example.com>');
    expect(head).toContain('To: alice@example.com');
    expect(head).not.toMatch(/^Bcc:/m);
    expect(body).toContain('Your code is 042917.');
    expect(lines).toEqual([]);
    expect(developmentMailbox()).toBeNull();
  });

  it('an email that the SMTP server rejects is reported, and no error message contains its text', async () => {
    const { url } = await smtpServer('no such mailbox');
    openMail({ smtpUrl: url, from: 'console@example.com', log: () => {} });
    const { message } = (await sendMail(mail).catch((error: unknown) => error)) as Error;
    expect(message).toContain('mail "Your sign-in code" was rejected by the mail server');
    expect(message).toContain('no such mailbox');
    expect(message).not.toContain('042917');
  });

  it('an email cannot be sent when no SMTP server listens at the address', async () => {
    openMail({ smtpUrl: 'smtp://127.0.0.1:1', from: 'console@example.com', log: () => {} });
    await expect(sendMail(mail)).rejects.toThrow('ECONNREFUSED');
  });
});

it('the development mailbox stores the email; the log line leaves out its text, which may contain a sign-in link', async () => {
  setClock(() => 1_795_219_200_000);
  const lines: string[] = [];
  openMail({ from: 'console@localhost', log: (line) => lines.push(line) });
  await sendMail(mail);
  expect(developmentMailbox()).toEqual([{ ...mail, at: 1_795_219_200_000 }]);
  expect(lines).toEqual(['mail to alice@example.com is in the development mailbox: Your sign-in code']);
});

it('the development mailbox stores the last hundred emails, newest first', async () => {
  openMail({ from: 'console@localhost', log: () => {} });
  for (let n = 1; n <= 101; n++) await sendMail({ ...mail, subject: `mail ${n}` });
  const subjects = developmentMailbox()!.map(({ subject }) => subject);
  expect(subjects).toHaveLength(100);
  expect([subjects[0], subjects[99]]).toEqual(['mail 101', 'mail 2']);
});
