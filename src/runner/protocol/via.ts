// Decides to which URL the runner sends a request. Usually this is the URL of the requested server. The runner in a pod, which can reach
// only the relay of its cluster, sends the request to a URL of the relay, which forwards it to the server (kubernetes/relay.ts).

export interface Via {
  /** The URL for a request to the platform. */
  platform(address: string): string;
  /** The URL for a request to another host. The caller may append further path segments to the result. */
  host(address: string): string;
  isRelayed: boolean;
  /** The token of the mission, which is part of URLs; null without one. */
  secret: string | null;
}

export const directly: Via = {
  platform: (address) => address,
  host: (address) => address,
  isRelayed: false,
  secret: null,
};

/**
 * Returns URLs that lead through a relay.
 * @param relay URL of the relay without a trailing slash.
 * @param token The token by which the relay identifies the mission.
 */
export const through = (relay: string, token: string): Via => ({
  platform(address) {
    const { pathname, search } = new URL(address);
    return `${relay}/platform${pathname}${search}`;
  },
  host: (address) => `${relay}/host/${token}/${encodeURIComponent(address)}`,
  isRelayed: true,
  secret: token,
});
