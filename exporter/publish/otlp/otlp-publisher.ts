import type * as Resources from '@opentelemetry/resources';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { Attributes, HrTime } from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-metrics';
import type { RunFile } from '../../../core/run/run.ts';
import type { RunEnding, RunOutput } from '../../../core/run/run-output.ts';
import type { FamilyInput, SampleInput } from '../../../core/exposition/index.ts';
import { ConfigurationError, reasonOf } from '../../errors/expected-error.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { LiveFamily } from '../family.ts';
import { GenAiHistograms } from './gen-ai-histograms.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';

/** A receiver of the OpenTelemetry protocol. */
export interface OtlpRequest {
  /** `http:` and `https:` are HTTP with protobuf, `grpc:` and `grpcs:` are gRPC. */
  readonly url: string;
  /** Between two exports of a running run. */
  readonly intervalSeconds: number;
}

interface OtlpOptions {
  readonly request: OtlpRequest;
  readonly run: RunFile;
  readonly version: string;
  readonly families: readonly LiveFamily[];
  /** Milliseconds since the epoch, of a clock that does not jump. */
  readonly now_ms: () => number;
}

/** The official packages, which are optional: they are loaded when a run is exported. */
const PACKAGES = {
  http: '@opentelemetry/exporter-metrics-otlp-proto',
  grpc: '@opentelemetry/exporter-metrics-otlp-grpc',
  sdk: '@opentelemetry/sdk-metrics',
  resources: '@opentelemetry/resources',
} as const;
const TIMEOUT_MS = 10_000;
/** When the run was ended early. */
const HURRIED_TIMEOUT_MS = 1_000;
/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;
const SCOPE = 'llmbench';

/**
 * Exports a run while it lasts and its results at its end: the families of its page, and the client metrics of the
 * conventions for generative AI. Credentials and certificates are those of the environment that the exporters define
 * (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_CERTIFICATE`, …).
 */
export class OtlpPublisher implements RunOutput {
  readonly genAi: GenAiHistograms;
  readonly #options: OtlpOptions;
  readonly #exporter: PushMetricExporter;
  readonly #sdk: SdkValues;
  readonly #resource: ResourceMetrics['resource'];
  #timer: NodeJS.Timeout | null = null;
  #exporting: Promise<string | null> | null = null;

  private constructor(
    options: OtlpOptions,
    exporter: PushMetricExporter,
    sdk: SdkValues,
    resource: ResourceMetrics['resource'],
  ) {
    this.#options = options;
    this.#exporter = exporter;
    this.#sdk = sdk;
    this.#resource = resource;
    this.genAi = new GenAiHistograms(options.run);
  }

  /** Throws a `ConfigurationError` if the address cannot be used or a package is missing. */
  static async open(options: OtlpOptions): Promise<OtlpPublisher> {
    const { run, version, request } = options;
    const exporter = await openExporter(request.url);
    const sdk = (await load(PACKAGES.sdk)) as SdkValues;
    const { resourceFromAttributes } = (await load(PACKAGES.resources)) as typeof Resources;
    return new OtlpPublisher(options, exporter, sdk, resourceFromAttributes(resourceAttributes(run, version)));
  }

