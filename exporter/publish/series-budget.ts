/** A part of a page that is shown whole or not at all. */
export interface BudgetedPart {
  readonly key: string;
  readonly series: number;
}

/** What fits into the budget. Earlier parts come first; one that is too large makes no room for none after it. */
export function withinBudget<P extends BudgetedPart>(
  parts: readonly P[],
  maxSeries: number,
): { readonly shown: readonly P[]; readonly dropped: readonly P[] } {
  let left = maxSeries;
  const shown: P[] = [];
  const dropped: P[] = [];
  for (const part of parts) {
    if (part.series > left) dropped.push(part);
    else {
      left -= part.series;
      shown.push(part);
    }
  }
  return { shown, dropped };
}
