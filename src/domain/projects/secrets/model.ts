// A secret or variable in the environment of agents. It belongs to an organization, a project or a sandbox template. Its value is write-only: only
// the runtime that holds a run can read the value.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';

export const secretScopes = ['organization', 'project', 'template'] as const;
export type SecretScope = (typeof secretScopes)[number];
export const secretKinds = ['variable', 'secret'] as const;
export type SecretKind = (typeof secretKinds)[number];

export class Secret extends table('secrets', {
  id: column<Id<'secret'>>(),
  orgId: column<Id<'organization'>>(),
  /** The scope, a computed column. */
  scope: column<SecretScope>(),
  projectId: column<Id<'project'> | null>(),
  templateId: column<Id<'sandboxTemplate'> | null>(),
  kind: column<SecretKind>(),
  /** The name, unique in its scope. */
  name: column<string>(),
  /** Hosts to which requests carry the value instead of its placeholder. */
  hosts: column<string[]>(),
  /** Whether only the setup gets the value. */
  setupOnly: column<boolean>(),
  /** When a runtime last got the value. */
  lastUsedAt: column<number | null>(),
  /** The person who last set the value; null when a program set it, and once the account is deleted. */
  setByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'secret';
  static override jsonAttributes = ['hosts'];
  static visibleTo = withinReach;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  /** The sealed value, which is not a column, so that no read returns it. */
  declare sealedValue?: string;
}
