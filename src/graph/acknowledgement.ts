// The small answers of the wire: `{ ok }`, `{ ok, id }`.
import { builder } from './builder.ts';

/** `{ ok: true }` under the name the specification gives it. */
export const okAnswer = (name: string) =>
  builder.objectRef<{ ok: true }>(name).implement({ fields: (t) => ({ ok: t.expose('ok', { type: 'True' }) }) });

/** `{ ok: true, id }`: what a delete answers. */
export const okIdAnswer = (name: string) =>
  builder.objectRef<{ ok: true; id: string }>(name).implement({
    fields: (t) => ({ ok: t.expose('ok', { type: 'True' }), id: t.exposeString('id') }),
  });
