import type { UnixInterval } from '../../../core/series/sighting.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import type { Dispatcher, ProxyAgent } from 'undici';
import { NO_PROXIES, proxyAgent, type Proxies } from '../../http-client/proxy.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import type { TlsSettings } from '../../http-client/tls-files.ts';
import { Agent } from '../../http-client/undici.ts';
import { workNow_ns } from '../../clock/monotonic-clock.ts';
import { OPEN_ACCESS, type PageAccess } from './targets.ts';

/** Time and size limits of one request for a page. */
export interface PageLimits {
  readonly connectTimeoutSeconds: number;
  /** Longest time without data, before the first byte and between two chunks. */
  readonly readTimeoutSeconds: number;
  /** Limit for the complete page, so that a slow trickle ends too. */
  readonly totalTimeoutSeconds: number;
  readonly maxBytes: number;
  /** Whether the body of a failure is read: of a server whose reasons are shown. Absent: not. */
  readonly readsFailures?: boolean;
}

export const DEFAULT_PAGE_LIMITS: PageLimits = {
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 10,
  totalTimeoutSeconds: 30,
  maxBytes: 64 * 1024 * 1024,
};

/** Why no page was received. */
type PageFailureKind =
  'unreachable' | 'silent' | 'slow' | 'status' | 'refused' | 'cut' | 'too_large' | 'encoded' | 'stopped';

/** Nanoseconds of the given clock. */
export interface PageTimes {
  readonly sent_ns: number;
  /** When the response head arrived; null when none did. */
  readonly first_byte_ns: number | null;
  readonly end_ns: number;
}

export interface ReceivedPage extends PageTimes {
  readonly kind: 'page';
  readonly first_byte_ns: number;
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
  /** By the server's clock, when the page was written. */
  readonly unixSeconds: UnixInterval;
}

export interface PageFailure extends PageTimes {
  readonly kind: PageFailureKind;
  /** One line, without the address and without text from the response. */
  readonly message: string;
  /** Of the response with the failure, where the limits say that it is read. */
  readonly bytes?: Uint8Array;
}

/**
 * The collector's HTTP client. Redirects are followed on the same origin only, so that credentials reach no other host;
 * connections are reused.
 */
export class PageClient {
  readonly #agent: Dispatcher;
  readonly #proxied = new Map<string, ProxyAgent>();
  readonly #proxies: Proxies;
  readonly #tls: TlsSettings;
  readonly #limits: PageLimits;
  readonly #now_ns: () => number;
  readonly #headers: Readonly<Record<string, string>>;
  #busy_ns = 0;

