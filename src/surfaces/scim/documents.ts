// The documents with which a client discovers what the service supports (RFC 7643, sections 5 to 7).
import { directoryPage } from '#domain/organization/directory/bounds.ts';
import { addresses } from '#foundation/http/addresses.ts';

export const schemaIds = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
} as const;

export const basePath = '/scim/v2';
export const locationOf = (path: string): string => `${addresses().baseHost}${basePath}/${path}`;

interface Attribute {
  name: string;
  type?: string;
  description: string;
  multiValued?: boolean;
  required?: boolean;
  caseExact?: boolean;
  mutability?: 'readOnly' | 'readWrite' | 'immutable';
  returned?: 'always' | 'default';
  uniqueness?: 'none' | 'server';
  canonicalValues?: string[];
  referenceTypes?: string[];
  subAttributes?: object[];
}

/** An attribute with the defaults of RFC 7643, section 2.2. */
const attribute = (given: Attribute) => ({
  ...{ type: 'string', multiValued: false, required: false, caseExact: false },
  ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
  ...given,
});

const reference = (referenceTypes: string[]) =>
  attribute({
    ...{ name: '$ref', type: 'reference', description: 'Address of the record.' },
    referenceTypes,
    mutability: 'readOnly',
  });

const userAttributes = [
  attribute({
    ...{ name: 'userName', description: 'Name of the user at the identity provider.' },
    ...{ required: true, uniqueness: 'server' },
  }),
  attribute({
    ...{ name: 'name', type: 'complex', description: 'Parts of the name. The name of the account does not change.' },
    subAttributes: [
      attribute({ name: 'formatted', description: 'The whole name.' }),
      attribute({ name: 'familyName', description: 'The family name.' }),
      attribute({ name: 'givenName', description: 'The given name.' }),
    ],
  }),
  attribute({ name: 'displayName', description: 'The name as the identity provider shows it.' }),
  attribute({
    name: 'active',
    type: 'boolean',
    description: 'Whether the person may be a member of the organization.',
  }),
  attribute({
    ...{ name: 'emails', type: 'complex', multiValued: true },
    description: 'The only email address of the person. Without it, userName is the email address.',
    subAttributes: [
      attribute({
        name: 'value',
        description: 'The email address. A different one is a different person.',
        uniqueness: 'server',
      }),
      attribute({ name: 'type', description: 'The kind of the address.', canonicalValues: ['work'] }),
      attribute({ name: 'primary', type: 'boolean', description: 'Always true.' }),
    ],
  }),
  attribute({
    ...{ name: 'groups', type: 'complex', multiValued: true, mutability: 'readOnly' },
    description: 'The groups of the user.',
    subAttributes: [
      attribute({ name: 'value', description: 'Id of the group.', caseExact: true, mutability: 'readOnly' }),
      reference(['Group']),
      attribute({ name: 'display', description: 'Name of the group.', mutability: 'readOnly' }),
    ],
  }),
];

const groupAttributes = [
  attribute({ name: 'displayName', description: 'Name of the group.', required: true, uniqueness: 'server' }),
  attribute({
    ...{ name: 'members', type: 'complex', multiValued: true, description: 'The users of the group.' },
    subAttributes: [
      attribute({ name: 'value', description: 'Id of the user.', caseExact: true, mutability: 'immutable' }),
      reference(['User']),
      attribute({ name: 'display', description: 'Name of the user.', mutability: 'readOnly' }),
    ],
  }),
];

const externalId = attribute({
  ...{ name: 'externalId', description: 'Id at the identity provider.', caseExact: true, uniqueness: 'server' },
});

const schemaOf = (id: string, name: string, description: string, attributes: object[]) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  ...{ id, name, description, attributes },
  meta: { resourceType: 'Schema', location: locationOf(`Schemas/${id}`) },
});

const resourceTypeOf = (id: 'User' | 'Group', schema: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  ...{ id, name: id, endpoint: `/${id}s`, description: `A ${id.toLowerCase()} of the directory.`, schema },
  meta: { resourceType: 'ResourceType', location: locationOf(`ResourceTypes/${id}`) },
});

export const serviceProviderConfig = () => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  documentationUri: `${addresses().baseHost}/docs/directory`,
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: directoryPage.max },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      ...{ type: 'oauthbearertoken', name: 'Bearer token', primary: true },
      description: 'A directory token, which an owner of the organization creates.',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: locationOf('ServiceProviderConfig') },
});

export const schemas = (): { id: string }[] => [
  schemaOf(schemaIds.user, 'User', 'User account', [...userAttributes, externalId]),
  schemaOf(schemaIds.group, 'Group', 'Group', [...groupAttributes, externalId]),
];

export const resourceTypes = (): { id: string }[] => [
  resourceTypeOf('User', schemaIds.user),
  resourceTypeOf('Group', schemaIds.group),
];
