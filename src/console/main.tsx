// Entry point: loads the page that the URL names, then renders the application in place of the heading that the server wrote.
import './kit/language.ts';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { render } from 'preact';
import { App, preload } from './app.tsx';
import { root } from './kit/page.ts';
import { keepScroll } from './kit/scroll.ts';

await preload(location.pathname);
root.replaceChildren();
keepScroll();
render(<App />, root);
