// The pages of the application by address, each loaded when it is first opened. A link to one of them changes the page without a
// request for it; the menu around is the server's and is marked here.
import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { noteNavigation } from './heading.tsx';
import { PaletteKey } from './palette-key.tsx';

/** Every page; one with `:id` in its address gets that as a property. */
const pages = {
  '/console/overview': page(async () => (await import('./overview.tsx')).Overview),
  '/console/projects': page(async () => (await import('./projects.tsx')).Projects),
  '/console/projects/new': page(async () => (await import('./project-new.tsx')).NewProject),
  '/console/projects/:id': page(async () => (await import('./project.tsx')).Project),
  '/console/projects/:id/settings': page(async () => (await import('./project-settings.tsx')).ProjectSettings),
  '/console/projects/:id/mcp': page(async () => (await import('./project-mcp.tsx')).ProjectMcp),
  '/console/tasks/new': page(async () => (await import('./recurring-pages.tsx')).NewTask),
  '/console/tasks/:id': page(async () => (await import('./recurring-pages.tsx')).Task),
  '/console/automations/new': page(async () => (await import('./recurring-pages.tsx')).NewAutomation),
  '/console/automations/:id': page(async () => (await import('./recurring-pages.tsx')).Automation),
  '/console/runs': page(async () => (await import('./runs-page.tsx')).Runs),
  '/console/runs/new': page(async () => (await import('./mission-new.tsx')).NewMission),
  '/console/runs/:id': page(async () => (await import('./run.tsx')).Run),
  '/console/sandboxes/:id': page(async () => (await import('./sandbox.tsx')).Sandbox),
  '/console/agents': page(async () => (await import('./agents.tsx')).Agents),
  '/console/agents/new': page(async () => (await import('./agent.tsx')).NewAgent),
  '/console/agents/:id': page(async () => (await import('./agent.tsx')).Agent),
  '/console/runtimes': page(async () => (await import('./runtimes.tsx')).Runtimes),
  '/console/artifacts': page(async () => (await import('./artifacts.tsx')).Gallery),
  '/console/issues': page(async () => (await import('./issues.tsx')).Issues),
  '/console/issues/:id': page(async () => (await import('./issues.tsx')).Issue),
  '/console/members': page(async () => (await import('./members.tsx')).Members),
  '/console/integrations': page(async () => (await import('./integrations.tsx')).Integrations),
  '/console/mcp': page(async () => (await import('./mcp.tsx')).Mcp),
  '/console/connected-agents': page(async () => (await import('./delegations.tsx')).Delegations),
  '/console/tokens': page(async () => (await import('./tokens.tsx')).Tokens),
  '/console/notifications': page(async () => (await import('./notifications.tsx')).Notifications),
  '/console/billing': page(async () => (await import('./billing.tsx')).Billing),
  '/console/billing/buy': page(async () => (await import('./billing-buy.tsx')).Buy),
  '/console/billing/ledger': page(async () => (await import('./billing-ledger.tsx')).Ledger),
  '/console/settings': page(async () => (await import('./settings.tsx')).Settings),
};

interface PageProperties {
  id: string;
}

/** Another record is another page: nothing of the one before stays in it. */
function page(load: () => Promise<ComponentType<PageProperties>>) {
  const Page = lazy(() => load().catch(reload));
  const Keyed = ({ id = '' }: Partial<PageProperties>) => <Page key={id} id={id} />;
  return Object.assign(Keyed, { preload: Page.preload });
}

/** A newer release has taken the place of the one that this page is of: the server sends that one. */
function reload(): Promise<never> {
  location.reload();
  return new Promise(() => {});
}

const patterns = Object.entries(pages).map(
  ([address, one]) => [new RegExp(`^${address.replace(':id', '[^/?#]+')}$`), one] as const,
);

export const preload = async (path: string): Promise<unknown> =>
  patterns.find(([pattern]) => pattern.test(path))?.[1].preload();

const scope = new RegExp(patterns.map(([{ source }]) => source.replace(/\$$/, '(?=[?#]|$)')).join('|'));

export const App = () => (
  <LocationProvider scope={scope}>
    <Marks />
    <PaletteKey />
    <Router onRouteChange={noteNavigation}>
      {Object.entries(pages).map(([address, Page]) => (
        <Route key={address} path={address} component={Page} />
      ))}
    </Router>
  </LocationProvider>
);

/** Marks the page, or the list that it belongs to, in the menu. */
function Marks() {
  const { path } = useLocation();
  useLayoutEffect(() => {
    for (const link of document.querySelectorAll('.menu nav a')) {
      const address = link.getAttribute('href')!;
      if (path === address) link.setAttribute('aria-current', 'page');
      else if (path.startsWith(`${address}/`)) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }, [path]);
  return null;
}
