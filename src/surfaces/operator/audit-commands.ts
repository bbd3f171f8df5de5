// The operator's commands for the audit log: its verification, and the key that signs its checkpoints.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { rotateAuditKey } from '#domain/lifecycle/audit/tree/keys.ts';
import { type Verification, verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { organizationsAfter } from '#domain/organization/organizations/operations.ts';
import { checkpointsIn, type SignedCheckpoint } from '#foundation/merkle/checkpoints.ts';
import { type Command, command } from './command.ts';
import { organizationOf, slug } from './organization-option.ts';

export const auditCommands: Record<string, Command> = {
  'audit:verify': command({
    example: '--org acme --checkpoints kept.txt',
    about:
      'Verifies audit logs: names each entry that was edited, deleted, swapped or added, and logs that were truncated or restored to an ' +
      'earlier state. Exits with 1 if there are any.',
    options: z.object({
      org: slug.describe('The slug of the organization; all of them by default.').optional(),
      checkpoints: z
        .string()
        .describe('A file of checkpoints that were kept elsewhere: the log has to begin with each of them.')
        .optional(),
    }),
    run: async ({ org, checkpoints: file }) => {
      const given = file === undefined ? [] : await readCheckpoints(file);
      const verified: Record<string, Verification> = {};
      const findings: string[] = [];
      const verify = async (one: { id: string; slug: string }) => {
        const result = await verifyLog(one.id, given);
        findings.push(...result.findings.map((finding) => `${one.slug}: ${finding}`));
        verified[one.slug] = result;
      };
      if (org) await verify(await organizationOf(org));
      else {
        for (
          let page = await organizationsAfter('');
          page.length > 0;
          page = await organizationsAfter(page.at(-1)!.id)
        ) {
          for (const one of page) await verify(one);
        }
      }
      if (findings.length > 0) throw new Error(findings.join('\n'));
      return verified;
    },
  }),
  'audit-key:rotate': command({
    about: 'Creates the key that signs checkpoints of audit logs from now on; the old one stays published.',
    options: z.object({}),
    run: () => rotateAuditKey(),
  }),
};

async function readCheckpoints(file: string): Promise<SignedCheckpoint[]> {
  const found = checkpointsIn(await readFile(file, 'utf8'));
  if (found.length === 0) throw new Error(`--checkpoints: ${file} contains no checkpoint`);
  return found;
}
