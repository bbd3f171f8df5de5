// Finds the caller of a bearer credential: a person (personal access token or OAuth access token), or a program that acts for nobody.
import { atAllowedAddress } from '#access/allowed-addresses.ts';
import { narrowedText } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Scope } from '#access/scopes.ts';
import type { Id } from '#foundation/ids.ts';
import type { BaseModel } from '#foundation/postgres/base-model.ts';
import type { Bookmark } from '#foundation/postgres/replica.ts';
import { recordUse } from './last-used.ts';

/** A valid credential, with the present role of the person who holds it. `granted` contains the credential's scopes, separated by spaces. */
export interface Bearer {
  id: Id<'token'> | Id<'accessToken'>;
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  granted: string;
  lastUsedAt: number | null;
  role: OrgRole;
  orgOnly: boolean;
  /** Whether the organization allows the address of the request. */
  isAllowed: boolean;
  bookmark?: Bookmark | undefined;
}

/** Creates the caller for a credential and records its use; null when the credential is undefined. */
export function callerOfBearer(model: Pick<typeof BaseModel, 'tableName'>, bearer: Bearer | undefined): Caller | null {
  if (!bearer) return null;
  recordUse(model, bearer);
  const caller: Caller = {
    principalType: 'user',
    credentialId: bearer.id,
    userId: bearer.userId,
    orgId: bearer.orgId,
    role: bearer.role,
    scopes: narrowedText(bearer.granted, bearer.role),
    projectId: bearer.projectId,
    isOrgOnly: bearer.orgOnly,
    bookmark: bearer.bookmark,
  };
  return atAllowedAddress(caller, bearer.isAllowed);
}

/** A valid token of a program: a service token or a directory token. */
export interface ServiceBearer {
  id: Id<'service'> | Id<'directoryToken'>;
  orgId: Id<'organization'> | null;
  lastUsedAt: number | null;
  isAllowed: boolean;
  bookmark?: Bookmark | undefined;
}

/** Creates the caller for a token of a program, with its scopes, and records its use; null when the token is undefined. */
export function callerOfService(
  model: Pick<typeof BaseModel, 'tableName'>,
  bearer: ServiceBearer | undefined,
  scopes: readonly Scope[] = [],
): Caller | null {
  if (!bearer) return null;
  recordUse(model, bearer);
  const caller: Caller = {
    principalType: 'service',
    credentialId: bearer.id,
    userId: null,
    orgId: bearer.orgId,
    role: null,
    scopes: new Set(scopes),
    projectId: null,
    bookmark: bearer.bookmark,
  };
  return atAllowedAddress(caller, bearer.isAllowed);
}
