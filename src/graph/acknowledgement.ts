// Responses without a record: `{ ok }` and `{ ok, id }`.
import { builder } from './builder.ts';

const description = 'Confirms that the call succeeded.';
const ok = { type: 'True', description: 'Always true: a call that fails returns an error instead.' } as const;

/** The response `{ ok: true }`, with the contract's name. */
export const okAnswer = (name: string) =>
  builder.objectRef<{ ok: true }>(name).implement({ description, fields: (t) => ({ ok: t.expose('ok', ok) }) });

/** The response of a deletion, `{ ok: true, id }`. */
export const okIdAnswer = (name: string) =>
  builder.objectRef<{ ok: true; id: string }>(name).implement({
    description,
    fields: (t) => ({
      ok: t.expose('ok', ok),
      id: t.exposeString('id', { description: 'The record that the call changed.' }),
    }),
  });
