// Pages of a list: `{ data, nextCursor }`, newest first, and the two paging arguments.
import type { ObjectRef } from '@pothos/core';
import { z } from 'zod';
import { type Page, pageOrders } from '#foundation/postgres/cursor.ts';
import { text } from '#limits.ts';
import { builder } from './builder.ts';
import { members, stringOrNull } from './members.ts';
import { wordSet } from './scalars.ts';
import { boundedText } from './validation.ts';

type Types = typeof builder.$inferSchemaTypes;

/** The page type of a record, for example ProjectPage. */
export function pageOf<Row extends object>(
  name: string,
  row: ObjectRef<Types, Row>,
  order = 'Newest first, unless `order` specifies otherwise.',
) {
  return builder.objectRef<Page<Row>>(name).implement({
    description: `One page of a list of ${row.name} records.`,
    fields: (t) =>
      members(t, {
        data: t.field({
          type: [row],
          description: order,
          resolve: (page) => page.data,
        }),
        nextCursor: stringOrNull('Cursor of the next page, to send as `cursor`; null on the last page.'),
      }),
  });
}

export interface PageBounds {
  min: number;
  max: number;
  default: number;
}

/** The arguments `limit` and `cursor`, with the bounds of one list. */
export const pageArguments = (bounds: PageBounds) =>
  builder.args((t) => ({
    limit: t.int({
      required: true,
      defaultValue: bounds.default,
      description: `Rows per page: ${bounds.min} to ${bounds.max}.`,
      validate: { schema: z.int().min(bounds.min).max(bounds.max) },
    }),
    cursor: t.string({
      description: 'The `nextCursor` of the previous page.',
      validate: { schema: boundedText(text.cursor) },
    }),
  }));

const ListOrder = wordSet(
  'ListOrder',
  pageOrders,
  'The order of a list, by the time at which its records were created.',
  {
    oldest: 'Oldest first.',
    newest: 'Newest first.',
  },
);

/** The argument `order`, for a list whose index can be read both ways. */
export const orderArgument = () =>
  builder.args((t) => ({
    order: t.field({
      type: ListOrder.type,
      description: 'Order of the list, newest first when absent. A cursor is valid for one order only.',
    }),
  }));
