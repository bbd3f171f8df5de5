// Where agents present themselves (auth.md v0.6; agent authentication §4, §5 and §11). None of it needs a credential, none of it is
// for browsers of other sites, and no cache keeps any of it. The pages for the person are the console's.
import type { Exchange, Handler } from '#foundation/http.ts';
import { methodNotAllowed } from '#foundation/problem.ts';
import { answerClaim } from './claim.ts';
import { createEvents } from './events.ts';
import { answerFailure, type Report } from './failures.ts';
import { createRegistration } from './register.ts';

export interface AgentIdentitySettings {
  /** Per source address, over all processes. */
  registrationsPerHour: number;
  /** Told of every problem of ours (5xx) with its cause. */
  report: Report;
}

export function createAgentIdentity({ registrationsPerHour, report }: AgentIdentitySettings) {
  const routes = new Map<string, Handler>([
    ['/v1/agent/identity', createRegistration(registrationsPerHour)],
    ['/v1/agent/identity/claim', answerClaim],
    ['/v1/agent/event/notify', createEvents(report)],
  ]);

  async function handle(exchange: Exchange): Promise<void> {
    const { req, res, path } = exchange;
    exchange.route = path;
    res.setHeader('cache-control', 'no-store');
    res.setHeader('pragma', 'no-cache');
    try {
      if (req.method !== 'POST') throw methodNotAllowed('POST');
      await routes.get(path)!(exchange);
    } catch (error) {
      answerFailure(exchange, error, report);
    }
  }

  return { name: 'agent-identity', owns: (path: string) => routes.has(path), handle };
}
