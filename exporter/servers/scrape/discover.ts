import { PageClient, type PageLimits } from './page-request.ts';
import { systemsOf, systemOf } from './recognize.ts';
import { parseTarget, KNOWN_ENDPOINTS, type Target, OPEN_ACCESS, type PageAccess } from './targets.ts';

/** A page that a benchmarked server may have beside its API. */
export interface DefaultPage {
  readonly url: string;
  /** The system whose families the page must contain; null: any system. */
  readonly system: string | null;
  /** Whether it is the server's own page; otherwise that of a component beside it, such as a GPU exporter. */
  readonly isOwn: boolean;
}

/**
 * Pages of servers whose API has none at `/metrics`: Triton (`--metrics-port`), the SGLang gateway
 * (`--prometheus-port`), trtllm-serve with `return_perf_metrics`, NIM, and the workers of the SGLang gateway.
 */
export const OWN_PLACES: readonly string[] = [
  ':8002',
  ':29000',
  '/prometheus/metrics',
  '/v1/metrics',
  '/engine_metrics',
];

interface Beside {
  readonly port: number;
  readonly system: string;
}

/** KVBM (`DYN_KVBM_METRICS_PORT`), which works inside Dynamo's workers, vLLM and TensorRT-LLM. */
const KVBM: Beside = { port: 6880, system: 'kvbm' };
const HAVE_KVBM: ReadonlySet<string | null> = new Set(['dynamo', 'vllm', 'trtllm']);
/** Agents of NIXL (`NIXL_TELEMETRY_PROMETHEUS_PORT`): their default, and what the operator of Dynamo sets. */
const NIXL: readonly Beside[] = [
  { port: 9090, system: 'nixl' },
  { port: 19_090, system: 'nixl' },
];
const HAVE_NIXL: ReadonlySet<string | null> = new Set(['dynamo', 'vllm', 'sglang', 'trtllm']);

/** Exporters of GPUs, beside whatever server: DCGM, DCGM in Dynamo's observability stack, AMD's. */
const GPU_EXPORTERS: readonly Beside[] = [
  { port: 9400, system: 'dcgm' },
  { port: 9401, system: 'dcgm' },
  { port: 5000, system: 'amd-gpu' },
];

/** Where the page of a server is by default when its API has none at `/metrics`. */
export function ownPages(origin: string): readonly DefaultPage[] {
  return [
    { url: atPort(origin, 8002), system: 'triton', isOwn: true },
    { url: atPort(origin, 29_000), system: 'smg', isOwn: true },
    { url: new URL('/prometheus/metrics', origin).href, system: 'trtllm', isOwn: true },
    { url: new URL('/v1/metrics', origin).href, system: 'nim', isOwn: true },
    { url: new URL('/engine_metrics', origin).href, system: 'sglang', isOwn: true },
  ];
}

/** Default pages of the components that work with a server of this system, and of its GPUs. */
export function pagesBeside(origin: string, system: string | null): readonly DefaultPage[] {
  const pages = [...(HAVE_KVBM.has(system) ? [KVBM] : []), ...(HAVE_NIXL.has(system) ? NIXL : []), ...GPU_EXPORTERS];
  return pages.map(({ port, system: component }) => ({
    url: atPort(origin, port),
    system: component,
    isOwn: false,
  }));
}

/** Behind an ingress that gives the server a prefix: the page below it, and below what it consists of. */
export function pagesBelow(origin: string, prefix: string): readonly DefaultPage[] {
  const parts = prefix.split('/').filter((part) => part !== '');
  return parts.map((_, i) => ({
    url: new URL(`/${parts.slice(0, parts.length - i).join('/')}/metrics`, origin).href,
    system: null,
    isOwn: true,
  }));
}

/** Metrics ports serve plain HTTP by default, also beside an API with TLS. */
function atPort(origin: string, port: number): string {
  return `http://${new URL(origin).hostname}:${port}/metrics`;
}

/** Short: the run waits for the slowest of the pages. */
const SEARCH_LIMITS: PageLimits = {
  connectTimeoutSeconds: 1,
  readTimeoutSeconds: 1,
  totalTimeoutSeconds: 2,
  maxBytes: 16 * 1024 * 1024,
};

/**
 * Requests each page once and returns those that serve the metrics of the expected system, or of any. The credentials are sent to
 * pages at the given origins only, which the user named.
 */
export async function discoverDefaultPages(
  pages: readonly DefaultPage[],
  origins: readonly string[],
  access: PageAccess,
): Promise<readonly { readonly page: DefaultPage; readonly target: Target }[]> {
  const now_ns = (): number => performance.now() * 1e6;
  const open: PageAccess = { ...OPEN_ACCESS, ...(access.proxies && { proxies: access.proxies }) };
  const clients = {
    open: new PageClient(SEARCH_LIMITS, now_ns, open),
    named: new PageClient(SEARCH_LIMITS, now_ns, access),
  };
  const isNamed = ({ url }: DefaultPage): boolean => origins.includes(new URL(url).origin);
  try {
    const found = await Promise.all(
      pages.map(async (page) => {
        const response = await clients[isNamed(page) ? 'named' : 'open'].get(page.url);
        const systems = response.kind === 'page' ? systemsOf(new TextDecoder().decode(response.bytes)) : [];
        if (page.system === null ? systems.length === 0 : !systems.includes(page.system)) return [];
        const target = { ...parseTarget(page.url), system: page.system, access: isNamed(page) ? access : open };
        return [{ page, target }];
      }),
    );
    return found.flat();
  } finally {
    await Promise.all([clients.open.close(), clients.named.close()]);
  }
}

const LOCAL_LIMITS = {
  connectTimeoutSeconds: 1,
  readTimeoutSeconds: 2,
  totalTimeoutSeconds: 4,
  maxBytes: 16 * 1024 * 1024,
};

/** Addresses on this machine where known systems serve their metrics by default. */
export function localAddresses(): string[] {
  const addresses = Object.values(KNOWN_ENDPOINTS).flatMap(({ ports, path }) =>
    ports.map((port) => `http://127.0.0.1:${port}${path}`),
  );
  return [...new Set(addresses)];
}

/** The addresses that currently serve the metrics of a known system. */
export async function discoverLocal(addresses: readonly string[] = localAddresses()): Promise<Target[]> {
  const client = new PageClient(LOCAL_LIMITS, () => performance.now() * 1e6);
  try {
    const found = await Promise.all(
      addresses.map(async (address) => ((await isKnown(client, address)) ? [address] : [])),
    );
    return found.flat().map(parseTarget);
  } finally {
    await client.close();
  }
}

async function isKnown(client: PageClient, address: string): Promise<boolean> {
  const page = await client.get(address);
  return page.kind === 'page' && systemOf(new TextDecoder().decode(page.bytes)) !== null;
}
