/** The quantities that have a live histogram. The `…_from_due` variants share the grid of the quantity counted from sent. */
export const LIVE_QUANTITIES = [
  'time_to_first_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'schedule_delay',
  'client_event_loop_delay',
] as const;
export type LiveQuantity = (typeof LIVE_QUANTITIES)[number];

/** No live grid has more bounds than this (`+Inf` not counted). */
export const MAX_GRID_BOUNDS = 120;

/** Between `low` and `high` of a grid no two neighboring bounds are further apart than this, an octave being a doubling. */
export const STEPS_PER_OCTAVE = 4;

/**
 * The default bounds, in seconds, with which inference servers publish a quantity that the client measures too. Servers
 * not named here have no histogram of it, or one of the same bounds as another that is named.
 */
export const ENGINE_BOUNDS = {
  // vllm:time_to_first_token_seconds, trtllm_time_to_first_token_seconds, and all of Triton's vLLM back end
  vllm_time_to_first_token: [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
  ],
  // sglang:time_to_first_token_seconds
  sglang_time_to_first_token: [0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400],
  // dynamo_frontend_time_to_first_token_seconds, dynamo_component_router_time_to_first_token_seconds
  dynamo_time_to_first_token: [
    0, 0.0022, 0.0047, 0.01, 0.022, 0.047, 0.1, 0.22, 0.47, 1, 2.2, 4.7, 10, 22, 48, 100, 220, 480,
  ],
  // nv_inference_first_response_histogram_ms, in seconds
  triton_first_response: [0.1, 0.5, 2, 5],
  // vllm:inter_token_latency_seconds, vllm:request_time_per_output_token_seconds, trtllm_time_per_output_token_seconds
  vllm_inter_token_latency: [
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  ],
  // sglang:inter_token_latency_seconds, sglang:request_time_per_output_token_seconds
  sglang_inter_token_latency: [
    0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2,
    4, 6, 8,
  ],
  // dynamo_component_router_inter_token_latency_seconds, and dynamo_frontend_inter_token_latency_seconds before 1.6, whose
  // bounds since then are within 2 % of others: both in one grid would make buckets that say nothing
  dynamo_inter_token_latency: [0, 0.0019, 0.0035, 0.0067, 0.013, 0.024, 0.045, 0.084, 0.16, 0.3, 0.56, 1.1, 2],
  // vllm:e2e_request_latency_seconds, trtllm_e2e_request_latency_seconds, and all of Triton's vLLM back end
  vllm_request_latency: [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680],
  // sglang:e2e_request_latency_seconds
  sglang_request_latency: [
    0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400,
  ],
  // dynamo_frontend_request_duration_seconds
  dynamo_request_latency: [0, 2, 4, 8, 16, 32, 64, 130, 260, 510],
  // dynamo_frontend_event_loop_delay_seconds
  dynamo_event_loop_delay: [0, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
} as const satisfies Record<string, readonly number[]>;

const GAP_BOUNDS: readonly (readonly number[])[] = [
  ENGINE_BOUNDS.vllm_inter_token_latency,
  ENGINE_BOUNDS.sglang_inter_token_latency,
  ENGINE_BOUNDS.dynamo_inter_token_latency,
];

/**
 * The bucket bounds of each live histogram, in seconds, ascending, without `+Inf`. The default bounds that engines use for
 * the same quantity are among them, so that the histogram re-buckets onto the engine's grid exactly; where releases of one
 * engine differ by less than a bucket that says something, those of one release are.
 */
export const LIVE_GRIDS: Readonly<Record<LiveQuantity, readonly number[]>> = {
  time_to_first_token: liveGrid(
    [
      ENGINE_BOUNDS.vllm_time_to_first_token,
      ENGINE_BOUNDS.sglang_time_to_first_token,
      ENGINE_BOUNDS.dynamo_time_to_first_token,
      ENGINE_BOUNDS.triton_first_response,
    ],
    0.001,
    640,
  ),
  inter_token_latency: liveGrid(GAP_BOUNDS, 0.00025, 10),
  inter_chunk_latency: liveGrid(GAP_BOUNDS, 0.0001, 10),
  request_latency: liveGrid(
    [ENGINE_BOUNDS.vllm_request_latency, ENGINE_BOUNDS.sglang_request_latency, ENGINE_BOUNDS.dynamo_request_latency],
    0.005,
    600,
  ),
  // No server measures it: how late the client sent a request.
  schedule_delay: liveGrid([[0]], 0.0001, 600),
  client_event_loop_delay: liveGrid([ENGINE_BOUNDS.dynamo_event_loop_delay], 0.0001, 5),
};

/**
 * The union of the engines' bounds, with every gap between `low` and `high` that is wider than a fine step filled by bounds
 * at equal ratios. Filling between the engines' bounds, instead of laying a second grid over them, leaves no two bounds so
 * close that the bucket between them says nothing. Filled bounds are rounded to three significant digits.
 */
export function liveGrid(engineBounds: readonly (readonly number[])[], low: number, high: number): readonly number[] {
  const anchors = [...new Set([...engineBounds.flat(), low, high])].sort((a, b) => a - b);
  const grid: number[] = [];
  anchors.forEach((anchor, i) => {
    grid.push(anchor);
    const next = anchors[i + 1];
    if (next !== undefined && anchor >= low && next <= high) grid.push(...between(anchor, next));
  });
  return grid;
}

/** The bounds strictly between two others that make every step at most a fine one. */
function between(low: number, high: number): readonly number[] {
  const steps = Math.ceil(STEPS_PER_OCTAVE * Math.log2(high / low) - 1e-9);
  return Array.from({ length: Math.max(0, steps - 1) }, (_, i) =>
    Number((low * (high / low) ** ((i + 1) / steps)).toPrecision(3)),
  );
}
