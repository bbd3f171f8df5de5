// Validation errors as sentences: each field by its name on the wire, with its requirement.
import { z } from 'zod';
import { describeFields, type FieldError } from '#foundation/problem.ts';
import { isVisibleLine } from '#foundation/visible-text.ts';

/**
 * Describes an issue of zod as a sentence without its subject, which is the name of the field: `must be at most 80 characters`. Undefined
 * means that zod's own message is used.
 */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  const unit = (origin: string, n: number | bigint) =>
    ({ string: `${n} character${n === 1 ? '' : 's'}`, array: `${n} entr${n === 1 ? 'y' : 'ies'}` })[origin] ?? `${n}`;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`;
    case 'too_small':
      return `must be at least ${unit(issue.origin, issue.minimum as number)}`;
    case 'too_big':
      return `must be at most ${unit(issue.origin, issue.maximum as number)}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'unrecognized_keys':
      return `has no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'email'
        ? 'must be an email address'
        : `must match ${String(issue.pattern ?? issue.format)}`;
    default:
      return undefined;
  }
}

const article = (type: string): string =>
  ({ int: 'an integer', array: 'an array', object: 'an object', record: 'an object' })[type] ?? `a ${type}`;

z.config({ customError: sentence });

/**
 * The errors of the invalid fields with their paths. A path omits the argument `input`, because this argument is the body of the request.
 */
export const fieldErrorsOf = (error: z.ZodError): FieldError[] =>
  error.issues.map(({ path, message }) => ({
    path: path.filter((step, depth) => !(depth === 0 && step === 'input')).join('.'),
    message,
  }));

/** The errors of all fields as one text, for protocols whose errors have no fields. */
export const describeIssues = (error: z.ZodError): string => describeFields(fieldErrorsOf(error));

/** Text without NUL, which PostgreSQL cannot store, and without lone surrogates, which are not UTF-8. */
export const plainText = () =>
  z.string().check(({ value, issues }) => {
    const message = unstorable(value);
    if (message) issues.push({ code: 'custom', message, input: value, continue: false });
  });

function unstorable(value: string): string | undefined {
  if (value.includes('\0')) return 'must be text without NUL characters';
  return value.isWellFormed() ? undefined : 'contains a lone surrogate';
}

const bounded = (schema: z.ZodString, { min = 0, max }: { min?: number; max: number }) =>
  schema
    .min(min)
    .check(({ value, issues }) => {
      // A text never has fewer code units than characters, so most texts need no counting.
      if (value.length <= max || [...value].length <= max) return;
      issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
    })
    .meta({ maxLength: max });

const grouped = new Intl.NumberFormat('en-US');
/** A range in words, such as `1 to 20,000`, for a description. */
export const range = ({ min, max }: { min: number; max: number }): string =>
  `${grouped.format(min)} to ${grouped.format(max)}`;

/** A text of bounded length in characters (code points), as in JSON Schema and PostgreSQL. */
export const boundedText = (bounds: { min?: number; max: number }) => bounded(plainText(), bounds);

/** A name for display: one line of visible text, at least one character, without surrounding blanks. */
export const nameText = ({ min = 1, max }: { min?: number; max: number }) =>
  bounded(
    plainText()
      .refine(isVisibleLine, 'must not contain line breaks, control characters or invisible characters')
      .trim(),
    { min, max },
  );