  constructor(limits: PageLimits, now_ns: () => number, access: PageAccess = OPEN_ACCESS) {
    const { headers, tls, proxies = NO_PROXIES } = access;
    this.#proxies = proxies;
    this.#tls = tls;
    this.#limits = limits;
    this.#now_ns = now_ns;
    this.#headers = headers;
    this.#agent = new Agent({
      allowH2: false,
      connections: 4,
      connect: { timeout: limits.connectTimeoutSeconds * 1000, ...tls },
      ...CLIENT,
    });
  }

  /** Time spent on receiving data. */
  get busy_ns(): number {
    return this.#busy_ns;
  }

  /** Never rejects: failures are results too. A reused connection that turns out to be closed is replaced once. */
  async get(url: string, preferred: PreferredFormat = 'text'): Promise<ReceivedPage | PageFailure> {
    const visited = new Set<string>();
    for (let asked = url; ;) {
      visited.add(asked);
      const first = await this.#once(asked, preferred);
      const response =
        first.kind === 'unreachable' && first.connectionDied ? await this.#once(asked, preferred) : first;
      const target = response.kind === 'status' ? redirectTarget(asked, response.location) : null;
      if (response.kind !== 'status' || target === null) return response;
      if (target.origin !== new URL(asked).origin)
        return {
          ...response,
          message: `${response.message} to another server: --server-metrics ${publicUrl(target.href)}`,
        };
      if (visited.has(target.href) || visited.size > MAX_REDIRECTS) return response;
      asked = target.href;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), ...[...this.#proxied.values()].map((agent) => agent.destroy())]);
  }

  /** Requests through proxies need an agent for each server, because the certificate is verified by its name. */
  #agentFor(origin: string): Dispatcher {
    const proxy = this.#proxies(origin);
    if (proxy === null) return this.#agent;
    const known = this.#proxied.get(origin);
    if (known !== undefined) return known;
    const { connectTimeoutSeconds } = this.#limits;
    const { hostname } = new URL(origin);
    const agent = proxyAgent(proxy, { connectTimeoutSeconds, tls: this.#tls, hostname, client: CLIENT });
    this.#proxied.set(origin, agent);
    return agent;
  }

  #once(url: string, preferred: PreferredFormat): Promise<PageResponse> {
    return new Promise((resolve) => {
      const { origin, pathname, search, username, password } = new URL(url);
      const exchange = new PageExchange(this.#limits, this.#now_ns, (spent_ns) => (this.#busy_ns += spent_ns), resolve);
      const authorization =
        username === ''
          ? {}
          : { authorization: `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}` };
      this.#agentFor(origin).dispatch(
        {
          origin,
          path: `${pathname}${search}`,
          method: 'GET',
          headers: { accept: ACCEPT[preferred], 'user-agent': 'llmbench', ...authorization, ...this.#headers },
        },
        exchange,
      );
    });
  }
}

type PageResponse = ReceivedPage | (PageFailure & { readonly connectionDied?: boolean; readonly location?: string });

/** Undici's timeouts have a resolution of one second. */
const CLIENT = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
/** As Go's client, which Prometheus uses. */
const MAX_REDIRECTS = 10;

/** Null: it is no redirect, or leads nowhere. */
const redirectTarget = (url: string, location: string | undefined): URL | null =>
  location === undefined ? null : URL.parse(location, url);

/** The preferred format; the other one is accepted too. */
export type PreferredFormat = 'text' | 'protobuf';

/** As Prometheus requests it, but without compression, which would cost the server CPU time. */
const TEXT_FORMATS =
  'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;charset=utf-8;q=0.7,application/json;q=0.2,*/*;q=0.1';
const ACCEPT: Readonly<Record<PreferredFormat, string>> = {
  text: TEXT_FORMATS,
  protobuf: `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,${TEXT_FORMATS}`,
};

class PageExchange implements Dispatcher.DispatchHandler {
  readonly #limits: PageLimits;
  readonly #now_ns: () => number;
  readonly #spent: (ns: number) => void;
  readonly #resolve: (outcome: PageResponse) => void;
  readonly #sent_ns: number;
  readonly #wholeTimer: NodeJS.Timeout;
  readonly #silenceTimer: NodeJS.Timeout;
  readonly #pieces: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #first_byte_ns: number | null = null;
  #contentType: string | null = null;
  #unixSeconds: UnixInterval = [0, 0];
  #size = 0;
  /** What the response is whose body is still read. */
  #refusal: PageFailure | null = null;
  #settled = false;

  constructor(
    limits: PageLimits,
    now_ns: () => number,
    spent: (ns: number) => void,
    resolve: (outcome: PageResponse) => void,
  ) {
    this.#limits = limits;
    this.#now_ns = now_ns;
    this.#spent = spent;
    this.#resolve = resolve;
    this.#sent_ns = now_ns();
    this.#wholeTimer = setTimeout(() => {
      this.#fail('slow', `the page was not complete after ${limits.totalTimeoutSeconds} s`);
    }, limits.totalTimeoutSeconds * 1000);
    this.#silenceTimer = setTimeout(() => {
      this.#fail('silent', `no data for ${limits.readTimeoutSeconds} s`);
    }, limits.readTimeoutSeconds * 1000);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#settled) return;
    this.#controller = controller;
    this.#first_byte_ns = this.#now_ns();
    this.#silenceTimer.refresh();
    const encoding = headers['content-encoding'];
    this.#contentType = String(headers['content-type'] ?? '') || null;
    this.#unixSeconds = serverSeconds(headers['date']);
    const { location } = headers;
    if (REDIRECTS.has(status) && typeof location === 'string') this.#redirected(status, location);
    else if (status !== 200) this.#refused(isRefusal(status) ? 'refused' : 'status', `HTTP ${status}`);
    else if (encoding !== undefined && String(encoding).toLowerCase() !== 'identity')
      this.#fail('encoded', 'the response is compressed although no compression was requested');
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.#settled) return;
    const workStart_ns = workNow_ns();
    this.#silenceTimer.refresh();
    this.#size += bytes.length;
    if (this.#size > this.#limits.maxBytes)
      this.#fail('too_large', `the page is larger than ${Math.round(this.#limits.maxBytes / 2 ** 20)} MiB`);
    else this.#pieces.push(bytes);
    this.#spent(workNow_ns() - workStart_ns);
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    const end_ns = this.#now_ns();
    const workStart_ns = workNow_ns();
    const bytes = this.#pieces.length === 1 ? (this.#pieces[0] as Uint8Array) : Buffer.concat(this.#pieces);
    if (this.#refusal !== null) return this.#settle({ ...this.#refusal, bytes });
    this.#settle({
      kind: 'page',
      sent_ns: this.#sent_ns,
      first_byte_ns: this.#first_byte_ns ?? end_ns,
      end_ns,
      contentType: this.#contentType,
      bytes,
      unixSeconds: this.#unixSeconds,
    });
    this.#spent(workNow_ns() - workStart_ns);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error & { code?: string }): void {
    if (this.#settled) return;
    const code = error.code ?? '';
    if (this.#first_byte_ns !== null) {
      this.#fail('cut', 'the page was cut off');
    } else if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_ABORTED') {
      this.#fail('stopped', 'the collector was stopped');
    } else {
      const reason = ownValue(CONNECTION_FAILURES, code) ?? tlsFailure(code) ?? (code === '' ? 'no connection' : code);
      this.#settle({ ...this.#failure('unreachable', reason), connectionDied: DIED.has(code) });
    }
  }

  #failure(kind: PageFailureKind, message: string): PageFailure {
    return { kind, message, sent_ns: this.#sent_ns, first_byte_ns: this.#first_byte_ns, end_ns: this.#now_ns() };
  }

  #fail(kind: PageFailureKind, message: string): void {
    if (this.#settled) return;
    this.#settle(this.#refusal ?? this.#failure(kind, message));
    this.#controller?.abort(new Error(message));
  }

  #refused(kind: PageFailureKind, message: string): void {
    if (this.#limits.readsFailures === true) this.#refusal = this.#failure(kind, message);
    else this.#fail(kind, message);
  }

  #redirected(status: number, location: string): void {
    this.#settle({ ...this.#failure('status', `HTTP ${status}`), location });
    this.#controller?.abort(new Error('redirected'));
  }

  #settle(outcome: PageResponse): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#wholeTimer);
    clearTimeout(this.#silenceTimer);
    this.#pieces.length = 0;
    this.#resolve(outcome);
  }
}

/** Clocks of two machines seldom differ by more. */
const CLOCK_DIFFERENCE_SECONDS = 60;

/** By the header Date, which omits fractions; without one by this machine's clock. */
function serverSeconds(date: string | string[] | undefined): UnixInterval {
  const seconds = Date.parse(String(date)) / 1000;
  if (Number.isFinite(seconds)) return [seconds, seconds + 1];
  const here = Date.now() / 1000;
  return [here - CLOCK_DIFFERENCE_SECONDS, here + CLOCK_DIFFERENCE_SECONDS];
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A response that will not change: the page does not exist, or access is denied. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

/** Error codes of a reused connection that the server has closed. */
const DIED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed',
  ECONNRESET: 'the connection was reset',
};

/** A failed handshake by its code (Node's and OpenSSL's); null: the code is of something else. */
function tlsFailure(code: string): string | null {
  if (/CERT|^UNABLE_TO_/.test(code))
    return `the certificate is not accepted (${code}); --tls-ca sets the authorities to trust`;
  return /^(ERR_TLS|ERR_SSL|CRL_)/.test(code) ? `the TLS connection failed (${code})` : null;
}
