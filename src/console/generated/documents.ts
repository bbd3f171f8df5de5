// The operations of the console with their types, made from schema.graphql and the .graphql files in src/console by
// `npm run console:types`. Not edited.

/** The text of an operation for a request, with the types of its variables and its data. */
export interface Operation<Data, Variables> {
  readonly text: string;
  /** Always undefined: only the compiler reads its type. */
  readonly types?: [Data, Variables];
}

export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
export type MakeOptional<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]?: Maybe<T[SubKey]> };
export type MakeMaybe<T, K extends keyof T> = Omit<T, K> & { [SubKey in K]: Maybe<T[SubKey]> };
export type MakeEmpty<T extends { [key: string]: unknown }, K extends keyof T> = { [_ in K]?: never };
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** Actions that a console may offer the caller without interpreting scopes. One of: org.manage, members.manage, billing.manage, projects.manage, missions.run, tokens.create. */
  Capability: { input: string; output: string; }
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  EpochMs: { input: number; output: number; }
  /** Seconds since 1970-01-01T00:00:00Z. */
  EpochSec: { input: number; output: number; }
  /** The program that drives the model. One of: claude-code, codex, opencode, acp, shell. */
  Harness: { input: string; output: string; }
  /** Size of a sandbox. One of: lite, basic, standard-1, standard-2, standard-4. */
  InstanceType: { input: string; output: string; }
  /** A UTC time such as 2026-11-21T09:00:00.000Z (RFC 3339). */
  IsoTime: { input: string; output: string; }
  /** Any JSON value. */
  Json: { input: unknown; output: unknown; }
  /** Source of the path. One of: service.yml, project. */
  McpConfigPathSource: { input: string; output: string; }
  /** Reason why a declared command must not run. One of: python, unpinned, shell, unknown-command. */
  McpRefusalReason: { input: string; output: string; }
  /** Source of the text in a span of a prompt. One of: repo-contributed, mission. */
  PromptScope: { input: string; output: string; }
  /** `revoked`: this call revoked it. `already-revoked`: it was revoked before, and nothing changed. One of: revoked, already-revoked. */
  RevocationKind: { input: string; output: string; }
  /** An integer of at most 2^53 - 1, which a JSON number holds exactly. */
  SafeInt: { input: number; output: number; }
  /** A guide through pages of the console. One of: mission-control, mission-detail, mission-results. */
  SetupGuideId: { input: string; output: string; }
  /** A team plan. One of: team-5, team-20. */
  TeamPlanId: { input: string; output: string; }
  /** Always true. */
  True: { input: true; output: true; }
};

/** Limit on the model’s reasoning effort. */
export type AgentEffort =
  /** Slowest and most careful. */
  | 'high'
  /** Fastest and cheapest. */
  | 'low'
  /** Balances speed and care. */
  | 'medium';

/** Role of an agent in a mission. */
export type AgentRole =
  /** Changes the code. */
  | 'builder'
  /** Splits the issue into steps. */
  | 'planner'
  /** Tests the change as a user would. */
  | 'qa'
  /** Gathers information for the other agents. */
  | 'researcher'
  /** Reviews the change. */
  | 'reviewer';

/** Source of the sandbox of an agent. */
export type AgentSandboxKind =
  /** An existing template, named by `templateId`. */
  | 'existing';

/** A blocked connection of a run. */
export type AllowHostRequest = {
  /** A host that was blocked in the run. */
  host: Scalars['String']['input'];
  /** The phase in which the host was blocked. */
  phase: ConnectionPhase;
  /** The requested port. If it is 80 or 443, both of these ports are allowed. */
  port: Scalars['Int']['input'];
};

/** Kind of an artifact. */
export type ArtifactKind =
  /** Any other file. */
  | 'file'
  /** Output of a program. */
  | 'log'
  /** A document for people to read. */
  | 'report'
  /** An image of a page. */
  | 'screenshot'
  /** A recorded browser session, for a trace viewer. */
  | 'trace'
  /** A recording. */
  | 'video';

/** The decision between attempts. */
export type AttemptGroupState =
  /** One attempt was chosen. */
  | 'chosen'
  /** All attempts were closed without a choice. */
  | 'closed'
  /** Nobody has decided yet. */
  | 'open';

/** Verdict of a reviewing agent. */
export type AttemptReview =
  /** The change may be merged. */
  | 'approve'
  /** The change is wrong or incomplete. */
  | 'request_changes';

/** The decision about an attempt. */
export type AttemptState =
  /** The attempt was chosen. */
  | 'chosen'
  /** Another attempt was chosen, or all attempts were closed: the branch of this attempt is deleted. */
  | 'closed'
  /** Nobody has chosen yet. */
  | 'open';

/** Kind of an actor. */
export type AuditActorType =
  /** An agent that registered itself and was claimed by a person. */
  | 'agent'
  /** An application that a person has authorized. */
  | 'application'
  /** A command of the operator of the service. */
  | 'operator'
  /** A person, in the console or with a personal access token. */
  | 'person'
  /** A runtime. */
  | 'service'
  /** The service itself: a job, or a schedule. */
  | 'system'
  /** A caller who has not signed in, or a program that changed the database directly. */
  | 'unknown';

/** Whether the personal values of an event can be read: addresses, email addresses, names and browsers of people. */
export type AuditPersonalValues =
  /** The values were changed in the database by another program, so they are null. */
  | 'altered'
  /** The person was erased: the values are null for good. */
  | 'erased'
  /** The values can be read, or the event has none. */
  | 'readable';

/** State of the deliveries of an audit log. */
export type AuditStreamState =
  /** The last delivery was accepted. */
  | 'delivering'
  /** The last delivery was not accepted; it is tried again. */
  | 'failing'
  /** Nothing was delivered yet. */
  | 'waiting';

/** Payment mode of an organization. */
export type BillingMode =
  /** Payment by invoice, on terms that were agreed with the operator. */
  | 'invoice'
  /** Credits are bought in advance. */
  | 'prepaid'
  /** Paid monthly. */
  | 'subscription';

/** The state of an order. */
export type BillingOrderStatus =
  /** The order is paid. */
  | 'paid'
  /** The order was withdrawn; unspent credits are refunded. */
  | 'withdrawn';

/** Plan of an organization: the largest that it has bought. */
export type BillingPlan =
  /** Agreed with the operator. */
  | 'enterprise'
  /** Trial credits only. */
  | 'free'
  /** A credit pack was bought. */
  | 'pack'
  /** A subscription to a team plan. */
  | 'team';

/** The period of a budget. */
export type BudgetPeriod =
  /** Each UTC day. */
  | 'day'
  /** Each calendar month, UTC. */
  | 'month';

/** The missions that a budget covers. */
export type BudgetSubject =
  /** All missions of the organization. */
  | 'organization'
  /** The missions that one person started or last scheduled. */
  | 'person'
  /** The missions of one project. */
  | 'project';

/** Vendor of a chat. */
export type ChatVendor =
  /** Slack, where people start and steer missions. */
  | 'slack';

/** The offer of a checkout: packs of credits, or a team plan. */
export type CheckoutOffer =
  /** Packs of credits. */
  | 'pack'
  /** A team plan. */
  | 'team';

/** Method by which the agents of a run are chosen. */
export type ChoiceWay =
  /** The orchestrator’s model is being asked. */
  | 'asked'
  /** The orchestrator’s model chooses. */
  | 'model'
  /** Roles and harnesses decide. */
  | 'rules';

/** A share that two versions are compared by. */
export type ComparedShare =
  /** Completed missions among all. */
  | 'completed'
  /** Missions that ended while they waited for a higher limit, among all. */
  | 'endedAtLimit'
  /** Merged pull requests among all pull requests. */
  | 'merged'
  /** Reverted pull requests among the merged ones. */
  | 'reverted';

/** An app in a chat workspace. */
export type ConnectChatRequest = {
  /** The token of the app in the workspace, such as `xoxb-…`; stored encrypted and never returned. */
  botToken: Scalars['String']['input'];
  /** The display name, 1 to 120 characters. */
  displayName: Scalars['String']['input'];
  /** The secret with which the vendor signs requests; stored encrypted and never returned. */
  signingSecret: Scalars['String']['input'];
  /** The vendor of the chat. */
  vendor: ChatVendor;
};

/** Phase in which a run opened a connection. */
export type ConnectionPhase =
  /** An agent or a script was working. */
  | 'agent'
  /** The environment was being prepared. */
  | 'setup';

/** Result of an attempted connection. */
export type ConnectionVerdict =
  /** The connection was made. */
  | 'allowed'
  /** The network policy does not name the host. */
  | 'blocked'
  /** The host is allowed, but could not be reached. */
  | 'failed'
  /** The name resolves to an address that is not public, which no policy allows. */
  | 'not_public'
  /** The name could not be resolved. */
  | 'unknown_host'
  /** A program rejected the certificate with which the runner adds secrets to requests: it ignores the variables that name the certificate authority. */
  | 'untrusted';

/** A model of the connector. */
export type ConnectorModelRequest = {
  /** The id of the model at the server: 1 to 100 characters, unique in the organization. */
  id: Scalars['String']['input'];
  /** The display name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** Prices of a call. */
  prices: ConnectorModelRequestPrices;
};

/** Prices of a call. */
export type ConnectorModelRequestPrices = {
  /** Price of tokens read from the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
  cacheRead?: InputMaybe<Scalars['Float']['input']>;
  /** Price of tokens written to the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
  cacheWrite?: InputMaybe<Scalars['Float']['input']>;
  /** Price of input tokens: US dollars per million, 0 to 10,000. */
  input: Scalars['Float']['input'];
  /** Price of output tokens: US dollars per million, 0 to 10,000. */
  output: Scalars['Float']['input'];
};

/** A new agent of the organization. */
export type CreateAgentRequest = {
  /** Reasoning effort of the model; null means the harness decides. */
  effort?: InputMaybe<AgentEffort>;
  /** The program that drives the agent’s model. */
  harness: Scalars['Harness']['input'];
  /** One of the models of the harness. */
  model: Scalars['String']['input'];
  /** 1 to 120 characters; unique in the organization. */
  name: Scalars['String']['input'];
  /** The role of the agent in a mission. */
  role: AgentRole;
  /** The working environment of the agent. */
  sandbox: CreateAgentRequestSandbox;
  /** `<owner>/<repo>` of repositories with skills: at most 20. */
  skillRepos?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Instructions in addition to the issue: at most 20,000 characters. */
  userPrompt?: InputMaybe<Scalars['String']['input']>;
};

/** The working environment of the agent. */
export type CreateAgentRequestSandbox = {
  /** Always `existing`. */
  kind: AgentSandboxKind;
  /** A sandbox template of the organization, or `standard` to use the project’s template. */
  templateId: Scalars['String']['input'];
};

/** A new budget. A subject has at most one budget for each period. */
export type CreateBudgetRequest = {
  /** US dollars in each period: 0.01 to 1000000, rounded to a hundredth of a cent. */
  amountUsd: Scalars['Float']['input'];
  /** The period that the amount applies to. */
  period: BudgetPeriod;
  /** Required with the subject `project`. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** The missions that the budget covers. */
  subject: BudgetSubject;
  /** A member; required with the subject `person`. */
  userId?: InputMaybe<Scalars['String']['input']>;
};

/** The order. */
export type CreateCheckoutSessionRequest = {
  /** Packs of credits, or a team plan. */
  offer: CheckoutOffer;
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: InputMaybe<Scalars['String']['input']>;
  /** Packs, 1 to 100; 1 when absent. */
  quantity?: InputMaybe<Scalars['Int']['input']>;
  /** True means that the credits can be spent at once, and that spent ones are not refunded. Otherwise the credits can be spent after the withdrawal period of 14 days. */
  startNowConsent?: InputMaybe<Scalars['Boolean']['input']>;
  /** Required for the offer `team`, and for no other. */
  teamPlan?: InputMaybe<Scalars['TeamPlanId']['input']>;
};

/** A message to the owners of the organization. */
export type CreateCreditRequest = {
  /** The message, 1 to 2,000 characters, for the owners. */
  message: Scalars['String']['input'];
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: InputMaybe<Scalars['String']['input']>;
};

/** A new provider. */
export type CreateIdentityProviderRequest = {
  /** The client id at the provider. */
  clientId: Scalars['String']['input'];
  /** The client secret, which is stored encrypted. */
  clientSecret: Scalars['String']['input'];
  /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
  defaultRole?: InputMaybe<OrgRole>;
  /** The issuer, an https URL of a public host. */
  issuer: Scalars['String']['input'];
  /** The name on the sign-in page, 1 to 120 characters. */
  name: Scalars['String']['input'];
};

/** A new hook. */
export type CreateInboundHookRequest = {
  /** The name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** A secret that the sender has chosen, 16 to 200 characters. Absent means a new one. */
  secret?: InputMaybe<Scalars['String']['input']>;
  /** How the sender signs events. Absent means the vendor’s own scheme, or Standard Webhooks for any other system. */
  signature?: InputMaybe<InboundHookSignature>;
  /** The name of the header that contains the signature. Required if `signature` is `header`; otherwise it must be absent or null. */
  signatureHeader?: InputMaybe<Scalars['String']['input']>;
  /** The system whose events the hook understands. */
  vendor: InboundHookVendor;
};

/** A new invite, which is mailed to the address. */
export type CreateInviteRequest = {
  /** An email address; case-insensitive. */
  email: Scalars['String']['input'];
  /** A role that is not above the caller’s own. */
  role: OrgRole;
};

/** A new issue of the built-in tracker. */
export type CreateIssueRequest = {
  /** A member or an agent. Assigning an agent starts a mission at once; the mission is billed to you. Absent means nobody. */
  assigneeId?: InputMaybe<Scalars['String']['input']>;
  /** The task in Markdown, at most 20000 characters. Agents get it as quoted text. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** At most 20 labels. */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** A project whose tracker is the built-in one. */
  projectId: Scalars['String']['input'];
  /** The title in one line, 1 to 200 characters. */
  title: Scalars['String']['input'];
};

/** A new project of the organization. */
export type CreateProjectRequest = {
  /** The prefix of issue keys: 2 to 10 capital letters or digits, beginning with a letter; or null. */
  issueCode?: InputMaybe<Scalars['String']['input']>;
  /** The name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** The repository, `<owner>/<repo>`. */
  repoFullName: Scalars['String']['input'];
  /** The tracker of its issues; `builtin` when absent. */
  tracker?: InputMaybe<ProjectTracker>;
  /** The key of the team in the tracker. */
  trackerTeamKey?: InputMaybe<Scalars['String']['input']>;
};

/** A new SAML provider, with either its metadata or the URL of the metadata. */
export type CreateSamlProviderRequest = {
  /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
  defaultRole?: InputMaybe<OrgRole>;
  /** The https URL of the metadata, which is read again every day for new keys. */
  metadataUrl?: InputMaybe<Scalars['String']['input']>;
  /** The metadata of the provider as XML. */
  metadataXml?: InputMaybe<Scalars['String']['input']>;
  /** The name on the sign-in page, 1 to 120 characters. */
  name: Scalars['String']['input'];
};

/** A new sandbox template. Omitted fields default to the built-in template. */
export type CreateSandboxTemplateRequest = {
  /** The network policy while agents and scripts work. */
  agentNetwork?: InputMaybe<CreateSandboxTemplateRequestAgentNetwork>;
  /** Source of a sandbox. */
  base?: InputMaybe<TemplateBase>;
  /** Purpose of the template. */
  description?: InputMaybe<Scalars['String']['input']>;
  /** Maximum disk space of a mission in MiB: 256 to 1,048,576; null means that the template sets no limit. */
  diskMb?: InputMaybe<Scalars['Int']['input']>;
  /** A Dockerfile: required with the base `dockerfile`, not allowed with any other. */
  dockerfile?: InputMaybe<Scalars['String']['input']>;
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy?: InputMaybe<CreateSandboxTemplateRequestEffectPolicy>;
  /** A container image: required with the base `image`, not allowed with any other. */
  image?: InputMaybe<Scalars['String']['input']>;
  /** The size of missions that start without a chosen size. `memoryMb` and `diskMb` override the memory and disk space of the size. */
  instanceType?: InputMaybe<Scalars['InstanceType']['input']>;
  /** At most 20 labels of 1 to 63 lowercase letters, digits, ".", "_" and "-". */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Maximum number of minutes that a mission may use its sandbox: 1 to 43,200; null means that the template sets no limit. */
  maxMinutes?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of model calls of a mission: 1 to 1,000,000; null means that the template sets no limit. */
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of tokens of a mission: 1,000 to 2,000,000,000; null means that the template sets no limit. */
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum memory of a mission in MiB: 64 to 262,144; null means that the template sets no limit. */
  memoryMb?: InputMaybe<Scalars['Int']['input']>;
  /** 1 to 120 characters; unique in the organization. */
  name: Scalars['String']['input'];
  /** Maximum number of processes of a mission: 16 to 32,768; null means that the template sets no limit. */
  processes?: InputMaybe<Scalars['Int']['input']>;
  /** At most 5 services, which need a runtime with containers. */
  services?: InputMaybe<Array<CreateSandboxTemplateRequestServices>>;
  /** The network policy while the environment is prepared. */
  setupNetwork?: InputMaybe<CreateSandboxTemplateRequestSetupNetwork>;
  /** A POSIX shell script that prepares the environment, in the checkout. */
  setupScript?: InputMaybe<Scalars['String']['input']>;
  /** Maximum number of minutes of a step: 1 to 1,440; null means that the template sets no limit. */
  stepMinutes?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of model calls of a step: 1 to 1,000; null means that the template sets no limit. */
  stepModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of tokens of a step: 1,000 to 1,000,000,000; null means that the template sets no limit. */
  stepTokens?: InputMaybe<Scalars['Int']['input']>;
  /** At most 50 variables, whose values are not secret. */
  variables?: InputMaybe<Array<CreateSandboxTemplateRequestVariables>>;
};

/** The network policy while agents and scripts work. */
export type CreateSandboxTemplateRequestAgentNetwork = {
  /** Hosts that a policy `custom` or `packages` adds: at most 100. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Set of hosts that the policy allows. */
  mode: NetworkMode;
};

/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export type CreateSandboxTemplateRequestEffectPolicy = {
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kinds of outside effects that wait for approval. */
  waits: Array<OutsideEffectKind>;
};

/** A container that runs next to each mission. */
export type CreateSandboxTemplateRequestServices = {
  /** Arguments that replace the command of the image; null means the command of the image. */
  command?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Shell command in the container that succeeds once the service is ready; null means that the service is ready once its container has run for two seconds. */
  healthCheck?: InputMaybe<Scalars['String']['input']>;
  /** A container image. */
  image: Scalars['String']['input'];
  /** The name, 1 to 30 lower-case letters, digits and hyphens; unique in the template. */
  name: Scalars['String']['input'];
  /** At most 50 variables, whose values are not secret. */
  variables?: InputMaybe<Array<CreateSandboxTemplateRequestServicesVariables>>;
};

/** A variable of the environment. */
export type CreateSandboxTemplateRequestServicesVariables = {
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: Scalars['String']['input'];
  /** The value, at most 4000 characters. */
  value: Scalars['String']['input'];
};

/** The network policy while the environment is prepared. */
export type CreateSandboxTemplateRequestSetupNetwork = {
  /** Hosts that a policy `custom` or `packages` adds: at most 100. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Set of hosts that the policy allows. */
  mode: NetworkMode;
};

/** A variable of the environment. */
export type CreateSandboxTemplateRequestVariables = {
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: Scalars['String']['input'];
  /** The value, at most 4000 characters. */
  value: Scalars['String']['input'];
};

/** A new scheduled task or automation. */
export type CreateScheduledTaskRequest = {
  /** The only agent that may work on the runs: an agent of the organization, or a built-in one. Null means any agent that has a model; a prompt that is a script names an agent with the harness `shell`. Absent means the agent of the template. */
  agentId?: InputMaybe<Scalars['String']['input']>;
  /** Policy that decides which outside effects of its missions wait for approval; null means that none waits. */
  effectPolicy?: InputMaybe<CreateScheduledTaskRequestEffectPolicy>;
  /** Whether the schedule is active. */
  enabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** At most 10 rules; an event that matches one of them starts a mission. */
  eventTriggers?: InputMaybe<Array<CreateScheduledTaskRequestEventTriggers>>;
  /** Labels that each issue gets, at most 20. */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** The project in whose repository the missions work. */
  projectId: Scalars['String']['input'];
  /** The task for the agent: 1 to 20,000 characters. */
  prompt: Scalars['String']['input'];
  /** Whether an occurrence is skipped while an earlier run is open. */
  skipIfPreviousOpen?: InputMaybe<Scalars['Boolean']['input']>;
  /** The key of a template. With `script` the prompt is a POSIX shell script, and no model is used. */
  templateKey?: InputMaybe<Scalars['String']['input']>;
  /** 1 to 10 schedules; each occurrence of any of them starts a mission. The list may be empty only if there are event triggers. */
  triggers: Array<CreateScheduledTaskRequestTriggers>;
};

/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export type CreateScheduledTaskRequestEffectPolicy = {
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kinds of outside effects that wait for approval. */
  waits: Array<OutsideEffectKind>;
};

/** A rule: which events start missions, and with which text. */
export type CreateScheduledTaskRequestEventTriggers = {
  /** The login to which an issue is assigned. */
  assignee?: InputMaybe<Scalars['String']['input']>;
  /** The branch of the failed check. Absent means any. */
  branch?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that must be true for the payload of the event. */
  filter?: InputMaybe<Scalars['String']['input']>;
  /** The people whose events start missions. */
  from?: InputMaybe<EventAuthors>;
  /** The hook whose events may match; required for `webhook`. Absent means every hook with events of this kind. */
  hookId?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that yields a value of the payload. Of several events with the same value within 30 days, only the first starts a mission. */
  key?: InputMaybe<Scalars['String']['input']>;
  /** Kind of event. */
  kind: EventKind;
  /** The label that is added to an issue or pull request. Absent means that the rule matches opened issues and pull requests. */
  label?: InputMaybe<Scalars['String']['input']>;
  /** The name after the `@` in a comment; required for `comment`. */
  mention?: InputMaybe<Scalars['String']['input']>;
  /** The sandbox template of each mission that an event of an outsider starts. An outsider is a person who has no write access to the repository and is not a member with a linked account. The template applies even if a member has approved the event. The agents of such a mission get only the network, variables and secrets of this template. Absent means the templates of the agents and the project. */
  outsiderTemplateId?: InputMaybe<Scalars['String']['input']>;
  /** Text for the agent, in which `{{ JMESPath }}` stands for a value of the payload. Absent means the text of the issue or event. */
  template?: InputMaybe<Scalars['String']['input']>;
};

/** A schedule that starts missions. */
export type CreateScheduledTaskRequestTriggers = {
  /** Always `schedule`. */
  kind: TriggerKind;
  /** The times at which missions start. */
  schedule: CreateScheduledTaskRequestTriggersSchedule;
};

/** The times at which missions start. */
export type CreateScheduledTaskRequestTriggersSchedule = {
  /** Day of the month, 1 to 31; required when `interval` is monthly. */
  dayOfMonth?: InputMaybe<Scalars['Int']['input']>;
  /** Interval between occurrences. */
  interval: ScheduleInterval;
  /** Time of day HH:MM, 00:00 to 23:59. */
  time: Scalars['String']['input'];
  /** An IANA time zone such as Europe/Berlin. */
  timezone: Scalars['String']['input'];
  /** Required when `interval` is weekly. */
  weekday?: InputMaybe<Weekday>;
};

/** A new secret or variable. */
export type CreateSecretRequest = {
  /** Hosts to which request headers may carry the secret: at most 20. The network policy must allow these hosts too. Not allowed for a variable. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kind of value: an environment variable or a secret. */
  kind: SecretKind;
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: Scalars['String']['input'];
  /** Required with the scope `project`. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** The missions that get the secret or variable. */
  scope: SecretScope;
  /** Whether only the setup gets the secret; such a secret has no hosts. */
  setupOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** Required with the scope `template`. */
  templateId?: InputMaybe<Scalars['String']['input']>;
  /** 1 to 16,384 characters; a secret has at least 8. The value cannot be read again. */
  value: Scalars['String']['input'];
};

/** A new domain. */
export type CreateSignInDomainRequest = {
  /** The part of the addresses after the `@`, such as `example.com`. */
  domain: Scalars['String']['input'];
};

/** A new personal access token. */
export type CreateTokenRequest = {
  /** Days until the token expires, 1 to 365; 90 when absent. */
  expiresInDays?: InputMaybe<Scalars['Int']['input']>;
  /** 1 to 100 characters; a label for people, which need not be unique. */
  name: Scalars['String']['input'];
  /** The only project that the token reaches; the whole organization when absent. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** Scopes of the token: at most 25 scopes from `GET /scopes`, none beyond the caller’s own. None by default. */
  scopes?: InputMaybe<Array<Scalars['String']['input']>>;
};

/** A new endpoint. */
export type CreateWebhookEndpointRequest = {
  /** The name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** Whether events are sent one after the other, in the order of their numbers: an event that fails delays all later ones, for three days at most. Otherwise, several events are sent at once. */
  ordered?: InputMaybe<Scalars['Boolean']['input']>;
  /** At most 50 projects. Empty for all events of the organization. */
  projectIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** At most 50 types, such as `run.completed`, or a kind of record and `.*` for all of its types. Empty for all. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** An https URL of a public host. */
  url: Scalars['String']['input'];
};

/** A withdrawal from an order. */
export type CreateWithdrawalRequest = {
  /** The reason, at most 2000 characters, which is kept with the order. */
  reason?: InputMaybe<Scalars['String']['input']>;
};

/** Recipients of requests for credits. */
export type CreditRequestRoute =
  /** The owners of the organization, in the billing summary. */
  | 'owners';

/** The state of a request for credits. */
export type CreditRequestStatus =
  /** The request waits for an answer from the owners. */
  | 'open';

/** Source of credits. */
export type CreditSourceKind =
  /** From the operator of the service. */
  | 'grant'
  /** A credit pack. */
  | 'pack'
  /** One period of a team plan. */
  | 'subscription'
  /** For a new organization. */
  | 'trial';

/** The currency of all prices. */
export type Currency =
  /** US dollars are the only currency. */
  | 'USD';

/** How a program came to act for a person: as an agent of one of the registration types that the person claimed, or by an authorization code. */
export type DelegationKind =
  /** An agent that registered without naming a person. */
  | 'anonymous'
  /** An OAuth client that the person gave consent to. */
  | 'authorization_code'
  /** An agent whose provider vouched for it with an identity assertion. */
  | 'identity_assertion'
  /** An agent that named the person by email address. */
  | 'service_auth';

/** Whether the delegation is in effect. */
export type DelegationStatus =
  /** The program can act for the person. */
  | 'active'
  /** The delegation has expired. */
  | 'expired'
  /** The person, or an administrator, ended the delegation. */
  | 'revoked';

/** The version of a file to which the lines of a comment belong. */
export type DiffSide =
  /** The changed version. */
  | 'new'
  /** The version before the change. */
  | 'old';

/** A role that a group can give. Only owners can make somebody an owner. */
export type DirectoryGroupRole =
  /** Everything except changes of owners. */
  | 'admin'
  /** Works with projects, agents and missions. */
  | 'member'
  /** Reads only. */
  | 'viewer';

/** Whether a user of the directory belongs to the organization. */
export type DirectoryUserState =
  /** The identity provider has deactivated the user. */
  | 'inactive'
  /** The person is a member. */
  | 'member'
  /** The person was a member and was removed here. The identity provider can offer the membership again. */
  | 'removed'
  /** The person has not joined yet: the account page offers the membership after sign-in. */
  | 'waiting';

/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export type EffectPolicyInput = {
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kinds of outside effects that wait for approval. */
  waits: Array<OutsideEffectKind>;
};

/** Status of a preview environment. */
export type EnvironmentStatus =
  /** The environment can be reached at its URL. */
  | 'active'
  /** The environment has been taken down. */
  | 'destroyed'
  /** The runtime is taking the environment down. */
  | 'destroying'
  /** The environment could not be started or taken down, or its runtime stopped sending heartbeats. */
  | 'failed'
  /** The runtime is starting it. */
  | 'provisioning';

/** People whose events start missions; events of other people wait for an approval. */
export type EventAuthors =
  /** Everybody. */
  | 'anyone'
  /** Members of the organization whose account at the host is linked, and who may start missions. */
  | 'members'
  /** People with write access to the repository. */
  | 'writers';

/** Kind of event that starts a mission. */
export type EventKind =
  /** A check, workflow or commit status fails, except on the branch of a mission. */
  | 'check'
  /** A comment or review mentions an agent. */
  | 'comment'
  /** An issue is opened, labeled or assigned. */
  | 'issue'
  /** A pull request is opened or labeled. */
  | 'pullRequest'
  /** An issue is delegated to the agent, or mentions it, at a tracker with sessions of agents (Linear). */
  | 'session'
  /** Any event of a hook. */
  | 'webhook';

/** An installation of a GitHub App. */
export type GitHubAppRequest = {
  /** The id or client id of the App, from its settings. */
  appId: Scalars['String']['input'];
  /** The id of the installation: the number at the end of the URL of its settings. */
  installationId: Scalars['String']['input'];
  /** A private key of the App, PEM. It is stored encrypted and never returned. */
  privateKey: Scalars['String']['input'];
};

/** The protocol of an identity provider. */
export type IdentityProtocol =
  /** OpenID Connect. */
  | 'oidc'
  /** SAML 2.0. */
  | 'saml';

/** State of a delivery. */
export type InboundDeliveryStatus =
  /** The event could not be processed within two days. */
  | 'failed'
  /** The event has started nothing; `reason` or `outcomes` says why. */
  | 'ignored'
  /** The event is not processed yet, or will be retried; `reason` says why. */
  | 'received'
  /** The event has started a mission, or continues the mission of a pull request. */
  | 'started'
  /** The event waits for an approval; `reason` says why. */
  | 'waiting';

/** How a sender signs its events with the secret. */
export type InboundHookSignature =
  /** `X-Hub-Signature-256`: HMAC-SHA256 of the body as hex after `sha256=`. */
  | 'github'
  /** The secret token in `X-Gitlab-Token`, or a signature of Standard Webhooks by a signing token. */
  | 'gitlab'
  /** HMAC-SHA256 of the body, as hex or base64, in a header of your choice. */
  | 'header'
  /** `Linear-Signature`: HMAC-SHA256 of the body as hex, with the time as `webhookTimestamp` in it. */
  | 'linear'
  /** `X-Slack-Signature`: HMAC-SHA256 of version, time and body as hex after `v0=`. */
  | 'slack'
  /** Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  | 'standard';

/** The system whose events a hook understands. */
export type InboundHookVendor =
  /** The built-in tracker. Its hook is created with its first event and accepts no requests. */
  | 'builtin'
  /** GitHub: issues, comments, reviews, pull requests and checks. */
  | 'github'
  /** GitLab: issues, comments, merge requests, pipelines and jobs. */
  | 'gitlab'
  /** Linear: issues, comments and sessions of the agent. */
  | 'linear'
  /** Slack: mentions, messages in the threads of missions, commands and buttons; created with the connection. */
  | 'slack'
  /** Any system; filters and templates read its payload. */
  | 'webhook';

