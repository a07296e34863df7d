/** A remote-write receiver and its credentials. Secrets are in memory only. */
export interface Receiver {
  readonly url: string;
  /** Also credentials; sent with every request. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: ReceiverTls;
  /** Strings that must not appear in any message. */
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
/** `auto`: 2.0, with a fallback to 1.0 for receivers that do not support it. */
export type ProtocolChoice = (typeof PROTOCOL_CHOICES)[number];
export type Protocol = '1' | '2';

/** Headers that are set by the protocol or the transport and cannot be overridden. */
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
