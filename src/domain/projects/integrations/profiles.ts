// Properties of each vendor, as data for forms, descriptions and URLs. The code of a vendor is in its folder of ../vendors.

const linear = {
  title: 'Linear',
  kinds: ['tracker'],
  about: 'Linear, a tracker.',
  address: 'https://api.linear.app/graphql',
  tracker: 'A team in Linear, through an integration.',
  hook: {
    about: 'Linear: issues, comments and sessions of the agent.',
    signature: '`Linear-Signature`: HMAC-SHA256 of the body as hex, with the time as `webhookTimestamp` in it.',
  },
} as const;

const github = {
  title: 'GitHub',
  kinds: ['tracker', 'scm'],
  about: 'GitHub, a tracker and a source host.',
  address: 'https://api.github.com',
  hasOtherServers: true,
  tracker: 'The issues of the repository on GitHub, through an integration.',
  hook: {
    about: 'GitHub: issues, comments, reviews, pull requests and checks.',
    signature: '`X-Hub-Signature-256`: HMAC-SHA256 of the body as hex after `sha256=`.',
  },
} as const;

const gitlab = {
  title: 'GitLab',
  kinds: ['tracker', 'scm'],
  about: 'GitLab, a tracker and a source host.',
  address: 'https://gitlab.com/api/v4',
  hasOtherServers: true,
  tracker: 'The issues of the project on GitLab, through an integration.',
  hook: {
    about: 'GitLab: issues, comments, merge requests, pipelines and jobs.',
    signature: 'The secret token in `X-Gitlab-Token`, or a signature of Standard Webhooks by a signing token.',
  },
} as const;

const builtin = {
  title: 'Built in',
  kinds: ['tracker', 'scm'],
  about: 'The tracker of this service.',
  address: null,
  tracker: 'The tracker of this service; it needs no integration.',
} as const;

const anthropic = {
  title: 'Anthropic',
  kinds: ['llm'],
  about: 'Anthropic, whose models are the Claude models.',
  // The base URLs of Anthropic and compatible servers do not contain the API version, unlike those of OpenAI.
  address: 'https://api.anthropic.com',
  hasOtherServers: true,
} as const;

const openai = {
  title: 'OpenAI',
  kinds: ['llm'],
  about: 'OpenAI, whose models are the GPT models.',
  address: 'https://api.openai.com/v1',
  hasOtherServers: true,
} as const;

const slack = {
  title: 'Slack',
  kinds: ['chat'],
  about: 'Slack, where people start and steer missions.',
  address: 'https://slack.com/api',
  chat: {
    about: 'Slack: mentions, messages in the threads of missions, commands and buttons; created with the connection.',
    signature: '`X-Slack-Signature`: HMAC-SHA256 of version, time and body as hex after `v0=`.',
  },
} as const;

// The order of the vendors here is the order of the values in the GraphQL enum.
export const vendorProfiles = { linear, github, gitlab, builtin, anthropic, openai, slack } as const;
