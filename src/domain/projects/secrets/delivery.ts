// Delivers the values of secrets and variables to the runtime that holds a run. The values leave the service only through this module.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import type { Variable } from '../sandbox-templates/settings.ts';
import type { SecretKind, SecretScope } from './model.ts';
import { sealContext } from './operations.ts';

export interface DeliveredSecret extends Variable {
  hosts: string[];
  setupOnly: boolean;
}

interface Stored {
  id: string;
  scope: SecretScope;
  kind: SecretKind;
  name: string;
  sealedValue: string;
  hosts: string[];
  setupOnly: boolean;
}

const storedSql = `select id, scope, kind, name, sealed_value, hosts, setup_only from secrets
  where org_id = $1 and (template_id = $3 or (not $4 and (scope = 'organization' or project_id = $2)))
  order by array_position(array['organization', 'project', 'template'], scope), name`;

interface Place {
  orgId: string;
  projectId: string;
  /** Id of the sandbox template; null means the built-in template, which has no secrets. */
  templateId: string | null;
  /** Whether the step gets only the template's secrets, without those of the organization and the project. */
  isNarrow: boolean;
}

/**
 * The secrets of a step. If several have the same name, the first of these applies: template secret, template variable, project,
 * organization. Each use is recorded. Values that were sealed with another service key are left out.
 */
export async function deliverSecrets(
  trx: Transaction,
  { orgId, projectId, templateId, isNarrow }: Place,
  plain: readonly Variable[],
): Promise<{ variables: Variable[]; secrets: DeliveredSecret[] }> {
  const stored = await sql<Stored>(storedSql, [orgId, projectId, templateId, isNarrow], trx);
  const byName = new Map<string, Stored | Variable>();
  for (const one of stored.filter(({ scope }) => scope !== 'template')) byName.set(one.name, one);
  for (const one of plain) byName.set(one.name, one);
  for (const one of stored.filter(({ scope }) => scope === 'template')) byName.set(one.name, one);
  const [variables, secrets, used]: [Variable[], DeliveredSecret[], string[]] = [[], [], []];
  for (const one of byName.values()) {
    if (!('id' in one)) {
      variables.push(one);
      continue;
    }
    const value = unsealed(one);
    if (value === null) continue;
    used.push(one.id);
    const { name, hosts, setupOnly } = one;
    if (one.kind === 'variable') variables.push({ name, value });
    else secrets.push({ name, value, hosts, setupOnly });
  }
  if (used.length > 0) await sql('update secrets set last_used_at = $2 where id = any($1)', [used, now()], trx);
  return { variables, secrets };
}

function unsealed({ id, sealedValue }: Pick<Stored, 'id' | 'sealedValue'>): string | null {
  try {
    return unseal(sealContext(id), sealedValue);
  } catch {
    return null;
  }
}

const allSql = `select id, sealed_value from secrets where org_id = $1 and kind = 'secret'`;

/** The values of all secrets of an organization, to mask them in texts. */
export const secretValues = async (orgId: string): Promise<string[]> =>
  (await sql<Pick<Stored, 'id' | 'sealedValue'>>(allSql, [orgId])).flatMap((one) => unsealed(one) ?? []);