/** Effect of an event on one scheduled task or automation. */
export type InboundOutcomeResult =
  /** The event has started nothing. */
  | 'ignored'
  /** The event is retried later. */
  | 'later'
  /** The event has started a mission. */
  | 'started'
  /** The event waits for an approval. */
  | 'waiting';

/** The action that an item of the inbox needs from a person. */
export type InboxItemKind =
  /** To answer a question of an agent: `answerElicitation`. */
  | 'answer'
  /** To approve the plan of a run: `approvePlan`. */
  | 'approval'
  /** To choose one of several attempts at a task: `chooseAttempt`, `closeAttempts`. */
  | 'attempts'
  /** To raise the budget of a mission: `setRunBudget`. */
  | 'budget'
  /** To decide about the call of a tool: `answerElicitation` with `approve`. */
  | 'decision'
  /** To approve or reject outside effects of a mission: `approveOutsideEffects`, `rejectOutsideEffects`. */
  | 'effects'
  /** To let an event start missions, or to dismiss it: `approveInboundDelivery`, `dismissInboundDelivery`. */
  | 'event'
  /** To see why a mission has failed, and to start it again: `rerunMission`. */
  | 'failure'
  /** To raise the minutes, model calls or tokens of a mission: `setRunLimits`. */
  | 'limit'
  /** To review the change of a mission: `submitReview`, `mergePullRequest`. */
  | 'review'
  /** To raise a limit that holds missions back: the daily cap, a budget of several missions, or credits. */
  | 'spending';

/** Status of an invite. */
export type InviteStatus =
  /** The person has joined. */
  | 'accepted'
  /** Nobody accepted the invite within 7 days. */
  | 'expired'
  /** The invite can be accepted until `expiresAt`. */
  | 'pending'
  /** A member withdrew the invite. */
  | 'revoked';

/** Whether work on an issue is still to be done. */
export type IssueState =
  /** The work is done, or no longer wanted. */
  | 'closed'
  /** Work is expected or in progress. */
  | 'open';

/** Cause of a change of credits. */
export type LedgerEntryKind =
  /** Unused credits expired. */
  | 'expiry'
  /** Trial credits, or credits from the operator. */
  | 'grant'
  /** A paid order. */
  | 'purchase'
  /** The credits of a mission were refunded. */
  | 'refund'
  /** A mission. */
  | 'spend'
  /** A withdrawal from an order. */
  | 'withdrawal';

/** A Linear OAuth application that may use client credentials. */
export type LinearAppRequest = {
  /** The client id of the application, as its settings show it. */
  clientId: Scalars['String']['input'];
  /** The client secret of the application: encrypted, and never returned. */
  clientSecret: Scalars['String']['input'];
};

/** The order of a list, by the time at which its records were created. */
export type ListOrder =
  /** Newest first. */
  | 'newest'
  /** Oldest first. */
  | 'oldest';

/** Authentication method of a bound server. */
export type McpAuthKind =
  /** A bearer token. */
  | 'bearer'
  /** Headers of the declaration, with secrets filled in. */
  | 'headers'
  /** No credential. */
  | 'none'
  /** OAuth, connected by a person. */
  | 'oauth';

/** Whether a bound server can be used. */
export type McpBindingStatus =
  /** A person has disabled the server. */
  | 'disabled'
  /** The config file does not declare the server, or connecting to it failed. */
  | 'error'
  /** A credential is missing or was rejected. */
  | 'needs_auth'
  /** The declaration or the tools of the server have changed since they were approved. */
  | 'needs_review'
  /** Runs can use the approved tools. */
  | 'ready';

/** Outcome of a tool call. */
export type McpCallOutcome =
  /** The server could not be reached or returned an invalid response. */
  | 'failed'
  /** The tool returned a result. */
  | 'ok'
  /** The gateway did not forward the call. */
  | 'refused'
  /** The tool returned an error. */
  | 'tool_error';

/** Whether the config file could be read. */
export type McpConfigStatus =
  /** The file has an error: see `configError`. */
  | 'invalid'
  /** The repository has no such file. */
  | 'missing'
  /** The file was read. */
  | 'ok'
  /** The repository could not be read. */
  | 'unreachable';

/** The transport of a declared server. */
export type McpDeclaredTransport =
  /** Streamable HTTP at a URL. */
  | 'http'
  /** Standard input and output of a command. */
  | 'stdio';

/** Place where a server runs. */
export type McpIsolationKind =
  /** The server is not allowed to run; `reason` says why. */
  | 'refused'
  /** On another machine, reached over HTTP. */
  | 'remote'
  /** A command inside the sandboxes of runs. */
  | 'sandbox';

/** Change of a tool since its last approval. */
export type McpToolChange =
  /** The definition of the tool has changed. */
  | 'changed'
  /** Added since tools were last approved. */
  | 'new'
  /** Unchanged. */
  | 'none'
  /** The server no longer has this tool. */
  | 'removed';

/** A claim of a server about its own tool. */
export type McpToolClaim =
  /** The tool may destroy data. */
  | 'destroys'
  /** The tool reaches systems outside of the server. */
  | 'reaches_outside'
  /** The tool changes nothing. */
  | 'reads_only';

/** Transport of a bound server: a remote server, or a command in sandboxes. */
export type McpTransport =
  /** On another machine, reached over HTTP through the gateway of the service. */
  | 'remote'
  /** A command inside the sandboxes of runs. */
  | 'sandbox';

/** News of a mission. */
export type MissionNoticeKind =
  /** The agent of the mission waits for the answer to a question. */
  | 'answer'
  /** The plan of the mission or a tool call waits for approval. */
  | 'approval'
  /** The mission waits for more money or a higher limit. */
  | 'budget'
  /** The mission is completed, and no pull request waits for a review. */
  | 'completed'
  /** The mission has failed. */
  | 'failed'
  /** Somebody has handed the mission over to the person. Only that person is notified, not the place where the mission was started. */
  | 'handover'
  /** The mission is completed, and its pull request waits for a review. */
  | 'review';

/** How the missions of a view are shown. */
export type MissionViewLayout =
  /** A column for each group. */
  | 'board'
  /** Rows, in groups if the view has them. */
  | 'list';

/** A view of missions. */
export type MissionViewRequest = {
  /** The filters; an absent one means any. */
  filters: MissionViewRequestFilters;
  /** The groups; absent for none. */
  groupBy?: InputMaybe<RunGrouping>;
  /** How the missions are shown. */
  layout: MissionViewLayout;
  /** The name, 1 to 80 characters. */
  name: Scalars['String']['input'];
};

/** The filters; an absent one means any. */
export type MissionViewRequestFilters = {
  /** The agent. */
  agentId?: InputMaybe<Scalars['String']['input']>;
  /** True: only missions that the person follows. */
  followed?: InputMaybe<Scalars['Boolean']['input']>;
  /** Whether the schedule or a person started the missions. */
  kind?: InputMaybe<RunKind>;
  /** True: only missions that wait for a person to act. */
  needsPerson?: InputMaybe<Scalars['Boolean']['input']>;
  /** The person. */
  personId?: InputMaybe<Scalars['String']['input']>;
  /** The project. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** The words. */
  search?: InputMaybe<Scalars['String']['input']>;
  /** The status. */
  status?: InputMaybe<RunStatus>;
};

/** The vendor of a language model. */
export type ModelVendor =
  /** The Claude models. */
  | 'anthropic'
  /** The GPT models. */
  | 'openai';

/** Set of hosts that can be connected to. */
export type NetworkMode =
  /** Only the hosts that the policy names. */
  | 'custom'
  /** No host. */
  | 'none'
  /** Every public host. */
  | 'open'
  /** Public package registries, as the service lists them, and hosts that the policy adds. */
  | 'packages';

/** One of several attempts at a mission. Equal attempts are allowed: models answer differently each time. */
export type NewAttempt = {
  /** The agent that works on the attempt; absent means the agent of the mission. */
  agentId?: InputMaybe<Scalars['String']['input']>;
  /** A model that the agent uses in place of its own, and that its harness runs; requires an agent. */
  model?: InputMaybe<Scalars['String']['input']>;
  /** The task of this attempt; absent means the task of the mission. */
  prompt?: InputMaybe<Scalars['String']['input']>;
};

/** Urgency of a notice. */
export type NoticeKind =
  /** Action is needed now. */
  | 'action'
  /** For information. */
  | 'info'
  /** Action is needed soon. */
  | 'warning';

/** Subject of an emailed notice. */
export type NoticeMailKind =
  /** Deliveries of the audit log to its destination fail. */
  | 'audit_stream'
  /** At least 80 percent of a budget is spent. */
  | 'budget'
  /** The vendor rejects the credentials of a connector. */
  | 'connector_broken'
  /** The daily cost cap is reached. */
  | 'cost_cap'
  /** Credits are low or used up. */
  | 'credits'
  /** The last directory token expires within seven days. */
  | 'directory_token'
  /** Another person’s mission needs somebody to approve its plan, answer a question, decide about a tool call, or raise a limit. */
  | 'person_needed'
  /** A mission waits for a runtime. */
  | 'run_waiting'
  /** A recurring mission keeps failing. */
  | 'schedule_failing'
  /** The certificate of a SAML provider expires within seven days. */
  | 'sign_in_certificate'
  /** The TXT record of a verified domain is missing, or the domain no longer counts as verified. */
  | 'sign_in_domain'
  /** The metadata of a SAML provider has been unusable for two days. */
  | 'sign_in_metadata'
  /** A token of the person expires within a day. */
  | 'token_expiring'
  /** A webhook endpoint was disabled, because its receiver does not accept events. */
  | 'webhook_disabled';

/** Role of a person in an organization, from most to least powerful. */
export type OrgRole =
  /** Everything except changes of owners. */
  | 'admin'
  /** Works with projects, agents and missions; cannot manage members. */
  | 'member'
  /** Everything, including changes of owners. An organization has at least one. */
  | 'owner'
  /** Reads only. */
  | 'viewer';

/** The kind of an action that a mission performs in another system. */
export type OutsideEffectKind =
  /** The comment of a mission on an issue or pull request. */
  | 'comment'
  /** The call of a tool of an MCP server that nobody has attested as read-only. */
  | 'mcp_call'
  /** A pull request at the source host. */
  | 'pull_request'
  /** A push of commits to the source host. If it waits, its pull request waits too. */
  | 'push'
  /** The move of an issue to another state, in a tracker other than the built-in one. */
  | 'tracker';

/** State of an outside effect. */
export type OutsideEffectState =
  /** A person has approved it; it is carried out next. */
  | 'approved'
  /** It was carried out. */
  | 'committed'
  /** It is being carried out. */
  | 'committing'
  /** It was approved and could not be carried out: a person decides again. */
  | 'failed'
  /** A person has rejected it, or its run was canceled: nothing was sent. */
  | 'rejected'
  /** It waits for approval; nothing has been sent. */
  | 'staged';

/** A limit that a mission has reached. */
export type ParkingLimit =
  /** The budget of the mission, or the maximum cost of a mission in the plan. */
  | 'budget'
  /** The daily cost cap of the organization. */
  | 'cap'
  /** The credits of the organization. */
  | 'credits'
  /** The model calls of the mission. */
  | 'model_calls'
  /** A budget of the organization, the project or the person for a day or month; `parkedReason` names it. */
  | 'shared_budget'
  /** The minutes of its sandbox. */
  | 'time'
  /** The tokens of the mission. */
  | 'tokens';

/** Status of the preparation of an environment. */
export type PreparationStatus =
  /** The setup failed or took too long; `lastLines` shows why. */
  | 'failed'
  /** The setup runs. */
  | 'preparing'
  /** Agents work in the environment. */
  | 'ready';

/** A rule to try. */
export type PreviewEventTriggerRequest = {
  /** The event to evaluate. Absent means the newest 5 that the rule may concern. */
  deliveryId?: InputMaybe<Scalars['String']['input']>;
  /** The project of the scheduled task or automation. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** The rule. */
  trigger: PreviewEventTriggerRequestTrigger;
};

/** The rule. */
export type PreviewEventTriggerRequestTrigger = {
  /** The login to which an issue is assigned. */
  assignee?: InputMaybe<Scalars['String']['input']>;
  /** The branch of the failed check. Absent means any. */
  branch?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that must be true for the payload of the event. */
  filter?: InputMaybe<Scalars['String']['input']>;
  /** The people whose events start missions. */
  from?: InputMaybe<EventAuthors>;
  /** The hook whose events may match; required for `webhook`. Absent means every hook with events of this kind. */
  hookId?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that yields a value of the payload. Of several events with the same value within 30 days, only the first starts a mission. */
  key?: InputMaybe<Scalars['String']['input']>;
  /** Kind of event. */
  kind: EventKind;
  /** The label that is added to an issue or pull request. Absent means that the rule matches opened issues and pull requests. */
  label?: InputMaybe<Scalars['String']['input']>;
  /** The name after the `@` in a comment; required for `comment`. */
  mention?: InputMaybe<Scalars['String']['input']>;
  /** The sandbox template of each mission that an event of an outsider starts. An outsider is a person who has no write access to the repository and is not a member with a linked account. The template applies even if a member has approved the event. The agents of such a mission get only the network, variables and secrets of this template. Absent means the templates of the agents and the project. */
  outsiderTemplateId?: InputMaybe<Scalars['String']['input']>;
  /** Text for the agent, in which `{{ JMESPath }}` stands for a value of the payload. Absent means the text of the issue or event. */
  template?: InputMaybe<Scalars['String']['input']>;
};

/** The kind of caller. `cookie`: a person in the console. `user`: a credential that acts for a person. `service`: an internal service. `system`: the service itself. `agent`: an unclaimed agent. */
export type PrincipalType =
  /** An unclaimed agent. */
  | 'agent'
  /** A person who is signed in to the console. */
  | 'cookie'
  /** An internal service, such as a runtime. */
  | 'service'
  /** The service itself. */
  | 'system'
  /** A token that acts for a person. */
  | 'user';

/** Purpose of a connector in a project. */
export type ProjectConnectorKind =
  /** Runs language models. */
  | 'llm'
  /** Hosts the repository. */
  | 'scm'
  /** Holds the issues. */
  | 'tracker';

/** Omitted members stay unchanged. */
export type ProjectConnectorsRequest = {
  /** The connector of the language model. */
  llmConnectorId?: InputMaybe<Scalars['String']['input']>;
  /** The connector of the source host. */
  scmConnectorId?: InputMaybe<Scalars['String']['input']>;
  /** The connector of the tracker; null for the built-in tracker. If you choose another tracker and name no team in `trackerTeamKey`, the project has no team afterwards. */
  trackerConnectorId?: InputMaybe<Scalars['String']['input']>;
  /** The key of the team in the tracker. */
  trackerTeamKey?: InputMaybe<Scalars['String']['input']>;
};

/** Whether missions may start on the project. */
export type ProjectStatus =
  /** Missions may start. */
  | 'active'
  /** No longer used: no mission starts. */
  | 'archived'
  /** No mission starts until it is active again; open runs continue. */
  | 'paused';

/** Tracker of the project’s issues. */
export type ProjectTracker =
  /** The tracker of this service; it needs no integration. */
  | 'builtin'
  /** The issues of the repository on GitHub, through an integration. */
  | 'github'
  /** The issues of the project on GitLab, through an integration. */
  | 'gitlab'
  /** A team in Linear, through an integration. */
  | 'linear';

/** State of a pull request. */
export type PullRequestState =
  /** The pull request was closed without being merged. */
  | 'closed'
  /** The pull request was merged into its base branch. */
  | 'merged'
  /** The pull request can be merged. */
  | 'open';

/** The binding of a declared server. */
export type PutMcpBindingRequest = {
  /** Hosts to which the service may send requests in addition to the host of the server, such as the host of its authorization server. */
  allowedEgressHosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The approved tools; absent means no change. A list also states that all tools were reviewed in their present form. */
  approvedTools?: InputMaybe<Array<PutMcpBindingRequestApprovedTools>>;
  /** Values of the declared secrets by name, which are never returned. Null deletes a value, and absent values are kept. */
  credentials?: InputMaybe<Scalars['Json']['input']>;
  /** Whether missions can use the server; true when absent in the request that binds the server. */
  enabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** The roles whose agents may use the server. */
  roles: Array<AgentRole>;
};

/** A tool that agents may use. */
export type PutMcpBindingRequestApprovedTools = {
  /** Whether a person decides about each call, with its arguments. Absent means unchanged, and false for a new tool. */
  alwaysAsk?: InputMaybe<Scalars['Boolean']['input']>;
  /** Whether a person attests that the tool is read-only. Roles other than `builder` get only such tools. */
  attestedReadOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** The server’s name for the tool. */
  name: Scalars['String']['input'];
};

/** The missions that figures of quality are grouped by. */
export type QualityGroup =
  /** One group for each agent that builds. */
  | 'agent'
  /** One group of all missions. */
  | 'all'
  /** One group for each project. */
  | 'project'
  /** One group for each version of the agent that builds. */
  | 'version';

/** The new secret. */
export type ReplaceInboundHookSecretRequest = {
  /** A secret that the sender has chosen, 16 to 200 characters. Absent means a new one. */
  secret?: InputMaybe<Scalars['String']['input']>;
};

/** The deliveries to send again are selected by the time at which they were written. A delivery that already repeats an earlier delivery is left out. */
export type ResendWebhookDeliveriesRequest = {
  /** Deliveries that were written before this time; absent means now. */
  createdBefore?: InputMaybe<Scalars['EpochMs']['input']>;
  /** Deliveries that were written at this time or later. */
  createdFrom: Scalars['EpochMs']['input'];
  /** Only deliveries in this state, `delivered` or `failed`; absent means both. */
  status?: InputMaybe<WebhookDeliveryStatus>;
};

/** Verdict of a review. */
export type ReviewVerdict =
  /** The change may be merged without changes after the reviewed commit. */
  | 'approve'
  /** No decision: the review is only for people. */
  | 'comment'
  /** The agent is to change its work. */
  | 'request_changes';

/** The credentials to replace: at least one. */
export type RotateChatRequest = {
  /** The new token, for the same workspace; stored encrypted and never returned. */
  botToken?: InputMaybe<Scalars['String']['input']>;
  /** The new signing secret; stored encrypted and never returned. */
  signingSecret?: InputMaybe<Scalars['String']['input']>;
};

/** Kind of an event of a run. */
export type RunEventKind =
  /** A file was submitted. */
  | 'artifact'
  /** The mission ended. */
  | 'end'
  /** The agent met an error. */
  | 'error'
  /** A person sent a message or made a decision. */
  | 'message'
  /** The agent changed its plan. */
  | 'plan'
  /** The agent asked a question. */
  | 'question'
  /** The mission was started. */
  | 'start'
  /** A step began or ended. */
  | 'step';

/** The value by which runs are grouped. */
export type RunGrouping =
  /** One group for each agent that the runs were started for. */
  | 'agent'
  /** One group for each person to whom runs belong. */
  | 'person'
  /** One group for each project. */
  | 'project'
  /** One group for each status. */
  | 'status';

/** The origin of the run: the schedule of its mission, or a person, a program or an event. */
export type RunKind =
  /** A person, a program or an event started the run. */
  | 'manual'
  /** The schedule of the mission started the run. */
  | 'scheduled';

/** Kind of an entry in the history of a run. */
export type RunMessageKind =
  /** An answer to a question of the agent. */
  | 'answer'
  /** The plan was approved. */
  | 'approval'
  /** The mission was handed to another person, whose name is the text. */
  | 'handover'
  /** The agent was interrupted. */
  | 'interrupt'
  /** A message to the agent. */
  | 'message'
  /** Local changes were pushed to the mission; the text is their commit. */
  | 'push'
  /** The agent was resumed. */
  | 'resume';

/** Action that a run needs from a person. */
export type RunNeed =
  /** The answer to a question of the run’s agent. */
  | 'answer'
  /** The approval of the run’s plan. */
  | 'approval'
  /** More money: the next model call or minute of the run would exceed the limit `parkedBy`. */
  | 'budget'
  /** The decision whether the agent of the run may make a tool call that needs approval. */
  | 'decision'
  /** A higher limit of its minutes, model calls or tokens: `parkedBy` names it. */
  | 'limit';

/** Result of a run in the repository. */
export type RunResult =
  /** Commits on a branch. */
  | 'changes'
  /** Nothing: no commit was pushed. */
  | 'no_changes';

/** The status of a run. Open: `dispatching` (waits for its issue or for a runtime) and `running`; all other statuses are final. */
export type RunStatus =
  /** A person or a program canceled it. */
  | 'canceled'
  /** The mission finished. */
  | 'completed'
  /** Waits for its issue in the tracker, or for a runtime. */
  | 'dispatching'
  /** The mission failed, or no runtime finished it. */
  | 'failed'
  /** A runtime works on the run. */
  | 'running'
  /** An earlier run was still open. */
  | 'skipped';

/** The metadata of a SAML provider, or the URL of the metadata. */
export type SamlMetadataRequest = {
  /** The https URL of the metadata, which is read again every day for new keys. */
  metadataUrl?: InputMaybe<Scalars['String']['input']>;
  /** The metadata of the provider as XML. */
  metadataXml?: InputMaybe<Scalars['String']['input']>;
};

/** Kind of a fragment of an agent’s work. */
export type SandboxFragmentKind =
  /** A use of a tool: `action`, `parameter` and `result`. */
  | 'action'
  /** A question to a person, in `body`; with `action` and `parameter`, about the call of a tool. */
  | 'elicitation'
  /** An error, described in `body`. */
  | 'error'
  /** The steps that the agent intends to take, in `items`. */
  | 'plan'
  /** An instruction to the agent, in `body`. */
  | 'prompt'
  /** An answer of the agent, in `body`. */
  | 'response'
  /** Reasoning of the model, in `body`. */
  | 'thought';

/** Which log of a session. */
export type SandboxLogPart =
  /** The prompt that the agent started with, in spans. */
  | 'prompt'
  /** Output of the harness. */
  | 'session'
  /** Messages of the runtime about the session. */
  | 'system';

/** Status of a sandbox; `stale`: no heartbeats. */
export type SandboxStatus =
  /** The agent of the sandbox finished. */
  | 'completed'
  /** The sandbox was killed, its run was canceled, or its time limit passed. */
  | 'destroyed'
  /** The sandbox ended before its agent finished, or stopped sending heartbeats. */
  | 'failed'
  /** The sandbox sent a heartbeat within the last 2 minutes. */
  | 'running'
  /** A running sandbox has sent no heartbeat for 2 minutes; after 10 minutes it fails. */
  | 'stale';

/** Interval of a schedule. */
export type ScheduleInterval =
  /** Every day at `time`. */
  | 'daily'
  /** Every month on `dayOfMonth` at `time`. */
  | 'monthly'
  /** Every week on `weekday` at `time`. */
  | 'weekly';

/** A named set of scopes to start a token from. */
export type ScopePreset =
  /** Every scope but those of billing and setup. */
  | 'all'
  /** Scopes for the commands of the documentation, including billing and setup. */
  | 'docs'
  /** Scopes to set up, run and observe missions. */
  | 'missions'
  /** Every scope that only reads. */
  | 'read';

/** Kind of value: an environment variable or a secret. */
export type SecretKind =
  /** A secret for the setup only, or for requests to named hosts; agents see at most a placeholder. */
  | 'secret'
  /** An environment variable of the setup and of agents. */
  | 'variable';

/** The missions that get a secret or variable. */
export type SecretScope =
  /** All missions of the organization. */
  | 'organization'
  /** The missions of one project; the value overrides the same name of the organization. */
  | 'project'
  /** The missions of one sandbox template; the value overrides the same name of the project. */
  | 'template';

/** The whole list. */
export type SetAllowedNetworksRequest = {
  /** The networks in CIDR notation, IPv4 and IPv6, at most 50; a single address is also allowed. Must contain the address of this request; an empty list allows requests from any address. */
  networks: Array<Scalars['String']['input']>;
};

/** The destination of the audit log. */
export type SetAuditStreamRequest = {
  /** The access key for a bucket, which must allow `s3:PutObject`. Absent keeps the stored key if the bucket is unchanged. */
  accessKeyId?: InputMaybe<Scalars['String']['input']>;
  /** An https URL of a public host, or `s3://bucket/prefix?region=REGION`, with `endpoint` and `path-style` for a server other than Amazon’s. */
  address: Scalars['String']['input'];
  /** The number after which deliveries begin. Absent means that deliveries continue after the last accepted entry or, without a previous destination, begin with the first entry. */
  after?: InputMaybe<Scalars['Int']['input']>;
  /** The secret of the access key. */
  secretAccessKey?: InputMaybe<Scalars['String']['input']>;
  /** The token for an https URL, sent as `Authorization: Bearer`. If it is absent, the stored token is kept while the host is unchanged; for another host, a token is created. */
  token?: InputMaybe<Scalars['String']['input']>;
};

/** The models of a connector. */
export type SetIntegrationModelsRequest = {
  /** All models of the connector: at most 50; an empty list for none. */
  models: Array<SetIntegrationModelsRequestModels>;
};

/** A model of the connector. */
export type SetIntegrationModelsRequestModels = {
  /** The id of the model at the server: 1 to 100 characters, unique in the organization. */
  id: Scalars['String']['input'];
  /** The display name, 1 to 120 characters. */
  name: Scalars['String']['input'];
  /** Prices of a call. */
  prices: SetIntegrationModelsRequestModelsPrices;
};

/** Prices of a call. */
export type SetIntegrationModelsRequestModelsPrices = {
  /** Price of tokens read from the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
  cacheRead?: InputMaybe<Scalars['Float']['input']>;
  /** Price of tokens written to the cache: US dollars per million, 0 to 10,000. Absent means the price of input. */
  cacheWrite?: InputMaybe<Scalars['Float']['input']>;
  /** Price of input tokens: US dollars per million, 0 to 10,000. */
  input: Scalars['Float']['input'];
  /** Price of output tokens: US dollars per million, 0 to 10,000. */
  output: Scalars['Float']['input'];
};

/** A group of milestones. */
export type SetupGroupId =
  /** Further features. */
  | 'explore'
  /** Milestones up to the first merged change. */
  | 'first_mission'
  /** One-time setup of a team. */
  | 'team';

/** Mark that a person sets on a milestone or a group. */
export type SetupMark =
  /** The milestone counts as reached. */
  | 'done'
  /** Removes the mark. */
  | 'reset'
  /** The milestone is not shown as the next step. */
  | 'skipped';

/** A milestone of setup. */
export type SetupMilestoneId =
  /** An agent got instructions of its own. */
  | 'agent_instructions'
  /** A mission opened a pull request. */
  | 'agent_to_pr'
  /** A mission returned to a checkpoint. */
  | 'checkpoints'
  /** An agent or a project chose a sandbox template of the organization. It belongs to no group and is not counted. */
  | 'custom_sandbox'
  /** A change was merged. */
  | 'first_merge'
  /** A mission was completed. */
  | 'first_mission'
  /** A reviewer finished its work on a change. */
  | 'first_review'
  /** An MCP server was bound to a project. */
  | 'mcp_servers'
  /** A preview environment became active. */
  | 'preview_deployment'
  /** A scheduled task was created. */
  | 'scheduled_task'
  /** A running mission got a message. */
  | 'steer_mission'
  /** A second person joined. */
  | 'teammate'
  /** A project was created. */
  | 'workspace';

/** Whether a milestone is settled. */
export type SetupMilestoneState =
  /** The milestone was reached, or marked as done. */
  | 'done'
  /** The milestone is still to be reached. */
  | 'open'
  /** The milestone was marked as skipped and not reached. */
  | 'skipped';

/** Requirements before a mission can start. */
export type SetupRequirementId =
  /** A language model: a connector with credentials, or a key of a runtime. */
  | 'model'
  /** A source host with credentials, or the built-in one: agents read and push repositories there. */
  | 'source_host';

/** A version that a share of the missions of an agent tries: either an existing or a new one. */
export type StartAgentTrialRequest = {
  /** The changed settings of a new version; must be absent if `number` is present. */
  changes?: InputMaybe<StartAgentTrialRequestChanges>;
  /** Reason for the change, shown in the list of versions: 1 to 500 characters. */
  note?: InputMaybe<Scalars['String']['input']>;
  /** The number of an existing version; must be absent if `changes` is present. */
  number?: InputMaybe<Scalars['Int']['input']>;
  /** The share of the missions in percent: 1 to 99. */
  percent: Scalars['Int']['input'];
};

/** The changed settings of a new version on trial. */
export type StartAgentTrialRequestChanges = {
  /** Reasoning effort of the model; null means the harness decides. */
  effort?: InputMaybe<AgentEffort>;
  /** The program that drives the agent’s model. */
  harness?: InputMaybe<Scalars['Harness']['input']>;
  /** One of the models of the harness. */
  model?: InputMaybe<Scalars['String']['input']>;
  /** The working environment of the agent. */
  sandbox?: InputMaybe<StartAgentTrialRequestChangesSandbox>;
  /** `<owner>/<repo>` of repositories with skills: at most 20. */
  skillRepos?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Instructions in addition to the issue: at most 20,000 characters. */
  userPrompt?: InputMaybe<Scalars['String']['input']>;
};

/** The working environment of the agent. */
export type StartAgentTrialRequestChangesSandbox = {
  /** Always `existing`. */
  kind: AgentSandboxKind;
  /** A sandbox template of the organization, or `standard` to use the project’s template. */
  templateId: Scalars['String']['input'];
};

/** The path of the console to which the person returns after signing in to the server. */
export type StartMcpOAuthRequest = {
  /** The path of the console that the person returns to afterwards. */
  returnTo?: InputMaybe<Scalars['String']['input']>;
};

/** Missions on several issues, with the same settings. */
export type StartMissionsRequest = {
  /** The only agent that may work on the missions. Absent means any agent that has a model. */
  agentId?: InputMaybe<Scalars['String']['input']>;
  /** Budget of each mission in US dollars, 0.01 to 10,000. Absent means that only the credits limit it. */
  budgetUsd?: InputMaybe<Scalars['Float']['input']>;
  /** CPUs, memory and disk of each mission. Absent means the instance type in the sandbox template of the mission. */
  instanceType?: InputMaybe<Scalars['InstanceType']['input']>;
  /** The issues, 1 to 50. */
  issues: Array<StartMissionsRequestIssues>;
  /** Maximum number of minutes that the mission may use its sandbox: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxMinutes?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of model calls of the mission: 1 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum total number of input, output and cached tokens that the mission may use: 1000 to the maximum of the installation (`agentCatalog.missionBounds`). */
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
  /** Whether a person must approve each plan. Absent means the setting of the orchestrator. */
  planApproval?: InputMaybe<Scalars['Boolean']['input']>;
  /** The task for each issue, in addition to the issue’s text. If the prompt is absent, the task is to solve the issue. */
  prompt?: InputMaybe<Scalars['String']['input']>;
};

