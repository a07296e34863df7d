/** A Prometheus server and its tool, as absolute paths, with the server's version such as `2.42.0`. */
export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
  readonly version: string;
}

/**
 * Prometheus and promtool from PATH, else from the project's cache, else (with `install`) unpacked into that cache
 * from the system's archive. `null` when there are none; `report` (default: standard error) gets the reason.
 */
export function ensurePrometheus(options: {
  readonly install: boolean;
  /** Where it is unpacked; by default `.cache/prometheus` of the project. */
  readonly cacheFolder?: string;
  readonly report?: (line: string) => void;
}): Promise<PrometheusPrograms | null>;

/** A Prometheus 3 and its promtool: in the folder PROMETHEUS_3_BIN, in `.cache/prometheus-3`, or on the PATH. */
export function findPrometheus3(): Promise<PrometheusPrograms | null>;

/** An Alertmanager and its tool, as absolute paths, with the server's version such as `0.25.0`. */
export interface AlertmanagerPrograms {
  readonly alertmanager: string;
  readonly amtool: string;
  readonly version: string;
}

/** The same for Alertmanager and amtool; the cache is `.cache/alertmanager` of the project. */
export function ensureAlertmanager(
  options: Parameters<typeof ensurePrometheus>[0],
): Promise<AlertmanagerPrograms | null>;
