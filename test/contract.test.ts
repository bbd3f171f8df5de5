// The contract of the API, field by field: the expected route, scope, status and tool of every root field, listed here. A change here is a change of the
// contract.
import { expect, it } from 'vitest';
import { type RootField, rootFields } from './support/root-fields.ts';

const isBilling = ({ route }: RootField) => route?.template.startsWith('/billing/') ?? false;
const isSetup = ({ name }: RootField) => name.includes('etup');
const isAudit = ({ exposure: { scope } }: RootField) => scope === 'audit:read';
const isWebhook = ({ exposure: { scope } }: RootField) => /^webhooks:/.test(scope);
const isPinnedAbove = (root: RootField) =>
  [isBilling, isEnvironment, isSetup, isAudit, isWebhook].some((is) => is(root));
const isEnvironment = ({ route }: RootField) =>
  /^\/(sandbox-templates|inbound-hooks|secrets|budgets|runs\/.*(connections|preparations))\b/.test(
    route?.template ?? '',
  );
const linesOf = (roots: readonly RootField[]): string => {
  const lines = roots.map(({ name, route, exposure }) => {
    const place = route ? `${route.method.padEnd(6)} ${route.template.padEnd(40)} ${route.status}` : '-'.padEnd(51);
    return `${name.padEnd(22)} ${place} ${exposure.scope.padEnd(20)} ${exposure.tool?.name ?? '-'}`;
  });
  return `\n${lines.sort().join('\n')}\n`;
};

