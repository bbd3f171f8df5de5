// Steering a run with messages and decisions, and starting it again.
import { paintStatus, plain, printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { followUnlessDetached, readPrompt } from './runs.ts';

type Decision = 'approvePlan' | 'interruptRun' | 'resumeRun';

const decide =
  (operation: Decision, outcome: string) =>
  async (options: CommonOptions, runId: string): Promise<void> => {
    const run = await (await openClient(options.url))[operation]({ runId });
    if (options.json) printJson(run);
    else printLine(`${outcome} ${run.id} is ${paintStatus(run.status)}.`);
  };
export const approve = decide('approvePlan', 'The plan is approved.');
export const interrupt = decide('interruptRun', 'The agent is interrupted.');
export const resume = decide('resumeRun', 'The agent continues.');

type Client = Awaited<ReturnType<typeof openClient>>;

interface Member {
  userId: string;
  person: { name: string; email: string } | null;
}

/** Finds a member of the mission's organization by id, email address or name, and returns the id. */
async function findMember(client: Client, runId: string, wanted: string): Promise<string> {
  if (wanted.startsWith('usr_')) return wanted;
  const { orgId } = await client.run({ runId });
  const query =
    'query ($orgId: String!) { memberships(orgId: $orgId) { memberships { userId person { name email } } } }';
  const { memberships } = await client.graphql<{ memberships: { memberships: Member[] } }>(query, { orgId });
  const names = ({ person }: Member) => [person?.email, person?.name].map((name) => name?.toLowerCase());
  const found = memberships.memberships.filter((member) => names(member).includes(wanted.toLowerCase()));
  if (found.length === 1) return found[0]!.userId;
  throw new UserError(
    found.length === 0
      ? `No member is called ${plain(wanted)}.`
      : `Several members are called ${plain(wanted)}: use the email address.`,
  );
}

export async function handOver(options: CommonOptions, runId: string, member: string): Promise<void> {
  const client = await openClient(options.url);
  const userId = await findMember(client, runId, member);
  const query = `mutation ($runId: String!, $userId: String!) { handOverRun(runId: $runId, userId: $userId) { id personId personName } }`;
  const { handOverRun } = await client.graphql<{ handOverRun: { id: string; personId: string; personName: string } }>(
    query,
    { runId, userId },
  );
  if (options.json) printJson(handOverRun);
  else printLine(`${handOverRun.id} is handed to ${plain(handOverRun.personName)}.`);
}

/** Follows the run, or stops following it. */
export const setFollowed =
  (isFollowed: boolean) =>
  async (options: CommonOptions, runId: string): Promise<void> => {
    const field = isFollowed ? 'followRun' : 'unfollowRun';
    const client = await openClient(options.url);
    const query = `mutation ($runId: String!) { run: ${field}(runId: $runId) { id isFollowed } }`;
    const { run } = await client.graphql<{ run: { id: string; isFollowed: boolean } }>(query, { runId });
    if (options.json) printJson(run);
    else printLine(isFollowed ? `You now follow ${run.id}.` : `You no longer follow ${run.id}.`);
  };

export async function setBudget(options: CommonOptions, runId: string, budgetUsd: number): Promise<void> {
  const run = await (await openClient(options.url)).setRunBudget({ runId, budgetUsd });
  if (options.json) printJson(run);
  else printLine(`The budget of ${run.id} is ${budgetUsd} USD.`);
}

type Limits = Partial<Record<'maxMinutes' | 'maxModelCalls' | 'maxTokens', number>>;

export async function setLimits(options: CommonOptions & Limits, runId: string): Promise<void> {
  const { maxMinutes, maxModelCalls, maxTokens } = options;
  if (!maxMinutes && !maxModelCalls && !maxTokens)
    throw new UserError('Set --max-minutes, --max-model-calls or --max-tokens.');
  const run = await (await openClient(options.url)).setRunLimits({ runId, maxMinutes, maxModelCalls, maxTokens });
  if (options.json) printJson(run);
  else printLine(`The limits of ${run.id} are set.`);
}

export async function message(options: CommonOptions, runId: string, text: string): Promise<void> {
  const said = await (await openClient(options.url)).sendMessage({ runId, text: await readPrompt(text) });
  if (options.json) printJson(said);
  else printLine('Sent. The agent reads it in its current turn, or with its next step.');
}

interface Question {
  sandboxId: string;
  seq: number;
  text: string;
  choices: string[] | null;
  tool: string | null;
  arguments: string | null;
}

interface AnswerOptions extends CommonOptions {
  approve?: true;
  deny?: true;
  question?: string;
}

/** Answers the question that was read before, never a later one. Without an answer, lists the waiting questions. */
export async function answer(options: AnswerOptions, runId: string, text: string | undefined): Promise<void> {
  const { approve, deny, question: name } = options;
  const client = await openClient(options.url);
  const query = `query ($runId: String!) { run(runId: $runId) { questions { sandboxId seq text choices tool arguments } } }`;
  const { questions } = (await client.graphql<{ run: { questions: Question[] } }>(query, { runId })).run;
  const isDecision = approve === true || deny === true;
  if (text === undefined && !isDecision) {
    if (options.json) return printJson(questions);
    return printLine(questions.map(describe).join('\n') || 'No question is waiting.');
  }
  const asked = name === undefined ? questions : questions.filter((one) => nameOf(one) === name);
  if (asked.length === 0)
    throw new UserError(`${runId} has no ${name ? 'such question' : 'question'} that waits for an answer.`);
  if (asked.length > 1) {
    const list = asked.map(describe).join('\n');
    throw new UserError(`Several questions wait: name one with --question.\n${list}`);
  }
  const [{ sandboxId, seq }] = asked as [Question];
  if (!options.json) printLine(describe(asked[0]!));
  const words = text === undefined ? '' : await readPrompt(text);
  const decision = isDecision ? { approve: approve === true } : {};
  const said = await client.answerElicitation({ runId, text: words, sandboxId, seq, ...decision });
  if (options.json) printJson(said);
  else printLine(isDecision ? (approve ? 'Approved.' : 'Denied.') : 'Answered.');
}

const nameOf = ({ sandboxId, seq }: Question): string => `${sandboxId}/${seq}`;

const describe = (question: Question): string => {
  const { text, choices, tool, arguments: given } = question;
  const words = [text, tool && `${tool} ${given ?? ''}`, choices && `(${choices.join(' / ')})`];
  return `${nameOf(question)}: ${plain(words.filter(Boolean).join('\n  '))}`;
};

interface ContinueOptions extends CommonOptions {
  step?: string;
  budget?: number;
  detach?: true;
}

export async function continueRun(options: ContinueOptions, runId: string, prompt: string): Promise<void> {
  const client = await openClient(options.url);
  const { step, budget } = options;
  const run = await client.continueRun({
    runId,
    prompt: await readPrompt(prompt),
    ...(step && { stepId: step }),
    ...(budget && { budgetUsd: budget }),
  });
  await followUnlessDetached(client, run.id, options);
}

export async function rerun(options: CommonOptions & { detach?: true }, runId: string): Promise<void> {
  const client = await openClient(options.url);
  await followUnlessDetached(client, (await client.rerunMission({ runId })).id, options);
}
