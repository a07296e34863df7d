import { FRAMING_HEADERS } from '../../load/transports/raw/http-head.ts';
import { CliError } from '../failure.ts';

/**
 * Header lines by their name in lower case (RFC 9110 field names and values). `ownHeaders`: those that the client sets
 * itself. Throws a `CliError` without the value, which may be a secret.
 */
export function headersOf(
  lines: readonly string[],
  option: string,
  ownHeaders: ReadonlySet<string> = FRAMING_HEADERS,
): Readonly<Record<string, string>> {
  const entries = lines.map((line) => {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/.exec(line);
    if (match === null) {
      const given = line.includes(':') ? ` '${line.slice(0, line.indexOf(':'))}…'` : '';
      throw new CliError(`${option}${given} must be NAME: VALUE`);
    }
    const name = (match[1] ?? '').toLowerCase();
    if (ownHeaders.has(name)) throw new CliError(`${option}: ${name} is set by the HTTP client`);
    return [name, match[2] ?? ''] as const;
  });
  return Object.fromEntries(entries);
}

/** What a scrape negotiates itself: another format or a compressed page could not be read. */
const SCRAPE_HEADERS: ReadonlySet<string> = new Set([...FRAMING_HEADERS, 'accept', 'accept-encoding', 'range']);

/** Headers of requests for metrics pages. Throws a `CliError` without the value. */
export function scrapeHeaders(lines: readonly string[], option: string): Readonly<Record<string, string>> {
  return headersOf(lines, option, SCRAPE_HEADERS);
}
