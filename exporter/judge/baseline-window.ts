/** Accepted runs that make the baseline: the last of them. */
export const BASELINE_RUNS = 20;

/** The accepted runs of a configuration with which a further run of it is compared, oldest first. */
export function baselineWindow(
  newestFirst: readonly { readonly run_id: string; readonly fingerprint: string | null }[],
  accepted: ReadonlySet<string>,
  fingerprint: string,
): readonly string[] {
  const like = newestFirst.filter((run) => accepted.has(run.run_id) && run.fingerprint === fingerprint);
  return like
    .slice(0, BASELINE_RUNS)
    .map(({ run_id }) => run_id)
    .reverse();
}
