// A secret or variable of the environment of agents: of an organization, a project or a sandbox template. Its value is written and
// never read, but by the runtime that holds a run.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';

export const secretScopes = ['organization', 'project', 'template'] as const;
export type SecretScope = (typeof secretScopes)[number];
export const secretKinds = ['variable', 'secret'] as const;
export type SecretKind = (typeof secretKinds)[number];

export class Secret extends BaseModel {
  static override tableName = 'secrets';
  static override noun = 'secret';
  static override jsonAttributes = ['hosts'];
  static override columns = [
    'id',
    'orgId',
    'scope',
    'projectId',
    'templateId',
    'kind',
    'name',
    'hosts',
    'setupOnly',
    'lastUsedAt',
    'setByUserId',
    'createdAt',
    'updatedAt',
  ];
  static visibleTo = withinReach;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  declare id: Id<'secret'>;
  declare orgId: Id<'organization'>;
  /** Computed by the database. */
  declare scope: SecretScope;
  declare projectId: Id<'project'> | null;
  declare templateId: Id<'sandboxTemplate'> | null;
  declare kind: SecretKind;
  /** Unique in its scope. */
  declare name: string;
  /** Sealed. Not a column: no read returns it. */
  declare sealedValue?: string;
  /** Requests to these get the value in the place of a placeholder. */
  declare hosts: string[];
  /** Whether the setup alone gets it. */
  declare setupOnly: boolean;
  /** When a runtime last got it. */
  declare lastUsedAt: number | null;
  /** The person who set the value last; null for a program, and once the account is deleted. */
  declare setByUserId: Id<'person'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}
