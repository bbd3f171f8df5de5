// Where it begins: the page that the server made says which of these it is.
import './language.ts';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { type ComponentType, render } from 'preact';
import { Gallery } from './artifacts.tsx';
import { Overview } from './overview.tsx';
import { page, root } from './page.ts';
import { Project } from './project.tsx';
import { Projects } from './projects.tsx';
import { Run } from './run.tsx';
import { Runs } from './runs.tsx';
import { Sandbox } from './sandbox.tsx';

const pages: Record<string, ComponentType> = {
  overview: Overview,
  projects: Projects,
  project: Project,
  runs: Runs,
  run: Run,
  sandbox: Sandbox,
  artifacts: Gallery,
};

const Page = pages[page];
if (Page) render(<Page />, root);
