import type { TransportKind } from '../../../core/run/run.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { readTlsFiles, type TlsFiles, checkedSecret, secretVariable } from '../../http-client/tls-files.ts';
import { RawTransport } from './raw/raw-transport.ts';
import { parseTarget, type RequestTarget, type TargetApi } from './target.ts';
import type { Exchange, ResponseHandler, Transport, TransportRequest, TransportChoice } from './transport.ts';
import { UndiciTransport, type UndiciTransportOptions } from './undici-transport.ts';
import { readFile } from 'node:fs/promises';

/** Several servers as one: each request goes to the next server, regardless of the earlier results. */
export class RoundRobinTransport implements Transport {
  /** The transports to the servers, one each. */
  readonly each: readonly [Transport, ...Transport[]];
  #next = 0;

  /** At least one. */
  constructor(transports: readonly [Transport, ...Transport[]]) {
    this.each = transports;
  }

  get kind(): TransportKind | null {
    const kind = this.each[0].kind ?? null;
    return this.each.every((transport) => transport.kind === kind) ? kind : null;
  }

  send(request: TransportRequest, handler: ResponseHandler): Exchange {
    const transport = this.each[this.#next] ?? this.each[0];
    this.#next = (this.#next + 1) % this.each.length;
    return transport.send(request, handler);
  }

  async close(): Promise<void> {
    await Promise.all(this.each.map((transport) => transport.close()));
  }
}

/** The transports to each of the servers behind a transport, in the order of their URLs. */
export function waysOf(transport: Transport): readonly Transport[] {
  return transport instanceof RoundRobinTransport ? transport.each : [transport];
}

/** The transport to one server. Throws a `ConfigurationError` when the choice does not support it. */
export function chooseTransport(choice: TransportChoice, options: UndiciTransportOptions): Transport {
  const { proxy = null } = options;
  if (choice === 'raw' && proxy !== null)
    throw new ConfigurationError(
      `--transport raw does not support a proxy, here ${proxy.name}: use --transport auto, or --no-proxy`,
    );
  if (choice === 'undici' || proxy !== null) return new UndiciTransport(options);
  const isPlain = options.origin.startsWith('http:');
  if (choice === 'raw' && !isPlain)
    throw new ConfigurationError('--transport raw supports http only: use auto or undici for https');
  if (!isPlain) return new UndiciTransport(options);
  return new RawTransport(choice === 'raw' ? options : { ...options, fallback: new UndiciTransport(options) });
}

/** How servers are reached, as the user configured it. */
export interface ConnectionOptions {
  /** `--url`, at least one. */
  readonly urls: readonly string[];
  /** `--unix-socket`: requests are sent to it, and the URL only provides host and path. */
  readonly unixSocket: string | null;
  readonly connectTimeoutSeconds: number;
  readonly transport: TransportChoice;
  readonly tls: TlsFiles;
  /** `--no-proxy`: the proxies of the environment are ignored; absent: they are used. */
  readonly direct?: boolean;
  /** `--export-http-trace`: the phases of each request are recorded; absent: they are not. */
  readonly httpTrace?: boolean;
}

/**
 * The servers that the URLs name. All get the same requests, so they may differ in scheme, host and port only. Throws a
 * `ConfigurationError` that names the URL by its position, because a URL may contain a secret.
 */
export function parseTargets(
  urls: readonly string[],
  api: TargetApi,
  endpointPath: string | null = null,
): readonly [RequestTarget, ...RequestTarget[]] {
  const targets = urls.map((url, i) => {
    try {
      return parseTarget(url, api, endpointPath);
    } catch (error) {
      throw new ConfigurationError(`--url${urls.length > 1 ? ` ${i + 1}` : ''}: ${(error as Error).message}`);
    }
  });
  const [first, ...others] = targets;
  if (first === undefined) throw new ConfigurationError('--url is missing');
  const other = others.findIndex((target) => target.path !== first.path);
  if (other >= 0)
    throw new ConfigurationError(
      `--url ${other + 2} has a different path than the first: every server gets the same requests`,
    );
  return [first, ...others];
}

/**
 * Opens the transport to the targets; several are used round-robin. Throws a `ConfigurationError` when a file cannot be
 * used, or the transport cannot reach them.
 */
export async function openTransport(
  targets: readonly [RequestTarget, ...RequestTarget[]],
  options: Omit<ConnectionOptions, 'urls'>,
  secrets: readonly string[],
): Promise<Transport> {
  if (options.unixSocket !== null && targets.length > 1)
    throw new ConfigurationError('--unix-socket requires exactly one --url');
  const tls = await readTlsFiles(options.tls);
  const socket = options.unixSocket === null ? {} : { unixSocket: options.unixSocket };
  const { connectTimeoutSeconds, transport, httpTrace: trace = false } = options;
  const open = ({ origin, proxy }: RequestTarget): Transport =>
    chooseTransport(transport, { origin, secrets, connectTimeoutSeconds, tls, trace, proxy: proxy ?? null, ...socket });
  const [first, ...others] = targets;
  return others.length === 0 ? open(first) : new RoundRobinTransport([open(first), ...others.map(open)]);
}

/**
 * The source of the API key; at most one. The key itself is not an option of a command, because the list of processes
 * would show it.
 */
export interface ApiKeySource {
  readonly environmentVariable: string | null;
  readonly file: string | null;
  /** From a program that uses the library. */
  readonly key?: string;
}

/** Reads the key; null when none is configured. Throws a `ConfigurationError`, which never contains the key. */
export async function readApiKey(source: ApiKeySource, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { environmentVariable: variable, file, key: given } = source;
  if (given !== undefined) {
    if (variable !== null || file !== null)
      throw new ConfigurationError('apiKey cannot be used together with api-key-env or api-key-file');
    return checkedSecret(given, 'apiKey');
  }
  if (variable !== null && file !== null)
    throw new ConfigurationError('--api-key-env and --api-key-file cannot be used together');
  if (variable !== null) return secretVariable(variable, environment, '--api-key-env');
  if (file === null) return null;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(`--api-key-file ${file}: ${error.code ?? error.message}`);
  });
  const key = text.trim();
  if (key === '') throw new ConfigurationError(`--api-key-file ${file}: the file is empty`);
  return checkedSecret(key, `--api-key-file ${file}`);
}