/** An issue to start a mission on. */
export type StartMissionsRequestIssues = {
  /** The issue by its id or name: `WEB-12`, or `#12` on GitHub. */
  issue: Scalars['String']['input'];
  /** The project whose tracker has the issue. */
  projectId: Scalars['String']['input'];
};

/** Status of a step. */
export type StepStatus =
  /** The run was canceled. */
  | 'canceled'
  /** The agent finished the step. */
  | 'completed'
  /** The agent failed, or its output was invalid. */
  | 'failed'
  /** A runtime works on the step. */
  | 'running'
  /** No runtime works on the step yet. */
  | 'waiting';

/** A review of the change of a run. */
export type SubmitReviewRequest = {
  /** Your text about the whole change. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** Comments on lines, at most 100. */
  comments?: InputMaybe<Array<SubmitReviewRequestComments>>;
  /** The commit that you have reviewed: `outcome.headSha` of the run. */
  headSha: Scalars['String']['input'];
  /** An id that you choose for the review: a repeated request with the same id changes nothing. */
  reviewId?: InputMaybe<Scalars['String']['input']>;
  /** The run whose change was reviewed. */
  runId: Scalars['String']['input'];
  /** The verdict. */
  verdict: ReviewVerdict;
};

/** A comment on lines of the change. */
export type SubmitReviewRequestComments = {
  /** The comment. */
  body: Scalars['String']['input'];
  /** The line to which the comment belongs; for several lines, the last line. */
  line: Scalars['Int']['input'];
  /** The path of the file in the repository. */
  path: Scalars['String']['input'];
  /** The lines as you saw them, for the agent. */
  quote?: InputMaybe<Scalars['String']['input']>;
  /** The version of the file to which the lines belong. */
  side: DiffSide;
  /** The first line, if the comment belongs to several lines; absent means one line. */
  startLine?: InputMaybe<Scalars['Int']['input']>;
};

/** The state of a subscription; a `canceling` subscription ends with its period. */
export type SubscriptionStatus =
  /** Renews at the end of its period. */
  | 'active'
  /** Has ended. */
  | 'canceled'
  /** Ends when its period ends. */
  | 'canceling';

/** Base of a sandbox. */
export type TemplateBase =
  /** An image that the runtime builds. */
  | 'dockerfile'
  /** A container image. */
  | 'image'
  /** The programs of the runtime’s machine, or the runtime’s own image if the runtime uses containers. */
  | 'machine';

/** Status of a terminal. */
export type TerminalStatus =
  /** The shell has ended; `reason` says why. */
  | 'ended'
  /** The shell runs. */
  | 'open'
  /** The runtime has not started the shell yet. */
  | 'requested';

/** The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule. */
export type TrackerTriggerPolicy =
  /** Everybody whom the rule of the project allows. */
  | 'anyone'
  /** Members whose account is linked; events of other people wait for an approval. */
  | 'members'
  /** Nobody: events start no missions. */
  | 'off';

/** Kind of trigger that starts missions. */
export type TriggerKind =
  /** A schedule: each occurrence starts a mission. */
  | 'schedule';

/** Omitted members stay unchanged. */
export type UpdateAgentRequest = {
  /** Reasoning effort of the model; null means the harness decides. */
  effort?: InputMaybe<AgentEffort>;
  /** The program that drives the agent’s model. */
  harness?: InputMaybe<Scalars['Harness']['input']>;
  /** One of the models of the harness. */
  model?: InputMaybe<Scalars['String']['input']>;
  /** 1 to 120 characters; unique in the organization. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The role of the agent in a mission. */
  role?: InputMaybe<AgentRole>;
  /** The working environment of the agent. */
  sandbox?: InputMaybe<UpdateAgentRequestSandbox>;
  /** `<owner>/<repo>` of repositories with skills: at most 20. */
  skillRepos?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Instructions in addition to the issue: at most 20,000 characters. */
  userPrompt?: InputMaybe<Scalars['String']['input']>;
};

/** The working environment of the agent. */
export type UpdateAgentRequestSandbox = {
  /** Always `existing`. */
  kind: AgentSandboxKind;
  /** A sandbox template of the organization, or `standard` to use the project’s template. */
  templateId: Scalars['String']['input'];
};

/** The settings to change. */
export type UpdateBillingSettingsRequest = {
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: InputMaybe<Scalars['String']['input']>;
  /** The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule. */
  trackerTriggers: TrackerTriggerPolicy;
};

/** Omitted members stay unchanged. */
export type UpdateBudgetRequest = {
  /** US dollars in each period: 0.01 to 1000000, rounded to a hundredth of a cent. */
  amountUsd?: InputMaybe<Scalars['Float']['input']>;
};

/** Omitted fields keep their value. */
export type UpdateIdentityProviderRequest = {
  /** The client id at the provider. */
  clientId?: InputMaybe<Scalars['String']['input']>;
  /** The client secret, which is stored encrypted. */
  clientSecret?: InputMaybe<Scalars['String']['input']>;
  /** The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people. */
  defaultRole?: InputMaybe<OrgRole>;
  /** The issuer, an https URL of a public host. */
  issuer?: InputMaybe<Scalars['String']['input']>;
  /** The name on the sign-in page, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
};

/** Omitted fields keep their value. */
export type UpdateInboundHookRequest = {
  /** Whether events of the hook start missions; a disabled hook still stores its events. */
  enabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** The name, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
};

/** Omitted members stay unchanged. */
export type UpdateIssueRequest = {
  /** The task in Markdown, at most 20000 characters. Agents get it as quoted text. */
  body?: InputMaybe<Scalars['String']['input']>;
  /** At most 20 labels. */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** `closed` cancels the mission of the issue; `open` starts none. */
  state?: InputMaybe<IssueState>;
  /** The title in one line, 1 to 200 characters. */
  title?: InputMaybe<Scalars['String']['input']>;
};

/** Another role for a member. */
export type UpdateMembershipRequest = {
  /** A role that is not above the caller’s own. */
  role: OrgRole;
};

/** The channels to change. */
export type UpdateMissionNoticesRequest = {
  /** Whether open pages of the console show the news; unchanged when absent. */
  browser?: InputMaybe<Scalars['Boolean']['input']>;
  /** The kind of the news. */
  kind: MissionNoticeKind;
  /** Whether the news is emailed; unchanged when absent. */
  mail?: InputMaybe<Scalars['Boolean']['input']>;
  /** Whether the news is shown where the mission was started, such as in a chat thread; unchanged when absent. */
  origin?: InputMaybe<Scalars['Boolean']['input']>;
};

/** The kind of notices to change. */
export type UpdateNoticeMailRequest = {
  /** Whether these notices are emailed, in every organization of the person. */
  enabled: Scalars['Boolean']['input'];
  /** Subject of the notices. */
  kind: NoticeMailKind;
};

/** Omitted members stay unchanged; null restores the default. */
export type UpdateOrchestratorRequest = {
  /** The description, at most 500 characters; null means the default. */
  blurb?: InputMaybe<Scalars['String']['input']>;
  /** 0, or 0.0001 to 1000000, rounded to a hundredth of a cent; null means the default. At 0 no mission starts. */
  dailyCostCapUsd?: InputMaybe<Scalars['Float']['input']>;
  /** Whether the orchestrator may ask its model. */
  inferenceEnabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** An integration of the kind llm, or null. */
  llmConnectorId?: InputMaybe<Scalars['String']['input']>;
  /** One of `modelsByVendor`. Null means the default model or, if `vendor` is set, the first model of this vendor. */
  model?: InputMaybe<Scalars['String']['input']>;
  /** The name, 1 to 120 characters; null means the default. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Whether a person has to approve each plan before an agent follows it. */
  planApproval?: InputMaybe<Scalars['Boolean']['input']>;
  /** The vendor of the model. If `model` is absent, the first model of this vendor is used. */
  vendor?: InputMaybe<ModelVendor>;
};

/** Omitted members stay unchanged. */
export type UpdateOrganizationRequest = {
  /** The name, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The slug, 1 to 64 lower-case letters, digits and hyphens; unique. */
  slug?: InputMaybe<Scalars['String']['input']>;
};

/** The path of a project’s config file. */
export type UpdateProjectMcpRequest = {
  /** Path of the config file from the top of the repository; null means `service.yml`. */
  configPath?: InputMaybe<Scalars['String']['input']>;
};

/** Omitted members stay unchanged. */
export type UpdateProjectRequest = {
  /** Whether an approved change merges without a person. */
  autoMerge?: InputMaybe<Scalars['Boolean']['input']>;
  /** A sandbox template of the organization, or `standard`; null also means `standard`. */
  defaultSandboxTemplateId?: InputMaybe<Scalars['String']['input']>;
  /** The prefix of issue keys: 2 to 10 capital letters or digits, beginning with a letter; or null. */
  issueCode?: InputMaybe<Scalars['String']['input']>;
  /** The name, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** The repository, `<owner>/<repo>`. */
  repoFullName?: InputMaybe<Scalars['String']['input']>;
  /** Status of the project. Missions start only while the project is `active`. */
  status?: InputMaybe<ProjectStatus>;
  /** The key of the team in the tracker. */
  trackerTeamKey?: InputMaybe<Scalars['String']['input']>;
};

/** Omitted fields keep their value. */
export type UpdateSandboxTemplateRequest = {
  /** The network policy while agents and scripts work. */
  agentNetwork?: InputMaybe<UpdateSandboxTemplateRequestAgentNetwork>;
  /** Source of a sandbox. */
  base?: InputMaybe<TemplateBase>;
  /** Purpose of the template. */
  description?: InputMaybe<Scalars['String']['input']>;
  /** Maximum disk space of a mission in MiB: 256 to 1,048,576; null means that the template sets no limit. */
  diskMb?: InputMaybe<Scalars['Int']['input']>;
  /** A Dockerfile: required with the base `dockerfile`, not allowed with any other. */
  dockerfile?: InputMaybe<Scalars['String']['input']>;
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy?: InputMaybe<UpdateSandboxTemplateRequestEffectPolicy>;
  /** A container image: required with the base `image`, not allowed with any other. */
  image?: InputMaybe<Scalars['String']['input']>;
  /** The size of missions that start without a chosen size. `memoryMb` and `diskMb` override the memory and disk space of the size. */
  instanceType?: InputMaybe<Scalars['InstanceType']['input']>;
  /** At most 20 labels of 1 to 63 lowercase letters, digits, ".", "_" and "-". */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Maximum number of minutes that a mission may use its sandbox: 1 to 43,200; null means that the template sets no limit. */
  maxMinutes?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of model calls of a mission: 1 to 1,000,000; null means that the template sets no limit. */
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of tokens of a mission: 1,000 to 2,000,000,000; null means that the template sets no limit. */
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum memory of a mission in MiB: 64 to 262,144; null means that the template sets no limit. */
  memoryMb?: InputMaybe<Scalars['Int']['input']>;
  /** 1 to 120 characters; unique in the organization. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Maximum number of processes of a mission: 16 to 32,768; null means that the template sets no limit. */
  processes?: InputMaybe<Scalars['Int']['input']>;
  /** At most 5 services, which need a runtime with containers. */
  services?: InputMaybe<Array<UpdateSandboxTemplateRequestServices>>;
  /** The network policy while the environment is prepared. */
  setupNetwork?: InputMaybe<UpdateSandboxTemplateRequestSetupNetwork>;
  /** A POSIX shell script that prepares the environment, in the checkout. */
  setupScript?: InputMaybe<Scalars['String']['input']>;
  /** Maximum number of minutes of a step: 1 to 1,440; null means that the template sets no limit. */
  stepMinutes?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of model calls of a step: 1 to 1,000; null means that the template sets no limit. */
  stepModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Maximum number of tokens of a step: 1,000 to 1,000,000,000; null means that the template sets no limit. */
  stepTokens?: InputMaybe<Scalars['Int']['input']>;
  /** At most 50 variables, whose values are not secret. */
  variables?: InputMaybe<Array<UpdateSandboxTemplateRequestVariables>>;
};

/** The network policy while agents and scripts work. */
export type UpdateSandboxTemplateRequestAgentNetwork = {
  /** Hosts that a policy `custom` or `packages` adds: at most 100. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Set of hosts that the policy allows. */
  mode: NetworkMode;
};

/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export type UpdateSandboxTemplateRequestEffectPolicy = {
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kinds of outside effects that wait for approval. */
  waits: Array<OutsideEffectKind>;
};

/** A container that runs next to each mission. */
export type UpdateSandboxTemplateRequestServices = {
  /** Arguments that replace the command of the image; null means the command of the image. */
  command?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Shell command in the container that succeeds once the service is ready; null means that the service is ready once its container has run for two seconds. */
  healthCheck?: InputMaybe<Scalars['String']['input']>;
  /** A container image. */
  image: Scalars['String']['input'];
  /** The name, 1 to 30 lower-case letters, digits and hyphens; unique in the template. */
  name: Scalars['String']['input'];
  /** At most 50 variables, whose values are not secret. */
  variables?: InputMaybe<Array<UpdateSandboxTemplateRequestServicesVariables>>;
};

/** A variable of the environment. */
export type UpdateSandboxTemplateRequestServicesVariables = {
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: Scalars['String']['input'];
  /** The value, at most 4000 characters. */
  value: Scalars['String']['input'];
};

/** The network policy while the environment is prepared. */
export type UpdateSandboxTemplateRequestSetupNetwork = {
  /** Hosts that a policy `custom` or `packages` adds: at most 100. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Set of hosts that the policy allows. */
  mode: NetworkMode;
};

/** A variable of the environment. */
export type UpdateSandboxTemplateRequestVariables = {
  /** The name, 1 to 100 letters, digits and underscores; not a name that the platform sets, such as PATH. */
  name: Scalars['String']['input'];
  /** The value, at most 4000 characters. */
  value: Scalars['String']['input'];
};

/** Omitted fields keep their value. */
export type UpdateScheduledTaskRequest = {
  /** The only agent that may work on the runs: an agent of the organization, or a built-in one. Null means any agent that has a model; a prompt that is a script names an agent with the harness `shell`. Absent means the agent of the template. */
  agentId?: InputMaybe<Scalars['String']['input']>;
  /** Policy that decides which outside effects of its missions wait for approval; null means that none waits. */
  effectPolicy?: InputMaybe<UpdateScheduledTaskRequestEffectPolicy>;
  /** Whether the schedule is active. */
  enabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** At most 10 rules; an event that matches one of them starts a mission. */
  eventTriggers?: InputMaybe<Array<UpdateScheduledTaskRequestEventTriggers>>;
  /** Labels that each issue gets, at most 20. */
  labels?: InputMaybe<Array<Scalars['String']['input']>>;
  /** The name, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Moves the mission to this project; its earlier runs stay in their project. */
  projectId?: InputMaybe<Scalars['String']['input']>;
  /** The task for the agent: 1 to 20,000 characters. */
  prompt?: InputMaybe<Scalars['String']['input']>;
  /** Whether an occurrence is skipped while an earlier run is open. */
  skipIfPreviousOpen?: InputMaybe<Scalars['Boolean']['input']>;
  /** The key of a template. With `script` the prompt is a POSIX shell script, and no model is used. */
  templateKey?: InputMaybe<Scalars['String']['input']>;
  /** 1 to 10 schedules; each occurrence of any of them starts a mission. The list may be empty only if there are event triggers. */
  triggers?: InputMaybe<Array<UpdateScheduledTaskRequestTriggers>>;
};

/** Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval. */
export type UpdateScheduledTaskRequestEffectPolicy = {
  /** Tools whose calls need no approval: `server` or `server.tool`, at most 100. */
  allowedTools?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Kinds of outside effects that wait for approval. */
  waits: Array<OutsideEffectKind>;
};

/** A rule: which events start missions, and with which text. */
export type UpdateScheduledTaskRequestEventTriggers = {
  /** The login to which an issue is assigned. */
  assignee?: InputMaybe<Scalars['String']['input']>;
  /** The branch of the failed check. Absent means any. */
  branch?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that must be true for the payload of the event. */
  filter?: InputMaybe<Scalars['String']['input']>;
  /** The people whose events start missions. */
  from?: InputMaybe<EventAuthors>;
  /** The hook whose events may match; required for `webhook`. Absent means every hook with events of this kind. */
  hookId?: InputMaybe<Scalars['String']['input']>;
  /** A JMESPath expression that yields a value of the payload. Of several events with the same value within 30 days, only the first starts a mission. */
  key?: InputMaybe<Scalars['String']['input']>;
  /** Kind of event. */
  kind: EventKind;
  /** The label that is added to an issue or pull request. Absent means that the rule matches opened issues and pull requests. */
  label?: InputMaybe<Scalars['String']['input']>;
  /** The name after the `@` in a comment; required for `comment`. */
  mention?: InputMaybe<Scalars['String']['input']>;
  /** The sandbox template of each mission that an event of an outsider starts. An outsider is a person who has no write access to the repository and is not a member with a linked account. The template applies even if a member has approved the event. The agents of such a mission get only the network, variables and secrets of this template. Absent means the templates of the agents and the project. */
  outsiderTemplateId?: InputMaybe<Scalars['String']['input']>;
  /** Text for the agent, in which `{{ JMESPath }}` stands for a value of the payload. Absent means the text of the issue or event. */
  template?: InputMaybe<Scalars['String']['input']>;
};

/** A schedule that starts missions. */
export type UpdateScheduledTaskRequestTriggers = {
  /** Always `schedule`. */
  kind: TriggerKind;
  /** The times at which missions start. */
  schedule: UpdateScheduledTaskRequestTriggersSchedule;
};

/** The times at which missions start. */
export type UpdateScheduledTaskRequestTriggersSchedule = {
  /** Day of the month, 1 to 31; required when `interval` is monthly. */
  dayOfMonth?: InputMaybe<Scalars['Int']['input']>;
  /** Interval between occurrences. */
  interval: ScheduleInterval;
  /** Time of day HH:MM, 00:00 to 23:59. */
  time: Scalars['String']['input'];
  /** An IANA time zone such as Europe/Berlin. */
  timezone: Scalars['String']['input'];
  /** Required when `interval` is weekly. */
  weekday?: InputMaybe<Weekday>;
};

/** Omitted fields keep their value. */
export type UpdateSecretRequest = {
  /** Hosts to which request headers may carry the secret: at most 20. The network policy must allow these hosts too. Not allowed for a variable. */
  hosts?: InputMaybe<Array<Scalars['String']['input']>>;
  /** Whether only the setup gets the secret; such a secret has no hosts. */
  setupOnly?: InputMaybe<Scalars['Boolean']['input']>;
  /** 1 to 16,384 characters; a secret has at least 8. The value cannot be read again. */
  value?: InputMaybe<Scalars['String']['input']>;
};

/** Progress of the caller in a guide. */
export type UpdateSetupGuideRequest = {
  /** Whether the guide is completed; false opens it again. */
  completed?: InputMaybe<Scalars['Boolean']['input']>;
  /** The step that is shown, 0 to 20. */
  step: Scalars['Int']['input'];
};

/** Marks a milestone. */
export type UpdateSetupMilestoneRequest = {
  /** The mark to set on a milestone. */
  mark: SetupMark;
};

/** Omitted fields keep their value. */
export type UpdateSignInDomainRequest = {
  /** The provider of the domain; null for none. */
  providerId?: InputMaybe<Scalars['String']['input']>;
  /** Whether members with an address of the domain must use the provider. */
  required?: InputMaybe<Scalars['Boolean']['input']>;
};

/** Omitted fields keep their value. */
export type UpdateSubscriptionRequest = {
  /** Whether the subscription ends when its period ends; false lets it renew. */
  cancelAtPeriodEnd?: InputMaybe<Scalars['Boolean']['input']>;
  /** The organization of the caller. For any other organization, the response is a 404. */
  orgId?: InputMaybe<Scalars['String']['input']>;
  /** The plan from the next period on. */
  plan?: InputMaybe<Scalars['TeamPlanId']['input']>;
};

/** Omitted fields keep their value. */
export type UpdateWebhookEndpointRequest = {
  /** Whether events are sent. */
  enabled?: InputMaybe<Scalars['Boolean']['input']>;
  /** The name, 1 to 120 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
  /** Whether events are sent one after the other, in the order of their numbers: an event that fails delays all later ones, for three days at most. Otherwise, several events are sent at once. */
  ordered?: InputMaybe<Scalars['Boolean']['input']>;
  /** At most 50 projects. Empty for all events of the organization. */
  projectIds?: InputMaybe<Array<Scalars['String']['input']>>;
  /** At most 50 types, such as `run.completed`, or a kind of record and `.*` for all of its types. Empty for all. */
  types?: InputMaybe<Array<Scalars['String']['input']>>;
  /** An https URL of a public host. */
  url?: InputMaybe<Scalars['String']['input']>;
};

/** Vendor of a connector. */
export type Vendor =
  /** Anthropic, whose models are the Claude models. */
  | 'anthropic'
  /** The tracker of this service. */
  | 'builtin'
  /** GitHub, a tracker and a source host. */
  | 'github'
  /** GitLab, a tracker and a source host. */
  | 'gitlab'
  /** Linear, a tracker. */
  | 'linear'
  /** OpenAI, whose models are the GPT models. */
  | 'openai'
  /** Slack, where people start and steer missions. */
  | 'slack';

/** Kind of a connector. */
export type VendorKind =
  /** Lets people start and steer missions. */
  | 'chat'
  /** Runs language models. */
  | 'llm'
  /** Hosts the repositories. */
  | 'scm'
  /** Holds the issues of projects. */
  | 'tracker';

/** State of a delivery. */
export type WebhookDeliveryStatus =
  /** The receiver answered with 2xx. */
  | 'delivered'
  /** All 10 attempts have failed, or the receiver answered with 410. */
  | 'failed'
  /** The event was not sent yet, or is sent again at `dueAt`. */
  | 'pending';

/** Why an endpoint gets no events. */
export type WebhookDisabledReason =
  /** Every attempt in five days failed. */
  | 'failing'
  /** Its receiver answered with 410. */
  | 'gone'
  /** A person has disabled it. */
  | 'person';

/** A day of the week. */
export type Weekday =
  /** Day 5 of the week (ISO 8601). */
  | 'friday'
  /** Day 1 of the week (ISO 8601). */
  | 'monday'
  /** Day 6 of the week (ISO 8601). */
  | 'saturday'
  /** Day 7 of the week (ISO 8601). */
  | 'sunday'
  /** Day 4 of the week (ISO 8601). */
  | 'thursday'
  /** Day 2 of the week (ISO 8601). */
  | 'tuesday'
  /** Day 3 of the week (ISO 8601). */
  | 'wednesday';

/** The state of a withdrawal. */
export type WithdrawalStatus =
  /** Credits and order are changed; the refund is in progress. */
  | 'completed';

export type AgentsQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
  role?: InputMaybe<AgentRole>;
}>;


export type AgentsQuery = { agents: { nextCursor: string | null, data: Array<AgentRowFragment> } };

export type AgentRowFragment = { id: string, name: string, role: AgentRole, harness: string, model: string, isBuiltin: boolean };

export type AgentQueryVariables = Exact<{
  agentId: Scalars['String']['input'];
}>;


export type AgentQuery = { agent: (
    { effort: AgentEffort | null, userPrompt: string | null, skillRepos: Array<string>, sandboxTemplateId: string, updatedAt: number, version: number, trialVersion: number | null, trialPercent: number | null, sandboxTemplate: { id: string, name: string } | null }
    & AgentRowFragment
  ) };

export type AgentVersionFragment = { id: string, number: number, name: string, role: AgentRole, harness: string, model: string, effort: AgentEffort | null, sandboxTemplateId: string, userPrompt: string | null, skillRepos: Array<string>, note: string | null, author: string | null, createdAt: number };

export type AgentVersionsQueryVariables = Exact<{
  agentId: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type AgentVersionsQuery = { agentVersions: { nextCursor: string | null, data: Array<AgentVersionFragment> } };

export type AgentCatalogQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentCatalogQuery = { agentCatalog: { roles: Array<{ key: AgentRole, name: string, blurb: string }>, harnesses: Array<{ id: string, label: string, models: Array<{ id: string, label: string }> }> } };

export type CreateAgentMutationVariables = Exact<{
  input: CreateAgentRequest;
}>;


export type CreateAgentMutation = { createAgent: { id: string } };

export type UpdateAgentMutationVariables = Exact<{
  agentId: Scalars['String']['input'];
  input: UpdateAgentRequest;
  note?: InputMaybe<Scalars['String']['input']>;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type UpdateAgentMutation = { updateAgent: { id: string } };

export type RestoreAgentVersionMutationVariables = Exact<{
  agentId: Scalars['String']['input'];
  number: Scalars['Int']['input'];
}>;


export type RestoreAgentVersionMutation = { restoreAgentVersion: { id: string } };

export type StartAgentTrialMutationVariables = Exact<{
  agentId: Scalars['String']['input'];
  input: StartAgentTrialRequest;
}>;


export type StartAgentTrialMutation = { startAgentTrial: { id: string } };

export type EndAgentTrialMutationVariables = Exact<{
  agentId: Scalars['String']['input'];
  promote: Scalars['Boolean']['input'];
}>;


export type EndAgentTrialMutation = { endAgentTrial: { id: string } };

export type DeleteAgentMutationVariables = Exact<{
  agentId: Scalars['String']['input'];
}>;


export type DeleteAgentMutation = { deleteAgent: { id: string } };

export type RuntimesQueryVariables = Exact<{ [key: string]: never; }>;


export type RuntimesQuery = { runtimes: { data: Array<{ name: string, tokenId: string | null, isConnected: boolean, isDraining: boolean, isolation: string | null, places: number | null, usedPlaces: number, freePlaces: number | null, waitingRuns: number, oldestWaitingAt: number | null, labels: Array<string>, notice: string | null, lastSeenAt: number, harnesses: Array<{ harness: string, version: string | null }> }>, waiting: Array<{ reason: string | null, labels: Array<string>, runs: number, oldestWaitingAt: number, oldestRunId: string }> } };

export type RuntimeTokensQueryVariables = Exact<{ [key: string]: never; }>;


export type RuntimeTokensQuery = { runtimeTokens: { data: Array<{ id: string, name: string, createdAt: number, lastUsedAt: number | null, revokedAt: number | null }> } };

export type CreateRuntimeTokenMutationVariables = Exact<{
  name: Scalars['String']['input'];
}>;


export type CreateRuntimeTokenMutation = { createRuntimeToken: { name: string, token: string } };

export type DrainRuntimeMutationVariables = Exact<{
  tokenId: Scalars['String']['input'];
  name: Scalars['String']['input'];
  isDraining: Scalars['Boolean']['input'];
}>;


export type DrainRuntimeMutation = { drainRuntime: { id: string } };

export type RevokeRuntimeTokenMutationVariables = Exact<{
  runtimeTokenId: Scalars['String']['input'];
}>;


export type RevokeRuntimeTokenMutation = { revokeRuntimeToken: { id: string } };

export type ArtifactsQueryVariables = Exact<{
  projectId?: InputMaybe<Scalars['String']['input']>;
  kind?: InputMaybe<ArtifactKind>;
  order?: InputMaybe<ListOrder>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
  sandboxId?: InputMaybe<Scalars['String']['input']>;
}>;


export type ArtifactsQuery = { artifacts: { nextCursor: string | null, data: Array<(
      { project: { name: string } | null }
      & ArtifactCardFragment
    )> } };

export type AttemptGroupPartsFragment = { id: string, projectId: string, title: string, prompt: string, state: AttemptGroupState, chosenRunId: string | null, decidedBy: string | null, decidedAt: number | null, budgetUsd: number | null, costUsd: number, createdAt: number, attempts: Array<{ number: number, state: AttemptState, choiceBlocker: string | null, agentName: string | null, harness: string | null, model: string | null, review: AttemptReview | null, isTestPassed: boolean | null, criteria: number, criteriaPassed: number, changedPaths: Array<string> | null, run: (
      { prompt: string | null }
      & RunRowFragment
    ) }> };

export type AttemptsQueryVariables = Exact<{
  attemptGroupId: Scalars['String']['input'];
}>;


export type AttemptsQuery = { attemptGroup: AttemptGroupPartsFragment };

export type AttemptsLiveSubscriptionVariables = Exact<{
  attemptGroupId: Scalars['String']['input'];
}>;


export type AttemptsLiveSubscription = { attemptGroupUpdated: AttemptGroupPartsFragment };

export type ChooseAttemptMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type ChooseAttemptMutation = { chooseAttempt: AttemptGroupPartsFragment };

export type CloseAttemptsMutationVariables = Exact<{
  attemptGroupId: Scalars['String']['input'];
}>;


export type CloseAttemptsMutation = { closeAttempts: AttemptGroupPartsFragment };

export type AttemptModelsQueryVariables = Exact<{ [key: string]: never; }>;


export type AttemptModelsQuery = { agentCatalog: { harnesses: Array<{ id: string, models: Array<{ id: string, label: string }> }> } };

export type AuditEventsQueryVariables = Exact<{
  actorId?: InputMaybe<Scalars['String']['input']>;
  targetType?: InputMaybe<Scalars['String']['input']>;
  targetId?: InputMaybe<Scalars['String']['input']>;
  projectId?: InputMaybe<Scalars['String']['input']>;
  occurredFrom?: InputMaybe<Scalars['EpochMs']['input']>;
  occurredBefore?: InputMaybe<Scalars['EpochMs']['input']>;
  order?: InputMaybe<ListOrder>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type AuditEventsQuery = { auditEvents: { nextCursor: string | null, data: Array<{ number: number, occurredAt: number, action: string, credentialId: string | null, surface: string | null, operation: string | null, requestId: string | null, traceId: string | null, sourceAddress: string | null, personalValues: AuditPersonalValues, actor: { type: AuditActorType, id: string | null, name: string | null }, onBehalfOf: { id: string | null, name: string | null } | null, targets: Array<{ type: string, id: string, name: string | null }>, changes: Array<{ path: string, before: unknown | null, after: unknown | null }> }> } };

export type AuditRetentionQueryVariables = Exact<{ [key: string]: never; }>;


export type AuditRetentionQuery = { auditRetention: { days: number } };

export type SetAuditRetentionMutationVariables = Exact<{
  days: Scalars['Int']['input'];
}>;


export type SetAuditRetentionMutation = { setAuditRetention: { days: number } };

export type AuditStreamFieldsFragment = { address: string, state: AuditStreamState, lastNumber: number, pending: number, deliveredAt: number | null, failingSince: number | null, lastError: string | null, nextAttemptAt: number | null };

export type AuditStreamQueryVariables = Exact<{ [key: string]: never; }>;


export type AuditStreamQuery = { auditStream: { stream: AuditStreamFieldsFragment | null } };

export type SetAuditStreamMutationVariables = Exact<{
  input: SetAuditStreamRequest;
}>;


export type SetAuditStreamMutation = { setAuditStream: { token: string | null, stream: AuditStreamFieldsFragment } };

export type DeleteAuditStreamMutationVariables = Exact<{ [key: string]: never; }>;


export type DeleteAuditStreamMutation = { deleteAuditStream: { ok: true } };

export type RetryAuditStreamMutationVariables = Exact<{ [key: string]: never; }>;


export type RetryAuditStreamMutation = { retryAuditStream: { stream: AuditStreamFieldsFragment | null } };

export type BillingLedgerEntryFragment = { id: string, kind: LedgerEntryKind, credits: number, balanceAfter: number, runId: string | null, orderId: string | null, note: string | null, createdAt: number };

export type ForSaleFragment = { offers: Array<{ credits: number, priceUsd: number, maxQuantity: number }>, team: { plans: Array<BillingTeamPlanFragment> } };

export type BillingTeamPlanFragment = { plan: string, name: string, monthlyUsd: number, creditsPerMonth: number, projects: number | null, agentsAtOnce: number | null };

export type BillingQueryVariables = Exact<{ [key: string]: never; }>;


export type BillingQuery = { billingSummary: { plan: BillingPlan, balance: number, low: boolean, canStartMission: boolean, canManage: boolean, missionCeiling: number, sandboxLimit: number | null, trackerTriggers: TrackerTriggerPolicy, sources: Array<{ kind: CreditSourceKind, credits: number, startsAt: number | null, expiresAt: number | null }>, projects: { used: number, limit: number | null }, usage: { periodStart: number, missions: number, creditsSpent: number }, openCreditRequest: { messages: Array<{ message: string, at: number, name: string | null }> } | null, purchase: { testMoney: boolean }, subscription: { plan: string, nextPlan: string | null, status: SubscriptionStatus, currentPeriodEnd: number } | null, advice: { reason: string } | null, trial: { granted: number, remaining: number, endsAt: number | null } }, billingOffers: (
    { enterprise: { blurb: string } }
    & ForSaleFragment
  ), billingOrders: { orders: Array<{ id: string, number: number, offer: CheckoutOffer, teamPlan: string | null, credits: number, amountUsd: number, status: BillingOrderStatus, createdAt: number, withdrawableUntil: number | null, refundUsd: number | null, withdrawal: { credits: number, refundUsd: number } | null }> }, billingLedger: { entries: Array<BillingLedgerEntryFragment> } };

export type BillingOffersQueryVariables = Exact<{ [key: string]: never; }>;


export type BillingOffersQuery = { billingOffers: (
    { withdrawalDays: number }
    & ForSaleFragment
  ), billingSummary: { purchase: { testMoney: boolean } } };

export type BillingLedgerQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type BillingLedgerQuery = { billingLedger: { nextCursor: string | null, entries: Array<BillingLedgerEntryFragment> } };

export type BillingSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type BillingSettingsQuery = { billingSummary: { trackerTriggers: TrackerTriggerPolicy } };

export type CreateCheckoutMutationVariables = Exact<{
  input: CreateCheckoutSessionRequest;
}>;


export type CreateCheckoutMutation = { createCheckoutSession: { url: string } };

export type AskForCreditsMutationVariables = Exact<{
  message: Scalars['String']['input'];
}>;


export type AskForCreditsMutation = { createCreditRequest: { id: string } };

export type UpdateSubscriptionMutationVariables = Exact<{
  input: UpdateSubscriptionRequest;
}>;


export type UpdateSubscriptionMutation = { updateSubscription: { subscription: { status: SubscriptionStatus } } };

export type UpdateBillingSettingsMutationVariables = Exact<{
  trackerTriggers: TrackerTriggerPolicy;
}>;


export type UpdateBillingSettingsMutation = { updateBillingSettings: { trackerTriggers: TrackerTriggerPolicy } };

export type WithdrawOrderMutationVariables = Exact<{
  orderId: Scalars['String']['input'];
  reason?: InputMaybe<Scalars['String']['input']>;
}>;


export type WithdrawOrderMutation = { withdrawOrder: { orderId: string } };

export type BudgetsQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type BudgetsQuery = { budgets: { nextCursor: string | null, data: Array<{ id: string, subject: BudgetSubject, subjectName: string | null, period: BudgetPeriod, amountUsd: number, spentUsd: number, periodEnd: number }> } };

export type BudgetSubjectsQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type BudgetSubjectsQuery = { projects: { data: Array<{ id: string, name: string }> }, memberships: { memberships: Array<{ userId: string, person: { name: string } | null }> } };

export type CreateBudgetMutationVariables = Exact<{
  input: CreateBudgetRequest;
}>;


export type CreateBudgetMutation = { createBudget: { id: string } };

export type UpdateBudgetMutationVariables = Exact<{
  budgetId: Scalars['String']['input'];
  amountUsd: Scalars['Float']['input'];
}>;


export type UpdateBudgetMutation = { updateBudget: { id: string } };

export type DeleteBudgetMutationVariables = Exact<{
  budgetId: Scalars['String']['input'];
}>;


export type DeleteBudgetMutation = { deleteBudget: { id: string } };

export type ChangeReviewFragment = { id: string, verdict: ReviewVerdict, body: string, author: string, headSha: string, answeringRunId: string | null, createdAt: number, comments: Array<{ id: string, path: string, side: DiffSide, startLine: number, line: number, quote: string, body: string, resolvedAt: number | null, resolvedBy: string | null }> };

export type HostThreadFragment = { key: string, url: string, path: string, side: DiffSide, startLine: number | null, line: number | null, isResolved: boolean, resolvedBy: string | null, commentId: string | null, comments: Array<{ author: string, body: string, createdAt: number }> };

export type RunChangeQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunChangeQuery = { run: { id: string, projectId: string, missionTitle: string | null, status: RunStatus, branch: string | null, headSha: string | null, prNumber: number | null, prUrl: string | null, project: { name: string } | null, outcome: { result: RunResult, files: number | null, prState: PullRequestState | null } | null, changeDiff: { id: string, url: string, sizeBytes: number } | null, changeVersions: Array<{ headSha: string, role: string, commits: number | null, changedFiles: number | null, insertions: number | null, deletions: number | null, createdAt: number, artifact: { id: string, url: string } | null, commitsArtifact: { id: string, url: string } | null }>, reviews: Array<ChangeReviewFragment>, hostThreads: Array<HostThreadFragment> } };

export type ChangedFileQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  path: Scalars['String']['input'];
  side: DiffSide;
}>;


export type ChangedFileQuery = { changedFile: { base64: string | null } };

export type SubmitReviewMutationVariables = Exact<{
  input: SubmitReviewRequest;
}>;


export type SubmitReviewMutation = { submitReview: ChangeReviewFragment };

export type ResolveReviewCommentMutationVariables = Exact<{
  commentId: Scalars['String']['input'];
  isResolved: Scalars['Boolean']['input'];
}>;


export type ResolveReviewCommentMutation = { resolveReviewComment: { id: string } };

export type ResolveHostThreadMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  key: Scalars['String']['input'];
  isResolved: Scalars['Boolean']['input'];
}>;


export type ResolveHostThreadMutation = { resolveHostThread: HostThreadFragment };

export type AnswerHostThreadMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  key: Scalars['String']['input'];
  body: Scalars['String']['input'];
}>;


