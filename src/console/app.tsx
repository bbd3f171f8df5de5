// Maps URLs to pages. The code of a page is loaded when the page is first opened. Links between pages change the page without loading a new
// HTML document. The server renders the menu; this module marks the current page in it.
import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { menuMarkOf, nearestPage, type PageAddress, patternOf } from '../surfaces/console/pages.ts';
import { InboxCount } from './inbox/inbox-count.tsx';
import { BrowserNews } from './kit/browser-news.tsx';
import { Connection, loaded, SignedOut } from './kit/connection.tsx';
import { noteNavigation } from './kit/heading.tsx';
import { base, pageAt } from './kit/page.ts';
import { PaletteKey } from './palette/palette-key.tsx';

/** The component of every page; a page with `:id` in its URL gets the id as a property. */
const components: Record<PageAddress, ReturnType<typeof page>> = {
  '/inbox': page(async () => (await import('./inbox/inbox.tsx')).Inbox),
  '/overview': page(async () => (await import('./overview/overview.tsx')).Overview),
  '/projects': page(async () => (await import('./projects/projects.tsx')).Projects),
  '/projects/new': page(async () => (await import('./projects/project-new.tsx')).NewProject),
  '/projects/:id': page(async () => (await import('./projects/project.tsx')).Project),
  '/projects/:id/settings': page(async () => (await import('./projects/project-settings.tsx')).ProjectSettings),
  '/projects/:id/mcp': page(async () => (await import('./mcp/project-mcp.tsx')).ProjectMcp),
  '/schedules': page(async () => (await import('./recurring/schedules.tsx')).Schedules),
  '/tasks/new': page(async () => (await import('./recurring/recurring-pages.tsx')).NewTask),
  '/tasks/:id': page(async () => (await import('./recurring/recurring-pages.tsx')).Task),
  '/automations/new': page(async () => (await import('./recurring/recurring-pages.tsx')).NewAutomation),
  '/automations/:id': page(async () => (await import('./recurring/recurring-pages.tsx')).Automation),
  '/runs': page(async () => (await import('./missions/runs-page.tsx')).Runs),
  '/runs/new': page(async () => (await import('./missions/mission-new.tsx')).NewMission),
  '/runs/:id': page(async () => (await import('./missions/run.tsx')).Run),
  '/runs/:id/changes': page(async () => (await import('./changes/changes.tsx')).Changes),
  '/runs/:id/replay': page(async () => (await import('./replay/replay.tsx')).Replay),
  '/runs/:id/terminal': page(async () => (await import('./terminals/terminal.tsx')).Terminal),
  '/attempts/:id': page(async () => (await import('./attempts/attempts.tsx')).Attempts),
  '/sandboxes/:id': page(async () => (await import('./sandboxes/sandbox.tsx')).Sandbox),
  '/agents': page(async () => (await import('./agents/agents.tsx')).Agents),
  '/agents/new': page(async () => (await import('./agents/agent.tsx')).NewAgent),
  '/agents/:id': page(async () => (await import('./agents/agent.tsx')).Agent),
  '/templates': page(async () => (await import('./templates/templates.tsx')).Templates),
  '/templates/new': page(async () => (await import('./templates/template.tsx')).NewTemplate),
  '/templates/:id': page(async () => (await import('./templates/template.tsx')).SandboxTemplate),
  '/runtimes': page(async () => (await import('./agents/runtimes.tsx')).Runtimes),
  '/quality': page(async () => (await import('./quality/quality.tsx')).Quality),
  '/artifacts': page(async () => (await import('./artifacts/artifacts.tsx')).Gallery),
  '/issues': page(async () => (await import('./issues/issues.tsx')).Issues),
  '/issues/new': page(async () => (await import('./issues/issue-forms.tsx')).NewIssue),
  '/issues/:id': page(async () => (await import('./issues/issue.tsx')).Issue),
  '/members': page(async () => (await import('./organization/members.tsx')).Members),
  '/directory': page(async () => (await import('./organization/directory.tsx')).Directory),
  '/integrations': page(async () => (await import('./integrations/integrations.tsx')).Integrations),
  '/hooks': page(async () => (await import('./hooks/hooks.tsx')).Hooks),
  '/hooks/:id': page(async () => (await import('./hooks/hook.tsx')).Hook),
  '/mcp': page(async () => (await import('./mcp/mcp.tsx')).Mcp),
  '/connected-agents': page(async () => (await import('./organization/delegations.tsx')).Delegations),
  '/tokens': page(async () => (await import('./organization/tokens.tsx')).Tokens),
  '/notifications': page(async () => (await import('./organization/notifications.tsx')).Notifications),
  '/secrets': page(async () => (await import('./secrets/secrets.tsx')).Secrets),
  '/billing': page(async () => (await import('./billing/billing.tsx')).Billing),
  '/billing/buy': page(async () => (await import('./billing/billing-buy.tsx')).Buy),
  '/billing/ledger': page(async () => (await import('./billing/billing-ledger.tsx')).Ledger),
  '/webhooks': page(async () => (await import('./webhooks/webhooks.tsx')).Webhooks),
  '/webhooks/:id': page(async () => (await import('./webhooks/webhook.tsx')).Webhook),
  '/sign-in': page(async () => (await import('./sign-in/sign-in.tsx')).SignIn),
  '/audit': page(async () => (await import('./audit/audit.tsx')).AuditLog),
  '/settings': page(async () => (await import('./organization/settings.tsx')).Settings),
};

interface PageProperties {
  id: string;
}

/** The page of another record is mounted from scratch, so that no state of the previous record remains. */
function page(load: () => Promise<ComponentType<PageProperties>>) {
  const Page = lazy(() => loaded(load));
  const Keyed = ({ id = '' }: Partial<PageProperties>) => <Page key={id} id={id} />;
  return Object.assign(Keyed, { preload: Page.preload });
}

const pages = Object.entries(components).map(([address, component]) => [patternOf(address, base), component] as const);

export const preload = async (path: string): Promise<unknown> =>
  pages.find(([pattern]) => pattern.test(path))?.[1].preload();

const scope = new RegExp(pages.map(([{ source }]) => source.replace(/\$$/, '(?=[?#]|$)')).join('|'));

export const App = () => (
  <LocationProvider scope={scope}>
    <Marks />
    <PaletteKey />
    <Connection />
    <SignedOut />
    <BrowserNews />
    <InboxCount />
    <Router onRouteChange={noteNavigation}>
      {Object.entries(components).map(([address, Page]) => (
        <Route key={address} path={pageAt(address)} component={Page} />
      ))}
    </Router>
  </LocationProvider>
);

/** Marks the current page, or the list it belongs to, in the menu, and points the organization switcher to the same page. */
function Marks() {
  const { path } = useLocation();
  useLayoutEffect(() => {
    for (const link of document.querySelectorAll('.menu nav a')) {
      const mark = menuMarkOf(path, link.getAttribute('href')!);
      if (mark) link.setAttribute('aria-current', mark);
      else link.removeAttribute('aria-current');
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.switcher a[data-base]'))
      link.href = link.dataset.base + nearestPage(path.slice(base.length));
  }, [path]);
  return null;
}
