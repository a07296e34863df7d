/** A panel that may be empty in a test with a real Prometheus, with the reason. */
export interface WithoutData {
  /** The simulated servers under load, the recorded pages of real ones, or runs and their scenarios. */
  readonly of: 'simulated' | 'recorded' | 'run';
  /** The dashboard; that of the app as well. */
  readonly uid: string;
  /** Titles, of a table those of columns: of each of these panels some query has no data. */
  readonly panels: readonly string[];
  /** Only queries of this metric; absent: any. */
  readonly metric?: string;
  readonly reason: string;
}

export const WITHOUT_DATA: readonly WithoutData[] = [
  {
    of: 'run',
    uid: 'llmbench-benchmark',
    panels: [
      ...['Ok', 'TTFT p50', 'TTFT p99', 'ITL p50', 'ITL p99', 'Requests/s', 'Output tok/s', 'Failed'],
      ...['Time to first token by model, p99', 'Requests by model'],
    ],
    metric: '_by_model_',
    reason: 'the run has one model',
  },
  {
    of: 'run',
    uid: 'llmbench-benchmark',
    panels: [
      ...['Ok', 'Mean input', 'Cache hits', 'TTFT p50', 'TTFT p99', 'ITL p50', 'ITL p99', 'Failed'],
      'Time to first token by turn',
    ],
    metric: '_by_turn_',
    reason: 'the run has no conversations',
  },
  {
    of: 'run',
    uid: 'llmbench-benchmark',
    panels: ['Documents/s', 'Documents', 'Images/s', 'Images', 'Audio'],
    reason: 'the run generates text of text',
  },
  ...['llmbench-vllm', 'llmbench-dynamo'].map((uid): WithoutData => ({
    of: 'simulated',
    uid,
    panels: ['Transfer time of NIXL', 'Bytes of NIXL', 'Errors of NIXL'],
    reason: 'no agent of NIXL is simulated: it has a page of its own',
  })),
  ...['llmbench-history', 'llmbench-panels'].map((uid): WithoutData => ({
    of: 'run',
    uid,
    panels: ['Regressed since'],
    reason: 'no regression is open, which has no start then',
  })),
  {
    of: 'simulated',
    uid: 'llmbench-vllm',
    panels: ['Time per byte moved', 'Transfer size', 'Delay of a lookup'],
    reason: 'no prompt of the benchmark comes again after its blocks were moved out, so nothing is loaded back',
  },
  {
    of: 'simulated',
    uid: 'llmbench-vllm',
    panels: ['Life of a KV block'],
    reason: 'no block of the benchmark is used a second time, so there are no gaps between uses',
  },
  {
    of: 'simulated',
    uid: 'llmbench-vllm',
    panels: ['Multimodal cache hits'],
    reason: 'the multimodal cache is never asked: 0 of 0',
  },
  {
    of: 'simulated',
    uid: 'llmbench-dynamo',
    panels: ['Failures, by reason'],
    reason: 'no simulated request fails for good, and a series is born with its first event',
  },
  {
    of: 'recorded',
    uid: 'llmbench-vllm',
    panels: ['Prefix cache hits', 'Multimodal cache hits'],
    reason: 'the external cache and the multimodal one were never asked: 0 of 0',
  },
  {
    of: 'recorded',
    uid: 'llmbench-dynamo',
    panels: ['Errors by type'],
    reason: 'no request of the recording failed, and a series is born with its first event',
  },
  {
    of: 'recorded',
    uid: 'llmbench-dynamo',
    panels: ['KV transfer, upper bound', 'Shared cache hits', 'Shared cache beyond the worker', 'Routing overhead'],
    reason: 'neither disaggregated nor with a shared cache: the histograms stayed empty',
  },
  {
    of: 'recorded',
    uid: 'llmbench-dynamo',
    panels: ['Latency as the router sees it', 'Wait for a permit', 'Time to turn a token into text'],
    reason: 'of Dynamo 1.4.2 with its mock engine these families have no observation, whatever the load',
  },
  {
    of: 'recorded',
    uid: 'llmbench-sglang',
    panels: ['GPU in forward passes', 'Balance of data-parallel ranks', 'Waiting for the other ranks'],
    reason: 'no GPU and no data parallelism in the recording: no value, or 0 of 0',
  },
  {
    of: 'simulated',
    uid: 'llmbench-dynamo',
    panels: ['Cancelled, shed, moved'],
    reason: 'nothing is shed or moved: all workers keep up, and a series is born with its first event',
  },
  {
    of: 'simulated',
    uid: 'llmbench-dynamo',
    panels: ['KV transfer, upper bound', 'Shared cache hits', 'Shared cache beyond the worker', 'Routing overhead'],
    reason: 'needs disaggregation, or a shared cache',
  },
  {
    of: 'simulated',
    uid: 'llmbench-dynamo',
    panels: ['Latency as the router sees it', 'Wait for a permit'],
    reason: 'as with the real Dynamo 1.4.2: these histograms have no observation, whatever the load',
  },
  {
    of: 'simulated',
    uid: 'llmbench-dynamo',
    panels: ['Embedding cache hits'],
    reason: 'no multimodal request: 0 of 0',
  },
  {
    of: 'simulated',
    uid: 'llmbench-kvbm',
    panels: ['Matches'],
    reason: 'nothing scans: 0 of 0',
  },
  {
    of: 'simulated',
    uid: 'llmbench-sglang',
    panels: ['Sent again'],
    reason: 'needs a broken connection: a series is born with its first event',
  },
  {
    of: 'simulated',
    uid: 'llmbench-sglang',
    panels: ['GPU in forward passes', 'Balance of data-parallel ranks', 'Waiting for the other ranks'],
    reason: 'needs the device timer, or data parallelism: no value, or 0 of 0',
  },
  {
    of: 'simulated',
    uid: 'llmbench-sglang',
    panels: ['Tokens moved', 'Storage: found and not delivered', 'Storage bandwidth', 'Pages per storage batch'],
    reason: 'this load does not fill the host memory: nothing goes to storage or comes from it',
  },
  {
    of: 'simulated',
    uid: 'llmbench-trtllm',
    panels: ['KV transfers'],
    reason: 'no transfer of this load fails, and a series is born with its first event',
  },
  {
    of: 'simulated',
    uid: 'llmbench-triton',
    panels: ['KV transfers'],
    reason: 'not disaggregated: 0 of 0',
  },
];
