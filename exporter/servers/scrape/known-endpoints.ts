/** Where a system serves its metrics by default. */
export interface KnownEndpoint {
  /** The first is the default for a name without a port. */
  readonly ports: readonly number[];
  readonly path: string;
}

/**
 * Default ports and paths by the name that `--server-metrics name=host` takes. Dynamo: the frontend, then the component
 * ports of its workers (`DYN_SYSTEM_PORT`). The DCGM exporter of Dynamo's observability stack is on 9401. TensorRT-LLM serves
 * JSON on `/metrics`; its Prometheus page has another path.
 */
export const KNOWN_ENDPOINTS: Readonly<Record<string, KnownEndpoint>> = {
  dynamo: { ports: [8000, 8081, 8082, 8083, 8084], path: '/metrics' },
  vllm: { ports: [8000], path: '/metrics' },
  sglang: { ports: [30_000], path: '/metrics' },
  smg: { ports: [29_000], path: '/metrics' },
  trtllm: { ports: [8000], path: '/prometheus/metrics' },
  triton: { ports: [8002], path: '/metrics' },
  kvbm: { ports: [6880], path: '/metrics' },
  nixl: { ports: [9090, 19_090], path: '/metrics' },
  lmcache: { ports: [8080, 9090, 9300], path: '/metrics' },
  tgi: { ports: [3000], path: '/metrics' },
  nim: { ports: [8000], path: '/v1/metrics' },
  dcgm: { ports: [9400, 9401], path: '/metrics' },
  'amd-gpu': { ports: [5000], path: '/metrics' },
};

/** The names, for messages. */
export const KNOWN_NAMES: readonly string[] = Object.keys(KNOWN_ENDPOINTS);
