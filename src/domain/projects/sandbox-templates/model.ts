// A sandbox template: the environment that agents work in, chosen by a project or an agent.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { columnsOf, type Source } from '#foundation/postgres/reads.ts';
import { Organization } from '../../organization/organizations/model.ts';
import type { NetworkPolicy, TemplateBase, Variable } from './settings.ts';

export class SandboxTemplate extends BaseModel {
  static override tableName = 'sandbox_templates';
  static override noun = 'sandbox template';
  static override jsonAttributes = ['variables', 'setupNetwork', 'agentNetwork'];
  static override columns = [
    'id',
    'orgId',
    'name',
    'description',
    'base',
    'image',
    'dockerfile',
    'setupScript',
    'variables',
    'setupNetwork',
    'agentNetwork',
    'memoryMb',
    'diskMb',
    'processes',
    'createdAt',
    'updatedAt',
  ];
  static visibleTo = orgWide;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  /** Stored templates are the organization's own; the built-in one is in `settings.ts`. */
  static override source(): Source {
    return {
      select: `select ${columnsOf(this)}, false as is_builtin from sandbox_templates`,
      conditions: [],
      values: [],
    };
  }

  declare id: Id<'sandboxTemplate'>;
  declare orgId: Id<'organization'>;
  /** Unique in the organization, ignoring case. */
  declare name: string;
  declare description: string | null;
  declare base: TemplateBase;
  declare image: string | null;
  declare dockerfile: string | null;
  declare setupScript: string | null;
  declare variables: Variable[];
  declare setupNetwork: NetworkPolicy;
  declare agentNetwork: NetworkPolicy;
  declare memoryMb: number | null;
  declare diskMb: number | null;
  declare processes: number | null;
  declare createdAt: number;
  declare updatedAt: number;
  /** Computed: true for the built-in template. */
  declare isBuiltin: boolean;
}