export type AnswerHostThreadMutation = { answerHostThread: HostThreadFragment };

export type MergePullRequestMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  headSha: Scalars['String']['input'];
}>;


export type MergePullRequestMutation = { mergePullRequest: { id: string } };

export type OutsideEffectFragment = { id: string, kind: OutsideEffectKind, state: OutsideEffectState, title: string, text: string, digest: string, error: string | null, resultUrl: string | null, decidedBy: string | null, decidedAt: number | null };

export type RunEffectsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunEffectsQuery = { outsideEffects: { data: Array<OutsideEffectFragment> } };

export type ApproveOutsideEffectsMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  effectIds: Array<Scalars['String']['input']> | Scalars['String']['input'];
  digests: Array<Scalars['String']['input']> | Scalars['String']['input'];
}>;


export type ApproveOutsideEffectsMutation = { approveOutsideEffects: { id: string } };

export type RejectOutsideEffectsMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  effectIds: Array<Scalars['String']['input']> | Scalars['String']['input'];
  digests: Array<Scalars['String']['input']> | Scalars['String']['input'];
}>;


export type RejectOutsideEffectsMutation = { rejectOutsideEffects: { id: string } };

export type SetProjectEffectPolicyMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  policy?: InputMaybe<EffectPolicyInput>;
}>;


export type SetProjectEffectPolicyMutation = { setProjectEffectPolicy: { id: string } };

export type HookPartsFragment = { id: string, name: string, vendor: InboundHookVendor, signature: InboundHookSignature, signatureHeader: string | null, address: string, enabled: boolean, lastDeliveryAt: number | null, createdAt: number };

export type InboundHooksQueryVariables = Exact<{
  cursor?: InputMaybe<Scalars['String']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
}>;


export type InboundHooksQuery = { inboundHooks: { nextCursor: string | null, data: Array<HookPartsFragment> } };

export type InboundHookQueryVariables = Exact<{
  hookId: Scalars['String']['input'];
}>;


export type InboundHookQuery = { hook: HookPartsFragment };

export type CreateInboundHookMutationVariables = Exact<{
  input: CreateInboundHookRequest;
}>;


export type CreateInboundHookMutation = { created: { secret: string, hook: HookPartsFragment } };

export type UpdateInboundHookMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
  input: UpdateInboundHookRequest;
}>;


export type UpdateInboundHookMutation = { updateInboundHook: { id: string } };

export type ReplaceInboundHookSecretMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
  input: ReplaceInboundHookSecretRequest;
}>;


export type ReplaceInboundHookSecretMutation = { replaced: { secret: string, hook: HookPartsFragment } };

export type DeleteInboundHookMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
}>;


export type DeleteInboundHookMutation = { deleteInboundHook: { id: string } };

export type DeliveryRowFragment = { id: string, hookId: string, externalId: string, event: string, title: string | null, status: InboundDeliveryStatus, reason: string | null, answerProblems: Array<string>, redeliveryOf: string | null, receivedAt: number, outcomes: Array<{ recurringId: string, name: string, result: InboundOutcomeResult, reason: string | null, runId: string | null }> };

export type InboundDeliveriesQueryVariables = Exact<{
  hookId: Scalars['String']['input'];
  status?: InputMaybe<InboundDeliveryStatus>;
  cursor?: InputMaybe<Scalars['String']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
}>;


export type InboundDeliveriesQuery = { inboundDeliveries: { nextCursor: string | null, data: Array<DeliveryRowFragment> } };

export type InboundDeliveryQueryVariables = Exact<{
  hookId: Scalars['String']['input'];
  deliveryId: Scalars['String']['input'];
}>;


export type InboundDeliveryQuery = { inboundDelivery: { payload: string | null, headers: Array<{ name: string, value: string }> | null } };

export type RedeliverInboundDeliveryMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
  deliveryId: Scalars['String']['input'];
}>;


export type RedeliverInboundDeliveryMutation = { redeliverInboundDelivery: { id: string } };

export type ApproveInboundDeliveryMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
  deliveryId: Scalars['String']['input'];
}>;


export type ApproveInboundDeliveryMutation = { approveInboundDelivery: { id: string } };

export type PreviewEventTriggerQueryVariables = Exact<{
  input: PreviewEventTriggerRequest;
}>;


export type PreviewEventTriggerQuery = { previewEventTrigger: { data: Array<{ reason: string | null, key: string | null, text: string | null, delivery: { id: string, event: string, title: string | null, receivedAt: number } }> } };

export type InboxRowFragment = { id: string, kind: InboxItemKind, isUrgent: boolean, since: number, title: string | null, detail: string | null, runId: string | null, hookId: string | null, deliveryId: string | null, hiddenUntil: number | null, question: { sandboxId: string, seq: number, choices: Array<string> | null, tool: string | null, arguments: string | null } | null, project: { name: string } | null, run: { startedBy: string | null, prompt: string | null, scheduledTaskId: string | null, automationId: string | null, missionCostUsd: number, budgetUsd: number | null, parkedBy: ParkingLimit | null, maxMinutes: number | null, maxModelCalls: number | null, maxTokens: number | null, outcome: RunOutcomeFragment | null } | null, delivery: { event: string, hook: { name: string } | null } | null };

export type InboxQueryVariables = Exact<{
  mine?: InputMaybe<Scalars['Boolean']['input']>;
  hidden?: InputMaybe<Scalars['Boolean']['input']>;
  limit: Scalars['Int']['input'];
}>;


export type InboxQuery = { inbox: { nextCursor: string | null, data: Array<InboxRowFragment> } };

export type InboxCountQueryVariables = Exact<{ [key: string]: never; }>;


export type InboxCountQuery = { inboxCount: { count: number } };

export type InboxLiveSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type InboxLiveSubscription = { inboxUpdated: { count: number } };

export type FailedSandboxQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type FailedSandboxQuery = { run: { sandboxes: Array<{ sandboxId: string }> } };

export type MarkInboxItemDoneMutationVariables = Exact<{
  itemId: Scalars['String']['input'];
  until?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type MarkInboxItemDoneMutation = { markInboxItemDone: { id: string } };

export type RestoreInboxItemMutationVariables = Exact<{
  itemId: Scalars['String']['input'];
}>;


export type RestoreInboxItemMutation = { restoreInboxItem: { id: string } };

export type DismissInboundDeliveryMutationVariables = Exact<{
  hookId: Scalars['String']['input'];
  deliveryId: Scalars['String']['input'];
}>;


export type DismissInboundDeliveryMutation = { dismissInboundDelivery: { id: string } };

export type ChatsQueryVariables = Exact<{ [key: string]: never; }>;


export type ChatsQuery = { chatConnections: { data: Array<{ integrationId: string, hookId: string, eventsAddress: string, manifest: string, problem: string | null, integration: { displayName: string, vendor: Vendor } | null, channels: Array<{ channelId: string, name: string, projectId: string, project: { name: string } | null }> }> } };

export type ChatProjectsQueryVariables = Exact<{ [key: string]: never; }>;


export type ChatProjectsQuery = { projects: { data: Array<{ id: string, name: string }> } };

export type ConnectChatMutationVariables = Exact<{
  input: ConnectChatRequest;
}>;


export type ConnectChatMutation = { connectChat: { integrationId: string } };

export type RotateChatMutationVariables = Exact<{
  chatId: Scalars['String']['input'];
  input: RotateChatRequest;
}>;


export type RotateChatMutation = { rotateChat: { integrationId: string } };

export type BindChatChannelMutationVariables = Exact<{
  chatId: Scalars['String']['input'];
  channelId: Scalars['String']['input'];
  projectId: Scalars['String']['input'];
}>;


export type BindChatChannelMutation = { bindChatChannel: { channelId: string } };

export type UnbindChatChannelMutationVariables = Exact<{
  chatId: Scalars['String']['input'];
  channelId: Scalars['String']['input'];
}>;


export type UnbindChatChannelMutation = { unbindChatChannel: { id: string } };

export type IntegrationsQueryVariables = Exact<{ [key: string]: never; }>;


export type IntegrationsQuery = { integrations: { integrations: Array<{ id: string, displayName: string, vendor: Vendor, vendorKind: VendorKind, externalOrgId: string | null, baseUrl: string | null, dependentProjectCount: number, hasCredentials: boolean, brokenSince: number | null, checkFailure: string | null, checkedAt: number | null, pausedUntil: number | null, updatedAt: number, models: Array<{ id: string, name: string, prices: { input: number, output: number, cacheRead: number | null, cacheWrite: number | null } }> }> } };

export type ConnectIntegrationMutationVariables = Exact<{
  vendor: Vendor;
  vendorKind: VendorKind;
  displayName: Scalars['String']['input'];
  credentials?: InputMaybe<Scalars['String']['input']>;
  baseUrl?: InputMaybe<Scalars['String']['input']>;
  githubApp?: InputMaybe<GitHubAppRequest>;
  linearApp?: InputMaybe<LinearAppRequest>;
  models?: InputMaybe<Array<ConnectorModelRequest> | ConnectorModelRequest>;
}>;


export type ConnectIntegrationMutation = { connectIntegration: { id: string, checkFailure: string | null } };

export type CheckIntegrationMutationVariables = Exact<{
  integrationId: Scalars['String']['input'];
}>;


export type CheckIntegrationMutation = { checkIntegration: { id: string, checkFailure: string | null } };

export type RotateIntegrationMutationVariables = Exact<{
  integrationId: Scalars['String']['input'];
  credentials?: InputMaybe<Scalars['String']['input']>;
  githubApp?: InputMaybe<GitHubAppRequest>;
  linearApp?: InputMaybe<LinearAppRequest>;
}>;


export type RotateIntegrationMutation = { rotateIntegration: { id: string, checkFailure: string | null } };

export type SetIntegrationModelsMutationVariables = Exact<{
  integrationId: Scalars['String']['input'];
  input: SetIntegrationModelsRequest;
}>;


export type SetIntegrationModelsMutation = { setIntegrationModels: { id: string } };

export type RevokeIntegrationMutationVariables = Exact<{
  integrationId: Scalars['String']['input'];
}>;


export type RevokeIntegrationMutation = { revokeIntegration: { id: string } };

export type DisconnectIntegrationMutationVariables = Exact<{
  integrationId: Scalars['String']['input'];
  detachProjects: Scalars['Boolean']['input'];
}>;


export type DisconnectIntegrationMutation = { disconnectIntegration: { id: string } };

export type IssuesQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
  projectId?: InputMaybe<Scalars['String']['input']>;
  state?: InputMaybe<IssueState>;
  agentId?: InputMaybe<Scalars['String']['input']>;
  order?: InputMaybe<ListOrder>;
}>;


export type IssuesQuery = { issues: { nextCursor: string | null, data: Array<IssueRowFragment> } };

export type IssueRowFragment = { id: string, key: string, title: string, state: IssueState, assigneeName: string | null, createdAt: number, projectId: string, project: { name: string } | null };

export type IssueQueryVariables = Exact<{
  issueId: Scalars['String']['input'];
}>;


export type IssueQuery = { issue: (
    { body: string, labels: Array<string>, agentId: string | null, assigneeUserId: string | null, updatedAt: number, runs: Array<{ id: string, status: RunStatus, missionTitle: string | null, createdAt: number }> }
    & IssueRowFragment
  ) };

export type IssueCommentsQueryVariables = Exact<{
  issueId: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type IssueCommentsQuery = { issueComments: { nextCursor: string | null, data: Array<IssueCommentFragment> } };

export type IssueCommentFragment = { id: string, authorUserId: string | null, author: string, runId: string | null, body: string, effect: string | null, createdAt: number, updatedAt: number };

export type CreateIssueMutationVariables = Exact<{
  input: CreateIssueRequest;
}>;


export type CreateIssueMutation = { createIssue: { id: string } };

export type StartMissionsMutationVariables = Exact<{
  input: StartMissionsRequest;
}>;


export type StartMissionsMutation = { startMissions: { starts: Array<{ projectId: string, issue: string, runId: string | null, reason: string | null }> } };

export type UpdateIssueMutationVariables = Exact<{
  issueId: Scalars['String']['input'];
  input: UpdateIssueRequest;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type UpdateIssueMutation = { updateIssue: { id: string } };

export type AssignIssueMutationVariables = Exact<{
  issueId: Scalars['String']['input'];
  assigneeId?: InputMaybe<Scalars['String']['input']>;
}>;


export type AssignIssueMutation = { assignIssue: { id: string } };

export type CommentOnIssueMutationVariables = Exact<{
  issueId: Scalars['String']['input'];
  body: Scalars['String']['input'];
}>;


export type CommentOnIssueMutation = { commentOnIssue: { id: string } };

export type DeleteIssueCommentMutationVariables = Exact<{
  issueCommentId: Scalars['String']['input'];
}>;


export type DeleteIssueCommentMutation = { deleteIssueComment: { id: string } };

export type UpdateIssueCommentMutationVariables = Exact<{
  issueCommentId: Scalars['String']['input'];
  body: Scalars['String']['input'];
}>;


export type UpdateIssueCommentMutation = { updateIssueComment: { id: string } };

export type RunRowFragment = { id: string, status: RunStatus, kind: RunKind, missionTitle: string | null, missionProgress: number | null, missionActivity: string | null, missionCostUsd: number, missionCostIncomplete: boolean, needs: RunNeed | null, startedBy: string | null, personName: string | null, interruptedAt: number | null, reason: string | null, lastError: string | null, createdAt: number, startedAt: number | null, finishedAt: number | null, projectId: string, outcome: RunOutcomeFragment | null, project: { name: string } | null };

export type SandboxRowFragment = { sandboxId: string, status: SandboxStatus, role: AgentRole, harness: string, instanceType: string, createdAt: number, destroyedAt: number | null, lastHeartbeatAt: number, lastCpuPct: number | null, lastMemUsedMb: number | null, lastMemTotalMb: number | null, projectId: string, runId: string | null };

export type ArtifactCardFragment = { id: string, kind: ArtifactKind, contentType: string, sizeBytes: number, caption: string | null, criterion: string | null, criterionPassed: boolean | null, role: AgentRole, createdAt: string, expiresAt: string, url: string, traceViewerUrl: string | null, sandboxId: string | null, projectId: string };

export type SchedulePartsFragment = { interval: ScheduleInterval, time: string, timezone: string, weekday: Weekday | null, dayOfMonth: number | null };

export type ScheduleWordsFragment = { schedule: SchedulePartsFragment };

export type RunOutcomeFragment = { result: RunResult, commits: number | null, files: number | null, insertions: number | null, deletions: number | null, branch: string | null, prNumber: number | null, prUrl: string | null, prState: PullRequestState | null };

export type McpBindingsQueryVariables = Exact<{ [key: string]: never; }>;


export type McpBindingsQuery = { mcpBindings: { bindings: Array<{ projectId: string, projectName: string, serverName: string, status: McpBindingStatus, statusDetail: string | null, transport: McpTransport, roles: Array<AgentRole>, updatedAt: number }> } };

export type McpBoundFragment = { status: McpBindingStatus, statusDetail: string | null, transport: McpTransport, roles: Array<AgentRole>, authKind: McpAuthKind, pinnedUrl: string | null, packageSpec: string | null, allowedEgressHosts: Array<string>, credentialFields: Array<string>, toolsRefreshedAt: number | null, updatedAt: number, effectiveToolCounts: { planner: number, builder: number, reviewer: number, qa: number } };

export type ProjectMcpQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
}>;


export type ProjectMcpQuery = { project: { id: string, name: string }, projectMcp: { configPath: string, configPathSource: string, configRef: string | null, configStatus: McpConfigStatus, configError: string | null, warnings: Array<string>, servers: Array<{ name: string, declared: { transport: McpDeclaredTransport, origin: string | null, path: string | null, command: string | null, displayArgs: Array<string>, headerNames: Array<string>, secretRefs: Array<string>, isolation: { kind: McpIsolationKind, reason: string | null } } | null, binding: McpBoundFragment | null }>, callsOfDay: { calls: Array<{ id: string, runId: string, serverName: string, tool: string, outcome: McpCallOutcome, durationMs: number, createdAt: number }>, counts: Array<{ serverName: string, outcome: McpCallOutcome, count: number }> } } };

export type McpToolReviewQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
}>;


export type McpToolReviewQuery = { mcpToolReview: { binding: { roles: Array<AgentRole>, updatedAt: number, approvedTools: Array<{ name: string, attestedReadOnly: boolean, alwaysAsk: boolean }> }, tools: Array<{ name: string, change: McpToolChange, digest: string | null, claims: Array<McpToolClaim>, tool: { description: string | null } | null }> } };

export type McpToolDefinitionsQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
  names: Array<Scalars['String']['input']> | Scalars['String']['input'];
}>;


export type McpToolDefinitionsQuery = { mcpToolReview: { tools: Array<{ name: string, definition: string | null, reviewedDefinition: string | null }> } };

export type UpdateProjectMcpMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  configPath?: InputMaybe<Scalars['String']['input']>;
}>;


export type UpdateProjectMcpMutation = { updateProjectMcp: { configPath: string } };

export type PutMcpBindingMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
  input: PutMcpBindingRequest;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type PutMcpBindingMutation = { putMcpBinding: { updatedAt: number } };

export type RefreshMcpToolsMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
}>;


export type RefreshMcpToolsMutation = { refreshMcpTools: { updatedAt: number } };

export type StartMcpOAuthMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
  returnTo: Scalars['String']['input'];
}>;


export type StartMcpOAuthMutation = { startMcpOAuth: { authorizeUrl: string } };

export type DeleteMcpBindingMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  serverName: Scalars['String']['input'];
}>;


export type DeleteMcpBindingMutation = { deleteMcpBinding: { deleted: true } };

export type RunAttestationsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunAttestationsQuery = { run: { attestations: Array<{ sha: string, signedAt: number, keyId: string, envelope: { payloadType: string, payload: string, signatures: Array<{ keyid: string, sig: string }> } }> } };

export type RecordedModelCallsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  after: Scalars['Int']['input'];
}>;


export type RecordedModelCallsQuery = { recordedModelCalls: { hasMore: boolean, data: Array<{ stepId: string, role: AgentRole, number: number, at: number, model: string | null, status: number }> } };

export type RunForksQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunForksQuery = { run: { forks: Array<{ runId: string, calls: number, model: string, agentVersion: number | null, run: { missionTitle: string | null, status: RunStatus } | null }> } };

export type ForkMissionMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  stepId: Scalars['String']['input'];
  call: Scalars['Int']['input'];
  prompt?: InputMaybe<Scalars['String']['input']>;
  model?: InputMaybe<Scalars['String']['input']>;
  agentVersion?: InputMaybe<Scalars['Int']['input']>;
}>;


export type ForkMissionMutation = { forkMission: { id: string } };

export type LastSessionQueryVariables = Exact<{
  sandboxId: Scalars['String']['input'];
}>;


export type LastSessionQuery = { sandbox: { sessions: Array<{ role: AgentRole, sessionId: string }> } };

export type AgentNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentNamesQuery = { agents: { data: Array<{ id: string, name: string, role: AgentRole, harness: string, model: string, isBuiltin: boolean, hasModel: boolean }> } };

export type InstanceTypesQueryVariables = Exact<{ [key: string]: never; }>;


export type InstanceTypesQuery = { agentCatalog: { instanceTypes: Array<{ id: string, label: string, vcpu: number, memory: number, disk: number, usdPerMinute: number }> } };

export type MissionBoundsQueryVariables = Exact<{ [key: string]: never; }>;


export type MissionBoundsQuery = { agentCatalog: { missionBounds: { maxMinutes: number, maxModelCalls: number, maxTokens: number } } };

export type StartMissionMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  prompt: Scalars['String']['input'];
  agentId?: InputMaybe<Scalars['String']['input']>;
  budgetUsd?: InputMaybe<Scalars['Float']['input']>;
  planApproval?: InputMaybe<Scalars['Boolean']['input']>;
  instanceType?: InputMaybe<Scalars['InstanceType']['input']>;
  issue?: InputMaybe<Scalars['String']['input']>;
  maxMinutes?: InputMaybe<Scalars['Int']['input']>;
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
  attempts?: InputMaybe<Array<NewAttempt> | NewAttempt>;
}>;


export type StartMissionMutation = { startMission: { id: string, attemptGroup: { id: string } | null } };

export type RecordingQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RecordingQuery = { recording: { calls: number, omitted: number, sizeBytes: number, expiresAt: number, url: string } };

export type RunPreparationsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunPreparationsQuery = { runPreparations: { data: Array<{ id: string, status: PreparationStatus, seconds: number | null, bytes: number | null, lastLines: string | null, notes: Array<string>, createdAt: number, template: { id: string, name: string } | null }> } };

export type RunNetworkQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunNetworkQuery = { runConnections: { data: Array<{ host: string, port: number, phase: ConnectionPhase, verdict: ConnectionVerdict, count: number, sentBytes: number, receivedBytes: number, programs: Array<string>, recentRuns: number | null, isAllowedNow: boolean | null, template: { id: string, name: string, isBuiltin: boolean } | null }> } };

export type AllowHostMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  input: AllowHostRequest;
}>;


export type AllowHostMutation = { allowHost: { id: string, name: string } };

export type RunStepFragment = { id: string, role: AgentRole, round: number, sandboxId: string | null, status: StepStatus, agentName: string, agentVersion: number | null, harness: string, model: string, output: unknown | null, error: string | null, costUsd: number, inputTokens: number, cachedInputTokens: number, cacheWriteTokens: number, outputTokens: number, startedAt: number | null, finishedAt: number | null, checkpoint: { commitSha: string, createdAt: number } | null };

export type RunMessageFragment = { id: string, kind: RunMessageKind, text: string, approved: boolean | null, author: string, createdAt: number, deliveredAt: number | null, acknowledgedAt: number | null };

export type RunPartsFragment = (
  { detailsDeletedAt: number | null, attemptNumber: number | null, attemptState: AttemptState | null, personId: string | null, isFollowed: boolean, awaitsApproval: boolean, sandboxTemplateId: string | null, prompt: string | null, prUrl: string | null, prNumber: number | null, agentId: string | null, budgetUsd: number | null, parkedBy: ParkingLimit | null, parkedReason: string | null, sandboxMinutes: number, sandboxCostUsd: number, modelCalls: number, instanceType: string | null, maxMinutes: number | null, maxModelCalls: number | null, maxTokens: number | null, scheduledTaskId: string | null, automationId: string | null, issueId: string | null, issueUrl: string | null, scheduledFor: number, kept: { retentionDays: number, steps: number, messages: number, inputTokens: number, cachedInputTokens: number, cacheWriteTokens: number, outputTokens: number } | null, attemptGroup: { id: string } | null, questions: Array<{ sandboxId: string, seq: number, text: string, choices: Array<string> | null, tool: string | null, arguments: string | null, at: number }>, steps: Array<RunStepFragment>, messages: Array<RunMessageFragment>, continuesStep: { seq: number, runId: string } | null, fork: { sourceRunId: string, call: number, calls: number, model: string, agentVersion: number | null } | null, scheduledTask: { name: string } | null, automation: { name: string } | null, issue: { key: string } | null, sandboxes: Array<(
    { sparkline: Array<{ t: number, cpuPct: number, memUsedMb: number, memTotalMb: number }> }
    & SandboxRowFragment
  )>, artifacts: Array<ArtifactCardFragment> }
  & RunRowFragment
);

export type RunQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunQuery = { run: RunPartsFragment };

export type RunLiveSubscriptionVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunLiveSubscription = { runUpdated: RunPartsFragment };

export type CancelRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type CancelRunMutation = { cancelRun: RunPartsFragment };

export type FollowRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type FollowRunMutation = { followRun: RunPartsFragment };

export type UnfollowRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type UnfollowRunMutation = { unfollowRun: RunPartsFragment };

export type HandOverRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  userId: Scalars['String']['input'];
}>;


export type HandOverRunMutation = { handOverRun: RunPartsFragment };

export type SendMessageMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  text: Scalars['String']['input'];
  messageId?: InputMaybe<Scalars['String']['input']>;
}>;


