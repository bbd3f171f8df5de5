// Missions in a chat: a mention or a command starts a mission. People follow and steer the mission in its thread, and answer its questions
// with buttons. Only members of the organization can do this.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { minutes } from '#foundation/clock.ts';
import { type Json, openChatWorld, plan } from '../support/chat-world.ts';
import { showFragments } from '../support/runtime-records.ts';

const {
  world,
  slack,
  ada,
  runtime,
  shop,
  bind,
  send,
  heard,
  mention,
  inThread,
  reported,
  runs,
  claim,
  finishStep,
  planned,
  last,
  close,
  reset,
  check,
} = await openChatWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

async function checkpoint({ runId, leaseId, step: { stepId } }: Json): Promise<void> {
  const upload = await runtime.report('createArtifactUpload', { runId, leaseId }, '{ contentKey uploadUrl }');
  await fetch(upload.uploadUrl, { method: 'PUT', body: 'bundle' });
  const { contentKey } = upload;
  const commitSha = 'a'.repeat(40);
  await runtime.report('reportCheckpoint', { runId, leaseId, stepId, contentKey, commitSha, sessionId: 'session-1' });
}
async function finish(held: Json): Promise<void> {
  await finishStep(held);
  await runtime.finish(held);
}

describe('missions in Slack', () => {
  it('a mission started by a mention in Slack reports its plan, a question and its outcome in the thread of the mention', async () => {
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    await bind('C0DEV', shop);
    const delivery = await heard(mention('mend the date test &amp; &lt;more&gt;'));
    const [run] = await runs();
    expect(delivery).toMatchObject({
      status: 'started',
      title: 'Mention: mend the date test & <more>',
      reason: `Started ${run.id}.`,
    });
    expect(run).toMatchObject({
      projectId: shop,
      missionTitle: 'mend the date test & <more>',
      billingActorUserId: ada.person.id,
    });
    expect(run.prompt).toMatch(/^Do what Ada asks for[\s\S]*<request-\w{16}>\nmend the date test & <more>\n<\/request/);
    expect(await reported()).toEqual([['mend the date test &amp; &lt;more&gt;: started']]);
    const [state] = slack.messages;
    expect(state!.thread_ts).not.toBe(null);

    const held = await claim();
    await finishStep(held, plan);
    const approval = ['The plan waits for approval', '1. Read <the> test\n2. Mend it', ['Approve plan', 'Reject']];
    expect((await reported()).slice(1)).toEqual([approval]);
    expect((await reported())[0]).toEqual(['mend the date test &amp; &lt;more&gt;: waits for approval of its plan']);
    await heard(slack.press('UBOB', last(), 'Approve plan'));
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval — approved by Bob', '1. Read <the> test\n2. Mend it'],
    ]);

    const build = await claim();
    const sandboxId = await runtime.register(build);
    const question = {
      kind: 'elicitation',
      toolUseId: 'q1',
      body: 'Which <!channel> color?',
      choices: ['Red', 'Blue'],
    };
    await showFragments({ id: sandboxId } as never, [question as never]);
    const asks = 'The agent asks a question. Choose an answer, or write one in this thread.';
    expect((await reported()).slice(2)).toEqual([[asks, 'Which <!channel> color?', ['Red', 'Blue']]]);
    const asked = last();
    await Promise.all([send(slack.press('UBOB', asked, 'Blue')), send(slack.press('UADA', asked, 'Red'))]);
    await world.delivered();
    const [, , [title]] = (await reported()) as [Json, Json, [string]];
    expect([`${asks} — Bob: Blue`, `${asks} — Ada: Red`]).toContain(title);
    expect(slack.answers).toEqual(['The question has already been answered.']);

    await finish(build);
    const done = await reported();
    expect(done).toHaveLength(4);
    expect(done[0]![0]).toBe('mend the date test &amp; &lt;more&gt;: completed');
    expect(done[3]).toEqual(['Completed', 'Cost: 0.00 USD']);
    await reported();
    expect(slack.messages).toHaveLength(4);
    expect(new Set(slack.messages.map(({ thread_ts }) => thread_ts)).size).toBe(1);
  });

  it('a direct message in Slack starts a mission and gets its answers in the thread; messages by the app itself are not stored', async () => {
    const direct = (text: string, more: object = {}) =>
      slack.event({
        type: 'message',
        channel_type: 'im',
        user: 'UADA',
        channel: 'D0ADA',
        ts: slack.nextTime(),
        text,
        ...more,
      });
    expect(await heard(direct('mend it'))).toMatchObject({ status: 'ignored' });
    expect(slack.whispers.at(-1)!.text).toContain('Begin with the name of one: “in ');
    const delivery = await heard(direct('in shop: mend it'));
    expect(delivery).toMatchObject({ status: 'started', event: 'message', title: 'Message: in shop: mend it' });
    expect(await reported()).toEqual([['mend it: started']]);
    const [state] = slack.messages;
    expect(state).toMatchObject({ channel: 'D0ADA', thread_ts: expect.any(String) });
    expect(await heard(direct('mend it: started', { bot_id: 'B0BOT', user: 'U0BOT' }))).toBe(null);
    expect(await heard(direct('', { subtype: 'message_changed' }))).toBe(null);
    const held = await claim();
    expect(await heard(direct('Use UTC.', { thread_ts: state!.thread_ts }))).toMatchObject({ status: 'started' });
    expect(await world.knex('runMessages')).toMatchObject([{ runId: held.runId, text: 'Use UTC.', author: 'Ada' }]);
    expect(await runs()).toHaveLength(1);
    await heard(slack.command('UADA', 'bind shop', 'D0ADA'));
    expect(slack.answers.at(-1)).toContain('A direct message does not name a project');
  });

  it('a mission in Slack posts only the notifications that the person has chosen, but always updates its first message', async () => {
    const choose = (input: object) =>
      world.field('mutation ($input: UpdateMissionNoticesRequest!) { updateMissionNotices(input: $input) { kind } }', {
        session,
        variables: { input },
      });
    const session = await world.session(ada.person, ada.organization.id);
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    for (const kind of ['approval', 'completed']) await choose({ kind, origin: false });
    const held = await planned();
    expect(await reported()).toEqual([['mend the date test: waits for approval of its plan']]);
    await choose({ kind: 'approval', origin: true });
    await world.knex('chat_threads').update({ state: null });
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval', expect.any(String), ['Approve plan', 'Reject']],
    ]);
    await heard(slack.press('UBOB', last(), 'Approve plan'));
    await finish(await claim());
    expect(held.runId).toMatch(/^run_/);
    expect((await reported()).map(([title]) => title)).toEqual([
      'mend the date test: completed',
      'The plan waits for approval — approved by Bob',
    ]);
    for (const kind of ['approval', 'completed']) await choose({ kind, origin: true });
  });

  it('rejecting the plan in Slack cancels the mission; a late approval does nothing', async () => {
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    await planned();
    await reported();
    const message = { ...last() };
    await heard(slack.press('UADA', message, 'Reject'));
    expect((await runs())[0]).toMatchObject({ status: 'canceled', reason: 'The plan was rejected in the chat.' });
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval — rejected', '1. Read <the> test\n2. Mend it'],
      ['Canceled', 'The plan was rejected in the chat.\nCost: 0.00 USD'],
    ]);
    expect((await heard(slack.press('UADA', message, 'Approve plan'))).status).toBe('ignored');
    expect(slack.answers).toEqual(['The run has ended (canceled): it can no longer be steered.']);
  });

  it('messages in the Slack thread reach the mission, and continue it after its end within the limits of the project', async () => {
    await bind('C0DEV', shop);
    await heard(mention('mend the date test'));
    const held = await claim();
    const build = { ...held, step: (await finishStep(held, plan)).step };
    const { thread_ts } = slack.messages[0]!;
    expect(await heard(inThread(thread_ts!, 'Use UTC.'))).toMatchObject({ status: 'started' });
    expect(await world.knex('runMessages')).toMatchObject([{ kind: 'message', text: 'Use UTC.', author: 'Ada' }]);
    expect(
      await heard(
        slack.event({ type: 'message', user: 'UADA', channel: 'C0DEV', ts: slack.nextTime(), text: 'Lunch?' }),
      ),
    ).toBe(null);
    await checkpoint(build);
    await runtime.beat(build, { acknowledged: [(await world.knex('runMessages').first()).id] });
    await finish(build);
    await reported();
    expect(await heard(inThread(thread_ts!, 'And the time zone test.', 'UBOB'))).toMatchObject({ status: 'started' });
    expect(slack.whispers.at(-1)).toMatchObject({
      user: 'UBOB',
      text: 'The mission continues with this message within a minute.',
    });
    world.clock.turn(minutes(1));
    await continuePullRequests();
    const [, next] = await runs();
    expect(next.prompt).toMatch(/Bob wrote:\nAnd the time zone test\./);
    const rounds = await reported();
    expect(rounds[0]![0]).toMatch(/: started$/);
    await world.knex('runs').where({ id: next.id }).update({ status: 'completed', finishedAt: 1 });
    await world
      .knex('projects')
      .where({ id: shop })
      .update({ pullRequestLoop: JSON.stringify({ rounds: 1, hours: 1, costUsd: null }) });
    await heard(inThread(thread_ts!, 'One more.'));
    expect(slack.whispers.at(-1)!.text).toBe(
      'The mission of this thread was continued 1 times, the maximum. Mention the agent outside of this thread to start another mission.',
    );
    await world.knex('projects').update({ pullRequestLoop: null });
  });

  it('a Slack command starts a mission in the project to which the channel is bound, or in a project that the command names', async () => {
    const help = await send(slack.command('UADA', ''));
    expect(help.body).toMatchObject({ response_type: 'ephemeral', text: expect.stringContaining('/agent') });
    expect((await send(slack.command('UADA', 'mend it'))).body).toEqual({
      response_type: 'ephemeral',
      text: 'Got it. An answer will follow here.',
    });
    await world.delivered();
    expect(slack.answers.pop()).toMatch(/^This channel has no project\. Begin with the name of one: “in \w+: …”/);
    await heard(slack.command('UADA', 'in moon: mend it'));
    expect(slack.answers.pop()).toBe('There is no project moon. The projects are: docs, shop.');
    await heard(slack.command('UBOB', 'bind shop'));
    expect(slack.answers.pop()).toBe('Only owners and admins can bind channels to projects.');
    await heard(slack.command('UADA', 'bind Shop'));
    expect(slack.answers.pop()).toBe('The channel dev is bound to the project Shop.');
    await heard(slack.command('UBOB', 'mend it'));
    await heard(slack.command('UBOB', 'in docs: write it'));
    expect((await runs()).map(({ missionTitle, projectId }: Json) => [missionTitle, projectId === shop])).toEqual([
      ['mend it', true],
      ['write it', false],
    ]);
    expect(await reported()).toEqual([['mend it: started'], ['write it: started']]);
    expect(await heard(inThread(last().ts, 'Go on.'))).toMatchObject({ status: 'started' });
  });
});
