// GraphQL types for outside effects.
import { builder } from '#graph/builder.ts';
import { epochMs, epochMsOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { effectBounds } from './bounds.ts';
import { describeEffect } from './describe.ts';
import { effectStates, OutsideEffect } from './model.ts';
import { OutsideEffectKind } from './schema-policy.ts';

const OutsideEffectState = wordSet('OutsideEffectState', effectStates, 'State of an outside effect.', {
  staged: 'It waits for approval; nothing has been sent.',
  approved: 'A person has approved it; it is carried out next.',
  committing: 'It is being carried out.',
  committed: 'It was carried out.',
  rejected: 'A person has rejected it, or its run was canceled: nothing was sent.',
  failed: 'It was approved and could not be carried out: a person decides again.',
});

export const OutsideEffectType = builder.modelType(OutsideEffect, 'OutsideEffect').implement({
  description: 'An action of a run in another system, such as a push, which needs or needed a person’s approval.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `eff_`.'),
      runId: string('The run; the newest one if several runs work on one branch or issue.'),
      kind: typed(OutsideEffectKind.type, 'Kind of effect.'),
      state: typed(OutsideEffectState.type, 'State of the effect.'),
      title: t.string({ description: 'Description of the effect.', resolve: (effect) => describeEffect(effect).title }),
      text: t.string({
        description:
          'Text that other people would read, or the arguments of a call as JSON; empty for an effect that has neither.',
        complexity: weightOf(effectBounds.payload),
        resolve: (effect) => describeEffect(effect).text,
      }),
      digest: string('A value that changes whenever the content of the effect changes.'),
      error: stringOrNull('Why the effect has failed or is tried again; null without an error.'),
      resultUrl: stringOrNull('URL of the created object; null without one.'),
      decidedBy: stringOrNull('Name of the person who decided; null before the decision, and for a canceled run.'),
      decidedAt: epochMsOrNull('When the effect was approved or rejected; null before.'),
      committedAt: epochMsOrNull('When the effect was carried out; null before.'),
      createdAt: epochMs('When the effect was first staged.'),
      updatedAt: epochMs('When the effect last changed.'),
    }),
});