  begin(): void {
    this.#timer = setInterval(() => this.#exportLive(), this.#options.request.intervalSeconds * 1000);
    this.#timer.unref();
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** The last values of the live families, and the results. Returns a line if the receiver did not take them. */
  async publish(results: readonly FamilyInput[], { hurried }: Pick<RunEnding, 'hurried'>): Promise<readonly string[]> {
    await this.#exporting;
    const limit = hurried ? HURRIED_TIMEOUT_MS : TIMEOUT_MS;
    const failure = await this.#export([...this.#live(), ...results], limit);
    return failure === null
      ? []
      : [`the run is not exported to ${receiverName(this.#options.request.url)}: ${failure}`];
  }

  async close(): Promise<void> {
    this.end();
    // It rejects when the receiver cannot be reached, which `publish` has reported.
    await this.#exporter.shutdown().catch(() => undefined);
  }

  #exportLive(): void {
    // A slow receiver gets fewer points.
    if (this.#exporting !== null) return;
    this.#exporting = this.#export(this.#live(), TIMEOUT_MS).finally(() => (this.#exporting = null));
  }

  #live(): ExportedFamily[] {
    const own = this.#options.families.map((family) => ({ ...facts(family), samples: family.samples() }));
    const genAi = new Map<string, ExportedFamily>();
    for (const { unit, histogram } of this.genAi.all) {
      const samples = [...(genAi.get(histogram.name)?.samples ?? []), ...histogram.samples()];
      genAi.set(histogram.name, { ...facts(histogram), unit, samples });
    }
    return [...own, ...genAi.values()];
  }

