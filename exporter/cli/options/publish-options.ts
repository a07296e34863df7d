import {
  NATIVE_HISTOGRAM_CHOICES,
  grafanaAddress,
  type OutgoingRequest,
  type AnnotatorRequest,
} from '../../publish/outgoing-request.ts';
import { PROTOCOL_CHOICES, RESERVED_HEADERS, type ReceiverRequest } from '../../publish/remote-write/receiver.ts';
import { CliError } from '../failure.ts';
import { choice, flag, integer, seconds, text, texts, type OptionValues } from './options.ts';
import { headersOf } from './tls-options.ts';

const MEGABYTE = 1_000_000;

/** A remote write receiver and how to reach it. */
export const RECEIVER_OPTIONS = {
  'remote-write-url': text(
    'URL',
    'send runs to this Prometheus remote write receiver: http://prometheus:9090/api/v1/write',
    null,
  ),
  'remote-write-protocol': choice(PROTOCOL_CHOICES, 'auto: 2, or 1 if the receiver does not support it', 'auto'),
  'remote-write-label': texts('NAME=VALUE', 'label added to every series; may be repeated'),
  'remote-write-username': text('NAME', 'user of basic authentication', null),
  'remote-write-password-env': text('VARIABLE', 'environment variable that holds the password', null),
  'remote-write-password-file': text('FILE', 'file that holds the password', null),
  'remote-write-bearer-env': text('VARIABLE', 'environment variable that holds a bearer token', null),
  'remote-write-bearer-file': text('FILE', 'file that holds a bearer token', null),
  'remote-write-header': texts('NAME:VALUE', 'header of each request, such as X-Scope-OrgID:team; may be repeated'),
  'remote-write-header-env': texts(
    'NAME:VARIABLE',
    'header with its value in an environment variable; may be repeated',
  ),
  'remote-write-tls-ca': text('FILE', 'trusted CA certificates of the receiver (PEM)', null),
  'remote-write-tls-cert': text('FILE', 'client certificate (PEM)', null),
  'remote-write-tls-key': text('FILE', 'key of the client certificate (PEM)', null),
  'remote-write-tls-server-name': text('NAME', "server name to verify in the receiver's certificate", null),
  'remote-write-tls-insecure': flag("do not verify the receiver's certificate"),
};

/** The same for the verdicts on scenarios. */
export const VERDICT_RECEIVER_OPTIONS = {
  ...RECEIVER_OPTIONS,
  'remote-write-url': text(
    'URL',
    'write the verdict to this Prometheus remote write receiver: http://prometheus:9090/api/v1/write',
    null,
  ),
};

/** A Grafana to annotate. */
export const GRAFANA_OPTIONS = {
  'grafana-url': text('URL', 'annotate the run and its phases in this Grafana', null),
  'grafana-token-env': text(
    'VARIABLE',
    'environment variable that holds a Grafana token with permission to write annotations',
    null,
  ),
  'grafana-token-file': text('FILE', 'file that holds the Grafana token', null),
  'grafana-dashboard-uid': text('UID', 'annotate only this dashboard', null),
};

/** Where `run` sends a run. */
export const PUBLISH_OPTIONS = {
  ...RECEIVER_OPTIONS,
  'remote-write-interval': seconds('interval between two points of a running run', { min: 0.1, max: 3600 }, 1),
  'remote-write-native-histograms': choice(
    NATIVE_HISTOGRAM_CHOICES,
    'also send native histograms: exponential, or with the classic bounds (custom)',
    'none',
  ),
  'remote-write-flush-timeout': seconds(
    'maximum time to wait for the receiver at the end of the run; unsent samples stay on disk',
    { min: 0, max: 3600 },
    5,
  ),
  'remote-write-queue-size': {
    ...integer(
      'maximum size of unsent samples on disk; the oldest are dropped beyond it',
      { min: 1, max: 1_000_000 },
      256,
    ),
    value: 'MEGABYTES',
  },
  'otel-url': text(
    'URL',
    'export runs to this OpenTelemetry receiver: http://collector:4318, or grpc://collector:4317',
    null,
  ),
  'otel-interval': seconds('interval between two exports of a running run', { min: 1, max: 3600 }, 10),
  ...GRAFANA_OPTIONS,
  'grafana-url': text(
    'URL',
    'print a link to the run in this Grafana, and with a token annotate the run and its phases there',
    null,
  ),
};

