// Answers without a record: `{ ok }` and `{ ok, id }`.
import { builder } from './builder.ts';

/** `{ ok: true }`, with the specification's name. */
export const okAnswer = (name: string) =>
  builder.objectRef<{ ok: true }>(name).implement({ fields: (t) => ({ ok: t.expose('ok', { type: 'True' }) }) });

/** `{ ok: true, id }`: the answer of a delete. */
export const okIdAnswer = (name: string) =>
  builder.objectRef<{ ok: true; id: string }>(name).implement({
    fields: (t) => ({
      ok: t.expose('ok', { type: 'True' }),
      id: t.exposeString('id', { description: 'The record that the call changed.' }),
    }),
  });
