// Agent sessions of the stand-in for Linear: activities in the shapes that its documentation demands (linear.app/developers/agent-interaction),
// the plan and the external URLs.

/** An activity as it was created. */
export interface Activity {
  id: string;
  agentSessionId: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read contents of any shape
  content: any;
  ephemeral?: boolean;
  signal?: string;
  signalMetadata?: { options: { label: string; value: string }[] };
}

interface Checks {
  mustBeNew(noun: string, there: ReadonlyMap<string, unknown>, id: string): void;
  missing(noun: string): never;
  violate(what: string): void;
}

export const agentId = 'a9e00000-0000-4000-8000-00000000a9e1';

export function openSessions({ mustBeNew, missing, violate }: Checks) {
  const activities = new Map<string, Activity>();
  /** The plan and the URLs that the service has set for each session. A session is known here after a webhook event has announced it. */
  const states = new Map<string, { plan?: unknown; externalUrls?: unknown }>();
  const settings = { viewer: agentId };

  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  function checkContent({ content, ephemeral, signal, signalMetadata }: Activity): void {
    const { type, ...members } = content;
    const named = Object.keys(members).sort().join();
    const isAction = type === 'action';
    if (!isAction && !['thought', 'elicitation', 'response', 'error'].includes(type)) violate(`activity ${type}`);
    const isWhole = isAction
      ? /^action,parameter(,result)?$/.test(named) && isText(members.action) && typeof members.parameter === 'string'
      : named === 'body' && isText(members.body);
    if (!isWhole) violate(`content of ${type}: ${JSON.stringify(content)}`);
    if (ephemeral && type !== 'thought' && !isAction) violate(`ephemeral ${type}`);
    const options = signalMetadata?.options;
    if ((signal === 'select') !== (options !== undefined) || (signal && type !== 'elicitation'))
      violate(`signal ${signal} of ${type}`);
    if (options?.some(({ label, value }) => !isText(label) || !isText(value))) violate('options');
  }

  function checkState({ plan, externalUrls, ...more }: Record<string, unknown>): void {
    if (Object.keys(more).length > 0) violate(`members of a session: ${Object.keys(more)}`);
    const statuses = ['pending', 'inProgress', 'completed', 'canceled'];
    for (const { content, status } of (plan ?? []) as { content: string; status: string }[])
      if (!isText(content) || !statuses.includes(status)) violate(`step ${content}: ${status}`);
    const urls = ((externalUrls ?? []) as { url: string }[]).map(({ url }) => url);
    if (new Set(urls).size < urls.length) violate('repeated external address');
  }

  return {
    activities,
    states,
    settings,
    /** The visible part of a session: type and text of each activity; an ephemeral one is replaced by the next. */
    shown(sessionId: string): string[][] {
      const own = [...activities.values()].filter(({ agentSessionId }) => agentSessionId === sessionId);
      return own
        .filter(({ ephemeral }, i) => !ephemeral || i === own.length - 1)
        .map(({ content, signalMetadata }) => [
          content.type,
          content.body ?? [content.action, content.parameter, content.result].filter(Boolean).join(' | '),
          ...(signalMetadata?.options.map(({ value }) => value) ?? []),
        ]);
    },
    clear(): void {
      activities.clear();
      states.clear();
      settings.viewer = agentId;
    },
    rootValue: {
      viewer: () => ({ id: settings.viewer, app: true, displayName: 'Agent' }),
      agentActivity: ({ id }: { id: string }) => activities.get(id) ?? missing('AgentActivity'),
      agentActivityCreate({ input }: { input: Activity }) {
        if (!states.has(input.agentSessionId)) missing('AgentSession');
        mustBeNew('AgentActivity', activities, input.id);
        checkContent(input);
        activities.set(input.id, input);
        return { success: true, lastSyncId: 1, agentActivity: { ...input, ephemeral: input.ephemeral ?? false } };
      },
      agentSessionUpdate({ id, input }: { id: string; input: Record<string, unknown> }) {
        const state = states.get(id) ?? missing('AgentSession');
        checkState(input);
        Object.assign(state, input);
        return { success: true, lastSyncId: 1, agentSession: { id } };
      },
    },
  };
}
