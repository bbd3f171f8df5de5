// Real SMTP servers (RFC 5321) that keep the emails they receive.
import { SMTPServer } from 'smtp-server';

export interface TakenMail {
  from: string;
  to: string[];
  source: string;
}

const servers: SMTPServer[] = [];

/** A server on a free port. Returns its address and the emails it received. */
export async function smtpServer(refuse?: string): Promise<{ url: string; taken: TakenMail[] }> {
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refuse ? new Error(refuse) : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map((recipient) => recipient.address),
          source: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `smtp://127.0.0.1:${(server.server.address() as { port: number }).port}`, taken };
}

export const closeSmtpServers = () =>
  Promise.all(servers.splice(0).map((server) => new Promise<void>((closed) => server.close(closed))));
