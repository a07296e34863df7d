import type { RunProgress } from '../../../core/api/runs.ts';
import { counted } from '../../../core/text/quantities.ts';
import { durationText } from '../charts/time-text.ts';
import { t } from '../text.ts';

/** What is known of a running run; null: not yet, or not at all. */
export interface LiveFigures {
  /** 0 to 1, by number or by time, whichever the run ends by. */
  share: number | null;
  remainingSeconds: number | null;
  /** Means since the measure phase began, of ok requests. */
  requestsPerSecond: number | null;
  tokensPerSecond: number | null;
  errorRatio: number | null;
}

export function liveFigures(progress: RunProgress): LiveFigures {
  const { requests_done: done, requests_failed: failed, output_tokens: tokens, elapsed_seconds: elapsed } = progress;
  const { requests_planned: planned, planned_seconds: limit } = progress;
  const perSecond = (count: number) => (elapsed !== null && elapsed > 0 ? count / elapsed : null);
  const pace = perSecond(done);
  const isMeasuring = progress.phase === 'measure';
  return {
    share: extreme(Math.max, [
      planned !== null && planned > 0 ? Math.min(1, done / planned) : null,
      limit !== null && limit > 0 && elapsed !== null ? Math.min(1, elapsed / limit) : null,
    ]),
    remainingSeconds: isMeasuring
      ? extreme(Math.min, [
          planned !== null && pace !== null && pace > 0 ? Math.max(0, planned - done) / pace : null,
          limit !== null && elapsed !== null ? Math.max(0, limit - elapsed) : null,
        ])
      : null,
    requestsPerSecond: perSecond(done - failed),
    tokensPerSecond: perSecond(tokens),
    errorRatio: done > 0 ? failed / done : null,
  };
}

function extreme(of: (...values: number[]) => number, values: ReadonlyArray<number | null>): number | null {
  const known = values.filter((value): value is number => value !== null);
  return known.length === 0 ? null : of(...known);
}

/** `120 of 500 requests · 12 s of 60 s`, or what the run does outside of its measure phase. */
export function progressText(progress: RunProgress): string {
  const { phase, requests_planned: planned, elapsed_seconds: elapsed, planned_seconds: limit } = progress;
  if (phase !== 'measure') {
    return phaseText(phase);
  }
  const done = counted(progress.requests_done);
  const requests =
    planned === null
      ? t('progress.requests', '{{done}} requests', { done })
      : t('progress.requests-of', '{{done}} of {{planned}} requests', { done, planned: counted(planned) });
  const time =
    limit === null
      ? durationText(elapsed)
      : t('progress.time-of', '{{elapsed}} of {{limit}}', {
          elapsed: durationText(elapsed),
          limit: durationText(limit),
        });
  return `${requests} · ${time}`;
}

function phaseText(phase: Exclude<RunProgress['phase'], 'measure'>): string {
  switch (phase) {
    case 'warmup':
      return t('progress.warming-up', 'warming up');
    case 'cooldown':
      return t('progress.cooling-down', 'cooling down');
    case null:
      return t('progress.between', 'starting or ending');
  }
}
