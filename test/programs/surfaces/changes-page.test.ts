// The pages on which people review a change and talk about an issue, in a real browser.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { stageEffect } from '#domain/projects/effects/staging.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { days } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Callers, createCallers, createMember, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { createRuntime } from '../../support/runtime-client.ts';
import { leaveArtifact } from '../../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

const headSha = 'a'.repeat(40);

/** A change of many files, one of them with many lines. */
function diffOf(files: number, lines: number): string {
  const small = Array.from(
    { length: files },
    (_, i) => `diff --git a/src/part-${i % 20}/file-${i}.ts b/src/part-${i % 20}/file-${i}.ts
--- a/src/part-${i % 20}/file-${i}.ts
+++ b/src/part-${i % 20}/file-${i}.ts
@@ -1,3 +1,3 @@
 const first = ${i};
-const wrong = localTime("${i}"); // <b>old</b>
+const right = utcTime("${i}"); // <b>new</b>
 export { first };
`,
  );
  const large = Array.from({ length: lines }, (_, i) => `+line ${i}`).join('\n');
  const file = `diff --git a/z/large.txt b/z/large.txt\nnew file mode 100644\n--- /dev/null\n+++ b/z/large.txt\n@@ -0,0 +1,${lines} @@\n${large}\n`;
  return small.join('') + file;
}

