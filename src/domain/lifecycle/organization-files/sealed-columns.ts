// Columns whose values are sealed with the service key. In a file, they are sealed with the file's key instead; the installation that
// imports the organization seals them with its own service key.
import { keyedAnswerPurpose } from '#foundation/postgres/idempotency.ts';
import { seal, sealWith, unseal, unsealWith } from '#foundation/secrets/secrets.ts';
import { grantPurpose } from '../../execution/mcp-servers/grants.ts';
import { sealedFor } from '../../execution/mcp-servers/remote.ts';
import { secretContext } from '../../identity/identity-providers/operations.ts';
import { personKeyPurpose } from '../../organization/person-keys/keys.ts';
import { credentialsPurpose } from '../../projects/integrations/operations.ts';
import { accessTokenPurpose } from '../../projects/integrations/tokens.ts';
import { sealContext } from '../../projects/secrets/operations.ts';
import { pushPurpose } from '../../work/a2a/push.ts';
import { hookPurpose } from '../../work/inbound-hooks/operations.ts';
import { recordingsPurpose } from '../../work/recordings/keys.ts';
import { sealPurpose } from '../audit/stream/delivery.ts';
import { joinedKeyPurpose } from '../audit/tree/joined-keys.ts';
import { endpointPurpose } from '../webhooks/secrets.ts';
import { type ChangeFields, nullField } from './copied-rows.ts';
import { OrganizationFileError } from './format.ts';
import type { PackedTable } from './tables.ts';

type PurposeOf = (columnOf: (name: string) => string) => string;

/**
 * For each sealed column of a table, a function that returns the purpose that was passed to `seal` when the value of the column was
 * encrypted. The function computes the purpose from the values of other columns in the same row.
 */
export const sealedColumns: Readonly<Record<string, Readonly<Record<string, PurposeOf>>>> = {
  a2a_push_configs: { sealed_secrets: (of) => pushPurpose(of('run_id'), of('id')) },
  audit_joined_keys: { sealed_public_key: (of) => joinedKeyPurpose(of('org_id')) },
  audit_streams: { sealed_secret: (of) => sealPurpose(of('org_id')) },
  // COPY writes binary values as hexadecimal digits after an escaped `\\x`.
  idempotency_keys: { sealed_body: (of) => keyedAnswerPurpose(Buffer.from(of('id').replace(/^\\+x/, ''), 'hex')) },
  identity_providers: { sealed_secret: (of) => secretContext(of('id')) },
  inbound_hooks: { sealed_secret: (of) => hookPurpose(of('id')) },
  integrations: {
    sealed_credentials: (of) => credentialsPurpose(of('id')),
    sealed_token: (of) => accessTokenPurpose(of('id')),
  },
  mcp_bindings: {
    sealed_headers: (of) => sealedFor(of('id'), 'headers'),
    sealed_credentials: (of) => sealedFor(of('id'), 'credentials'),
  },
  mcp_grants: { sealed: (of) => grantPurpose(of('binding_id')) },
  person_keys: { sealed_key: (of) => personKeyPurpose(of('org_id')) },
  recording_keys: { sealed_key: (of) => recordingsPurpose(of('org_id')) },
  recording_person_keys: { sealed_key: (of) => recordingsPurpose(of('org_id')) },
  secrets: { sealed_value: (of) => sealContext(of('id')) },
  webhook_endpoints: {
    sealed_secret: (of) => endpointPurpose(of('id')),
    sealed_previous_secret: (of) => endpointPurpose(of('id')),
  },
};

const inFile = 'file.';
/** Stands for a value that could not be decrypted when the file was written, such as one sealed before a change of the service key. */
const unreadable = 'unreadable';

/** Seals a value again with the key of the file. */
export function sealForFile(fileKey: Buffer, purpose: string, sealed: string): string {
  let plain: string;
  try {
    plain = unseal(purpose, sealed);
  } catch {
    return unreadable;
  }
  return inFile + sealWith(fileKey, purpose, plain);
}

/** Decrypts a sealed value from a file, and seals it with the service key. */
export function sealForService(fileKey: Buffer, purpose: string, sealed: string): string {
  if (sealed === unreadable) return sealed;
  try {
    return seal(purpose, unsealWith(fileKey, purpose, sealed.slice(inFile.length)));
  } catch {
    throw new OrganizationFileError(`the file is damaged: the sealed value of ${purpose} cannot be opened`);
  }
}

/** Returns a function that changes the sealed fields of a table's rows; null for a table without sealed fields. */
export function fieldsSealedBy(
  { name, columns }: Pick<PackedTable, 'name' | 'columns'>,
  reseal: (purpose: string, sealed: string) => string,
): ChangeFields | null {
  const purposes = sealedColumns[name];
  if (!purposes) return null;
  const sealed = Object.entries(purposes).map(([column, purposeOf]) => ({ at: columns.indexOf(column), purposeOf }));
  // Ids and sealed values contain no characters that COPY escapes.
  return (fields) => {
    const columnOf = (column: string) => fields[columns.indexOf(column)]!;
    for (const { at, purposeOf } of sealed)
      if (fields[at] !== nullField) fields[at] = reseal(purposeOf(columnOf), fields[at]!);
  };
}
