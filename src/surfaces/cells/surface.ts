// The protocol between cells (docs/cells.md): signed requests with JSON bodies. For any other sender, these paths do not exist.
import { z } from 'zod';
import {
  checkArrival,
  discardArrival,
  movePaths,
  receiveArrival,
  receiveJobs,
  serveArrival,
} from '#domain/lifecycle/moves/arrive.ts';
import { findPath, knownPlace } from '#domain/lifecycle/moves/locate.ts';
import { createOrdered, creationPath } from '#domain/organization/organizations/create.ts';
import { membershipsPath, organizationsOfAddress } from '#domain/organization/organizations/elsewhere.ts';
import {
  admitSlug,
  findWanted,
  hasSlug,
  noteRegistered,
  slugPaths,
} from '#domain/organization/organizations/reserved-slugs.ts';
import { isSignedBody, maxQuestionBytes, ownCell, type Statement, statementOfCell } from '#foundation/http/cells.ts';
import { answerJson, type Exchange, parseJson, readText } from '#foundation/http/http.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { describeIssues } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { allowMethods, framed, type Report } from '../frame.ts';

const base = '/cells/';

const key = z.object({ kind: z.string().max(8), value: z.string().max(200) });
const claim = z.object({ slug: z.string().max(64), orgId: z.string().max(64), cell: z.string().max(32) });

const orgId = z.templateLiteral(['org_', z.string()]);
const arrival = z.object({ orgId, moveId: z.string().max(64) });
const waitingJobs = z.array(z.object({ queue: z.string(), payload: z.record(z.string(), z.unknown()) }));

const order = z.object({
  id: orgId,
  name: z.string().max(text.organizationName.max),
  slug: z.string().max(text.organizationSlug.max).optional(),
  email: z.string().max(text.email.max),
  personName: z.string().max(text.personName.max),
});

type Answer = (exchange: Exchange, statement: Statement) => Promise<void>;

/**
 * Handles a request that another cell has sent: parses its body as `question`, and responds with the result of `answer`. The result `false`
 * becomes a 409.
 */
const answering =
  <S extends z.ZodType>(question: S, answer: (asked: z.output<S>, from: string) => Promise<object | boolean>): Answer =>
  async (exchange, statement) => {
    const body = await readText(exchange, maxQuestionBytes);
    if (!isSignedBody(statement, body)) throw notFound('path');
    const parsed = question.safeParse(parseJson(body));
    if (!parsed.success) throw invalid(describeIssues(parsed.error));
    const result = await answer(parsed.data, statement.from);
    answerJson(exchange, result === false ? 409 : 200, result);
  };

const answers = new Map<string, Answer>([
  [findPath, answering(key, async (asked) => ({ place: await knownPlace(asked) }))],
  [slugPaths.reserve, answering(claim, admitSlug)],
  [
    movePaths.check,
    answering(z.object({ orgId, slug: z.string().max(64), schema: z.string().max(200) }), checkArrival),
  ],
  [movePaths.jobs, answering(arrival.extend({ first: z.int().min(0), jobs: waitingJobs }), receiveJobs)],
  [movePaths.serve, answering(arrival, (asked, from) => serveArrival({ ...asked, from }))],
  [movePaths.discard, answering(arrival, (asked, from) => discardArrival({ ...asked, from }))],
  [creationPath, answering(order, createOrdered)],
  [
    membershipsPath,
    answering(z.object({ email: z.string().max(text.email.max) }), async ({ email }) => ({
      organizations: await organizationsOfAddress(email),
    })),
  ],
  [slugPaths.use, answering(claim, async (asked) => ({ isUsed: await hasSlug(asked) }))],
  [slugPaths.find, answering(claim.omit({ cell: true }), findWanted)],
  [slugPaths.registered, answering(z.object({}), (_, from) => noteRegistered(from))],
]);

const arrivals = new RegExp(`^${movePaths.arrivals}(org_\\w{1,60})/(\\w{1,64})/([a-z0-9-]{1,64})$`);

/** Receives the file that contains an organization. The file may have any size. */
async function receive(exchange: Exchange, { from }: Statement): Promise<void> {
  const [, orgId, moveId, slug] = arrivals.exec(exchange.path) as unknown as [string, `org_${string}`, string, string];
  answerJson(exchange, 200, await receiveArrival({ orgId, moveId, slug, from }, exchange.req));
}

export function createCells({ report }: { report: Report }) {
  async function handle(exchange: Exchange): Promise<void> {
    const isArrival = arrivals.test(exchange.path);
    const answer = isArrival ? receive : answers.get(exchange.path);
    const statement = statementOfCell(exchange.req);
    if (!answer || !statement) throw notFound('path');
    exchange.route = isArrival ? `${movePaths.arrivals}{orgId}` : exchange.path;
    allowMethods(exchange, 'POST');
    await answer(exchange, statement);
  }
  const owns = (path: string): boolean => ownCell() !== null && path.startsWith(base);
  return { name: 'cells', owns, handle: framed(handle, { report }) };
}
