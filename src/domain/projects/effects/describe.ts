// Describes an effect for people: its consequence, and the text that would be written.
import { type EffectKind, type EffectPayloads, type OutsideEffect, payloadOf } from './model.ts';

interface Described {
  title: string;
  /** The text that the effect would publish, or the arguments of a call as JSON; empty when there is none. */
  text: string;
}

type Describe = { [K in EffectKind]: (payload: EffectPayloads[K]) => Described };

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const describers: Describe = {
  push: ({ branch, baseBranch, headSha, commits, files, insertions, deletions }) => ({
    title: `Push ${headSha.slice(0, 10)} to ${branch}`,
    text:
      commits === null || files === null
        ? `From ${baseBranch}`
        : `${counted(commits, 'commit')} since ${baseBranch}: ${counted(files, 'file')}, +${insertions ?? 0} −${deletions ?? 0}`,
  }),
  pull_request: ({ title, body, branch, baseBranch }) => ({
    title: `Open a pull request from ${branch} into ${baseBranch}: ${title}`,
    text: body,
  }),
  comment: ({ issueId, place, text }) => ({
    title: `Comment on ${issueId ?? `${place?.kind === 'issue' ? 'issue' : 'pull request'} ${place?.number}`}`,
    text,
  }),
  tracker: ({ issueId }) => ({ title: `Close ${issueId}`, text: '' }),
  mcp_call: ({ serverName, tool, arguments: given }) => ({
    title: `Call ${tool} of ${serverName}`,
    text: JSON.stringify(given, null, 2),
  }),
};

export const describeEffect = (effect: Pick<OutsideEffect, 'kind' | 'payload'>): Described =>
  (describers[effect.kind] as (payload: EffectPayloads[EffectKind]) => Described)(payloadOf(effect, effect.kind));
