// Masks the texts of a run for people without an account: secrets, email addresses, IP addresses and URLs. Runtimes have already masked the
// secrets that they got; these patterns find further secrets.

type Mask = (text: string) => string;

const patterns: readonly [pattern: RegExp, mark: string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[secret]'],
  // Tokens of vendors and of this service, recognized by their prefixes; JSON Web Tokens; keys of AWS.
  [
    /\b(?:gh[opusr]_|github_pat_|glpat-|sk-|sk_live_|rk_live_|xox[abprs]-|lin_api_|pat_|svc_|act_|npm_)[\w-]{12,}/g,
    '[secret]',
  ],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?/g, '[secret]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '[secret]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{12,}/gi, '$1 [secret]'],
  [
    /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|credential)[\w-]*["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}/gi,
    '$1[secret]',
  ],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]}]+/gi, '[address]'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[address]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, '[address]'],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])/gi, '[address]'],
];

/** Returns a function that masks a text. @param secrets Values that are masked wherever they occur */
export function createMask(secrets: readonly string[]): Mask {
  const values = secrets.filter((one) => one.length > 0).sort((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const value of values) masked = masked.replaceAll(value, '[secret]');
    for (const [pattern, mark] of patterns) masked = masked.replace(pattern, mark);
    return masked;
  };
}