export type SendMessageMutation = { sendMessage: { id: string } };

export type AnswerElicitationMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  sandboxId: Scalars['String']['input'];
  seq: Scalars['Int']['input'];
  text: Scalars['String']['input'];
  approve?: InputMaybe<Scalars['Boolean']['input']>;
}>;


export type AnswerElicitationMutation = { answerElicitation: { id: string } };

export type RerunMissionMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RerunMissionMutation = { rerunMission: { id: string } };

export type ContinueRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  stepId: Scalars['String']['input'];
  prompt: Scalars['String']['input'];
}>;


export type ContinueRunMutation = { continueRun: { id: string } };

export type SetRunBudgetMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  budgetUsd: Scalars['Float']['input'];
}>;


export type SetRunBudgetMutation = { setRunBudget: RunPartsFragment };

export type SetRunLimitsMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  maxMinutes?: InputMaybe<Scalars['Int']['input']>;
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
}>;


export type SetRunLimitsMutation = { setRunLimits: RunPartsFragment };

export type ApprovePlanMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type ApprovePlanMutation = { approvePlan: RunPartsFragment };

export type InterruptRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type InterruptRunMutation = { interruptRun: RunPartsFragment };

export type ResumeRunMutationVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type ResumeRunMutation = { resumeRun: RunPartsFragment };

export type RunsQueryVariables = Exact<{
  projectId?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<RunStatus>;
  needsPerson?: InputMaybe<Scalars['Boolean']['input']>;
  followed?: InputMaybe<Scalars['Boolean']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  agentId?: InputMaybe<Scalars['String']['input']>;
  personId?: InputMaybe<Scalars['String']['input']>;
  kind?: InputMaybe<RunKind>;
  createdFrom?: InputMaybe<Scalars['EpochMs']['input']>;
  createdBefore?: InputMaybe<Scalars['EpochMs']['input']>;
  order?: InputMaybe<ListOrder>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type RunsQuery = { runs: { nextCursor: string | null, data: Array<RunRowFragment> } };

export type MissionViewsQueryVariables = Exact<{ [key: string]: never; }>;


export type MissionViewsQuery = { missionViews: { views: Array<{ id: string, name: string, layout: MissionViewLayout, groupBy: RunGrouping | null, filters: { search: string | null, projectId: string | null, status: RunStatus | null, agentId: string | null, personId: string | null, kind: RunKind | null, needsPerson: boolean | null, followed: boolean | null } }> } };

export type CreateMissionViewMutationVariables = Exact<{
  input: MissionViewRequest;
}>;


export type CreateMissionViewMutation = { createMissionView: { id: string } };

export type UpdateMissionViewMutationVariables = Exact<{
  viewId: Scalars['String']['input'];
  input: MissionViewRequest;
}>;


export type UpdateMissionViewMutation = { updateMissionView: { id: string } };

export type DeleteMissionViewMutationVariables = Exact<{
  viewId: Scalars['String']['input'];
}>;


export type DeleteMissionViewMutation = { deleteMissionView: { id: string } };

export type RunGroupsQueryVariables = Exact<{
  by: RunGrouping;
  projectId?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<RunStatus>;
  needsPerson?: InputMaybe<Scalars['Boolean']['input']>;
  followed?: InputMaybe<Scalars['Boolean']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  agentId?: InputMaybe<Scalars['String']['input']>;
  personId?: InputMaybe<Scalars['String']['input']>;
  kind?: InputMaybe<RunKind>;
  createdFrom?: InputMaybe<Scalars['EpochMs']['input']>;
  createdBefore?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type RunGroupsQuery = { runGroups: { data: Array<{ key: string | null, name: string | null, count: number }> } };

export type MemberNamesQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type MemberNamesQuery = { memberships: { memberships: Array<{ userId: string, role: OrgRole, person: { name: string } | null }> } };

export type AgentDelegationsQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentDelegationsQuery = { agentDelegations: { data: Array<{ id: string, agentName: string | null, clientName: string | null, registrationType: DelegationKind, provider: string | null, scopes: Array<string>, projectId: string | null, resource: string, createdAt: number, expiresAt: number, lastUsedAt: number | null, status: DelegationStatus, project: { name: string } | null }> } };

export type RevokeAgentDelegationMutationVariables = Exact<{
  delegationId: Scalars['String']['input'];
}>;


export type RevokeAgentDelegationMutation = { revokeAgentDelegation: { kind: string, revokedTokens: number } };

export type DirectoryTokensQueryVariables = Exact<{ [key: string]: never; }>;


export type DirectoryTokensQuery = { directoryTokens: { data: Array<{ id: string, name: string, createdAt: number, expiresAt: number, lastUsedAt: number | null, revokedAt: number | null, createdBy: { name: string } | null }> } };

export type DirectoryGroupsQueryVariables = Exact<{ [key: string]: never; }>;


export type DirectoryGroupsQuery = { directoryGroups: { data: Array<{ id: string, displayName: string, role: DirectoryGroupRole | null, memberCount: number }> }, me: { role: OrgRole | null } };

export type DirectoryUsersQueryVariables = Exact<{
  query?: InputMaybe<Scalars['String']['input']>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type DirectoryUsersQuery = { directoryUsers: { nextCursor: string | null, data: Array<{ id: string, userName: string, email: string, displayName: string | null, state: DirectoryUserState, updatedAt: number }> } };

export type CreateDirectoryTokenMutationVariables = Exact<{
  name: Scalars['String']['input'];
  expiresInDays: Scalars['Int']['input'];
}>;


export type CreateDirectoryTokenMutation = { createDirectoryToken: { name: string, token: string } };

export type RevokeDirectoryTokenMutationVariables = Exact<{
  directoryTokenId: Scalars['String']['input'];
}>;


export type RevokeDirectoryTokenMutation = { revokeDirectoryToken: { id: string } };

export type SetDirectoryGroupRoleMutationVariables = Exact<{
  directoryGroupId: Scalars['String']['input'];
  role?: InputMaybe<DirectoryGroupRole>;
}>;


export type SetDirectoryGroupRoleMutation = { setDirectoryGroupRole: { id: string } };

export type LinkAccountMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  userId: Scalars['String']['input'];
  integrationId: Scalars['String']['input'];
  login: Scalars['String']['input'];
}>;


export type LinkAccountMutation = { linkAccount: { userId: string } };

export type UnlinkAccountMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  userId: Scalars['String']['input'];
  vendor: Scalars['String']['input'];
  host: Scalars['String']['input'];
}>;


export type UnlinkAccountMutation = { unlinkAccount: { userId: string } };

export type NoticeMailsQueryVariables = Exact<{ [key: string]: never; }>;


export type NoticeMailsQuery = { noticeMails: Array<{ kind: NoticeMailKind, enabled: boolean }> };

export type UpdateNoticeMailMutationVariables = Exact<{
  input: UpdateNoticeMailRequest;
}>;


export type UpdateNoticeMailMutation = { updateNoticeMail: Array<{ kind: NoticeMailKind, enabled: boolean }> };

export type MissionNoticeChoicesQueryVariables = Exact<{ [key: string]: never; }>;


export type MissionNoticeChoicesQuery = { missionNoticeChoices: Array<{ kind: MissionNoticeKind, mail: boolean, browser: boolean, origin: boolean }> };

export type UpdateMissionNoticesMutationVariables = Exact<{
  input: UpdateMissionNoticesRequest;
}>;


export type UpdateMissionNoticesMutation = { updateMissionNotices: Array<{ kind: MissionNoticeKind }> };

export type MissionNewsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type MissionNewsSubscription = { missionNews: { notices: Array<{ id: string, title: string, body: string, url: string }> } };

export type MembersQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type MembersQuery = { memberships: { memberships: Array<{ userId: string, role: OrgRole, createdAt: number, accounts: Array<{ vendor: string, host: string, login: string }>, person: { name: string, email: string } | null }> }, invites: { invites: Array<{ id: string, email: string, role: OrgRole, status: InviteStatus, expiresAtSec: number, createdAt: number }> }, me: { userId: string | null, role: OrgRole | null } };

export type CreateInviteMutationVariables = Exact<{
  email: Scalars['String']['input'];
  role: OrgRole;
}>;


export type CreateInviteMutation = { createInvite: { id: string } };

export type RevokeInviteMutationVariables = Exact<{
  inviteId: Scalars['String']['input'];
}>;


export type RevokeInviteMutation = { revokeInvite: { ok: true } };

export type UpdateMembershipMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  userId: Scalars['String']['input'];
  role: OrgRole;
}>;


export type UpdateMembershipMutation = { updateMembership: { userId: string } };

export type DeleteMembershipMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  userId: Scalars['String']['input'];
}>;


export type DeleteMembershipMutation = { deleteMembership: { ok: true } };

export type FormerMembersQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type FormerMembersQuery = { formerMembers: { people: Array<{ userId: string, name: string | null, email: string | null, removedAt: number, erasedAt: number | null }> } };

export type ErasePersonMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  person: Scalars['String']['input'];
}>;


export type ErasePersonMutation = { erasePerson: { personId: string } };

export type OrganizationSettingsQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type OrganizationSettingsQuery = { me: { capabilities: Array<string> }, organization: { id: string, name: string, slug: string }, orchestrator: { dailyCostCapUsd: number | null, defaultDailyCostCapUsd: number, effectiveDailyCostCapUsd: number, dailySpendUsd: number, planApproval: boolean, inferenceEnabled: boolean, model: string, llmConnectorId: string | null, modelsByVendor: { anthropic: Array<{ id: string, label: string }>, openai: Array<{ id: string, label: string }> } } };

export type ModelConnectorsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelConnectorsQuery = { integrations: { integrations: Array<{ id: string, displayName: string, vendorKind: VendorKind }> } };

export type OrchestratorCredentialsQueryVariables = Exact<{ [key: string]: never; }>;


export type OrchestratorCredentialsQuery = { orchestrator: { assignedCredentialUsableForInference: boolean } };

export type UpdateOrganizationMutationVariables = Exact<{
  orgId: Scalars['String']['input'];
  input: UpdateOrganizationRequest;
}>;


export type UpdateOrganizationMutation = { updateOrganization: { id: string } };

export type UpdateOrchestratorMutationVariables = Exact<{
  input: UpdateOrchestratorRequest;
}>;


export type UpdateOrchestratorMutation = { updateOrchestrator: { orgId: string } };

export type RecordingSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type RecordingSettingsQuery = { recordingSettings: { isEnabled: boolean, days: number }, me: { role: OrgRole | null } };

export type SetRecordingSettingsMutationVariables = Exact<{
  isEnabled: Scalars['Boolean']['input'];
  days: Scalars['Int']['input'];
}>;


export type SetRecordingSettingsMutation = { setRecordingSettings: { isEnabled: boolean, days: number } };

export type RetentionSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type RetentionSettingsQuery = { retentionSettings: { runDays: number | null, logDays: number | null, artifactDays: number | null, sandboxDays: number | null }, me: { role: OrgRole | null } };

export type SetRetentionSettingsMutationVariables = Exact<{
  runDays?: InputMaybe<Scalars['Int']['input']>;
  logDays?: InputMaybe<Scalars['Int']['input']>;
  artifactDays?: InputMaybe<Scalars['Int']['input']>;
  sandboxDays?: InputMaybe<Scalars['Int']['input']>;
}>;


export type SetRetentionSettingsMutation = { setRetentionSettings: { runDays: number | null, logDays: number | null, artifactDays: number | null, sandboxDays: number | null } };

export type TokensQueryVariables = Exact<{ [key: string]: never; }>;


export type TokensQuery = { tokens: { data: Array<{ id: string, name: string, scopes: Array<string>, projectId: string | null, createdAt: number, expiresAt: number, lastUsedAt: number | null, revokedAt: number | null, project: { name: string } | null }> } };

export type ScopesQueryVariables = Exact<{ [key: string]: never; }>;


export type ScopesQuery = { scopes: { groups: Array<{ key: string, name: string, scopes: Array<{ scope: string, description: string, grantable: boolean, presets: Array<ScopePreset> }> }> } };

export type CreateTokenMutationVariables = Exact<{
  input: CreateTokenRequest;
}>;


export type CreateTokenMutation = { createToken: { name: string, token: string, expiresAt: number } };

export type RevokeTokenMutationVariables = Exact<{
  tokenId: Scalars['String']['input'];
}>;


export type RevokeTokenMutation = { revokeToken: { kind: string } };

export type OpenRunsQueryVariables = Exact<{ [key: string]: never; }>;


export type OpenRunsQuery = { running: { nextCursor: string | null, data: Array<RunRowFragment> }, waiting: { nextCursor: string | null, data: Array<RunRowFragment> } };

export type EndedRunsQueryVariables = Exact<{ [key: string]: never; }>;


export type EndedRunsQuery = { completed: { data: Array<RunRowFragment> }, failed: { data: Array<RunRowFragment> }, canceled: { data: Array<RunRowFragment> }, skipped: { data: Array<RunRowFragment> } };

export type UpcomingQueryVariables = Exact<{ [key: string]: never; }>;


export type UpcomingQuery = { upcomingOccurrences: { data: Array<{ at: number, name: string, scheduledTaskId: string | null, automationId: string | null, project: { name: string } | null }> } };

export type SpendQueryVariables = Exact<{ [key: string]: never; }>;


export type SpendQuery = { orchestrator: { dailySpendUsd: number, effectiveDailyCostCapUsd: number, atDailyCostCap: boolean, spendByHour: Array<{ t: number, usd: number }> } };

export type BusySandboxesQueryVariables = Exact<{
  projectId?: InputMaybe<Scalars['String']['input']>;
  limit: Scalars['Int']['input'];
  status?: InputMaybe<SandboxStatus>;
}>;


export type BusySandboxesQuery = { sandboxes: { nextCursor: string | null, data: Array<(
      { project: { name: string } | null, sparkline: Array<{ t: number, cpuPct: number, memUsedMb: number, memTotalMb: number }> }
      & SandboxRowFragment
    )> } };

export type SetupQueryVariables = Exact<{ [key: string]: never; }>;


export type SetupQuery = { setup: { complete: boolean, next: SetupMilestoneId | null, reachedCount: number, totalCount: number, requirements: Array<{ id: SetupRequirementId, isMet: boolean }>, guides: Array<{ id: string, step: number, completedAt: number | null }>, groups: Array<{ id: SetupGroupId, name: string, milestones: Array<{ id: SetupMilestoneId, name: string, state: SetupMilestoneState }> }> }, notices: { notices: Array<{ id: string, kind: NoticeKind, title: string, body: string, actionUrl: string | null }> } };

export type MarkMilestoneMutationVariables = Exact<{
  milestoneId: Scalars['String']['input'];
  mark: SetupMark;
}>;


export type MarkMilestoneMutation = { updateSetupMilestone: { complete: boolean } };

export type FollowGuideMutationVariables = Exact<{
  guideId: Scalars['String']['input'];
  step: Scalars['Int']['input'];
  completed: Scalars['Boolean']['input'];
}>;


export type FollowGuideMutation = { updateSetupGuide: { complete: boolean } };

export type DismissNoticeMutationVariables = Exact<{
  noticeId: Scalars['String']['input'];
}>;


export type DismissNoticeMutation = { dismissNotice: { noticeId: string } };

export type PaletteQueryVariables = Exact<{ [key: string]: never; }>;


export type PaletteQuery = { projects: { data: Array<{ id: string, name: string }> }, agents: { data: Array<{ id: string, name: string }> }, sandboxTemplates: { data: Array<{ id: string, name: string }> }, issues: { data: Array<{ id: string, key: string, title: string }> }, scheduledTasks: { data: Array<{ id: string, name: string }> }, automations: { data: Array<{ id: string, name: string }> } };

export type PaletteMembersQueryVariables = Exact<{
  orgId: Scalars['String']['input'];
}>;


export type PaletteMembersQuery = { memberships: { memberships: Array<{ userId: string, person: { name: string, email: string } | null }> } };

export type PaletteRunsQueryVariables = Exact<{
  search?: InputMaybe<Scalars['String']['input']>;
}>;


export type PaletteRunsQuery = { runs: { data: Array<{ id: string, missionTitle: string | null, status: RunStatus }> } };

export type ProjectSettingsQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
}>;


export type ProjectSettingsQuery = { project: { id: string, name: string, issueCode: string | null, scmOwner: string, scmRepo: string, status: ProjectStatus, autoMerge: boolean, defaultSandboxTemplateId: string | null, tracker: ProjectTracker, trackerTeamId: string | null, scmConnectorId: string, trackerConnectorId: string | null, llmConnectorId: string, effectPolicy: { waits: Array<OutsideEffectKind>, allowedTools: Array<string> } | null } };

export type CreateProjectMutationVariables = Exact<{
  input: CreateProjectRequest;
}>;


export type CreateProjectMutation = { createProject: { id: string } };

export type UpdateProjectMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  input: UpdateProjectRequest;
}>;


export type UpdateProjectMutation = { updateProject: { id: string, status: ProjectStatus } };

export type SetProjectConnectorsMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  input: ProjectConnectorsRequest;
}>;


export type SetProjectConnectorsMutation = { setProjectConnectors: { id: string } };

export type SetProjectTeamMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  hasTeam?: InputMaybe<Scalars['Boolean']['input']>;
}>;


export type SetProjectTeamMutation = { setProjectTeam: { id: string, hasTeam: boolean | null } };

export type SetPullRequestLoopMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
  rounds: Scalars['Int']['input'];
  hours: Scalars['Int']['input'];
  costUsd?: InputMaybe<Scalars['Float']['input']>;
}>;


export type SetPullRequestLoopMutation = { setPullRequestLoop: { id: string } };

export type DeleteProjectMutationVariables = Exact<{
  projectId: Scalars['String']['input'];
}>;


export type DeleteProjectMutation = { deleteProject: { id: string } };

export type ProjectsQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
  nameContains?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<ProjectStatus>;
  order?: InputMaybe<ListOrder>;
}>;


export type ProjectsQuery = { projects: { nextCursor: string | null, data: Array<{ id: string, name: string, issueCode: string | null, scmOwner: string, scmRepo: string, status: ProjectStatus, createdAt: number, missingConnectorKinds: Array<ProjectConnectorKind> | null, tracker: ProjectTracker }> } };

export type ProjectQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
}>;


export type ProjectQuery = { project: { id: string, name: string, issueCode: string | null, scmOwner: string, scmRepo: string, status: ProjectStatus, tracker: ProjectTracker, hasTeam: boolean | null, createdAt: number, pullRequestLoop: { rounds: number, hours: number, costUsd: number | null }, defaultSandboxTemplate: { id: string, name: string } | null } };

