// Roles of people whose first sign-in makes them members.
import type { OrgRole } from '../generated/documents.ts';

export const roles: readonly (readonly [OrgRole | '', string])[] = [
  ['', 'Only with an invite'],
  ['viewer', 'Become viewers'],
  ['member', 'Become members'],
  ['admin', 'Become admins'],
];
