// The manifest of a Slack app (docs.slack.dev/reference/app-manifest), in YAML.
export const manifest = (address: string): string => `display_information:
  name: Agent
  description: Starts and steers missions
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: agent
    always_online: true
  slash_commands:
    - command: /agent
      url: ${address}
      description: Starts a mission
      usage_hint: "[in project:] task"
      should_escape: true
oauth_config:
  scopes:
    bot:
      - app_mentions:read
      - channels:history
      - channels:read
      - chat:write
      - commands
      - groups:history
      - groups:read
      - im:history
      - users:read
      - users:read.email
settings:
  event_subscriptions:
    request_url: ${address}
    bot_events:
      - app_mention
      - message.channels
      - message.groups
      - message.im
  interactivity:
    is_enabled: true
    request_url: ${address}
  org_deploy_enabled: false
  socket_mode_enabled: false
  token_rotation_enabled: false
`;