describe.skipIf(typeof launched === 'string')('Changes of a mission in a browser', () => {
  let world: World;
  let folder: string;
  let callers: Callers;
  let session: Session;
  let pages: PageInspector;
  let runtime: Awaited<ReturnType<typeof createRuntime>>;
  let projectId: string;

  beforeAll(async () => {
    world = await openWorld();
    folder = mkdtempSync(path.join(tmpdir(), 'aep-changes-'));
    callers = await createCallers(world);
    const { owner } = callers;
    await world.grant(owner.organization, 1_000);
    await world.lift(owner.organization);
    session = await world.session(owner.person, owner.organization.id);
    runtime = await createRuntime(world, owner.organization);
    projectId = await createProject(world, owner, 'Shop');
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  /** An open run with a pushed change. */
  async function changed(diff: string): Promise<string> {
    const start = 'mutation ($p: String!) { startMission(projectId: $p, prompt: "Use UTC") { id } }';
    const { id } = await world.field(start, { token: callers.owner.token, variables: { p: projectId } });
    await world.delivered();
    const held = await runtime.claim({}, '{ runId leaseId step { stepId } }');
    expect(held.runId).toBe(id);
    const place = { orgId: callers.owner.organization.id, projectId: projectId as never };
    const { id: changeArtifactId } = await leaveArtifact(place, diff, { caption: 'change.diff' });
    const more = { changeArtifactId, branch: `mission/${id}`, baseBranch: 'main', headSha };
    await world.knex('runs').where({ id }).update(more);
    return id;
  }
  /** The newest version of the run's change, with two commits: a small one, and one without its patch. */
  async function reportCommits(runId: string): Promise<void> {
    const place = { orgId: callers.owner.organization.id, projectId: projectId as never };
    const { changeArtifactId: artifactId } = await world.knex('runs').where({ id: runId }).first();
    const first = { sha: '1'.repeat(40), subject: 'Swap \u202enames', author: 'Ada', authoredAt: 9e18 };
    const list = [
      { ...first, patch: diffOf(1, 1) },
      { ...first, sha: '2'.repeat(40), subject: '', author: 'Bob', patch: null },
    ];
    const { id: commitsArtifactId } = await leaveArtifact(place, JSON.stringify(list), {
      caption: 'change.commits.json',
    });
    await world.knex('change_versions').insert({
      ...{ ...place, runId, artifactId, commitsArtifactId, headSha, branch: `mission/${runId}` },
      ...{ role: 'builder', commits: 2, createdAt: present() },
    });
  }
  /** Opens single commits on the page, first from the list of commits and then by a URL, and returns to the whole change. */
  async function readCommits(page: Page, runId: string): Promise<void> {
    const file = page.getByRole('region', { name: 'src/part-0/file-0.ts' });
    await reportCommits(runId);
    await page.reload();
    await page.getByText('2 commits', { exact: true }).click();
    const commits = page.locator('.commits li');
    await commits.last().waitFor();
    expect(await commits.allTextContents()).toEqual([
      expect.stringMatching(/^1111111 Swap \\u\{202e\}names Ada, /),
      expect.stringMatching(/^2222222 No message Bob, /),
    ]);
    await commits.first().getByRole('link').click();
    await page.getByText('Only commit 1111111 is shown. You can comment only on the whole change.').waitFor();
    await file.locator('.code-keyword').first().waitFor();
    expect(await page.getByRole('region', { name: /^(src|z)/ }).count()).toBe(2);
    expect(await page.getByRole('button', { name: /^(Review changes|Comment on line)/ }).count()).toBe(0);
    expect(await file.getByText('Who exports it?').count()).toBe(0);
    await pages.inspect(page, 'changes-commit');
    // The URL leads to the commit.
    expect(new URL(page.url()).searchParams.get('commit')).toBe('1'.repeat(40));
    await page.reload();
    await page.getByText('Only commit 1111111').waitFor();
    await commits.last().getByRole('link').click();
    await page.getByText('The diff of this commit is not shown').waitFor();
    await page.getByRole('button', { name: 'Show the whole change' }).click();
  }
  const address = (runId: string) => `/console/o/${callers.owner.organization.slug}/runs/${runId}/changes`;

  it('people comment on an issue and edit their own comments; a person starts a mission from the issue list, and another person follows the mission', async () => {
    const { owner } = callers;
    const place = await createProject(world, owner, 'Own issues', { tracker: 'builtin' });
    const write = 'mutation ($input: CreateIssueRequest!) { createIssue(input: $input) { id } }';
    const input = { projectId: place, title: 'Wrong year', body: 'It is 2026.' };
    const { id } = await world.field(write, { token: owner.token, variables: { input } });
    const comment = 'mutation ($id: String!) { commentOnIssue(issueId: $id, body: "The imprint too.") { id } }';
    const bob = await createMember(world, owner.organization, 'Bob', 'member');
    await world.field(comment, { token: bob.token, variables: { id } });
    const page = await pages.open(session);
    await page.goto(`/console/o/${owner.organization.slug}/issues/${id}`);
    await page.getByLabel('New comment').fill('And the **header**.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const own = page.getByRole('listitem').filter({ hasText: 'And the header.' });
    await own.getByRole('button', { name: 'Edit comment' }).click();
    await page.getByLabel('Text').fill('And the title.');
    await page.getByRole('button', { name: 'Save comment' }).click();
    const changed = page.getByRole('listitem').filter({ hasText: 'And the title.' });
    await changed.getByText('edited').waitFor();
    expect(await page.getByRole('button', { name: 'Delete comment' }).count()).toBe(1);
    await changed.getByRole('button', { name: 'Delete comment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete comment' }).click();
    await changed.waitFor({ state: 'detached' });
    expect(await world.knex('issue_comments').where({ issueId: id })).toMatchObject([{ body: 'The imprint too.' }]);

    await page.goto(`/console/o/${owner.organization.slug}/issues`);
    await page.getByLabel('Select Wrong year').check();
    await page.getByRole('button', { name: 'Start missions' }).click();
    await page.getByLabel('Budget per mission in US dollars').fill('3');
    await pages.inspect(page, 'issues-start');
    await page.getByRole('button', { name: 'Start 1 mission' }).click();
    await page.getByText('1 mission started').waitFor();
    const [run] = await world.knex('runs').where({ issueId: id });
    expect(run).toMatchObject({ budgetUsd: 3, billingActorUserId: owner.person.id });
    const bobs = await pages.open(await world.session(bob.person, owner.organization.id));
    await bobs.goto(`/console/o/${owner.organization.slug}/runs/${run.id}`);
    await bobs.getByRole('button', { name: 'Follow mission', exact: true }).click();
    await bobs.getByRole('button', { name: 'Unfollow mission' }).waitFor();
    await bobs.goto(`/console/o/${owner.organization.slug}/runs`);
    await bobs.getByRole('button', { name: 'Followed' }).click();
    await bobs.getByRole('link', { name: run.missionTitle }).waitFor();
    await page.goto(`/console/o/${owner.organization.slug}/runs/${run.id}`);
    await page.getByRole('button', { name: 'Cancel mission' }).waitFor();
    expect(await page.getByRole('button', { name: 'Follow mission' }).count()).toBe(0);
    await world.knex('runs').where({ id: run.id }).delete();
  });

  it('the changes page shows an image before and after the change', async () => {
    const repository = path.join(folder, 'acme', 'pictures');
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...words], {
        encoding: 'utf8',
      }).trim();
    mkdirSync(repository, { recursive: true });
    git('init', '--quiet', '-b', 'main');
    const [baseSha, imageSha] = ['red', 'lime'].map((colour) => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle r="40" fill="${colour}"/></svg>`;
      writeFileSync(path.join(repository, 'dot.svg'), svg);
      git('add', '-A');
      git('commit', '--quiet', '-m', colour);
      return git('rev-parse', 'HEAD');
    });
    const orgId = callers.owner.organization.id;
    const connector = {
      orgId,
      vendor: 'builtin',
      vendorKind: 'scm',
      displayName: 'Code',
      externalOrgId: folder,
    } as const;
    const { id: scmConnectorId } = await connectIntegration(connector);
    await world
      .knex('projects')
      .where({ id: projectId })
      .update({ scmConnectorId, scmOwner: 'acme', scmRepo: 'pictures' });
    const binary = (name: string) =>
      `diff --git a/${name} b/${name}\nindex 1111111..2222222 100644\nBinary files a/${name} and b/${name} differ\n`;
    const runId = await changed(binary('dot.svg') + binary('gone.png'));
    await world.knex('runs').where({ id: runId }).update({ baseSha, headSha: imageSha });
    const page = await pages.open(session);
    await page.goto(address(runId));
    const file = page.getByRole('region', { name: 'dot.svg' });
    for (const name of ['dot.svg, before', 'dot.svg, after']) await file.getByRole('img', { name }).waitFor();
    const width = (image: HTMLImageElement) => image.decode().then(() => image.naturalWidth);
    expect(await file.getByRole('img').first().evaluate(width)).toBe(40);
    await page.getByRole('region', { name: 'gone.png' }).getByText('does not have this version').first().waitFor();
    await pages.inspect(page, 'changes-images');
    const read = (path: string, token: string) =>
      world.field(
        'query ($runId: String!, $path: String!) { changedFile(runId: $runId, path: $path, side: old) { base64 } }',
        { token, variables: { runId, path } },
      );
    expect(atob((await read('dot.svg', callers.owner.token)).base64)).toContain('red');
    expect(await read('secrets.env', callers.owner.token)).toMatchObject({
      description: 'path: must be a file of the change.',
    });
    expect(await read('dot.svg', callers.stranger.token)).toMatchObject({ code: 'not_found' });
  });

  it('the changes page shows the diff, keeps comments after a reload, and sends a review to the agent', async () => {
    const runId = await changed(diffOf(2, 3));
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ prNumber: 1, prState: 'open', prCheckAt: present() + days(1) });
    const thread = { orgId: callers.owner.organization.id, projectId, prNumber: 1, side: 'new', isResolved: false };
    const said = (body: string) => ({ author: 'ada', body, createdAt: present() });
    const url = 'https://github.com/acme/shop/pull/1#r1';
    await world.knex('pull_request_threads').insert([
      {
        ...{ ...thread, key: 'a', seq: 0, url, path: 'src/part-0/file-0.ts', startLine: 3, line: 3 },
        comments: JSON.stringify([said('Who exports it?'), { ...said('Nobody.'), author: 'bob' }]),
      },
      { ...thread, key: 'b', seq: 1, url, path: 'gone.ts', comments: JSON.stringify([said('It is gone.')]) },
    ]);
    const page = await pages.open(session);
    await page.goto(address(runId));
    const file = page.getByRole('region', { name: 'src/part-0/file-0.ts' });
    await file.getByText('localTime').waitFor();
    await file.getByText('Who exports it?').waitFor();
    await file.getByText('Nobody.').waitFor();
    expect(await file.getByRole('link', { name: 'Open at the source host' }).getAttribute('href')).toBe(url);
    await page.getByRole('region', { name: 'Reviews' }).getByText('It is gone.').waitFor();

    const owned = { orgId: callers.owner.organization.id, projectId: projectId as never };
    const { id: artifactId } = await leaveArtifact(owned, diffOf(1, 1), { caption: 'change.diff' });
    const version = {
      ...owned,
      runId,
      artifactId,
      headSha: 'b'.repeat(40),
      branch: `mission/${runId}`,
      role: 'builder',
    };
    await world
      .knex('change_versions')
      .insert({ ...version, changedFiles: 2, insertions: 2, deletions: 1, createdAt: present() });
    await page.reload();
    await page.getByLabel('Version of the change').selectOption({ index: 1 });
    await page.getByText('This is an earlier version of the change.').waitFor();
    await expect.poll(() => page.getByRole('region', { name: /^src/ }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Review changes' }).count()).toBe(0);
    await page.getByLabel('Version of the change').selectOption('Newest version');
    await file.getByText('Who exports it?').waitFor();
    expect(await page.getByText('2 commits', { exact: true }).count()).toBe(0);
    await readCommits(page, runId);
    await file.getByText('Who exports it?').waitFor();
    await pages.inspect(page, 'changes-threads');
    expect(await file.locator('.plus').innerText()).toContain('const right = utcTime("0"); // <b>new</b>');
    await file.locator('.code-keyword').first().waitFor();
    expect(await file.locator('.plus .code-changed').allInnerTexts()).toContain('right');

    const note = () => file.getByRole('textbox', { name: 'Comment on line 2' });
    await file.getByRole('button', { name: 'Comment on line 2 of' }).last().click();
    await note().fill('Which zone?');
    await page.reload();
    await note().waitFor();
    expect(await note().inputValue()).toBe('Which zone?');
    await file.getByRole('button', { name: 'Add comment' }).click();
    await file.getByText('not submitted yet').waitFor();
    await pages.inspect(page, 'changes');
    await page.setViewportSize({ width: 1280, height: 720 });

    // The person works by keyboard: next file, its first line, a comment, the verdict.
    await page.getByRole('heading', { level: 1 }).focus();
    for (const key of ['n', 'n', 'ArrowDown', 'ArrowDown', 'c']) await page.keyboard.press(key);
    const second = page.getByRole('region', { name: 'src/part-1/file-1.ts' });
    await second.getByRole('textbox').fill('Here too.');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('v');
    await expect.poll(() => second.getByRole('checkbox', { name: /viewed/i }).isChecked()).toBe(true);
    await page.getByText('1 of 3 viewed').waitFor();
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog', { name: 'Submit your review' });
    await dialog.getByLabel('Summary').fill('Nearly.');
    await pages.inspect(page, 'changes-submit');
    await page.setViewportSize({ width: 1280, height: 720 });
    await dialog.getByRole('button', { name: 'Submit review' }).click();
    await page.getByText('The agent has your review.').waitFor();
    await file.getByText('Which zone?').waitFor();
    const [message] = await world.knex('run_messages').where({ runId });
    expect(message.text).toContain(
      '## src/part-0/file-0.ts, line 2\n\n> +const right = utcTime("0"); // <b>new</b>\n\nWhich zone?',
    );

    const zone = file.locator('.comment').filter({ hasText: 'Which zone?' });
    await zone.getByRole('button', { name: 'Resolve' }).click();
    await file.getByText('resolved by Alice').waitFor();
    // The next commit changes only the commented file, which no longer counts as viewed; the other file still does.
    const place = { orgId: callers.owner.organization.id, projectId: projectId as never };
    const next = diffOf(2, 3).replace('const right = utcTime("0")', 'const right = utcTime("UTC")');
    const { id: changeArtifactId } = await leaveArtifact(place, next, { caption: 'change.diff' });
    await world.knex('runs').where({ id: runId }).update({ changeArtifactId });
    await page.reload();
    await file.getByText('Comments on lines that have changed since').waitFor();
    await page.getByText('1 of 3 viewed').waitFor();
  });

  it('outside effects that wait for approval are rejected on the changes page and approved in the inbox; an effect that has changed is shown again before it can be approved', async () => {
    const runId = await changed(diffOf(2, 3));
    const { organization, token } = callers.owner;
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ status: 'completed', leaseUntil: null, finishedAt: present() });
    const of = { id: runId as Id<'run'>, orgId: organization.id, projectId: projectId as Id<'project'> };
    const comment = (key: string, text: string) =>
      transaction((trx) =>
        stageEffect(trx, of, {
          ...{ kind: 'comment', key },
          payload: { ofRunId: of.id, text, issueId: key, place: null },
        }),
      );
    await comment('iss_1', 'Use UTC: completed');
    await comment('iss_2', 'Not this one.');
    const given = { serverName: 'issues', tool: 'add_label', arguments: { issue: 12, label: '<b>done</b>' } };
    await transaction((trx) => stageEffect(trx, of, { kind: 'mcp_call', key: 'call', payload: given }));

    const page = await pages.open(session);
    await page.goto(address(runId));
    const card = page.getByRole('region', { name: 'Outside effects' });
    await card.getByText('3 outside effects of this mission wait').waitFor();
    await card.getByText('"label": "<b>done</b>"').waitFor();
    await pages.inspect(page, 'effects');
    await page.setViewportSize({ width: 1280, height: 720 });
    await card.getByRole('button', { name: 'Reject: Comment on iss_2' }).click();
    await card.getByText('Rejected by Alice').waitFor();
    // An effect that has changed since it was read is shown again before it can be approved.
    await comment('iss_1', 'Use UTC: completed, merged');
    await card.getByRole('button', { name: 'Approve: Comment on iss_1' }).click();
    await card.getByText('has changed since it was read').waitFor();
    await card.getByText('Use UTC: completed, merged').waitFor();

    await page.goto(address(runId).replace('/changes', ''));
    await card.getByText('Use UTC: completed, merged').waitFor();
    await page.goto(`/console/o/${organization.slug}/inbox`);
    await page.getByRole('button', { name: /2 outside effects wait/ }).click();
    await page.getByText('Call add_label of issues').waitFor();
    await pages.inspect(page, 'inbox-effects');
    await page.setViewportSize({ width: 1280, height: 720 });
    // When the window became wider, the page changed its layout and began to read the effects again. The key `a` does nothing until the page
    // shows the effects. After a reload, the text of an effect appears only once the page has read the effects, so the test can wait for it.
    await page.reload();
    await page.getByText('Call add_label of issues').waitFor();
    await page.getByRole('heading', { level: 1 }).focus();
    await page.keyboard.press('a');
    await vi.waitFor(async () => {
      const states = await world.knex('outside_effects').where({ runId }).orderBy('position').pluck('state');
      expect(states.toSorted()).toEqual(['approved', 'approved', 'rejected']);
    });
    await world.delivered();
    await page.goto(address(runId));
    await card.getByText('The project no longer has the MCP server issues.').waitFor();
    await card.getByText('done', { exact: true }).waitFor();

    await page.goto(`/console/o/${organization.slug}/projects/${projectId}/settings`);
    const settings = page.getByRole('region', { name: 'Outside effects' });
    await settings.getByLabel('Calls of MCP tools').check();
    await settings.getByLabel('Pushes').check();
    await settings.getByLabel('Tools that need no approval').fill('docs\nissues.add_label');
    await pages.inspect(page, 'effect-policy');
    await settings.getByRole('button', { name: 'Save policy' }).click();
    await settings.getByText('on', { exact: true }).waitFor();
    const query =
      'query ($projectId: String!) { project(projectId: $projectId) { effectPolicy { waits allowedTools } } }';
    expect((await world.field(query, { token, variables: { projectId } })).effectPolicy).toEqual({
      waits: ['mcp_call', 'push'],
      allowedTools: ['docs', 'issues.add_label'],
    });
  });

  it('a diff with 5,000 files and a file with 50,000 lines are rendered only in their visible part', async () => {
    const runId = await changed(diffOf(5_000, 50_000));
    const page = await pages.open(session);
    await page.goto(address(runId));
    await page.getByText('5001 files').waitFor();
    const large = page.getByRole('region', { name: 'z/large.txt' });
    // The header of a file is rendered when it is near the viewport.
    await large.scrollIntoViewIfNeeded();
    await large.getByRole('button', { name: 'Show z/large.txt' }).click();
    await large.getByText('Added: line 0', { exact: true }).waitFor();
    // The page grows while its files are rendered a few at a time.
    const atEnd = async () => {
      await page.keyboard.press('End');
      return large.getByText('Added: line 49999', { exact: true }).isVisible();
    };
    await expect.poll(atEnd, { interval: 500 }).toBe(true);
    // Headers and rows far outside the visible part are not rendered.
    expect(await page.locator('.file-head').count()).toBeLessThan(200);
    await vi.waitFor(async () => expect(await page.locator('.code tr').count()).toBeLessThan(2_000));
  });

  it('line breaks and direction marks in a diff are shown as visible characters, because they could disguise text', async () => {
    const name = '"b/src/pay\\n\\342\\200\\256st.ts"';
    const diff = `diff --git ${name.replace('b/', 'a/')} ${name}\nnew file mode 100644\n--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+const admin = "\u202e"; // all\n`;
    const runId = await changed(diff);
    const page = await pages.open(session);
    await page.goto(address(runId));
    await page.getByRole('heading', { name: 'src/pay\\u{a}\\u{202e}st.ts' }).waitFor();
    await page.getByRole('link', { name: 'pay\\u{a}\\u{202e}st.ts' }).waitFor();
    expect(await page.locator('.plus').innerText()).toContain('const admin = "\\u{202e}"; // all');
  });

  it('the changes page of a mission without a diff shows the reason', async () => {
    const runId = await changed('');
    const page = await pages.open(session);
    await world.knex('runs').where({ id: runId }).update({ changeArtifactId: null, headSha: null });
    await page.goto(address(runId));
    await page.getByText('The agent has not pushed a commit yet.').waitFor();
    await world.knex('runs').where({ id: runId }).update({ status: 'completed', leaseUntil: null });
    await page.reload();
    await page.getByText('The mission changed nothing in the repository.').waitFor();
  });
});
