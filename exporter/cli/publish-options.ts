import type { OutgoingRequest } from '../publish/outgoing-request.ts';
import { NATIVE_HISTOGRAM_CHOICES } from '../publish/outgoing-request.ts';
import type { AnnotatorRequest } from '../publish/grafana-annotations/annotator-request.ts';
import type { ReceiverRequest } from '../publish/remote-write/receiver-request.ts';
import { PROTOCOL_CHOICES, RESERVED_HEADERS } from '../publish/remote-write/receiver.ts';
import { CliError } from './failure.ts';
import { choice, flag, integer, seconds, text, texts, type Values } from './options.ts';

const MEGABYTE = 1_000_000;

/** A receiver of remote write and how it is reached. */
export const RECEIVER_OPTIONS = {
  'remote-write-url': text(
    'URL',
    'a receiver of Prometheus remote write: http://prometheus:9090/api/v1/write; runs are sent there',
    null,
  ),
  'remote-write-protocol': choice(PROTOCOL_CHOICES, 'auto: 2, and 1 for a receiver that does not know it', 'auto'),
  'remote-write-label': texts('NAME=VALUE', 'a label to put on every series sent; may be repeated'),
  'remote-write-username': text('NAME', 'user of basic authentication', null),
  'remote-write-password-env': text('VARIABLE', 'environment variable that holds the password', null),
  'remote-write-password-file': text('FILE', 'file that holds the password', null),
  'remote-write-bearer-env': text('VARIABLE', 'environment variable that holds a bearer token', null),
  'remote-write-bearer-file': text('FILE', 'file that holds a bearer token', null),
  'remote-write-header': texts('NAME:VALUE', 'a header of each request, such as X-Scope-OrgID:team; may be repeated'),
  'remote-write-header-env': texts('NAME:VARIABLE', 'the same with its value in an environment variable'),
  'remote-write-tls-ca': text('FILE', "authorities to trust for the receiver's certificate (PEM)", null),
  'remote-write-tls-cert': text('FILE', "this side's certificate (PEM)", null),
  'remote-write-tls-key': text('FILE', 'the key of this certificate (PEM)', null),
  'remote-write-tls-server-name': text('NAME', "the name that the receiver's certificate is for", null),
  'remote-write-tls-insecure': flag('take any certificate of the receiver'),
};

/** A Grafana to annotate. */
export const GRAFANA_OPTIONS = {
  'grafana-url': text('URL', 'a Grafana whose annotations are to show the run and its phases', null),
  'grafana-token-env': text('VARIABLE', 'environment variable that holds a token that may write annotations', null),
  'grafana-token-file': text('FILE', 'file that holds such a token', null),
  'grafana-dashboard-uid': text('UID', 'annotate this dashboard only', null),
};

/** Whom `run` tells of a run by itself. */
export const PUBLISH_OPTIONS = {
  ...RECEIVER_OPTIONS,
  'remote-write-interval': seconds('time between two points of a running run', { min: 0.1, max: 3600 }, 1),
  'remote-write-native-histograms': choice(
    NATIVE_HISTOGRAM_CHOICES,
    'send native histograms beside the classic ones: exponential, or with the classic bounds (custom)',
    'none',
  ),
  'remote-write-flush-timeout': seconds(
    'how long the end of the run waits for the receiver; the rest waits on disk',
    { min: 0, max: 3600 },
    5,
  ),
  'remote-write-queue-size': {
    ...integer('how much may wait on disk; the oldest is given up beyond it', { min: 1, max: 1_000_000 }, 256),
    value: 'MEGABYTES',
  },
  ...GRAFANA_OPTIONS,
};

/** What is the same for all runs of a command. */
export type PublishOptions = Values<typeof PUBLISH_OPTIONS>;

/** Null when nobody is to be told. Throws a `CliError`. */
export function requestedOutgoing(options: PublishOptions): OutgoingRequest | null {
  const receiver = requestedReceiver(options);
  const grafana = requestedGrafana(options);
  if (receiver === null && grafana === null) return null;
  return {
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
export function requestedReceiver(options: Values<typeof RECEIVER_OPTIONS>): ReceiverRequest | null {
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
    headers: headers(options['remote-write-header'], 'remote-write-header'),
    headerVariables: headers(options['remote-write-header-env'], 'remote-write-header-env'),
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
export function requestedGrafana(options: Values<typeof GRAFANA_OPTIONS>): AnnotatorRequest | null {
  const url = options['grafana-url'];
  if (url === null) return null;
  return {
    url,
    token: { environmentVariable: options['grafana-token-env'], file: options['grafana-token-file'] },
    dashboardUid: options['grafana-dashboard-uid'],
  };
}

/** Labels for every series. Throws a `CliError`. */
export function requestedLabels(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((pair) => {
      const [, name = '', value = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$/s.exec(pair) ?? [];
      if (name === '' || name.startsWith('__'))
        throw new CliError(
          `--remote-write-label is '${pair}' and must be NAME=VALUE, with a name of letters and digits`,
        );
      return [name, value] as const;
    }),
  );
}

/** RFC 9110 field names and values; a value is not repeated in a message, it may be a secret. */
function headers(given: readonly string[], option: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((header) => {
      const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]+)$/.exec(header) ?? [];
      if (name === '') throw new CliError(`--${option} '${header.split(':')[0]}…' must be NAME:VALUE`);
      if (RESERVED_HEADERS.has(name.toLowerCase())) throw new CliError(`--${option}: ${name} belongs to the protocol`);
      return [name.toLowerCase(), value] as const;
    }),
  );
}
