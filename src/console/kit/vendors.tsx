// The texts about each vendor in forms and on pages. No other file of the console names the vendors of models, trackers, source hosts, chats
// and inbound events.
import type { ComponentChildren } from 'preact';
import type {
  ChatVendor,
  InboundHookSignature,
  InboundHookVendor,
  ProjectTracker,
  Vendor,
  VendorKind,
} from '../generated/documents.ts';

export const vendors: Readonly<Record<Vendor, string>> = {
  linear: 'Linear',
  github: 'GitHub',
  gitlab: 'GitLab',
  builtin: 'Built in',
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  slack: 'Slack',
};

/** Trackers of a project. */
export const trackers: Readonly<Record<ProjectTracker, string>> = {
  builtin: 'This console',
  linear: vendors.linear,
  github: vendors.github,
  gitlab: vendors.gitlab,
};

export interface Offer {
  vendor: Vendor;
  vendorKind: VendorKind;
  /** Permissions that the credentials need. */
  hint?: string;
  /** Example of the URL of another server; absent if the vendor has none. */
  server?: string;
}

const githubServer = 'its URL, such as https://github.example.com/api/v3 for GitHub Enterprise Server';
const gitlabServer = 'its URL, such as https://gitlab.example.com/api/v4';
const gitlabToken = 'An access token of a project or group, with the role Maintainer and the scope api.';

export const offers: Readonly<Record<string, Offer>> = {
  'Linear: issues': {
    vendor: 'linear',
    vendorKind: 'tracker',
    hint: 'A personal API key for Linear, or a token of an application.',
  },
  'GitHub: issues': {
    vendor: 'github',
    vendorKind: 'tracker',
    hint: 'It needs read and write access to issues.',
    server: githubServer,
  },
  'GitHub: repositories': {
    vendor: 'github',
    vendorKind: 'scm',
    hint: 'It needs read and write access to contents and pull requests.',
    server: githubServer,
  },
  'GitLab: issues': {
    vendor: 'gitlab',
    vendorKind: 'tracker',
    hint: gitlabToken,
    server: gitlabServer,
  },
  'GitLab: repositories': {
    vendor: 'gitlab',
    vendorKind: 'scm',
    hint: gitlabToken,
    server: gitlabServer,
  },
  'Built in: issues in the console': { vendor: 'builtin', vendorKind: 'tracker' },
  'Anthropic: language models': {
    vendor: 'anthropic',
    vendorKind: 'llm',
    server: 'the URL of a compatible server',
  },
  'OpenAI: language models': {
    vendor: 'openai',
    vendorKind: 'llm',
    server: 'the URL of a compatible server, including its version',
  },
};

/** The connection that the page offers, by the value of `?connect=` in its URL. */
export const askedOffers: Readonly<Record<string, string>> = {
  model: 'Anthropic: language models',
  repository: 'GitHub: repositories',
};

const vendorsWithTokens: readonly Vendor[] = ['github', 'gitlab'];
/** The vendor's name for its credentials. */
export const credentialWord = (vendor: Vendor): string => (vendorsWithTokens.includes(vendor) ? 'Token' : 'API key');

/** Names of vendors' apps that can be connected instead of a token. */
export const appsOf: Readonly<Partial<Record<Vendor, string>>> = {
  github: 'A GitHub App',
  linear: 'A Linear application, which acts as an agent',
};

/** For each chat vendor, where a person finds the credentials of an app in the vendor's settings. */
export const chatApps: Readonly<Record<ChatVendor, ComponentChildren>> = {
  slack: (
    <>
      Create an app at <em>api.slack.com/apps</em> from a manifest and install it in your workspace. The documentation
      has a manifest to paste; once the chat is connected, this page shows the manifest with your URL. The token is
      under <em>OAuth &amp; Permissions</em>, the signing secret under <em>Basic Information</em>.
    </>
  ),
};

export const senders: Readonly<Record<InboundHookVendor, string>> = {
  linear: vendors.linear,
  github: vendors.github,
  gitlab: vendors.gitlab,
  builtin: 'Built-in tracker',
  slack: vendors.slack,
  webhook: 'Any system',
};
export const signatures: Readonly<Record<InboundHookSignature, string>> = {
  standard: 'Standard Webhooks',
  linear: 'Linear’s header',
  github: 'GitHub’s header',
  slack: 'Slack’s header',
  gitlab: 'GitLab’s header',
  header: 'A header of your choice',
};

/** Instructions for entering the URL and secret of a hook in the settings of the sender. */
export const senderSettings: Readonly<Record<InboundHookVendor, ComponentChildren>> = {
  slack: <>This hook belongs to a chat. The settings of its app are on the Integrations page.</>,
  builtin: 'Issues are created in this console.',
  linear: (
    <>
      In Linear, open <em>Settings → API → Webhooks → New webhook</em>, enter the URL of the hook, and choose{' '}
      <em>Issues</em> and <em>Comments</em>; or under <em>Webhooks</em> of your OAuth application, with the category{' '}
      <em>Agent session events</em>. Then set the signing secret that Linear shows on the page of this hook.
    </>
  ),
  github: (
    <>
      On GitHub, open <em>Settings → Webhooks → Add webhook</em> of the repository or organization, and enter the URL as{' '}
      <em>Payload URL</em> and the secret as <em>Secret</em>. Choose the events: issues, issue comments, pull requests,
      reviews and their comments, check runs, workflow runs, statuses and repositories.
    </>
  ),
  gitlab: (
    <>
      At GitLab, open <em>Settings → Webhooks → Add new webhook</em> of the project or group, and enter the URL of the
      hook, and the secret as <em>Secret token</em>. A signing token created by GitLab can be the secret of the hook
      instead. Choose the events: issues, comments, merge requests and pipelines.
    </>
  ),
  webhook: (
    <>
      Enter the URL and the secret in the webhook settings of the sender. It sends JSON or a form of at most 1 MB with{' '}
      <code>POST</code>.
    </>
  ),
};
