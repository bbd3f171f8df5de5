// Opens a page in the person's browser.
import { spawn } from 'node:child_process';

/** Ignores a browser that does not start, because the URL is also printed. */
export function openBrowser(address: string): void {
  const [program, ...args] = process.env.BROWSER
    ? [process.env.BROWSER]
    : process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  spawn(program!, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
