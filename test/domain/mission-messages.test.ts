// Messages, answers and decisions that a person and the agent of a mission exchange. Other tests interrupt an agent, and check how the
// reported usage of a model is charged.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { harnesses, modelsByVendor } from '#domain/projects/agents/catalog.ts';
import { tokenPrices } from '#domain/work/mission-costs/prices.ts';
import { seconds } from '#foundation/clock.ts';
import { approve, type Json, openStepWorld, texts, words } from '../support/mission-steps.ts';

const {
  world,
  alice,
  mallory,
  runtime,
  graphql,
  claim,
  finish,
  agent,
  team,
  start,
  held,
  run,
  beat,
  say,
  steer,
  close,
  reset,
} = await openStepWorld();
afterAll(close);
beforeEach(reset);

describe('messages to an agent', () => {
  it('messages to an agent are delivered in order until they are acknowledged, and stored with their author', async () => {
    const one = await held();
    expect(await beat(one)).toEqual({ desired: 'run', messages: [] });
    await Promise.all(['one', 'two', 'three'].map((text) => say(one.runId, text)));
    const { messages } = await beat(one);
    expect(texts({ messages }).sort()).toEqual(['one', 'three', 'two']);
    expect(messages[0].author).toBe('Alice');
    const ids = messages.map(({ messageId }: Json) => messageId);
    expect((await beat(one)).messages).toEqual(messages);
    expect((await beat(one, [ids[0], 'msg_unknown'])).messages).toEqual(messages.slice(1));
    expect((await beat(one, ids)).messages).toEqual([]);
    expect((await run(one.runId)).messages.map(({ text, acknowledgedAt }: Json) => [text, acknowledgedAt > 0])).toEqual(
      texts({ messages })
        .reverse()
        .map((text: string) => [text, true]),
    );
  });

  it('a runtime asks for messages every second while its agent accepts them; the lease is written every five seconds', async () => {
    const one = await held();
    const nextOf = ({ runId, leaseId }: Json) =>
      runtime.ask('heartbeat', { runs: [{ runId, leaseId }] }, '{ nextHeartbeatMs }');
    const version = async () =>
      (await world.knex.raw('select xmin::text from runs where id = ?', [one.runId])).rows[0].xmin;
    await beat(one);
    const before = await version();
    world.clock.turn(seconds(4));
    expect(await nextOf(one)).toEqual({ nextHeartbeatMs: 1_000 });
    expect(await version()).toBe(before);
    world.clock.turn(seconds(1));
    await beat(one);
    expect(await version()).not.toBe(before);
    await start({ agentId: await agent('builder', 'shell', 'none') });
    const shell = await claim({ runtime: 'Runtime 2', harnesses: ['shell'] });
    expect(await nextOf(shell)).toEqual({ nextHeartbeatMs: 10_000 });
  });

  it('a message that is sent several times with one id is stored once', async () => {
    const one = await held();
    const sent = await Promise.all([1, 2, 3].map(() => say(one.runId, 'Once', { messageId: 'a' })));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(texts(await beat(one))).toEqual(['Once']);
  });

  it('a message that is unread at the end of the work adds one more step in the same session', async () => {
    await team('builder', 'reviewer');
    const one = await held();
    const review = await finish(one, one.step.stepId, { sessionId: 's' });
    await say(one.runId, 'Use the UTC helper instead.');
    const more = await finish(one, review.step.stepId, approve);
    expect(more).toMatchObject({ outcome: 'next', step: { role: 'builder', resumeSessionId: 's' } });
    expect(more.step.prompt).toBe('# Message from Alice\n\nUse the UTC helper instead.');
    expect((await beat(one)).messages).toEqual([]);
    expect((await finish(one, more.step.stepId)).step.role).toBe('reviewer');
  });

  it('a message that is sent while the last step ends is delivered or refused, never lost', async () => {
    const one = await held();
    const [said, ended] = await Promise.all([say(one.runId, 'Wait'), finish(one, one.step.stepId)]);
    expect(ended.outcome).toBe(said.code ? 'done' : 'next');
    if (ended.outcome === 'next') await finish(one, ended.step.stepId);
    expect(words(await say(one.runId, 'More'))).toEqual([
      'conflict',
      'The agents of the run have finished their work: the run is about to end.',
    ]);
    await runtime.finish(one);
    expect(words(await say(one.runId, 'More'))[1]).toContain('has ended (completed)');
  });

  it('messages have a maximum length and number, and require missions:run and a run of the caller’s organization', async () => {
    const one = await held();
    expect(words(await say(one.runId, ''))[0]).toBe('invalid_request');
    expect(words(await say(one.runId, 'x'.repeat(4_001)))[0]).toBe('invalid_request');
    expect(words(await say(one.runId, 'Hello', {}, mallory.token))[0]).toBe('not_found');
    const reader = await world.token(alice.person, alice.organization, { scopes: ['missions:read'] });
    expect(words(await say(one.runId, 'Hello', {}, reader))[0]).toBe('missing_scope');
    for (let i = 0; i < 100; i++) await say(one.runId, `${i}`);
    expect(words(await say(one.runId, 'More'))).toEqual([
      'conflict',
      'The run has 100 messages, which is the maximum.',
    ]);
    expect(texts(await beat(one))).toEqual(Array.from({ length: 10 }, (_, i) => `${i}`));
    // Answers and decisions are not delivered as messages, because the agent does not expect them.
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    const fragments = [
      { kind: 'elicitation', t: 4_000_000_000_000, body: 'May I?', action: 'ci.deploy', toolUseId: 'q' },
    ];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    const deny = `mutation ($runId: String!) { answerElicitation(runId: $runId, text: "", approve: false) { approved } }`;
    expect(await graphql(deny, { runId })).toEqual({ approved: false });
  });

  it('a question of the agent is answered once', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const answer = (text: string) =>
      graphql(
        'mutation ($runId: String!, $text: String!) { answerElicitation(runId: $runId, text: $text) { kind fragmentSeq } }',
        { runId, text },
      );
    expect(words(await answer('Yes'))).toEqual(['conflict', 'The agent has not asked this question.']);
    const sandboxId = await runtime.register(one);
    const fragments = [{ kind: 'elicitation', t: 1, body: 'May I?' }];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    expect(await answer('Yes')).toEqual({ kind: 'answer', fragmentSeq: 0 });
    expect(await answer('Yes')).toEqual({ kind: 'answer', fragmentSeq: 0 });
    expect(words(await answer('No'))).toEqual(['conflict', 'The question has already been answered.']);
    expect(texts(await beat(one))).toEqual(['Yes']);
  });

  it('a person approves or denies, with a reason, a tool call for which the agent waits', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    let seq = 0;
    const show = async (fragment: object) => {
      const fragments = [{ t: 1, ...fragment }];
      await runtime.ask('appendFragments', { sandboxId, leaseId, seq: seq++, fragments }, '{ nextSeq }');
    };
    const call = { action: 'ci.deploy', parameter: '{"to":"live"}' };
    await show({ kind: 'elicitation', body: 'May I call deploy?', toolUseId: 'q1', ...call });
    // Neither a thought of the harness nor a message of the person decides whether the agent may make the call.
    await show({ kind: 'thought', body: 'Hm.' });
    await say(runId, 'Careful');
    const asked = async () =>
      graphql('query ($r: String!) { run(runId: $r) { needs questions { seq text tool arguments choices } } }', {
        r: runId,
      });
    const question = {
      seq: 0,
      text: 'May I call deploy?',
      tool: 'ci.deploy',
      arguments: '{"to":"live"}',
      choices: null,
    };
    expect(await asked()).toEqual({ needs: 'decision', questions: [question] });
    const decide = (more: object) =>
      graphql(
        `mutation ($runId: String!, $text: String!, $approve: Boolean, $seq: Int) {
          answerElicitation(runId: $runId, text: $text, approve: $approve, seq: $seq) { text approved } }`,
        { runId, text: '', ...more },
      );
    expect(words(await decide({ text: 'Yes' }))).toEqual([
      'invalid_request',
      'approve: is required for a question about a tool call.',
    ]);
    expect(await decide({ approve: false, text: 'Not today' })).toEqual({ text: 'Not today', approved: false });
    expect(words(await decide({ approve: true }))).toEqual(['conflict', 'The question has already been answered.']);
    expect(await asked()).toEqual({ needs: null, questions: [] });
    expect((await beat(one)).messages).toMatchObject([
      { text: 'Careful', questionId: null, approved: null },
      { text: 'Not today', questionId: 'q1', approved: false },
    ]);
    await show({ kind: 'action', action: 'ci.deploy', toolUseId: 'q1', result: 'Denied', failed: true });
    await show({ kind: 'elicitation', t: 4_000_000_000_000, body: 'And now?', toolUseId: 'q2', choices: ['A', 'B'] });
    expect(await asked()).toMatchObject({ needs: 'answer', questions: [{ seq: 3, choices: ['A', 'B'], tool: null }] });
    expect(words(await decide({ approve: true, text: 'x' }))[1]).toBe(
      'approve: is only for a question about a tool call.',
    );
    expect(words(await decide({}))[1]).toBe('text: must not be empty for the answer to a question.');
    // The runtime has reported that its agent no longer waits.
    await show({ kind: 'elicitation', t: 4_000_000_000_001, body: 'May I?', toolUseId: 'q3', ...call });
    await show({ kind: 'action', action: 'ci.deploy', toolUseId: 'q3', result: 'Gone', failed: true });
    const late = await decide({ approve: true, seq: 4 });
    expect(words(late)).toEqual(['conflict', 'The agent is no longer waiting for the decision.']);
  });

  it('an answer names its question when several questions wait, and a decision never applies to another tool call', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    const call = { kind: 'elicitation', body: 'May I?', action: 'ci.deploy' };
    const calls = ['a', 'b', 'c'].map((id, t) => ({ ...call, t, parameter: `{"to":"${id}"}`, toolUseId: id }));
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments: calls }, '{ nextSeq }');
    const decide = (more: object) =>
      graphql(
        `mutation ($runId: String!, $approve: Boolean, $seq: Int) {
          answerElicitation(runId: $runId, text: "", approve: $approve, seq: $seq) { fragmentSeq approved } }`,
        { runId, approve: true, ...more },
      );
    const several = ['conflict', 'seq: is required, because several questions wait: name one by sandboxId and seq.'];
    expect(words(await decide({}))).toEqual(several);
    expect(await decide({ seq: 2 })).toEqual({ fragmentSeq: 2, approved: true });
    expect(words(await decide({}))).toEqual(several);
    expect(await decide({ seq: 1 })).toEqual({ fragmentSeq: 1, approved: true });
    // A question that needs a written answer also waits.
    const inWords = { kind: 'elicitation', t: 9, body: 'Which?', toolUseId: 'd' };
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 3, fragments: [inWords] }, '{ nextSeq }');
    expect(words(await decide({ approve: false }))).toEqual(several);
    const end = { kind: 'action', t: 10, action: 'ask_person', toolUseId: 'd', result: 'A' };
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 4, fragments: [end] }, '{ nextSeq }');
    // The newer questions are already answered, so this decision is about the oldest question.
    expect(await decide({ approve: false })).toEqual({ fragmentSeq: 0, approved: false });
  });

  it('a message does not answer a question that the agent asked after reading it, even if a slow clock dates the question earlier', async () => {
    const one = await held();
    const { runId, leaseId } = one;
    const sandboxId = await runtime.register(one);
    await say(runId, 'Use the new cart');
    const { messages } = await beat(one);
    const read = messages.map(({ messageId }: { messageId: string }) => messageId);
    await beat(one, read);
    const fragments = [{ kind: 'elicitation', t: 1, body: 'Which is new?', toolUseId: 'q1' }];
    await runtime.ask('appendFragments', { sandboxId, leaseId, seq: 0, fragments }, '{ nextSeq }');
    const asked = 'query ($r: String!) { run(runId: $r) { needs questions { text } } }';
    expect(await graphql(asked, { r: runId })).toEqual({ needs: 'answer', questions: [{ text: 'Which is new?' }] });
  });
});