/** The same for all runs of a command. */
export type PublishOptions = OptionValues<typeof PUBLISH_OPTIONS>;

/** Null when the run is sent nowhere. Throws a `CliError`. */
export function requestedOutgoing(options: PublishOptions): OutgoingRequest | null {
  const receiver = requestedReceiver(options);
  requestedGrafanaLink(options['grafana-url']);
  const grafana = hasGrafanaToken(options) ? requestedGrafana(options) : null;
  const otel = options['otel-url'];
  if (receiver === null && grafana === null && otel === null) return null;
  return {
    ...(otel === null ? {} : { otlp: { url: otel, intervalSeconds: options['otel-interval'] } }),
    remoteWrite: receiver && {
      receiver,
      intervalSeconds: options['remote-write-interval'],
      flushSeconds: options['remote-write-flush-timeout'],
      maxQueueBytes: options['remote-write-queue-size'] * MEGABYTE,
      nativeHistograms: options['remote-write-native-histograms'],
      labels: requestedLabels(options['remote-write-label']),
    },
    grafana,
  };
}

/** Null without `--remote-write-url`. Throws a `CliError`. */
export function requestedReceiver(options: OptionValues<typeof RECEIVER_OPTIONS>): ReceiverRequest | null {
  const url = options['remote-write-url'];
  if (url === null) return null;
  return {
    url,
    protocol: options['remote-write-protocol'],
    username: options['remote-write-username'],
    password: {
      environmentVariable: options['remote-write-password-env'],
      file: options['remote-write-password-file'],
    },
    bearer: {
      environmentVariable: options['remote-write-bearer-env'],
      file: options['remote-write-bearer-file'],
    },
    headers: headersOf(options['remote-write-header'], '--remote-write-header', RESERVED_HEADERS),
    headerVariables: headersOf(options['remote-write-header-env'], '--remote-write-header-env', RESERVED_HEADERS),
    tls: {
      caFile: options['remote-write-tls-ca'],
      certFile: options['remote-write-tls-cert'],
      keyFile: options['remote-write-tls-key'],
      serverName: options['remote-write-tls-server-name'],
      insecure: options['remote-write-tls-insecure'],
    },
  };
}

/** Null without `--grafana-url`. */
export function requestedGrafana(options: OptionValues<typeof GRAFANA_OPTIONS>): AnnotatorRequest | null {
  const url = options['grafana-url'];
  if (url === null) return null;
  return {
    url,
    token: { environmentVariable: options['grafana-token-env'], file: options['grafana-token-file'] },
    dashboardUid: options['grafana-dashboard-uid'],
  };
}

/** Whether runs can be annotated. */
export function hasGrafanaToken(options: OptionValues<typeof GRAFANA_OPTIONS>): boolean {
  return options['grafana-token-env'] !== null || options['grafana-token-file'] !== null;
}

/** Where the Grafana is that links lead to; null without one. Throws a `CliError`. */
export function requestedGrafanaLink(url: string | null): string | null {
  try {
    return url === null ? null : grafanaAddress(url);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

/** Labels for every series. Throws a `CliError`. */
export function requestedLabels(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((pair) => {
      const [, name = '', value = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$/s.exec(pair) ?? [];
      if (name === '' || name.startsWith('__'))
        throw new CliError(
          `--remote-write-label is '${pair}' and must be NAME=VALUE, with a name of letters, digits and underscores`,
        );
      return [name, value] as const;
    }),
  );
}
