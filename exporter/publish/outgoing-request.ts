import { ConfigurationError } from '../errors/expected-error.ts';
import type { GrafanaAccess } from './grafana-annotations.ts';
import type { OtlpRequest } from './otlp/otlp-publisher.ts';
import { readSecret, type SecretSource, type ReceiverRequest } from './remote-write/receiver.ts';

/** A Grafana to annotate, as a person names it. */
export interface AnnotatorRequest {
  readonly url: string;
  /** Of a service account that may write annotations. */
  readonly token: SecretSource;
  /** The dashboard to annotate; null: annotations of the whole organization, found by their tags. */
  readonly dashboardUid: string | null;
}

/** Reads the token. Throws a `ConfigurationError`, which does not hold it. */
export async function readGrafanaAccess(
  { url: text, token: source }: AnnotatorRequest,
  environment: NodeJS.ProcessEnv,
): Promise<GrafanaAccess> {
  const url = grafanaAddress(text);
  const token = await readSecret(source, '--grafana-token', environment);
  if (token === null)
    throw new ConfigurationError('--grafana-url needs --grafana-token-env or --grafana-token-file: a token of Grafana');
  return { url, token };
}

/** Where Grafana is, without user info and query. Throws a `ConfigurationError`. */
export function grafanaAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError('--grafana-url must be an http or https address: http://host:3000');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export const NATIVE_HISTOGRAM_CHOICES = ['none', 'exponential', 'custom'] as const;

/** How a run is sent to a receiver of remote write. */
export interface RemoteWriteRequest {
  readonly receiver: ReceiverRequest;
  /** Between two points of the running run. */
  readonly intervalSeconds: number;
  /** How long the end of the run waits for the receiver. */
  readonly flushSeconds: number;
  readonly maxQueueBytes: number;
  /** Beside the classic histograms. */
  readonly nativeHistograms: (typeof NATIVE_HISTOGRAM_CHOICES)[number];
  /** On every series. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The receivers that a run notifies while it runs. */
export interface OutgoingRequest {
  readonly remoteWrite: RemoteWriteRequest | null;
  readonly grafana: AnnotatorRequest | null;
  /** Null or absent: no receiver of OpenTelemetry. */
  readonly otlp?: OtlpRequest | null;
}