it('every root field of billing has the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter(isBilling))).toMatchInlineSnapshot(`
    "
    billingLedger          GET    /billing/ledger                          200 billing:read         list_ledger
    billingOffers          GET    /billing/offers                          200 billing:read         list_offers
    billingOrders          GET    /billing/orders                          200 billing:read         list_orders
    billingSummary         GET    /billing/summary                         200 billing:read         get_billing_summary
    checkoutSession        GET    /billing/checkout-sessions/{checkoutId}  200 billing:read         -
    createCheckoutSession  POST   /billing/checkout-sessions               201 billing:write        -
    createCreditRequest    POST   /billing/credit-requests                 201 missions:run         request_credits
    updateBillingSettings  PATCH  /billing/settings                        200 billing:write        -
    updateSubscription     PATCH  /billing/subscription                    200 billing:write        -
    withdrawOrder          POST   /billing/orders/{orderId}/withdrawal     201 billing:write        -
    "
  `);
});

const isForRuntimes = ({ exposure }: RootField) => exposure.scope === 'runtime:report';

const withoutRoute = rootFields.filter((field) => !field.route && !isForRuntimes(field));

it('every query and subscription without a REST route has the scope and tool that are listed here', () => {
  expect(linesOf(withoutRoute.filter(({ kind }) => kind !== 'Mutation'))).toMatchInlineSnapshot(`
    "
    agentVersions          -                                                   agents:read          list_agent_versions
    allowedNetworks        -                                                   sign-in:read         -
    attemptGroup           -                                                   missions:read        get_attempts
    attemptGroupUpdated    -                                                   missions:read        -
    auditEntries           -                                                   audit:read           -
    auditRetention         -                                                   audit:read           -
    auditStream            -                                                   audit:read           -
    changedFile            -                                                   artifacts:read       -
    chatConnections        -                                                   integrations:read    list_chat_connections
    compareAgentVersions   -                                                   missions:read        compare_agent_versions
    directoryGroups        -                                                   members:read         -
    directoryTokens        -                                                   members:write        -
    directoryUsers         -                                                   members:read         -
    formerMembers          -                                                   audit:read           -
    identityProviders      -                                                   sign-in:read         -
    inboxCount             -                                                   missions:read        -
    inboxUpdated           -                                                   missions:read        -
    issueComments          -                                                   missions:read        list_issue_comments
    mcpToolReview          -                                                   mcp:read             -
    missionNews            -                                                   person               -
    missionNoticeChoices   -                                                   person               -
    missionViews           -                                                   missions:read        -
    noticeMails            -                                                   person               -
    organizationExport     -                                                   organizations:read   -
    outsideEffects         -                                                   missions:read        list_outside_effects
    previewEventTrigger    -                                                   integrations:read    -
    recordedModelCalls     -                                                   artifacts:read       -
    recordingSettings      -                                                   organizations:read   -
    retentionSettings      -                                                   organizations:read   -
    runEvents              -                                                   sandboxes:read       -
    runGroups              -                                                   missions:read        -
    runMoment              -                                                   sandboxes:read       -
    runShares              -                                                   missions:run         -
    runUpdated             -                                                   missions:read        -
    runtimeTokens          -                                                   integrations:write   -
    runtimes               -                                                   agents:read          list_runtimes
    sandboxUpdated         -                                                   sandboxes:read       -
    signInDomains          -                                                   sign-in:read         -
    terminalUpdated        -                                                   missions:run         -
    upcomingOccurrences    -                                                   scheduled-tasks:read -
    "
  `);
});

it('every mutation without a REST route has the scope and tool that are listed here', () => {
  expect(linesOf(withoutRoute.filter(({ kind }) => kind === 'Mutation'))).toMatchInlineSnapshot(`
    "
    answerHostThread       -                                                   missions:run         answer_host_thread
    approveOutsideEffects  -                                                   missions:run         approve_outside_effects
    assignIssue            -                                                   missions:run         assign_issue
    bindChatChannel        -                                                   integrations:write   bind_chat_channel
    checkIntegration       -                                                   integrations:write   -
    chooseAttempt          -                                                   missions:run         choose_attempt
    closeAttempts          -                                                   missions:run         close_attempts
    closeTerminal          -                                                   missions:run         -
    commentOnIssue         -                                                   missions:run         comment_on_issue
    connectChat            -                                                   integrations:write   -
    connectIntegration     -                                                   integrations:write   -
    createCheckpointUpload -                                                   missions:run         -
    createDirectoryToken   -                                                   members:write        -
    createIdentityProvider -                                                   sign-in:write        -
    createIssue            -                                                   missions:run         create_issue
    createMissionView      -                                                   missions:read        -
    createRunShare         -                                                   missions:run         -
    createRuntimeToken     -                                                   integrations:write   -
    createSamlProvider     -                                                   sign-in:write        -
    createSignInDomain     -                                                   sign-in:write        -
    deleteAuditStream      -                                                   audit:read           -
    deleteIdentityProvider -                                                   sign-in:write        -
    deleteIssueComment     -                                                   missions:run         delete_issue_comment
    deleteMissionView      -                                                   missions:read        -
    deleteSignInDomain     -                                                   sign-in:write        -
    disconnectIntegration  -                                                   integrations:write   -
    drainRuntime           -                                                   integrations:write   -
    endAgentTrial          -                                                   agents:write         end_agent_trial
    erasePerson            -                                                   members:write        -
    exportOrganization     -                                                   person               -
    followRun              -                                                   missions:read        follow_run
    handOverRun            -                                                   missions:run         hand_over_run
    linkAccount            -                                                   members:write        link_account
    markInboxItemDone      -                                                   missions:read        mark_inbox_item_done
    mergePullRequest       -                                                   missions:run         merge_pull_request
    openTerminal           -                                                   missions:run         -
    pushCheckpoint         -                                                   missions:run         -
    rejectOutsideEffects   -                                                   missions:run         reject_outside_effects
    replaceSamlMetadata    -                                                   sign-in:write        -
    resizeTerminal         -                                                   missions:run         -
    resolveHostThread      -                                                   missions:run         resolve_host_thread
    resolveReviewComment   -                                                   missions:run         -
    restoreAgentVersion    -                                                   agents:write         restore_agent_version
    restoreInboxItem       -                                                   missions:read        restore_inbox_item
    retryAuditStream       -                                                   audit:read           -
    revokeDirectoryToken   -                                                   members:write        -
    revokeIntegration      -                                                   integrations:write   -
    revokeRunShare         -                                                   missions:run         -
    revokeRuntimeToken     -                                                   integrations:write   -
    rotateChat             -                                                   integrations:write   -
    rotateIntegration      -                                                   integrations:write   -
    setAllowedNetworks     -                                                   sign-in:write        -
    setAuditRetention      -                                                   organizations:write  -
    setAuditStream         -                                                   audit:read           -
    setDirectoryGroupRole  -                                                   members:write        -
    setIntegrationModels   -                                                   integrations:write   set_integration_models
    setProjectConnectors   -                                                   projects:write       set_project_connectors
    setProjectEffectPolicy -                                                   projects:write       set_project_effect_policy
    setProjectTeam         -                                                   projects:write       set_project_team
    setPullRequestLoop     -                                                   projects:write       set_pull_request_loop
    setRecordingSettings   -                                                   organizations:write  -
    setRetentionSettings   -                                                   organizations:write  -
    startAgentTrial        -                                                   agents:write         start_agent_trial
    startMissions          -                                                   missions:run         start_missions
    submitReview           -                                                   missions:run         submit_review
    unbindChatChannel      -                                                   integrations:write   unbind_chat_channel
    unfollowRun            -                                                   missions:read        unfollow_run
    unlinkAccount          -                                                   members:write        unlink_account
    updateIdentityProvider -                                                   sign-in:write        -
    updateIssue            -                                                   missions:run         update_issue
    updateIssueComment     -                                                   missions:run         update_issue_comment
    updateMissionNotices   -                                                   person               -
    updateMissionView      -                                                   missions:read        -
    updateNoticeMail       -                                                   person               -
    updateSignInDomain     -                                                   sign-in:write        -
    verifySignInDomain     -                                                   sign-in:write        -
    writeTerminal          -                                                   missions:run         -
    "
  `);
});

it('every root field for runtimes is listed here, with its scope and tool', () => {
  expect(linesOf(rootFields.filter(isForRuntimes))).toMatchInlineSnapshot(`
    "
    admitMcpCall           -                                                   runtime:report       -
    appendFragments        -                                                   runtime:report       -
    appendLog              -                                                   runtime:report       -
    appendTerminalOutput   -                                                   runtime:report       -
    claimRun               -                                                   runtime:report       -
    createArtifactUpload   -                                                   runtime:report       -
    finishRun              -                                                   runtime:report       -
    finishSandbox          -                                                   runtime:report       -
    finishStep             -                                                   runtime:report       -
    handBackRun            -                                                   runtime:report       -
    harnessDemand          -                                                   runtime:report       -
    heartbeat              -                                                   runtime:report       -
    leaveRuntime           -                                                   runtime:report       -
    moveEnvironment        -                                                   runtime:report       -
    openRecordingPart      -                                                   runtime:report       -
    openRepository         -                                                   runtime:report       -
    readTerminal           -                                                   runtime:report       -
    registerArtifact       -                                                   runtime:report       -
    registerEnvironment    -                                                   runtime:report       -
    registerSandbox        -                                                   runtime:report       -
    reportBranch           -                                                   runtime:report       -
    reportCheckpoint       -                                                   runtime:report       -
    reportConnections      -                                                   runtime:report       -
    reportCost             -                                                   runtime:report       -
    reportMcpCall          -                                                   runtime:report       -
    reportMcpTools         -                                                   runtime:report       -
    reportModelRejected    -                                                   runtime:report       -
    reportPreparation      -                                                   runtime:report       -
    reportRecordingPart    -                                                   runtime:report       -
    reportSession          -                                                   runtime:report       -
    reportTerminalEnd      -                                                   runtime:report       -
    reportUsage            -                                                   runtime:report       -
    repositoryFile         -                                                   runtime:report       -
    reserveModelCall       -                                                   runtime:report       -
    runMcpCommands         -                                                   runtime:report       -
    runMcpServers          -                                                   runtime:report       -
    runModels              -                                                   runtime:report       -
    runtimeDemand          GET    /runtimes/demand                         200 runtime:report       -
    runtimeOrders          -                                                   runtime:report       -
    signAttestations       -                                                   runtime:report       -
    "
  `);
});

it('every root field of environments of agents has the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter(isEnvironment))).toMatchInlineSnapshot(`
    "
    approveInboundDelivery POST   /inbound-hooks/{hookId}/deliveries/{deliveryId}/approval 200 integrations:write   -
    budget                 GET    /budgets/{budgetId}                      200 orchestrator:read    -
    budgets                GET    /budgets                                 200 orchestrator:read    list_budgets
    createBudget           POST   /budgets                                 201 orchestrator:write   create_budget
    createInboundHook      POST   /inbound-hooks                           201 integrations:write   -
    createSandboxTemplate  POST   /sandbox-templates                       201 agents:write         create_sandbox_template
    createSecret           POST   /secrets                                 201 secrets:write        -
    deleteBudget           DELETE /budgets/{budgetId}                      200 orchestrator:write   delete_budget
    deleteInboundHook      DELETE /inbound-hooks/{hookId}                  200 integrations:write   -
    deleteSandboxTemplate  DELETE /sandbox-templates/{templateId}          200 agents:write         delete_sandbox_template
    deleteSecret           DELETE /secrets/{secretId}                      200 secrets:write        -
    dismissInboundDelivery POST   /inbound-hooks/{hookId}/deliveries/{deliveryId}/dismissal 200 integrations:write   -
    inboundDeliveries      GET    /inbound-hooks/{hookId}/deliveries       200 integrations:read    list_inbound_deliveries
    inboundDelivery        GET    /inbound-hooks/{hookId}/deliveries/{deliveryId} 200 integrations:read    -
    inboundHook            GET    /inbound-hooks/{hookId}                  200 integrations:read    -
    inboundHooks           GET    /inbound-hooks                           200 integrations:read    list_inbound_hooks
    redeliverInboundDelivery POST   /inbound-hooks/{hookId}/deliveries/{deliveryId}/redelivery 201 integrations:write   -
    replaceInboundHookSecret PUT    /inbound-hooks/{hookId}/secret           200 integrations:write   -
    runConnections         GET    /runs/{runId}/connections                200 missions:read        list_connections
    runPreparations        GET    /runs/{runId}/preparations               200 missions:read        list_preparations
    sandboxTemplate        GET    /sandbox-templates/{templateId}          200 agents:read          get_sandbox_template
    sandboxTemplates       GET    /sandbox-templates                       200 agents:read          list_sandbox_templates
    secret                 GET    /secrets/{secretId}                      200 secrets:read         -
    secrets                GET    /secrets                                 200 secrets:read         list_secrets
    updateBudget           PATCH  /budgets/{budgetId}                      200 orchestrator:write   update_budget
    updateInboundHook      PATCH  /inbound-hooks/{hookId}                  200 integrations:write   -
    updateSandboxTemplate  PATCH  /sandbox-templates/{templateId}          200 agents:write         update_sandbox_template
    updateSecret           PATCH  /secrets/{secretId}                      200 secrets:write        -
    "
  `);
});

it('root fields of the setup have the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter((root) => root.route && isSetup(root)))).toMatchInlineSnapshot(`
    "
    setup                  GET    /setup                                   200 setup:read           get_setup
    updateSetupGroup       PATCH  /setup/groups/{groupId}                  200 setup:write          -
    updateSetupGuide       PATCH  /setup/guides/{guideId}                  200 setup:write          -
    updateSetupMilestone   PATCH  /setup/milestones/{milestoneId}          200 setup:write          -
    "
  `);
});

it('root fields of the audit log have the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter((root) => root.route && isAudit(root)))).toMatchInlineSnapshot(`
    "
    auditCheckpoints       GET    /audit-checkpoints                       200 audit:read           -
    auditConsistencyProof  GET    /audit-checkpoints/consistency           200 audit:read           -
    auditEventProof        GET    /audit-events/{number}/proof             200 audit:read           -
    auditEvents            GET    /audit-events                            200 audit:read           list_audit_events
    "
  `);
});

it('root fields of webhooks have the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter((root) => root.route && isWebhook(root)))).toMatchInlineSnapshot(`
    "
    createWebhookEndpoint  POST   /webhook-endpoints                       201 webhooks:write       -
    deleteWebhookEndpoint  DELETE /webhook-endpoints/{endpointId}          200 webhooks:write       -
    replaceWebhookSecret   PUT    /webhook-endpoints/{endpointId}/secret   200 webhooks:write       -
    resendWebhookDeliveries POST   /webhook-endpoints/{endpointId}/resend   200 webhooks:write       -
    resendWebhookDelivery  POST   /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId}/resend 201 webhooks:write       -
    testWebhookEndpoint    POST   /webhook-endpoints/{endpointId}/test     201 webhooks:write       -
    updateWebhookEndpoint  PATCH  /webhook-endpoints/{endpointId}          200 webhooks:write       -
    webhookDeliveries      GET    /webhook-endpoints/{endpointId}/deliveries 200 webhooks:read        list_webhook_deliveries
    webhookDelivery        GET    /webhook-endpoints/{endpointId}/deliveries/{webhookDeliveryId} 200 webhooks:read        -
    webhookEndpoint        GET    /webhook-endpoints/{endpointId}          200 webhooks:read        -
    webhookEndpoints       GET    /webhook-endpoints                       200 webhooks:read        list_webhook_endpoints
    "
  `);
});

it('root fields that are listed in no other test have the route, scope, status and tool that are listed here', () => {
  expect(linesOf(rootFields.filter((root) => root.route && !isPinnedAbove(root)))).toMatchInlineSnapshot(`
    "
    agent                  GET    /agents/{agentId}                        200 agents:read          get_agent
    agentCatalog           GET    /agents/catalog                          200 agents:read          get_agent_catalog
    agentDelegations       GET    /agent-delegations                       200 person               -
    agents                 GET    /agents                                  200 agents:read          list_agents
    allowHost              POST   /runs/{runId}/allowed-hosts              200 agents:write         allow_host
    answerElicitation      POST   /runs/{runId}/answer                     201 missions:run         answer_elicitation
    approvePlan            POST   /runs/{runId}/approval                   200 missions:run         approve_plan
    artifact               GET    /artifacts/{artifactId}                  200 artifacts:read       get_artifact
    artifacts              GET    /artifacts                               200 artifacts:read       list_artifacts
    attestation            GET    /attestations/{sha}                      200 missions:read        -
    automation             GET    /automations/{automationId}              200 automations:read     get_automation
    automationRuns         GET    /automations/{automationId}/runs         200 automations:read     list_automation_runs
    automationTemplates    GET    /automations/templates                   200 automations:read     list_automation_templates
    automations            GET    /automations                             200 automations:read     list_automations
    cancelRun              POST   /runs/{runId}/cancel                     200 missions:run         cancel_run
    closeOrganization      POST   /organizations/{orgId}/closure           201 person               -
    completeMcpOAuth       POST   /mcp/oauth/complete                      200 mcp:write            -
    continueRun            POST   /runs/{runId}/continuation               201 missions:run         continue_run
    createAgent            POST   /agents                                  201 agents:write         create_agent
    createAutomation       POST   /automations                             201 automations:write    create_automation
    createInvite           POST   /invites                                 201 members:write        create_invite
    createMembership       POST   /organizations/{orgId}/memberships       201 members:write        create_membership
    createOrganization     POST   /organizations                           201 organizations:write  -
    createProject          POST   /projects                                201 projects:write       create_project
    createScheduledTask    POST   /scheduled-tasks                         201 scheduled-tasks:write create_scheduled_task
    createToken            POST   /tokens                                  201 person               -
    deleteAgent            DELETE /agents/{agentId}                        200 agents:write         delete_agent
    deleteAutomation       DELETE /automations/{automationId}              200 automations:write    delete_automation
    deleteMcpBinding       DELETE /mcp/projects/{projectId}/servers/{serverName} 200 mcp:write            delete_mcp_binding
    deleteMembership       DELETE /organizations/{orgId}/memberships/{userId} 200 members:write        delete_membership
    deleteProject          DELETE /projects/{projectId}                    200 projects:write       delete_project
    deleteScheduledTask    DELETE /scheduled-tasks/{id}                    200 scheduled-tasks:write delete_scheduled_task
    destroyEnvironment     DELETE /environments/{environmentId}            200 environments:write   destroy_environment
    dismissNotice          POST   /notices/{noticeId}/dismissal            200 setup:write          -
    environment            GET    /environments/{environmentId}            200 environments:read    get_environment
    environments           GET    /environments                            200 environments:read    list_environments
    forkMission            POST   /runs/{runId}/fork                       201 missions:run         fork_mission
    inbox                  GET    /inbox                                   200 missions:read        list_inbox
    integrations           GET    /integrations                            200 integrations:read    list_integrations
    interruptRun           POST   /runs/{runId}/interruption               200 missions:run         interrupt_run
    invites                GET    /invites                                 200 members:read         list_invites
    issue                  GET    /issues/{issueId}                        200 missions:read        get_issue
    issues                 GET    /issues                                  200 missions:read        list_issues
    killSandbox            POST   /sandboxes/{sandboxId}/kill              200 sandboxes:write      kill_sandbox
    mcpBindings            GET    /mcp/bindings                            200 mcp:read             list_mcp_bindings
    me                     GET    /me                                      200 any-caller           get_me
    memberships            GET    /organizations/{orgId}/memberships       200 members:read         list_memberships
    notices                GET    /notices                                 200 setup:read           list_notices
    orchestrator           GET    /orchestrator                            200 orchestrator:read    get_orchestrator
    organization           GET    /organizations/{orgId}                   200 organizations:read   get_organization
    organizationClosure    GET    /organizations/{orgId}/closure           200 organizations:read   -
    organizations          GET    /organizations                           200 organizations:read   list_organizations
    project                GET    /projects/{projectId}                    200 projects:read        get_project
    projectMcp             GET    /mcp/projects/{projectId}                200 mcp:read             get_project_mcp
    projects               GET    /projects                                200 projects:read        list_projects
    putMcpBinding          PUT    /mcp/projects/{projectId}/servers/{serverName} 200 mcp:write            put_mcp_binding
    qualityFigures         GET    /quality-figures                         200 missions:read        get_quality_figures
    recording              GET    /runs/{runId}/recording                  200 artifacts:read       -
    refreshMcpTools        POST   /mcp/projects/{projectId}/servers/{serverName}/tools/refresh 200 mcp:write            refresh_mcp_tools
    rerunMission           POST   /runs/{runId}/rerun                      201 missions:run         rerun_mission
    resumeRun              POST   /runs/{runId}/resumption                 200 missions:run         resume_run
    revokeAgentDelegation  DELETE /agent-delegations/{delegationId}        200 person               -
    revokeInvite           DELETE /invites/{inviteId}                      200 members:write        revoke_invite
    revokeToken            DELETE /tokens/{tokenId}                        200 person               -
    run                    GET    /runs/{runId}                            200 missions:read        get_run
    runAutomation          POST   /automations/{automationId}/run          200 missions:run         run_automation
    runCalls               GET    /runs/{runId}/calls                      200 missions:read        -
    runMessages            GET    /runs/{runId}/messages                   200 missions:read        list_run_messages
    runScheduledTask       POST   /scheduled-tasks/{id}/run                200 missions:run         run_scheduled_task
    runSteps               GET    /runs/{runId}/steps                      200 missions:read        list_run_steps
    runs                   GET    /runs                                    200 missions:read        list_runs
    runtimeDemand          GET    /runtimes/demand                         200 runtime:report       -
    sandbox                GET    /sandboxes/{sandboxId}                   200 sandboxes:read       get_sandbox
    sandboxLog             GET    /sandboxes/{sandboxId}/logs              200 sandboxes:read       get_sandbox_log
    sandboxes              GET    /sandboxes                               200 sandboxes:read       list_sandboxes
    scheduledTask          GET    /scheduled-tasks/{id}                    200 scheduled-tasks:read get_scheduled_task
    scheduledTaskRuns      GET    /scheduled-tasks/{id}/runs               200 scheduled-tasks:read list_scheduled_task_runs
    scheduledTaskTemplates GET    /scheduled-tasks/templates               200 scheduled-tasks:read list_scheduled_task_templates
    scheduledTasks         GET    /scheduled-tasks                         200 scheduled-tasks:read list_scheduled_tasks
    scopes                 GET    /scopes                                  200 any-caller           list_scopes
    sendMessage            POST   /runs/{runId}/messages                   201 missions:run         send_message
    setRunBudget           PUT    /runs/{runId}/budget                     200 missions:run         set_run_budget
    setRunLimits           PUT    /runs/{runId}/limits                     200 missions:run         set_run_limits
    slugAvailability       GET    /organizations/slug-availability         200 organizations:read   -
    slugPreview            GET    /organizations/slug-preview              200 organizations:read   -
    startMcpOAuth          POST   /mcp/projects/{projectId}/servers/{serverName}/oauth/start 200 mcp:write            -
    startMission           POST   /runs                                    201 missions:run         start_mission
    tokens                 GET    /tokens                                  200 person               -
    updateAgent            PATCH  /agents/{agentId}                        200 agents:write         update_agent
    updateAutomation       PATCH  /automations/{automationId}              200 automations:write    update_automation
    updateMembership       PATCH  /organizations/{orgId}/memberships/{userId} 200 members:write        update_membership
    updateOrchestrator     PATCH  /orchestrator                            200 orchestrator:write   update_orchestrator
    updateOrganization     PATCH  /organizations/{orgId}                   200 organizations:write  update_organization
    updateProject          PATCH  /projects/{projectId}                    200 projects:write       update_project
    updateProjectMcp       PATCH  /mcp/projects/{projectId}                200 mcp:write            update_project_mcp
    updateScheduledTask    PATCH  /scheduled-tasks/{id}                    200 scheduled-tasks:write update_scheduled_task
    "
  `);
});
