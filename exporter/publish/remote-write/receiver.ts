/** A receiver of remote write, and who we are there. Secrets are in memory only. */
export interface Receiver {
  readonly url: string;
  /** Also credentials; sent with every request. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: ReceiverTls;
  /** Texts that no message may carry. */
  readonly secrets: readonly string[];
  readonly protocol: ProtocolChoice;
}

/** Options of `tls.connect`, PEM. */
export interface ReceiverTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export const PROTOCOL_CHOICES = ['auto', '1', '2'] as const;
/** `auto`: 2.0, and 1.0 for a receiver that does not know it. */
export type ProtocolChoice = (typeof PROTOCOL_CHOICES)[number];
export type Protocol = '1' | '2';

/** Headers that the protocol itself or the transport sets: nobody else may. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'content-length',
  'x-prometheus-remote-write-version',
  'user-agent',
  'host',
  'connection',
  'transfer-encoding',
  'expect',
]);
