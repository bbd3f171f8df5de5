// The conditions that cause notices, each with the scope that a caller needs to see it. Every read returns a bounded number of rows.
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import { brokenConnectors, expiringTokens } from './conditions/credentials.ts';
import { disabledWebhooks, failingAuditStream } from './conditions/deliveries.ts';
import { failingSchedules, personsNeeded, waitingRuns } from './conditions/missions.ts';
import { lowCredits, planLimit, usedBudgets, usedCostCap } from './conditions/money.ts';
import {
  expiringCertificates,
  expiringDirectory,
  failingMetadata,
  missingDomainRecords,
} from './conditions/sign-in.ts';
import type { Condition } from './model.ts';

export const conditions: readonly [scope: Scope, read: (caller: Caller) => Promise<Condition[]>][] = [
  ['billing:read', lowCredits],
  ['orchestrator:read', usedCostCap],
  ['orchestrator:read', usedBudgets],
  ['projects:write', planLimit],
  ['setup:read', expiringTokens],
  ['integrations:read', brokenConnectors],
  ['scheduled-tasks:read', failingSchedules],
  ['missions:read', waitingRuns],
  ['audit:read', failingAuditStream],
  ['missions:run', personsNeeded],
  ['webhooks:read', disabledWebhooks],
  ['sign-in:read', missingDomainRecords],
  ['sign-in:read', expiringCertificates],
  ['sign-in:read', failingMetadata],
  ['sign-in:write', expiringDirectory],
];
