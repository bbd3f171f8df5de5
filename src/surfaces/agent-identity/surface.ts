// The endpoints at which agents register and are claimed (auth.md v0.6; docs/contract.md#agent-registration). They need no credential and
// refuse requests from pages of other sites. Their responses are never cached. The console has the pages for the person.
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { answerClaim } from './claim.ts';
import { refuseAgent, refuseAgentError } from './errors.ts';
import { createEvents } from './events.ts';
import { createAgentRegistration } from './register.ts';

export interface AgentIdentitySettings {
  /** Maximum number of registrations per hour from one source address, across all processes. */
  registrationsPerHour: number;
  report: Report;
}

export function createAgentIdentity({ registrationsPerHour, report }: AgentIdentitySettings) {
  const routes = new Map<string, Handler>([
    ['/v1/agent/identity', createAgentRegistration(registrationsPerHour)],
    ['/v1/agent/identity/claim', answerClaim],
    ['/v1/agent/event/notify', createEvents(report)],
  ]);

  async function handle(exchange: Exchange): Promise<void> {
    const { res, path } = exchange;
    exchange.route = path;
    res.setHeader('cache-control', 'no-store');
    res.setHeader('pragma', 'no-cache');
    allowMethods(exchange, 'POST');
    await routes.get(path)!(exchange);
  }

  const owns = (path: string) => routes.has(path);
  return {
    name: 'agent-identity',
    owns,
    handle: framed(handle, { report, refuse: refuseAgent, refuseOwn: refuseAgentError }),
  };
}
