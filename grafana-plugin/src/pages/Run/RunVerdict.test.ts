import type { VerdictEntry } from '../../exporter-api/types.ts';
import { verdictOn } from './RunVerdict.tsx';

test('the newest verdict in which the run was judged, not one for which it was the baseline', () => {
  const entry = (at: string, change: Partial<VerdictEntry>) =>
    ({ at, run_ids: [], baseline_run_ids: [], ...change }) as unknown as VerdictEntry;
  const verdicts = [
    entry('2026-01-03T00:00:00Z', { run_ids: ['r', 'later'] }),
    entry('2026-01-01T00:00:00Z', { run_ids: ['r'] }),
    entry('2026-01-09T00:00:00Z', { run_ids: ['other'], baseline_run_ids: ['r'] }),
  ];
  expect(verdictOn('r', verdicts)?.at).toBe('2026-01-03T00:00:00Z');
  expect(verdictOn('absent', verdicts)).toBeUndefined();
});
