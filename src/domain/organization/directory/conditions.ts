// SQL conditions for SCIM filters, and the columns of attributes. Values are always passed as parameters.
import { invalid } from '#foundation/problem.ts';
import type { Comparator, Filter, FilterValue } from './filter.ts';

export interface FilterCondition {
  /** SQL with a `?` for each value. */
  text: string;
  values: FilterValue[];
}

type Kind = 'text' | 'exact' | 'boolean' | 'time';
/** A constant column has the same value for all records. */
type Column = { sql: string; kind: Kind; isConstant?: true } | { exists: string };
type Columns = Readonly<Record<string, Column>>;

const text = (sql: string): Column => ({ sql, kind: 'text' });
const constant = (sql: string, kind: Kind): Column => ({ sql, kind, isConstant: true });
const common: Columns = {
  id: { sql: 'id', kind: 'exact' },
  externalid: { sql: 'external_id', kind: 'exact' },
  displayname: text('display_name'),
  'meta.created': { sql: 'created_at', kind: 'time' },
  'meta.lastmodified': { sql: 'updated_at', kind: 'time' },
};
const memberOf = (mine: string, other: string, of: string): Column => ({
  exists: `exists (select from directory_group_members m where m.org_id = ${of}.org_id and m.${mine} = ${of}.id and m.${other} = ?)`,
});

/** Columns of the attributes that can be used to filter users. */
export const userColumns: Columns = {
  ...common,
  username: text('user_name'),
  active: { sql: 'active', kind: 'boolean' },
  'name.formatted': text('formatted_name'),
  'name.givenname': text('given_name'),
  'name.familyname': text('family_name'),
  emails: text('email'),
  'emails.value': text('email'),
  'emails.type': constant(`'work'`, 'text'),
  'emails.primary': constant('true', 'boolean'),
  'meta.resourcetype': constant(`'User'`, 'text'),
  groups: memberOf('directory_user_id', 'group_id', 'directory_users'),
  'groups.value': memberOf('directory_user_id', 'group_id', 'directory_users'),
};
export const groupColumns: Columns = {
  ...common,
  'meta.resourcetype': constant(`'Group'`, 'text'),
  members: memberOf('group_id', 'directory_user_id', 'directory_groups'),
  'members.value': memberOf('group_id', 'directory_user_id', 'directory_groups'),
};

const unsupported = (attribute: string, why: string) => invalid.field('filter', `${attribute} ${why}`);

/** Translates a filter to SQL. @throws 400 for an attribute or a comparison that is not supported */
export function conditionOf(filter: Filter, columns: Columns, parent = ''): FilterCondition {
  if (filter.kind === 'value') return conditionOf(filter.of, columns, `${filter.attribute}.`);
  if (filter.kind === 'not') {
    const { text, values } = conditionOf(filter.of, columns, parent);
    return { text: `(${text}) is not true`, values };
  }
  if (filter.kind !== 'compare') {
    const parts = filter.of.map((part) => conditionOf(part, columns, parent));
    return {
      text: parts.map((part) => `(${part.text})`).join(` ${filter.kind} `),
      values: parts.flatMap(({ values }) => values),
    };
  }
  const attribute = parent + filter.attribute;
  const column = Object.hasOwn(columns, attribute) ? columns[attribute]! : undefined;
  if (!column) throw unsupported(attribute, 'is not an attribute that can be filtered');
  return 'exists' in column ? membership(attribute, column.exists, filter) : comparison(attribute, column, filter);
}

type Compared = Filter & { kind: 'compare' };

function membership(attribute: string, exists: string, { comparator, value }: Compared): FilterCondition {
  if (comparator === 'eq' && typeof value === 'string') return { text: exists, values: [value] };
  throw unsupported(attribute, 'can be compared only by eq, with a string');
}

function comparison(
  attribute: string,
  { sql, kind }: { sql: string; kind: Kind },
  { comparator, value }: Compared,
): FilterCondition {
  if (comparator === 'pr') return { text: `${sql} is not null`, values: [] };
  if (value === null && comparator === 'eq') return { text: `${sql} is null`, values: [] };
  if (value === null && comparator === 'ne') return { text: `${sql} is not null`, values: [] };
  const compared = readers[kind](value);
  if (compared === undefined) throw unsupported(attribute, `cannot be compared with ${JSON.stringify(value)}`);
  if (kind === 'boolean' && comparator !== 'eq' && comparator !== 'ne')
    throw unsupported(attribute, `cannot be compared by ${comparator}`);
  if (kind === 'time' && isPart(comparator)) throw unsupported(attribute, `cannot be compared by ${comparator}`);
  const [column, parameter] =
    kind === 'text' ? [`lower(${sql})`, 'lower(?)'] : [sql, kind === 'exact' ? '?::text' : '?'];
  const text = operators[comparator](column, parameter);
  return { text, values: [...text].filter((sign) => sign === '?').map(() => compared) };
}

const isPart = (comparator: Comparator): boolean => /^(co|sw|ew)$/.test(comparator);

const readText = (value: FilterValue): string | undefined => (typeof value === 'string' ? value : undefined);
/** The value as a parameter; undefined when it has the wrong type. */
const readers: Record<Kind, (value: FilterValue) => FilterValue | undefined> = {
  text: readText,
  exact: readText,
  boolean: (value) => (/^(true|false)$/i.test(String(value)) ? String(value).toLowerCase() === 'true' : undefined),
  time(value) {
    const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(at) ? undefined : at;
  },
};

const operators: Record<Exclude<Comparator, 'pr'>, (column: string, parameter: string) => string> = {
  eq: (column, parameter) => `${column} = ${parameter}`,
  ne: (column, parameter) => `${column} is distinct from ${parameter}`,
  co: (column, parameter) => `strpos(${column}, ${parameter}) > 0`,
  sw: (column, parameter) => `starts_with(${column}, ${parameter})`,
  ew: (column, parameter) => `right(${column}, length(${parameter})) = ${parameter}`,
  gt: (column, parameter) => `${column} > ${parameter}`,
  ge: (column, parameter) => `${column} >= ${parameter}`,
  lt: (column, parameter) => `${column} < ${parameter}`,
  le: (column, parameter) => `${column} <= ${parameter}`,
};

/** The SQL expression by which a list is sorted. @throws 400 for an attribute by which lists cannot be sorted */
export function sortExpression(attribute: string, columns: Columns): string {
  const column = Object.hasOwn(columns, attribute) ? columns[attribute]! : undefined;
  if (!column || 'exists' in column || column.isConstant)
    throw invalid.field('sortBy', `${attribute} is not an attribute by which lists can be sorted`);
  return column.kind === 'text' ? `lower(${column.sql})` : column.sql;
}
