// Prints the schema: for the file schema.graphql and for GET /graphql/schema.graphql.
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** Sorted, so that moved code does not change the text. */
export const printGraph = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
