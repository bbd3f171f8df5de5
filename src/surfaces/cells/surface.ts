// The protocol between cells (docs/cells.md): signed questions with JSON. To any other sender, these addresses do not exist.
import { z } from 'zod';
import { findPath, knownCell } from '#domain/lifecycle/moves/locate.ts';
import { createOrdered, creationPath } from '#domain/organization/organizations/create.ts';
import { admitSlug, hasSlug, slugPaths } from '#domain/organization/organizations/reserved-slugs.ts';
import { ownCell, statementOfCell } from '#foundation/http/cells.ts';
import { answerJson, type Exchange, readJson } from '#foundation/http/http.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { describeIssues } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { allowMethods, framed, type Report } from '../frame.ts';

const base = '/cells/';
const questionBytes = 64 * 1024;

const key = z.object({ kind: z.string().max(8), value: z.string().max(200) });
const claim = z.object({ slug: z.string().max(64), orgId: z.string().max(64), cell: z.string().max(32) });

const order = z.object({
  id: z.templateLiteral(['org_', z.string()]),
  name: z.string().max(text.organizationName.max),
  slug: z.string().max(text.organizationSlug.max).optional(),
  email: z.string().max(text.email.max),
  personName: z.string().max(text.personName.max),
});

type Answer = (exchange: Exchange) => Promise<void>;

/** Answers a question with the result for its body; a false result is a 409. */
const answering =
  <S extends z.ZodType>(question: S, answer: (asked: z.output<S>) => Promise<object | boolean>): Answer =>
  async (exchange) => {
    const parsed = question.safeParse(await readJson(exchange, questionBytes));
    if (!parsed.success) throw invalid(describeIssues(parsed.error));
    const result = await answer(parsed.data);
    answerJson(exchange, result === false ? 409 : 200, result);
  };

const answers = new Map<string, Answer>([
  [findPath, answering(key, async (asked) => ({ cell: await knownCell(asked) }))],
  [slugPaths.reserve, answering(claim, admitSlug)],
  [creationPath, answering(order, createOrdered)],
  [slugPaths.use, answering(claim, async (asked) => ({ isUsed: await hasSlug(asked) }))],
]);

export function createCells({ report }: { report: Report }) {
  async function handle(exchange: Exchange): Promise<void> {
    const answer = answers.get(exchange.path);
    if (!answer || !statementOfCell(exchange.req)) throw notFound('path');
    exchange.route = exchange.path;
    allowMethods(exchange, 'POST');
    await answer(exchange);
  }
  const owns = (path: string): boolean => ownCell() !== null && path.startsWith(base);
  return { name: 'cells', owns, handle: framed(handle, { report }) };
}
