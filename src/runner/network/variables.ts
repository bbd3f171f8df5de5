// Variables that tell programs in a cell or container their proxy and their certificate authorities.
import type { Trust } from './trust.ts';

/**
 * Returns the environment variables for the proxy and the certificate authorities. @param port The port of the proxy on loopback, inside
 * the cell or container. @param trust Null means only the certificate authorities of the system or image. @param home The home of the
 * mission: the JVM, and with it the cache of Maven, would otherwise use the home of the account.
 */
export function proxyVariables(port: number, trust: Trust | null, home: string): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = '127.0.0.1,localhost,::1';
  const both = (name: string, value: string) => ({ [name]: value, [name.toLowerCase()]: value });
  // The JVM ignores variables such as HTTP_PROXY, so it gets the proxy as options.
  const schemes = ['http', 'https'].map((scheme) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`);
  const java = [...schemes, '-Dhttp.nonProxyHosts=localhost|127.*', `-Duser.home=${home}`, ...(trust?.java ?? [])];
  return {
    ...both('HTTP_PROXY', proxy),
    ...both('HTTPS_PROXY', proxy),
    ...both('NO_PROXY', direct),
    NODE_USE_ENV_PROXY: '1',
    JAVA_TOOL_OPTIONS: java.join(' '),
    ...trust?.variables,
  };
}
