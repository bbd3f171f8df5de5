// Responses without a record: `{ ok }` and `{ ok, id }`.
import { builder } from './builder.ts';
import { members, string, typed } from './members.ts';

const description = 'Confirms that the call succeeded.';
const ok = typed('True', 'Always true: a call that fails returns an error instead.');

/** The GraphQL type of the response `{ ok: true }`. It has the name that the contract gives to this response. */
export const okAnswer = (name: string) =>
  builder.objectRef<{ ok: true }>(name).implement({ description, fields: (t) => members(t, { ok }) });

/** The response of a deletion, `{ ok: true, id }`. */
export const okIdAnswer = (name: string) =>
  builder.objectRef<{ ok: true; id: string }>(name).implement({
    description,
    fields: (t) =>
      members(t, {
        ok,
        id: string('The record that the call changed.'),
      }),
  });