  /** Null: it was taken. */
  async #export(families: readonly ExportedFamily[], limit_ms: number): Promise<string | null> {
    const { run, now_ms, version } = this.#options;
    const at_ms = now_ms();
    const times: PointTimes = { start_ms: run.start === null ? at_ms : Date.parse(run.start), at_ms };
    const metrics = families
      .filter(({ samples }) => samples.length > 0)
      .map((family) => metricDataOf(family, times, this.#sdk));
    const data = { resource: this.#resource, scopeMetrics: [{ scope: { name: SCOPE, version }, metrics }] };
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const timer = setTimeout(() => resolve(`no answer for ${limit_ms / 1000} s`), limit_ms);
    try {
      this.#exporter.export(data, ({ code, error }) =>
        resolve(Number(code) === SUCCESS ? null : messageExcerpt(reasonOf(error ?? 'the export failed'), [])),
      );
      return await promise;
    } catch (error) {
      return messageExcerpt(reasonOf(error), []);
    } finally {
      clearTimeout(timer);
    }
  }
}

const facts = ({ name, help, type }: LiveFamily) => ({ name, help, type });

/** Without user info and query. */
function receiverName(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

/** Whether a request can be made, before anything is sent. Throws a `ConfigurationError`. */
export async function checkOtlp({ url }: OtlpRequest): Promise<void> {
  const exporter = await openExporter(url);
  await exporter.shutdown();
}

/** The address that an exporter is given, as the OpenTelemetry protocol completes it. Throws a `ConfigurationError`. */
function otlpEndpoint(text: string): { readonly protocol: 'http' | 'grpc'; readonly url: string } {
  const url = URL.parse(text);
  if (url === null || !/^(https?|grpcs?):$/.test(url.protocol))
    throw new ConfigurationError('--otel-url must be http://host:4318 (HTTP) or grpc://host:4317 (gRPC)');
  const grpc = /^grpc(s?):/.exec(url.protocol);
  if (grpc !== null) return { protocol: 'grpc', url: `http${grpc[1] ?? ''}://${url.host}` };
  if (url.pathname === '/') url.pathname = '/v1/metrics';
  return { protocol: 'http', url: url.href };
}

async function openExporter(text: string): Promise<PushMetricExporter> {
  const { protocol, url } = otlpEndpoint(text);
  const { OTLPMetricExporter } = (await load(PACKAGES[protocol])) as {
    readonly OTLPMetricExporter: new (config: { url: string; timeoutMillis: number }) => PushMetricExporter;
  };
  return new OTLPMetricExporter({ url, timeoutMillis: TIMEOUT_MS });
}

async function load(name: string): Promise<unknown> {
  try {
    return (await import(name)) as unknown;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const all = Object.values(PACKAGES).join(' ');
    throw new ConfigurationError(`--otel-url requires the package ${name}, which is not installed: npm install ${all}`);
  }
}

/** What the run is: attributes of the conventions where there are some, else our own. */
function resourceAttributes(run: RunFile, version: string): Record<string, string> {
  const { source_code, ci, server_image } = run.provenance ?? {};
  const known = {
    'vcs.ref.head.revision': source_code?.commit,
    'vcs.ref.head.name': ci?.ref,
    'cicd.pipeline.run.url.full': ci?.url,
    'llmbench.server.image': server_image,
    'llmbench.server.system': run.target.system,
    'llmbench.server.version': run.target.system_version,
    'llmbench.model': run.comparison_key.model,
  };
  return {
    'service.name': 'llmbench',
    'service.version': version,
    'service.instance.id': `${run.run_id}/${run.shard}`,
    'llmbench.run.id': run.run_id,
    'llmbench.scenario': run.scenario,
    ...Object.fromEntries(Object.entries(known).flatMap(([name, value]) => (value == null ? [] : [[name, value]]))),
  };
}

/** What of the SDK is used as values: it is loaded only when a run is exported. */
type SdkValues = Pick<typeof Sdk, 'AggregationTemporality' | 'DataPointType'>;

/** Milliseconds since 1970. */
interface PointTimes {
  /** Since when it is counted. */
  readonly start_ms: number;
  readonly at_ms: number;
}

/** A family with its unit in UCUM; '' if the name states none. */
type ExportedFamily = FamilyInput & { readonly unit?: string };

const UNITS: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', tokens: '{token}', ratio: '1' };

/**
 * Families as OpenTelemetry's data model has them: counters are cumulative sums, classic histograms have explicit bounds.
 * Names and labels stay as they are, so that a receiver that translates to Prometheus gives them back.
 */
function metricDataOf(family: ExportedFamily, times: PointTimes, sdk: SdkValues): Sdk.MetricData {
  const { name, help, type, samples } = family;
  const base = {
    descriptor: { name, description: help ?? '', unit: family.unit ?? unitOf(name), valueType: 1 },
    aggregationTemporality: sdk.AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(attributes: Attributes, value: T): Sdk.DataPoint<T> => ({
    ...{ startTime: hrTime(times.start_ms), endTime: hrTime(times.at_ms), attributes, value },
  });
  if (type === 'histogram') {
    const dataPoints = histogramsOf(samples).map(({ attributes, value }) => point(attributes, value));
    return { ...base, dataPointType: sdk.DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = samples.map((sample) => point(labelsOf(sample), sample.value));
  return type === 'counter'
    ? { ...base, dataPointType: sdk.DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: sdk.DataPointType.GAUGE, dataPoints };
}

function labelsOf({ labels, sharedLabels }: SampleInput): Attributes {
  const { 'server.port': port, ...rest } = { ...sharedLabels, ...labels };
  // The conventions have it as an integer.
  return port === undefined ? rest : { ...rest, 'server.port': Number(port) };
}

interface HistogramValue {
  readonly attributes: Attributes;
  readonly value: Sdk.Histogram;
}

/** The samples of each histogram follow each other: its buckets in ascending order, then its sum and count. */
function histogramsOf(samples: readonly SampleInput[]): HistogramValue[] {
  const found: HistogramValue[] = [];
  let [bounds, cumulative]: [number[], number[]] = [[], []];
  let sum: number | null = null;
  for (const sample of samples) {
    const { le, ...attributes } = labelsOf(sample);
    if (typeof le === 'string') {
      cumulative.push(sample.value);
      if (le !== '+Inf') bounds.push(Number(le));
    } else if (sample.metricName?.endsWith('_sum') === true) {
      sum = sample.value;
    } else {
      const counts = cumulative.map((count, i) => count - (cumulative[i - 1] ?? 0));
      const value = { buckets: { boundaries: bounds, counts }, count: sample.value, ...(sum !== null && { sum }) };
      found.push({ attributes, value });
      [bounds, cumulative, sum] = [[], [], null];
    }
  }
  return found;
}

function unitOf(name: string): string {
  const word =
    name
      .replace(/_total$/, '')
      .split('_')
      .at(-1) ?? '';
  return ownValue(UNITS, word) ?? '';
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
