import type { AnnotatorRequest } from './grafana-annotations/annotator-request.ts';
import type { ReceiverRequest } from './remote-write/receiver-request.ts';

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
}
