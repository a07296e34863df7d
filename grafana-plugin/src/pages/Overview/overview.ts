import type { LatestRun } from '../../../../core/api/overview.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { type AttentionItem, attentionOf, byUrgency } from './attention.ts';

/** What the page shows, from the exporter or from Prometheus. */
export interface Overview {
  attention: readonly AttentionItem[];
  /** Scenarios with something, also of those that are not listed. */
  attentionTotal: number;
  running: readonly RunSummary[];
  latest: readonly LatestRun[];
  /** Of the exporter; null: Prometheus does not know. */
  stored: { runs: number; scenarios: number } | null;
}

const LIMIT = 20;

export async function exporterOverview(exporter: ExporterApi, search: string, signal: AbortSignal): Promise<Overview> {
  const { attention, attention_total, running, latest, runs, scenarios } = await exporter.overview(
    { limit: LIMIT },
    signal
  );
  return {
    attention: byUrgency(attention.flatMap((scenario) => attentionOf(scenario, search))),
    attentionTotal: attention_total,
    running,
    latest,
    stored: { runs: runs.finished + runs.running, scenarios },
  };
}
