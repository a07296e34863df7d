/** Ray exports the metrics of the engine inside it under its own prefix, in newer releases without colons. */
export const WITHIN_RAY = /^ray_(vllm|sglang)[:_](.+)$/s;

/** Whether Ray exports the family: before the first request its page has none of the engine inside it. */
export const isOfRay = (name: string): boolean => name.startsWith('ray_');

/** Ray's default of `metrics_report_interval_ms`: how late its page may have what an engine inside it counted. */
export const RAY_REPORT_SECONDS = 10;

/**
 * The label `otel_scope_name` of what Ray exposes by OpenTelemetry, with which it records each observation of a histogram at the
 * middle of its bucket (`open_telemetry_metric_recorder.py` of Ray 2.60).
 */
export const RAY_RECORDER = 'ray._private.telemetry.open_telemetry_metric_recorder';
