// The operator's commands for credits: grant them, refund the spending of a run, close requests, set the enterprise plan. The ledger's
// note records the operator's action and its reason.
import { z } from 'zod';
import { setEnterprise } from '#domain/money/billing/operations.ts';
import { closeCreditRequest, listOpenCreditRequests } from '#domain/money/billing/requests.ts';
import { creditsOf } from '#domain/money/credits/amounts.ts';
import { grantCredits, refundRun } from '#domain/money/credits/grants.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { organizationsWithIds } from '#domain/organization/organizations/operations.ts';
import { peopleOf } from '#domain/organization/people/operations.ts';
import { Run } from '#domain/work/runs/model.ts';
import { isOpen } from '#domain/work/runs/states.ts';
import { days, now } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { credits, text } from '#limits.ts';
import { type Command, command, flag, wholeNumber } from './command.ts';
import { limit } from './credential-lists.ts';
import { organizationOf, slug } from './organization-option.ts';

const { min, max } = credits.perGrant;

const note = nameText({ max: 500 }).describe('Why, 1 to 500 characters: shown in the ledger.').optional();
const noteOf = (what: string, why: string | undefined): string => (why ? `${what}: ${why}` : `${what}.`);

export const billingCommands: Record<string, Command> = {
  'credits:grant': command({
    about: 'Grants credits to an organization, and closes its open request for credits if there is one.',
    example: "--org acme --credits 50 --days 90 --note 'For the launch'",
    options: z.object({
      org: slug,
      credits: wholeNumber(min, max).describe(`Whole credits, ${min} to ${max}.`),
      days: wholeNumber(1, 3_650)
        .describe('Days until the credits expire, 1 to 3650; without this option they never expire.')
        .optional(),
      note,
    }),
    run: async ({ org, credits, days: lifetimeDays, note }) => {
      const { id } = await openOrganization(org);
      const lot = { kind: 'grant' as const, expiresAt: lifetimeDays ? now() + days(lifetimeDays) : null };
      await transaction(async (trx) => {
        await grantCredits(trx, id, { lot, credits, note: noteOf('Granted by the operator', note) });
        await closeCreditRequest(trx, id);
      });
      return { org, granted: credits, balance: creditsOf((await readPosition(id)).owned) };
    },
  }),
  'credits:refund': command({
    about: 'Refunds all credits that a run has spent. A repeated call refunds nothing.',
    example: "--run run_01hx3v5k7m9p --note 'The model was unavailable'",
    options: z.object({ run: boundedText(text.pathId).describe('The id of an ended run.'), note }),
    run: async ({ run: id, note }) => {
      const run = await Run.find({ id: id as Run['id'] });
      if (!run) throw new Error(`--run: there is no run ${id}`);
      if (isOpen(run)) throw new Error(`--run: ${id} has not ended yet`);
      const refunded = await transaction((trx) =>
        refundRun(trx, run.orgId, run.id, noteOf('Refunded by the operator', note)),
      );
      return { run: run.id, refunded: creditsOf(refunded), balance: creditsOf((await readPosition(run.orgId)).owned) };
    },
  }),
  'credit-request:list': command({
    about: 'Lists open requests for credits with their messages, oldest first.',
    example: '--org acme',
    options: z.object({ org: slug.optional(), limit }),
    run: async ({ org, limit }) => openRequests(org ? (await organizationOf(org)).id : null, limit),
  }),
  'credit-request:close': command({
    about: 'Closes the open request for credits of an organization without granting any.',
    example: '--org acme',
    options: z.object({ org: slug }),
    run: async ({ org }) => {
      const { id } = await openOrganization(org);
      return { org, closed: await transaction((trx) => closeCreditRequest(trx, id)) };
    },
  }),
  'org:enterprise': command({
    about: 'Puts an organization on the enterprise plan. Its limits and payment are agreed outside of the service.',
    example: '--org acme',
    options: z.object({ org: slug, off: flag }),
    run: async ({ org, off }) => {
      const { id } = await openOrganization(org);
      await transaction((trx) => setEnterprise(trx, id, !off));
      return { org, enterprise: !off };
    },
  }),
};

/** The organization with this slug, unless it is closed: the credits of a closed organization have been settled for good. */
async function openOrganization(org: string): Promise<Organization> {
  const organization = await organizationOf(org);
  if (organization.closedAt !== null) throw new Error(`--org: ${org} is closed`);
  return organization;
}

async function openRequests(orgId: Organization['id'] | null, limit: number): Promise<object[]> {
  const requests = await listOpenCreditRequests(orgId, limit);
  const organizations = await organizationsWithIds(requests.map((request) => request.orgId));
  const people = await peopleOf([...new Set(requests.flatMap(({ messages }) => messages.map(({ userId }) => userId)))]);
  return requests.map(({ id, orgId, createdAt, messages }) => ({
    id,
    org: organizations.find((one) => one.id === orgId)?.slug,
    createdAt,
    messages: messages.map(({ userId, ...message }) => ({
      ...message,
      email: people.find((one) => one.id === userId)?.email ?? null,
    })),
  }));
}
