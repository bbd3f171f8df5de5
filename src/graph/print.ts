// The whole graph as text: what schema.graphql says and what GET /graphql/schema.graphql answers.
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** Sorted, so that a moved line in the code is no change in the text. */
export const printGraph = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
