import type { ServerFacts } from '../../core/run/provenance.ts';
import { wholeResponse } from '../load/responses/whole-reader.ts';
import type { Transport } from '../load/transports/transport.ts';
import type { InfoSeries } from './info-series.ts';
import { SERVER_READERS, type AskServer } from './server-readers.ts';
import { pageSettings } from './settings.ts';

const TIMEOUT_SECONDS = 2;
/** A round-robin may have hundreds of servers: the first ones represent them. */
const MAX_SERVERS = 16;

/** What is needed to ask the benchmarked servers about themselves. */
export interface AskedServers {
  readonly system: string | null;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `proxy`: its name; absent: none. */
  readonly servers: readonly { readonly origin: string; readonly transport: Transport; readonly proxy?: string }[];
  readonly series: readonly InfoSeries[];
  /** Texts that nothing stored may contain. */
  readonly secrets: readonly string[];
}

/** Version and settings of each server, as far as it reports them. Never throws. */
export async function readServers(asked: AskedServers): Promise<readonly ServerFacts[]> {
  const { system, model, headers, servers, series, secrets } = asked;
  const read = system !== null && Object.hasOwn(SERVER_READERS, system) ? SERVER_READERS[system] : undefined;
  return Promise.all(
    servers.slice(0, MAX_SERVERS).map(async ({ origin, transport, proxy }) => {
      const own = await read?.({ ask: askBy(transport, headers), model, secrets });
      // With several servers a page cannot be assigned to one of them.
      const pages = servers.length === 1 ? pageSettings(series, secrets) : {};
      return {
        ...{ origin, system, version: own?.version ?? null, settings: { ...own?.settings, ...pages } },
        ...(proxy === undefined ? {} : { proxy }),
      };
    }),
  );
}

function askBy(transport: Transport, headers: Readonly<Record<string, string>>): AskServer {
  return async (path) => {
    try {
      const request = { method: 'GET' as const, path, headers, body: null };
      const { status, body } = await wholeResponse(transport, request, TIMEOUT_SECONDS);
      return status === 200 ? (JSON.parse(body) as unknown) : null;
    } catch {
      // A server that does not answer this can be measured all the same.
      return null;
    }
  };
}

/** The version of the benchmarked servers; several different ones are listed. Null: none was reported. */
export function serverVersion(servers: readonly ServerFacts[]): string | null {
  const versions = [...new Set(servers.flatMap(({ version }) => (version === null ? [] : [version])))];
  return versions.length === 0 ? null : versions.slice(0, 3).join(', ');
}
