import { createServer } from 'node:http';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '../../../simulator/main.ts';
import { execute, freePort, Processes } from '../processes.ts';

export const OTEL_COLLECTOR = 'otel-collector';

const VERSION = '0.165.0';
const LLMBENCH = fileURLToPath(new URL('../../../bin/llmbench.js', import.meta.url));
const REQUESTS = 60;
const OUTPUT_TOKENS = 8;
const START_SECONDS = 60;

/** The protobuf messages of OTLP as JSON, where whole numbers of 64 bits are texts. */
interface Point {
  readonly attributes?: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
}
interface Metric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly dataPoints: readonly Point[] };
}
interface Export {
  readonly resourceMetrics: readonly { readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[] }[];
}

/** What of a run arrived, by the value that the client has. */
export interface Received {
  readonly what: string;
  readonly client: number;
  readonly server: number;
}

/** Builds the OpenTelemetry Collector from its Go modules in `folder`, unless it is there; null: there is no Go. */
export async function ensureCollector(folder: string): Promise<string | null> {
  const program = join(folder, `otelcol-${VERSION}`);
  if (existsSync(program)) return program;
  const hasGo = await execute('go', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasGo) return null;
  for (const name of ['main.go', 'go.mod']) copyFileSync(new URL(name, import.meta.url), join(folder, name));
  await execute('go', ['-C', folder, 'build', '-mod=mod', '-o', program, '.'], { GOFLAGS: '' });
  return program;
}

/** Exports a run by each transport to a collector, which passes on what it received. */
export async function exportedRuns(program: string, logs: string): Promise<Received[]> {
  const exports: Export[] = [];
  const receiver = createServer((request, response) => {
    void json(request).then((body) => {
      exports.push(body as Export);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const [http, grpc] = [await freePort(), await freePort()];
  const processes = new Processes(logs);
  const simulator = await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 });
  const runs = mkdtempSync(join(tmpdir(), 'llmbench-otel-'));
  try {
    const config = collectorConfig(http, grpc, (receiver.address() as AddressInfo).port);
    processes.start(OTEL_COLLECTOR, program, ['--config', `yaml:${JSON.stringify(config)}`]);
    // It answers 405: exports are posted.
    const answers = (): Promise<boolean> => fetch(`http://127.0.0.1:${http}/v1/metrics`).then(() => true);
    await processes.ready(answers, START_SECONDS);
    const received: Received[] = [];
    for (const url of [`http://127.0.0.1:${http}`, `grpc://127.0.0.1:${grpc}`]) {
      exports.length = 0;
      await execute(process.execPath, [
        ...[LLMBENCH, 'run', '--url', simulator.url, '--model', 'sim-model', '--runs-dir', runs, '--otel-url', url],
        ...['--concurrency', '4', '--request-count', String(REQUESTS), '--osl', String(OUTPUT_TOKENS), '--ignore-eos'],
      ]);
      received.push(...compared(exports, new URL(url).protocol.slice(0, -1)));
    }
    return received;
  } finally {
    await processes.stop();
    await simulator.close();
    receiver.close();
    rmSync(runs, { recursive: true });
  }
}

function collectorConfig(http: number, grpc: number, receiver: number): object {
  const address = (port: number): object => ({ endpoint: `127.0.0.1:${port}` });
  return {
    receivers: { otlp: { protocols: { http: address(http), grpc: address(grpc) } } },
    exporters: { otlp_http: { endpoint: `http://127.0.0.1:${receiver}`, encoding: 'json', compression: 'none' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { metrics: { receivers: ['otlp'], exporters: ['otlp_http'] } },
    },
  };
}

function compared(exports: readonly Export[], transport: string): Received[] {
  /** The last point with these attributes. */
  const pointOf = (name: string, attributes: Readonly<Record<string, string>>): Point | undefined =>
    exports
      .flatMap(({ resourceMetrics }) => resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .filter((metric) => metric.name === name)
      .flatMap(({ sum, histogram }) => (sum ?? histogram)?.dataPoints ?? [])
      .findLast((point) =>
        Object.entries(attributes).every(([key, value]) =>
          point.attributes?.some((each) => each.key === key && each.value.stringValue === value),
        ),
      );
  const tokens = pointOf('gen_ai.client.token.usage', { 'gen_ai.token.type': 'output' });
  const ok = pointOf('llmbench_requests_total', { phase: 'measure', outcome: 'ok' });
  const counts = [
    ['requests', REQUESTS, ok?.asDouble],
    ['operations', REQUESTS, Number(pointOf('gen_ai.client.operation.duration', {})?.count)],
    ['output tokens', REQUESTS * OUTPUT_TOKENS, tokens?.sum],
  ] as const;
  return counts.map(([what, client, server]) => ({ what: `${what}, by ${transport}`, client, server: server ?? NaN }));
}
