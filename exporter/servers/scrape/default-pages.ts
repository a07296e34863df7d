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
