// The icons of the console: outlines on a grid of 16, drawn in the color of the text. Imports nothing, because both the server and the
// browser load it.

const circle = 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2';

/**
 * The data of the SVG path that draws each icon, by the name of the icon. The icon of a menu page is named after the last part of the
 * page's URL.
 */
export const icons = {
  inbox: 'M2 9.5h3.5l1 2h3l1-2H14M4.2 3h7.6L14 9.5V13H2V9.5z',
  overview: 'M2.5 2.5H7v5H2.5zM9.5 2.5h4v3h-4zM9.5 8.5h4v5h-4zM2.5 10.5H7v3H2.5z',
  projects: 'M2 3.5h4L7.5 5.5H14V13H2z',
  runs: 'M4.5 2.5v11L13 8z',
  schedules: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  agents: 'M3 6h10v7.5H3zM8 6V2.5M6 9v1.5M10 9v1.5M1.5 9v2M14.5 9v2',
  templates: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6',
  runtimes: 'M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.75h.01M5 11.25h.01',
  quality: 'M2.5 2.5v11h11M5.5 11V8.5M8.5 11V5.5M11.5 11V7',
  artifacts: 'M4 2h5l3 3v9H4zM9 2v3h3',
  issues: `${circle}M8 8h.01`,
  members:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2 2-3.5 4.5-3.5s4.5 1.5 4.5 3.5M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 10.3c1.5.5 2.5 1.7 2.5 3.2',
  directory: 'M3 2.5h10v11H3zM8 7.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M5.5 11c0-1.3 1.1-2 2.5-2s2.5.7 2.5 2',
  integrations: 'M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14',
  hooks: 'M9 2L3.5 9H8l-1 5 5.5-7H8z',
  mcp: 'M2.5 6.5h7v7h-7zM6 6.5v7M2.5 10h7M11 2.5h2.5V5H11z',
  secrets: 'M5.25 13.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M7.2 8.8l6.3-6.3M10.5 5.5l2 2',
  webhooks: 'M2.5 8h8M7.5 4.5L11 8l-3.5 3.5M13.5 3v10',
  'sign-in': 'M7 2.5h6v11H7M2 8h7.5M6.5 5L9.5 8l-3 3',
  audit: 'M3.5 2.5h9v11h-9zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
  billing: 'M2 3.5h12v9H2zM2 6.5h12M4.5 10h2.5',
  settings:
    'M2 5h6M12 5h2M2 11h2M8 11h6M10 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6M6 9.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6',
  tokens: 'M2.5 2.5h5L14 9l-5 5-6.5-6.5zM5.5 5.5h.01',
  'connected-agents':
    'M7 9a2.5 2.5 0 0 0 3.6.1l2-2A2.5 2.5 0 0 0 9 3.6l-.7.7M9 7a2.5 2.5 0 0 0-3.6-.1l-2 2A2.5 2.5 0 0 0 7 12.4l.7-.7',
  notifications: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM6.8 14h2.4',
  sessions: 'M2 3h12v8H2zM6 14h4M8 11v3',
  passkeys: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  account: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8M2.5 14c0-2.5 2.5-4 5.5-4s5.5 1.5 5.5 4',
  operations: 'M2 8.5h2.5l1.5-5 3 9.5 2-6 1 1.5h2',
  reference: 'M3 2.5h9.5v11H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5h8',
  graphql: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5L14 14',
  live: 'M8 2a6 6 0 1 0 6 6',
  good: `${circle}M5.5 8.2l1.8 1.8 3.2-3.7`,
  bad: `${circle}M6 6l4 4M10 6l-4 4`,
  warn: 'M8 2.5l6 11H2zM8 7v2.5M8 11.5h.01',
  ask: 'M2.5 3h11v8H8l-3 2.5V11H2.5zM8 5.5v2M8 9h.01',
  waits: `${circle}M8 5v3l2 1.5`,
  paused: `${circle}M6.5 6v4M9.5 6v4`,
  none: `${circle}M5.5 8h5`,
} as const;

export type IconName = keyof typeof icons;
