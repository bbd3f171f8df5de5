// Compares the scope catalog with the scopes that root fields require, and the scope presets with the maximum number of scopes per token.
import { expect, it } from 'vitest';
import { orgRoles } from '#access/roles.ts';
import { catalog, presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import { tokens } from '#limits.ts';
import { rootFields } from '../support/root-fields.ts';

it('the token form offers exactly the scopes that some root field requires', () => {
  const required = new Set<string>(rootFields.map(({ exposure }) => exposure.scope));
  for (const { scope, isOffered } of catalog) expect([scope, isOffered]).toEqual([scope, required.has(scope)]);
});

it.each(orgRoles)('every preset for the role %s fits into one token and contains only scopes of that role', (role) => {
  const held = scopesOfRole(role);
  for (const preset of scopePresets) {
    const scopes = presetScopes(preset, held);
    expect(scopes.length).toBeLessThanOrEqual(tokens.scopesPerToken);
    expect(scopes.every((scope) => held.has(scope))).toBe(true);
  }
});

it('the scope presets `all`, `docs`, `read` and `missions` contain the scopes that their names suggest', () => {
  const owned = scopesOfRole('owner');
  const all = catalog.map(({ scope }) => scope);
  expect(presetScopes('all', owned)).toEqual(
    all.filter((scope) => !/^(billing|setup|secrets|sign-in|audit|webhooks):/.test(scope)),
  );
  expect(presetScopes('docs', owned)).toEqual(expect.arrayContaining(['setup:read', 'billing:write', 'missions:run']));
  expect(presetScopes('read', owned)).toEqual(
    all.filter((scope) => /^(?!secrets|sign-in|audit|webhooks).*:read$/.test(scope)),
  );
  expect(presetScopes('read', scopesOfRole('viewer'))).not.toContain('billing:read');
  const missions = presetScopes('missions', scopesOfRole('member'));
  expect(missions).toEqual(expect.arrayContaining(['missions:run', 'scheduled-tasks:write', 'artifacts:read']));
  expect(missions.filter((scope) => /^(organizations|members|billing):/.test(scope))).toEqual([]);
});
