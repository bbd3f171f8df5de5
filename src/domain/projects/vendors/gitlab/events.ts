// Events from GitLab (docs.gitlab.com, "Webhook events") that triggers can use.
import type { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import type { EventSource, InboundEvent, UnusedEvent } from '../event.ts';
import { newMentions, noDetails, type ReadPayload, readableBy, readerOf, wordIn } from '../event-reader.ts';
import { textOfIssue } from '../issue-text.ts';
import { isOfMission } from '../marks.ts';
import { headerOf, sameText, signatureRefused, standardSignature } from '../signature.ts';
import type { FoundIssue } from '../tracker.ts';
import { isBotName, repositoryOf } from './api.ts';
import { checkReaders } from './check-events.ts';
import {
  type Described,
  GitLabIssueEvent,
  type Labeled,
  MergeRequestEvent,
  NoteEvent,
  ProjectMoved,
} from './event-shapes.ts';

const authorOf = ({ id, username: login }: { id?: number | null | undefined; username: string }) => ({
  id: id == null ? null : String(id),
  login,
  isBot: isBotName(login),
});

const issueOf = (
  { path_with_namespace }: { path_with_namespace: string },
  { iid, title, description }: z.infer<typeof Described>,
  url: string,
): FoundIssue => ({ id: `${path_with_namespace}#${iid}`, url, title, body: description ?? '', comments: [] });

/** GitLab's names of actions, and the names that rules use for them; a merged merge request counts as closed. */
const actions: Readonly<Record<string, string>> = {
  open: 'opened',
  reopen: 'reopened',
  close: 'closed',
  merge: 'closed',
};

/** The text that GitLab's button "Revert" writes. */
const revertOf = (description: string): number | null => {
  const [, number] = /^This reverts merge request !(\d{1,9})\b/m.exec(description) ?? [];
  return number ? Number(number) : null;
};

/** The labels and people that an update has added; for an opened item, all of them. */
function addedTo({ labels, assignees, changes }: z.infer<typeof Labeled>, action: string) {
  const isNew = action === 'opened';
  const added = (all: readonly string[], before: readonly string[]) => all.filter((one) => !before.includes(one));
  const titles = (list: readonly { title: string }[] | null | undefined) => list?.map(({ title }) => title) ?? [];
  const names = (list: readonly { username: string }[] | null | undefined) =>
    list?.map(({ username }) => username) ?? [];
  return {
    labels: isNew ? titles(labels) : added(titles(changes?.labels?.current), titles(changes?.labels?.previous)),
    assignees: isNew
      ? names(assignees)
      : added(names(changes?.assignees?.current), names(changes?.assignees?.previous)),
  };
}

function changeOf(event: z.infer<typeof Labeled>, given: string | null | undefined) {
  const added = addedTo(event, actions[given ?? ''] ?? '');
  const update = added.labels.length > 0 ? 'labeled' : added.assignees.length > 0 ? 'assigned' : 'updated';
  return { ...added, action: actions[given ?? ''] ?? (given === 'update' ? update : (given ?? 'updated')) };
}

const readers: Readonly<Record<string, ReadPayload>> = {
  issue: readerOf(GitLabIssueEvent, ({ object_attributes: issue, ...event }) => {
    if (isOfMission(issue.description)) return { reason: 'The issue was written by a mission.' };
    const about = issueOf(event.project, issue, issue.url);
    const change = changeOf(event, issue.action);
    return {
      ...noDetails,
      ...change,
      kind: 'issue',
      repository: repositoryOf(event.project.path_with_namespace),
      title: `${issue.title} (#${issue.iid})`,
      author: authorOf(event.user),
      issue: about,
      number: issue.iid,
      reactsTo: `issues/${issue.iid}`,
      text: textOfIssue(about),
      key: `issue ${about.id} ${change.action} ${[...change.labels, ...change.assignees].join(' ')} ${issue.updated_at ?? ''}`,
    };
  }),

  merge_request: readerOf(MergeRequestEvent, ({ object_attributes: one, ...event }) => {
    const about = issueOf(event.project, one, one.url);
    const change = changeOf(event, one.action);
    const isApproval = one.action === 'approved' || one.action === 'approval';
    const hasConflict = one.detailed_merge_status === 'conflict' || one.merge_status === 'cannot_be_merged';
    const action = change.action === 'updated' && hasConflict ? 'conflicting' : change.action;
    return {
      ...noDetails,
      ...change,
      action,
      kind: 'pullRequest',
      repository: repositoryOf(event.project.path_with_namespace),
      title: `${one.title} (!${one.iid})`,
      author: authorOf(event.user),
      issue: null,
      number: one.iid,
      reactsTo: `merge_requests/${one.iid}`,
      branch: one.source_branch,
      reverts: one.action === 'merge' ? revertOf(one.description ?? '') : null,
      remark:
        isApproval && one.last_commit
          ? { number: one.iid, sha: null, key: one.url, text: '', approves: one.last_commit.id, isReview: true }
          : null,
      text: `Merge request: ${one.url}\n\n${textOfIssue(about)}`,
      key: `merge request ${about.id} ${action} ${change.labels.join(' ')} ${one.updated_at ?? ''}`,
    };
  }),

  note: readerOf(NoteEvent, (event) => readNote(event)),

  ...checkReaders,

  project_rename: readerOf(ProjectMoved, (event) => moved(event)),
  project_transfer: readerOf(ProjectMoved, (event) => moved(event)),
};

function moved({ old_path_with_namespace: before, path_with_namespace: after }: z.infer<typeof ProjectMoved>) {
  const [owner, repository] = repositoryOf(before).split('/') as [string, string];
  return {
    reason: `The project ${repositoryOf(before)} is now ${repositoryOf(after)}: its projects are updated.`,
    formerly: { owner, repository },
  };
}

function readNote(event: z.infer<typeof NoteEvent>): Omit<InboundEvent, 'payload'> | UnusedEvent {
  const { user, project, issue, merge_request, object_attributes: note } = event;
  const about = note.noteable_type === 'Issue' ? issue : merge_request;
  if (!about) return { reason: `A comment on a ${note.noteable_type} starts nothing.` };
  if (note.system || isOfMission(note.note)) return { reason: 'The comment was written by a mission or by GitLab.' };
  const isOfIssue = about === issue;
  const { new_path, new_line, old_line } = note.position ?? {};
  const line = new_line ?? old_line;
  const hunk = note.st_diff?.diff?.slice(0, 2_000).toWellFormed() ?? '';
  const place = new_path ? `${new_path}${line ? `, line ${line}` : ''}\n${hunk}\n` : '';
  const found = issueOf(project, about, note.url.replace(/#.*$/, ''));
  const whole = { ...found, comments: [{ author: user.username, text: `${place}${note.note}` }] };
  const target = `${isOfIssue ? 'issues' : 'merge_requests'}/${about.iid}`;
  return {
    ...noDetails,
    kind: 'comment',
    action: note.action === 'update' ? 'edited' : 'created',
    repository: repositoryOf(project.path_with_namespace),
    title: `Comment on ${about.title} (${isOfIssue ? '#' : '!'}${about.iid})`,
    author: authorOf(user),
    issue: isOfIssue ? whole : null,
    number: about.iid,
    reactsTo: `${target}/notes/${note.id}`,
    remark:
      isOfIssue || (about.state ?? 'opened') !== 'opened'
        ? null
        : {
            number: about.iid,
            sha: null,
            key: note.url,
            text: note.note.trim() && `${place}${note.note}`,
            approves: null,
            // Notes on lines of the change belong to a review.
            isReview: note.type === 'DiffNote',
          },
    words: newMentions(note.note, ''),
    text: textOfIssue(whole),
    key: `comment ${note.url}`,
  };
}

export const gitlabEvents: EventSource = {
  /** A webhook sends its secret token, or signs with its signing token according to Standard Webhooks, or both. */
  signature(secret, headers) {
    const token = headerOf(headers, 'X-Gitlab-Token');
    if (sameText(token, secret)) return null;
    if (headers['webhook-signature'] === undefined) throw signatureRefused('X-Gitlab-Token', token === '');
    return standardSignature(secret, headers);
  },
  secretHeaders: ['x-gitlab-token'],
  // The id of an event is the value of `Idempotency-Key`. The value of `X-Gitlab-Event-UUID` is not unique, because all events that one
  // request to GitLab causes share it. GitLab before 17.4 sends no `Idempotency-Key`; the id of the event is then the digest of the body.
  idHeader: 'idempotency-key',

  nameOf(headers, payload) {
    if (!headerOf(headers, 'X-Gitlab-Event')) throw invalid.field('X-Gitlab-Event', 'must be sent');
    const { object_kind, event_name, object_attributes } = payload;
    const name = wordIn(object_kind) ?? wordIn(event_name) ?? 'event';
    const action = wordIn((object_attributes as { action?: unknown } | null | undefined)?.action);
    return action ? `${name}.${action}` : name;
  },

  pageOf: ({ project }) => (project as { web_url?: unknown } | undefined)?.web_url,
  repositoryIdOf: ({ project }) => (project as { id?: unknown } | undefined)?.id,

  namesOfKind: {
    issue: ['issue'],
    comment: ['note'],
    pullRequest: ['merge_request'],
    check: ['pipeline', 'build'],
  },

  ...readableBy(readers),
};
