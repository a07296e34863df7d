/** Base units only: a screen may scale, a name says its unit. */
export type Unit =
  | 'seconds'
  | 'tokens'
  | 'ratio'
  | 'requests'
  | 'requests_per_second'
  | 'tokens_per_second'
  | 'documents_per_second'
  | 'images'
  | 'images_per_second'
  | 'bytes'
  | 'joules'
  | 'watts'
  | 'joules_per_token'
  | 'cost_per_million_tokens';

/** The instant from which a latency counts: when the request was sent, or when it was due. */
export type Clock = 'sent' | 'due';
