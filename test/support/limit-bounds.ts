// The Limits table of the contract: for each member of a request its limit, values at the limit, and values one beyond it.

export const x = (length: number): string => 'x'.repeat(length);
let made = 0;
const digits = (length: number): string => String(++made).padStart(length, '0').slice(-length);
const letter = (): string => 'abcdefghijklmnopqrstuvwxyz'[made++ % 26]!;

interface Bound {
  bound: string;
  /** Values at the limits. Each call creates new ones. */
  fits: () => unknown[];
  /** Values beyond the limits, and words that the error must contain. */
  beyond: [value: unknown, words: string][];
}

const length = (min: number, max: number): Bound => ({
  bound: `${min} to ${max} characters`,
  // A character outside the Basic Multilingual Plane counts as one, although JavaScript counts two.
  fits: () => [x(min), x(max), '😀'.repeat(max)],
  beyond: [
    [x(min - 1), `must be at least ${min} character`],
    [x(max + 1), `must be at most ${max} characters`],
    ['😀'.repeat(max + 1), `must be at most ${max} characters`],
  ],
});
const slugs: Bound = {
  bound: '1 to 64 lower-case letters, digits and hyphens',
  fits: () => [letter(), `${digits(6)}${x(58)}`, `-${digits(6)}-`],
  beyond: [
    ['', 'must be at least 1 character'],
    [x(65), 'must be at most 64 characters'],
    ...['Acme', 'a b', 'a_b', 'ä', 'a.b', 'a\n'].map((slug): [string, string] => [
      slug,
      'must contain only lower-case letters, digits and hyphens',
    ]),
  ],
};
const repositories: Bound = {
  bound: 'two non-empty segments without white space, one slash',
  fits: () => [`${digits(6)}/r`, `o/${digits(6)}`, `${digits(6)}.-_/ü`, `${digits(6)}/${x(193)}`],
  beyond: [
    ...['', 'shop', '/', 'a/', '/b', 'a//b', 'a/b/c', 'a b/c', 'a/b ', ' a/b', 'a/\tb', 'a/b\n'].map(
      (repository): [string, string] => [repository, 'must be <owner>/<repo>'],
    ),
    [`a/${x(199)}`, 'must be at most 200 characters'],
  ],
};
const issueCodes: Bound = {
  bound: '2 to 10 capital letters or digits, beginning with a letter',
  fits: () => ['AB', 'A123456789', null],
  beyond: ['', 'A', 'A1234567890', '1AB', 'ab', 'A-B', 'ÄB', 'AB\n'].map((code) => [code, 'must be 2 to 10 capital']),
};
const scopes = ['projects:read', 'missions:read', 'agents:read'];

export const bounds: Record<string, Bound> = {
  'createOrganization.name': length(1, 120),
  'createOrganization.slug': slugs,
  // No valid value exists, because only configured cells are accepted, and the tests configure none.
  'createOrganization.cell': {
    bound: '1 to 32 characters',
    fits: () => [],
    beyond: [
      ['', 'must be at least 1 character'],
      [x(33), 'must be at most 32 characters'],
      ['EU', 'must contain only lower-case letters'],
    ],
  },
  'updateOrganization.name': length(1, 120),
  'updateOrganization.slug': slugs,
  'slugPreview.name': length(1, 120),
  'slugAvailability.slug': slugs,
  'createInvite.email': {
    bound: 'an email address of 3 to 320 characters',
    fits: () => [`${letter()}@b`, `${digits(6)}${x(302)}@example.com`],
    beyond: [
      [`${x(309)}@example.com`, 'must be at most 320 characters'],
      ...['', 'bob', 'bob@', '@b', 'a@b@c', 'a b@c', 'a@-b', 'a@b\n'].map((email): [string, string] => [
        email,
        'must be an email address',
      ]),
    ],
  },
  'createProject.name': length(1, 120),
  'createProject.repoFullName': repositories,
  'createProject.trackerTeamKey': length(1, 100),
  'createProject.issueCode': issueCodes,
  'updateProject.name': length(1, 120),
  'updateProject.repoFullName': repositories,
  'updateProject.trackerTeamKey': length(1, 100),
  'updateProject.issueCode': issueCodes,
  'setProjectConnectors.trackerTeamKey': length(1, 100),
  'updateProject.defaultSandboxTemplateId': {
    bound: 'a sandbox template that exists, or null',
    fits: () => ['standard', null],
    beyond: [
      ['', 'must be at least 1 character'],
      [x(201), 'must be at most 200 characters'],
      ['unknown', 'must be standard or the id of a sandbox template'],
    ],
  },
  'createToken.name': length(1, 100),
  'createToken.scopes': {
    bound: 'at most 25 entries',
    fits: () => [[], Array.from({ length: 25 }, (_, i) => scopes[i % 3])],
    beyond: [[Array.from({ length: 26 }, () => scopes[0]), 'must be at most 25 entries']],
  },
  'createToken.expiresInDays': {
    bound: '1 to 365',
    fits: () => [1, 365],
    beyond: [
      [0, 'must be at least 1'],
      [-1, 'must be at least 1'],
      [366, 'must be at most 365'],
      [2 ** 31 - 1, 'must be at most 365'],
    ],
  },
  'projects.limit': {
    bound: '1 to 100',
    fits: () => [1, 100],
    beyond: [
      [0, 'must be at least 1'],
      [-1, 'must be at least 1'],
      [101, 'must be at most 100'],
    ],
  },
  'putMcpBinding.serverName': {
    bound: '1 to 64 letters, digits, _ or -, beginning with a letter or digit',
    fits: () => [letter(), '0', `${digits(6)}${x(58)}`, `${letter()}_-`],
    beyond: [
      ['', 'must be at least 1 character'],
      [x(65), 'must be at most 64 characters'],
      ...['_a', '-a', 'a b', 'ä', 'a.b', 'a/b', 'a\n', ' '].map((name): [string, string] => [
        name,
        'must be up to 64 letters',
      ]),
    ],
  },
  ...Object.fromEntries(
    [
      'byTrackerConnectorId',
      'byTrackerTeamId',
      'byTrackerProjectId',
      'byScmConnectorId',
      'byScmOwner',
      'byScmRepo',
    ].map((filter) => [
      `projects.${filter}`,
      {
        bound: 'at most 200 characters',
        fits: () => ['', x(200)],
        beyond: [[x(201), 'must be at most 200 characters']],
      },
    ]),
  ),
};
