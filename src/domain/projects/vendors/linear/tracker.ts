// Issues of the project's team in Linear, with ids derived from the run. Linear rejects an id that already exists ("conflict on insert").
// An existing issue is then read, and an existing comment is changed.
import { z } from 'zod';
import { conflict } from '#foundation/problem.ts';
import { connectVendor, unexpectedAnswer, type VendorConnection } from '../connection.ts';
import type { Tracker } from '../tracker.ts';
import { onlyOnce, queryLinear } from './api.ts';
import { recordId } from './ids.ts';
import { moveIssue, readState } from './workflow.ts';

const Named = z.object({ id: z.string() });
const Issue = Named.extend({ url: z.url({ protocol: /^https?$/ }) });

export const linearTracker: Tracker = {
  async createIssue(project, { runId, title, body, labels }) {
    if (!project.trackerTeamId) throw conflict.field('trackerTeamKey', 'the project names no Linear team');
    const connection = await connectVendor(project, 'tracker', 'linear');
    const { teamId, labelIds } = await teamAndLabels(connection, project.trackerTeamId, labels);
    const id = recordId('issue', runId);
    const input = { id, teamId, title, description: body, labelIds };
    return onlyOnce(
      async () => {
        const { issueCreate } = await queryLinear(connection, IssueCreated, creation, { input });
        return issueCreate.issue ?? fail(connection);
      },
      async () => (await queryLinear(connection, z.object({ issue: Issue }), existing, { id })).issue,
    );
  },

  async findIssue(project, reference) {
    const connection = await connectVendor(project, 'tracker', 'linear');
    const { issue } = await queryLinear(connection, z.object({ issue: WrittenIssue }), written, { id: reference });
    const { id, url, title, description, comments } = issue;
    const said = comments.nodes.map(({ body, user }) => ({ author: user?.displayName ?? '', text: body }));
    return { id, url, title, body: description ?? '', comments: said };
  },

  async finishIssue(project, issueId, { runId, closes, comment }) {
    const connection = await connectVendor(project, 'tracker', 'linear');
    if (comment !== null) await writeComment(connection, { id: recordId('comment', runId), issueId, body: comment });
    if (closes) await close(connection, issueId);
  },
};

const writeComment = (connection: VendorConnection, input: { id: string; issueId: string; body: string }) =>
  onlyOnce<unknown>(
    () => queryLinear(connection, CommentCreated, commenting, { input }),
    () => queryLinear(connection, CommentUpdated, changingComment, { id: input.id, input: { body: input.body } }),
  );

function fail(connection: VendorConnection): never {
  throw unexpectedAnswer(connection);
}

const creation = `mutation CreateIssue($input: IssueCreateInput!) {
  issueCreate(input: $input) { success issue { id url } }
}`;
const IssueCreated = z.object({ issueCreate: z.object({ success: z.literal(true), issue: Issue.nullable() }) });

const existing = 'query Issue($id: String!) { issue(id: $id) { id url } }';

const written = `query WrittenIssue($id: String!) {
  issue(id: $id) { id url title description comments(last: 50) { nodes { body user { displayName } } } }
}`;
const WrittenIssue = Issue.extend({
  title: z.string(),
  description: z.string().nullish(),
  comments: z.object({
    nodes: z.array(z.object({ body: z.string(), user: z.object({ displayName: z.string() }).nullish() })),
  }),
});

const commenting = `mutation CreateComment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}`;
const CommentCreated = z.object({ commentCreate: z.object({ success: z.literal(true), comment: Named }) });

const changingComment = `mutation UpdateComment($id: String!, $input: CommentUpdateInput!) {
  commentUpdate(id: $id, input: $input) { success }
}`;
const CommentUpdated = z.object({ commentUpdate: z.object({ success: z.literal(true) }) });

const team = `query Team($team: TeamFilter!, $labels: IssueLabelFilter!, $labelled: Boolean!) {
  teams(filter: $team, first: 1) { nodes { id } }
  issueLabels(filter: $labels, first: 100) @include(if: $labelled) { nodes { id } }
}`;
const TeamAndLabels = z.object({
  teams: z.object({ nodes: z.array(Named) }),
  issueLabels: z.object({ nodes: z.array(Named) }).optional(),
});

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Omits labels that neither the team nor its workspace has, and label groups, which issues cannot have. */
async function teamAndLabels(connection: VendorConnection, keyOrId: string, labels: readonly string[]) {
  const ofTeam = uuid.test(keyOrId) ? { id: { eq: keyOrId } } : { key: { eqIgnoreCase: keyOrId } };
  const { teams, issueLabels } = await queryLinear(connection, TeamAndLabels, team, {
    team: ofTeam,
    labelled: labels.length > 0,
    labels: {
      isGroup: { eq: false },
      and: [
        { or: labels.map((name) => ({ name: { eqIgnoreCase: name } })) },
        { or: [{ team: ofTeam }, { team: { null: true } }] },
      ],
    },
  });
  const [found] = teams.nodes;
  if (!found) throw conflict.field('trackerTeamKey', `the connector cannot see the team ${keyOrId} in Linear`);
  return { teamId: found.id, labelIds: issueLabels?.nodes.map(({ id }) => id) ?? [] };
}

/** Moves the issue to the team's first completed state. An issue that a person has completed or canceled stays unchanged. */
async function close(connection: VendorConnection, id: string): Promise<void> {
  const { type, first } = await readState(connection, id, 'completed');
  if (type === 'completed' || type === 'canceled') return;
  if (!first) throw conflict("The issue's Linear team has no workflow state of the type `completed`.");
  await moveIssue(connection, id, { stateId: first });
}