describe('interrupting an agent', () => {
  it('an interruption reaches the agent with each heartbeat until the run is resumed', async () => {
    const one = await held();
    expect(await steer('interruptRun', one.runId)).toMatchObject({
      status: 'running',
      interruptedAt: expect.any(Number),
    });
    await steer('interruptRun', one.runId);
    expect((await beat(one)).desired).toBe('interrupt');
    expect(await steer('resumeRun', one.runId)).toMatchObject({ interruptedAt: null });
    await steer('resumeRun', one.runId);
    expect((await beat(one)).desired).toBe('run');
    expect((await run(one.runId)).messages.map(({ kind }: Json) => kind)).toEqual(['resume', 'interrupt']);
    await steer('cancelRun', one.runId);
    expect(words(await steer('interruptRun', one.runId))[0]).toBe('conflict');
  });

  it('an interrupted run that waits cannot be claimed until it is resumed', async () => {
    const { id } = await start();
    await steer('interruptRun', id);
    expect(await claim()).toBeNull();
    await steer('resumeRun', id);
    expect(await claim()).toMatchObject({ runId: id });
  });
});

describe('reported usage of a model', () => {
  const use = (one: Json, usageId: string, more: object = {}) =>
    runtime.ask('reportUsage', {
      runId: one.runId,
      leaseId: one.leaseId,
      usageId,
      stepId: one.step.stepId,
      sessionId: 'session-1',
      role: 'builder',
      model: 'claude-sonnet-4-5-20250929',
      inputTokens: 1_000_000,
      cachedInputTokens: 1_000_000,
      cacheWriteTokens: 1_000_000,
      outputTokens: 1_000_000,
      ...more,
    });

  it('usage is charged once to the run and its step, at the vendor’s list price', async () => {
    const one = await held();
    await Promise.all([use(one, 'a'), use(one, 'a'), use(one, 'b', { model: 'gpt-5-mini' })]);
    expect(await run(one.runId)).toMatchObject({
      missionCostUsd: 3 + 0.3 + 3.75 + 15 + (0.25 + 0.025 + 0.25 + 2),
      missionCostIncomplete: false,
      steps: [{ costUsd: 24.575, inputTokens: 2_000_000, outputTokens: 2_000_000, sessionId: 'session-1' }],
    });
    await use(one, 'c', { model: 'unknown-1' });
    expect(await run(one.runId)).toMatchObject({ missionCostUsd: 24.575, missionCostIncomplete: true });
    expect((await claim())?.runId).toBeUndefined();
  });

  it('usage beyond the budget cancels the mission; usage that is reported later still counts', async () => {
    const one = await held({ budgetUsd: 20 });
    expect(one.budgetUsd).toBe(20);
    await use(one, 'a');
    expect((await beat(one)).desired).toBe('stop');
    await use(one, 'b');
    expect(await run(one.runId)).toMatchObject({
      status: 'canceled',
      reason: 'The mission has cost 22.05 USD: its budget of 20.00 USD is used up.',
      missionCostUsd: 44.1,
      steps: [{ status: 'canceled' }],
    });
    expect(await finish(one, one.step.stepId)).toMatchObject({
      outcome: 'done',
      failure: expect.stringContaining('budget'),
    });
  });

  it('each model of the catalog has a price, and no other model has one', () => {
    const models = [...Object.values(modelsByVendor), ...harnesses.map((harness) => harness.models)].flat();
    const chosen = new Set(models.map(({ id }) => id).filter((id) => id !== 'none'));
    expect(Object.keys(tokenPrices).sort()).toEqual([...chosen].sort());
  });
});
