import type { ImportNotes } from '../import-notes.ts';
import type { ListedSurvey } from './listed-survey.ts';

/** How many requests were ok, by the summary of a benchmark, else by its lists; null when neither reports. They may disagree. */
export function okRequests(completed: number | null, survey: ListedSurvey | null, notes: ImportNotes): number | null {
  if (survey !== null && completed !== null && completed !== survey.ok) {
    notes.disagreement(`the file states ${completed} ok requests, its lists contain ${survey.ok}`);
  }
  return completed ?? survey?.ok ?? null;
}

/** Whether the lists lack ok requests, as of those that cannot be true: what they result in is then not a figure of the run. */
export function isSample(survey: ListedSurvey, ok: number | null): boolean {
  return ok !== null && survey.ok < ok;
}

/** Whether there is no latency to be reported of: of a run without a success the tools write zeros. */
export function hasNoLatencies(ok: number | null, notes: ImportNotes): boolean {
  if (ok !== 0) return false;
  notes.add('no request succeeded: the zeros that the tool writes for latencies are ignored');
  return true;
}