export type ScheduledTasksQueryVariables = Exact<{
  projectId?: InputMaybe<Scalars['String']['input']>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type ScheduledTasksQuery = { page: { nextCursor: string | null, data: Array<{ id: string, name: string, enabled: boolean, agentId: string | null, nextRunAt: number | null, lastRunAt: number | null, agent: { name: string } | null, triggers: Array<ScheduleWordsFragment>, eventTriggers: Array<{ kind: EventKind, label: string | null, assignee: string | null, mention: string | null, branch: string | null }>, project: { name: string } | null, runs: Array<{ id: string, status: RunStatus, createdAt: number }> }> } };

export type AutomationsQueryVariables = Exact<{
  projectId?: InputMaybe<Scalars['String']['input']>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type AutomationsQuery = { page: { nextCursor: string | null, data: Array<{ id: string, name: string, enabled: boolean, agentId: string | null, nextRunAt: number | null, lastRunAt: number | null, agent: { name: string } | null, triggers: Array<ScheduleWordsFragment>, eventTriggers: Array<{ kind: EventKind, label: string | null, assignee: string | null, mention: string | null, branch: string | null }>, project: { name: string } | null, runs: Array<{ id: string, status: RunStatus, createdAt: number }> }> } };

export type EnvironmentsQueryVariables = Exact<{
  projectId: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type EnvironmentsQuery = { environments: { nextCursor: string | null, data: Array<{ environmentId: string, status: EnvironmentStatus, prNumber: number | null, workerName: string | null, createdAt: number, expiresAt: number | null, destroyedAt: number | null }> } };

export type RunScheduledTaskMutationVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type RunScheduledTaskMutation = { started: { runId: string } };

export type RunAutomationMutationVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type RunAutomationMutation = { started: { runId: string } };

export type QualityFiguresFragment = { projectId: string | null, agentId: string | null, agentName: string | null, agentVersion: number | null, missions: number, completed: number, completedShare: number | null, pullRequests: number, merged: number, mergedShare: number | null, reverted: number, revertedShare: number | null, endedAtLimit: number, msToMerge: number | null, msToStart: number | null, runsPerMission: number, messagesPerMission: number, costPerMergedUsd: number | null };

export type QualityQueryVariables = Exact<{
  groupBy: QualityGroup;
  days: Scalars['Int']['input'];
  projectId?: InputMaybe<Scalars['String']['input']>;
  agentId?: InputMaybe<Scalars['String']['input']>;
}>;


export type QualityQuery = { qualityFigures: { data: Array<QualityFiguresFragment>, weeks: Array<{ start: number, missions: number, completed: number, merged: number }> } };

export type CompareAgentVersionsQueryVariables = Exact<{
  agentId: Scalars['String']['input'];
  first: Scalars['Int']['input'];
  second: Scalars['Int']['input'];
  days: Scalars['Int']['input'];
}>;


export type CompareAgentVersionsQuery = { compareAgentVersions: { first: { missions: number, completedShare: number | null, mergedShare: number | null } | null, second: { missions: number, completedShare: number | null, mergedShare: number | null } | null, differences: Array<{ share: ComparedShare, difference: number, low: number, high: number, isMoreThanChance: boolean }> } };

export type EventTriggerPartsFragment = { kind: EventKind, from: EventAuthors, hookId: string | null, label: string | null, assignee: string | null, mention: string | null, branch: string | null, filter: string | null, key: string | null, template: string | null, outsiderTemplateId: string | null };

export type TaskPartsFragment = { id: string, name: string, projectId: string, prompt: string, agentId: string | null, enabled: boolean, labels: Array<string>, skipIfPreviousOpen: boolean, templateKey: string | null, nextRunAt: number | null, updatedAt: number, upcoming: Array<number>, effectPolicy: { waits: Array<OutsideEffectKind>, allowedTools: Array<string> } | null, triggers: Array<ScheduleWordsFragment>, eventTriggers: Array<EventTriggerPartsFragment>, project: { name: string } | null };

export type AutomationPartsFragment = { id: string, name: string, projectId: string, prompt: string, agentId: string | null, enabled: boolean, labels: Array<string>, skipIfPreviousOpen: boolean, templateKey: string | null, nextRunAt: number | null, updatedAt: number, upcoming: Array<number>, effectPolicy: { waits: Array<OutsideEffectKind>, allowedTools: Array<string> } | null, triggers: Array<ScheduleWordsFragment>, eventTriggers: Array<EventTriggerPartsFragment>, project: { name: string } | null };

export type ScheduledTaskQueryVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type ScheduledTaskQuery = { one: TaskPartsFragment };

export type AutomationQueryVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type AutomationQuery = { one: AutomationPartsFragment };

export type TaskRunsQueryVariables = Exact<{
  id: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
}>;


export type TaskRunsQuery = { runs: { data: Array<{ id: string, status: RunStatus, missionTitle: string | null, createdAt: number }> } };

export type AutomationRunsQueryVariables = Exact<{
  id: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
}>;


export type AutomationRunsQuery = { runs: { data: Array<{ id: string, status: RunStatus, missionTitle: string | null, createdAt: number }> } };

export type TaskTemplatesQueryVariables = Exact<{ [key: string]: never; }>;


export type TaskTemplatesQuery = { templates: { data: Array<{ key: string, name: string, blurb: string, prompt: string, agentId: string | null, suggestedSchedule: SchedulePartsFragment }> } };

export type AutomationTemplatesQueryVariables = Exact<{ [key: string]: never; }>;


export type AutomationTemplatesQuery = { templates: { data: Array<{ key: string, name: string, blurb: string, prompt: string, agentId: string | null, suggestedSchedule: SchedulePartsFragment }> } };

export type CreateScheduledTaskMutationVariables = Exact<{
  input: CreateScheduledTaskRequest;
}>;


export type CreateScheduledTaskMutation = { created: { id: string } };

export type CreateAutomationMutationVariables = Exact<{
  input: CreateScheduledTaskRequest;
}>;


export type CreateAutomationMutation = { created: { id: string } };

export type UpdateScheduledTaskMutationVariables = Exact<{
  id: Scalars['String']['input'];
  input: UpdateScheduledTaskRequest;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type UpdateScheduledTaskMutation = { updated: { id: string } };

export type UpdateAutomationMutationVariables = Exact<{
  id: Scalars['String']['input'];
  input: UpdateScheduledTaskRequest;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type UpdateAutomationMutation = { updated: { id: string } };

export type DeleteScheduledTaskMutationVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type DeleteScheduledTaskMutation = { deleted: { id: string } };

export type DeleteAutomationMutationVariables = Exact<{
  id: Scalars['String']['input'];
}>;


export type DeleteAutomationMutation = { deleted: { id: string } };

export type RunEventsQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunEventsQuery = { run: { missionTitle: string | null, projectId: string, project: { name: string } | null }, runEvents: { data: Array<{ at: number, kind: RunEventKind, text: string }> } };

export type RunMomentQueryVariables = Exact<{
  runId: Scalars['String']['input'];
  at?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type RunMomentQuery = { runMoment: { at: number, status: RunStatus, costUsd: number, log: string, paths: Array<string> | null, steps: Array<{ id: string, role: AgentRole, status: StepStatus, agentName: string, model: string, error: string | null }>, messages: Array<{ id: string, kind: RunMessageKind, author: string, text: string, createdAt: number }>, plan: Array<{ content: string, status: string }>, fragments: Array<{ kind: SandboxFragmentKind, body: string | null, action: string | null, result: string | null, at: number }> } };

export type RunShareRowFragment = { id: string, createdBy: string, createdAt: number, expiresAt: number, revokedAt: number | null, revokedBy: string | null, uses: number, lastUsedAt: number | null };

export type RunSharesQueryVariables = Exact<{
  runId: Scalars['String']['input'];
}>;


export type RunSharesQuery = { runShares: { data: Array<RunShareRowFragment> } };

export type CreateRunShareMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  days?: InputMaybe<Scalars['Int']['input']>;
}>;


export type CreateRunShareMutation = { createRunShare: { address: string } };

export type RevokeRunShareMutationVariables = Exact<{
  shareId: Scalars['String']['input'];
}>;


export type RevokeRunShareMutation = { revokeRunShare: { id: string } };

export type DestroyEnvironmentMutationVariables = Exact<{
  environmentId: Scalars['String']['input'];
}>;


export type DestroyEnvironmentMutation = { destroyEnvironment: { environmentId: string } };

export type MetricFragment = { t: number, cpuPct: number, memUsedMb: number, memTotalMb: number, diskUsedPct: number };

export type FragmentFragment = { kind: SandboxFragmentKind, t: number, body: string | null, action: string | null, parameter: string | null, result: string | null, toolUseId: string | null, failed: boolean | null, exitCode: number | null, items: Array<{ content: string, status: string }> };

export type SandboxPartsFragment = (
  { harnessVersion: string | null, terminationReason: string | null, timeoutAt: number | null, lastDiskUsedPct: number | null, logsDeletedAt: number | null, project: { name: string } | null, run: { id: string, missionTitle: string | null } | null }
  & SandboxRowFragment
);

export type SessionFragment = { role: AgentRole, sessionId: string, ts: string, outcome: string | null, totalCostUsd: number };

export type SandboxQueryVariables = Exact<{
  sandboxId: Scalars['String']['input'];
  charts: Scalars['Boolean']['input'];
}>;


export type SandboxQuery = { sandbox: { sandbox: SandboxPartsFragment, sessions: Array<SessionFragment>, liveFragments: Array<FragmentFragment>, metrics?: Array<MetricFragment> } };

export type SandboxLiveSubscriptionVariables = Exact<{
  sandboxId: Scalars['String']['input'];
  charts: Scalars['Boolean']['input'];
}>;


export type SandboxLiveSubscription = { sandboxUpdated: { sandbox: (
      { sessions: Array<SessionFragment> }
      & SandboxPartsFragment
    ), fragments: Array<FragmentFragment>, metrics?: Array<MetricFragment> } };

export type SandboxFragmentsQueryVariables = Exact<{
  sandboxId: Scalars['String']['input'];
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type SandboxFragmentsQuery = { sandbox: { sandbox: { logsDeletedAt: number | null }, fragments: { nextCursor: string | null, data: Array<FragmentFragment> } } };

export type SandboxLogQueryVariables = Exact<{
  sandboxId: Scalars['String']['input'];
  role: AgentRole;
  sessionId: Scalars['String']['input'];
  part: SandboxLogPart;
  cursor?: InputMaybe<Scalars['String']['input']>;
  after?: InputMaybe<Scalars['SafeInt']['input']>;
}>;


export type SandboxLogQuery = { sandboxLog: { content: string, bytes: number, deletedAt: number | null, nextCursor: string | null, times: Array<{ line: number, at: number }>, promptSpans: Array<{ id: string, content: string, scope: string }> } };

export type KillSandboxMutationVariables = Exact<{
  sandboxId: Scalars['String']['input'];
}>;


export type KillSandboxMutation = { killSandbox: { sandboxId: string } };

export type SecretsQueryVariables = Exact<{
  scope: SecretScope;
  projectId?: InputMaybe<Scalars['String']['input']>;
  templateId?: InputMaybe<Scalars['String']['input']>;
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type SecretsQuery = { secrets: { nextCursor: string | null, data: Array<{ id: string, kind: SecretKind, name: string, hosts: Array<string>, setupOnly: boolean, lastUsedAt: number | null, setBy: string | null, updatedAt: number }> } };

export type CreateSecretMutationVariables = Exact<{
  input: CreateSecretRequest;
}>;


export type CreateSecretMutation = { createSecret: { id: string } };

export type UpdateSecretMutationVariables = Exact<{
  secretId: Scalars['String']['input'];
  input: UpdateSecretRequest;
}>;


export type UpdateSecretMutation = { updateSecret: { id: string } };

export type DeleteSecretMutationVariables = Exact<{
  secretId: Scalars['String']['input'];
}>;


export type DeleteSecretMutation = { deleteSecret: { id: string } };

export type SignInDomainPartsFragment = { id: string, domain: string, recordName: string, recordValue: string, providerId: string | null, required: boolean, verifiedAt: number | null, missingSince: number | null };

export type IdentityProviderPartsFragment = { id: string, name: string, protocol: IdentityProtocol, issuer: string, clientId: string, returnAddress: string, entityId: string | null, metadataUrl: string | null, metadataReadAt: number | null, metadataFailingSince: number | null, defaultRole: OrgRole | null, testedAt: number | null, updatedAt: number };

export type SignInSettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type SignInSettingsQuery = { signInDomains: { domains: Array<SignInDomainPartsFragment> }, identityProviders: { providers: Array<IdentityProviderPartsFragment> } };

export type CreateSignInDomainMutationVariables = Exact<{
  input: CreateSignInDomainRequest;
}>;


export type CreateSignInDomainMutation = { createSignInDomain: { id: string } };

export type VerifySignInDomainMutationVariables = Exact<{
  domainId: Scalars['String']['input'];
}>;


export type VerifySignInDomainMutation = { verifySignInDomain: { id: string } };

export type UpdateSignInDomainMutationVariables = Exact<{
  domainId: Scalars['String']['input'];
  input: UpdateSignInDomainRequest;
}>;


export type UpdateSignInDomainMutation = { updateSignInDomain: { id: string } };

export type DeleteSignInDomainMutationVariables = Exact<{
  domainId: Scalars['String']['input'];
}>;


export type DeleteSignInDomainMutation = { deleteSignInDomain: { id: string } };

export type CreateIdentityProviderMutationVariables = Exact<{
  input: CreateIdentityProviderRequest;
}>;


export type CreateIdentityProviderMutation = { createIdentityProvider: { id: string } };

export type UpdateIdentityProviderMutationVariables = Exact<{
  providerId: Scalars['String']['input'];
  input: UpdateIdentityProviderRequest;
}>;


export type UpdateIdentityProviderMutation = { updateIdentityProvider: { id: string } };

export type DeleteIdentityProviderMutationVariables = Exact<{
  providerId: Scalars['String']['input'];
}>;


export type DeleteIdentityProviderMutation = { deleteIdentityProvider: { id: string } };

export type CreateSamlProviderMutationVariables = Exact<{
  input: CreateSamlProviderRequest;
}>;


export type CreateSamlProviderMutation = { createSamlProvider: { id: string } };

export type ReplaceSamlMetadataMutationVariables = Exact<{
  samlProviderId: Scalars['String']['input'];
  input: SamlMetadataRequest;
}>;


export type ReplaceSamlMetadataMutation = { replaceSamlMetadata: { id: string } };

export type AllowedNetworksQueryVariables = Exact<{ [key: string]: never; }>;


export type AllowedNetworksQuery = { allowedNetworks: { networks: Array<string>, address: string | null } };

export type SetAllowedNetworksMutationVariables = Exact<{
  input: SetAllowedNetworksRequest;
}>;


export type SetAllowedNetworksMutation = { setAllowedNetworks: { networks: Array<string> } };

export type TemplateRowFragment = { id: string, name: string, description: string | null, base: TemplateBase, image: string | null, isBuiltin: boolean, updatedAt: number, setupNetwork: { mode: NetworkMode, hosts: Array<string> }, agentNetwork: { mode: NetworkMode, hosts: Array<string> }, projects: Array<{ id: string, name: string }> | null, agents: Array<{ id: string, name: string }> };

export type SandboxTemplatesQueryVariables = Exact<{
  limit: Scalars['Int']['input'];
  cursor?: InputMaybe<Scalars['String']['input']>;
}>;


export type SandboxTemplatesQuery = { sandboxTemplates: { nextCursor: string | null, data: Array<TemplateRowFragment> } };

export type SandboxTemplateQueryVariables = Exact<{
  templateId: Scalars['String']['input'];
}>;


export type SandboxTemplateQuery = { sandboxTemplate: (
    { dockerfile: string | null, setupScript: string | null, labels: Array<string>, instanceType: string | null, memoryMb: number | null, diskMb: number | null, processes: number | null, stepMinutes: number | null, stepModelCalls: number | null, stepTokens: number | null, maxMinutes: number | null, maxModelCalls: number | null, maxTokens: number | null, variables: Array<{ name: string, value: string }>, services: Array<{ name: string, image: string, command: Array<string> | null, healthCheck: string | null, variables: Array<{ name: string, value: string }> }>, effectPolicy: { waits: Array<OutsideEffectKind>, allowedTools: Array<string> } | null }
    & TemplateRowFragment
  ) };

export type PackageRegistriesQueryVariables = Exact<{ [key: string]: never; }>;


export type PackageRegistriesQuery = { agentCatalog: { packageRegistries: Array<{ name: string, hosts: Array<string> }> } };

export type CreateSandboxTemplateMutationVariables = Exact<{
  input: CreateSandboxTemplateRequest;
}>;


export type CreateSandboxTemplateMutation = { createSandboxTemplate: { id: string } };

export type UpdateSandboxTemplateMutationVariables = Exact<{
  templateId: Scalars['String']['input'];
  input: UpdateSandboxTemplateRequest;
  ifUpdatedAt?: InputMaybe<Scalars['EpochMs']['input']>;
}>;


export type UpdateSandboxTemplateMutation = { updateSandboxTemplate: { id: string } };

export type DeleteSandboxTemplateMutationVariables = Exact<{
  templateId: Scalars['String']['input'];
}>;


export type DeleteSandboxTemplateMutation = { deleteSandboxTemplate: { id: string } };

export type TemplateNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type TemplateNamesQuery = { sandboxTemplates: { data: Array<{ id: string, name: string, isBuiltin: boolean }> } };

export type OpenTerminalMutationVariables = Exact<{
  runId: Scalars['String']['input'];
  width: Scalars['Int']['input'];
  height: Scalars['Int']['input'];
}>;


export type OpenTerminalMutation = { openTerminal: { id: string } };

export type WriteTerminalMutationVariables = Exact<{
  terminalId: Scalars['String']['input'];
  seq: Scalars['Int']['input'];
  text: Scalars['String']['input'];
}>;


export type WriteTerminalMutation = { writeTerminal: { status: TerminalStatus } };

export type ResizeTerminalMutationVariables = Exact<{
  terminalId: Scalars['String']['input'];
  width: Scalars['Int']['input'];
  height: Scalars['Int']['input'];
}>;


export type ResizeTerminalMutation = { resizeTerminal: { status: TerminalStatus } };

export type CloseTerminalMutationVariables = Exact<{
  terminalId: Scalars['String']['input'];
}>;


export type CloseTerminalMutation = { closeTerminal: { status: TerminalStatus } };

export type TerminalUpdatedSubscriptionVariables = Exact<{
  terminalId: Scalars['String']['input'];
  after?: InputMaybe<Scalars['Int']['input']>;
}>;


export type TerminalUpdatedSubscription = { terminalUpdated: { output: string, nextOutput: number, isCut: boolean, terminal: { status: TerminalStatus, hasDevice: boolean | null, reason: string | null } } };

export type EndpointPartsFragment = { id: string, name: string, url: string, types: Array<string>, projectIds: Array<string>, ordered: boolean, enabled: boolean, disabledReason: WebhookDisabledReason | null, failingSince: number | null, createdAt: number };

export type WebhookEndpointsQueryVariables = Exact<{
  cursor?: InputMaybe<Scalars['String']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
}>;


export type WebhookEndpointsQuery = { webhookEndpoints: { nextCursor: string | null, data: Array<EndpointPartsFragment> } };

export type WebhookEndpointQueryVariables = Exact<{
  endpointId: Scalars['String']['input'];
}>;


export type WebhookEndpointQuery = { endpoint: EndpointPartsFragment };

export type WebhookProjectsQueryVariables = Exact<{ [key: string]: never; }>;


export type WebhookProjectsQuery = { projects: { data: Array<{ id: string, name: string }> } };

export type CreateWebhookEndpointMutationVariables = Exact<{
  input: CreateWebhookEndpointRequest;
}>;


export type CreateWebhookEndpointMutation = { created: { secret: string, endpoint: EndpointPartsFragment } };

export type UpdateWebhookEndpointMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
  input: UpdateWebhookEndpointRequest;
}>;


export type UpdateWebhookEndpointMutation = { updateWebhookEndpoint: { id: string } };

export type ReplaceWebhookSecretMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
}>;


export type ReplaceWebhookSecretMutation = { replaced: { secret: string, endpoint: EndpointPartsFragment } };

export type DeleteWebhookEndpointMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
}>;


export type DeleteWebhookEndpointMutation = { deleteWebhookEndpoint: { id: string } };

export type TestWebhookEndpointMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
}>;


export type TestWebhookEndpointMutation = { tested: { status: WebhookDeliveryStatus, type: string, answerStatus: number | null, answerBody: string | null, error: string | null, durationMs: number | null } };

export type WebhookDeliveryRowFragment = { id: string, endpointId: string, number: number, type: string, status: WebhookDeliveryStatus, attempts: number, dueAt: number | null, attemptedAt: number | null, answerStatus: number | null, error: string | null, resendOf: string | null, createdAt: number };

export type WebhookDeliveriesQueryVariables = Exact<{
  endpointId: Scalars['String']['input'];
  status?: InputMaybe<WebhookDeliveryStatus>;
  createdFrom?: InputMaybe<Scalars['EpochMs']['input']>;
  createdBefore?: InputMaybe<Scalars['EpochMs']['input']>;
  cursor?: InputMaybe<Scalars['String']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
}>;


export type WebhookDeliveriesQuery = { webhookDeliveries: { nextCursor: string | null, data: Array<WebhookDeliveryRowFragment> } };

export type WebhookDeliveryQueryVariables = Exact<{
  endpointId: Scalars['String']['input'];
  webhookDeliveryId: Scalars['String']['input'];
}>;


export type WebhookDeliveryQuery = { webhookDelivery: { messageId: string, body: string, answerBody: string | null, durationMs: number | null } };

export type ResendWebhookDeliveryMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
  webhookDeliveryId: Scalars['String']['input'];
}>;


export type ResendWebhookDeliveryMutation = { resendWebhookDelivery: { id: string } };

export type ResendWebhookDeliveriesMutationVariables = Exact<{
  endpointId: Scalars['String']['input'];
  input: ResendWebhookDeliveriesRequest;
}>;


export type ResendWebhookDeliveriesMutation = { resent: { count: number } };

export const agents: Operation<AgentsQuery, AgentsQueryVariables> = {
  text: 'query Agents($limit:Int!$cursor:String$role:AgentRole){agents(limit:$limit cursor:$cursor role:$role){data{...AgentRow}nextCursor}}fragment AgentRow on Agent{id name role harness model isBuiltin}',
};

export const agent: Operation<AgentQuery, AgentQueryVariables> = {
  text: 'query Agent($agentId:String!){agent(agentId:$agentId){...AgentRow effort userPrompt skillRepos sandboxTemplateId sandboxTemplate{id name}updatedAt version trialVersion trialPercent}}fragment AgentRow on Agent{id name role harness model isBuiltin}',
};

export const agentVersions: Operation<AgentVersionsQuery, AgentVersionsQueryVariables> = {
  text: 'query AgentVersions($agentId:String!$limit:Int!$cursor:String){agentVersions(agentId:$agentId limit:$limit cursor:$cursor){data{...AgentVersion}nextCursor}}fragment AgentVersion on AgentVersion{id number name role harness model effort sandboxTemplateId userPrompt skillRepos note author createdAt}',
};

export const agentCatalog: Operation<AgentCatalogQuery, AgentCatalogQueryVariables> = {
  text: 'query AgentCatalog{agentCatalog{roles{key name blurb}harnesses{id label models{id label}}}}',
};

export const createAgent: Operation<CreateAgentMutation, CreateAgentMutationVariables> = {
  text: 'mutation CreateAgent($input:CreateAgentRequest!){createAgent(input:$input){id}}',
};

export const updateAgent: Operation<UpdateAgentMutation, UpdateAgentMutationVariables> = {
  text: 'mutation UpdateAgent($agentId:String!$input:UpdateAgentRequest!$note:String$ifUpdatedAt:EpochMs){updateAgent(agentId:$agentId input:$input note:$note ifUpdatedAt:$ifUpdatedAt){id}}',
};

export const restoreAgentVersion: Operation<RestoreAgentVersionMutation, RestoreAgentVersionMutationVariables> = {
  text: 'mutation RestoreAgentVersion($agentId:String!$number:Int!){restoreAgentVersion(agentId:$agentId number:$number){id}}',
};

export const startAgentTrial: Operation<StartAgentTrialMutation, StartAgentTrialMutationVariables> = {
  text: 'mutation StartAgentTrial($agentId:String!$input:StartAgentTrialRequest!){startAgentTrial(agentId:$agentId input:$input){id}}',
};

export const endAgentTrial: Operation<EndAgentTrialMutation, EndAgentTrialMutationVariables> = {
  text: 'mutation EndAgentTrial($agentId:String!$promote:Boolean!){endAgentTrial(agentId:$agentId promote:$promote){id}}',
};

export const deleteAgent: Operation<DeleteAgentMutation, DeleteAgentMutationVariables> = {
  text: 'mutation DeleteAgent($agentId:String!){deleteAgent(agentId:$agentId){id}}',
};

export const runtimes: Operation<RuntimesQuery, RuntimesQueryVariables> = {
  text: 'query Runtimes{runtimes{data{name tokenId isConnected isDraining isolation places usedPlaces freePlaces waitingRuns oldestWaitingAt labels notice lastSeenAt harnesses{harness version}}waiting{reason labels runs oldestWaitingAt oldestRunId}}}',
};

export const runtimeTokens: Operation<RuntimeTokensQuery, RuntimeTokensQueryVariables> = {
  text: 'query RuntimeTokens{runtimeTokens{data{id name createdAt lastUsedAt revokedAt}}}',
};

export const createRuntimeToken: Operation<CreateRuntimeTokenMutation, CreateRuntimeTokenMutationVariables> = {
  text: 'mutation CreateRuntimeToken($name:String!){createRuntimeToken(name:$name){name token}}',
};

export const drainRuntime: Operation<DrainRuntimeMutation, DrainRuntimeMutationVariables> = {
  text: 'mutation DrainRuntime($tokenId:String!$name:String!$isDraining:Boolean!){drainRuntime(runtimeTokenId:$tokenId name:$name isDraining:$isDraining){id}}',
};

export const revokeRuntimeToken: Operation<RevokeRuntimeTokenMutation, RevokeRuntimeTokenMutationVariables> = {
  text: 'mutation RevokeRuntimeToken($runtimeTokenId:String!){revokeRuntimeToken(runtimeTokenId:$runtimeTokenId){id}}',
};

export const artifacts: Operation<ArtifactsQuery, ArtifactsQueryVariables> = {
  text: 'query Artifacts($projectId:String$kind:ArtifactKind$order:ListOrder$limit:Int!$cursor:String$sandboxId:String){artifacts(projectId:$projectId kind:$kind order:$order limit:$limit cursor:$cursor sandboxId:$sandboxId){data{...ArtifactCard project{name}}nextCursor}}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const attempts: Operation<AttemptsQuery, AttemptsQueryVariables> = {
  text: 'query Attempts($attemptGroupId:String!){attemptGroup(attemptGroupId:$attemptGroupId){...AttemptGroupParts}}fragment AttemptGroupParts on AttemptGroup{id projectId title prompt state chosenRunId decidedBy decidedAt budgetUsd costUsd createdAt attempts{number state choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths run{...RunRow prompt}}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const attemptsLive: Operation<AttemptsLiveSubscription, AttemptsLiveSubscriptionVariables> = {
  text: 'subscription AttemptsLive($attemptGroupId:String!){attemptGroupUpdated(attemptGroupId:$attemptGroupId){...AttemptGroupParts}}fragment AttemptGroupParts on AttemptGroup{id projectId title prompt state chosenRunId decidedBy decidedAt budgetUsd costUsd createdAt attempts{number state choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths run{...RunRow prompt}}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const chooseAttempt: Operation<ChooseAttemptMutation, ChooseAttemptMutationVariables> = {
  text: 'mutation ChooseAttempt($runId:String!){chooseAttempt(runId:$runId){...AttemptGroupParts}}fragment AttemptGroupParts on AttemptGroup{id projectId title prompt state chosenRunId decidedBy decidedAt budgetUsd costUsd createdAt attempts{number state choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths run{...RunRow prompt}}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const closeAttempts: Operation<CloseAttemptsMutation, CloseAttemptsMutationVariables> = {
  text: 'mutation CloseAttempts($attemptGroupId:String!){closeAttempts(attemptGroupId:$attemptGroupId){...AttemptGroupParts}}fragment AttemptGroupParts on AttemptGroup{id projectId title prompt state chosenRunId decidedBy decidedAt budgetUsd costUsd createdAt attempts{number state choiceBlocker agentName harness model review isTestPassed criteria criteriaPassed changedPaths run{...RunRow prompt}}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const attemptModels: Operation<AttemptModelsQuery, AttemptModelsQueryVariables> = {
  text: 'query AttemptModels{agentCatalog{harnesses{id models{id label}}}}',
};

export const auditEvents: Operation<AuditEventsQuery, AuditEventsQueryVariables> = {
  text: 'query AuditEvents($actorId:String$targetType:String$targetId:String$projectId:String$occurredFrom:EpochMs$occurredBefore:EpochMs$order:ListOrder$limit:Int!$cursor:String){auditEvents(actorId:$actorId targetType:$targetType targetId:$targetId projectId:$projectId occurredFrom:$occurredFrom occurredBefore:$occurredBefore order:$order limit:$limit cursor:$cursor){data{number occurredAt action actor{type id name}onBehalfOf{id name}credentialId surface operation requestId traceId sourceAddress targets{type id name}changes{path before after}personalValues}nextCursor}}',
};

export const auditRetention: Operation<AuditRetentionQuery, AuditRetentionQueryVariables> = {
  text: 'query AuditRetention{auditRetention{days}}',
};

export const setAuditRetention: Operation<SetAuditRetentionMutation, SetAuditRetentionMutationVariables> = {
  text: 'mutation SetAuditRetention($days:Int!){setAuditRetention(days:$days){days}}',
};

export const auditStream: Operation<AuditStreamQuery, AuditStreamQueryVariables> = {
  text: 'query AuditStream{auditStream{stream{...AuditStreamFields}}}fragment AuditStreamFields on AuditStream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt}',
};

export const setAuditStream: Operation<SetAuditStreamMutation, SetAuditStreamMutationVariables> = {
  text: 'mutation SetAuditStream($input:SetAuditStreamRequest!){setAuditStream(input:$input){token stream{...AuditStreamFields}}}fragment AuditStreamFields on AuditStream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt}',
};

export const deleteAuditStream: Operation<DeleteAuditStreamMutation, DeleteAuditStreamMutationVariables> = {
  text: 'mutation DeleteAuditStream{deleteAuditStream{ok}}',
};

export const retryAuditStream: Operation<RetryAuditStreamMutation, RetryAuditStreamMutationVariables> = {
  text: 'mutation RetryAuditStream{retryAuditStream{stream{...AuditStreamFields}}}fragment AuditStreamFields on AuditStream{address state lastNumber pending deliveredAt failingSince lastError nextAttemptAt}',
};

export const billing: Operation<BillingQuery, BillingQueryVariables> = {
  text: 'query Billing{billingSummary{plan balance low canStartMission canManage missionCeiling sandboxLimit trackerTriggers sources{kind credits startsAt expiresAt}projects{used limit}usage{periodStart missions creditsSpent}openCreditRequest{messages{message at name}}purchase{testMoney}subscription{plan nextPlan status currentPeriodEnd}advice{reason}trial{granted remaining endsAt}}billingOffers{...ForSale enterprise{blurb}}billingOrders{orders{id number offer teamPlan credits amountUsd status createdAt withdrawableUntil refundUsd withdrawal{credits refundUsd}}}billingLedger(limit:5){entries{...BillingLedgerEntry}}}fragment ForSale on ListOffersResponse{offers{credits priceUsd maxQuantity}team{plans{...BillingTeamPlan}}}fragment BillingTeamPlan on TeamPlan{plan name monthlyUsd creditsPerMonth projects agentsAtOnce}fragment BillingLedgerEntry on LedgerEntry{id kind credits balanceAfter runId orderId note createdAt}',
};

export const billingOffers: Operation<BillingOffersQuery, BillingOffersQueryVariables> = {
  text: 'query BillingOffers{billingOffers{withdrawalDays ...ForSale}billingSummary{purchase{testMoney}}}fragment ForSale on ListOffersResponse{offers{credits priceUsd maxQuantity}team{plans{...BillingTeamPlan}}}fragment BillingTeamPlan on TeamPlan{plan name monthlyUsd creditsPerMonth projects agentsAtOnce}',
};

export const billingLedger: Operation<BillingLedgerQuery, BillingLedgerQueryVariables> = {
  text: 'query BillingLedger($limit:Int!$cursor:String){billingLedger(limit:$limit cursor:$cursor){entries{...BillingLedgerEntry}nextCursor}}fragment BillingLedgerEntry on LedgerEntry{id kind credits balanceAfter runId orderId note createdAt}',
};

export const billingSettings: Operation<BillingSettingsQuery, BillingSettingsQueryVariables> = {
  text: 'query BillingSettings{billingSummary{trackerTriggers}}',
};

export const createCheckout: Operation<CreateCheckoutMutation, CreateCheckoutMutationVariables> = {
  text: 'mutation CreateCheckout($input:CreateCheckoutSessionRequest!){createCheckoutSession(input:$input){url}}',
};

export const askForCredits: Operation<AskForCreditsMutation, AskForCreditsMutationVariables> = {
  text: 'mutation AskForCredits($message:String!){createCreditRequest(input:{message:$message}){id}}',
};

export const updateSubscription: Operation<UpdateSubscriptionMutation, UpdateSubscriptionMutationVariables> = {
  text: 'mutation UpdateSubscription($input:UpdateSubscriptionRequest!){updateSubscription(input:$input){subscription{status}}}',
};

export const updateBillingSettings: Operation<UpdateBillingSettingsMutation, UpdateBillingSettingsMutationVariables> = {
  text: 'mutation UpdateBillingSettings($trackerTriggers:TrackerTriggerPolicy!){updateBillingSettings(input:{trackerTriggers:$trackerTriggers}){trackerTriggers}}',
};

export const withdrawOrder: Operation<WithdrawOrderMutation, WithdrawOrderMutationVariables> = {
  text: 'mutation WithdrawOrder($orderId:String!$reason:String){withdrawOrder(orderId:$orderId input:{reason:$reason}){orderId}}',
};

export const budgets: Operation<BudgetsQuery, BudgetsQueryVariables> = {
  text: 'query Budgets($limit:Int!$cursor:String){budgets(limit:$limit cursor:$cursor){data{id subject subjectName period amountUsd spentUsd periodEnd}nextCursor}}',
};

export const budgetSubjects: Operation<BudgetSubjectsQuery, BudgetSubjectsQueryVariables> = {
  text: 'query BudgetSubjects($orgId:String!){projects(limit:100){data{id name}}memberships(orgId:$orgId){memberships{userId person{name}}}}',
};

export const createBudget: Operation<CreateBudgetMutation, CreateBudgetMutationVariables> = {
  text: 'mutation CreateBudget($input:CreateBudgetRequest!){createBudget(input:$input){id}}',
};

export const updateBudget: Operation<UpdateBudgetMutation, UpdateBudgetMutationVariables> = {
  text: 'mutation UpdateBudget($budgetId:String!$amountUsd:Float!){updateBudget(budgetId:$budgetId input:{amountUsd:$amountUsd}){id}}',
};

export const deleteBudget: Operation<DeleteBudgetMutation, DeleteBudgetMutationVariables> = {
  text: 'mutation DeleteBudget($budgetId:String!){deleteBudget(budgetId:$budgetId){id}}',
};

export const runChange: Operation<RunChangeQuery, RunChangeQueryVariables> = {
  text: 'query RunChange($runId:String!){run(runId:$runId){id projectId missionTitle status branch headSha prNumber prUrl project{name}outcome{result files prState}changeDiff{id url sizeBytes}changeVersions{headSha role commits changedFiles insertions deletions createdAt artifact{id url}commitsArtifact{id url}}reviews{...ChangeReview}hostThreads{...HostThread}}}fragment ChangeReview on Review{id verdict body author headSha answeringRunId createdAt comments{id path side startLine line quote body resolvedAt resolvedBy}}fragment HostThread on HostThread{key url path side startLine line isResolved resolvedBy commentId comments{author body createdAt}}',
};

export const changedFile: Operation<ChangedFileQuery, ChangedFileQueryVariables> = {
  text: 'query ChangedFile($runId:String!$path:String!$side:DiffSide!){changedFile(runId:$runId path:$path side:$side){base64}}',
};

export const submitReview: Operation<SubmitReviewMutation, SubmitReviewMutationVariables> = {
  text: 'mutation SubmitReview($input:SubmitReviewRequest!){submitReview(input:$input){...ChangeReview}}fragment ChangeReview on Review{id verdict body author headSha answeringRunId createdAt comments{id path side startLine line quote body resolvedAt resolvedBy}}',
};

export const resolveReviewComment: Operation<ResolveReviewCommentMutation, ResolveReviewCommentMutationVariables> = {
  text: 'mutation ResolveReviewComment($commentId:String!$isResolved:Boolean!){resolveReviewComment(commentId:$commentId isResolved:$isResolved){id}}',
};

export const resolveHostThread: Operation<ResolveHostThreadMutation, ResolveHostThreadMutationVariables> = {
  text: 'mutation ResolveHostThread($runId:String!$key:String!$isResolved:Boolean!){resolveHostThread(runId:$runId key:$key isResolved:$isResolved){...HostThread}}fragment HostThread on HostThread{key url path side startLine line isResolved resolvedBy commentId comments{author body createdAt}}',
};

export const answerHostThread: Operation<AnswerHostThreadMutation, AnswerHostThreadMutationVariables> = {
  text: 'mutation AnswerHostThread($runId:String!$key:String!$body:String!){answerHostThread(runId:$runId key:$key body:$body){...HostThread}}fragment HostThread on HostThread{key url path side startLine line isResolved resolvedBy commentId comments{author body createdAt}}',
};

export const mergePullRequest: Operation<MergePullRequestMutation, MergePullRequestMutationVariables> = {
  text: 'mutation MergePullRequest($runId:String!$headSha:String!){mergePullRequest(runId:$runId headSha:$headSha){id}}',
};

export const runEffects: Operation<RunEffectsQuery, RunEffectsQueryVariables> = {
  text: 'query RunEffects($runId:String!){outsideEffects(runId:$runId){data{...OutsideEffect}}}fragment OutsideEffect on OutsideEffect{id kind state title text digest error resultUrl decidedBy decidedAt}',
};

export const approveOutsideEffects: Operation<ApproveOutsideEffectsMutation, ApproveOutsideEffectsMutationVariables> = {
  text: 'mutation ApproveOutsideEffects($runId:String!$effectIds:[String!]!$digests:[String!]!){approveOutsideEffects(runId:$runId effectIds:$effectIds digests:$digests){id}}',
};

export const rejectOutsideEffects: Operation<RejectOutsideEffectsMutation, RejectOutsideEffectsMutationVariables> = {
  text: 'mutation RejectOutsideEffects($runId:String!$effectIds:[String!]!$digests:[String!]!){rejectOutsideEffects(runId:$runId effectIds:$effectIds digests:$digests){id}}',
};

export const setProjectEffectPolicy: Operation<SetProjectEffectPolicyMutation, SetProjectEffectPolicyMutationVariables> = {
  text: 'mutation SetProjectEffectPolicy($projectId:String!$policy:EffectPolicyInput){setProjectEffectPolicy(projectId:$projectId policy:$policy){id}}',
};

export const inboundHooks: Operation<InboundHooksQuery, InboundHooksQueryVariables> = {
  text: 'query InboundHooks($cursor:String$limit:Int){inboundHooks(cursor:$cursor limit:$limit){data{...HookParts}nextCursor}}fragment HookParts on InboundHook{id name vendor signature signatureHeader address enabled lastDeliveryAt createdAt}',
};

export const inboundHook: Operation<InboundHookQuery, InboundHookQueryVariables> = {
  text: 'query InboundHook($hookId:String!){hook:inboundHook(hookId:$hookId){...HookParts}}fragment HookParts on InboundHook{id name vendor signature signatureHeader address enabled lastDeliveryAt createdAt}',
};

export const createInboundHook: Operation<CreateInboundHookMutation, CreateInboundHookMutationVariables> = {
  text: 'mutation CreateInboundHook($input:CreateInboundHookRequest!){created:createInboundHook(input:$input){secret hook{...HookParts}}}fragment HookParts on InboundHook{id name vendor signature signatureHeader address enabled lastDeliveryAt createdAt}',
};

export const updateInboundHook: Operation<UpdateInboundHookMutation, UpdateInboundHookMutationVariables> = {
  text: 'mutation UpdateInboundHook($hookId:String!$input:UpdateInboundHookRequest!){updateInboundHook(hookId:$hookId input:$input){id}}',
};

export const replaceInboundHookSecret: Operation<ReplaceInboundHookSecretMutation, ReplaceInboundHookSecretMutationVariables> = {
  text: 'mutation ReplaceInboundHookSecret($hookId:String!$input:ReplaceInboundHookSecretRequest!){replaced:replaceInboundHookSecret(hookId:$hookId input:$input){secret hook{...HookParts}}}fragment HookParts on InboundHook{id name vendor signature signatureHeader address enabled lastDeliveryAt createdAt}',
};

export const deleteInboundHook: Operation<DeleteInboundHookMutation, DeleteInboundHookMutationVariables> = {
  text: 'mutation DeleteInboundHook($hookId:String!){deleteInboundHook(hookId:$hookId){id}}',
};

export const inboundDeliveries: Operation<InboundDeliveriesQuery, InboundDeliveriesQueryVariables> = {
  text: 'query InboundDeliveries($hookId:String!$status:InboundDeliveryStatus$cursor:String$limit:Int){inboundDeliveries(hookId:$hookId status:$status cursor:$cursor limit:$limit){data{...DeliveryRow}nextCursor}}fragment DeliveryRow on InboundDelivery{id hookId externalId event title status reason answerProblems redeliveryOf receivedAt outcomes{recurringId name result reason runId}}',
};

export const inboundDelivery: Operation<InboundDeliveryQuery, InboundDeliveryQueryVariables> = {
  text: 'query InboundDelivery($hookId:String!$deliveryId:String!){inboundDelivery(hookId:$hookId deliveryId:$deliveryId){payload headers{name value}}}',
};

export const redeliverInboundDelivery: Operation<RedeliverInboundDeliveryMutation, RedeliverInboundDeliveryMutationVariables> = {
  text: 'mutation RedeliverInboundDelivery($hookId:String!$deliveryId:String!){redeliverInboundDelivery(hookId:$hookId deliveryId:$deliveryId){id}}',
};

export const approveInboundDelivery: Operation<ApproveInboundDeliveryMutation, ApproveInboundDeliveryMutationVariables> = {
  text: 'mutation ApproveInboundDelivery($hookId:String!$deliveryId:String!){approveInboundDelivery(hookId:$hookId deliveryId:$deliveryId){id}}',
};

export const previewEventTrigger: Operation<PreviewEventTriggerQuery, PreviewEventTriggerQueryVariables> = {
  text: 'query PreviewEventTrigger($input:PreviewEventTriggerRequest!){previewEventTrigger(input:$input){data{reason key text delivery{id event title receivedAt}}}}',
};

export const inbox: Operation<InboxQuery, InboxQueryVariables> = {
  text: 'query Inbox($mine:Boolean$hidden:Boolean$limit:Int!){inbox(mine:$mine hidden:$hidden limit:$limit){data{...InboxRow}nextCursor}}fragment InboxRow on InboxItem{id kind isUrgent since title detail question{sandboxId seq choices tool arguments}runId hookId deliveryId hiddenUntil project{name}run{startedBy prompt scheduledTaskId automationId missionCostUsd budgetUsd parkedBy maxMinutes maxModelCalls maxTokens outcome{...RunOutcome}}delivery{event hook{name}}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const inboxCount: Operation<InboxCountQuery, InboxCountQueryVariables> = {
  text: 'query InboxCount{inboxCount{count}}',
};

export const inboxLive: Operation<InboxLiveSubscription, InboxLiveSubscriptionVariables> = {
  text: 'subscription InboxLive{inboxUpdated{count}}',
};

export const failedSandbox: Operation<FailedSandboxQuery, FailedSandboxQueryVariables> = {
  text: 'query FailedSandbox($runId:String!){run(runId:$runId){sandboxes{sandboxId}}}',
};

export const markInboxItemDone: Operation<MarkInboxItemDoneMutation, MarkInboxItemDoneMutationVariables> = {
  text: 'mutation MarkInboxItemDone($itemId:String!$until:EpochMs){markInboxItemDone(itemId:$itemId until:$until){id}}',
};

export const restoreInboxItem: Operation<RestoreInboxItemMutation, RestoreInboxItemMutationVariables> = {
  text: 'mutation RestoreInboxItem($itemId:String!){restoreInboxItem(itemId:$itemId){id}}',
};

export const dismissInboundDelivery: Operation<DismissInboundDeliveryMutation, DismissInboundDeliveryMutationVariables> = {
  text: 'mutation DismissInboundDelivery($hookId:String!$deliveryId:String!){dismissInboundDelivery(hookId:$hookId deliveryId:$deliveryId){id}}',
};

export const chats: Operation<ChatsQuery, ChatsQueryVariables> = {
  text: 'query Chats{chatConnections{data{integrationId hookId eventsAddress manifest problem integration{displayName vendor}channels{channelId name projectId project{name}}}}}',
};

export const chatProjects: Operation<ChatProjectsQuery, ChatProjectsQueryVariables> = {
  text: 'query ChatProjects{projects(limit:100){data{id name}}}',
};

export const connectChat: Operation<ConnectChatMutation, ConnectChatMutationVariables> = {
  text: 'mutation ConnectChat($input:ConnectChatRequest!){connectChat(input:$input){integrationId}}',
};

export const rotateChat: Operation<RotateChatMutation, RotateChatMutationVariables> = {
  text: 'mutation RotateChat($chatId:String!$input:RotateChatRequest!){rotateChat(chatId:$chatId input:$input){integrationId}}',
};

export const bindChatChannel: Operation<BindChatChannelMutation, BindChatChannelMutationVariables> = {
  text: 'mutation BindChatChannel($chatId:String!$channelId:String!$projectId:String!){bindChatChannel(chatId:$chatId channelId:$channelId projectId:$projectId){channelId}}',
};

export const unbindChatChannel: Operation<UnbindChatChannelMutation, UnbindChatChannelMutationVariables> = {
  text: 'mutation UnbindChatChannel($chatId:String!$channelId:String!){unbindChatChannel(chatId:$chatId channelId:$channelId){id}}',
};

export const integrations: Operation<IntegrationsQuery, IntegrationsQueryVariables> = {
  text: 'query Integrations{integrations{integrations{id displayName vendor vendorKind externalOrgId baseUrl dependentProjectCount hasCredentials brokenSince checkFailure checkedAt pausedUntil updatedAt models{id name prices{input output cacheRead cacheWrite}}}}}',
};

export const connectIntegration: Operation<ConnectIntegrationMutation, ConnectIntegrationMutationVariables> = {
  text: 'mutation ConnectIntegration($vendor:Vendor!$vendorKind:VendorKind!$displayName:String!$credentials:String$baseUrl:String$githubApp:GitHubAppRequest$linearApp:LinearAppRequest$models:[ConnectorModelRequest!]){connectIntegration(vendor:$vendor vendorKind:$vendorKind displayName:$displayName credentials:$credentials baseUrl:$baseUrl githubApp:$githubApp linearApp:$linearApp models:$models){id checkFailure}}',
};

export const checkIntegration: Operation<CheckIntegrationMutation, CheckIntegrationMutationVariables> = {
  text: 'mutation CheckIntegration($integrationId:String!){checkIntegration(integrationId:$integrationId){id checkFailure}}',
};

export const rotateIntegration: Operation<RotateIntegrationMutation, RotateIntegrationMutationVariables> = {
  text: 'mutation RotateIntegration($integrationId:String!$credentials:String$githubApp:GitHubAppRequest$linearApp:LinearAppRequest){rotateIntegration(integrationId:$integrationId credentials:$credentials githubApp:$githubApp linearApp:$linearApp){id checkFailure}}',
};

export const setIntegrationModels: Operation<SetIntegrationModelsMutation, SetIntegrationModelsMutationVariables> = {
  text: 'mutation SetIntegrationModels($integrationId:String!$input:SetIntegrationModelsRequest!){setIntegrationModels(integrationId:$integrationId input:$input){id}}',
};

export const revokeIntegration: Operation<RevokeIntegrationMutation, RevokeIntegrationMutationVariables> = {
  text: 'mutation RevokeIntegration($integrationId:String!){revokeIntegration(integrationId:$integrationId){id}}',
};

export const disconnectIntegration: Operation<DisconnectIntegrationMutation, DisconnectIntegrationMutationVariables> = {
  text: 'mutation DisconnectIntegration($integrationId:String!$detachProjects:Boolean!){disconnectIntegration(integrationId:$integrationId detachProjects:$detachProjects){id}}',
};

export const issues: Operation<IssuesQuery, IssuesQueryVariables> = {
  text: 'query Issues($limit:Int!$cursor:String$projectId:String$state:IssueState$agentId:String$order:ListOrder){issues(limit:$limit cursor:$cursor projectId:$projectId state:$state agentId:$agentId order:$order){data{...IssueRow}nextCursor}}fragment IssueRow on Issue{id key title state assigneeName createdAt projectId project{name}}',
};

export const issue: Operation<IssueQuery, IssueQueryVariables> = {
  text: 'query Issue($issueId:String!){issue(issueId:$issueId){...IssueRow body labels agentId assigneeUserId updatedAt runs{id status missionTitle createdAt}}}fragment IssueRow on Issue{id key title state assigneeName createdAt projectId project{name}}',
};

export const issueComments: Operation<IssueCommentsQuery, IssueCommentsQueryVariables> = {
  text: 'query IssueComments($issueId:String!$limit:Int!$cursor:String){issueComments(issueId:$issueId limit:$limit cursor:$cursor){data{...IssueComment}nextCursor}}fragment IssueComment on IssueComment{id authorUserId author runId body effect createdAt updatedAt}',
};

export const createIssue: Operation<CreateIssueMutation, CreateIssueMutationVariables> = {
  text: 'mutation CreateIssue($input:CreateIssueRequest!){createIssue(input:$input){id}}',
};

export const startMissions: Operation<StartMissionsMutation, StartMissionsMutationVariables> = {
  text: 'mutation StartMissions($input:StartMissionsRequest!){startMissions(input:$input){starts{projectId issue runId reason}}}',
};

export const updateIssue: Operation<UpdateIssueMutation, UpdateIssueMutationVariables> = {
  text: 'mutation UpdateIssue($issueId:String!$input:UpdateIssueRequest!$ifUpdatedAt:EpochMs){updateIssue(issueId:$issueId input:$input ifUpdatedAt:$ifUpdatedAt){id}}',
};

export const assignIssue: Operation<AssignIssueMutation, AssignIssueMutationVariables> = {
  text: 'mutation AssignIssue($issueId:String!$assigneeId:String){assignIssue(issueId:$issueId assigneeId:$assigneeId){id}}',
};

export const commentOnIssue: Operation<CommentOnIssueMutation, CommentOnIssueMutationVariables> = {
  text: 'mutation CommentOnIssue($issueId:String!$body:String!){commentOnIssue(issueId:$issueId body:$body){id}}',
};

export const deleteIssueComment: Operation<DeleteIssueCommentMutation, DeleteIssueCommentMutationVariables> = {
  text: 'mutation DeleteIssueComment($issueCommentId:String!){deleteIssueComment(issueCommentId:$issueCommentId){id}}',
};

export const updateIssueComment: Operation<UpdateIssueCommentMutation, UpdateIssueCommentMutationVariables> = {
  text: 'mutation UpdateIssueComment($issueCommentId:String!$body:String!){updateIssueComment(issueCommentId:$issueCommentId body:$body){id}}',
};

export const mcpBindings: Operation<McpBindingsQuery, McpBindingsQueryVariables> = {
  text: 'query McpBindings{mcpBindings{bindings{projectId projectName serverName status statusDetail transport roles updatedAt}}}',
};

export const projectMcp: Operation<ProjectMcpQuery, ProjectMcpQueryVariables> = {
  text: 'query ProjectMcp($projectId:String!){project(projectId:$projectId){id name}projectMcp(projectId:$projectId){configPath configPathSource configRef configStatus configError warnings servers{name declared{transport origin path command displayArgs headerNames secretRefs isolation{kind reason}}binding{...McpBound}}callsOfDay{calls{id runId serverName tool outcome durationMs createdAt}counts{serverName outcome count}}}}fragment McpBound on McpBinding{status statusDetail transport roles authKind pinnedUrl packageSpec allowedEgressHosts credentialFields toolsRefreshedAt effectiveToolCounts{planner builder reviewer qa}updatedAt}',
};

export const mcpToolReview: Operation<McpToolReviewQuery, McpToolReviewQueryVariables> = {
  text: 'query McpToolReview($projectId:String!$serverName:String!){mcpToolReview(projectId:$projectId serverName:$serverName){binding{roles updatedAt approvedTools{name attestedReadOnly alwaysAsk}}tools{name change digest claims tool{description}}}}',
};

export const mcpToolDefinitions: Operation<McpToolDefinitionsQuery, McpToolDefinitionsQueryVariables> = {
  text: 'query McpToolDefinitions($projectId:String!$serverName:String!$names:[String!]!){mcpToolReview(projectId:$projectId serverName:$serverName names:$names){tools{name definition reviewedDefinition}}}',
};

export const updateProjectMcp: Operation<UpdateProjectMcpMutation, UpdateProjectMcpMutationVariables> = {
  text: 'mutation UpdateProjectMcp($projectId:String!$configPath:String){updateProjectMcp(projectId:$projectId input:{configPath:$configPath}){configPath}}',
};

export const putMcpBinding: Operation<PutMcpBindingMutation, PutMcpBindingMutationVariables> = {
  text: 'mutation PutMcpBinding($projectId:String!$serverName:String!$input:PutMcpBindingRequest!$ifUpdatedAt:EpochMs){putMcpBinding(projectId:$projectId serverName:$serverName input:$input ifUpdatedAt:$ifUpdatedAt){updatedAt}}',
};

export const refreshMcpTools: Operation<RefreshMcpToolsMutation, RefreshMcpToolsMutationVariables> = {
  text: 'mutation RefreshMcpTools($projectId:String!$serverName:String!){refreshMcpTools(projectId:$projectId serverName:$serverName){updatedAt}}',
};

export const startMcpOAuth: Operation<StartMcpOAuthMutation, StartMcpOAuthMutationVariables> = {
  text: 'mutation StartMcpOAuth($projectId:String!$serverName:String!$returnTo:String!){startMcpOAuth(projectId:$projectId serverName:$serverName input:{returnTo:$returnTo}){authorizeUrl}}',
};

export const deleteMcpBinding: Operation<DeleteMcpBindingMutation, DeleteMcpBindingMutationVariables> = {
  text: 'mutation DeleteMcpBinding($projectId:String!$serverName:String!){deleteMcpBinding(projectId:$projectId serverName:$serverName){deleted}}',
};

export const runAttestations: Operation<RunAttestationsQuery, RunAttestationsQueryVariables> = {
  text: 'query RunAttestations($runId:String!){run(runId:$runId){attestations{sha signedAt keyId envelope{payloadType payload signatures{keyid sig}}}}}',
};

export const recordedModelCalls: Operation<RecordedModelCallsQuery, RecordedModelCallsQueryVariables> = {
  text: 'query RecordedModelCalls($runId:String!$after:Int!){recordedModelCalls(runId:$runId after:$after){hasMore data{stepId role number at model status}}}',
};

export const runForks: Operation<RunForksQuery, RunForksQueryVariables> = {
  text: 'query RunForks($runId:String!){run(runId:$runId){forks{runId calls model agentVersion run{missionTitle status}}}}',
};

export const forkMission: Operation<ForkMissionMutation, ForkMissionMutationVariables> = {
  text: 'mutation ForkMission($runId:String!$stepId:String!$call:Int!$prompt:String$model:String$agentVersion:Int){forkMission(runId:$runId stepId:$stepId call:$call prompt:$prompt model:$model agentVersion:$agentVersion){id}}',
};

export const lastSession: Operation<LastSessionQuery, LastSessionQueryVariables> = {
  text: 'query LastSession($sandboxId:String!){sandbox(sandboxId:$sandboxId){sessions{role sessionId}}}',
};

export const agentNames: Operation<AgentNamesQuery, AgentNamesQueryVariables> = {
  text: 'query AgentNames{agents(limit:100){data{id name role harness model isBuiltin hasModel}}}',
};

export const instanceTypes: Operation<InstanceTypesQuery, InstanceTypesQueryVariables> = {
  text: 'query InstanceTypes{agentCatalog{instanceTypes{id label vcpu memory disk usdPerMinute}}}',
};

export const missionBounds: Operation<MissionBoundsQuery, MissionBoundsQueryVariables> = {
  text: 'query MissionBounds{agentCatalog{missionBounds{maxMinutes maxModelCalls maxTokens}}}',
};

export const startMission: Operation<StartMissionMutation, StartMissionMutationVariables> = {
  text: 'mutation StartMission($projectId:String!$prompt:String!$agentId:String$budgetUsd:Float$planApproval:Boolean$instanceType:InstanceType$issue:String$maxMinutes:Int$maxModelCalls:Int$maxTokens:Int$attempts:[NewAttempt!]){startMission(projectId:$projectId prompt:$prompt agentId:$agentId budgetUsd:$budgetUsd planApproval:$planApproval instanceType:$instanceType issue:$issue maxMinutes:$maxMinutes maxModelCalls:$maxModelCalls maxTokens:$maxTokens attempts:$attempts){id attemptGroup{id}}}',
};

export const recording: Operation<RecordingQuery, RecordingQueryVariables> = {
  text: 'query Recording($runId:String!){recording(runId:$runId){calls omitted sizeBytes expiresAt url}}',
};

export const runPreparations: Operation<RunPreparationsQuery, RunPreparationsQueryVariables> = {
  text: 'query RunPreparations($runId:String!){runPreparations(runId:$runId){data{id status template{id name}seconds bytes lastLines notes createdAt}}}',
};

export const runNetwork: Operation<RunNetworkQuery, RunNetworkQueryVariables> = {
  text: 'query RunNetwork($runId:String!){runConnections(runId:$runId){data{host port phase verdict count sentBytes receivedBytes programs recentRuns isAllowedNow template{id name isBuiltin}}}}',
};

export const allowHost: Operation<AllowHostMutation, AllowHostMutationVariables> = {
  text: 'mutation AllowHost($runId:String!$input:AllowHostRequest!){allowHost(runId:$runId input:$input){id name}}',
};

export const run: Operation<RunQuery, RunQueryVariables> = {
  text: 'query Run($runId:String!){run(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const runLive: Operation<RunLiveSubscription, RunLiveSubscriptionVariables> = {
  text: 'subscription RunLive($runId:String!){runUpdated(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const cancelRun: Operation<CancelRunMutation, CancelRunMutationVariables> = {
  text: 'mutation CancelRun($runId:String!){cancelRun(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const followRun: Operation<FollowRunMutation, FollowRunMutationVariables> = {
  text: 'mutation FollowRun($runId:String!){followRun(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const unfollowRun: Operation<UnfollowRunMutation, UnfollowRunMutationVariables> = {
  text: 'mutation UnfollowRun($runId:String!){unfollowRun(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const handOverRun: Operation<HandOverRunMutation, HandOverRunMutationVariables> = {
  text: 'mutation HandOverRun($runId:String!$userId:String!){handOverRun(runId:$runId userId:$userId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const sendMessage: Operation<SendMessageMutation, SendMessageMutationVariables> = {
  text: 'mutation SendMessage($runId:String!$text:String!$messageId:String){sendMessage(runId:$runId text:$text messageId:$messageId){id}}',
};

export const answerElicitation: Operation<AnswerElicitationMutation, AnswerElicitationMutationVariables> = {
  text: 'mutation AnswerElicitation($runId:String!$sandboxId:String!$seq:Int!$text:String!$approve:Boolean){answerElicitation(runId:$runId sandboxId:$sandboxId seq:$seq text:$text approve:$approve){id}}',
};

export const rerunMission: Operation<RerunMissionMutation, RerunMissionMutationVariables> = {
  text: 'mutation RerunMission($runId:String!){rerunMission(runId:$runId){id}}',
};

export const continueRun: Operation<ContinueRunMutation, ContinueRunMutationVariables> = {
  text: 'mutation ContinueRun($runId:String!$stepId:String!$prompt:String!){continueRun(runId:$runId stepId:$stepId prompt:$prompt){id}}',
};

export const setRunBudget: Operation<SetRunBudgetMutation, SetRunBudgetMutationVariables> = {
  text: 'mutation SetRunBudget($runId:String!$budgetUsd:Float!){setRunBudget(runId:$runId budgetUsd:$budgetUsd){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const setRunLimits: Operation<SetRunLimitsMutation, SetRunLimitsMutationVariables> = {
  text: 'mutation SetRunLimits($runId:String!$maxMinutes:Int$maxModelCalls:Int$maxTokens:Int){setRunLimits(runId:$runId maxMinutes:$maxMinutes maxModelCalls:$maxModelCalls maxTokens:$maxTokens){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const approvePlan: Operation<ApprovePlanMutation, ApprovePlanMutationVariables> = {
  text: 'mutation ApprovePlan($runId:String!){approvePlan(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const interruptRun: Operation<InterruptRunMutation, InterruptRunMutationVariables> = {
  text: 'mutation InterruptRun($runId:String!){interruptRun(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const resumeRun: Operation<ResumeRunMutation, ResumeRunMutationVariables> = {
  text: 'mutation ResumeRun($runId:String!){resumeRun(runId:$runId){...RunParts}}fragment RunParts on Run{...RunRow detailsDeletedAt kept{retentionDays steps messages inputTokens cachedInputTokens cacheWriteTokens outputTokens}attemptNumber attemptState attemptGroup{id}personId isFollowed awaitsApproval sandboxTemplateId prompt prUrl prNumber agentId budgetUsd parkedBy parkedReason sandboxMinutes sandboxCostUsd modelCalls instanceType maxMinutes maxModelCalls maxTokens questions{sandboxId seq text choices tool arguments at}scheduledTaskId automationId steps{...RunStep}messages{...RunMessage}continuesStep{seq runId}fork{sourceRunId call calls model agentVersion}issueId issueUrl scheduledFor scheduledTask{name}automation{name}issue{key}sandboxes{...SandboxRow sparkline{t cpuPct memUsedMb memTotalMb}}artifacts{...ArtifactCard}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}fragment RunStep on MissionStep{id role round sandboxId status agentName agentVersion harness model output error costUsd inputTokens cachedInputTokens cacheWriteTokens outputTokens startedAt finishedAt checkpoint{commitSha createdAt}}fragment RunMessage on RunMessage{id kind text approved author createdAt deliveredAt acknowledgedAt}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment ArtifactCard on Artifact{id kind contentType sizeBytes caption criterion criterionPassed role createdAt expiresAt url traceViewerUrl sandboxId projectId}',
};

export const runs: Operation<RunsQuery, RunsQueryVariables> = {
  text: 'query Runs($projectId:String$status:RunStatus$needsPerson:Boolean$followed:Boolean$search:String$agentId:String$personId:String$kind:RunKind$createdFrom:EpochMs$createdBefore:EpochMs$order:ListOrder$limit:Int!$cursor:String){runs(projectId:$projectId status:$status needsPerson:$needsPerson followed:$followed search:$search agentId:$agentId personId:$personId kind:$kind createdFrom:$createdFrom createdBefore:$createdBefore order:$order limit:$limit cursor:$cursor){data{...RunRow}nextCursor}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const missionViews: Operation<MissionViewsQuery, MissionViewsQueryVariables> = {
  text: 'query MissionViews{missionViews{views{id name layout groupBy filters{search projectId status agentId personId kind needsPerson followed}}}}',
};

export const createMissionView: Operation<CreateMissionViewMutation, CreateMissionViewMutationVariables> = {
  text: 'mutation CreateMissionView($input:MissionViewRequest!){createMissionView(input:$input){id}}',
};

export const updateMissionView: Operation<UpdateMissionViewMutation, UpdateMissionViewMutationVariables> = {
  text: 'mutation UpdateMissionView($viewId:String!$input:MissionViewRequest!){updateMissionView(viewId:$viewId input:$input){id}}',
};

export const deleteMissionView: Operation<DeleteMissionViewMutation, DeleteMissionViewMutationVariables> = {
  text: 'mutation DeleteMissionView($viewId:String!){deleteMissionView(viewId:$viewId){id}}',
};

export const runGroups: Operation<RunGroupsQuery, RunGroupsQueryVariables> = {
  text: 'query RunGroups($by:RunGrouping!$projectId:String$status:RunStatus$needsPerson:Boolean$followed:Boolean$search:String$agentId:String$personId:String$kind:RunKind$createdFrom:EpochMs$createdBefore:EpochMs){runGroups(by:$by projectId:$projectId status:$status needsPerson:$needsPerson followed:$followed search:$search agentId:$agentId personId:$personId kind:$kind createdFrom:$createdFrom createdBefore:$createdBefore){data{key name count}}}',
};

export const memberNames: Operation<MemberNamesQuery, MemberNamesQueryVariables> = {
  text: 'query MemberNames($orgId:String!){memberships(orgId:$orgId){memberships{userId role person{name}}}}',
};

export const agentDelegations: Operation<AgentDelegationsQuery, AgentDelegationsQueryVariables> = {
  text: 'query AgentDelegations{agentDelegations{data{id agentName clientName registrationType provider scopes projectId project{name}resource createdAt expiresAt lastUsedAt status}}}',
};

export const revokeAgentDelegation: Operation<RevokeAgentDelegationMutation, RevokeAgentDelegationMutationVariables> = {
  text: 'mutation RevokeAgentDelegation($delegationId:String!){revokeAgentDelegation(delegationId:$delegationId){kind revokedTokens}}',
};

export const directoryTokens: Operation<DirectoryTokensQuery, DirectoryTokensQueryVariables> = {
  text: 'query DirectoryTokens{directoryTokens{data{id name createdAt createdBy{name}expiresAt lastUsedAt revokedAt}}}',
};

export const directoryGroups: Operation<DirectoryGroupsQuery, DirectoryGroupsQueryVariables> = {
  text: 'query DirectoryGroups{directoryGroups{data{id displayName role memberCount}}me{role}}',
};

export const directoryUsers: Operation<DirectoryUsersQuery, DirectoryUsersQueryVariables> = {
  text: 'query DirectoryUsers($query:String$limit:Int!$cursor:String){directoryUsers(query:$query limit:$limit cursor:$cursor){data{id userName email displayName state updatedAt}nextCursor}}',
};

export const createDirectoryToken: Operation<CreateDirectoryTokenMutation, CreateDirectoryTokenMutationVariables> = {
  text: 'mutation CreateDirectoryToken($name:String!$expiresInDays:Int!){createDirectoryToken(name:$name expiresInDays:$expiresInDays){name token}}',
};

export const revokeDirectoryToken: Operation<RevokeDirectoryTokenMutation, RevokeDirectoryTokenMutationVariables> = {
  text: 'mutation RevokeDirectoryToken($directoryTokenId:String!){revokeDirectoryToken(directoryTokenId:$directoryTokenId){id}}',
};

export const setDirectoryGroupRole: Operation<SetDirectoryGroupRoleMutation, SetDirectoryGroupRoleMutationVariables> = {
  text: 'mutation SetDirectoryGroupRole($directoryGroupId:String!$role:DirectoryGroupRole){setDirectoryGroupRole(directoryGroupId:$directoryGroupId role:$role){id}}',
};

export const linkAccount: Operation<LinkAccountMutation, LinkAccountMutationVariables> = {
  text: 'mutation LinkAccount($orgId:String!$userId:String!$integrationId:String!$login:String!){linkAccount(orgId:$orgId userId:$userId integrationId:$integrationId login:$login){userId}}',
};

export const unlinkAccount: Operation<UnlinkAccountMutation, UnlinkAccountMutationVariables> = {
  text: 'mutation UnlinkAccount($orgId:String!$userId:String!$vendor:String!$host:String!){unlinkAccount(orgId:$orgId userId:$userId vendor:$vendor host:$host){userId}}',
};

export const noticeMails: Operation<NoticeMailsQuery, NoticeMailsQueryVariables> = {
  text: 'query NoticeMails{noticeMails{kind enabled}}',
};

export const updateNoticeMail: Operation<UpdateNoticeMailMutation, UpdateNoticeMailMutationVariables> = {
  text: 'mutation UpdateNoticeMail($input:UpdateNoticeMailRequest!){updateNoticeMail(input:$input){kind enabled}}',
};

export const missionNoticeChoices: Operation<MissionNoticeChoicesQuery, MissionNoticeChoicesQueryVariables> = {
  text: 'query MissionNoticeChoices{missionNoticeChoices{kind mail browser origin}}',
};

export const updateMissionNotices: Operation<UpdateMissionNoticesMutation, UpdateMissionNoticesMutationVariables> = {
  text: 'mutation UpdateMissionNotices($input:UpdateMissionNoticesRequest!){updateMissionNotices(input:$input){kind}}',
};

export const missionNews: Operation<MissionNewsSubscription, MissionNewsSubscriptionVariables> = {
  text: 'subscription MissionNews{missionNews{notices{id title body url}}}',
};

export const members: Operation<MembersQuery, MembersQueryVariables> = {
  text: 'query Members($orgId:String!){memberships(orgId:$orgId){memberships{userId role createdAt accounts{vendor host login}person{name email}}}invites{invites{id email role status expiresAtSec createdAt}}me{userId role}}',
};

export const createInvite: Operation<CreateInviteMutation, CreateInviteMutationVariables> = {
  text: 'mutation CreateInvite($email:String!$role:OrgRole!){createInvite(input:{email:$email role:$role}){id}}',
};

export const revokeInvite: Operation<RevokeInviteMutation, RevokeInviteMutationVariables> = {
  text: 'mutation RevokeInvite($inviteId:String!){revokeInvite(inviteId:$inviteId){ok}}',
};

export const updateMembership: Operation<UpdateMembershipMutation, UpdateMembershipMutationVariables> = {
  text: 'mutation UpdateMembership($orgId:String!$userId:String!$role:OrgRole!){updateMembership(orgId:$orgId userId:$userId input:{role:$role}){userId}}',
};

export const deleteMembership: Operation<DeleteMembershipMutation, DeleteMembershipMutationVariables> = {
  text: 'mutation DeleteMembership($orgId:String!$userId:String!){deleteMembership(orgId:$orgId userId:$userId){ok}}',
};

export const formerMembers: Operation<FormerMembersQuery, FormerMembersQueryVariables> = {
  text: 'query FormerMembers($orgId:String!){formerMembers(orgId:$orgId){people{userId name email removedAt erasedAt}}}',
};

export const erasePerson: Operation<ErasePersonMutation, ErasePersonMutationVariables> = {
  text: 'mutation ErasePerson($orgId:String!$person:String!){erasePerson(orgId:$orgId person:$person){personId}}',
};

export const organizationSettings: Operation<OrganizationSettingsQuery, OrganizationSettingsQueryVariables> = {
  text: 'query OrganizationSettings($orgId:String!){me{capabilities}organization(orgId:$orgId){id name slug}orchestrator{dailyCostCapUsd defaultDailyCostCapUsd effectiveDailyCostCapUsd dailySpendUsd planApproval inferenceEnabled model llmConnectorId modelsByVendor{anthropic{id label}openai{id label}}}}',
};

export const modelConnectors: Operation<ModelConnectorsQuery, ModelConnectorsQueryVariables> = {
  text: 'query ModelConnectors{integrations{integrations{id displayName vendorKind}}}',
};

export const orchestratorCredentials: Operation<OrchestratorCredentialsQuery, OrchestratorCredentialsQueryVariables> = {
  text: 'query OrchestratorCredentials{orchestrator{assignedCredentialUsableForInference}}',
};

export const updateOrganization: Operation<UpdateOrganizationMutation, UpdateOrganizationMutationVariables> = {
  text: 'mutation UpdateOrganization($orgId:String!$input:UpdateOrganizationRequest!){updateOrganization(orgId:$orgId input:$input){id}}',
};

export const updateOrchestrator: Operation<UpdateOrchestratorMutation, UpdateOrchestratorMutationVariables> = {
  text: 'mutation UpdateOrchestrator($input:UpdateOrchestratorRequest!){updateOrchestrator(input:$input){orgId}}',
};

export const recordingSettings: Operation<RecordingSettingsQuery, RecordingSettingsQueryVariables> = {
  text: 'query RecordingSettings{recordingSettings{isEnabled days}me{role}}',
};

export const setRecordingSettings: Operation<SetRecordingSettingsMutation, SetRecordingSettingsMutationVariables> = {
  text: 'mutation SetRecordingSettings($isEnabled:Boolean!$days:Int!){setRecordingSettings(isEnabled:$isEnabled days:$days){isEnabled days}}',
};

export const retentionSettings: Operation<RetentionSettingsQuery, RetentionSettingsQueryVariables> = {
  text: 'query RetentionSettings{retentionSettings{runDays logDays artifactDays sandboxDays}me{role}}',
};

export const setRetentionSettings: Operation<SetRetentionSettingsMutation, SetRetentionSettingsMutationVariables> = {
  text: 'mutation SetRetentionSettings($runDays:Int$logDays:Int$artifactDays:Int$sandboxDays:Int){setRetentionSettings(runDays:$runDays logDays:$logDays artifactDays:$artifactDays sandboxDays:$sandboxDays){runDays logDays artifactDays sandboxDays}}',
};

export const tokens: Operation<TokensQuery, TokensQueryVariables> = {
  text: 'query Tokens{tokens{data{id name scopes projectId project{name}createdAt expiresAt lastUsedAt revokedAt}}}',
};

export const scopes: Operation<ScopesQuery, ScopesQueryVariables> = {
  text: 'query Scopes{scopes{groups{key name scopes{scope description grantable presets}}}}',
};

export const createToken: Operation<CreateTokenMutation, CreateTokenMutationVariables> = {
  text: 'mutation CreateToken($input:CreateTokenRequest!){createToken(input:$input){name token expiresAt}}',
};

export const revokeToken: Operation<RevokeTokenMutation, RevokeTokenMutationVariables> = {
  text: 'mutation RevokeToken($tokenId:String!){revokeToken(tokenId:$tokenId){kind}}',
};

export const openRuns: Operation<OpenRunsQuery, OpenRunsQueryVariables> = {
  text: 'query OpenRuns{running:runs(status:running limit:20){data{...RunRow}nextCursor}waiting:runs(status:dispatching limit:20){data{...RunRow}nextCursor}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const endedRuns: Operation<EndedRunsQuery, EndedRunsQueryVariables> = {
  text: 'query EndedRuns{completed:runs(status:completed limit:12){data{...RunRow}}failed:runs(status:failed limit:12){data{...RunRow}}canceled:runs(status:canceled limit:12){data{...RunRow}}skipped:runs(status:skipped limit:12){data{...RunRow}}}fragment RunRow on Run{id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete needs startedBy personName interruptedAt outcome{...RunOutcome}reason lastError createdAt startedAt finishedAt projectId project{name}}fragment RunOutcome on RunOutcome{result commits files insertions deletions branch prNumber prUrl prState}',
};

export const upcoming: Operation<UpcomingQuery, UpcomingQueryVariables> = {
  text: 'query Upcoming{upcomingOccurrences(limit:8){data{at name scheduledTaskId automationId project{name}}}}',
};

export const spend: Operation<SpendQuery, SpendQueryVariables> = {
  text: 'query Spend{orchestrator{dailySpendUsd effectiveDailyCostCapUsd atDailyCostCap spendByHour{t usd}}}',
};

export const busySandboxes: Operation<BusySandboxesQuery, BusySandboxesQueryVariables> = {
  text: 'query BusySandboxes($projectId:String$limit:Int!$status:SandboxStatus){sandboxes(projectId:$projectId limit:$limit status:$status){data{...SandboxRow project{name}sparkline{t cpuPct memUsedMb memTotalMb}}nextCursor}}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}',
};

export const setup: Operation<SetupQuery, SetupQueryVariables> = {
  text: 'query Setup{setup{complete next reachedCount totalCount requirements{id isMet}guides{id step completedAt}groups{id name milestones{id name state}}}notices{notices{id kind title body actionUrl}}}',
};

export const markMilestone: Operation<MarkMilestoneMutation, MarkMilestoneMutationVariables> = {
  text: 'mutation MarkMilestone($milestoneId:String!$mark:SetupMark!){updateSetupMilestone(milestoneId:$milestoneId input:{mark:$mark}){complete}}',
};

export const followGuide: Operation<FollowGuideMutation, FollowGuideMutationVariables> = {
  text: 'mutation FollowGuide($guideId:String!$step:Int!$completed:Boolean!){updateSetupGuide(guideId:$guideId input:{step:$step completed:$completed}){complete}}',
};

export const dismissNotice: Operation<DismissNoticeMutation, DismissNoticeMutationVariables> = {
  text: 'mutation DismissNotice($noticeId:String!){dismissNotice(noticeId:$noticeId){noticeId}}',
};

export const palette: Operation<PaletteQuery, PaletteQueryVariables> = {
  text: 'query Palette{projects(limit:100){data{id name}}agents(limit:100){data{id name}}sandboxTemplates(limit:100){data{id name}}issues(limit:100){data{id key title}}scheduledTasks(limit:100){data{id name}}automations(limit:100){data{id name}}}',
};

export const paletteMembers: Operation<PaletteMembersQuery, PaletteMembersQueryVariables> = {
  text: 'query PaletteMembers($orgId:String!){memberships(orgId:$orgId){memberships{userId person{name email}}}}',
};

export const paletteRuns: Operation<PaletteRunsQuery, PaletteRunsQueryVariables> = {
  text: 'query PaletteRuns($search:String){runs(limit:12 search:$search){data{id missionTitle status}}}',
};

export const projectSettings: Operation<ProjectSettingsQuery, ProjectSettingsQueryVariables> = {
  text: 'query ProjectSettings($projectId:String!){project(projectId:$projectId){id name issueCode scmOwner scmRepo status autoMerge defaultSandboxTemplateId tracker trackerTeamId scmConnectorId trackerConnectorId llmConnectorId effectPolicy{waits allowedTools}}}',
};

export const createProject: Operation<CreateProjectMutation, CreateProjectMutationVariables> = {
  text: 'mutation CreateProject($input:CreateProjectRequest!){createProject(input:$input){id}}',
};

export const updateProject: Operation<UpdateProjectMutation, UpdateProjectMutationVariables> = {
  text: 'mutation UpdateProject($projectId:String!$input:UpdateProjectRequest!){updateProject(projectId:$projectId input:$input){id status}}',
};

export const setProjectConnectors: Operation<SetProjectConnectorsMutation, SetProjectConnectorsMutationVariables> = {
  text: 'mutation SetProjectConnectors($projectId:String!$input:ProjectConnectorsRequest!){setProjectConnectors(projectId:$projectId input:$input){id}}',
};

export const setProjectTeam: Operation<SetProjectTeamMutation, SetProjectTeamMutationVariables> = {
  text: 'mutation SetProjectTeam($projectId:String!$hasTeam:Boolean){setProjectTeam(projectId:$projectId hasTeam:$hasTeam){id hasTeam}}',
};

export const setPullRequestLoop: Operation<SetPullRequestLoopMutation, SetPullRequestLoopMutationVariables> = {
  text: 'mutation SetPullRequestLoop($projectId:String!$rounds:Int!$hours:Int!$costUsd:Float){setPullRequestLoop(projectId:$projectId rounds:$rounds hours:$hours costUsd:$costUsd){id}}',
};

export const deleteProject: Operation<DeleteProjectMutation, DeleteProjectMutationVariables> = {
  text: 'mutation DeleteProject($projectId:String!){deleteProject(projectId:$projectId){id}}',
};

export const projects: Operation<ProjectsQuery, ProjectsQueryVariables> = {
  text: 'query Projects($limit:Int!$cursor:String$nameContains:String$status:ProjectStatus$order:ListOrder){projects(limit:$limit cursor:$cursor nameContains:$nameContains status:$status order:$order){data{id name issueCode scmOwner scmRepo status createdAt missingConnectorKinds tracker}nextCursor}}',
};

export const project: Operation<ProjectQuery, ProjectQueryVariables> = {
  text: 'query Project($projectId:String!){project(projectId:$projectId){id name issueCode scmOwner scmRepo status tracker hasTeam pullRequestLoop{rounds hours costUsd}defaultSandboxTemplate{id name}createdAt}}',
};

export const scheduledTasks: Operation<ScheduledTasksQuery, ScheduledTasksQueryVariables> = {
  text: 'query ScheduledTasks($projectId:String$limit:Int!$cursor:String){page:scheduledTasks(projectId:$projectId limit:$limit cursor:$cursor){data{id name enabled agentId agent{name}nextRunAt lastRunAt triggers{...ScheduleWords}eventTriggers{kind label assignee mention branch}project{name}runs{id status createdAt}}nextCursor}}fragment ScheduleWords on Trigger{schedule{...ScheduleParts}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}',
};

export const automations: Operation<AutomationsQuery, AutomationsQueryVariables> = {
  text: 'query Automations($projectId:String$limit:Int!$cursor:String){page:automations(projectId:$projectId limit:$limit cursor:$cursor){data{id name enabled agentId agent{name}nextRunAt lastRunAt triggers{...ScheduleWords}eventTriggers{kind label assignee mention branch}project{name}runs{id status createdAt}}nextCursor}}fragment ScheduleWords on Trigger{schedule{...ScheduleParts}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}',
};

export const environments: Operation<EnvironmentsQuery, EnvironmentsQueryVariables> = {
  text: 'query Environments($projectId:String!$limit:Int!$cursor:String){environments(projectId:$projectId limit:$limit cursor:$cursor){data{environmentId status prNumber workerName createdAt expiresAt destroyedAt}nextCursor}}',
};

export const runScheduledTask: Operation<RunScheduledTaskMutation, RunScheduledTaskMutationVariables> = {
  text: 'mutation RunScheduledTask($id:String!){started:runScheduledTask(id:$id){runId}}',
};

export const runAutomation: Operation<RunAutomationMutation, RunAutomationMutationVariables> = {
  text: 'mutation RunAutomation($id:String!){started:runAutomation(automationId:$id){runId}}',
};

export const quality: Operation<QualityQuery, QualityQueryVariables> = {
  text: 'query Quality($groupBy:QualityGroup!$days:Int!$projectId:String$agentId:String){qualityFigures(groupBy:$groupBy days:$days projectId:$projectId agentId:$agentId){data{...QualityFigures}weeks{start missions completed merged}}}fragment QualityFigures on QualityFigures{projectId agentId agentName agentVersion missions completed completedShare pullRequests merged mergedShare reverted revertedShare endedAtLimit msToMerge msToStart runsPerMission messagesPerMission costPerMergedUsd}',
};

export const compareAgentVersions: Operation<CompareAgentVersionsQuery, CompareAgentVersionsQueryVariables> = {
  text: 'query CompareAgentVersions($agentId:String!$first:Int!$second:Int!$days:Int!){compareAgentVersions(agentId:$agentId first:$first second:$second days:$days){first{missions completedShare mergedShare}second{missions completedShare mergedShare}differences{share difference low high isMoreThanChance}}}',
};

export const scheduledTask: Operation<ScheduledTaskQuery, ScheduledTaskQueryVariables> = {
  text: 'query ScheduledTask($id:String!){one:scheduledTask(id:$id){...TaskParts}}fragment TaskParts on ScheduledTask{id name projectId prompt agentId enabled labels skipIfPreviousOpen templateKey effectPolicy{waits allowedTools}nextRunAt updatedAt triggers{...ScheduleWords}eventTriggers{...EventTriggerParts}upcoming project{name}}fragment ScheduleWords on Trigger{schedule{...ScheduleParts}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}fragment EventTriggerParts on EventTrigger{kind from hookId label assignee mention branch filter key template outsiderTemplateId}',
};

export const automation: Operation<AutomationQuery, AutomationQueryVariables> = {
  text: 'query Automation($id:String!){one:automation(automationId:$id){...AutomationParts}}fragment AutomationParts on Automation{id name projectId prompt agentId enabled labels skipIfPreviousOpen templateKey effectPolicy{waits allowedTools}nextRunAt updatedAt triggers{...ScheduleWords}eventTriggers{...EventTriggerParts}upcoming project{name}}fragment ScheduleWords on Trigger{schedule{...ScheduleParts}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}fragment EventTriggerParts on EventTrigger{kind from hookId label assignee mention branch filter key template outsiderTemplateId}',
};

export const taskRuns: Operation<TaskRunsQuery, TaskRunsQueryVariables> = {
  text: 'query TaskRuns($id:String!$limit:Int!){runs:scheduledTaskRuns(id:$id limit:$limit){data{id status missionTitle createdAt}}}',
};

export const automationRuns: Operation<AutomationRunsQuery, AutomationRunsQueryVariables> = {
  text: 'query AutomationRuns($id:String!$limit:Int!){runs:automationRuns(automationId:$id limit:$limit){data{id status missionTitle createdAt}}}',
};

export const taskTemplates: Operation<TaskTemplatesQuery, TaskTemplatesQueryVariables> = {
  text: 'query TaskTemplates{templates:scheduledTaskTemplates{data{key name blurb prompt agentId suggestedSchedule{...ScheduleParts}}}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}',
};

export const automationTemplates: Operation<AutomationTemplatesQuery, AutomationTemplatesQueryVariables> = {
  text: 'query AutomationTemplates{templates:automationTemplates{data{key name blurb prompt agentId suggestedSchedule{...ScheduleParts}}}}fragment ScheduleParts on Schedule{interval time timezone weekday dayOfMonth}',
};

export const createScheduledTask: Operation<CreateScheduledTaskMutation, CreateScheduledTaskMutationVariables> = {
  text: 'mutation CreateScheduledTask($input:CreateScheduledTaskRequest!){created:createScheduledTask(input:$input){id}}',
};

export const createAutomation: Operation<CreateAutomationMutation, CreateAutomationMutationVariables> = {
  text: 'mutation CreateAutomation($input:CreateScheduledTaskRequest!){created:createAutomation(input:$input){id}}',
};

export const updateScheduledTask: Operation<UpdateScheduledTaskMutation, UpdateScheduledTaskMutationVariables> = {
  text: 'mutation UpdateScheduledTask($id:String!$input:UpdateScheduledTaskRequest!$ifUpdatedAt:EpochMs){updated:updateScheduledTask(id:$id input:$input ifUpdatedAt:$ifUpdatedAt){id}}',
};

export const updateAutomation: Operation<UpdateAutomationMutation, UpdateAutomationMutationVariables> = {
  text: 'mutation UpdateAutomation($id:String!$input:UpdateScheduledTaskRequest!$ifUpdatedAt:EpochMs){updated:updateAutomation(automationId:$id input:$input ifUpdatedAt:$ifUpdatedAt){id}}',
};

export const deleteScheduledTask: Operation<DeleteScheduledTaskMutation, DeleteScheduledTaskMutationVariables> = {
  text: 'mutation DeleteScheduledTask($id:String!){deleted:deleteScheduledTask(id:$id){id}}',
};

export const deleteAutomation: Operation<DeleteAutomationMutation, DeleteAutomationMutationVariables> = {
  text: 'mutation DeleteAutomation($id:String!){deleted:deleteAutomation(automationId:$id){id}}',
};

export const runEvents: Operation<RunEventsQuery, RunEventsQueryVariables> = {
  text: 'query RunEvents($runId:String!){run(runId:$runId){missionTitle projectId project{name}}runEvents(runId:$runId){data{at kind text}}}',
};

export const runMoment: Operation<RunMomentQuery, RunMomentQueryVariables> = {
  text: 'query RunMoment($runId:String!$at:EpochMs){runMoment(runId:$runId at:$at){at status costUsd log paths steps{id role status agentName model error}messages{id kind author text createdAt}plan{content status}fragments{kind at:t body action result}}}',
};

export const runShares: Operation<RunSharesQuery, RunSharesQueryVariables> = {
  text: 'query RunShares($runId:String!){runShares(runId:$runId){data{...RunShareRow}}}fragment RunShareRow on RunShare{id createdBy createdAt expiresAt revokedAt revokedBy uses lastUsedAt}',
};

export const createRunShare: Operation<CreateRunShareMutation, CreateRunShareMutationVariables> = {
  text: 'mutation CreateRunShare($runId:String!$days:Int){createRunShare(runId:$runId days:$days){address}}',
};

export const revokeRunShare: Operation<RevokeRunShareMutation, RevokeRunShareMutationVariables> = {
  text: 'mutation RevokeRunShare($shareId:String!){revokeRunShare(shareId:$shareId){id}}',
};

export const destroyEnvironment: Operation<DestroyEnvironmentMutation, DestroyEnvironmentMutationVariables> = {
  text: 'mutation DestroyEnvironment($environmentId:String!){destroyEnvironment(environmentId:$environmentId){environmentId}}',
};

export const sandbox: Operation<SandboxQuery, SandboxQueryVariables> = {
  text: 'query Sandbox($sandboxId:String!$charts:Boolean!){sandbox(sandboxId:$sandboxId){sandbox{...SandboxParts}sessions{...Session}liveFragments{...Fragment}metrics@include(if:$charts){...Metric}}}fragment SandboxParts on Sandbox{...SandboxRow harnessVersion terminationReason timeoutAt lastDiskUsedPct logsDeletedAt project{name}run{id missionTitle}}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment Session on SandboxSession{role sessionId ts outcome totalCostUsd}fragment Fragment on SandboxLiveFragment{kind t body action parameter result toolUseId failed exitCode items{content status}}fragment Metric on SandboxMetric{t cpuPct memUsedMb memTotalMb diskUsedPct}',
};

export const sandboxLive: Operation<SandboxLiveSubscription, SandboxLiveSubscriptionVariables> = {
  text: 'subscription SandboxLive($sandboxId:String!$charts:Boolean!){sandboxUpdated(sandboxId:$sandboxId){sandbox{...SandboxParts sessions{...Session}}fragments{...Fragment}metrics@include(if:$charts){...Metric}}}fragment SandboxParts on Sandbox{...SandboxRow harnessVersion terminationReason timeoutAt lastDiskUsedPct logsDeletedAt project{name}run{id missionTitle}}fragment SandboxRow on Sandbox{sandboxId status role harness instanceType createdAt destroyedAt lastHeartbeatAt lastCpuPct lastMemUsedMb lastMemTotalMb projectId runId}fragment Session on SandboxSession{role sessionId ts outcome totalCostUsd}fragment Fragment on SandboxLiveFragment{kind t body action parameter result toolUseId failed exitCode items{content status}}fragment Metric on SandboxMetric{t cpuPct memUsedMb memTotalMb diskUsedPct}',
};

export const sandboxFragments: Operation<SandboxFragmentsQuery, SandboxFragmentsQueryVariables> = {
  text: 'query SandboxFragments($sandboxId:String!$limit:Int!$cursor:String){sandbox(sandboxId:$sandboxId){sandbox{logsDeletedAt}fragments(limit:$limit cursor:$cursor){data{...Fragment}nextCursor}}}fragment Fragment on SandboxLiveFragment{kind t body action parameter result toolUseId failed exitCode items{content status}}',
};

export const sandboxLog: Operation<SandboxLogQuery, SandboxLogQueryVariables> = {
  text: 'query SandboxLog($sandboxId:String!$role:AgentRole!$sessionId:String!$part:SandboxLogPart!$cursor:String$after:SafeInt){sandboxLog(sandboxId:$sandboxId role:$role sessionId:$sessionId part:$part cursor:$cursor after:$after){content bytes deletedAt nextCursor times{line at}promptSpans{id content scope}}}',
};

export const killSandbox: Operation<KillSandboxMutation, KillSandboxMutationVariables> = {
  text: 'mutation KillSandbox($sandboxId:String!){killSandbox(sandboxId:$sandboxId){sandboxId}}',
};

export const secrets: Operation<SecretsQuery, SecretsQueryVariables> = {
  text: 'query Secrets($scope:SecretScope!$projectId:String$templateId:String$limit:Int!$cursor:String){secrets(scope:$scope projectId:$projectId templateId:$templateId limit:$limit cursor:$cursor){data{id kind name hosts setupOnly lastUsedAt setBy updatedAt}nextCursor}}',
};

export const createSecret: Operation<CreateSecretMutation, CreateSecretMutationVariables> = {
  text: 'mutation CreateSecret($input:CreateSecretRequest!){createSecret(input:$input){id}}',
};

export const updateSecret: Operation<UpdateSecretMutation, UpdateSecretMutationVariables> = {
  text: 'mutation UpdateSecret($secretId:String!$input:UpdateSecretRequest!){updateSecret(secretId:$secretId input:$input){id}}',
};

export const deleteSecret: Operation<DeleteSecretMutation, DeleteSecretMutationVariables> = {
  text: 'mutation DeleteSecret($secretId:String!){deleteSecret(secretId:$secretId){id}}',
};

export const signInSettings: Operation<SignInSettingsQuery, SignInSettingsQueryVariables> = {
  text: 'query SignInSettings{signInDomains{domains{...SignInDomainParts}}identityProviders{providers{...IdentityProviderParts}}}fragment SignInDomainParts on SignInDomain{id domain recordName recordValue providerId required verifiedAt missingSince}fragment IdentityProviderParts on IdentityProvider{id name protocol issuer clientId returnAddress entityId metadataUrl metadataReadAt metadataFailingSince defaultRole testedAt updatedAt}',
};

export const createSignInDomain: Operation<CreateSignInDomainMutation, CreateSignInDomainMutationVariables> = {
  text: 'mutation CreateSignInDomain($input:CreateSignInDomainRequest!){createSignInDomain(input:$input){id}}',
};

export const verifySignInDomain: Operation<VerifySignInDomainMutation, VerifySignInDomainMutationVariables> = {
  text: 'mutation VerifySignInDomain($domainId:String!){verifySignInDomain(domainId:$domainId){id}}',
};

export const updateSignInDomain: Operation<UpdateSignInDomainMutation, UpdateSignInDomainMutationVariables> = {
  text: 'mutation UpdateSignInDomain($domainId:String!$input:UpdateSignInDomainRequest!){updateSignInDomain(domainId:$domainId input:$input){id}}',
};

export const deleteSignInDomain: Operation<DeleteSignInDomainMutation, DeleteSignInDomainMutationVariables> = {
  text: 'mutation DeleteSignInDomain($domainId:String!){deleteSignInDomain(domainId:$domainId){id}}',
};

export const createIdentityProvider: Operation<CreateIdentityProviderMutation, CreateIdentityProviderMutationVariables> = {
  text: 'mutation CreateIdentityProvider($input:CreateIdentityProviderRequest!){createIdentityProvider(input:$input){id}}',
};

export const updateIdentityProvider: Operation<UpdateIdentityProviderMutation, UpdateIdentityProviderMutationVariables> = {
  text: 'mutation UpdateIdentityProvider($providerId:String!$input:UpdateIdentityProviderRequest!){updateIdentityProvider(providerId:$providerId input:$input){id}}',
};

export const deleteIdentityProvider: Operation<DeleteIdentityProviderMutation, DeleteIdentityProviderMutationVariables> = {
  text: 'mutation DeleteIdentityProvider($providerId:String!){deleteIdentityProvider(providerId:$providerId){id}}',
};

export const createSamlProvider: Operation<CreateSamlProviderMutation, CreateSamlProviderMutationVariables> = {
  text: 'mutation CreateSamlProvider($input:CreateSamlProviderRequest!){createSamlProvider(input:$input){id}}',
};

export const replaceSamlMetadata: Operation<ReplaceSamlMetadataMutation, ReplaceSamlMetadataMutationVariables> = {
  text: 'mutation ReplaceSamlMetadata($samlProviderId:String!$input:SamlMetadataRequest!){replaceSamlMetadata(samlProviderId:$samlProviderId input:$input){id}}',
};

export const allowedNetworks: Operation<AllowedNetworksQuery, AllowedNetworksQueryVariables> = {
  text: 'query AllowedNetworks{allowedNetworks{networks address}}',
};

export const setAllowedNetworks: Operation<SetAllowedNetworksMutation, SetAllowedNetworksMutationVariables> = {
  text: 'mutation SetAllowedNetworks($input:SetAllowedNetworksRequest!){setAllowedNetworks(input:$input){networks}}',
};

export const sandboxTemplates: Operation<SandboxTemplatesQuery, SandboxTemplatesQueryVariables> = {
  text: 'query SandboxTemplates($limit:Int!$cursor:String){sandboxTemplates(limit:$limit cursor:$cursor){data{...TemplateRow}nextCursor}}fragment TemplateRow on SandboxTemplate{id name description base image isBuiltin setupNetwork{mode hosts}agentNetwork{mode hosts}projects{id name}agents{id name}updatedAt}',
};

export const sandboxTemplate: Operation<SandboxTemplateQuery, SandboxTemplateQueryVariables> = {
  text: 'query SandboxTemplate($templateId:String!){sandboxTemplate(templateId:$templateId){...TemplateRow dockerfile setupScript variables{name value}services{name image variables{name value}command healthCheck}labels instanceType memoryMb diskMb processes stepMinutes stepModelCalls stepTokens maxMinutes maxModelCalls maxTokens effectPolicy{waits allowedTools}}}fragment TemplateRow on SandboxTemplate{id name description base image isBuiltin setupNetwork{mode hosts}agentNetwork{mode hosts}projects{id name}agents{id name}updatedAt}',
};

export const packageRegistries: Operation<PackageRegistriesQuery, PackageRegistriesQueryVariables> = {
  text: 'query PackageRegistries{agentCatalog{packageRegistries{name hosts}}}',
};

export const createSandboxTemplate: Operation<CreateSandboxTemplateMutation, CreateSandboxTemplateMutationVariables> = {
  text: 'mutation CreateSandboxTemplate($input:CreateSandboxTemplateRequest!){createSandboxTemplate(input:$input){id}}',
};

export const updateSandboxTemplate: Operation<UpdateSandboxTemplateMutation, UpdateSandboxTemplateMutationVariables> = {
  text: 'mutation UpdateSandboxTemplate($templateId:String!$input:UpdateSandboxTemplateRequest!$ifUpdatedAt:EpochMs){updateSandboxTemplate(templateId:$templateId input:$input ifUpdatedAt:$ifUpdatedAt){id}}',
};

export const deleteSandboxTemplate: Operation<DeleteSandboxTemplateMutation, DeleteSandboxTemplateMutationVariables> = {
  text: 'mutation DeleteSandboxTemplate($templateId:String!){deleteSandboxTemplate(templateId:$templateId){id}}',
};

export const templateNames: Operation<TemplateNamesQuery, TemplateNamesQueryVariables> = {
  text: 'query TemplateNames{sandboxTemplates(limit:100){data{id name isBuiltin}}}',
};

export const openTerminal: Operation<OpenTerminalMutation, OpenTerminalMutationVariables> = {
  text: 'mutation OpenTerminal($runId:String!$width:Int!$height:Int!){openTerminal(runId:$runId width:$width height:$height){id}}',
};

export const writeTerminal: Operation<WriteTerminalMutation, WriteTerminalMutationVariables> = {
  text: 'mutation WriteTerminal($terminalId:String!$seq:Int!$text:String!){writeTerminal(terminalId:$terminalId seq:$seq text:$text){status}}',
};

export const resizeTerminal: Operation<ResizeTerminalMutation, ResizeTerminalMutationVariables> = {
  text: 'mutation ResizeTerminal($terminalId:String!$width:Int!$height:Int!){resizeTerminal(terminalId:$terminalId width:$width height:$height){status}}',
};

export const closeTerminal: Operation<CloseTerminalMutation, CloseTerminalMutationVariables> = {
  text: 'mutation CloseTerminal($terminalId:String!){closeTerminal(terminalId:$terminalId){status}}',
};

export const terminalUpdated: Operation<TerminalUpdatedSubscription, TerminalUpdatedSubscriptionVariables> = {
  text: 'subscription TerminalUpdated($terminalId:String!$after:Int){terminalUpdated(terminalId:$terminalId after:$after){output nextOutput isCut terminal{status hasDevice reason}}}',
};

export const webhookEndpoints: Operation<WebhookEndpointsQuery, WebhookEndpointsQueryVariables> = {
  text: 'query WebhookEndpoints($cursor:String$limit:Int){webhookEndpoints(cursor:$cursor limit:$limit){data{...EndpointParts}nextCursor}}fragment EndpointParts on WebhookEndpoint{id name url types projectIds ordered enabled disabledReason failingSince createdAt}',
};

export const webhookEndpoint: Operation<WebhookEndpointQuery, WebhookEndpointQueryVariables> = {
  text: 'query WebhookEndpoint($endpointId:String!){endpoint:webhookEndpoint(endpointId:$endpointId){...EndpointParts}}fragment EndpointParts on WebhookEndpoint{id name url types projectIds ordered enabled disabledReason failingSince createdAt}',
};

export const webhookProjects: Operation<WebhookProjectsQuery, WebhookProjectsQueryVariables> = {
  text: 'query WebhookProjects{projects(limit:100){data{id name}}}',
};

export const createWebhookEndpoint: Operation<CreateWebhookEndpointMutation, CreateWebhookEndpointMutationVariables> = {
  text: 'mutation CreateWebhookEndpoint($input:CreateWebhookEndpointRequest!){created:createWebhookEndpoint(input:$input){secret endpoint{...EndpointParts}}}fragment EndpointParts on WebhookEndpoint{id name url types projectIds ordered enabled disabledReason failingSince createdAt}',
};

export const updateWebhookEndpoint: Operation<UpdateWebhookEndpointMutation, UpdateWebhookEndpointMutationVariables> = {
  text: 'mutation UpdateWebhookEndpoint($endpointId:String!$input:UpdateWebhookEndpointRequest!){updateWebhookEndpoint(endpointId:$endpointId input:$input){id}}',
};

export const replaceWebhookSecret: Operation<ReplaceWebhookSecretMutation, ReplaceWebhookSecretMutationVariables> = {
  text: 'mutation ReplaceWebhookSecret($endpointId:String!){replaced:replaceWebhookSecret(endpointId:$endpointId){secret endpoint{...EndpointParts}}}fragment EndpointParts on WebhookEndpoint{id name url types projectIds ordered enabled disabledReason failingSince createdAt}',
};

export const deleteWebhookEndpoint: Operation<DeleteWebhookEndpointMutation, DeleteWebhookEndpointMutationVariables> = {
  text: 'mutation DeleteWebhookEndpoint($endpointId:String!){deleteWebhookEndpoint(endpointId:$endpointId){id}}',
};

export const testWebhookEndpoint: Operation<TestWebhookEndpointMutation, TestWebhookEndpointMutationVariables> = {
  text: 'mutation TestWebhookEndpoint($endpointId:String!){tested:testWebhookEndpoint(endpointId:$endpointId){status type answerStatus answerBody error durationMs}}',
};

export const webhookDeliveries: Operation<WebhookDeliveriesQuery, WebhookDeliveriesQueryVariables> = {
  text: 'query WebhookDeliveries($endpointId:String!$status:WebhookDeliveryStatus$createdFrom:EpochMs$createdBefore:EpochMs$cursor:String$limit:Int){webhookDeliveries(endpointId:$endpointId status:$status createdFrom:$createdFrom createdBefore:$createdBefore cursor:$cursor limit:$limit){data{...WebhookDeliveryRow}nextCursor}}fragment WebhookDeliveryRow on WebhookDelivery{id endpointId number type status attempts dueAt attemptedAt answerStatus error resendOf createdAt}',
};

export const webhookDelivery: Operation<WebhookDeliveryQuery, WebhookDeliveryQueryVariables> = {
  text: 'query WebhookDelivery($endpointId:String!$webhookDeliveryId:String!){webhookDelivery(endpointId:$endpointId webhookDeliveryId:$webhookDeliveryId){messageId body answerBody durationMs}}',
};

export const resendWebhookDelivery: Operation<ResendWebhookDeliveryMutation, ResendWebhookDeliveryMutationVariables> = {
  text: 'mutation ResendWebhookDelivery($endpointId:String!$webhookDeliveryId:String!){resendWebhookDelivery(endpointId:$endpointId webhookDeliveryId:$webhookDeliveryId){id}}',
};

export const resendWebhookDeliveries: Operation<ResendWebhookDeliveriesMutation, ResendWebhookDeliveriesMutationVariables> = {
  text: 'mutation ResendWebhookDeliveries($endpointId:String!$input:ResendWebhookDeliveriesRequest!){resent:resendWebhookDeliveries(endpointId:$endpointId input:$input){count}}',
};
