/** A text behind the end of a line; `top` is its middle, in pixels. */
export interface EndLabel {
  left: number;
  top: number;
}

const LINE_HEIGHT = 13;
/** Labels closer than this to each other are in one column. */
const SAME_PLACE = 40;

/**
 * Moves labels that would cover each other apart, downwards and, where the drawing ends, upwards again. Expects and
 * keeps the order from top to bottom.
 */
export function placeLabels<Label extends EndLabel>(labels: readonly Label[], bottom: number): Label[] {
  const placed = labels.map((label) => ({ ...label }));
  const inColumn = (label: EndLabel, others: Label[]) =>
    others.filter((other) => Math.abs(other.left - label.left) < SAME_PLACE).map(({ top }) => top);
  placed.forEach((label, i) => {
    label.top = Math.max(label.top, ...inColumn(label, placed.slice(0, i)).map((top) => top + LINE_HEIGHT));
  });
  for (let i = placed.length - 1; i >= 0; i--) {
    const label = placed[i];
    if (label) {
      label.top = Math.min(label.top, bottom, ...inColumn(label, placed.slice(i + 1)).map((top) => top - LINE_HEIGHT));
    }
  }
  return placed;
}
